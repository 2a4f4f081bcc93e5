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

use domain::OrgId;

/// The organisation meant by an id on the command line.
fn org_id(text: &str) -> Result<OrgId, String> {
    let id = OrgId::parse(text).ok().filter(|id| *id != OrgId::HOUSE);
    id.ok_or_else(|| format!("{text} is no organisation id\n  next: `tern org list` shows them"))
}
