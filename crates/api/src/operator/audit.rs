//! `/operator/v1/audit`: newest first.

use app::audit::Entry;
use axum::extract::State;
use domain::AuditId;
use serde::Serialize;

use super::{page, page_size};
use crate::Api;
use crate::caller::ByOperator;
use crate::json::{Answer, ok};
use crate::problem::Problem;
use crate::query::Query;

/// `GET /audit`.
pub(crate) async fn list(
    _: ByOperator,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Page>, Problem> {
    let size = page_size(&query)?;
    let after = query.one("after").map(AuditId::parse).transpose();
    let after = after.map_err(|_| Problem::invalid("after"))?;
    let rows = api.app.audit(after, size + 1).await?;
    let (rows, next) = page(rows, size, |row| row.id.to_string());
    Ok(ok(Page { entries: rows.into_iter().map(WireEntry::from).collect(), next }))
}

#[derive(Serialize)]
pub(crate) struct Page {
    entries: Vec<WireEntry>,
    next: Option<String>,
}

#[derive(Serialize)]
struct WireEntry {
    id: String,
    time: String,
    actor: String,
    action: String,
    organisation: Option<String>,
    target: String,
    detail: String,
}

impl From<Entry> for WireEntry {
    fn from(entry: Entry) -> Self {
        let Entry { id, at, actor, action, org, target, detail } = entry;
        Self {
            id: id.to_string(),
            time: at.to_string(),
            actor,
            action,
            organisation: org.map(|org| org.to_string()),
            target,
            detail,
        }
    }
}
