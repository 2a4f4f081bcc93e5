//! Numbers that move with the writes of an organisation, for whoever remembers what it read.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::OrgId;

/// Organisations that share a number move it for each other, which only ever forgets too much.
const STAMPS: usize = 4_096;

pub(super) struct Stamps(Vec<AtomicU64>);

impl Default for Stamps {
    fn default() -> Self {
        Self((0..STAMPS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Stamps {
    /// What was read after this is as new as the number says.
    pub(super) fn of(&self, org: OrgId) -> u64 {
        self.at(org).load(Ordering::Acquire)
    }

    /// A write is on disk: moved before its caller hears of it, so that nobody who knows of the
    /// write can still be given what was before.
    pub(super) fn moved(&self, org: OrgId) {
        self.at(org).fetch_add(1, Ordering::Release);
    }

    /// Somebody else has written something: nothing that was read before is known to hold.
    pub(super) fn moved_elsewhere(&self) {
        for stamp in &self.0 {
            stamp.fetch_add(1, Ordering::Release);
        }
    }

    fn at(&self, org: OrgId) -> &AtomicU64 {
        let place = org.spread() % STAMPS as u64;
        &self.0[usize::try_from(place).unwrap_or(0)]
    }
}
