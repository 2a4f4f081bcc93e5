//! What can go wrong below the rules.

/// An error of the store. Small, and it can say whether trying again may help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A unique key is taken already; names it as `table(column, column)`.
    #[error("unique key {0} is taken")]
    Unique(String),
    /// Too much work is waiting.
    #[error("too much work is waiting")]
    Busy,
    /// The database cannot be reached, or the fate of a commit is not known yet.
    #[error("database unavailable: {0}")]
    Unavailable(String),
    /// A row holds what the program cannot read.
    #[error("row {row} is corrupt in column {column}")]
    Corrupt {
        /// Position of the column in the statement.
        column: usize,
        /// Id of the row, where it is known.
        row: String,
    },
    /// The statement or its arguments are wrong: our bug.
    #[error("statement refused: {0}")]
    Refused(String),
    /// The closure panicked: our bug.
    #[error("a write panicked")]
    Panicked,
}

impl StoreError {
    /// Whether the same call may succeed a little later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Busy | Self::Unavailable(_))
    }

    /// Whether this is the unique key of that name.
    pub fn is_unique(&self, key: &str) -> bool {
        matches!(self, Self::Unique(name) if name == key)
    }
}

/// A driver's error, judged by what it does to the transaction.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    pub(super) error: StoreError,
}

/// How far a fault reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// Only this statement; rolling back to the savepoint mends it.
    Statement,
    /// This write lost against another one; running it again alone mends it.
    Victim,
    /// The connection is gone, and with it everything not committed.
    Lost,
    /// A statement that was held back failed, perhaps one of an earlier write of the group: nobody
    /// can be blamed yet, so the group is run again one by one.
    Held,
    /// The same, because it lost against another write: alone it may succeed.
    HeldVictim,
}

impl Fault {
    pub(super) fn statement(error: StoreError) -> Self {
        Self { kind: FaultKind::Statement, error }
    }

    pub(super) fn lost(why: impl std::fmt::Display) -> Self {
        Self { kind: FaultKind::Lost, error: StoreError::Unavailable(why.to_string()) }
    }

    pub(super) fn refused(why: impl std::fmt::Display) -> Self {
        Self::statement(StoreError::Refused(why.to_string()))
    }
}
