//! Ways to reach a person or a receiver: e-mail addresses and callback URLs.

use crate::limits;

/// An e-mail address in lower case, since it is what a person signs in with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Email(String);

/// The text is not an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an e-mail address")]
pub struct NotAnEmail;

impl Email {
    /// Reads an address: one `@` with something on both sides, no spaces, at most 254 bytes. Only a
    /// message that arrives proves more.
    pub fn parse(text: &str) -> Result<Self, NotAnEmail> {
        let Some((local, host)) = text.split_once('@') else { return Err(NotAnEmail) };
        let odd = |c: char| c.is_whitespace() || c.is_control() || c == '@';
        let malformed = local.is_empty()
            || host.is_empty()
            || text.len() > limits::EMAIL_BYTES_MAX
            || text.chars().filter(|c| *c != '@').any(odd)
            || host.contains('@');
        if malformed { Err(NotAnEmail) } else { Ok(Self(text.to_lowercase())) }
    }

    /// The address in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_folded_to_lower_case() {
        assert_eq!(
            Email::parse("Ada@Reseller.EXAMPLE").expect("an address").as_str(),
            "ada@reseller.example"
        );
        for text in ["", "@", "a@", "@b", "a b@c", "a@b@c", "a@b\n", "plain"] {
            assert_eq!(Email::parse(text), Err(NotAnEmail), "{text}");
        }
    }
}
