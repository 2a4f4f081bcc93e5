//! Our own surfaces for resellers: the event feed, and what became of a request.

use app::idempotency::State as Fate;
use axum::extract::State;
use domain::limits;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Api;
use crate::caller::By;
use crate::json::{Answer, ok};
use crate::path::Named;
use crate::problem::Problem;
use crate::query::Query;

#[derive(Serialize)]
pub(crate) struct Page {
    events: Vec<Event>,
    next: Option<String>,
}

#[derive(Serialize)]
struct Event {
    cursor: String,
    id: String,
    #[serde(rename = "type")]
    kind: String,
    time: String,
    data: Box<RawValue>,
}

/// `GET /events/v1`.
pub(crate) async fn events(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Page>, Problem> {
    let after = query.number("after", 0..=i64::MAX)?;
    let size = query.number("limit", 1..=limits::EVENTS_PAGE_MAX)?;
    let size = size.unwrap_or(limits::EVENTS_PAGE_DEFAULT);
    let stored = api.app.events(&caller, after.unwrap_or(0), size).await?;
    let last = stored.last().map(|event| event.seq).or(after);
    let events = stored.into_iter().map(|event| Event {
        cursor: event.seq.to_string(),
        id: event.id.to_string(),
        kind: event.kind,
        time: event.at.to_string(),
        data: raw(event.data),
    });
    Ok(ok(Page { events: events.collect(), next: last.map(|seq| seq.to_string()) }))
}

#[derive(Serialize)]
pub(crate) struct Became {
    state: &'static str,
    status: Option<u16>,
    body: Option<Box<RawValue>>,
}

/// `GET /idempotency/v1/{key}`.
pub(crate) async fn idempotency(
    By(caller): By,
    State(api): State<Api>,
    Named(key): Named,
) -> Result<Answer<Became>, Problem> {
    Ok(ok(match api.app.idempotency(&caller, &key).await? {
        Fate::Unknown => Became { state: "unknown", status: None, body: None },
        Fate::Running => Became { state: "running", status: None, body: None },
        Fate::Done(answer) => Became {
            state: "done",
            status: Some(answer.status),
            body: String::from_utf8(answer.body).ok().map(raw),
        },
    }))
}

/// JSON that was written before, as it is.
fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_default()
}
