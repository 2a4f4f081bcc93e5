//! The name of a bundle, such as `esim_1GB_7D_FR_V2`.

use std::fmt;

use crate::limits;

/// A bundle name. Case matters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BundleName(String);

/// The text cannot be a bundle's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a bundle name is 1 to 100 letters, digits, '_', '-', '.' or '+'")]
pub struct NotABundleName;

impl BundleName {
    /// Reads a name. The alphabet needs no quoting in URLs, file names and spreadsheets.
    pub fn parse(text: &str) -> Result<Self, NotABundleName> {
        let fits = (1..=limits::BUNDLE_NAME_CHARS_MAX).contains(&text.len());
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+');
        if fits && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotABundleName)
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BundleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_kept_and_matters() {
        let name = BundleName::parse("esim_1GB_7D_FR_V2").expect("a name");
        assert_eq!(name.as_str(), "esim_1GB_7D_FR_V2");
        assert_ne!(Ok(name), BundleName::parse("ESIM_1gb_7d_fr_v2"));
    }

    #[test]
    fn odd_names_are_refused() {
        let long = "a".repeat(101);
        for text in ["", " ", "a b", "a/b", "=1+1\n", "naïve", long.as_str()] {
            assert_eq!(BundleName::parse(text), Err(NotABundleName), "{text}");
        }
    }
}
