//! The schema: the same on both databases, and safe to bring up from several nodes at once.

use std::collections::BTreeSet;

use store::sql::Dialect;
use store::{Store, StoreError, migrate};

use crate::fixture::Fixture;
use crate::on_both;

on_both! {
    two_nodes_may_start_at_once,
    a_database_of_a_newer_program_is_left_alone,
    looking_creates_nothing,
}

async fn two_nodes_may_start_at_once(fixture: Fixture) {
    let mut nodes = Vec::new();
    for _ in 0..4 {
        let (database, now) = (fixture.database.clone(), fixture.rt.now());
        nodes.push(tokio::task::spawn_blocking(move || migrate::up(&database, now)));
    }
    let mut steps = 0;
    for node in nodes {
        steps += node.await.expect("ran").expect("migrated");
    }
    assert_eq!(i64::try_from(steps), Ok(migrate::newest()), "each step was applied once");
    assert_eq!(migrate::current(&fixture.database), Ok(Some(migrate::newest())));
}

async fn a_database_of_a_newer_program_is_left_alone(fixture: Fixture) {
    let store = fixture.store().await;
    let sql = "INSERT INTO schema_migrations (number, name, digest, applied_at) \
               VALUES (999, 'later', 'x', 0)";
    store.write(domain::OrgId::HOUSE, move |tx| tx.exec(sql, &[])).await.expect("noted");
    let refused = migrate::up(&fixture.database, fixture.rt.now());
    assert!(
        matches!(&refused, Err(StoreError::Refused(why)) if why.contains("999")),
        "{refused:?}"
    );
}

async fn looking_creates_nothing(fixture: Fixture) {
    assert_eq!(migrate::current(&fixture.database), Ok(None));
    assert!(fixture.database.path().is_none_or(|path| !path.exists()));
}

/// A column, or the columns of a unique key, in words both databases can be asked for.
type Facts = BTreeSet<String>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_schemas_agree() {
    let sqlite = facts(&Fixture::sqlite()).await;
    let postgres = facts(&Fixture::postgres().await).await;
    let missing: Vec<_> = postgres.difference(&sqlite).collect();
    let surplus: Vec<_> = sqlite.difference(&postgres).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "only PostgreSQL: {missing:?}\nonly SQLite: {surplus:?}"
    );
    assert!(sqlite.len() > 50, "the comparison sees the tables: {}", sqlite.len());
}

async fn facts(fixture: &Fixture) -> Facts {
    migrate::up(&fixture.database, fixture.rt.now()).expect("migrated");
    let store = Store::open(&fixture.database, &fixture.rt);
    let sql: &[&str] = match fixture.database.dialect() {
        Dialect::Sqlite => &SQLITE_FACTS,
        Dialect::Postgres => &POSTGRES_FACTS,
    };
    let facts: Result<Facts, StoreError> = store
        .read(move |tx| {
            let mut facts = Facts::new();
            for sql in sql {
                for row in tx.all(sql, &[])? {
                    facts.insert(row.text(0)?.to_owned());
                }
            }
            Ok(facts)
        })
        .await;
    facts.expect("facts")
}

const SQLITE_FACTS: [&str; 4] = [
    "SELECT 'column ' || m.name || '.' || c.name || ' ' || c.type || \
     CASE WHEN c.\"notnull\" = 1 THEN ' NOT NULL' ELSE '' END \
     FROM sqlite_master m JOIN pragma_table_info(m.name) c \
     WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'",
    "SELECT 'unique ' || m.name || '(' || (SELECT group_concat(name, ',') FROM \
       (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno)) || ')' || \
     CASE WHEN i.partial = 1 THEN ' partial' ELSE '' END \
     FROM sqlite_master m JOIN pragma_index_list(m.name) i \
     WHERE m.type = 'table' AND i.\"unique\" = 1",
    // An integer primary key is the row's own number and has no index to list.
    "SELECT 'unique ' || m.name || '(' || c.name || ')' \
     FROM sqlite_master m JOIN pragma_table_info(m.name) c \
     WHERE m.type = 'table' AND c.pk = 1 AND c.type = 'INTEGER'",
    "SELECT 'reference ' || m.name || '.' || f.\"from\" || ' to ' || f.\"table\" \
     FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'",
];

const POSTGRES_FACTS: [&str; 3] = [
    "SELECT ('column ' || table_name || '.' || column_name || ' ' || \
       CASE data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'text' THEN 'TEXT' \
         WHEN 'bytea' THEN 'BLOB' ELSE data_type END || \
       CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END)::text \
     FROM information_schema.columns WHERE table_schema = current_schema()",
    "SELECT ('unique ' || t.relname || '(' || \
       (SELECT string_agg(a.attname, ',' ORDER BY k.at) \
          FROM unnest(i.indkey) WITH ORDINALITY k(attnum, at) \
          JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum) || ')' || \
       CASE WHEN i.indpred IS NULL THEN '' ELSE ' partial' END)::text \
     FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid \
     JOIN pg_namespace n ON n.oid = t.relnamespace \
     WHERE i.indisunique AND n.nspname = current_schema()",
    "SELECT ('reference ' || t.relname || '.' || a.attname || ' to ' || r.relname)::text \
     FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid \
     JOIN pg_class r ON r.oid = c.confrelid \
     JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1] \
     JOIN pg_namespace n ON n.oid = t.relnamespace \
     WHERE c.contype = 'f' AND n.nspname = current_schema()",
];
