//! Counters of the store, read by the metrics page.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start of the process.
#[derive(Default)]
pub struct Stats {
    /// Groups committed.
    pub groups: AtomicU64,
    /// Writes in them.
    pub writes: AtomicU64,
    /// Reads answered.
    pub reads: AtomicU64,
    /// Groups run again one by one.
    pub groups_split: AtomicU64,
    /// Writes run again after a deadlock.
    pub victims_rerun: AtomicU64,
    /// Commits whose answer was lost.
    pub commits_doubted: AtomicU64,
}

impl Stats {
    pub(super) fn count(&self, which: impl FnOnce(&Self) -> &AtomicU64) {
        which(self).fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn group(&self, writes: usize) {
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(writes as u64, Ordering::Relaxed);
    }
}
