//! `/operator/v1/esims/{iccid}/…`: what the operator decides about somebody's eSIM.

use app::esims::change::{OperatorError, Policy};
use axum::extract::State;
use serde_json::{Value, json};

use super::not_found;
use crate::Api;
use crate::caller::ByOperator;
use crate::front::Body;
use crate::json::{Answer, Fields, ok};
use crate::path::Params;
use crate::problem::Problem;

/// `POST …/suspend`.
pub(crate) async fn suspend(
    by: ByOperator,
    State(api): State<Api>,
    params: Params,
    Body(mut fields): Body,
) -> Result<Answer<Value>, Problem> {
    let on = fields.boolean("suspend")?.ok_or_else(|| Problem::missing("suspend"))?;
    let policy = if on { Policy::Suspend } else { Policy::Resume };
    decide(&api, by, &params, (policy, fields)).await
}

/// `POST …/deactivate`.
pub(crate) async fn deactivate(
    by: ByOperator,
    State(api): State<Api>,
    params: Params,
    Body(fields): Body,
) -> Result<Answer<Value>, Problem> {
    decide(&api, by, &params, (Policy::Deactivate, fields)).await
}

async fn decide(
    api: &Api,
    ByOperator(operator): ByOperator,
    params: &Params,
    (policy, mut fields): (Policy, Fields),
) -> Result<Answer<Value>, Problem> {
    let iccid = params.iccid()?;
    let reason = fields.text("reason")?.ok_or_else(|| Problem::missing("reason"))?;
    let state = api.app.police_esim(operator.actor(), &iccid, policy, &reason).await?;
    Ok(ok(json!({ "iccid": iccid.as_str(), "state": state })))
}

impl From<OperatorError> for Problem {
    fn from(error: OperatorError) -> Self {
        let text = error.to_string();
        match error {
            OperatorError::Unknown => not_found("unknown-esim", text),
            OperatorError::Reason => Self::bad_request("invalid-field", text),
            OperatorError::Store(cause) => cause.into(),
        }
    }
}
