//! The audit log: who did what. Entries are added in the transaction of the act and never changed.

use domain::{AuditId, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, args};

/// One act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id; ids follow time.
    pub id: AuditId,
    /// When.
    pub at: Timestamp,
    /// Who: `operator:<key id>`, `cli`, `user:<id>`.
    pub actor: String,
    /// What, as `noun.verb`.
    pub action: String,
    /// The organisation concerned.
    pub org: Option<OrgId>,
    /// The thing concerned, by its id.
    pub target: String,
    /// More, for a person. Never a secret.
    pub detail: String,
}

const INSERT: &str = "INSERT INTO audit (id, at, actor, action, org_id, target, detail, known_as) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, \
     COALESCE((SELECT known_as FROM organisations WHERE id = $5), $5))";
const PAGE: &str = "SELECT id, at, actor, action, org_id, target, detail FROM audit \
     WHERE id < $1 ORDER BY id DESC LIMIT $2";
const PAGE_OF_ORG: &str = "SELECT id, at, actor, action, org_id, target, detail FROM audit \
     WHERE known_as = COALESCE((SELECT known_as FROM organisations WHERE id = $1), $1) \
     AND id < $2 ORDER BY id DESC LIMIT $3";

/// Adds an entry.
pub fn add(tx: &mut Tx<'_>, entry: &Entry) -> Result<(), StoreError> {
    let Entry { id, at, actor, action, org, target, detail } = entry;
    tx.later(INSERT, args![*id, *at, actor, action, *org, target, detail])
}

/// Entries from the newest on, or from the one before `before`.
pub fn page(tx: &mut Tx<'_>, before: Option<AuditId>, most: i64) -> Result<Vec<Entry>, StoreError> {
    tx.all(PAGE, args![bound(before), most])?.iter().map(entry).collect()
}

/// The same of one organisation, also from before its fresh starts.
pub fn page_of_org(
    tx: &mut Tx<'_>,
    org: OrgId,
    before: Option<AuditId>,
    most: i64,
) -> Result<Vec<Entry>, StoreError> {
    tx.all(PAGE_OF_ORG, args![org, bound(before), most])?.iter().map(entry).collect()
}

/// No id sorts behind 'g': hexadecimal digits end at 'f'.
fn bound(before: Option<AuditId>) -> String {
    before.map_or_else(|| "g".to_owned(), |id| id.to_string())
}

fn entry(row: &Row) -> Result<Entry, StoreError> {
    Ok(Entry {
        id: row.parsed(0, AuditId::parse)?,
        at: row.time(1)?,
        actor: row.text(2)?.to_owned(),
        action: row.text(3)?.to_owned(),
        org: match row.text_or_none(4)? {
            Some(_) => Some(row.parsed(4, OrgId::parse)?),
            None => None,
        },
        target: row.text(5)?.to_owned(),
        detail: row.text(6)?.to_owned(),
    })
}
