//! Numbers that say "what you remember may be stale". Nodes poll them.

use crate::{StoreError, Tx};

const ACCESS: &str = "SELECT value FROM epochs WHERE name = 'access'";
const BUMP_ACCESS: &str = "UPDATE epochs SET value = value + 1 WHERE name = 'access'";

/// Changes whenever a key or an organisation's settings change.
pub fn access(tx: &mut Tx<'_>) -> Result<i64, StoreError> {
    tx.one(ACCESS, &[])?.int(0)
}

/// Tells every node that keys or settings changed. Called under the lock of the house only, so that
/// this shared row is never fought over.
pub fn bump_access(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    tx.later(BUMP_ACCESS, &[])
}
