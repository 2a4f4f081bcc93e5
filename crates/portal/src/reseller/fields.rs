//! What a form or an address carries: names and values, as browsers write them.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use domain::{Iccid, Secret};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Names and values in the order they were sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `a=1&b=two+words`.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(decoded).collect())
    }

    /// The first value of that name, without spaces around it; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(field, _)| field == name);
        found.map_or("", |(_, value)| value.trim())
    }

    /// The same, if it is not empty.
    pub(crate) fn maybe(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Every value of that name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.trim())
    }

    /// Whether a box of that name is ticked.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        !self.text(name).is_empty()
    }

    /// A whole number.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.text(name).parse().ok()
    }

    /// An ICCID, which is often pasted with spaces in it.
    pub(crate) fn iccid(&self, name: &str) -> Option<Iccid> {
        let digits: String = self.text(name).chars().filter(|c| !c.is_whitespace()).collect();
        Iccid::parse(&digits).ok()
    }

    /// A password, with the spaces it may have around it.
    pub(crate) fn secret(&self, name: &str) -> Secret<String> {
        let found = self.0.iter().find(|(field, _)| field == name);
        Secret::new(found.map_or_else(String::new, |(_, value)| value.clone()))
    }

    /// All of it but those names, as one text: what was asked for, to recognise it again.
    pub(super) fn facts(&self, without: &[&str]) -> Vec<u8> {
        let mut facts = Vec::new();
        for (name, value) in self.0.iter().filter(|(name, _)| !without.contains(&name.as_str())) {
            for part in [name, value] {
                facts.extend_from_slice(&(part.len() as u64).to_be_bytes());
                facts.extend_from_slice(part.as_bytes());
            }
        }
        facts
    }
}

fn decoded((name, value): (&str, &str)) -> (String, String) {
    let text = |text: &str| {
        let spaced = text.replace('+', " ");
        // One of the databases takes no such character.
        percent_decode_str(&spaced).decode_utf8_lossy().replace('\0', "")
    };
    (text(name), text(value))
}

/// A path with what it carries; what is empty is left out.
pub(crate) fn address(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut address = path.to_owned();
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        address.push(if address.len() == path.len() { '?' } else { '&' });
        address.push_str(name);
        address.push('=');
        address.extend(utf8_percent_encode(value, NON_ALPHANUMERIC));
    }
    address
}

/// A form that was sent from one of our own pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form(pub(super) Arc<Fields>);

impl std::ops::Deref for Form {
    type Target = Fields;

    fn deref(&self) -> &Fields {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for Form {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_browsers_write_them() {
        let fields = Fields::parse("name=+Ada+L%C3%B6w+&role=Owner&role=Viewer&empty=&tick&n=12");
        assert_eq!(fields.text("name"), "Ada Löw");
        assert_eq!(fields.all("role").collect::<Vec<_>>(), ["Owner", "Viewer"]);
        assert_eq!(fields.maybe("empty"), None);
        assert_eq!(fields.number("n"), Some(12));
        assert_eq!(fields.number("name"), None);
        assert_eq!(fields.secret("name").expose(), " Ada Löw ");
        assert!(!fields.is_on("missing"));
        // Broken escapes and bytes that are no text do no harm.
        assert_eq!(Fields::parse("a=%&b=%ff").text("a"), "%");
    }

    #[test]
    fn addresses_carry_what_is_not_empty_and_read_back() {
        let pairs = [("q", "a+b & c"), ("none", ""), ("page", "2")];
        let address = address("/portal/x", &pairs);
        assert_eq!(address, "/portal/x?q=a%2Bb%20%26%20c&page=2");
        let fields = Fields::parse(address.split_once('?').expect("a query").1);
        assert_eq!((fields.text("q"), fields.number("page")), ("a+b & c", Some(2)));
    }

    #[test]
    fn other_fields_are_other_facts() {
        let facts = |text: &str| Fields::parse(text).facts(&["csrf"]);
        assert_eq!(facts("a=1&csrf=x"), facts("a=1&csrf=y"));
        assert_ne!(facts("a=1"), facts("a=2"));
        assert_ne!(facts("ab=c"), facts("a=bc"));
    }
}
