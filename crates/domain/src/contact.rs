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

/// The text is not a URL that callbacks can be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a callback URL starts with https:// or http://, names a host and carries no user name")]
pub struct NotACallbackUrl;

/// A URL that receives callbacks. Whether its *address* may be connected to is asked again at
/// every connection, since names can change what they point to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackUrl(String);

impl CallbackUrl {
    /// Reads an absolute http or https URL without user information.
    pub fn parse(text: &str) -> Result<Self, NotACallbackUrl> {
        let rest = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"))
            .ok_or(NotACallbackUrl)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let malformed = authority.is_empty()
            || authority.starts_with(':')
            || authority.contains(['@', '\\'])
            || text.len() > limits::URL_BYTES_MAX
            || text.chars().any(|c| c.is_whitespace() || c.is_control());
        if malformed { Err(NotACallbackUrl) } else { Ok(Self(text.to_owned())) }
    }

    /// The URL as it was given.
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

    #[test]
    fn callback_urls_are_plain_http_or_https() {
        for text in ["https://shop.example/hook?x=1", "http://shop.example:8081"] {
            assert!(CallbackUrl::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "ftp://shop.example",
            "https://",
            "https:///path",
            "https://user:pw@shop.example",
            "https://shop.example/a b",
            "javascript:alert(1)",
            "https://:443/x",
            "https://shop.example\\@evil.example",
        ] {
            assert_eq!(CallbackUrl::parse(text), Err(NotACallbackUrl), "{text}");
        }
    }
}
