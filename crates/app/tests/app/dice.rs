//! The choices of a history: they follow from its seed and from nothing that the service does.

use app::Rt;
use domain::Timestamp;
use store::sql::Crash;

pub(crate) struct Dice(Rt);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rt::seeded(!seed, Timestamp::from_ms(0)))
    }

    pub(crate) fn below(&self, n: i64) -> i64 {
        i64::from(u32::from_le_bytes(self.0.random())) % n
    }

    /// True once in so many times.
    pub(crate) fn one_in(&self, n: i64) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn crash(&self) -> Crash {
        if self.one_in(2) { Crash::BeforeCommit } else { Crash::AfterCommit }
    }

    pub(crate) fn pick<'a, T>(&self, all: &'a [T]) -> &'a T {
        let most = i64::try_from(all.len()).expect("a short list");
        &all[usize::try_from(self.below(most)).expect("not negative")]
    }
}
