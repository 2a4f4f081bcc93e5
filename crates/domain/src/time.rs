//! Moments in time, in whole milliseconds of UTC. A rule takes `now`; nothing here reads a clock.

use std::fmt;
use std::time::Duration;

use time::format_description::well_known::Rfc3339;
use time::{Date, Month, OffsetDateTime};

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

    /// This moment so much later.
    #[must_use]
    pub fn plus(self, time: Duration) -> Self {
        self.plus_ms(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    /// This moment so much earlier.
    #[must_use]
    pub fn minus(self, time: Duration) -> Self {
        self.plus_ms(-i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    /// This moment so many days of 24 hours later.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Self {
        self.plus_ms(days.saturating_mul(DAY_MS))
    }

    /// Its day in UTC, counted from 1970.
    pub fn day(self) -> i64 {
        self.0.div_euclid(DAY_MS)
    }

    /// Its hour in UTC, counted from 1970.
    pub fn hour(self) -> i64 {
        self.0.div_euclid(HOUR_MS)
    }

    /// The first moment of an hour that is counted so.
    pub fn of_hour(hour: i64) -> Self {
        Self(hour.saturating_mul(HOUR_MS))
    }

    /// The first moment of its day in UTC.
    #[must_use]
    pub fn start_of_day(self) -> Self {
        Self::from_ms(self.day() * DAY_MS)
    }

    /// The first moment of the next day in UTC.
    #[must_use]
    pub fn next_day(self) -> Self {
        self.start_of_day().plus_days(1)
    }

    /// This moment so many calendar months later; where the month is shorter, its last day.
    #[must_use]
    pub fn plus_months(self, months: i64) -> Self {
        let Ok(moment) = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
        else {
            return self;
        };
        let counted = i64::from(moment.year()) * 12 + i64::from(u8::from(moment.month())) - 1;
        let later = counted.saturating_add(months);
        let year = i32::try_from(later.div_euclid(12)).unwrap_or(i32::MAX);
        let month =
            u8::try_from(later.rem_euclid(12) + 1).ok().and_then(|m| Month::try_from(m).ok());
        let date = month.and_then(|month| {
            let day = moment.day().min(month.length(year));
            Date::from_calendar_date(year, month, day).ok()
        });
        // Beyond the year 9999 it is the last moment there is.
        date.map_or(Self(LAST_MS), |date| {
            let ms = moment.replace_date(date).unix_timestamp_nanos().div_euclid(1_000_000);
            Self::from_ms(i64::try_from(ms).unwrap_or(LAST_MS))
        })
    }

    /// Reads RFC 3339 with any offset; finer than a millisecond is cut.
    pub fn parse(text: &str) -> Result<Self, NotATime> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| NotATime)?;
        let ms = i64::try_from(moment.unix_timestamp_nanos().div_euclid(1_000_000))
            .map_err(|_| NotATime)?;
        if (FIRST_MS..=LAST_MS).contains(&ms) { Ok(Self(ms)) } else { Err(NotATime) }
    }
}

const HOUR_MS: i64 = 3_600 * 1_000;
const DAY_MS: i64 = 24 * 3_600 * 1_000;

/// RFC 3339 in UTC with `Z`; a fraction only where there is one, without trailing zeros. By hand,
/// since every answer and every line of the log has one.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0.div_euclid(DAY_MS));
        let ms = self.0.rem_euclid(DAY_MS);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let parts = [
            (0, 4, year),
            (5, 2, month),
            (8, 2, day),
            (11, 2, ms / 3_600_000),
            (14, 2, ms / 60_000 % 60),
            (17, 2, ms / 1_000 % 60),
            (20, 3, ms % 1_000),
        ];
        for (start, width, mut value) in parts {
            for digit in text[start..start + width].iter_mut().rev() {
                *digit = b'0' + u8::try_from(value % 10).unwrap_or(0);
                value /= 10;
            }
        }
        let zeros = text[20..23].iter().rev().take_while(|digit| **digit == b'0').count();
        // Without a fraction the point goes too.
        let end = if zeros == 3 { 19 } else { 23 - zeros };
        text[end] = b'Z';
        f.write_str(std::str::from_utf8(&text[..=end]).map_err(|_| fmt::Error)?)
    }
}

/// Year, month and day of a day counted from 1970, in the Gregorian calendar. Years are counted
/// from March, so that the leap day is the last of its year.
fn date(days: i64) -> (i64, i64, i64) {
    const ERA_DAYS: i64 = 146_097;
    let days = days + 719_468;
    let era = days.div_euclid(ERA_DAYS);
    let day_of_era = days.rem_euclid(ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
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

    #[test]
    fn every_day_is_written_as_the_calendar_has_it() {
        let library = |ms: i64| {
            OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000)
                .expect("in range")
                .format(&Rfc3339)
                .expect("written")
        };
        let mut ms = FIRST_MS;
        while ms < LAST_MS {
            assert_eq!(Timestamp::from_ms(ms).to_string(), library(ms));
            // A bit more than 13 days, so that every hour and many fractions come by.
            ms += 1_163_187_331;
        }
        assert_eq!(Timestamp::from_ms(LAST_MS).to_string(), library(LAST_MS));
    }
}
