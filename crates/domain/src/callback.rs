//! The life of a callback: when it is tried again, and when it is over.

use std::time::Duration;

use crate::limits;

/// How long after each failed attempt the next one comes, from the contract.
const DELAYS: [Duration; 7] = [
    Duration::from_secs(5),
    Duration::from_mins(5),
    Duration::from_mins(30),
    Duration::from_hours(2),
    Duration::from_hours(5),
    Duration::from_hours(10),
    Duration::from_hours(10),
];

/// What became of an attempt, as far as the next one goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The receiver has it.
    Delivered,
    /// Try again after that time.
    After(Duration),
    /// Tried often enough.
    Dead,
    /// The receiver wants nothing any more.
    Gone,
}

/// What follows an attempt, the `tries`th of its round. `wait` is what the receiver asked for, and
/// `jitter` says how much of a tenth the delay is cut by, from 0 to 255, so that receivers that
/// come back are not met by everything at once. Never longer: a promise of five seconds is kept.
pub fn after(tries: i64, status: Option<u16>, wait: Option<Duration>, jitter: u8) -> Next {
    match status {
        Some(200..300) => return Next::Delivered,
        Some(410) => return Next::Gone,
        _ => {}
    }
    let place = usize::try_from(tries - 1).unwrap_or(0);
    let Some(delay) = DELAYS.get(place) else { return Next::Dead };
    let delay = delay.saturating_sub(*delay / 10 * u32::from(jitter) / 255);
    let asked = wait.unwrap_or_default().min(limits::CALLBACK_WAIT_MAX);
    Next::After(delay.max(asked))
}

/// How far a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not delivered yet.
    Waiting,
    /// The receiver has it.
    Delivered,
    /// Given up; it can be sent again.
    Dead,
}

impl State {
    const ALL: [Self; 3] = [Self::Waiting, Self::Delivered, Self::Dead];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }

    /// The state of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_eight_attempts_each_a_little_early_at_most() {
        let mut waited = Vec::new();
        for tries in 1..=8 {
            let (late, early) = (after(tries, Some(500), None, 0), after(tries, None, None, 255));
            match (late, early) {
                (Next::After(late), Next::After(early)) => {
                    assert_eq!(early + late / 10, late);
                    waited.push(late.as_secs());
                }
                both => assert_eq!((tries, both), (8, (Next::Dead, Next::Dead))),
            }
        }
        assert_eq!(waited, [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]);
    }

    #[test]
    fn any_2xx_is_success_and_nothing_else_is() {
        for status in [200, 201, 204, 299] {
            assert_eq!(after(1, Some(status), None, 0), Next::Delivered, "{status}");
        }
        for status in [100, 199, 300, 301, 307, 400, 404, 429, 500, 503, 999] {
            assert!(matches!(after(1, Some(status), None, 0), Next::After(_)), "{status}");
        }
        assert_eq!(after(1, Some(410), None, 0), Next::Gone);
    }

    #[test]
    fn a_receiver_that_asks_for_time_gets_it_up_to_a_bound() {
        let asked = |seconds| after(1, Some(429), Some(Duration::from_secs(seconds)), 0);
        assert_eq!(asked(2), Next::After(Duration::from_secs(5)));
        assert_eq!(asked(90), Next::After(Duration::from_secs(90)));
        assert_eq!(asked(10_000_000), Next::After(limits::CALLBACK_WAIT_MAX));
    }
}
