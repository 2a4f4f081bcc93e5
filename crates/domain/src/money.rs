//! Money: whole minor units (cents) with a currency. Checked arithmetic only, no floats anywhere.

use std::fmt;

/// Why an amount could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not three capital letters.
    #[error("not a currency code")]
    NotACurrency,
    /// Two currencies met in one sum.
    #[error("amounts of two currencies cannot be added")]
    TwoCurrencies,
    /// The result does not fit.
    #[error("amount out of range")]
    OutOfRange,
    /// The text is not a decimal number with at most the currency's decimals.
    #[error("not an amount in this currency")]
    NotAnAmount,
}

/// An ISO 4217 code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// ISO 4217's code for "no currency".
    pub const NONE: Self = Self(*b"XXX");

    /// Reads a code such as `USD`. Case matters: codes are capitals.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match text.as_bytes() {
            [a, b, c] if [a, b, c].iter().all(|l| l.is_ascii_uppercase()) => Ok(Self([*a, *b, *c])),
            _ => Err(Error::NotACurrency),
        }
    }

    /// The three letters.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a currency code is ASCII")
    }

    /// How many decimals the minor unit has: 2 but for the few currencies listed here.
    pub fn decimals(self) -> u32 {
        match self.code() {
            "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF"
            | "UGX" | "UYI" | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
            "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
            _ => 2,
        }
    }

    fn minor_per_major(self) -> i64 {
        10_i64.pow(self.decimals())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// An amount of one currency in its smallest unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

impl Money {
    /// So many minor units.
    pub fn minor(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// Reads an amount in major units, such as `12.5`; more decimals than the currency has are
    /// refused, never rounded.
    pub fn parse_major(text: &str, currency: Currency) -> Result<Self, Error> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let dotted = digits.contains('.');
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let decimals = currency.decimals() as usize;
        let malformed = whole.is_empty()
            || (dotted && fraction.is_empty())
            || fraction.len() > decimals
            || !all_digits(whole)
            || !all_digits(fraction);
        if malformed {
            return Err(Error::NotAnAmount);
        }
        let padded = format!("{whole}{fraction:0<decimals$}");
        let minor: i64 = padded.parse().map_err(|_| Error::OutOfRange)?;
        Ok(Self { minor: if negative { -minor } else { minor }, currency })
    }

    /// The amount in minor units.
    pub fn in_minor(self) -> i64 {
        self.minor
    }

    /// Its currency.
    pub fn currency(self) -> Currency {
        self.currency
    }

    /// The sum, if both are of one currency and it fits.
    pub fn plus(self, other: Self) -> Result<Self, Error> {
        self.with(other, i64::checked_add)
    }

    /// The difference, if both are of one currency and it fits.
    pub fn minus(self, other: Self) -> Result<Self, Error> {
        self.with(other, i64::checked_sub)
    }

    /// The amount so many times over.
    pub fn times(self, count: i64) -> Result<Self, Error> {
        let minor = self.minor.checked_mul(count).ok_or(Error::OutOfRange)?;
        Ok(Self { minor, ..self })
    }

    /// The one division there is. Rounds half away from zero, as invoices do.
    pub fn divided_rounding_half_up(self, by: i64) -> Result<Self, Error> {
        if by <= 0 {
            return Err(Error::OutOfRange);
        }
        let (amount, by) = (i128::from(self.minor), i128::from(by));
        let half = if amount < 0 { -by } else { by };
        let minor = i64::try_from((amount * 2 + half) / (by * 2)).map_err(|_| Error::OutOfRange)?;
        Ok(Self { minor, ..self })
    }

    /// The amount in major units as decimal text, whole amounts without a point: `12.5`, `7`.
    pub fn in_major(self) -> String {
        let per = self.currency.minor_per_major().unsigned_abs();
        let sign = if self.minor < 0 { "-" } else { "" };
        let (whole, rest) = (self.minor.unsigned_abs() / per, self.minor.unsigned_abs() % per);
        if rest == 0 {
            return format!("{sign}{whole}");
        }
        let width = self.currency.decimals() as usize;
        let fraction = format!("{rest:0width$}");
        format!("{sign}{whole}.{}", fraction.trim_end_matches('0'))
    }

    fn with(self, other: Self, op: fn(i64, i64) -> Option<i64>) -> Result<Self, Error> {
        if self.currency != other.currency {
            return Err(Error::TwoCurrencies);
        }
        let minor = op(self.minor, other.minor).ok_or(Error::OutOfRange)?;
        Ok(Self { minor, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::parse(code).expect("a code")
    }

    fn usd(minor: i64) -> Money {
        Money::minor(minor, currency("USD"))
    }

    #[test]
    fn sums_are_checked() {
        assert_eq!(usd(150).plus(usd(-50)), Ok(usd(100)));
        assert_eq!(usd(150).minus(usd(50)), Ok(usd(100)));
        assert_eq!(usd(i64::MAX).plus(usd(1)), Err(Error::OutOfRange));
        assert_eq!(usd(i64::MAX).times(2), Err(Error::OutOfRange));
        assert_eq!(usd(1).plus(Money::minor(1, currency("EUR"))), Err(Error::TwoCurrencies));
    }

    #[test]
    fn major_units_are_written_and_read_without_loss() {
        for (code, minor, text) in [
            ("USD", 0, "0"),
            ("USD", 700, "7"),
            ("USD", 999, "9.99"),
            ("USD", 1250, "12.5"),
            ("USD", -5, "-0.05"),
            ("JPY", 1250, "1250"),
            ("KWD", 1005, "1.005"),
            ("USD", i64::MAX, "92233720368547758.07"),
        ] {
            let money = Money::minor(minor, currency(code));
            assert_eq!(money.in_major(), text);
            assert_eq!(Money::parse_major(text, currency(code)), Ok(money));
        }
        assert_eq!(usd(i64::MIN).in_major(), "-92233720368547758.08");
    }

    #[test]
    fn what_would_need_rounding_is_refused() {
        for text in ["", ".", "1.", ".5", "1.001", "1e3", " 5", "+5", "0x1", "1,5", "--1", "é"] {
            assert_eq!(
                Money::parse_major(text, currency("USD")),
                Err(Error::NotAnAmount),
                "{text}"
            );
        }
        let huge = Money::parse_major("99999999999999999999", currency("USD"));
        assert_eq!(huge, Err(Error::OutOfRange));
        assert_eq!(Money::parse_major("1.5", currency("JPY")), Err(Error::NotAnAmount));
    }

    #[test]
    fn division_rounds_half_away_from_zero() {
        for (minor, by, expected) in [(5, 2, 3), (4, 3, 1), (-5, 2, -3), (-4, 3, -1), (0, 7, 0)] {
            assert_eq!(usd(minor).divided_rounding_half_up(by), Ok(usd(expected)));
        }
        assert_eq!(usd(1).divided_rounding_half_up(0), Err(Error::OutOfRange));
    }

    #[test]
    fn codes_are_three_capitals() {
        for text in ["", "usd", "US", "USDD", "U$D", "ÄÖ"] {
            assert_eq!(Currency::parse(text), Err(Error::NotACurrency), "{text}");
        }
    }
}
