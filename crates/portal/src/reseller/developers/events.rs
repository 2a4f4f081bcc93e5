//! The event feed, newest first.

use app::events::Stored;
use axum::extract::State;
use axum::response::Response;
use domain::{Right, Timestamp};
use maud::{Markup, html};

use super::address::{Place, SIZE};
use super::{Page, Part, clock};
use crate::kit::form::{self, Kind};
use crate::kit::table::{self, Pages, nothing_found, terminal};
use crate::kit::{figures, fold, live};
use crate::reseller::desk::Desk;
use crate::reseller::fields::address;
use crate::reseller::{Routes, Trouble, Visit};
use crate::words::developers::events as words;

pub(super) const HOME: &str = "/portal/developers/events";

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get(HOME, Right::Develop, page)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let kind = visit.query.text("type");
    let place = Place::of(&visit);
    let (found, next) = feed(&desk, &visit, kind, place.before).await?;
    let curl = format!("curl -H \"X-API-Key: $TERN_KEY\" {}/events/v1?after=0", desk.public_url);
    if found.is_empty() && kind.is_empty() && place.before.is_none() {
        let step = form::link_button(Kind::Main, words::EMPTY_STEP, "/portal/catalogue");
        let empty = table::empty(words::EMPTY, words::EMPTY_SAYS, step, Some(&curl));
        return Ok(Page::of(Part::Events).show_live(&visit, &live("feed", empty)));
    }
    let kept = [("type", kind)];
    let next = next.map(|before| place.next(HOME, &kept, before));
    let previous = place.previous(HOME, &kept);
    let pages = Pages { previous: previous.as_deref(), next: next.as_deref(), says: "" };
    let now = clock(&desk, &visit).await?;
    let content = html! {
        p { (words::SAYS) }
        (terminal(words::CURL, &curl))
        (chips(kind))
        (live("feed", html! {
            @if found.is_empty() {
                (nothing_found(if next.is_some() { words::NOTHING_HERE } else { words::NOTHING },
                    HOME))
            }
            div.folds { @for event in &found { (shown(event, now)) } }
            (pages)
        }))
    };
    Ok(Page::of(Part::Events).show_live(&visit, &content))
}

/// A page of the feed, of one kind or all, and where the next one begins.
async fn feed(
    desk: &Desk,
    visit: &Visit,
    kind: &str,
    before: Option<i64>,
) -> Result<(Vec<Stored>, Option<i64>), Trouble> {
    let caller = visit.member.caller();
    if !kind.is_empty() {
        let piece = desk.app.recent_events_of(caller, kind, before, SIZE).await?;
        return Ok((piece.found, piece.next));
    }
    let found = desk.app.recent_events(caller, before, SIZE).await?;
    let is_full = i64::try_from(found.len()) == Ok(SIZE);
    // Numbers have no gaps: after the first one comes nothing.
    let next = found.last().map(|last| last.seq).filter(|seq| is_full && *seq > 1);
    Ok((found, next))
}

fn chips(kind: &str) -> Markup {
    let chip = |label: &str, value: &str| {
        let href = address(HOME, &[("type", value)]);
        html! { a.chip href=(href) aria-current=[(value == kind).then_some("true")] { (label) } }
    };
    let is_other = !kind.is_empty() && !words::KINDS.contains(&kind);
    html! {
        div.filter {
            nav.chips aria-label=(words::CHIPS) {
                (chip(words::ALL, ""))
                @for one in words::KINDS { (chip(one, one)) }
                @if is_other { (chip(kind, kind)) }
            }
        }
    }
}

fn shown(event: &Stored, now: Timestamp) -> Markup {
    let (seq, id) = (event.seq.to_string(), event.id.to_string());
    let data: Option<serde_json::Value> = serde_json::from_str(&event.data).ok();
    let text = |name: &str| data.as_ref()?.get(name)?.as_str();
    let (iccid, order) = (text("iccid"), text("orderReference"));
    let line = html! {
        strong { (event.kind) }
        span.quiet {
            @match (iccid, order) {
                (Some(iccid), _) => (figures::iccid(iccid)),
                (None, Some(order)) => code { (order) },
                (None, None) => {}
            }
        }
        (figures::time(event.at, now))
        code.quiet { (seq) }
    };
    let inside = html! {
        p {
            "Cursor " (figures::copyable(&seq, words::CURSOR)) " · id "
            (figures::copyable(&id, words::ID))
            @if let Some(iccid) = iccid {
                " · " a href={ "/portal/esims/" (iccid) } { (words::ESIM) }
            }
            @if let Some(order) = order {
                " · " a href={ "/portal/orders/" (order) } { (words::ORDER) }
            }
        }
        (terminal(words::DATA, &pretty(&event.data)))
    };
    fold(&line, &inside)
}

/// JSON laid out for reading; what is none stays as it is.
pub(super) fn pretty(text: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or(text.to_owned())
}
