//! A telephone number in international form.

use std::fmt;

/// An MSISDN: 7 to 15 digits, country code first (E.164).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Msisdn(String);

/// The text is not a number in international form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("msisdn must be 7 to 15 digits in international form")]
pub struct NotAnMsisdn;

impl Msisdn {
    /// Reads a number with or without the leading `+`.
    pub fn parse(text: &str) -> Result<Self, NotAnMsisdn> {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let well_formed = (7..=15).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && !digits.starts_with('0');
        if well_formed { Ok(Self(digits.to_owned())) } else { Err(NotAnMsisdn) }
    }

    /// The digits, without `+`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Msisdn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn international_numbers_only() {
        assert_eq!(Msisdn::parse("+447700900123"), Msisdn::parse("447700900123"));
        for text in ["", "+", "07700900123", "123456", "1234567890123456", "44 7700", "++447700900"]
        {
            assert_eq!(Msisdn::parse(text), Err(NotAnMsisdn), "{text}");
        }
    }
}
