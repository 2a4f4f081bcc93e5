//! eSIMs that were asked for lately, as long as nothing of their organisation was written since.
//! Integrators ask for the same ones again and again. Their secrets stay sealed here too.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::esim::Esim;
use domain::{Iccid, OrgId, limits};
use store::esims::Install;

/// Callers wait for each other only where they ask for the same part.
const PARTS: usize = 16;

type Part = HashMap<(OrgId, Iccid), (u64, Found)>;

/// An eSIM as it is in the tables.
pub(super) type Found = Arc<(Esim, Install)>;

pub(crate) struct Remembered {
    parts: Vec<Mutex<Part>>,
    spread: RandomState,
}

impl Default for Remembered {
    fn default() -> Self {
        let parts = (0..PARTS).map(|_| Mutex::default()).collect();
        Self { parts, spread: RandomState::new() }
    }
}

impl Remembered {
    /// What is known, if it is as new as the number says.
    pub(super) fn get(&self, key: &(OrgId, Iccid), stamp: u64) -> Option<Found> {
        let part = self.part(key);
        part.get(key).filter(|(known_at, _)| *known_at == stamp).map(|(_, found)| found.clone())
    }

    /// Remembers what was read when the number stood there. A part that is full begins anew.
    pub(super) fn put(&self, key: (OrgId, Iccid), stamp: u64, found: Found) {
        let mut part = self.part(&key);
        if part.len() >= limits::ESIMS_REMEMBERED_MAX / PARTS && !part.contains_key(&key) {
            part.clear();
        }
        part.insert(key, (stamp, found));
    }

    fn part(&self, key: &(OrgId, Iccid)) -> MutexGuard<'_, Part> {
        let place = usize::try_from(self.spread.hash_one(key)).unwrap_or(0) % PARTS;
        self.parts[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
