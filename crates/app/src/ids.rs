//! Ids for one write. What a write makes is not known before, but a write may run twice, and then
//! must make the same: so its ids follow from one draw.

use domain::{EventId, JobId, OrderId, Timestamp};

use crate::App;
use crate::orders::random_uuid;

/// A moment, and as many ids as a write needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids {
    pub(crate) now: Timestamp,
    seed: [u8; 10],
    reference: [u8; 16],
    count: u32,
}

impl Ids {
    fn next(&mut self) -> [u8; 10] {
        self.count += 1;
        let mut bytes = self.seed;
        for (byte, count) in bytes[6..].iter_mut().zip(self.count.to_be_bytes()) {
            *byte ^= count;
        }
        bytes
    }

    pub(crate) fn event(&mut self) -> EventId {
        EventId::new(self.now, self.next())
    }

    pub(crate) fn job(&mut self) -> JobId {
        JobId::new(self.now, self.next())
    }

    pub(crate) fn order(&mut self) -> OrderId {
        OrderId::new(self.now, self.next())
    }

    /// The reference of what this write makes; there is one.
    pub(crate) fn reference(&self) -> String {
        random_uuid(self.reference)
    }
}

impl App {
    /// Ids for a write that begins now.
    pub(crate) fn ids(&self) -> Ids {
        Ids { now: self.now(), seed: self.rt().random(), reference: self.rt().random(), count: 0 }
    }
}
