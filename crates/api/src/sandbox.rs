//! The sandbox: an organisation's own clock, card and phones.

pub(crate) mod faults;
pub(crate) mod phone;

use app::sandbox::Error;
use axum::extract::State;
use domain::Timestamp;
use serde::Serialize;

use crate::Api;
use crate::caller::BySandbox;
use crate::front::Body;
use crate::json::{Answer, ok};
use crate::operator::callbacks::Told;
use crate::problem::Problem;

#[derive(Serialize)]
pub(crate) struct Now {
    now: String,
}

#[derive(Serialize)]
pub(crate) struct Hold {
    on: bool,
}

fn now(time: Timestamp) -> Answer<Now> {
    ok(Now { now: time.to_string() })
}

/// `GET /sandbox/v1/clock`.
pub(crate) async fn clock(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
) -> Result<Answer<Now>, Problem> {
    Ok(now(api.app.clock(&caller).await?))
}

/// `POST /sandbox/v1/clock/advance`.
pub(crate) async fn advance(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Now>, Problem> {
    let seconds = fields.int("seconds")?.ok_or_else(|| Problem::missing("seconds"))?;
    Ok(now(api.app.advance_clock(&caller, seconds).await?))
}

/// `POST /sandbox/v1/settle`.
pub(crate) async fn settle(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
) -> Result<Answer<Now>, Problem> {
    Ok(now(api.app.settle(&caller).await?))
}

#[derive(Serialize)]
pub(crate) struct Card {
    card: Option<String>,
}

/// `POST /sandbox/v1/card`: the test card that top-ups are charged to.
pub(crate) async fn card(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Card>, Problem> {
    if !fields.has("card") && !fields.is_null("card") {
        return Err(Problem::missing("card"));
    }
    let card = fields.text("card")?;
    api.app.set_test_card(&caller, card.as_deref()).await?;
    Ok(ok(Card { card }))
}

/// `POST /sandbox/v1/hold`.
pub(crate) async fn hold(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Hold>, Problem> {
    let on = fields.boolean("on")?.ok_or_else(|| Problem::missing("on"))?;
    api.app.hold(&caller, on).await?;
    Ok(ok(Hold { on }))
}

/// `POST /sandbox/v1/callbacks/test`.
pub(crate) async fn test_callback(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
) -> Result<Answer<Told>, Problem> {
    Ok(ok(Told { event: api.app.test_callback(&caller).await?.to_string() }))
}

/// `POST /sandbox/v1/reset`.
pub(crate) async fn reset(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
) -> Result<Answer<Now>, Problem> {
    Ok(now(api.app.reset(&caller).await?))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Live => Self::denied("live-organisation"),
            Error::Seconds | Error::Card | Error::Fault => {
                Self::bad_request("invalid-parameter", error.to_string())
            }
            Error::Store(cause) => cause.into(),
        }
    }
}
