//! The whole difference between the two dialects of SQL that our statements may meet.
//!
//! Statements are written once, in the subset both databases speak, with `$1…$n` for arguments and
//! three named fragments in braces where the databases truly part:
//!
//! | fragment | PostgreSQL | SQLite |
//! | --- | --- | --- |
//! | `{for update}` | `FOR NO KEY UPDATE` | nothing: one writer at a time |
//! | `{skip locked}` | `FOR NO KEY UPDATE SKIP LOCKED` | nothing |
//! | `{position}` | `strpos` | `instr` (same order of arguments) |
//!
//! `NO KEY`, because ids never change: a row that only refers to a locked one need not wait.

/// Which database speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The embedded one.
    Sqlite,
    /// The server.
    Postgres,
}

impl Dialect {
    /// The statement as this database wants it.
    pub fn speak(self, sql: &str) -> String {
        let fragments: [(&str, &str); 3] = match self {
            Self::Postgres => [
                ("{for update}", "FOR NO KEY UPDATE"),
                ("{skip locked}", "FOR NO KEY UPDATE SKIP LOCKED"),
                ("{position}", "strpos"),
            ],
            Self::Sqlite => [("{for update}", ""), ("{skip locked}", ""), ("{position}", "instr")],
        };
        let mut spoken = sql.to_owned();
        for (name, text) in fragments {
            spoken = spoken.replace(name, text);
        }
        match self {
            Self::Postgres => spoken,
            Self::Sqlite => numbered(&spoken),
        }
    }
}

/// `$1` means a *named* parameter to SQLite, numbered by first appearance; `?1` is what we mean.
fn numbered(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut chars = sql.chars().peekable();
    while let Some(c) = chars.next() {
        let is_parameter = c == '$' && chars.peek().is_some_and(char::is_ascii_digit);
        out.push(if is_parameter { '?' } else { c });
    }
    out
}

/// A list of parameters for `IN (…)`, counted from `first`: `$3, $4, $5`.
pub fn parameters(first: usize, count: usize) -> String {
    (first..first + count).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_and_parameters_are_put_in() {
        let sql = "SELECT a FROM t WHERE {position}(b, $2) > 0 AND c = $1 {skip locked}";
        assert_eq!(
            Dialect::Postgres.speak(sql),
            "SELECT a FROM t WHERE strpos(b, $2) > 0 AND c = $1 FOR NO KEY UPDATE SKIP LOCKED"
        );
        assert_eq!(
            Dialect::Sqlite.speak(sql),
            "SELECT a FROM t WHERE instr(b, ?2) > 0 AND c = ?1 "
        );
    }

    #[test]
    fn lists_count_on() {
        assert_eq!(parameters(3, 3), "$3, $4, $5");
        assert_eq!(parameters(1, 0), "");
    }
}
