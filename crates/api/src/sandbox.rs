//! The sandbox: an organisation's own clock.

use app::sandbox::Error;
use axum::extract::State;
use domain::Timestamp;
use serde::Serialize;

use crate::Api;
use crate::caller::By;
use crate::front::Body;
use crate::json::{Answer, ok};
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
pub(crate) async fn clock(By(caller): By, State(api): State<Api>) -> Result<Answer<Now>, Problem> {
    Ok(now(api.app.clock(&caller).await?))
}

/// `POST /sandbox/v1/clock/advance`.
pub(crate) async fn advance(
    By(caller): By,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Now>, Problem> {
    let seconds = fields.int("seconds")?.ok_or_else(|| Problem::missing("seconds"))?;
    Ok(now(api.app.advance_clock(&caller, seconds).await?))
}

/// `POST /sandbox/v1/settle`: nothing is ever due yet, so everything is settled.
pub(crate) async fn settle(By(caller): By, State(api): State<Api>) -> Result<Answer<Now>, Problem> {
    Ok(now(api.app.clock(&caller).await?))
}

/// `POST /sandbox/v1/hold`.
pub(crate) async fn hold(
    By(caller): By,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Hold>, Problem> {
    let on = fields.boolean("on")?.ok_or_else(|| Problem::missing("on"))?;
    api.app.hold(&caller, on).await?;
    Ok(ok(Hold { on }))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Live => Self::denied("live-organisation"),
            Error::Seconds => Self::bad_request("invalid-parameter", error.to_string()),
            Error::Store(cause) => cause.into(),
        }
    }
}
