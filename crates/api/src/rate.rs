//! The rate limit: a bucket of requests per key that refills all the time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::{KeyId, Timestamp, limits};
use http::{HeaderMap, HeaderValue};

/// Where a key stands after a request was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) allowed: bool,
    limit: u32,
    cost: u32,
    remaining: u32,
    full_in_ms: i64,
}

impl Standing {
    /// The headers that tell a caller where it stands.
    pub(crate) fn write(self, headers: &mut HeaderMap, now: Timestamp) {
        let reset = now.plus_ms(self.full_in_ms).to_string();
        let pairs = [
            ("x-ratelimit-limit", self.limit.to_string()),
            ("x-ratelimit-remaining", self.remaining.to_string()),
            ("x-ratelimit-reset", reset),
            ("x-ratelimit-cost", self.cost.to_string()),
        ];
        for (name, value) in pairs {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
    }
}

/// The buckets of one node.
#[derive(Default)]
pub(crate) struct Limiter(Mutex<HashMap<KeyId, Bucket>>);

/// Thousandths of a request, so that whole numbers do.
struct Bucket {
    milli: u64,
    at: Duration,
}

impl Limiter {
    /// Counts a request of that key at its cost, at the time `now` of a clock that never goes back.
    pub(crate) fn count(
        &self,
        key: KeyId,
        (per_second, cost): (u32, u32),
        now: Duration,
    ) -> Standing {
        let burst = u64::from(per_second) * u64::from(limits::RATE_BURST_SECONDS) * 1_000;
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= limits::RATE_KEYS_MAX && !buckets.contains_key(&key) {
            buckets.clear();
        }
        let bucket = buckets.entry(key).or_insert(Bucket { milli: burst, at: now });
        // The limit may have been lowered since.
        bucket.milli = bucket.milli.min(burst);
        let passed_ms = u64::try_from(now.saturating_sub(bucket.at).as_millis()).unwrap_or(0);
        if passed_ms > 0 {
            bucket.milli = burst.min(bucket.milli + passed_ms * u64::from(per_second));
            bucket.at = now;
        }
        // A limit below the cost would never allow it: what fills the bucket is always enough.
        let price = (u64::from(cost) * 1_000).min(burst);
        let allowed = bucket.milli >= price;
        if allowed {
            bucket.milli -= price;
        }
        Standing {
            allowed,
            limit: per_second,
            cost,
            remaining: u32::try_from(bucket.milli / 1_000).unwrap_or(u32::MAX),
            full_in_ms: i64::try_from(burst.saturating_sub(bucket.milli) / u64::from(per_second))
                .unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> KeyId {
        KeyId::new(Timestamp::from_ms(0), [n; 10])
    }

    #[test]
    fn a_burst_is_allowed_then_the_rate_holds() {
        let limiter = Limiter::default();
        let at = Duration::from_millis;
        for n in (0..20).rev() {
            let standing = limiter.count(key(1), (10, 1), at(0));
            assert!(standing.allowed);
            assert_eq!(standing.remaining, n);
        }
        assert!(!limiter.count(key(1), (10, 1), at(0)).allowed);
        assert!(!limiter.count(key(1), (10, 1), at(99)).allowed);
        assert!(limiter.count(key(1), (10, 1), at(100)).allowed);
        assert!(!limiter.count(key(1), (10, 1), at(101)).allowed);
        assert!(limiter.count(key(2), (10, 1), at(101)).allowed, "another key has its own bucket");
        let rested = limiter.count(key(1), (10, 1), at(60_000));
        assert_eq!(rested.remaining, 19, "a rest fills the bucket and no more");
    }

    #[test]
    fn a_dear_operation_counts_as_several() {
        let limiter = Limiter::default();
        let count = |cost| limiter.count(key(1), (3, cost), Duration::ZERO);
        assert_eq!((count(5).allowed, count(5).allowed, count(1).allowed), (true, false, true));
        let small = |n| limiter.count(key(n), (1, 5), Duration::ZERO);
        assert!(small(2).allowed, "a full bucket is always enough");
        assert!(!small(2).allowed);
    }
}
