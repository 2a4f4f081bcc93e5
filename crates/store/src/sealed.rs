//! A secret as it is kept: bytes that only the vault can open.

use crate::{Row, StoreError};

/// Sealed bytes, and which key of the vault sealed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Name of the key.
    pub vault_key: String,
}

impl Sealed {
    /// From two neighbouring columns.
    pub(crate) fn from_row(row: &Row, column: usize) -> Result<Self, StoreError> {
        Ok(Self { bytes: row.bytes(column)?.to_vec(), vault_key: row.text(column + 1)?.to_owned() })
    }
}
