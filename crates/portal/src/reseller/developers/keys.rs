//! API keys: the first call, the list, a further one, one of them, and where they are taken from.

use app::access;
use app::keys::{Error, Key};
use app::organisations::OwnChange;
use axum::extract::{Path, State};
use axum::response::Response;
use domain::{KeyId, Right};
use maud::{Markup, html};

use super::secrets::{ask_for_key, password_field, refusal, shown_once};
use super::{Page, Part};
use crate::kit::form::{self, Field, Kind};
use crate::kit::table::{Head, Row, Table, terminal};
use crate::kit::{Mood, facts, figures, menu, section, strip};
use crate::reseller::desk::Desk;
use crate::reseller::trouble::not_set;
use crate::reseller::visit::moved;
use crate::reseller::{Form, Routes, Trouble, Visit, done, refused};
use crate::words::developers as all;
use crate::words::developers::keys as words;

pub(super) const HOME: &str = "/portal/developers";
const ALLOW: &str = "/portal/developers/allow-list";
const NEW: &str = "/portal/developers/keys";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(HOME, Right::Develop, page)
        // The theme switch on the page that shows a new key comes back here.
        .get(NEW, Right::Develop, async || moved(HOME, None))
        .post(NEW, Right::Develop, make)
        .get("/portal/developers/keys/{id}", Right::Develop, one)
        .post("/portal/developers/keys/{id}/primary", Right::Develop, make_primary)
        .post("/portal/developers/keys/{id}/revoke", Right::Develop, revoke)
        .post(ALLOW, Right::Develop, save_allow_list)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let keys = desk.app.keys(visit.member.org()).await.map_err(trouble)?;
    let primary = html! { p { (words::PRIMARY_SAYS) } (ask_for_key(&visit)) };
    let content = html! {
        (section(words::START, None, start(&desk)))
        (section(words::PRIMARY, None, primary))
        (section(words::LIST, None, list(&visit, keys)))
        (section(words::NEW, None, new(&visit)))
        (section(words::ROTATE, None, html! {
            ol.steps { @for step in words::ROTATE_STEPS { li { (step) } } }
        }))
        (section(words::ALLOW, None, allow_list(&visit)))
    };
    Ok(Page::of(Part::Keys).show(&visit, &content))
}

fn start(desk: &Desk) -> Markup {
    let base = format!("{}/v2.5", desk.public_url);
    let curl = format!("curl -H \"X-API-Key: $TERN_KEY\" {base}/organisation");
    html! {
        (facts(&[
            (words::BASE_URL, figures::copyable(&base, words::BASE_URL)),
            (words::HEADER, html! { code { "X-API-Key" } }),
            (words::REFERENCE, html! { a href="/docs" { (words::REFERENCE_LINK) } }),
        ]))
        (terminal(words::CURL, &curl))
    }
}

/// Those that work first, the newest on top.
fn list(visit: &Visit, mut keys: Vec<Key>) -> Markup {
    keys.sort_by_key(|key| {
        (key.revoked_at.is_some(), key.primary_at.is_none(), -key.created_at.ms())
    });
    let row = |key: &Key| {
        let cells = [html! { (label(key)) }, state(key), figures::time(key.created_at, visit.now)];
        Row::link(href(key.id), cells)
    };
    let rows: Vec<Row> = keys.iter().map(row).collect();
    let heads = words::HEADS.map(Head::text);
    html! { (Table::new(words::LIST, &heads, &rows)) }
}

pub(super) fn label(key: &Key) -> &str {
    if key.label.is_empty() { words::NO_LABEL } else { &key.label }
}

fn state(key: &Key) -> Markup {
    if key.revoked_at.is_some() {
        return figures::badge(Mood::Quiet, words::REVOKED);
    }
    let word = if key.primary_at.is_some() { words::IS_PRIMARY } else { words::WORKS };
    figures::badge(Mood::Good, word)
}

fn href(id: KeyId) -> String {
    format!("{NEW}/{id}")
}

fn new(visit: &Visit) -> Markup {
    let fields = html! {
        (Field::text("label", words::LABEL).hint(words::LABEL_HINT).required().longest(1000)
            .complete("off"))
        (password_field(visit, "new-key"))
        (form::buttons(&[form::button(Kind::Main, words::MAKE)]))
    };
    form::form(NEW, &visit.csrf, None, fields)
}

fn allow_list(visit: &Visit) -> Markup {
    let list = &visit.member.organisation().settings.ip_allow_list;
    let from = visit.from.address;
    let outside = words::you_are_outside(from);
    let hint = format!("{} {}", words::ALLOW_HINT, words::you_are_at(from));
    let lines = list.join("\n");
    let fields = html! {
        (Field::textarea("networks", words::ALLOW_FIELD).value(&lines).hint(&hint))
        (form::buttons(&[form::button(Kind::Main, all::SAVE)]))
    };
    html! {
        p { (words::ALLOW_SAYS) }
        @if !access::is_allowed(list, from) { p { (figures::note(Mood::Warn, &outside)) } }
        (form::form(ALLOW, &visit.csrf, None, fields))
    }
}

async fn save_allow_list(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    let lines = form.text("networks").lines().map(str::trim).filter(|line| !line.is_empty());
    let change = OwnChange::AllowList(lines.map(str::to_owned).collect());
    let changed = match desk.app.change_own(&visit.member, change).await {
        Ok(changed) => changed,
        Err(error) => return not_set(error, HOME),
    };
    let (list, from) = (changed.organisation.settings.ip_allow_list, visit.from.address);
    if access::is_allowed(&list, from) {
        return Ok(done(HOME, all::SAVED));
    }
    let outside = words::you_are_outside(from);
    Ok(done(HOME, format!("{} {outside}", all::SAVED)))
}

async fn make(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    if let Some(refused) = refusal(&desk, &visit, &form, HOME).await? {
        return Ok(refused);
    }
    let (actor, org) = (visit.member.actor(), visit.member.org());
    let (key, text) = match desk.app.add_key(actor, org, form.text("label"), false).await {
        Ok(made) => made,
        Err(error) => return not_done(error, HOME),
    };
    let content = html! {
        (shown_once(&text, words::MADE_SAYS, words::API_KEY))
        (form::buttons(&[
            form::link_button(Kind::Plain, words::MADE_OPEN, &href(key.id)),
            form::link_button(Kind::Plain, words::BACK, HOME),
        ]))
    };
    Ok(Page::behind(Part::Keys, words::MADE_TITLE).show(&visit, &content))
}

async fn one(
    State(desk): State<Desk>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, Trouble> {
    let id = KeyId::parse(&id).map_err(|_| Trouble::Missing)?;
    let keys = desk.app.keys(visit.member.org()).await.map_err(trouble)?;
    let key = keys.into_iter().find(|key| key.id == id).ok_or(Trouble::Missing)?;
    let mut known =
        vec![(words::STATE, state(&key)), (words::MADE, figures::time(key.created_at, visit.now))];
    if let Some(at) = key.primary_at {
        known.push((words::SINCE, figures::time(at, visit.now)));
    }
    if let Some(at) = key.revoked_at {
        known.push((words::REVOKED_AT, figures::time(at, visit.now)));
    }
    known.push((words::ID, figures::copyable(&key.id.to_string(), words::ID)));
    let stays = match (&key.revoked_at, &key.primary_at) {
        (Some(_), _) => Some(words::REVOKED_STAYS),
        (None, Some(_)) => Some(words::PRIMARY_STAYS),
        (None, None) => None,
    };
    let content = html! {
        (strip(&known))
        @if let Some(says) = stays { p { (says) } }
        p { (form::link_button(Kind::Plain, words::BACK, HOME)) }
    };
    let page = Page::behind(Part::Keys, label(&key));
    let page = if stays.is_none() { page.action(acts(&visit, key.id)) } else { page };
    Ok(page.show(&visit, &content))
}

fn acts(visit: &Visit, id: KeyId) -> Markup {
    let act = |path: &str, button: Markup| {
        form::form(&format!("{}/{path}", href(id)), &visit.csrf, None, button)
    };
    let ask = |name: &str, button: Markup| html! { (password_field(visit, name)) (button) };
    let primary = ask("primary", form::button(Kind::Main, words::MAKE_PRIMARY));
    let primary = act("primary", primary);
    let revoke = act("revoke", ask("revoke", form::button(Kind::Danger, words::REVOKE)));
    menu(
        words::ACTIONS,
        &[
            form::confirm(words::MAKE_PRIMARY, words::MAKE_PRIMARY_SAYS, primary),
            form::confirm(words::REVOKE, words::REVOKE_SAYS, revoke),
        ],
    )
}

async fn make_primary(
    State(desk): State<Desk>,
    visit: Visit,
    Path(id): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let id = KeyId::parse(&id).map_err(|_| Trouble::Missing)?;
    if let Some(refused) = refusal(&desk, &visit, &form, &href(id)).await? {
        return Ok(refused);
    }
    let (actor, org) = (visit.member.actor(), visit.member.org());
    match desk.app.make_key_primary(actor, org, id).await {
        Ok(()) => Ok(done(&href(id), words::NOW_PRIMARY)),
        Err(error) => not_done(error, &href(id)),
    }
}

async fn revoke(
    State(desk): State<Desk>,
    visit: Visit,
    Path(id): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let id = KeyId::parse(&id).map_err(|_| Trouble::Missing)?;
    if let Some(refused) = refusal(&desk, &visit, &form, &href(id)).await? {
        return Ok(refused);
    }
    let (actor, org) = (visit.member.actor(), visit.member.org());
    match desk.app.revoke_key(actor, org, id).await {
        Ok(()) => Ok(done(HOME, words::NOW_REVOKED)),
        Err(error) => not_done(error, &href(id)),
    }
}

fn not_done(error: Error, back: &str) -> Result<Response, Trouble> {
    let why = match error {
        Error::Primary => words::PRIMARY_STAYS,
        Error::TooMany => words::TOO_MANY,
        Error::Label => words::LONG_LABEL,
        error => return Err(trouble(error)),
    };
    Ok(refused(back, why))
}

pub(super) fn trouble(error: Error) -> Trouble {
    match error {
        Error::Store(error) => error.into(),
        _ => Trouble::Missing,
    }
}
