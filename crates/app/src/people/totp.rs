//! Codes of six figures that change every half-minute (RFC 6238), as authenticator apps make them.

use domain::Timestamp;
use ring::hmac;

/// A secret of 160 bits, as the RFC recommends.
pub(super) const SECRET_BYTES: usize = 20;
const STEP_MS: i64 = 30_000;
/// Half-minutes by which a phone's clock may be off, in both directions.
const DRIFT: i64 = 1;

/// The half-minute whose code this is, near `now`; none if it is none of them.
pub(super) fn step_of(secret: &[u8], code: &str, now: Timestamp) -> Option<i64> {
    let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let at = now.ms() / STEP_MS;
    (at - DRIFT..=at + DRIFT).find(|step| code_at(secret, *step) == code)
}

/// The code of a half-minute.
pub(super) fn code_at(secret: &[u8], step: i64) -> String {
    // The algorithm is the apps' choice, and sound for this use.
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let bytes = tag.as_ref();
    let at = usize::from(bytes[bytes.len() - 1] & 0x0f);
    let word = u32::from_be_bytes([bytes[at] & 0x7f, bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    format!("{:06}", word % 1_000_000)
}

/// A secret as apps scan it.
pub(super) fn link(email: &str, secret: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@.-_~".contains(&byte);
    let letter = |byte: u8| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    let label: String = email.bytes().map(letter).collect();
    format!("otpauth://totp/Tern:{label}?secret={secret}&issuer=Tern")
}

/// A secret as people type it: base 32.
pub(super) fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bit = |n: usize| usize::from(bytes[n / 8] >> (7 - n % 8) & 1);
    let letter = |place: usize| (0..5).fold(0, |word, n| word << 1 | bit(place * 5 + n));
    (0..bytes.len() * 8 / 5).map(|place| char::from(LETTERS[letter(place)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix B of the RFC, cut to six figures.
    #[test]
    fn codes_are_those_of_the_rfc() {
        let secret = b"12345678901234567890";
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
        ] {
            assert_eq!(code_at(secret, seconds / 30), code);
        }
    }

    #[test]
    fn a_neighbouring_code_fits_and_others_do_not() {
        let secret = b"12345678901234567890";
        let now = Timestamp::from_ms(1_111_111_111_000);
        let step = now.ms() / STEP_MS;
        for off in [-1, 0, 1] {
            let code = code_at(secret, step + off);
            assert_eq!(step_of(secret, &format!(" {code} "), now), Some(step + off));
        }
        assert_eq!(step_of(secret, &code_at(secret, step + 2), now), None);
        assert_eq!(step_of(secret, "", now), None);
    }

    #[test]
    fn odd_addresses_stay_whole_in_a_link() {
        let link = link("a&b#c@reseller.example", "GEZDGNBV");
        assert_eq!(
            link,
            "otpauth://totp/Tern:a%26b%23c@reseller.example?secret=GEZDGNBV&issuer=Tern"
        );
    }

    #[test]
    fn secrets_are_typed_in_base_32() {
        assert_eq!(base32(b"12345678901234567890"), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }
}
