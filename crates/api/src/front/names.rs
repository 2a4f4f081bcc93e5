//! Names of requests: unlike any other of this node, and at no cost worth speaking of.

use std::sync::atomic::{AtomicU64, Ordering};

use app::Rt;

/// Gives each request its name.
pub(super) struct Names(AtomicU64);

impl Names {
    pub(super) fn new(rt: &Rt) -> Self {
        Self(AtomicU64::new(u64::from_le_bytes(rt.random())))
    }

    /// Sixteen hexadecimal digits. Counted from a random start and then mixed, so that neighbours
    /// are told apart at a glance; mixing is one to one, so none comes twice.
    pub(super) fn next(&self) -> String {
        let mut mixed = self.0.fetch_add(1, Ordering::Relaxed);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        domain::hex(&(mixed ^ (mixed >> 31)).to_be_bytes())
    }
}
