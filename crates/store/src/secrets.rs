//! Webhook secrets, which sign callbacks beside the API key. Their text is sealed.

use domain::{KeyId, OrgId, Timestamp};

use crate::sealed::Sealed;
use crate::{Row, StoreError, Tx, args};

const ADD: &str = "INSERT INTO webhook_secrets (id, org_id, sealed, vault_key, created_at) \
     VALUES ($1, $2, $3, $4, $5)";
const VALID: &str = "SELECT id, sealed, vault_key FROM webhook_secrets WHERE org_id = $1 \
     AND (expires_at IS NULL OR expires_at > $2) ORDER BY id DESC";
const HAND_ON: &str = "UPDATE webhook_secrets SET org_id = $2, sealed = $3, vault_key = $4 \
     WHERE id = $1";
const EXPIRE: &str = "UPDATE webhook_secrets SET expires_at = $2 \
     WHERE org_id = $1 AND expires_at IS NULL";

/// Adds a webhook secret.
pub fn add(
    tx: &mut Tx<'_>,
    (org, id): (OrgId, KeyId),
    sealed: &Sealed,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Sealed { bytes, vault_key } = sealed;
    tx.exec(ADD, args![id, org, bytes.as_slice(), vault_key, now]).map(drop)
}

/// The secrets that sign at that moment, the newest first.
pub fn valid(
    tx: &mut Tx<'_>,
    org: OrgId,
    now: Timestamp,
) -> Result<Vec<(KeyId, Sealed)>, StoreError> {
    let secret = |row: &Row| Ok((row.parsed(0, KeyId::parse)?, Sealed::from_row(row, 1)?));
    tx.all(VALID, args![org, now])?.iter().map(secret).collect()
}

/// Gives a secret to another organisation, sealed for it.
pub fn hand_on(tx: &mut Tx<'_>, id: KeyId, to: OrgId, sealed: &Sealed) -> Result<(), StoreError> {
    let Sealed { bytes, vault_key } = sealed;
    tx.exec(HAND_ON, args![id, to, bytes.as_slice(), vault_key]).map(drop)
}

/// Lets the secrets that have no end yet sign until then.
pub fn expire(tx: &mut Tx<'_>, org: OrgId, at: Timestamp) -> Result<(), StoreError> {
    tx.exec(EXPIRE, args![org, at]).map(drop)
}
