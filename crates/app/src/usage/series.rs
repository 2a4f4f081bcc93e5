//! Data used over time: read from running sums, never from records.

use std::collections::BTreeMap;

use domain::{Iccid, Timestamp, limits};
use store::{StoreError, esims, heads};

use crate::{App, Caller};

/// How long an entry of a series is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// An hour.
    Hour,
    /// A day, UTC.
    Day,
}

impl Step {
    fn hours(self) -> i64 {
        match self {
            Self::Hour => 1,
            Self::Day => 24,
        }
    }
}

/// Of when data is wanted; what is not said is the last thirty days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// From then on.
    pub from: Option<Timestamp>,
    /// Until before then.
    pub to: Option<Timestamp>,
    /// By the hour or by the day.
    pub step: Step,
}

/// Data used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// When a step begins, and how much was used in it; steps without use are left out.
    pub steps: Vec<(Timestamp, i64)>,
    /// Countries and how much was used there, the most first.
    pub countries: Vec<(String, i64)>,
}

/// Why there is no series.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unknown, or somebody else's.
    #[error("access denied")]
    NotYourEsim,
    /// The span is none, or too long.
    #[error("from must be before to, at most 400 days by the hour and 4000 by the day")]
    Span,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Data used by one of the caller's eSIMs, or by all of them.
    pub async fn usage_series(
        &self,
        caller: &Caller,
        iccid: Option<Iccid>,
        span: Span,
    ) -> Result<Series, Error> {
        let (org, now) = (caller.org(), self.now());
        self.store()
            .read(move |tx| {
                if let Some(iccid) = &iccid
                    && esims::find(tx, org, iccid)?.is_none()
                {
                    return Err(Error::NotYourEsim);
                }
                let clock = heads::find(tx, org)?.map_or(now, |head| head.clock(now));
                let hours = hours(span, clock)?;
                let sums = store::usage::span(tx, (org, iccid.as_ref()), hours)?;
                let (mut steps, mut countries) = (BTreeMap::new(), BTreeMap::new());
                for sum in sums {
                    let first = sum.hour.div_euclid(span.step.hours()) * span.step.hours();
                    *steps.entry(first).or_default() += sum.bytes;
                    if !sum.country.is_empty() {
                        *countries.entry(sum.country).or_default() += sum.bytes;
                    }
                }
                let steps = steps
                    .into_iter()
                    .map(|(hour, bytes)| (Timestamp::of_hour(hour), bytes))
                    .collect();
                let mut countries: Vec<(String, i64)> = countries.into_iter().collect();
                countries.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
                Ok(Series { steps, countries })
            })
            .await
    }
}

/// Whole hours: the one in which the span begins, and the one after the one in which it ends.
fn hours(span: Span, clock: Timestamp) -> Result<(i64, i64), Error> {
    let to = span.to.unwrap_or_else(|| clock.plus_ms(1));
    let from = span.from.unwrap_or_else(|| to.plus_days(-30));
    let last = to.plus_ms(-1).hour() + 1;
    let steps = (last - from.hour()) / span.step.hours();
    let most = match span.step {
        Step::Hour => limits::USAGE_HOURS_MAX,
        Step::Day => limits::USAGE_DAYS_MAX,
    };
    if from >= to || steps > most { Err(Error::Span) } else { Ok((from.hour(), last)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("a time")
    }

    #[test]
    fn spans_are_whole_hours() {
        let span = |from: Option<&str>, to: Option<&str>, step| Span {
            from: from.map(at),
            to: to.map(at),
            step,
        };
        let clock = at("2026-05-04T08:15:00Z");
        let hour = |text| at(text).hour();
        let usual = hours(span(None, None, Step::Day), clock).expect("a span");
        assert_eq!(usual, (hour("2026-04-04T08:00:00Z"), hour("2026-05-04T09:00:00Z")));
        let exact = span(Some("2026-05-01T00:00:00Z"), Some("2026-05-02T00:00:00Z"), Step::Hour);
        let exact = hours(exact, clock).expect("a span");
        assert_eq!(exact, (hour("2026-05-01T00:00:00Z"), hour("2026-05-02T00:00:00Z")));
        for (from, to, step) in [
            ("2026-05-02T00:00:00Z", "2026-05-01T00:00:00Z", Step::Day),
            ("2026-05-02T00:00:00Z", "2026-05-02T00:00:00Z", Step::Day),
            ("2020-05-02T00:00:00Z", "2026-05-01T00:00:00Z", Step::Hour),
            ("1990-05-02T00:00:00Z", "2026-05-01T00:00:00Z", Step::Day),
        ] {
            assert!(hours(span(Some(from), Some(to), step), clock).is_err(), "{from} {to}");
        }
    }
}
