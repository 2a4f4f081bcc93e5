//! What became of requests that carried a key. Kept for ever: digests, and sealed answers.

use domain::{OrgId, Timestamp};

use crate::sealed::Sealed;
use crate::{Row, StoreError, Tx, args};

/// A request that was seen before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Digest of method, path, query and body.
    pub request_digest: Vec<u8>,
    /// The answer, once there is one.
    pub answer: Option<Sealed>,
    /// The thing the request made, by which its outcome can be waited for.
    pub subject: String,
}

const FIND: &str = "SELECT request_digest, subject, answer, vault_key FROM idempotency \
     WHERE org_id = $1 AND key_digest = $2";
const INSERT: &str = "INSERT INTO idempotency (org_id, key_digest, request_digest, subject, \
     created_at) VALUES ($1, $2, $3, $4, $5)";
const FINISH: &str = "UPDATE idempotency SET answer = $3, vault_key = $4 \
     WHERE org_id = $1 AND key_digest = $2 AND answer IS NULL";

/// What is known of a key.
pub fn find(tx: &mut Tx<'_>, org: OrgId, key: &[u8]) -> Result<Option<Seen>, StoreError> {
    tx.maybe(FIND, args![org, key])?.map(|row| seen(&row)).transpose()
}

/// Notes that a request is under way.
pub fn begin(
    tx: &mut Tx<'_>,
    org: OrgId,
    key: &[u8],
    seen: &Seen,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Seen { request_digest, subject, .. } = seen;
    tx.exec(INSERT, args![org, key, request_digest.as_slice(), subject, now]).map(drop)
}

/// Keeps its answer; once.
pub fn finish(tx: &mut Tx<'_>, org: OrgId, key: &[u8], answer: &Sealed) -> Result<(), StoreError> {
    let Sealed { bytes, vault_key } = answer;
    tx.later(FINISH, args![org, key, bytes.as_slice(), vault_key])
}

fn seen(row: &Row) -> Result<Seen, StoreError> {
    Ok(Seen {
        request_digest: row.bytes(0)?.to_vec(),
        subject: row.text(1)?.to_owned(),
        answer: match row.bytes_or_none(2)? {
            Some(_) => Some(Sealed::from_row(row, 2)?),
            None => None,
        },
    })
}
