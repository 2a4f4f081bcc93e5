//! The person's own page: name, password, second factor, sessions.

use app::people::{MeError, Session};
use app::qr;
use axum::extract::State;
use axum::response::Response;
use domain::Right;
use maud::{Markup, html};

use super::desk::Desk;
use super::{Form, Routes, Trouble, Visit, done, entrance, refused};
use crate::kit::form::{self, Field, Kind};
use crate::kit::table::{Head, Row, Table};
use crate::kit::{Area, Mood, facts, figures, section};
use crate::words::account as words;
use crate::words::entrance as at_the_door;

const HOME: &str = "/portal/account";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(HOME, Right::See, page)
        .post(HOME, Right::See, save)
        .post("/portal/account/password", Right::See, change_password)
        .post("/portal/account/factor", Right::See, start_factor)
        .post("/portal/account/factor/confirm", Right::See, confirm_factor)
        .post("/portal/account/factor/off", Right::See, drop_factor)
        .post("/portal/account/elsewhere", Right::See, sign_out_elsewhere)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let sessions = desk.app.my_sessions(&visit.member).await?;
    let elsewhere = form::form(
        "/portal/account/elsewhere",
        &visit.csrf,
        None,
        form::button(Kind::Plain, words::ELSEWHERE),
    );
    let content = html! {
        (section(words::YOU, None, you(&visit)))
        (section(words::PASSWORD, None, password(&visit)))
        (section(words::FACTOR, None, factor(&visit)))
        (section(words::SESSIONS, Some(elsewhere), where_signed_in(&sessions, &visit)))
    };
    Ok(visit.page((Area::Account, words::TITLE), None, content))
}

fn you(visit: &Visit) -> Markup {
    let user = visit.member.user();
    let known = [
        (words::EMAIL, html! { (user.email.as_str()) }),
        (words::ROLE, html! { (user.role.name()) }),
    ];
    let fields = html! {
        (Field::text("first_name", words::FIRST_NAME).value(&user.first_name))
        (Field::text("last_name", words::LAST_NAME).value(&user.last_name))
        (Field::text("phone", words::PHONE).value(&user.phone))
        (Field::text("time_zone", words::TIME_ZONE).value(&user.time_zone)
            .hint(words::TIME_ZONE_HINT))
        (form::buttons(&[form::button(Kind::Main, words::SAVE)]))
    };
    html! { (facts(&known)) (form::form(HOME, &visit.csrf, None, fields)) }
}

fn password(visit: &Visit) -> Markup {
    let fields = html! {
        (username(visit))
        (Field::password("old", words::OLD_PASSWORD).required().complete("current-password"))
        (Field::password("new", at_the_door::NEW_PASSWORD).required().complete("new-password")
            .hint(at_the_door::NEW_PASSWORD_HINT))
        p { (words::CHANGE_PASSWORD_SAYS) }
        (form::buttons(&[form::button(Kind::Main, words::CHANGE_PASSWORD)]))
    };
    form::form("/portal/account/password", &visit.csrf, None, fields)
}

/// For password managers, which file a password under its user.
pub(super) fn username(visit: &Visit) -> Markup {
    let email = visit.member.user().email.as_str();
    html! { input type="email" name="email" value=(email) autocomplete="username" hidden; }
}

fn factor(visit: &Visit) -> Markup {
    let ask = |action: &str, kind: Kind, label: &str| {
        let fields = html! {
            (username(visit))
            (Field::password("password", words::OLD_PASSWORD).within("factor").required()
                .complete("current-password"))
            (form::buttons(&[form::button(kind, label)]))
        };
        form::form(action, &visit.csrf, None, fields)
    };
    if !visit.member.has_factor() {
        let start = ask("/portal/account/factor", Kind::Main, words::FACTOR_START);
        return html! {
            p { (words::FACTOR_OFF) }
            (form::confirm(words::FACTOR_START, words::FACTOR_START_SAYS, start))
        };
    }
    let off = ask("/portal/account/factor/off", Kind::Danger, words::FACTOR_STOP);
    html! {
        p { (figures::badge(Mood::Good, words::FACTOR_ON)) }
        (form::confirm(words::FACTOR_STOP, words::FACTOR_STOP_SAYS, off))
    }
}

fn where_signed_in(sessions: &[(Session, bool)], visit: &Visit) -> Markup {
    let row = |(session, is_this): &(Session, bool)| {
        let agent = browser(&session.agent);
        Row::plain([
            html! { (agent) @if *is_this { " " small { (words::THIS_ONE) } } },
            html! { (session.address) },
            figures::time(session.created_at, visit.now),
            figures::time(session.seen_at, visit.now),
        ])
    };
    let rows: Vec<Row> = sessions.iter().map(row).collect();
    let heads = words::SESSION_HEADS.map(Head::text);
    html! { (Table::new(words::SESSIONS, &heads, &rows)) }
}

/// What a browser calls itself, in two words: they all claim to be each other.
fn browser(agent: &str) -> String {
    let known = |names: &[(&str, &'static str)]| {
        names.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    let name = known(&[
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ]);
    let system = known(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "macOS"),
        ("Linux", "Linux"),
    ]);
    match (name, system) {
        (Some(name), Some(system)) => format!("{name} on {system}"),
        (Some(name), None) => name.to_owned(),
        _ => words::UNKNOWN_BROWSER.to_owned(),
    }
}

async fn save(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let texts = ["first_name", "last_name", "phone", "time_zone"];
    let texts = texts.map(|name| form.text(name).to_owned());
    match desk.app.change_me(&visit.member, texts).await {
        Ok(()) => Ok(done(HOME, words::SAVED)),
        Err(error) => not_done(&desk, error),
    }
}

async fn change_password(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    let passwords = (&form.secret("old"), &form.secret("new"));
    match desk.app.change_password(&visit.member, passwords, &visit.from).await {
        Ok(()) => Ok(done(HOME, words::PASSWORD_CHANGED)),
        Err(error) => not_done(&desk, error),
    }
}

async fn start_factor(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    let password = form.secret("password");
    let factor = match desk.app.new_factor(&visit.member, &password, &visit.from).await {
        Ok(factor) => factor,
        Err(error) => return not_done(&desk, error),
    };
    let drawn = qr::path(factor.link.expose());
    let (path, width) = drawn.map_err(|error| Trouble::Broken(error.to_string()))?;
    let fields = html! {
        (Field::code("code", at_the_door::CODE).hint(at_the_door::CODE_HINT).required())
        (form::buttons(&[form::button(Kind::Main, words::FACTOR_CONFIRM)]))
    };
    let key = factor.secret.expose();
    let content = html! {
        section.part {
            p { (words::FACTOR_STEPS[0]) }
            figure.qr {
                svg viewBox={ "0 0 " (width) " " (width) } width="240" height="240" role="img"
                    aria-label=(words::FACTOR_KEY) shape-rendering="crispEdges" {
                    rect width=(width) height=(width) fill="#fff" {}
                    path d=(path) fill="#000" {}
                }
                figcaption { (figures::copyable(key, words::FACTOR_KEY)) }
            }
            p { (words::FACTOR_STEPS[1]) }
            (form::form("/portal/account/factor/confirm", &visit.csrf, None, fields))
        }
    };
    Ok(visit.page((Area::Account, words::FACTOR_TITLE), None, content))
}

async fn confirm_factor(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    match desk.app.confirm_factor(&visit.member, form.text("code"), &visit.from).await {
        Ok(()) => Ok(done(HOME, words::FACTOR_IS_ON)),
        Err(error) => not_done(&desk, error),
    }
}

async fn drop_factor(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    let password = form.secret("password");
    match desk.app.drop_factor(&visit.member, &password, &visit.from).await {
        Ok(()) => Ok(done(HOME, words::FACTOR_IS_OFF)),
        Err(error) => not_done(&desk, error),
    }
}

async fn sign_out_elsewhere(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    desk.app.sign_out_elsewhere(&visit.member).await?;
    Ok(done(HOME, words::SIGNED_OUT_ELSEWHERE))
}

fn not_done(desk: &Desk, error: MeError) -> Result<Response, Trouble> {
    Ok(refused(HOME, why(desk, error)?))
}

/// Why something that takes the person's password was not done.
pub(super) fn why(desk: &Desk, error: MeError) -> Result<String, Trouble> {
    Ok(match error {
        MeError::Store(error) => return Err(error.into()),
        MeError::Wait(until) => entrance::wait(desk, until),
        MeError::WrongPassword => words::WRONG_PASSWORD.to_owned(),
        MeError::WrongCode => words::FACTOR_WRONG.to_owned(),
        MeError::HasFactor => words::FACTOR_TWICE.to_owned(),
        MeError::Unfit(_) => at_the_door::UNFIT.to_owned(),
        MeError::TooLong => words::TOO_LONG.to_owned(),
        MeError::NoLink => at_the_door::NO_LINK.to_owned(),
    })
}
