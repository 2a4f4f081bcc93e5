//! The audit log: who did what to the organisation, and when.

use app::audit::Entry;
use axum::extract::State;
use axum::response::Response;
use domain::{AuditId, Right, User};
use maud::html;

use super::{Desk, Routes, Trouble, Visit, pages};
use crate::kit::table::{Head, Pages, Row, Table, empty};
use crate::kit::{Area, figures};
use crate::words::team as words;

const HOME: &str = "/portal/team/audit";
/// Entries on a page.
const ROWS: i64 = 50;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get(HOME, Right::Manage, page)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let before = visit.query.maybe("before").and_then(|text| AuditId::parse(text).ok());
    let entries = desk.app.audit_of(visit.member.org(), before, ROWS).await?;
    let team = desk.app.team(&visit.member).await?;
    let people: Vec<&User> = team.iter().map(|(user, _)| user).collect();
    let rows: Vec<Row> = entries.iter().map(|entry| row(entry, &people, &visit)).collect();
    let heads = words::AUDIT_HEADS.map(Head::text);
    let is_full = i64::try_from(entries.len()) == Ok(ROWS);
    let next = entries.last().filter(|_| is_full).map(|last| format!("{HOME}?before={}", last.id));
    let pages_beside = Pages { previous: before.map(|_| HOME), next: next.as_deref(), says: "" };
    let [title, why] = words::AUDIT_EMPTY;
    let content = html! {
        (pages(HOME))
        @if rows.is_empty() { (empty(title, why, html! {}, None)) }
        @else { (Table::new(words::AUDIT, &heads, &rows).pages(pages_beside)) }
    };
    Ok(visit.page((Area::Team, words::AUDIT), None, content))
}

fn row(entry: &Entry, people: &[&User], visit: &Visit) -> Row {
    Row::plain([
        figures::time(entry.at, visit.now),
        html! { bdi { (who(&entry.actor, people)) } },
        html! { (words::action(&entry.action)) },
        html! { bdi { (named(&entry.target, people, visit)) } },
        html! { bdi { (entry.detail) } },
    ])
}

/// Who acted, by name where the person is still there.
fn who(actor: &str, people: &[&User]) -> String {
    match actor.split_once(':') {
        Some(("user", id)) => known(id, people).unwrap_or_else(|| words::GONE.to_owned()),
        Some(("operator", _)) => words::WHOLESALER.to_owned(),
        _ if actor == "cli" => words::WHOLESALER.to_owned(),
        _ => words::SERVICE.to_owned(),
    }
}

/// What it was done to: people by their address, everything else as it is noted.
fn named(target: &str, people: &[&User], visit: &Visit) -> String {
    let organisation = visit.member.organisation();
    if [organisation.id, organisation.known_as].iter().any(|id| id.to_string() == target) {
        return words::THE_ORGANISATION.to_owned();
    }
    known(target, people).unwrap_or_else(|| target.to_owned())
}

fn known(id: &str, people: &[&User]) -> Option<String> {
    let user = people.iter().find(|user| user.id.to_string() == id)?;
    Some(user.email.as_str().to_owned())
}
