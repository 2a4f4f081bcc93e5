//! Sub-commands that act on the database directly. They use the same use-cases as the operator's
//! API, so the same rules hold and the audit log knows.

mod bulk;
pub(crate) mod catalogue;
pub(crate) mod jobs;
pub(crate) mod key;
pub(crate) mod org;
pub(crate) mod stock;
pub(crate) mod usage;
pub(crate) mod user;
pub(crate) mod verify;

use app::App;
use domain::OrgId;

/// The organisation meant by an id on the command line.
async fn org_id(app: &App, text: &str) -> Result<OrgId, String> {
    let odd = || format!("{text} is no organisation id\n  next: `tern org list` shows them");
    let id = OrgId::parse(text).ok().filter(|id| *id != OrgId::HOUSE).ok_or_else(odd)?;
    // A sandbox that started afresh is met under the id it had.
    let known = app.organisation_known_as(id).await.map_err(|error| error.to_string())?;
    Ok(known.unwrap_or(id))
}

/// The organisation meant by an id, or without one the house.
async fn whose(app: &App, org: Option<String>) -> Result<OrgId, String> {
    match org {
        Some(text) => org_id(app, &text).await,
        None => Ok(OrgId::HOUSE),
    }
}
