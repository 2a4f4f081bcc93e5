//! Addresses of lists: what they are narrowed to, and which page. Pages are found by key, so the
//! way back is kept in the address, too.

use crate::reseller::Visit;
use crate::reseller::fields::address;

/// Rows of a page.
pub(super) const SIZE: i64 = 50;

/// How many pages one can go back; nobody turns more than that by hand.
const BACK_MAX: usize = 100;

/// Where in a list somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// What is shown is before this number.
    pub(super) before: Option<i64>,
    /// The same of the pages one has come by; 0 is the first page.
    back: Vec<i64>,
}

impl Place {
    pub(super) fn of(visit: &Visit) -> Self {
        Self::parse(visit.query.text("before"), visit.query.text("back"))
    }

    fn parse(before: &str, back: &str) -> Self {
        let before = before.parse().ok().filter(|number| *number > 0);
        let back = back.split('.').filter_map(|number| number.parse().ok());
        Self { before, back: back.filter(|number| *number >= 0).take(BACK_MAX).collect() }
    }

    /// The page before this one.
    pub(super) fn previous(&self, path: &str, kept: &[(&str, &str)]) -> Option<String> {
        self.before?;
        let (before, back) = self.back.split_last().unwrap_or((&0, &[]));
        Some(page(path, kept, (*before, back)))
    }

    /// The page that begins before that number.
    pub(super) fn next(&self, path: &str, kept: &[(&str, &str)], before: i64) -> String {
        let mut back = self.back.clone();
        back.push(self.before.unwrap_or(0));
        let surplus = back.len().saturating_sub(BACK_MAX);
        page(path, kept, (before, &back[surplus..]))
    }
}

fn page(path: &str, kept: &[(&str, &str)], (before, back): (i64, &[i64])) -> String {
    let text = |number: i64| if number == 0 { String::new() } else { number.to_string() };
    let back: Vec<_> = back.iter().map(i64::to_string).collect();
    let (before, back) = (text(before), back.join("."));
    let mut fields = kept.to_vec();
    fields.extend([("before", before.as_str()), ("back", back.as_str())]);
    address(path, &fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_comes_back_the_way_one_went() {
        let kept = [("q", "a b"), ("state", "")];
        let first = Place::parse("", "");
        assert_eq!(first.previous("/x", &kept), None);
        let second = first.next("/x", &kept, 90);
        assert_eq!(second, "/x?q=a%20b&before=90&back=0");
        let second = Place::parse("90", "0");
        assert_eq!(second.next("/x", &[], 40), "/x?before=40&back=0%2E90");
        let third = Place::parse("40", "0.90");
        assert_eq!(third.previous("/x", &[]).as_deref(), Some("/x?before=90&back=0"));
        assert_eq!(second.previous("/x", &[]).as_deref(), Some("/x"));
        // Whatever somebody writes into an address does no harm.
        assert_eq!(Place::parse("-3", "x.-1..7"), Place { before: None, back: vec![7] });
        assert_eq!(Place::parse("5", "").previous("/x", &[]).as_deref(), Some("/x"));
    }
}
