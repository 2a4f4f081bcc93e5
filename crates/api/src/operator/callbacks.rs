//! `/operator/v1/organisations/{id}/callbacks` and `/deliveries`: how callbacks do, every attempt,
//! sending again.

use app::callbacks::{Again, Attempt, Delivery, Error, Health};
use axum::extract::State;
use domain::callback;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{OfOrg, not_found, page_size};
use crate::Api;
use crate::caller::ByOperator;
use crate::front::Body;
use crate::json::{Answer, Fields, ok};
use crate::path::Params;
use crate::problem::Problem;
use crate::query::Query;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Endpoint {
    state: &'static str,
    since: Option<String>,
    why: String,
    waiting: i64,
    dead: i64,
    p50_milliseconds: Option<i64>,
    p99_milliseconds: Option<i64>,
}

impl From<Health> for Endpoint {
    fn from(health: Health) -> Self {
        let endpoint = health.endpoint;
        let (state, since) = if health.url.is_none() {
            ("none", None)
        } else if let Some(at) = endpoint.off_at {
            ("off", Some(at))
        } else if let Some(at) = endpoint.paused_at {
            ("paused", Some(at))
        } else if let Some(at) = endpoint.failing_since {
            ("failing", Some(at))
        } else {
            ("well", None)
        };
        Self {
            state,
            since: since.map(|at| at.to_string()),
            why: endpoint.off_why,
            waiting: health.waiting,
            dead: health.dead,
            p50_milliseconds: health.p50_ms,
            p99_milliseconds: health.p99_ms,
        }
    }
}

/// `GET …/callbacks`.
pub(crate) async fn health(
    _: ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
) -> Result<Answer<Endpoint>, Problem> {
    Ok(ok(api.app.callback_health(org).await?.into()))
}

/// `POST …/callbacks/pause`.
pub(crate) async fn pause(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Endpoint>, Problem> {
    let on = fields.boolean("on")?.ok_or_else(|| Problem::missing("on"))?;
    api.app.pause_callbacks(operator.actor(), org, on).await?;
    Ok(ok(api.app.callback_health(org).await?.into()))
}

#[derive(Serialize)]
pub(crate) struct Told {
    pub(crate) event: String,
}

/// `POST …/callbacks/test`.
pub(crate) async fn test(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
) -> Result<Answer<Told>, Problem> {
    let (event, _) = api.app.test_callback_of(operator.actor(), org).await?;
    Ok(ok(Told { event: event.to_string() }))
}

#[derive(Serialize)]
pub(crate) struct Signing {
    secret: String,
}

/// `GET …/webhook-secret`.
pub(crate) async fn secret(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
) -> Result<Answer<Signing>, Problem> {
    let secret = api.app.webhook_secret(operator.actor(), org).await?;
    Ok(ok(Signing { secret: secret.expose().clone() }))
}

/// `POST …/webhook-secret`.
pub(crate) async fn rotate_secret(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
) -> Result<Answer<Signing>, Problem> {
    let secret = api.app.rotate_webhook_secret(operator.actor(), org).await?;
    Ok(ok(Signing { secret: secret.expose().clone() }))
}

#[derive(Serialize)]
pub(crate) struct Page {
    deliveries: Vec<Sent>,
    next: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sent {
    cursor: String,
    id: String,
    #[serde(rename = "type")]
    kind: String,
    time: String,
    iccid: String,
    version: &'static str,
    state: &'static str,
    attempts: i64,
    made_at: String,
    done_at: Option<String>,
}

impl From<&Delivery> for Sent {
    fn from(delivery: &Delivery) -> Self {
        Self {
            cursor: delivery.seq.to_string(),
            id: delivery.event.to_string(),
            kind: delivery.kind.clone(),
            time: delivery.at.to_string(),
            iccid: delivery.lane.clone(),
            version: delivery.form.name(),
            state: delivery.state.name(),
            attempts: delivery.attempts,
            made_at: delivery.made_at.to_string(),
            done_at: delivery.done_at.map(|at| at.to_string()),
        }
    }
}

/// `GET …/deliveries`.
pub(crate) async fn list(
    _: ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Page>, Problem> {
    let size = page_size(&query)?;
    let state = match query.one("state") {
        None => None,
        Some(name) => Some(callback::State::parse(name).ok_or_else(|| Problem::invalid("state"))?),
    };
    let before = query.number("before", 0..=i64::MAX)?.unwrap_or(i64::MAX);
    let rows = api.app.deliveries(org, state, before, size + 1).await?;
    let (rows, next) = super::page(rows, size, |row| row.seq.to_string());
    Ok(ok(Page { deliveries: rows.iter().map(Sent::from).collect(), next }))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Whole {
    #[serde(flatten)]
    sent: Sent,
    next_attempt_at: Option<String>,
    tried: Vec<Tried>,
    data: Box<RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tried {
    time: String,
    status: Option<i64>,
    milliseconds: i64,
    answer: String,
}

impl From<Attempt> for Tried {
    fn from(attempt: Attempt) -> Self {
        Self {
            time: attempt.at.to_string(),
            status: attempt.status,
            milliseconds: attempt.took_ms,
            answer: attempt.answer,
        }
    }
}

/// `GET …/deliveries/{cursor}`.
pub(crate) async fn show(
    _: ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    path: Params,
) -> Result<Answer<Whole>, Problem> {
    let seq = cursor(path.get("cursor")).ok_or(Error::UnknownDelivery)?;
    let (delivery, attempts, due) = api.app.delivery(org, seq).await?;
    Ok(ok(Whole {
        sent: Sent::from(&delivery),
        next_attempt_at: due.map(|at| at.to_string()),
        tried: attempts.into_iter().map(Tried::from).collect(),
        data: RawValue::from_string(delivery.body).unwrap_or_default(),
    }))
}

#[derive(Serialize)]
pub(crate) struct Replayed {
    replayed: i64,
}

/// `POST …/deliveries/replay`.
pub(crate) async fn replay(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Replayed>, Problem> {
    let what = again(&mut fields)?;
    Ok(ok(Replayed { replayed: api.app.send_again(operator.actor(), org, what).await? }))
}

fn again(fields: &mut Fields) -> Result<Again, Problem> {
    let one = fields.text("cursor")?;
    let dead = fields.boolean("dead")?.unwrap_or_default();
    let (from, to) = (fields.time("from")?, fields.time("to")?);
    match (one, dead, from, to) {
        (Some(text), false, None, None) => {
            cursor(&text).map(Again::One).ok_or_else(|| Problem::invalid("cursor"))
        }
        (None, true, None, None) => Ok(Again::Dead),
        (None, false, Some(from), Some(to)) => Ok(Again::Within(from, to)),
        _ => {
            let text = "one of cursor, dead, or from and to is required";
            Err(Problem::bad_request("missing-parameter", text))
        }
    }
}

fn cursor(text: &str) -> Option<i64> {
    text.parse().ok().filter(|seq| *seq > 0 && text.bytes().all(|b| b.is_ascii_digit()))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::UnknownOrganisation => not_found("unknown-organisation", text),
            Error::UnknownDelivery => not_found("unknown-delivery", text),
            Error::NoAddress => Self::bad_request("no-callback-url", text),
            Error::Off => Self::bad_request("callbacks-off", text),
            Error::Window => Self::bad_request("invalid-parameter", text),
            Error::Store(cause) => cause.into(),
        }
    }
}
