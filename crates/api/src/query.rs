//! The query of a request: decoded once, unknown names ignored.

use axum::extract::FromRequestParts;
use domain::Timestamp;
use http::request::Parts;
use percent_encoding::percent_decode_str;

use crate::problem::Problem;

/// Names and values in the order they came.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: Option<&str>) -> Result<Self, Problem> {
        let pairs = text.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        });
        decoded.collect::<Result<_, _>>().map(Self)
    }

    /// The first value of that name; an empty one is absent.
    pub(crate) fn one(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(key, _)| key == name).map(|(_, v)| v.as_str());
        values.next().filter(|value| !value.is_empty())
    }

    /// Every value of that name; empty ones are absent.
    pub(crate) fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        let named = self.0.iter().filter(move |(key, value)| key == name && !value.is_empty());
        named.map(|(_, value)| value.as_str())
    }

    /// Whether a name was given, with or without a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// The same with one value more.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Everything but the key, in one text: the same for the same question, and for no other, since
    /// no name and no value holds a NUL.
    pub(crate) fn canonical(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.0.iter().filter(|(name, _)| name != "api_key") {
            text.push_str(name);
            text.push('\0');
            text.push_str(value);
            text.push('\0');
        }
        text
    }

    /// A moment.
    pub(crate) fn time(&self, name: &str) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = self.one(name) else { return Ok(None) };
        Timestamp::parse(text).map(Some).map_err(|_| Problem::invalid(name))
    }

    /// A whole number within bounds.
    pub(crate) fn number(
        &self,
        name: &str,
        within: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<i64>, Problem> {
        let Some(text) = self.one(name) else { return Ok(None) };
        // Digits only: `parse` alone would take "+5".
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse().ok().filter(|number| digits && within.contains(number));
        number.map(Some).ok_or_else(|| Problem::invalid(name))
    }
}

fn decode(text: &str) -> Result<String, Problem> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8().ok();
    // One of the databases cannot keep a NUL, and nobody means it.
    let plain = decoded.filter(|text| !text.contains('\0'));
    plain.map(std::borrow::Cow::into_owned).ok_or_else(|| Problem::invalid("query"))
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::parse(parts.uri.query())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_the_first_counts() {
        let query = Query::parse(Some("a=1+2&b=%C3%A4&a=3&c&d=")).expect("a query");
        assert_eq!(query.one("a"), Some("1 2"));
        assert_eq!(query.one("b"), Some("ä"));
        assert_eq!((query.one("c"), query.one("d"), query.one("e")), (None, None, None));
        assert!(Query::parse(Some("a=%ff")).is_err());
        assert!(Query::parse(Some("a=%00")).is_err());
    }

    #[test]
    fn only_the_same_question_has_the_same_text() {
        let text = |query: &str| Query::parse(Some(query)).expect("a query").canonical();
        assert_eq!(text("a=1&b=2&api_key=x"), text("a=%31&api_key=y&b=2"));
        for other in
            ["a=1%0Ab%3D2", "a=1%0Ab=2", "a=1", "a=1&b=2&c", "b=2&a=1", "a=1b=2", "a1=&b=2"]
        {
            assert_ne!(text("a=1&b=2"), text(other), "{other}");
        }
    }

    #[test]
    fn numbers_keep_their_bounds() {
        let number = |text: &str| {
            Query::parse(Some(&format!("limit={text}"))).expect("a query").number("limit", 1..=1000)
        };
        assert_eq!(number("1000").expect("a number"), Some(1000));
        assert_eq!(number("").expect("absent"), None);
        for text in ["0", "1001", "-1", "%2B5", "1.0", "abc", "1e3", " 5", "99999999999999999999"] {
            assert!(number(text).is_err(), "{text}");
        }
    }
}
