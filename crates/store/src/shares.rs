//! Links for travellers to eSIMs. Their text is sealed; they are found by a keyed digest.

use domain::{Iccid, OrgId, ShareId, Timestamp};

use crate::sealed::Sealed;
use crate::{Row, StoreError, Tx, args};

/// A link, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Its id.
    pub id: ShareId,
    /// Whose eSIM it leads to.
    pub org: OrgId,
    /// Which.
    pub iccid: Iccid,
    /// When it was made, by the real clock.
    pub created_at: Timestamp,
    /// When it ends, by the real clock.
    pub expires_at: Timestamp,
}

const INSERT: &str = "INSERT INTO shares (id, org_id, iccid, created_at, expires_at, digest, \
     sealed, vault_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const BY_DIGEST: &str = "SELECT id, org_id, iccid, created_at, expires_at FROM shares \
     WHERE digest = $1";
const OF_ESIM: &str = "SELECT id, org_id, iccid, created_at, expires_at, sealed, vault_key \
     FROM shares WHERE org_id = $1 AND iccid = $2 ORDER BY id DESC";
const FIND: &str = "SELECT id, org_id, iccid, created_at, expires_at FROM shares \
     WHERE id = $1 AND org_id = $2";
const REMOVE: &str = "DELETE FROM shares WHERE id = $1 AND org_id = $2";
const REMOVE_EXPIRED: &str = "DELETE FROM shares WHERE org_id = $1 AND iccid = $2 \
     AND expires_at <= $3";
const REMOVE_ALL: &str = "DELETE FROM shares WHERE org_id = $1 AND iccid = $2";

/// Adds a link.
pub fn insert(
    tx: &mut Tx<'_>,
    share: &Share,
    digest: &[u8],
    sealed: &Sealed,
) -> Result<(), StoreError> {
    let Share { id, org, iccid, created_at, expires_at } = share;
    let Sealed { bytes, vault_key } = sealed;
    let args =
        args![*id, *org, iccid, *created_at, *expires_at, digest, bytes.as_slice(), vault_key];
    tx.exec(INSERT, args).map(drop)
}

/// The link with that digest, expired or not.
pub fn by_digest(tx: &mut Tx<'_>, digest: &[u8]) -> Result<Option<Share>, StoreError> {
    tx.maybe(BY_DIGEST, args![digest])?.map(|row| share(&row)).transpose()
}

/// All links to an eSIM with their texts, sealed; newest first.
pub fn of_esim(
    tx: &mut Tx<'_>,
    org: OrgId,
    iccid: &Iccid,
) -> Result<Vec<(Share, Sealed)>, StoreError> {
    let rows = tx.all(OF_ESIM, args![org, iccid])?;
    rows.iter().map(|row| Ok((share(row)?, Sealed::from_row(row, 5)?))).collect()
}

/// The link of that id, if it is this organisation's.
pub fn find(tx: &mut Tx<'_>, org: OrgId, id: ShareId) -> Result<Option<Share>, StoreError> {
    tx.maybe(FIND, args![id, org])?.map(|row| share(&row)).transpose()
}

/// Takes a link away; false if there is none.
pub fn remove(tx: &mut Tx<'_>, org: OrgId, id: ShareId) -> Result<bool, StoreError> {
    Ok(tx.exec(REMOVE, args![id, org])? == 1)
}

/// Takes away those of an eSIM that have ended.
pub fn remove_expired(
    tx: &mut Tx<'_>,
    org: OrgId,
    iccid: &Iccid,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.later(REMOVE_EXPIRED, args![org, iccid, now])
}

/// Takes away all of an eSIM.
pub fn remove_all(tx: &mut Tx<'_>, org: OrgId, iccid: &Iccid) -> Result<(), StoreError> {
    tx.later(REMOVE_ALL, args![org, iccid])
}

fn share(row: &Row) -> Result<Share, StoreError> {
    Ok(Share {
        id: row.parsed(0, ShareId::parse)?,
        org: row.parsed(1, OrgId::parse)?,
        iccid: row.parsed(2, Iccid::parse)?,
        created_at: row.time(3)?,
        expires_at: row.time(4)?,
    })
}
