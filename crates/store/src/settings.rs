//! Small facts about this installation.

use crate::{StoreError, Tx, args};

const FIND: &str = "SELECT value FROM settings WHERE name = $1";
const PUT_FIRST: &str =
    "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";

/// The value of that name.
pub fn find(tx: &mut Tx<'_>, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    tx.maybe(FIND, args![name])?.map(|row| row.bytes(0).map(<[u8]>::to_vec)).transpose()
}

/// Writes a value unless there is one.
pub fn put_first(tx: &mut Tx<'_>, name: &str, value: &[u8]) -> Result<(), StoreError> {
    tx.exec(PUT_FIRST, args![name, value]).map(drop)
}
