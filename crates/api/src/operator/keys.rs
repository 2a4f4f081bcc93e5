//! `/operator/v1/organisations/{id}/keys`.

use app::keys::{Error, Key};
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;

use super::{OfKey, OfOrg, not_found};
use crate::Api;
use crate::caller::ByOperator;
use crate::front::Body;
use crate::json::{Answer, ok};
use crate::problem::Problem;

/// `GET …/keys`.
pub(crate) async fn list(
    _: ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
) -> Result<Answer<Keys>, Problem> {
    let keys = api.app.keys(org).await?;
    Ok(ok(Keys { keys: keys.iter().map(WireKey::from).collect() }))
}

/// `POST …/keys`.
pub(crate) async fn add(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Added>, Problem> {
    let label = fields.text("label")?.unwrap_or_default();
    let primary = fields.boolean("primary")?.unwrap_or_default();
    let (key, text) = api.app.add_key(operator.actor(), org, &label, primary).await?;
    let added = Added { key: WireKey::from(&key), api_key: text.expose().clone() };
    Ok(Answer(StatusCode::CREATED, added))
}

/// `DELETE …/keys/{keyId}`.
pub(crate) async fn revoke(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    OfKey(key): OfKey,
    State(api): State<Api>,
) -> Result<Answer<Status>, Problem> {
    api.app.revoke_key(operator.actor(), org, key).await?;
    Ok(ok(Status { status: "revoked" }))
}

#[derive(Serialize)]
pub(crate) struct Status {
    status: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Keys {
    keys: Vec<WireKey>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Added {
    #[serde(flatten)]
    key: WireKey,
    api_key: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireKey {
    id: String,
    label: String,
    primary: bool,
    created_at: String,
    revoked_at: Option<String>,
}

impl From<&Key> for WireKey {
    fn from(key: &Key) -> Self {
        Self {
            id: key.id.to_string(),
            label: key.label.clone(),
            primary: key.primary_at.is_some(),
            created_at: key.created_at.to_string(),
            revoked_at: key.revoked_at.map(|time| time.to_string()),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::UnknownOrganisation => not_found("unknown-organisation", text),
            Error::UnknownKey => not_found("unknown-key", text),
            Error::Primary => Self::bad_request("primary-key", text),
            Error::TooMany => Self::bad_request("too-many-keys", text),
            Error::Label => Self::bad_request("invalid-field", text),
            Error::Store(cause) => cause.into(),
        }
    }
}
