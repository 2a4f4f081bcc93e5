//! The number of a SIM card profile.

use std::fmt;

/// An ICCID: 18 to 20 digits. Always text, since 19 digits overflow what JSON readers take for a
/// number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Iccid(String);

/// The text is not 18 to 20 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("iccid must be 18 to 20 digits")]
pub struct NotAnIccid;

impl Iccid {
    /// Reads an ICCID as integrators send it: the filler `F` some tools print at the end is cut.
    pub fn parse(text: &str) -> Result<Self, NotAnIccid> {
        let digits = text.strip_suffix(['F', 'f']).unwrap_or(text);
        let well_formed =
            (18..=20).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        if well_formed { Ok(Self(digits.to_owned())) } else { Err(NotAnIccid) }
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the last digit is the Luhn check digit of the others. Asked of imported stock, not
    /// of callers: a profile in use is what it is.
    pub fn has_good_check_digit(&self) -> bool {
        let sum: u32 = self
            .0
            .bytes()
            .rev()
            .enumerate()
            .map(|(place, digit)| match (place % 2, u32::from(digit - b'0')) {
                (0, digit) => digit,
                (_, digit) if digit > 4 => digit * 2 - 9,
                (_, digit) => digit * 2,
            })
            .sum();
        sum.is_multiple_of(10)
    }
}

impl fmt::Display for Iccid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eighteen_to_twenty_digits_with_an_optional_filler() {
        let plain = Iccid::parse("8943000000000000018").expect("19 digits");
        assert_eq!(Iccid::parse("8943000000000000018F"), Ok(plain.clone()));
        assert_eq!(plain.to_string(), "8943000000000000018");
        assert!(Iccid::parse("894300000000000001").is_ok());
        assert!(Iccid::parse("89430000000000000180").is_ok());
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "F",
            "89430000000000000",
            "894300000000000001800",
            "89430000000000000FF",
            "894300000000000001 ",
            "89430000000000000١8",
        ] {
            assert_eq!(Iccid::parse(text), Err(NotAnIccid), "{text}");
        }
    }

    #[test]
    fn the_check_digit_is_luhn() {
        let good = |text| Iccid::parse(text).expect("digits").has_good_check_digit();
        assert!(good("8944500102198304826"));
        assert!(!good("8944500102198304827"));
        assert!(!good("8944500102198304286"));
    }
}
