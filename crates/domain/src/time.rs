//! Moments in time, in whole milliseconds of UTC. A rule takes `now`; nothing here reads a clock.

use std::fmt;

use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

/// A moment, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The text is not an RFC 3339 date-time between the years 1 and 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 date-time")]
pub struct NotATime;

/// 9999-12-31T23:59:59.999Z, the last moment RFC 3339 can write.
const LAST_MS: i64 = 253_402_300_799_999;
/// 0001-01-01T00:00:00Z.
const FIRST_MS: i64 = -62_135_596_800_000;

impl Timestamp {
    /// A moment from milliseconds; moments that cannot be written are pulled to the nearest one
    /// that can.
    pub fn from_ms(ms: i64) -> Self {
        Self(ms.clamp(FIRST_MS, LAST_MS))
    }

    /// Milliseconds since the epoch.
    pub fn ms(self) -> i64 {
        self.0
    }

    /// This moment moved by some milliseconds.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self::from_ms(self.0.saturating_add(ms))
    }

    /// Reads RFC 3339 with any offset; finer than a millisecond is cut.
    pub fn parse(text: &str) -> Result<Self, NotATime> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| NotATime)?;
        let ms = i64::try_from(moment.unix_timestamp_nanos().div_euclid(1_000_000))
            .map_err(|_| NotATime)?;
        if (FIRST_MS..=LAST_MS).contains(&ms) { Ok(Self(ms)) } else { Err(NotATime) }
    }
}

/// RFC 3339 in UTC with `Z`; a fraction only where there is one, without trailing zeros.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .expect("a timestamp lies between the years 1 and 9999")
            .to_offset(UtcOffset::UTC);
        f.write_str(&moment.format(&Rfc3339).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_in_utc_with_as_many_digits_as_needed() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_700_000_000_000, "2023-11-14T22:13:20Z"),
            (1_700_000_000_500, "2023-11-14T22:13:20.5Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (LAST_MS, "9999-12-31T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_ms(ms).to_string(), text);
            assert_eq!(Timestamp::parse(text), Ok(Timestamp(ms)));
        }
    }

    #[test]
    fn offsets_are_instants_and_fine_fractions_are_cut() {
        let base = Timestamp::parse("2024-03-01T09:30:00Z").expect("well formed");
        assert_eq!(Timestamp::parse("2024-03-01T10:30:00+01:00"), Ok(base));
        assert_eq!(Timestamp::parse("2024-03-01T09:30:00.000999999Z"), Ok(base));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "now", "2024-03-01", "2024-03-01T09:30:00", "2024-13-01T00:00:00Z", "1"] {
            assert_eq!(Timestamp::parse(text), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn far_moments_are_pulled_into_range() {
        assert_eq!(Timestamp::from_ms(i64::MAX).ms(), LAST_MS);
        assert_eq!(Timestamp::from_ms(0).plus_ms(i64::MIN).ms(), FIRST_MS);
    }
}
