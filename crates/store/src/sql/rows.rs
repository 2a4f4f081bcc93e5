//! Many rows in one statement: large work is a few round trips, not thousands. Rows and lists are
//! cut into pieces of a few fixed sizes, so that a connection keeps a few prepared statements, not
//! one for every number of rows.

use domain::limits;

use super::{Row, StoreError, Tx, Value};

impl Tx<'_> {
    /// Runs an `INSERT … VALUES ($1, …, $n)` of one row for all of them, no later than the next
    /// read or the commit. Only for what cannot be refused, like [`later`](Tx::later).
    pub fn later_rows(&mut self, sql: &str, rows: Vec<Vec<Value>>) -> Result<(), StoreError> {
        for (sql, args) in statements(sql, rows) {
            self.later(&sql, &args)?;
        }
        Ok(())
    }

    /// The same at once, with what it returns.
    pub fn all_rows(&mut self, sql: &str, rows: Vec<Vec<Value>>) -> Result<Vec<Row>, StoreError> {
        let mut returned = Vec::new();
        for (sql, args) in statements(sql, rows) {
            returned.extend(self.all(&sql, &args)?);
        }
        Ok(returned)
    }

    /// Runs an `UPDATE … IN ({list})` whose other arguments come first, no later than the next read
    /// or the commit.
    pub fn later_in(
        &mut self,
        sql: &str,
        args: &[Value],
        list: &[Value],
    ) -> Result<(), StoreError> {
        for (sql, args) in pieces(sql, args, list) {
            self.later(&sql, &args)?;
        }
        Ok(())
    }

    /// All rows of a `SELECT … IN ({list})` whose other arguments come first, however long the list
    /// is. Rows come in the statement's order within each piece of the list only.
    pub fn all_in(
        &mut self,
        sql: &str,
        args: &[Value],
        list: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        let mut found = Vec::new();
        for (sql, args) in pieces(sql, args, list) {
            found.extend(self.all(&sql, &args)?);
        }
        Ok(found)
    }
}

fn pieces<'l>(
    sql: &'l str,
    args: &'l [Value],
    list: &'l [Value],
) -> impl Iterator<Item = (String, Vec<Value>)> + 'l {
    list.chunks(limits::ROWS_PER_STATEMENT_MAX).map(move |piece| {
        let size = piece.len().next_power_of_two();
        let sql = sql.replace("{list}", &super::parameters(args.len() + 1, size));
        // What is named twice is met once.
        let padding = piece.iter().cycle().take(size);
        (sql, args.iter().chain(padding).cloned().collect())
    })
}

fn statements(sql: &str, rows: Vec<Vec<Value>>) -> Vec<(String, Vec<Value>)> {
    let mut made = Vec::new();
    let mut rows = rows.into_iter();
    while rows.len() > 0 {
        let size = largest_power_of_two(rows.len().min(limits::ROWS_PER_STATEMENT_MAX));
        let piece: Vec<_> = rows.by_ref().take(size).collect();
        let width = piece.first().map_or(0, Vec::len);
        made.push((repeated(sql, width, size), piece.into_iter().flatten().collect()));
    }
    made
}

fn largest_power_of_two(most: usize) -> usize {
    1 << most.max(1).ilog2()
}

/// The statement with its one tuple `($1, …, $n)` written `count` times over, counted on.
fn repeated(sql: &str, width: usize, count: usize) -> String {
    let one = tuple(1, width);
    let (before, after) = sql.split_once(&one).expect("a statement has the tuple of its row once");
    let tuples: Vec<_> = (0..count).map(|row| tuple(1 + row * width, width)).collect();
    format!("{before}{}{after}", tuples.join(", "))
}

fn tuple(first: usize, width: usize) -> String {
    format!("({})", super::parameters(first, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuple_is_repeated_and_counted_on() {
        let sql = "INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT (a) DO NOTHING";
        assert_eq!(
            repeated(sql, 2, 3),
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4), ($5, $6) ON CONFLICT (a) DO NOTHING"
        );
    }

    #[test]
    fn pieces_have_few_sizes_and_hold_every_row_once() {
        let rows = |count: i64| (0..count).map(|n| vec![Value::Int(n)]).collect::<Vec<_>>();
        let made = statements("INSERT INTO t (a) VALUES ($1)", rows(700));
        let sizes: Vec<_> = made.iter().map(|(_, args)| args.len()).collect();
        assert_eq!(sizes, [256, 256, 128, 32, 16, 8, 4]);
        let all: Vec<_> = made.into_iter().flat_map(|(_, args)| args).collect();
        assert_eq!(all, rows(700).concat());
        assert!(statements("INSERT INTO t (a) VALUES ($1)", vec![]).is_empty());
    }
}
