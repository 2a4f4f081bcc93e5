//! eSIMs that were asked for lately, as they went out: integrators ask for the same ones again and
//! again. An answer holds as long as nothing of its organisation was written.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use app::esims::files::Links;
use bytes::Bytes;
use domain::{Iccid, OrgId, limits};

use crate::versions::Version;

/// Callers wait for each other only where they ask for the same part.
const PARTS: usize = 16;

/// The answers this node keeps.
pub(crate) struct Recent(Vec<Mutex<Part>>);

/// Whose, which, and in which form.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) org: OrgId,
    pub(super) iccid: Iccid,
    pub(super) version: Version,
    pub(super) extras: Links,
}

/// Each answer with the number that stood when it was true.
#[derive(Default)]
struct Part {
    bytes: usize,
    answers: HashMap<Key, (u64, Bytes)>,
}

impl Default for Recent {
    fn default() -> Self {
        Self((0..PARTS).map(|_| Mutex::default()).collect())
    }
}

impl Recent {
    /// What was answered, if the number still stands.
    pub(super) fn get(&self, key: &Key, stamp: u64) -> Option<Bytes> {
        let part = self.part(key);
        part.answers.get(key).filter(|(then, _)| *then == stamp).map(|(_, answer)| answer.clone())
    }

    /// Keeps an answer about what was read when the number stood there.
    pub(super) fn put(&self, key: Key, stamp: u64, answer: Bytes) {
        let mut part = self.part(&key);
        // Forgetting everything is simple, rare, and costs one look each.
        if part.bytes + answer.len() > limits::RECENT_ESIMS_BYTES_MAX / PARTS {
            *part = Part::default();
        }
        part.bytes += answer.len();
        if let Some((_, before)) = part.answers.insert(key, (stamp, answer)) {
            part.bytes -= before.len();
        }
    }

    fn part(&self, key: &Key) -> MutexGuard<'_, Part> {
        let digits = key.iccid.as_str().bytes().map(usize::from).sum::<usize>();
        self.0[digits % PARTS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;

    fn key(n: u64, version: Version) -> Key {
        Key {
            org: OrgId::new(Timestamp::from_ms(1), [1; 10]),
            iccid: Iccid::parse(&format!("{}", 8_943_100_000_000_000_000 + n)).expect("an ICCID"),
            version,
            extras: Links::None,
        }
    }

    #[test]
    fn an_answer_holds_while_its_number_stands() {
        let recent = Recent::default();
        recent.put(key(1, Version::V2_5), 7, Bytes::from_static(b"a"));
        assert_eq!(recent.get(&key(1, Version::V2_5), 7).as_deref(), Some(&b"a"[..]));
        assert_eq!(recent.get(&key(1, Version::V2_5), 8), None);
        assert_eq!(recent.get(&key(1, Version::V2_4), 7), None);
        assert_eq!(recent.get(&key(2, Version::V2_5), 7), None);
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let recent = Recent::default();
        let large = Bytes::from(vec![0; limits::RECENT_ESIMS_BYTES_MAX / PARTS / 2]);
        for n in 0..1_000 {
            recent.put(key(n, Version::V2_5), 1, large.clone());
        }
        for part in &recent.0 {
            let part = part.lock().expect("nobody panicked");
            let sum: usize = part.answers.values().map(|(_, answer)| answer.len()).sum();
            assert_eq!(part.bytes, sum);
            assert!(part.bytes <= limits::RECENT_ESIMS_BYTES_MAX / PARTS);
        }
    }
}
