//! `/operator/v1/organisations/{id}/grants`: bundles for nothing.

use app::inventory::GrantError;
use axum::extract::State;
use serde::Serialize;

use super::{OfOrg, not_found};
use crate::Api;
use crate::caller::ByOperator;
use crate::front::Body;
use crate::json::{Answer, ok};
use crate::problem::Problem;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Grant {
    usage_id: i64,
    bundle: String,
    quantity: i64,
    expiry: String,
}

/// `POST …/grants`.
pub(crate) async fn add(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Grant>, Problem> {
    let bundle = fields.text("bundle")?.ok_or_else(|| Problem::missing("bundle"))?;
    let quantity = fields.int("quantity")?.ok_or_else(|| Problem::missing("quantity"))?;
    let reason = fields.text("reason")?.ok_or_else(|| Problem::missing("reason"))?;
    let granted = api.app.grant_bundles(operator.actor(), org, (&bundle, quantity), &reason);
    let lot = granted.await?;
    Ok(ok(Grant {
        usage_id: lot.id,
        bundle: lot.bundle.to_string(),
        quantity: lot.total,
        expiry: lot.expires_at.to_string(),
    }))
}

impl From<GrantError> for Problem {
    fn from(error: GrantError) -> Self {
        let text = error.to_string();
        match error {
            GrantError::UnknownOrganisation => not_found("unknown-organisation", text),
            GrantError::UnknownBundle(_) => Self::bad_request("unknown-bundle", text),
            GrantError::Quantity | GrantError::Reason => Self::bad_request("invalid-field", text),
            GrantError::Store(cause) => cause.into(),
        }
    }
}
