//! A fresh database for one test: a SQLite file, or a schema of its own in PostgreSQL.

use std::sync::atomic::{AtomicU32, Ordering};

use domain::{OrgId, Timestamp};
use store::{Database, Rt, Store, StoreError, args, heads, migrate};

pub(crate) struct Fixture {
    pub(crate) database: Database,
    pub(crate) rt: Rt,
    url: String,
    _folder: Option<tempfile::TempDir>,
}

impl Fixture {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = Database::file(&folder.path().join("tern.db"));
        Self { database, rt: Rt::real(), url: String::new(), _folder: Some(folder) }
    }

    pub(crate) async fn postgres() -> Self {
        Self::at(&in_own_schema(&server("TERN_TEST_POSTGRES")).await)
    }

    pub(crate) fn at(url: &str) -> Self {
        let database = Database::parse(url).expect("a database URL");
        Self { database, rt: Rt::real(), url: url.to_owned(), _folder: None }
    }

    /// Another one of the same kind.
    pub(crate) async fn twin(&self) -> Self {
        match self.database.path() {
            Some(_) => Self::sqlite(),
            None => Self::postgres().await,
        }
    }

    /// Runs a script beside the store, or before there is one.
    pub(crate) async fn script(&self, sql: &str) {
        match self.database.path() {
            Some(path) => {
                let beside = rusqlite::Connection::open(path).expect("the database file");
                beside.execute_batch(sql).expect("the script runs");
            }
            None => run_sql(&self.url, sql).await,
        }
    }

    /// The store with the newest schema and two tables of the tests' own.
    pub(crate) async fn store(&self) -> Store {
        migrate::up(&self.database, self.rt.now()).expect("migrated");
        let store = Store::open(&self.database, &self.rt);
        make_tables(&store).await;
        store
    }

    /// The same store once more.
    pub(crate) fn store_again(&self) -> Store {
        Store::open(&self.database, &self.rt)
    }

    pub(crate) async fn inline_store(&self, rt: &Rt) -> Store {
        migrate::up(&self.database, rt.now()).expect("migrated");
        let store = Store::open_inline(&self.database, rt);
        make_tables(&store).await;
        store
    }
}

async fn make_tables(store: &Store) {
    let strict = match store.database().dialect() {
        store::sql::Dialect::Sqlite => "STRICT",
        store::sql::Dialect::Postgres => "",
    };
    let words = match store.database().dialect() {
        store::sql::Dialect::Sqlite => "TEXT",
        store::sql::Dialect::Postgres => "TEXT COLLATE \"C\"",
    };
    let bytes = if strict.is_empty() { "BYTEA" } else { "BLOB" };
    let number = if strict.is_empty() { "BIGINT" } else { "INTEGER" };
    let things = format!(
        "CREATE TABLE things (id {words} NOT NULL PRIMARY KEY, n {number} CHECK (n >= 0), \
         t {words}, b {bytes}) {strict}"
    );
    store
        .write(OrgId::HOUSE, move |tx| tx.exec(&things, &[]).map(drop))
        .await
        .expect("a table for tests");
}

/// The address of the test server. Missing is a failure, never a skip.
pub(crate) fn server(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set: run the tests with `cargo xtask test`"))
}

/// A URL that sees nothing but a fresh schema.
pub(crate) async fn in_own_schema(url: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let schema = format!("s{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    run_sql(&server("TERN_TEST_POSTGRES"), &format!("CREATE SCHEMA {schema}")).await;
    let join = if url.contains('?') { '&' } else { '?' };
    format!("{url}{join}options=-c%20search_path%3D{schema}")
}

/// Runs a statement beside the store.
pub(crate) async fn run_sql(url: &str, sql: &str) {
    let plain = url.replace("?sslmode=disable", "?").replace("?&", "?");
    let plain = plain.trim_end_matches('?');
    let (client, connection) =
        tokio_postgres::connect(plain, tokio_postgres::NoTls).await.expect("the test server");
    let driver = Rt::real().task(connection);
    client.batch_execute(sql).await.expect("the statement runs");
    drop(client);
    let _ended = driver.await;
}

/// An organisation with a head and nothing else.
pub(crate) async fn new_org(store: &Store, n: u8) -> OrgId {
    let org = OrgId::new(Timestamp::from_ms(1_000_000 + i64::from(n)), [n; 10]);
    store
        .write(OrgId::HOUSE, move |tx| heads::insert(tx, org))
        .await
        .expect("a head for the organisation");
    org
}

/// Counts the events of an organisation up by one and notes a thing of that number.
pub(crate) async fn count_up(store: &Store, org: OrgId) -> Result<i64, StoreError> {
    store
        .write(org, move |tx| {
            let head = tx.head_mut().expect("the organisation is there");
            head.event_seq += 1;
            let n = head.event_seq;
            tx.later(ADD, args![format!("{org}-{n}"), n])?;
            Ok(n)
        })
        .await
}

pub(crate) const ADD: &str = "INSERT INTO things (id, n) VALUES ($1, $2)";
pub(crate) const COUNT: &str = "SELECT COUNT(*) FROM things";

pub(crate) async fn count(store: &Store) -> i64 {
    let count: Result<i64, StoreError> = store.read(|tx| tx.one(COUNT, &[])?.int(0)).await;
    count.expect("counted")
}
