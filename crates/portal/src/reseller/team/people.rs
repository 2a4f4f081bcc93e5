//! People: who they are, what they may do, and the links with which they choose a password.

use app::people::{Invited, TeamError};
use axum::extract::{Path, State};
use axum::response::Response;
use domain::{Right, Role, User, UserId};
use maud::{Markup, html};

use super::{Desk, Form, Routes, Trouble, Visit, done, pages, refused};
use crate::kit::form::{self, Choice, Field, Kind};
use crate::kit::table::{Head, Row, Table};
use crate::kit::{Area, Mood, facts, figures, menu, section};
use crate::words::team as words;

const HOME: &str = "/portal/team";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(HOME, Right::Manage, page)
        .post("/portal/team/invite", Right::Manage, invite)
        .post("/portal/team/{id}/role", Right::Manage, change_role)
        .post("/portal/team/{id}/link", Right::Manage, new_link)
        .post("/portal/team/{id}/factor", Right::Manage, drop_factor)
        .post("/portal/team/{id}/remove", Right::Manage, remove)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let team = desk.app.team(&visit.member).await?;
    let rows: Vec<Row> = team.iter().map(|(user, factor)| row(&visit, user, *factor)).collect();
    let [person, role, factor, since] = words::PEOPLE_HEADS;
    let heads = [person, role, factor, since, words::ACTIONS].map(Head::text);
    let content = html! {
        (pages(HOME))
        (section(words::PEOPLE, None, html! { (Table::new(words::PEOPLE, &heads, &rows)) }))
        (section(words::INVITE, None, invite_form(&visit)))
        (section(words::ROLES, None, facts(&Role::ALL.map(|role| {
            (role.name(), html! { (words::purpose(role)) })
        }))))
    };
    Ok(visit.page((Area::Team, words::TITLE), None, content))
}

fn row(visit: &Visit, user: &User, has_factor: bool) -> Row {
    let is_me = user.id == visit.member.user().id;
    let name = format!("{} {}", user.first_name, user.last_name);
    let who = html! {
        @if !name.trim().is_empty() { bdi { (name.trim()) } " " }
        @if is_me { small { (words::YOU) } " " }
        span.quiet { (user.email.as_str()) }
        @if user.password_hash.is_none() { br; small { (words::INVITED) } }
    };
    let factor = if has_factor {
        figures::badge(Mood::Good, words::ON)
    } else {
        figures::badge(Mood::Quiet, words::OFF)
    };
    let may = !is_me && visit.member.role().may_appoint(user.role);
    let acts = if may {
        acts(visit, user, has_factor)
    } else {
        html! {}
    };
    Row::plain([
        who,
        html! { (user.role.name()) },
        factor,
        figures::time(user.created_at, visit.now),
        acts,
    ])
}

/// Everything that can be done to somebody, with what it means.
fn acts(visit: &Visit, user: &User, has_factor: bool) -> Markup {
    let id = user.id.to_string();
    let path = |act: &str| format!("{HOME}/{id}/{act}");
    let post = |act: &str, body: Markup| form::form(&path(act), &visit.csrf, None, body);
    let choices = roles(visit);
    let role = html! {
        (Field::select("role", words::ROLE, &choices).within(&id).value(user.role.name())
            .required())
        (form::button(Kind::Main, words::CHANGE_ROLE))
    };
    let mut items = vec![
        form::confirm(words::CHANGE_ROLE, words::purpose(user.role), post("role", role)),
        form::confirm(
            words::NEW_LINK,
            words::NEW_LINK_SAYS,
            post("link", form::button(Kind::Main, words::NEW_LINK)),
        ),
    ];
    if has_factor {
        items.push(form::confirm(
            words::DROP_FACTOR,
            words::DROP_FACTOR_SAYS,
            post("factor", form::button(Kind::Danger, words::DROP_FACTOR)),
        ));
    }
    items.push(form::confirm(
        words::REMOVE,
        words::REMOVE_SAYS,
        post("remove", form::button(Kind::Danger, words::REMOVE)),
    ));
    menu(words::ACTIONS, &items)
}

/// The roles this person may give.
fn roles(visit: &Visit) -> Vec<Choice<'static>> {
    let may = |role: &Role| visit.member.role().may_appoint(*role);
    let choice = |role: Role| Choice { value: role.name(), label: role.name() };
    Role::ALL.into_iter().filter(may).map(choice).collect()
}

fn invite_form(visit: &Visit) -> Markup {
    let choices = roles(visit);
    let fields = html! {
        (Field::email("email", words::EMAIL).required().complete("off"))
        (Field::select("role", words::ROLE, &choices).value(Role::Viewer.name()).required()
            .hint(words::INVITE_HINT))
        (form::buttons(&[form::button(Kind::Main, words::INVITE_BUTTON)]))
    };
    form::form("/portal/team/invite", &visit.csrf, None, fields)
}

async fn invite(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let Some(role) = Role::parse(form.text("role")) else {
        return Ok(refused(HOME, words::BAD_ROLE));
    };
    match desk.app.invite(&visit.member, form.text("email"), role).await {
        Ok(invited) => Ok(link_page(&desk, &visit, &invited)),
        Err(error) => not_done(error),
    }
}

async fn new_link(
    State(desk): State<Desk>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Trouble> {
    match desk.app.new_password_link(&visit.member, person(&id)?).await {
        Ok(invited) => Ok(link_page(&desk, &visit, &invited)),
        Err(error) => not_done(error),
    }
}

/// The link, once: it stands on this page and nowhere else.
fn link_page(desk: &Desk, visit: &Visit, invited: &Invited) -> Response {
    let link = format!("{}/portal/link/{}", desk.public_url, invited.token.expose());
    let known = [
        (words::LINK_FOR, html! { (invited.user.email.as_str()) }),
        (words::LINK, figures::copyable(&link, words::LINK)),
    ];
    let content = html! {
        section.part {
            p { (words::LINK_TEXT) }
            (facts(&known))
            (form::buttons(&[form::link_button(Kind::Plain, words::BACK, HOME)]))
        }
    };
    visit.page((Area::Team, words::LINK_TITLE), None, content)
}

async fn change_role(
    State(desk): State<Desk>,
    visit: Visit,
    Path(id): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let Some(role) = Role::parse(form.text("role")) else {
        return Ok(refused(HOME, words::BAD_ROLE));
    };
    match desk.app.change_role(&visit.member, person(&id)?, role).await {
        Ok(()) => Ok(done(HOME, words::ROLE_CHANGED)),
        Err(error) => not_done(error),
    }
}

async fn drop_factor(
    State(desk): State<Desk>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Trouble> {
    match desk.app.drop_factor_of(&visit.member, person(&id)?).await {
        Ok(()) => Ok(done(HOME, words::FACTOR_DROPPED)),
        Err(error) => not_done(error),
    }
}

async fn remove(
    State(desk): State<Desk>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Trouble> {
    match desk.app.remove_user(&visit.member, person(&id)?).await {
        Ok(()) => Ok(done(HOME, words::REMOVED)),
        Err(error) => not_done(error),
    }
}

fn person(id: &str) -> Result<UserId, Trouble> {
    UserId::parse(id).map_err(|_| Trouble::Missing)
}

fn not_done(error: TeamError) -> Result<Response, Trouble> {
    match error {
        TeamError::Unknown => Err(Trouble::Missing),
        TeamError::Store(error) | TeamError::User(app::users::Error::Store(error)) => {
            Err(error.into())
        }
        error => Ok(refused(HOME, words::team_refused(&error))),
    }
}
