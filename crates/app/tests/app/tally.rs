//! Counts what happened in all histories: a property that was never put to the test proves nothing.

use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Tally(BTreeMap<String, u64>);

impl Tally {
    pub(crate) fn count(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    pub(crate) fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (what, times) in other.0 {
            *self.0.entry(what).or_default() += times;
        }
    }

    /// Fails unless all of this has happened, so often at least.
    pub(crate) fn assert_each(&self, least: u64, all: &[&str]) {
        for what in all {
            assert!(self.of(what) >= least, "{what}: {} times in {:#?}", self.of(what), self.0);
        }
    }
}
