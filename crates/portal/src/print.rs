//! Amounts and moments as a clerk reads them: all decimals of the currency, thousands apart, UTC.
//! Whole numbers go in, text comes out; nothing is rounded.

use domain::{Money, Timestamp};
use maud::{Markup, html};

/// The amount without its currency: `1,250.00`, `1,250` in yen, `1.250` in dinars.
pub(crate) fn amount(money: Money) -> String {
    let decimals = money.currency().decimals() as usize;
    let width = decimals + 1;
    let digits = format!("{:0width$}", money.in_minor().unsigned_abs());
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let sign = if money.in_minor() < 0 { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped(whole))
}

/// A number of things.
pub(crate) fn count(count: i64) -> String {
    let sign = if count < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(&count.unsigned_abs().to_string()))
}

/// So many of a thing: `1 bundle`, `1,200 bundles`.
pub(crate) fn counted(number: i64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// A moment to the minute, and to the millisecond for machines.
pub(crate) fn moment(at: Timestamp) -> Markup {
    let exact = at.to_string();
    html! { time datetime=(exact) { (to_the_minute(&exact)) } }
}

/// The day of a moment: `4 May 2026`.
pub(crate) fn day(at: Timestamp) -> String {
    to_the_day(&at.to_string())
}

/// The day and nothing that can be known from beside it: `4 May`.
pub(crate) fn short_day(at: Timestamp) -> String {
    let exact = at.to_string();
    let (day, month, _) = day_of(&exact);
    format!("{day} {}", month.get(..3).unwrap_or(month))
}

/// `2026-05-04T08:10:41.3Z` as `4 May 2026, 08:10 UTC`.
fn to_the_minute(exact: &str) -> String {
    let (_, time) = exact.split_once('T').unwrap_or((exact, ""));
    format!("{}, {} UTC", to_the_day(exact), time.get(..5).unwrap_or(time))
}

fn to_the_day(exact: &str) -> String {
    let (day, month, year) = day_of(exact);
    format!("{day} {month} {year}")
}

fn day_of(exact: &str) -> (&str, &'static str, &str) {
    let (date, _) = exact.split_once('T').unwrap_or((exact, ""));
    let mut parts = date.splitn(3, '-');
    let mut part = || parts.next().unwrap_or_default();
    let (year, month, day) = (part(), part(), part().trim_start_matches('0'));
    let month = month.parse::<usize>().ok().and_then(|month| MONTHS.get(month.wrapping_sub(1)));
    (day, month.copied().unwrap_or_default(), year)
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use domain::Currency;

    use super::*;

    #[test]
    fn amounts_have_all_decimals_of_their_currency() {
        for (code, minor, text) in [
            ("USD", 0, "0.00"),
            ("USD", 5, "0.05"),
            ("USD", 1250, "12.50"),
            ("USD", 99_999, "999.99"),
            ("USD", 100_000, "1,000.00"),
            ("USD", 123_456_789, "1,234,567.89"),
            ("USD", -5, "-0.05"),
            ("USD", -100_000, "-1,000.00"),
            ("JPY", 0, "0"),
            ("JPY", 240, "240"),
            ("JPY", 1_234_567, "1,234,567"),
            ("KWD", 1, "0.001"),
            ("KWD", 1_250, "1.250"),
            ("KWD", 1_234_567, "1,234.567"),
            ("USD", i64::MAX, "92,233,720,368,547,758.07"),
            ("USD", i64::MIN, "-92,233,720,368,547,758.08"),
        ] {
            let currency = Currency::parse(code).expect("a code");
            assert_eq!(amount(Money::minor(minor, currency)), text);
        }
    }

    #[test]
    fn things_are_counted_in_words() {
        assert_eq!(counted(0, "eSIM"), "0 eSIMs");
        assert_eq!(counted(1, "eSIM"), "1 eSIM");
        assert_eq!(counted(12_000, "bundle"), "12,000 bundles");
        assert_eq!(count(i64::MIN), "-9,223,372,036,854,775,808");
    }

    #[test]
    fn moments_are_in_utc() {
        for (ms, text) in [
            (0, "1 January 1970, 00:00 UTC"),
            (1_777_882_241_300, "4 May 2026, 08:10 UTC"),
            (i64::MAX, "31 December 9999, 23:59 UTC"),
            (i64::MIN, "1 January 0001, 00:00 UTC"),
        ] {
            assert_eq!(to_the_minute(&Timestamp::from_ms(ms).to_string()), text);
        }
        let exact = moment(Timestamp::from_ms(1_777_882_241_300)).into_string();
        assert!(exact.starts_with("<time datetime=\"2026-05-04T08:10:41.3Z\">"), "{exact}");
    }
}
