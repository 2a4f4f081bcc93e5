//! Passwords of people: argon2id with a random salt.

use std::sync::LazyLock;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use domain::{Secret, limits};
use store::Rt;

/// The password is too short or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a password has 12 to 256 characters")]
pub struct Unfit;

/// Hashes a password. Takes some ten milliseconds by design; call it outside transactions.
pub fn hash(rt: &Rt, password: &Secret<String>) -> Result<Secret<String>, Unfit> {
    let length = password.expose().chars().count();
    if !(limits::PASSWORD_CHARS_MIN..=limits::PASSWORD_CHARS_MAX).contains(&length) {
        return Err(Unfit);
    }
    let salt = rt.random::<16>();
    let hash = Argon2::default()
        .hash_password_with_salt(password.expose().as_bytes(), &salt)
        .expect("the parameters are argon2's own defaults");
    Ok(Secret::new(hash.to_string()))
}

/// Whether this is the password that was hashed.
pub fn fits(password: &Secret<String>, hash: &Secret<String>) -> bool {
    PasswordHash::new(hash.expose()).is_ok_and(|hash| {
        Argon2::default().verify_password(password.expose().as_bytes(), &hash).is_ok()
    })
}

/// A hash that no password fits, for people who are not there: asking about them takes as long.
pub(crate) fn nobodys() -> Secret<String> {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        Argon2::default()
            .hash_password_with_salt(b"nobody", b"nobody's own salt")
            .expect("the parameters are argon2's own defaults")
            .to_string()
    });
    Secret::new(HASH.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_password_fits() {
        let rt = Rt::real();
        let password = Secret::new("correct horse battery".to_owned());
        let hash = hash(&rt, &password).expect("long enough");
        assert!(hash.expose().starts_with("$argon2id$"));
        assert!(fits(&password, &hash));
        assert!(!fits(&Secret::new("correct horse batterz".to_owned()), &hash));
        assert!(!fits(&password, &Secret::new("nonsense".to_owned())));
    }

    #[test]
    fn short_and_endless_passwords_are_refused() {
        for text in ["short".to_owned(), "x".repeat(257)] {
            assert_eq!(hash(&Rt::real(), &Secret::new(text)), Err(Unfit));
        }
    }
}
