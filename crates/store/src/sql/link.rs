//! A connection that comes and goes: made when first needed, and again when it was lost.

use std::time::Duration;

use domain::limits;

use super::tx::Conn;
use super::{Database, StoreError, sqlite};
use crate::Rt;

pub(super) struct Link {
    database: Database,
    access: sqlite::Access,
    rt: Rt,
    conn: Option<Conn>,
    failed_at: Option<Duration>,
}

impl Link {
    pub(super) fn new(database: Database, access: sqlite::Access, rt: Rt) -> Self {
        Self { database, access, rt, conn: None, failed_at: None }
    }

    /// The connection. A database that was away a moment ago is not asked again at once.
    pub(super) fn get(&mut self) -> Result<&mut Conn, StoreError> {
        if self.conn.is_none() {
            let now = self.rt.monotonic();
            let hopeless = |at| now.saturating_sub(at) < limits::RECONNECT_PAUSE;
            if self.failed_at.is_some_and(hopeless) {
                return Err(StoreError::Unavailable("not connected".to_owned()));
            }
            match self.database.connect(self.access) {
                Ok(conn) => self.conn = Some(conn),
                Err(fault) => {
                    tracing::warn!(error = %fault.error, "database not reached");
                    self.failed_at = Some(self.rt.monotonic());
                    return Err(fault.error);
                }
            }
        }
        Ok(self.conn.as_mut().expect("just connected"))
    }

    /// Gives a lost connection up.
    pub(super) fn cut(&mut self) {
        self.conn = None;
    }

    /// The connection, if there is one.
    pub(super) fn current(&mut self) -> Option<&mut Conn> {
        self.conn.as_mut()
    }
}
