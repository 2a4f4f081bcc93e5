//! The operator's surface: organisations, their keys and people, what is for sale, the audit log.

pub(crate) mod audit;
pub(crate) mod callbacks;
pub(crate) mod catalogue;
pub(crate) mod esims;
pub(crate) mod grants;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod money;
pub(crate) mod organisations;
pub(crate) mod statement;
pub(crate) mod stock;
pub(crate) mod usage;
pub(crate) mod users;

use axum::extract::{FromRequestParts, RawPathParams};
use domain::{KeyId, OrgId, UserId, limits};
use http::StatusCode;
use http::request::Parts;

use crate::Api;
use crate::problem::Problem;
use crate::query::Query;

/// The organisation named in the path. What is no id names nobody.
pub(crate) struct OfOrg(pub(crate) OrgId);

impl FromRequestParts<Api> for OfOrg {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let text = parameter(parts, api, "id").await;
        let unknown = || not_found("unknown-organisation", "organisation not found");
        // The house is no organisation.
        let id = OrgId::parse(&text).ok().filter(|id| *id != OrgId::HOUSE).ok_or_else(unknown)?;
        // A sandbox that started afresh is met under the id it had.
        api.app.organisation_known_as(id).await?.map(Self).ok_or_else(unknown)
    }
}

/// The key named in the path.
pub(crate) struct OfKey(pub(crate) KeyId);

impl FromRequestParts<Api> for OfKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let text = parameter(parts, api, "keyId").await;
        let id = KeyId::parse(&text).ok();
        id.map(Self).ok_or_else(|| not_found("unknown-key", "key not found"))
    }
}

/// The `{userId}` of a path.
pub(crate) struct OfUser(pub(crate) UserId);

impl FromRequestParts<Api> for OfUser {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let text = parameter(parts, api, "userId").await;
        let id = UserId::parse(&text).ok();
        id.map(Self).ok_or_else(|| not_found("unknown-user", "there is no such person"))
    }
}

async fn parameter(parts: &mut Parts, api: &Api, name: &str) -> String {
    let Ok(parameters) = RawPathParams::from_request_parts(parts, api).await else {
        return String::new();
    };
    let found = parameters.iter().find(|(key, _)| *key == name);
    found.map_or_else(String::new, |(_, value)| value.to_owned())
}

fn not_found(code: &'static str, message: impl Into<String>) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, code, message.into())
}

/// How many rows a page of the operator's lists has.
fn page_size(query: &Query) -> Result<i64, Problem> {
    let size = query.number("limit", 1..=limits::OPERATOR_PAGE_MAX)?;
    Ok(size.unwrap_or(limits::OPERATOR_PAGE_DEFAULT))
}

/// Cuts the rows to a page and says the cursor of the next one. One row more than the page was
/// read, so that the last page says that it is the last.
fn page<T>(mut rows: Vec<T>, size: i64, cursor: impl Fn(&T) -> String) -> (Vec<T>, Option<String>) {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let is_last = rows.len() <= size;
    rows.truncate(size);
    let next = rows.last().filter(|_| !is_last).map(cursor);
    (rows, next)
}
