//! Brings a database to the newest schema, under a lock, so that two nodes may start at once.

use domain::{Timestamp, hex};

use crate::sql::{Alone, Dialect};
use crate::{Database, StoreError, args};

/// A step of the schema. Steps are only ever added.
struct Step {
    number: i64,
    name: &'static str,
    sql: &'static str,
    /// Where the dialects truly part.
    sqlite: Option<&'static str>,
}

const STEPS: &[Step] = &[
    Step {
        number: 1,
        name: "accounts",
        sql: include_str!("../migrations/0001_accounts.sql"),
        sqlite: None,
    },
    Step {
        number: 2,
        name: "money",
        sql: include_str!("../migrations/0002_money.sql"),
        sqlite: None,
    },
    Step {
        number: 3,
        name: "commerce",
        sql: include_str!("../migrations/0003_commerce.sql"),
        sqlite: None,
    },
    Step {
        number: 4,
        name: "esims",
        sql: include_str!("../migrations/0004_esims.sql"),
        sqlite: None,
    },
    Step {
        number: 5,
        name: "callbacks",
        sql: include_str!("../migrations/0005_callbacks.sql"),
        sqlite: None,
    },
    Step {
        number: 6,
        name: "people",
        sql: include_str!("../migrations/0006_people.sql"),
        sqlite: None,
    },
    Step {
        number: 7,
        name: "portal",
        sql: include_str!("../migrations/0007_portal.sql"),
        sqlite: None,
    },
];

const CREATE_JOURNAL: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (\
     number BIGINT NOT NULL PRIMARY KEY, name TEXT COLLATE \"C\" NOT NULL, \
     digest TEXT COLLATE \"C\" NOT NULL, applied_at BIGINT NOT NULL);";
const JOURNAL: &str = "SELECT number, name, digest FROM schema_migrations ORDER BY number";
const NOTE: &str = "INSERT INTO schema_migrations (number, name, digest, applied_at) \
     VALUES ($1, $2, $3, $4)";
/// Nodes start rarely; a writer not seen for a month is gone.
const FORGET_WRITERS: &str = "DELETE FROM store_writers WHERE seen_at < $1";
const MONTH_MS: i64 = 30 * 24 * 3_600 * 1_000;

/// The schema this program needs.
pub fn newest() -> i64 {
    STEPS.last().map_or(0, |step| step.number)
}

/// Applies what is missing and says how many steps that was.
pub fn up(database: &Database, now: Timestamp) -> Result<usize, StoreError> {
    let dialect = database.dialect();
    // The advisory lock is released with the transaction; its number is ours alone.
    let begin = match dialect {
        Dialect::Sqlite => "BEGIN IMMEDIATE",
        Dialect::Postgres => "BEGIN; SELECT pg_advisory_xact_lock(8374651)",
    };
    database.alone(begin, |alone| {
        alone.script(&translated(CREATE_JOURNAL, None, dialect))?;
        let applied = journal(alone, dialect)?;
        let missing = STEPS.iter().filter(|step| !applied.contains(&step.number));
        let mut count = 0;
        for step in missing {
            let script = translated(step.sql, step.sqlite, dialect);
            alone.script(&script)?;
            let note = args![step.number, step.name, digest(&script), now];
            alone.tx().exec(NOTE, note)?;
            count += 1;
        }
        alone.tx().exec(FORGET_WRITERS, args![now.plus_ms(-MONTH_MS)])?;
        Ok(count)
    })
}

/// The newest step a database has; none if it is not ours yet. Changes nothing.
pub fn current(database: &Database) -> Result<Option<i64>, StoreError> {
    if database.path().is_some_and(|path| !path.exists()) {
        return Ok(None);
    }
    let journal_exists = match database.dialect() {
        Dialect::Sqlite => "SELECT name FROM sqlite_master WHERE name = 'schema_migrations'",
        Dialect::Postgres => {
            "SELECT tablename::text FROM pg_tables \
             WHERE tablename = 'schema_migrations' AND schemaname = current_schema()"
        }
    };
    database.look(|tx| {
        if tx.all(journal_exists, &[])?.is_empty() {
            return Ok(None);
        }
        let rows = tx.all(JOURNAL, &[])?;
        rows.last().map(|row| row.int(0)).transpose()
    })
}

/// What has been applied, after making sure that it is what this program would apply.
fn journal(alone: &mut Alone<'_>, dialect: Dialect) -> Result<Vec<i64>, StoreError> {
    let rows = alone.tx().all(JOURNAL, &[])?;
    let mut applied = Vec::new();
    for row in rows {
        let number = row.int(0)?;
        let Some(step) = STEPS.iter().find(|step| step.number == number) else {
            return Err(StoreError::Refused(format!(
                "the database has schema {number}, this program knows only {}; \
                 run a newer tern or restore a backup",
                newest()
            )));
        };
        if row.text(2)? != digest(&translated(step.sql, step.sqlite, dialect)) {
            return Err(StoreError::Refused(format!(
                "schema step {number} ({}) in the database is not the one this program has",
                row.text(1)?
            )));
        }
        applied.push(number);
    }
    Ok(applied)
}

fn translated(sql: &str, sqlite: Option<&str>, dialect: Dialect) -> String {
    match (dialect, sqlite) {
        (Dialect::Postgres, _) => sql.to_owned(),
        (Dialect::Sqlite, Some(twin)) => twin.to_owned(),
        (Dialect::Sqlite, None) => to_sqlite(sql),
    }
}

/// Marks a table that is kept by its key alone: half the work where rows come and go.
const CLUSTERED: &str = " /* clustered */";

/// The same schema in SQLite's words. `STRICT` makes it refuse values of a wrong type, as
/// PostgreSQL does.
fn to_sqlite(sql: &str) -> String {
    sql.lines()
        .map(|line| if line.trim_start().starts_with("--") { "" } else { line })
        .collect::<Vec<_>>()
        .join("\n")
        .replace(
            "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
            "INTEGER NOT NULL PRIMARY KEY",
        )
        .replace(" COLLATE \"C\"", "")
        .replace("BIGINT", "INTEGER")
        .replace("BYTEA", "BLOB")
        .split_inclusive(';')
        .map(|statement| {
            let is_table = statement.trim_start().starts_with("CREATE TABLE");
            let end = match (is_table, statement.contains(CLUSTERED)) {
                (true, true) => " STRICT, WITHOUT ROWID;",
                (true, false) => " STRICT;",
                (false, _) => ";",
            };
            statement.replace(CLUSTERED, "").replacen(';', end, 1)
        })
        .collect()
}

fn digest(text: &str) -> String {
    hex(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_become_strict_and_types_change_their_names() {
        let sql = "-- note; with a semicolon\nCREATE TABLE t (\n  a BIGINT NOT NULL,\n  \
                   b TEXT COLLATE \"C\", c BYTEA\n);\nCREATE INDEX i ON t (a);\n";
        let out = to_sqlite(sql);
        assert!(out.contains("a INTEGER NOT NULL,\n  b TEXT, c BLOB\n) STRICT;"), "{out}");
        assert!(out.contains("CREATE INDEX i ON t (a);"), "{out}");
        assert_eq!(out.matches("STRICT").count(), 1);
        let clustered = to_sqlite("CREATE TABLE t (a BIGINT, PRIMARY KEY (a) /* clustered */\n);");
        assert_eq!(
            clustered,
            "CREATE TABLE t (a INTEGER, PRIMARY KEY (a)\n) STRICT, WITHOUT ROWID;"
        );
    }

    #[test]
    fn steps_are_numbered_without_gaps() {
        let numbers: Vec<_> = STEPS.iter().map(|step| step.number).collect();
        assert_eq!(numbers, (1..=newest()).collect::<Vec<_>>());
    }
}
