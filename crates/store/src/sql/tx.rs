//! A transaction as the rules see it: four ways to run a statement, and the organisation's head.

use domain::OrgId;

use super::error::{Fault, FaultKind};
use super::{Dialect, Row, StoreError, Value, postgres, sqlite};
use crate::heads::{self, Head};

/// A connection to either database.
pub(super) enum Conn {
    Sqlite(Box<sqlite::Conn>),
    Postgres(Box<postgres::Conn>),
}

impl Conn {
    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Runs statements without arguments now.
    pub(super) fn simple(&mut self, sql: &str) -> Result<(), Fault> {
        match self {
            Self::Sqlite(conn) => conn.simple(sql),
            Self::Postgres(conn) => conn.simple(sql),
        }
    }

    /// Runs statements without arguments no later than the next statement.
    pub(super) fn simple_soon(&mut self, sql: &str) -> Result<(), Fault> {
        match self {
            Self::Sqlite(conn) => conn.simple(sql),
            Self::Postgres(conn) => {
                conn.hold_simple(sql);
                Ok(())
            }
        }
    }

    pub(super) fn exec_soon(&mut self, sql: &str, args: &[Value]) -> Result<(), Fault> {
        match self {
            Self::Sqlite(conn) => conn.exec(sql, args).map(drop),
            Self::Postgres(conn) => conn.hold(sql, args),
        }
    }

    pub(super) fn exec(&mut self, sql: &str, args: &[Value]) -> Result<u64, Fault> {
        match self {
            Self::Sqlite(conn) => conn.exec(sql, args),
            Self::Postgres(conn) => conn.exec(sql, args),
        }
    }

    pub(super) fn all(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row>, Fault> {
        match self {
            Self::Sqlite(conn) => conn.all(sql, args),
            Self::Postgres(conn) => conn.all(sql, args),
        }
    }

    pub(super) fn check(&mut self, sql: &str) -> Result<(), Fault> {
        match self {
            Self::Sqlite(conn) => conn.check(sql),
            Self::Postgres(conn) => conn.check(sql),
        }
    }

    /// Leaves a failed transaction, whatever state it is in.
    pub(super) fn abandon(&mut self) {
        if let Self::Postgres(conn) = self {
            conn.forget_held();
        }
        if self.in_transaction() {
            // If even this fails the connection is gone, and the next use says so.
            let _gone = self.simple("ROLLBACK");
        }
    }

    /// Whether a transaction that was begun is still open. PostgreSQL never ends one by itself.
    pub(super) fn in_transaction(&self) -> bool {
        match self {
            Self::Sqlite(conn) => conn.in_transaction(),
            Self::Postgres(_) => true,
        }
    }
}

/// A transaction. After the first error every further statement repeats it, and the transaction
/// is undone, whatever the closure returns: both databases behave alike.
pub struct Tx<'c> {
    pub(super) conn: &'c mut Conn,
    pub(super) fault: Option<Fault>,
    org: Option<OrgId>,
    head: Option<Head>,
    head_changed: bool,
}

impl<'c> Tx<'c> {
    pub(super) fn new(conn: &'c mut Conn) -> Self {
        Self { conn, fault: None, org: None, head: None, head_changed: false }
    }

    /// Takes the lock of the organisation: its head row, or the copy an earlier write of the same
    /// group left behind, which holds the lock already.
    pub(super) fn lock(&mut self, org: OrgId, known: Option<Head>) -> Result<(), StoreError> {
        self.org = Some(org);
        self.head = match known {
            Some(head) => Some(head),
            None => heads::lock(self, org)?,
        };
        Ok(())
    }

    /// The head as the closure left it, if it changed.
    pub(super) fn changed_head(self) -> Option<Head> {
        self.head.filter(|_| self.head_changed)
    }

    pub(super) fn current_head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// Which database this is.
    pub fn dialect(&self) -> Dialect {
        self.conn.dialect()
    }

    /// The head of the organisation this write belongs to; none while it does not exist.
    pub fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// The same to change. What is changed is written when the group ends.
    pub fn head_mut(&mut self) -> Option<&mut Head> {
        self.head_changed = true;
        self.head.as_mut()
    }

    /// The organisation this write belongs to.
    pub fn org(&self) -> Option<OrgId> {
        self.org
    }

    /// Runs a statement and says how many rows it touched.
    pub fn exec(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        self.run(|conn| conn.exec(sql, args))
    }

    /// Runs a statement that cannot be refused and whose count nobody needs, no later than the next
    /// read or the commit. Guarded updates and unique keys go through [`exec`](Self::exec).
    pub fn later(&mut self, sql: &str, args: &[Value]) -> Result<(), StoreError> {
        self.run(|conn| conn.exec_soon(sql, args))
    }

    /// All rows.
    pub fn all(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.run(|conn| conn.all(sql, args))
    }

    /// The row, if there is one.
    pub fn maybe(&mut self, sql: &str, args: &[Value]) -> Result<Option<Row>, StoreError> {
        let mut rows = self.all(sql, args)?;
        if rows.len() > 1 {
            return Err(self.doom(Fault::refused("one row wanted, several found")));
        }
        Ok(rows.pop())
    }

    /// The one row there must be.
    pub fn one(&mut self, sql: &str, args: &[Value]) -> Result<Row, StoreError> {
        match self.maybe(sql, args)? {
            Some(row) => Ok(row),
            None => Err(self.doom(Fault::refused("one row wanted, none found"))),
        }
    }

    /// Whether the database takes this statement; for the test that tries them all.
    pub fn check(&mut self, sql: &str) -> Result<(), StoreError> {
        self.conn.check(sql).map_err(|fault| fault.error)
    }

    fn run<T>(&mut self, act: impl FnOnce(&mut Conn) -> Result<T, Fault>) -> Result<T, StoreError> {
        if let Some(fault) = &self.fault {
            return Err(fault.error.clone());
        }
        act(self.conn).map_err(|fault| self.doom(fault))
    }

    fn doom(&mut self, fault: Fault) -> StoreError {
        let error = fault.error.clone();
        self.fault.get_or_insert(fault);
        error
    }

    pub(super) fn fault_kind(&self) -> Option<FaultKind> {
        self.fault.as_ref().map(|fault| fault.kind)
    }
}
