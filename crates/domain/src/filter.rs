//! Conditions on lists: what a text or a number must be to be listed, and in which order.

/// A condition on a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextTest {
    /// Exactly this.
    Is(String),
    /// Has this in it, whatever the case. Kept in lower case.
    Contains(String),
}

impl TextTest {
    /// Has this in it, whatever the case.
    pub fn contains(text: &str) -> Self {
        Self::Contains(text.to_lowercase())
    }

    /// Whether a text passes.
    pub fn passes(&self, text: &str) -> bool {
        match self {
            Self::Is(wanted) => text == wanted,
            Self::Contains(part) => text.to_lowercase().contains(part.as_str()),
        }
    }
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
}

impl Comparison {
    /// The comparison of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "eq" => Self::Eq,
            "lt" => Self::Lt,
            "lte" => Self::Lte,
            "gt" => Self::Gt,
            "gte" => Self::Gte,
            _ => return None,
        })
    }
}

/// A condition on a number: a count, minor units of money, milliseconds of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberTest {
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub value: i64,
}

impl NumberTest {
    /// Whether a number passes.
    pub fn passes(self, number: i64) -> bool {
        match self.comparison {
            Comparison::Eq => number == self.value,
            Comparison::Lt => number < self.value,
            Comparison::Lte => number <= self.value,
            Comparison::Gt => number > self.value,
            Comparison::Gte => number >= self.value,
        }
    }
}

/// Which way a list runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// A page of a list, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Which.
    pub number: i64,
    /// Of how many rows.
    pub size: i64,
}

impl Page {
    /// Rows before it; a page far past the end is far past the end.
    pub fn offset(self) -> i64 {
        (self.number - 1).saturating_mul(self.size)
    }

    /// How many pages so many rows fill.
    pub fn count(self, rows: i64) -> i64 {
        rows / self.size + i64::from(rows % self.size > 0)
    }

    /// The rows of it.
    pub fn of<T>(self, rows: &[T]) -> &[T] {
        let from = usize::try_from(self.offset()).unwrap_or(usize::MAX).min(rows.len());
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        &rows[from..from.saturating_add(size).min(rows.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_contained_whatever_the_case() {
        assert!(TextTest::contains("UniTED").passes("United Kingdom"));
        assert!(!TextTest::Is("united kingdom".into()).passes("United Kingdom"));
        assert!(TextTest::contains("").passes(""));
    }

    #[test]
    fn numbers_compare() {
        let passes = |name: &str, number| {
            let comparison = Comparison::parse(name).expect("a comparison");
            NumberTest { comparison, value: 5 }.passes(number)
        };
        let table = [("eq", [false, true, false]), ("lt", [true, false, false])];
        let more = [("lte", [true, true, false]), ("gt", [false, false, true])];
        for (name, expected) in table.into_iter().chain(more).chain([("gte", [false, true, true])])
        {
            assert_eq!([4, 5, 6].map(|number| passes(name, number)), expected, "{name}");
        }
        assert_eq!(Comparison::parse("zz"), None);
    }

    #[test]
    fn pages_cover_a_list_once() {
        let rows: Vec<_> = (0..7).collect();
        let page = |number| Page { number, size: 3 };
        assert_eq!(page(1).of(&rows), [0, 1, 2]);
        assert_eq!(page(3).of(&rows), [6]);
        assert!(page(4).of(&rows).is_empty() && page(i64::MAX).of(&rows).is_empty());
        assert_eq!((page(1).count(7), page(1).count(6), page(1).count(0)), (3, 2, 0));
    }
}
