//! Filtered lists: the one place where the text of a statement is put together. Columns and order
//! come from our source; what a caller sent is always an argument.

use domain::filter::{Comparison, NumberTest, Page, TextTest};

use super::{Row, StoreError, Tx, Value};

/// A list that is being narrowed down.
pub struct Select {
    /// `FROM … WHERE …`.
    from: String,
    args: Vec<Value>,
}

impl Select {
    /// Starts from `FROM … WHERE …` with its arguments.
    pub fn from(from: &'static str, args: &[Value]) -> Self {
        Self { from: from.to_owned(), args: args.to_vec() }
    }

    /// Only rows of which this holds: a condition of ours, never a caller's.
    fn and(&mut self, condition: &str) {
        self.from.push_str(" AND ");
        self.from.push_str(condition);
    }

    /// Only rows that are processing, by the index of those.
    pub fn processing(&mut self) {
        self.and("status = 'processing'");
    }

    /// Only rows whose number passes.
    pub fn number(&mut self, column: &'static str, test: NumberTest) {
        let sign = match test.comparison {
            Comparison::Eq => "=",
            Comparison::Lt => "<",
            Comparison::Lte => "<=",
            Comparison::Gt => ">",
            Comparison::Gte => ">=",
        };
        let at = self.argument(Value::Int(test.value));
        self.and(&format!("{column} {sign} {at}"));
    }

    /// Only rows whose text passes; for columns that hold ASCII only, since the two databases
    /// disagree about the case of the rest.
    pub fn text(&mut self, column: &'static str, test: &TextTest) {
        match test {
            TextTest::Is(wanted) => {
                let at = self.argument(Value::from(wanted));
                self.and(&format!("{column} = {at}"));
            }
            TextTest::Contains(part) => {
                let at = self.argument(Value::from(part));
                self.and(&format!("{{position}}(lower({column}), {at}) > 0"));
            }
        }
    }

    /// How many rows there are.
    pub fn count(&self, tx: &mut Tx<'_>) -> Result<i64, StoreError> {
        tx.one(&format!("SELECT COUNT(*) {}", self.from), &self.args)?.int(0)
    }

    /// A page of them.
    pub fn page(
        mut self,
        tx: &mut Tx<'_>,
        columns: &'static str,
        order: &'static str,
        page: Page,
    ) -> Result<Vec<Row>, StoreError> {
        let limit = self.argument(Value::Int(page.size));
        let offset = self.argument(Value::Int(page.offset()));
        let from = &self.from;
        let sql = format!("SELECT {columns} {from} ORDER BY {order} LIMIT {limit} OFFSET {offset}");
        tx.all(&sql, &self.args)
    }

    fn argument(&mut self, value: Value) -> String {
        self.args.push(value);
        format!("${}", self.args.len())
    }
}
