//! PostgreSQL under the seam. With `sqlite.rs` the only file that names its driver.
//!
//! A connection lives on the thread that uses it: its own single-threaded runtime drives the socket
//! while we wait for an answer, so that a statement costs no hop between threads. Statements whose
//! answer nobody needs yet are held back and travel with the next one (pipelining).

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use domain::limits;
use futures_util::TryStreamExt;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, Statement};

use super::dialect::Dialect;
use super::error::{Fault, FaultKind};
use super::postgres_url::Target;
use super::{Row, StoreError, Value};

pub(super) struct Conn {
    runtime: tokio::runtime::Runtime,
    client: Client,
    statements: HashMap<String, Statement>,
    held: Vec<Held>,
    patience: Duration,
}

/// A connection with our settings, driven by the runtime of the thread that owns it.
async fn connected(host: &Config, target: &Target) -> Result<Client, Fault> {
    let connecting = host.connect(target.tls.clone()).await;
    let (client, connection) = connecting.map_err(|e| Fault::lost(with_source(&e)))?;
    // Driven only while this thread waits for an answer: that is all the time it matters.
    #[expect(clippy::disallowed_methods, reason = "a task of this connection's runtime")]
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(error = %error, "PostgreSQL connection ended");
        }
    });
    let settings = format!(
        "SET statement_timeout = {statement}; SET idle_in_transaction_session_timeout = {statement};
         SET lock_timeout = {lock}; SET client_min_messages = warning",
        statement = limits::STATEMENT_TIME.as_millis(),
        lock = limits::LOCK_WAIT.as_millis(),
    );
    client.batch_execute(&settings).await.map_err(|e| fault(&e))?;
    Ok(client)
}

/// A statement that waits for the next one.
enum Held {
    Simple(String),
    Exec(Statement, Vec<Value>),
}

impl Conn {
    /// Connects to the first host that will do. Each has its own time, so that one that hangs does
    /// not keep us from the next.
    pub(super) fn open(target: &Target) -> Result<Self, Fault> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Fault::lost)?;
        let mut outcome = Err(Fault::lost("no host to connect to"));
        for host in &target.hosts {
            let connecting = connected(host, target);
            outcome = runtime.block_on(async {
                let answer = tokio::time::timeout(limits::CONNECT, connecting).await;
                answer.unwrap_or_else(|_| Err(Fault::lost("connecting took too long")))
            });
            if outcome.is_ok() {
                break;
            }
        }
        let client = outcome?;
        let patience = limits::ANSWER;
        Ok(Self { runtime, client, statements: HashMap::new(), held: Vec::new(), patience })
    }

    /// For work that takes as long as it takes, such as a migration.
    pub(super) fn be_patient(&mut self) -> Result<(), Fault> {
        self.patience = Duration::MAX;
        self.simple(
            "SET statement_timeout = 0; SET lock_timeout = 0;
             SET idle_in_transaction_session_timeout = 0",
        )
    }

    /// Runs statements without arguments at once.
    pub(super) fn simple(&mut self, sql: &str) -> Result<(), Fault> {
        self.hold_simple(sql);
        self.flush()
    }

    /// Keeps a statement without arguments for the next trip.
    pub(super) fn hold_simple(&mut self, sql: &str) {
        // Neighbours travel as one message.
        match self.held.last_mut() {
            Some(Held::Simple(held)) => {
                held.push_str("; ");
                held.push_str(sql);
            }
            _ => self.held.push(Held::Simple(sql.to_owned())),
        }
    }

    /// Keeps a statement for the next trip.
    pub(super) fn hold(&mut self, sql: &str, args: &[Value]) -> Result<(), Fault> {
        let statement = self.prepared(sql, args)?;
        self.held.push(Held::Exec(statement, args.to_vec()));
        Ok(())
    }

    /// Forgets what was held back: the transaction it belonged to is gone.
    pub(super) fn forget_held(&mut self) {
        self.held.clear();
    }

    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        self.trip(async |_: &Client| Ok(()))
    }

    pub(super) fn exec(&mut self, sql: &str, args: &[Value]) -> Result<u64, Fault> {
        let statement = self.prepared(sql, args)?;
        self.trip(async |client: &Client| client.execute_raw(&statement, args).await)
    }

    pub(super) fn all(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row>, Fault> {
        let statement = self.prepared(sql, args)?;
        let rows: Vec<tokio_postgres::Row> = self.trip(async |client: &Client| {
            client.query_raw(&statement, args).await?.try_collect().await
        })?;
        rows.iter().map(row).collect()
    }

    /// Prepares a statement and throws it away.
    pub(super) fn check(&mut self, sql: &str) -> Result<(), Fault> {
        let spoken = Dialect::Postgres.speak(sql);
        self.runtime.block_on(self.client.prepare(&spoken)).map(drop).map_err(|e| fault(&e))
    }

    fn prepared(&mut self, sql: &str, args: &[Value]) -> Result<Statement, Fault> {
        if !self.statements.contains_key(sql) {
            // What is held back goes first: it may be what opens the transaction.
            self.flush()?;
            if self.statements.len() >= limits::STATEMENTS_PER_CONNECTION_MAX {
                self.statements.clear();
            }
            let spoken = Dialect::Postgres.speak(sql);
            let prepared = bounded(&self.runtime, self.patience, self.client.prepare(&spoken))?;
            let statement = prepared.map_err(|e| fault(&e))?;
            self.statements.insert(sql.to_owned(), statement);
        }
        let statement = self.statements[sql].clone();
        let wanted = statement.params().len();
        if wanted == args.len() {
            Ok(statement)
        } else {
            Err(Fault::refused(format!("{wanted} arguments wanted, {} given", args.len())))
        }
    }

    /// Sends everything held back and `last` together, then reads all answers in order.
    fn trip<T>(
        &mut self,
        last: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Fault> {
        let held = std::mem::take(&mut self.held);
        let client = &self.client;
        let outcome = bounded(&self.runtime, self.patience, async {
            let early = held.iter().map(|held| -> Answer<'_, ()> {
                match held {
                    Held::Simple(sql) => Box::pin(client.batch_execute(sql)),
                    Held::Exec(statement, args) => {
                        Box::pin(async move { client.execute_raw(statement, args).await.map(drop) })
                    }
                }
            });
            let last = Last::Waiting(Box::pin(last(client)));
            InOrder { early: early.map(Some).collect(), last }.await
        })?;
        outcome.map_err(|(at, error)| {
            let fault = fault(&error);
            let kind = match (at, fault.kind) {
                (At::Held, FaultKind::Statement) => FaultKind::Held,
                (At::Held, FaultKind::Victim) => FaultKind::HeldVictim,
                (_, kind) => kind,
            };
            Fault { kind, ..fault }
        })
    }
}

/// Waits for the server, but not for ever: one that neither answers nor hangs up is lost.
fn bounded<T>(
    runtime: &tokio::runtime::Runtime,
    patience: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Fault> {
    let answer = runtime.block_on(async { tokio::time::timeout(patience, work).await });
    answer.map_err(|_| Fault::lost("the server does not answer"))
}

/// Which statement of a trip failed.
#[derive(Clone, Copy)]
enum At {
    Held,
    Last,
}

/// Polls futures in the order they were written, so that their statements are sent in that order,
/// and is done when all of them are.
struct InOrder<'f, T> {
    early: Vec<Option<Answer<'f, ()>>>,
    last: Last<'f, T>,
}

type Answer<'f, T> = Pin<Box<dyn Future<Output = Result<T, tokio_postgres::Error>> + 'f>>;

enum Last<'f, T> {
    Waiting(Answer<'f, T>),
    Done(Option<Result<T, tokio_postgres::Error>>),
}

impl<T> Unpin for InOrder<'_, T> {}

impl<T> Future for InOrder<'_, T> {
    type Output = Result<T, (At, tokio_postgres::Error)>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut waiting = false;
        for slot in &mut self.early {
            let Some(future) = slot else { continue };
            match future.as_mut().poll(context) {
                Poll::Pending => waiting = true,
                Poll::Ready(Ok(())) => *slot = None,
                // The first error is the cause; those after it only say "transaction is aborted".
                Poll::Ready(Err(error)) => return Poll::Ready(Err((At::Held, error))),
            }
        }
        if let Last::Waiting(last) = &mut self.last
            && let Poll::Ready(outcome) = last.as_mut().poll(context)
        {
            self.last = Last::Done(Some(outcome));
        }
        match &mut self.last {
            Last::Done(outcome) if !waiting => {
                let outcome = outcome.take().expect("a future is not polled after its end");
                Poll::Ready(outcome.map_err(|error| (At::Last, error)))
            }
            _ => Poll::Pending,
        }
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match (self, ty) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Int(value), &Type::INT8) => value.to_sql(ty, out),
            (Self::Int(value), &Type::INT4) => i32::try_from(*value)?.to_sql(ty, out),
            (Self::Text(value), &Type::TEXT | &Type::VARCHAR) => value.to_sql(ty, out),
            (Self::Bytes(value), &Type::BYTEA) => value.as_slice().to_sql(ty, out),
            _ => Err(format!("a value of another kind than {ty}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn row(row: &tokio_postgres::Row) -> Result<Row, Fault> {
    let cells = row.columns().iter().enumerate().map(|(at, column)| {
        let cell = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(at).map(|v| v.map(Value::Int)),
            Type::INT4 => {
                row.try_get::<_, Option<i32>>(at).map(|v| v.map(|v| Value::Int(v.into())))
            }
            Type::TEXT | Type::VARCHAR => {
                row.try_get::<_, Option<String>>(at).map(|v| v.map(Value::Text))
            }
            Type::NUMERIC => {
                row.try_get::<_, Option<Whole>>(at).map(|v| v.map(|v| Value::Int(v.0)))
            }
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at).map(|v| v.map(Value::Bytes)),
            ref other => return Err(Fault::refused(format!("a column of type {other}"))),
        };
        cell.map(|v| v.unwrap_or(Value::Null)).map_err(|e| fault(&e))
    });
    cells.collect::<Result<_, _>>().map(Row)
}

/// What PostgreSQL answers to `SUM` of whole numbers: digits to the base of 10,000.
struct Whole(i64);

impl<'a> FromSql<'a> for Whole {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        let word = |at: usize| -> Option<i16> {
            Some(i16::from_be_bytes(raw.get(at * 2..at * 2 + 2)?.try_into().ok()?))
        };
        let read = || -> Option<i64> {
            let (count, weight, sign) = (word(0)?, word(1)?, word(2)?);
            // Trailing zeros are left out, so the weight may exceed the count.
            let places = usize::try_from(i32::from(weight) + 1).ok()?;
            let count = usize::try_from(count).ok().filter(|count| *count <= places)?;
            let mut whole: i64 = 0;
            for place in 0..places {
                let digit = if place < count { word(4 + place)? } else { 0 };
                whole = whole.checked_mul(10_000)?.checked_add(i64::from(digit))?;
            }
            match sign {
                0 => Some(whole),
                0x4000 => Some(-whole),
                _ => None,
            }
        };
        read().map(Self).ok_or_else(|| "not a whole number that fits".into())
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::NUMERIC
    }
}

fn fault(error: &tokio_postgres::Error) -> Fault {
    let Some(db) = error.as_db_error() else {
        // Without a word from the server it is either the line or an argument of ours.
        let ours = with_source(error);
        let lost = error.is_closed() || is_io(error);
        return if lost { Fault::lost(ours) } else { Fault::refused(ours) };
    };
    let code = db.code();
    let text = db.message().to_owned();
    let victim = [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE];
    if victim.contains(code) {
        return Fault { kind: FaultKind::Victim, error: StoreError::Unavailable(text) };
    }
    if *code == SqlState::UNIQUE_VIOLATION {
        return Fault::statement(StoreError::Unique(key_name(db)));
    }
    // Classes: 57P0x shutdown, 08 connection, 25006 the server has become a standby.
    let class = code.code().get(..2).unwrap_or_default();
    if class == "08"
        || code.code().starts_with("57P0")
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
    {
        return Fault::lost(text);
    }
    // 53 out of resources, 57 cancelled (statement_timeout), 55 lock not available, 58 I/O.
    match class {
        "53" | "55" | "57" | "58" => Fault::statement(StoreError::Unavailable(text)),
        _ => Fault::refused(text),
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if cause.is::<std::io::Error>() {
            return true;
        }
        source = cause.source();
    }
    false
}

fn with_source(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// `keys(org_id, label)` from the detail `Key (org_id, label)=(…) …`, in whatever language the
/// server speaks.
fn key_name(db: &DbError) -> String {
    let table = db.table().unwrap_or_default();
    let columns = db
        .detail()
        .and_then(|detail| detail.split_once('(')?.1.split_once(")="))
        .map_or("", |(columns, _)| columns);
    format!("{table}({columns})")
}
