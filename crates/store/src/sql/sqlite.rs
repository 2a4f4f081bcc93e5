//! SQLite under the seam. With `postgres.rs` the only file that names its driver.

use std::collections::HashMap;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use domain::limits;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};

use super::dialect::Dialect;
use super::error::{Fault, FaultKind};
use super::{Row, StoreError, Value};
use crate::rt;

/// Statements kept prepared per connection.
const STATEMENTS_KEPT: usize = 256;
/// How long to wait for another process on the same file (the command line, a backup).
const BUSY_WAIT: Duration = Duration::from_secs(5);

pub(super) struct Conn {
    connection: Connection,
    spoken: HashMap<String, String>,
}

/// What a connection is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
    /// Changes nothing at all, not even the file's mode of operation.
    Look,
}

impl Conn {
    pub(super) fn open(path: &Path, access: Access) -> Result<Self, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX
            | match access {
                Access::Write => {
                    make_private(path);
                    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
                }
                Access::Read => OpenFlags::SQLITE_OPEN_READ_WRITE,
                Access::Look => OpenFlags::SQLITE_OPEN_READ_ONLY,
            };
        let connection = Connection::open_with_flags(path, flags).map_err(|e| fault(&e))?;
        connection.busy_timeout(BUSY_WAIT).map_err(|e| fault(&e))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        let settings = match access {
            // FULL makes every commit survive a power cut.
            Access::Write => {
                use_wal(&connection)?;
                "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
                 PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000;"
            }
            Access::Read | Access::Look => {
                "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000;"
            }
        };
        connection.execute_batch(settings).map_err(|e| fault(&e))?;
        Ok(Self { connection, spoken: HashMap::new() })
    }

    pub(super) fn simple(&mut self, sql: &str) -> Result<(), Fault> {
        self.connection.execute_batch(sql).map_err(|e| fault(&e))
    }

    pub(super) fn exec(&mut self, sql: &str, args: &[Value]) -> Result<u64, Fault> {
        let mut statement = bound(&self.connection, &mut self.spoken, sql, args)?;
        statement.raw_execute().map(|n| n as u64).map_err(|e| fault(&e))
    }

    pub(super) fn all(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row>, Fault> {
        let mut statement = bound(&self.connection, &mut self.spoken, sql, args)?;
        let columns = statement.column_count();
        let mut found = Vec::new();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|e| fault(&e))? {
            let values = (0..columns)
                .map(|column| row.get_ref(column).map_err(|e| fault(&e)).and_then(value))
                .collect::<Result<_, _>>()?;
            found.push(Row(values));
        }
        Ok(found)
    }

    /// Prepares a statement and throws it away.
    pub(super) fn check(&mut self, sql: &str) -> Result<(), Fault> {
        self.connection.prepare(&Dialect::Sqlite.speak(sql)).map(drop).map_err(|e| fault(&e))
    }

    /// False when an error has ended the transaction by itself (disk full, I/O).
    pub(super) fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }
}

/// WAL lets readers go on beside the writer. Two processes that turn it on at once are not made to
/// wait for each other by SQLite, so one of them tries again.
fn use_wal(connection: &Connection) -> Result<(), Fault> {
    const PAUSE: Duration = Duration::from_millis(20);
    let mut left = BUSY_WAIT;
    loop {
        let outcome = connection.execute_batch("PRAGMA journal_mode = WAL");
        let busy = outcome
            .as_ref()
            .is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy));
        if !busy || left.is_zero() {
            return outcome.map_err(|e| fault(&e));
        }
        rt::rest(PAUSE);
        left = left.saturating_sub(PAUSE);
    }
}

/// A new database belongs to its owner alone; SQLite gives its other files the same mode.
fn make_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    // If it cannot be made, opening says why.
    let _exists_or_fails = options.write(true).create_new(true).mode(0o600).open(path);
}

fn bound<'c>(
    connection: &'c Connection,
    spoken: &mut HashMap<String, String>,
    sql: &str,
    args: &[Value],
) -> Result<rusqlite::CachedStatement<'c>, Fault> {
    if !spoken.contains_key(sql) {
        if spoken.len() >= limits::STATEMENTS_PER_CONNECTION_MAX {
            spoken.clear();
        }
        spoken.insert(sql.to_owned(), Dialect::Sqlite.speak(sql));
    }
    let mut statement = connection.prepare_cached(&spoken[sql]).map_err(|e| fault(&e))?;
    // SQLite takes a missing argument for NULL; we do not.
    let wanted = statement.parameter_count();
    if wanted != args.len() {
        return Err(Fault::refused(format!("{wanted} arguments wanted, {} given", args.len())));
    }
    for (at, arg) in args.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, arg).map_err(|e| fault(&e))?;
    }
    Ok(statement)
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

fn value(cell: ValueRef<'_>) -> Result<Value, Fault> {
    match cell {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(value) => Ok(Value::Int(value)),
        ValueRef::Text(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|_| Fault::refused("text not UTF-8"))?;
            Ok(Value::Text(text.to_owned()))
        }
        ValueRef::Blob(bytes) => Ok(Value::Bytes(bytes.to_vec())),
        ValueRef::Real(_) => Err(Fault::refused("a floating-point number")),
    }
}

fn fault(error: &rusqlite::Error) -> Fault {
    let rusqlite::Error::SqliteFailure(cause, message) = error else {
        return Fault::refused(error);
    };
    let text = message.clone().unwrap_or_else(|| error.to_string());
    let error = match cause.code {
        ErrorCode::ConstraintViolation => match text.strip_prefix("UNIQUE constraint failed: ") {
            Some(columns) => StoreError::Unique(key_name(columns)),
            None => StoreError::Refused(text),
        },
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::DiskFull
        | ErrorCode::SystemIoFailure
        | ErrorCode::ReadOnly
        | ErrorCode::CannotOpen
        | ErrorCode::OutOfMemory
        | ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase => StoreError::Unavailable(text),
        _ => StoreError::Refused(text),
    };
    Fault { kind: FaultKind::Statement, error }
}

/// `keys.org_id, keys.label` → `keys(org_id, label)`.
fn key_name(columns: &str) -> String {
    let parts: Vec<_> = columns.split(", ").filter_map(|part| part.split_once('.')).collect();
    let names: Vec<_> = parts.iter().map(|(_, column)| *column).collect();
    let table = parts.first().map_or("", |(table, _)| table);
    format!("{table}({})", names.join(", "))
}
