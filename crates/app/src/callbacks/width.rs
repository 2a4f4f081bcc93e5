//! How much is under way to one receiver at a time.

use domain::limits;

/// How much a receiver is given at a time: more while it takes it, less while it fails.
pub(super) struct Width(usize);

impl Default for Width {
    fn default() -> Self {
        Self(16)
    }
}

impl Width {
    /// How many may be under way.
    pub(super) fn room(&self) -> usize {
        self.0
    }

    /// One has come back.
    pub(super) fn learn(&mut self, is_success: bool) {
        self.0 = if is_success {
            (self.0 + 1).min(limits::CALLBACKS_PER_RECEIVER)
        } else {
            (self.0 / 2).max(limits::CALLBACKS_TO_FAILING)
        };
    }

    /// It is known to fail.
    pub(super) fn heard(&mut self, failing: bool) {
        if failing {
            self.0 = self.0.min(limits::CALLBACKS_TO_FAILING.max(self.0 / 2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_fails_is_given_less_and_one_that_recovers_more() {
        let mut width = Width::default();
        for _ in 0..100 {
            width.learn(true);
        }
        assert_eq!(width.room(), limits::CALLBACKS_PER_RECEIVER);
        for _ in 0..10 {
            width.learn(false);
        }
        assert_eq!(width.room(), limits::CALLBACKS_TO_FAILING);
        width.learn(true);
        assert_eq!(width.room(), limits::CALLBACKS_TO_FAILING + 1);
    }
}
