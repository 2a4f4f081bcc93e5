//! Lists of the interface: pages, conditions and order, as they stand in a query.

use std::ops::RangeInclusive;

use domain::filter::{Comparison, Direction, NumberTest, Page, TextTest};
use domain::{Currency, Money, Timestamp, limits};
use serde::Serialize;

use crate::problem::Problem;
use crate::query::Query;
use crate::versions::{Change, Version};

const PAGES: RangeInclusive<i64> = 1..=i64::MAX;
const SIZES: RangeInclusive<i64> = 1..=limits::PAGE_MAX;

/// The numbers beside a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Paging {
    page_count: i64,
    rows: i64,
    page_size: i64,
}

impl Paging {
    pub(crate) fn of(page: Page, rows: i64) -> Self {
        Self { page_count: page.count(rows), rows, page_size: page.size }
    }

    /// Of a list that is given whole.
    pub(crate) fn whole(rows: i64) -> Self {
        Self { page_count: i64::from(rows > 0), rows, page_size: rows }
    }
}

/// The page asked for; `perPage` and `limit` are two names of one thing.
pub(crate) fn page(query: &Query, default_size: i64) -> Result<Page, Problem> {
    let number = query.number("page", PAGES)?.unwrap_or(1);
    let size = size(query)?.unwrap_or(default_size);
    Ok(Page { number, size })
}

/// The page of a list that is given whole unless a size is asked for.
pub(crate) fn page_or_whole(query: &Query) -> Result<Option<Page>, Problem> {
    let number = query.number("page", PAGES)?;
    let size = size(query)?;
    Ok(size.map(|size| Page { number: number.unwrap_or(1), size }))
}

fn size(query: &Query) -> Result<Option<i64>, Problem> {
    let per_page = query.number("perPage", SIZES)?;
    let limit = query.number("limit", SIZES)?;
    Ok(per_page.or(limit))
}

/// `true` or `false`.
pub(crate) fn flag(query: &Query, name: &str) -> Result<Option<bool>, Problem> {
    match query.one(name) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => Err(Problem::invalid(name)),
    }
}

/// `asc` or `desc`.
pub(crate) fn direction(query: &Query) -> Result<Option<Direction>, Problem> {
    match query.one("direction") {
        None => Ok(None),
        Some("asc") => Ok(Some(Direction::Ascending)),
        Some("desc") => Ok(Some(Direction::Descending)),
        Some(_) => Err(Problem::invalid("direction")),
    }
}

/// Conditions on a text, all of which must hold.
pub(crate) fn texts(query: &Query, name: &str) -> Result<Vec<TextTest>, Problem> {
    query.all(name).map(|value| text(name, value)).collect()
}

/// One condition on a text.
pub(crate) fn text(name: &str, value: &str) -> Result<TextTest, Problem> {
    match operator(value) {
        None => Ok(TextTest::contains(value)),
        Some(("eq", wanted)) if !wanted.is_empty() => Ok(TextTest::Is(wanted.to_owned())),
        Some(_) => Err(Problem::invalid(name)),
    }
}

/// Conditions on a number, all of which must hold; several may stand in one value.
pub(crate) fn numbers(
    query: &Query,
    name: &str,
    read: impl Fn(&str) -> Option<i64>,
) -> Result<Vec<NumberTest>, Problem> {
    let values = query.all(name).flat_map(|value| value.split(','));
    let test = |text: &str| {
        let (comparison, number) = operator(text).unwrap_or(("eq", text));
        let comparison = Comparison::parse(comparison)?;
        Some(NumberTest { comparison, value: read(number)? })
    };
    values.map(|text| test(text).ok_or_else(|| Problem::invalid(name))).collect()
}

/// A whole number, as conditions have it.
pub(crate) fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// An amount in the unit of a version.
pub(crate) fn amount(text: &str, currency: Currency, version: Version) -> Option<i64> {
    if Change::MajorUnits.seen_by(version) {
        return Money::parse_major(text, currency).ok().map(Money::in_minor);
    }
    whole(text)
}

/// A moment; a bare date is its first instant in UTC.
pub(crate) fn moment(text: &str) -> Option<i64> {
    // In a query `+` means a space, and a zone such as +02:00 is often sent unescaped.
    let text = text.replace(' ', "+");
    let parsed =
        Timestamp::parse(&text).or_else(|_| Timestamp::parse(&format!("{text}T00:00:00Z")));
    parsed.ok().map(Timestamp::ms)
}

/// `gte:5` → `gte` and `5`. Up to three small letters before a colon are meant as an operator.
fn operator(value: &str) -> Option<(&str, &str)> {
    let (name, rest) = value.split_once(':')?;
    let is_one = (1..=3).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase());
    is_one.then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(Some(text)).expect("a query")
    }

    #[test]
    fn pages_have_bounds_and_two_names_for_their_size() {
        let page = |text: &str| page(&query(text), 10).ok();
        assert_eq!(page(""), Some(Page { number: 1, size: 10 }));
        assert_eq!(page("page=3&perPage=200"), Some(Page { number: 3, size: 200 }));
        assert_eq!(page("limit=10000"), Some(Page { number: 1, size: 10_000 }));
        for bad in ["page=0", "page=-1", "perPage=0", "limit=10001", "page=x", "page=1.5"] {
            assert_eq!(page(bad), None, "{bad}");
        }
    }

    #[test]
    fn conditions_on_numbers() {
        let read = |text: &str| numbers(&query(text), "n", whole).ok();
        let test = |comparison, value| NumberTest { comparison, value };
        assert_eq!(read("n=5"), Some(vec![test(Comparison::Eq, 5)]));
        let both = vec![test(Comparison::Gte, 1), test(Comparison::Lt, 9)];
        assert_eq!(read("n=gte:1&n=lt:9"), Some(both.clone()));
        assert_eq!(read("n=gte:1,lt:9"), Some(both));
        assert_eq!(read("n=-1"), Some(vec![test(Comparison::Eq, -1)]));
        for bad in
            ["n=gte:", "n=zz:1", "n=gte:abc", "n=1.5", "n=%2B5", "n=1,", "n=--1", "n=eq:eq:1"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn conditions_on_texts() {
        assert_eq!(text("n", "FrAnce").ok(), Some(TextTest::Contains("france".into())));
        assert_eq!(text("n", "eq:France").ok(), Some(TextTest::Is("France".into())));
        assert_eq!(text("n", "Note: x").ok(), Some(TextTest::Contains("note: x".into())));
        for bad in ["gte:1", "zz:1", "eq:"] {
            assert!(text("n", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn moments_may_be_dates() {
        assert_eq!(moment("1970-01-02"), Some(86_400_000));
        assert_eq!(moment("1970-01-01T02:00:00 02:00"), Some(0));
        assert_eq!(moment("yesterday"), None);
    }
}
