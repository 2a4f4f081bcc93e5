//! API keys of organisations and operator keys of the house. Their text is sealed.

use domain::{KeyId, OrgId, Timestamp};

use crate::sealed::Sealed;
use crate::{Row, StoreError, Tx, args};

/// A key without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// Whose it is.
    pub org: OrgId,
    /// What it is for, in its owner's words.
    pub label: String,
    /// Since when it is the one that is shown and signs callbacks.
    pub primary_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

const INSERT: &str = "INSERT INTO keys (id, org_id, label, primary_at, created_at, digest, sealed, \
     vault_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const BY_DIGEST: &str = "SELECT id, org_id, label, primary_at, created_at, revoked_at FROM keys \
     WHERE digest = $1";
const OF_ORG: &str = "SELECT id, org_id, label, primary_at, created_at, revoked_at FROM keys \
     WHERE org_id = $1 ORDER BY id";
const FIND: &str = "SELECT id, org_id, label, primary_at, created_at, revoked_at FROM keys \
     WHERE org_id = $1 AND id = $2";
const COUNT: &str = "SELECT COUNT(*) FROM keys WHERE org_id = $1 AND revoked_at IS NULL";
const PRIMARY: &str = "SELECT id, sealed, vault_key FROM keys WHERE org_id = $1 \
     AND primary_at IS NOT NULL";
const UNSET_PRIMARY: &str =
    "UPDATE keys SET primary_at = NULL WHERE org_id = $1 AND primary_at IS NOT NULL";
const SET_PRIMARY: &str =
    "UPDATE keys SET primary_at = $3 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL";
const SEALED_OF: &str = "SELECT id, sealed, vault_key FROM keys WHERE org_id = $1 ORDER BY id";
const HAND_ON: &str = "UPDATE keys SET org_id = $2, sealed = $3, vault_key = $4 WHERE id = $1";
const REVOKE: &str = "UPDATE keys SET revoked_at = $3 \
     WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL AND primary_at IS NULL";

/// Adds a key.
pub fn insert(
    tx: &mut Tx<'_>,
    key: &Key,
    digest: &[u8],
    sealed: &Sealed,
) -> Result<(), StoreError> {
    let Key { id, org, label, primary_at, created_at, .. } = key;
    let Sealed { bytes, vault_key } = sealed;
    let args =
        args![*id, *org, label, *primary_at, *created_at, digest, bytes.as_slice(), vault_key];
    tx.exec(INSERT, args).map(drop)
}

/// The key with that digest, revoked or not.
pub fn by_digest(tx: &mut Tx<'_>, digest: &[u8]) -> Result<Option<Key>, StoreError> {
    tx.maybe(BY_DIGEST, args![digest])?.map(|row| key(&row)).transpose()
}

/// All keys of an organisation, oldest first, revoked ones too.
pub fn of_org(tx: &mut Tx<'_>, org: OrgId) -> Result<Vec<Key>, StoreError> {
    tx.all(OF_ORG, args![org])?.iter().map(key).collect()
}

/// That key, if it is this organisation's.
pub fn find(tx: &mut Tx<'_>, org: OrgId, id: KeyId) -> Result<Option<Key>, StoreError> {
    tx.maybe(FIND, args![org, id])?.map(|row| key(&row)).transpose()
}

/// How many keys of the organisation work.
pub fn count(tx: &mut Tx<'_>, org: OrgId) -> Result<i64, StoreError> {
    tx.one(COUNT, args![org])?.int(0)
}

/// The text of the primary key, sealed, with the id it is sealed under.
pub fn primary(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<(KeyId, Sealed)>, StoreError> {
    let Some(row) = tx.maybe(PRIMARY, args![org])? else { return Ok(None) };
    Ok(Some((row.parsed(0, KeyId::parse)?, Sealed::from_row(&row, 1)?)))
}

/// The texts of all keys of an organisation, sealed.
pub fn sealed_of(tx: &mut Tx<'_>, org: OrgId) -> Result<Vec<(KeyId, Sealed)>, StoreError> {
    let sealed = |row: &Row| Ok((row.parsed(0, KeyId::parse)?, Sealed::from_row(row, 1)?));
    tx.all(SEALED_OF, args![org])?.iter().map(sealed).collect()
}

/// Gives a key to another organisation, sealed for it.
pub fn hand_on(tx: &mut Tx<'_>, id: KeyId, to: OrgId, sealed: &Sealed) -> Result<(), StoreError> {
    let Sealed { bytes, vault_key } = sealed;
    tx.exec(HAND_ON, args![id, to, bytes.as_slice(), vault_key]).map(drop)
}

/// Makes a key the primary one; false if there is no such key that works.
pub fn make_primary(
    tx: &mut Tx<'_>,
    org: OrgId,
    id: KeyId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    tx.exec(UNSET_PRIMARY, args![org])?;
    Ok(tx.exec(SET_PRIMARY, args![org, id, now])? == 1)
}

/// Revokes a key that is not the primary one; false if there is no such key that works.
pub fn revoke(tx: &mut Tx<'_>, org: OrgId, id: KeyId, now: Timestamp) -> Result<bool, StoreError> {
    Ok(tx.exec(REVOKE, args![org, id, now])? == 1)
}

fn key(row: &Row) -> Result<Key, StoreError> {
    Ok(Key {
        id: row.parsed(0, KeyId::parse)?,
        org: row.parsed(1, OrgId::parse)?,
        label: row.text(2)?.to_owned(),
        primary_at: row.time_or_none(3)?,
        created_at: row.time(4)?,
        revoked_at: row.time_or_none(5)?,
    })
}
