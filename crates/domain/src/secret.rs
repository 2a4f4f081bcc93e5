//! A value that must not be printed: API keys, passwords, PINs, PUKs, card references.

use std::fmt;

/// Wraps a secret. `Debug` and `Display` show nothing of it; `expose` is easy to grep for.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Takes the value into custody.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself, for the one place that must have it.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_nothing() {
        let secret = Secret::new("hunter2".to_owned());
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(secret.expose(), "hunter2");
    }
}
