//! What one test owns: a folder, and a fresh SQLite file or PostgreSQL schema.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use store::Rt;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::harness::{Ran, binary};

/// A place for nodes and their data. Gone with the test.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    postgres: Option<String>,
    runs: AtomicU32,
}

impl Home {
    /// With an embedded database.
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder, postgres: None, runs: AtomicU32::new(0) }
    }

    /// With a schema of its own on the test server.
    pub(crate) async fn postgres() -> Self {
        let url = server("TERN_TEST_POSTGRES");
        Self::on_server(&url).await
    }

    /// With a schema of its own on a server reached by that URL.
    pub(crate) async fn on_server(url: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let schema = format!("e{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let server = server("TERN_TEST_POSTGRES");
        simple(&server, &format!("CREATE SCHEMA {schema}")).await;
        let join = if url.contains('?') { '&' } else { '?' };
        let url = format!("{url}{join}options=-c%20search_path%3D{schema}");
        Self { postgres: Some(url), ..Self::sqlite() }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The data folder of the first node.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// The vault file all nodes share.
    pub(crate) fn vault(&self) -> PathBuf {
        self.data().join("vault.toml")
    }

    /// What follows `--database`.
    pub(crate) fn database(&self) -> String {
        let file = || self.data().join("tern.db").display().to_string();
        self.postgres.clone().unwrap_or_else(file)
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.postgres.is_none()
    }

    /// A number that names one run of the binary.
    pub(crate) fn next_number(&self) -> u32 {
        self.runs.fetch_add(1, Ordering::Relaxed)
    }

    /// The binary, pointed at the data of the first node.
    pub(crate) fn tern(&self, args: &[&str]) -> Command {
        let mut command = binary::command();
        command.args(args).arg("--data").arg(self.data());
        if let Some(url) = &self.postgres {
            command.arg("--database").arg(url);
        }
        command
    }

    /// Runs a command of the binary with `--json`, which must succeed, and reads what it prints.
    #[track_caller]
    pub(crate) fn tern_json(&self, args: &[&str]) -> serde_json::Value {
        Ran::new(self.tern(args).arg("--json")).json()
    }

    /// What all nodes of this home have logged.
    pub(crate) fn logs(&self) -> String {
        let entries = std::fs::read_dir(self.folder()).expect("the folder is there");
        let paths = entries.map(|entry| entry.expect("readable").path());
        let logs = paths.filter(|path| path.extension().is_some_and(|end| end == "log"));
        logs.map(|path| std::fs::read_to_string(path).expect("a log is text")).collect()
    }

    /// Runs a statement beside the service.
    pub(crate) async fn run_sql(&self, sql: &str) {
        match &self.postgres {
            Some(url) => drop(simple(url, sql).await),
            None => self.sqlite_file().execute_batch(sql).expect("the statement runs"),
        }
    }

    /// Every row of every table as text, bytes in hexadecimal. Only the bookkeeping of the writers
    /// and of the nodes is left out: it moves with every commit, and with time. So does the list of
    /// requests that failed, some time after them.
    pub(crate) async fn dump(&self) -> BTreeMap<String, Vec<String>> {
        let mut all = self.everything().await;
        for table in ["store_writers", "nodes", "failures"] {
            all.remove(table);
        }
        all
    }

    /// The same with nothing left out.
    pub(crate) async fn everything(&self) -> BTreeMap<String, Vec<String>> {
        let all = match &self.postgres {
            Some(url) => dump_postgres(url).await,
            None => dump_sqlite(&self.sqlite_file()),
        };
        assert!(all.contains_key("keys"), "the tables are there: {:?}", all.keys());
        all
    }

    fn sqlite_file(&self) -> rusqlite::Connection {
        let file = rusqlite::Connection::open(self.data().join("tern.db")).expect("the database");
        file.busy_timeout(Duration::from_secs(5)).expect("a bounded wait");
        file
    }
}

/// The address of a test server. Missing is a failure, never a skip.
pub(crate) fn server(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set: run the tests with `cargo xtask test`"))
}

async fn dump_postgres(url: &str) -> BTreeMap<String, Vec<String>> {
    let tables = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()";
    let mut all = BTreeMap::new();
    for table in simple(url, tables).await {
        let rows = simple(url, &format!("SELECT t::text FROM {table} t ORDER BY 1")).await;
        all.insert(table, rows);
    }
    all
}

/// The first column of what a statement yields.
async fn simple(url: &str, sql: &str) -> Vec<String> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.expect("the test server answers");
    let driver = Rt::real().task(connection);
    let messages = client.simple_query(sql).await.expect("the statement runs");
    drop(client);
    let _ended = driver.await;
    let text = |message| match message {
        SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
        _ => None,
    };
    messages.into_iter().filter_map(text).collect()
}

fn dump_sqlite(file: &rusqlite::Connection) -> BTreeMap<String, Vec<String>> {
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let names: Vec<String> = all_rows(file, tables).into_iter().map(|row| row.join("")).collect();
    let rows = |name: &String| {
        let sql = format!("SELECT * FROM {name} ORDER BY 1");
        all_rows(file, &sql).into_iter().map(|row| row.join(",")).collect()
    };
    names.iter().map(|name| (name.clone(), rows(name))).collect()
}

fn all_rows(file: &rusqlite::Connection, sql: &str) -> Vec<Vec<String>> {
    use rusqlite::types::ValueRef;
    let mut statement = file.prepare(sql).expect("the statement fits");
    let columns = statement.column_count();
    let shown = |value: ValueRef<'_>| match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Blob(bytes) => domain::hex(bytes),
    };
    let rows = statement
        .query_map([], |row| (0..columns).map(|column| row.get_ref(column).map(shown)).collect());
    rows.expect("the statement runs").collect::<Result<_, _>>().expect("every row is read")
}
