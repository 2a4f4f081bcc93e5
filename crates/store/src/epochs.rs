//! Numbers that say "what you remember may be stale". Nodes poll them.

use crate::{StoreError, Tx, args};

/// Something that nodes remember.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epoch {
    /// Keys and organisations' settings.
    Access,
    /// What is for sale.
    Catalogue,
}

impl Epoch {
    fn name(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Catalogue => "catalogue",
        }
    }
}

const READ: &str = "SELECT value FROM epochs WHERE name = $1";
const BUMP: &str = "UPDATE epochs SET value = value + 1 WHERE name = $1";

/// Changes whenever what it stands for changes.
pub fn read(tx: &mut Tx<'_>, epoch: Epoch) -> Result<i64, StoreError> {
    tx.one(READ, args![epoch.name()])?.int(0)
}

/// Tells every node that something changed. Called under the lock of the house only, so that these
/// shared rows are never fought over.
pub fn bump(tx: &mut Tx<'_>, epoch: Epoch) -> Result<(), StoreError> {
    tx.later(BUMP, args![epoch.name()])
}
