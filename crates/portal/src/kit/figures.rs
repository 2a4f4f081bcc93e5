//! Figures as people read them: thousands apart, the unit small beside the number, times told from
//! now with the exact moment behind them.

use domain::{Money, Timestamp};
use maud::{Markup, html};

use super::{Mood, icon};
use crate::print;

/// An amount: `1,250.00 USD`.
pub fn money(money: Money) -> Markup {
    unit(&print::amount(money), money.currency().code())
}

/// A number of bytes, base 10: `3.2 GB`.
pub fn bytes(bytes: i64) -> Markup {
    let (number, name) = bytes_in_words(bytes);
    unit(&number, name)
}

/// A number of things: `12,000`.
pub fn count(count: i64) -> Markup {
    html! { span.figure { (print::count(count)) } }
}

/// A part of a whole: `42 %`; a dash of nothing.
pub fn percent(part: i64, whole: i64) -> Markup {
    if whole <= 0 {
        return html! { span.figure { "–" } };
    }
    unit(&percent_text(part, whole), "%")
}

/// A length of time: `230 ms`, `4 min`, `12 days`.
pub fn duration(ms: i64) -> Markup {
    let (number, name) = duration_in_words(ms);
    unit(&number, name)
}

/// A moment told from now: `3 min ago`, `in 2 days`; a date when it is far away.
pub fn time(at: Timestamp, now: Timestamp) -> Markup {
    html! { time datetime=(at) title=(exact_text(at)) { (relative(at, now)) } }
}

/// A moment to the second, in UTC.
pub fn exact(at: Timestamp) -> Markup {
    html! { time datetime=(at) { (exact_text(at)) } }
}

/// The day of a moment: `4 May 2026`.
pub fn date(at: Timestamp) -> Markup {
    html! { time datetime=(at) title=(exact_text(at)) { (print::day(at)) } }
}

/// An ICCID, grouped by four, to be read aloud; for places that are links already.
pub fn iccid(iccid: &str) -> Markup {
    // Spaces are drawn, not written: whoever selects the number copies it without them.
    let digits: Vec<char> = iccid.chars().collect();
    html! {
        code.iccid { @for four in digits.chunks(4) { span { (four.iter().collect::<String>()) } } }
    }
}

/// An ICCID with a button that copies it.
pub fn iccid_copy(text: &str) -> Markup {
    html! { span.copyable { (iccid(text)) (copy_button(text, "ICCID")) } }
}

/// Something to be copied as it is: a key, an address, a line for the terminal.
pub fn copyable(text: &str, what: &str) -> Markup {
    html! { span.copyable { code { (text) } (copy_button(text, what)) } }
}

/// The button alone. Seen only where the browser lets a page copy.
pub fn copy_button(text: &str, what: &str) -> Markup {
    html! {
        button.copy type="button" data-copy=(text) aria-label={ "Copy " (what) }
            title={ "Copy " (what) } { (icon::copy()) }
    }
}

/// How something stands: a word, a shape and a colour.
pub fn badge(mood: Mood, word: &str) -> Markup {
    html! { span.badge.(mood.class()) { (mood.shape()) (word) } }
}

/// The same for a sentence, which may break.
pub fn note(mood: Mood, says: &str) -> Markup {
    html! { span.note { span.(mood.class()) { (mood.shape()) } span { (says) } } }
}

/// What is not there.
pub fn none() -> Markup {
    html! { span.none { "–" } }
}

fn unit(number: &str, unit: &str) -> Markup {
    html! { span.figure { (number) small { "\u{a0}" (unit) } } }
}

pub(crate) fn bytes_in_words(bytes: i64) -> (String, &'static str) {
    scaled(bytes, &[("PB", 5), ("TB", 4), ("GB", 3), ("MB", 2), ("kB", 1)], "B")
}

/// A number of things where room is short: `9,000`, `40 k`, `1.2 M`.
pub(super) fn compact(count: i64) -> String {
    if count.unsigned_abs() < 10_000 {
        return print::count(count);
    }
    let (number, unit) = scaled(count, &[("T", 4), ("B", 3), ("M", 2), ("k", 1)], "");
    format!("{number}\u{a0}{unit}")
}

/// In the largest unit that fits, each by its power of a thousand. Three digits that matter and no
/// more: `999`, `12.5`, `1.25`; cut, not rounded, so that nobody is shown more than there is.
fn scaled(
    value: i64,
    units: &[(&'static str, u32)],
    smallest: &'static str,
) -> (String, &'static str) {
    let sign = if value < 0 { "-" } else { "" };
    let size = value.unsigned_abs();
    let mut units = units.iter().map(|(name, power)| (*name, 1_000_u64.pow(*power)));
    let Some((name, per)) = units.find(|(_, per)| size >= *per) else {
        return (format!("{sign}{size}"), smallest);
    };
    let (whole, hundredths) = (size / per, size % per / (per / 100));
    let number = match whole {
        0..10 => decimals(whole, hundredths, 2),
        10..100 => decimals(whole, hundredths / 10, 1),
        _ => print::count(i64::try_from(whole).unwrap_or(i64::MAX)),
    };
    (format!("{sign}{number}"), name)
}

fn decimals(whole: u64, fraction: u64, width: usize) -> String {
    let text = format!("{whole}.{fraction:0width$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(super) fn duration_in_words(ms: i64) -> (String, &'static str) {
    let (per, name) = match ms.unsigned_abs() {
        0..1_000 => (1, "ms"),
        1_000..10_000 => {
            return (decimals(ms.unsigned_abs() / 1_000, tenths_of_second(ms), 1), "s");
        }
        10_000..60_000 => (1_000, "s"),
        60_000..3_600_000 => (MINUTE_MS, "min"),
        3_600_000..172_800_000 => (HOUR_MS, "h"),
        _ => (DAY_MS, "days"),
    };
    (print::count(ms / per), name)
}

fn tenths_of_second(ms: i64) -> u64 {
    ms.unsigned_abs() % 1_000 / 100
}

pub(super) fn percent_text(part: i64, whole: i64) -> String {
    let tenths = i128::from(part) * 1_000 / i128::from(whole.max(1));
    match tenths {
        // Something is not nothing, and almost all is not all.
        0 if part > 0 => "<0.1".to_owned(),
        1..100 if tenths % 10 != 0 => format!("{}.{}", tenths / 10, tenths % 10),
        _ => print::count(i64::try_from(tenths / 10).unwrap_or(i64::MAX)),
    }
}

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;

pub(crate) fn relative(at: Timestamp, now: Timestamp) -> String {
    let away = at.ms().saturating_sub(now.ms());
    let size = away.saturating_abs();
    if size < 5_000 {
        return "just now".to_owned();
    }
    if size >= 30 * DAY_MS {
        return print::day(at);
    }
    let (per, name) = match size {
        ..MINUTE_MS => (1_000, "s"),
        MINUTE_MS..HOUR_MS => (MINUTE_MS, "min"),
        HOUR_MS..DAY_MS => (HOUR_MS, "h"),
        _ => (DAY_MS, "day"),
    };
    let number = size / per;
    let plural = if per == DAY_MS && number != 1 { "s" } else { "" };
    if away < 0 {
        return format!("{number}\u{a0}{name}{plural} ago");
    }
    format!("in {number}\u{a0}{name}{plural}")
}

/// `2026-05-04 08:10:41 UTC`.
pub(super) fn exact_text(at: Timestamp) -> String {
    let text = at.to_string();
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    format!("{date} {} UTC", time.get(..8).unwrap_or(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_three_digits_that_matter() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1 kB"),
            (1_250_000_000, "1.25 GB"),
            (12_590_000_000, "12.5 GB"),
            (999_999_999, "999 MB"),
            (-5_000_000, "-5 MB"),
            (i64::MAX, "9,223 PB"),
        ] {
            let (number, unit) = bytes_in_words(bytes);
            assert_eq!(format!("{number} {unit}"), text);
        }
    }

    #[test]
    fn times_are_told_from_now() {
        let now = Timestamp::from_ms(1_777_882_241_300);
        for (away, text) in [
            (0, "just now"),
            (-42_000, "42\u{a0}s ago"),
            (-3 * MINUTE_MS, "3\u{a0}min ago"),
            (5 * HOUR_MS, "in 5\u{a0}h"),
            (DAY_MS, "in 1\u{a0}day"),
            (2 * DAY_MS, "in 2\u{a0}days"),
            (-40 * DAY_MS, "25 March 2026"),
        ] {
            assert_eq!(relative(now.plus_ms(away), now), text);
        }
        assert_eq!(exact_text(now), "2026-05-04 08:10:41 UTC");
    }

    #[test]
    fn parts_and_lengths_stay_short() {
        assert_eq!(percent_text(1, 100_000), "<0.1");
        assert_eq!(percent_text(5, 1_000), "0.5");
        assert_eq!(percent_text(999, 1_000), "99");
        assert_eq!(percent_text(i64::MAX, i64::MAX), "100");
        assert_eq!(duration_in_words(1_500), ("1.5".to_owned(), "s"));
        assert_eq!(duration_in_words(12 * DAY_MS), ("12".to_owned(), "days"));
    }
}
