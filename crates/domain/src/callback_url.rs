//! Where callbacks go. What is plainly wrong, or plainly somebody's inside, is refused when it is
//! set; the address that is really connected to is judged again at every connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::{address, limits};

/// The text is not a URL that callbacks can be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an http or https URL that names a host, has port 80, 443 or one from 1024, and \
     carries no user name"
)]
pub struct NotACallbackUrl;

/// A URL that receives callbacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackUrl {
    text: String,
    is_inside: bool,
}

impl CallbackUrl {
    /// Reads an absolute http or https URL without user information.
    pub fn parse(text: &str) -> Result<Self, NotACallbackUrl> {
        let rest = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"))
            .ok_or(NotACallbackUrl)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        // Space, controls, and what must be percent-encoded everywhere in a URL.
        let odd = |c: char| !c.is_ascii_graphic() || "\"<>\\^`{|}".contains(c);
        if text.len() > limits::URL_BYTES_MAX || text.chars().any(odd) {
            return Err(NotACallbackUrl);
        }
        let (host, port) = split(authority).ok_or(NotACallbackUrl)?;
        let is_usual = |port: u16| matches!(port, 80 | 443 | 1024..);
        if !port.is_none_or(is_usual) {
            return Err(NotACallbackUrl);
        }
        let is_inside = match Host::parse(host)? {
            Host::Address(address) => !address::is_public(address),
            Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        };
        Ok(Self { text: text.to_owned(), is_inside })
    }

    /// The URL as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it names, as it is written, a place that is not on the public network.
    pub fn is_inside(&self) -> bool {
        self.is_inside
    }
}

/// Host and port of an authority without user information.
fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    match port.strip_prefix(':') {
        None if port.is_empty() => Some((host, None)),
        // `+443` is a number to Rust, and nothing is not.
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            Some((host, Some(digits.parse().ok()?)))
        }
        _ => None,
    }
}

enum Host {
    Address(IpAddr),
    Name(String),
}

impl Host {
    fn parse(text: &str) -> Result<Self, NotACallbackUrl> {
        if let Some(v6) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let address = v6.parse::<Ipv6Addr>().map_err(|_| NotACallbackUrl)?;
            return Ok(Self::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_label = |label: &str| (1..=63).contains(&label.len()) && label.chars().all(fits);
        if name.len() > 253 || !name.split('.').all(is_label) {
            return Err(NotACallbackUrl);
        }
        // A host that ends in a number is an address to every resolver, in forms such as
        // 2130706433, 0177.1 or 0x7f.0.0.1: only the plain form is taken.
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_number = last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x");
        if is_number {
            let address = name.parse::<Ipv4Addr>().map_err(|_| NotACallbackUrl)?;
            return Ok(Self::Address(address.into()));
        }
        Ok(Self::Name(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callback_urls_are_plain_http_or_https() {
        for text in [
            "https://shop.example/hook?x=1",
            "http://shop.example:8081",
            "https://shop.example.:443/a#b",
            "https://9.9.9.9/",
            "https://[2606:4700::1111]:8443/hook",
            "https://4chan.example",
            "https://0xdead.example",
        ] {
            let url = CallbackUrl::parse(text);
            assert!(url.as_ref().is_ok_and(|url| !url.is_inside()), "{text} {url:?}");
        }
        for text in [
            "",
            "ftp://shop.example",
            "file:///etc/passwd",
            "gopher://shop.example",
            "https://",
            "https:///path",
            "https://user:pw@shop.example",
            "https://user@shop.example",
            "https://shop.example/a b",
            "https://shop.example/?a=\"b\"",
            "https://shop.example/<a>",
            "https://shop.example/{a}|b^c`d",
            "https://shop.example/a\nb",
            "javascript:alert(1)",
            "https://:443/x",
            "https://shop.example:/x",
            "https://shop.example:0",
            "https://shop.example:22",
            "https://shop.example:25",
            "https://shop.example:65536",
            "https://shop.example:+443",
            "https://shop.example:44x",
            "https://shop.example\\@evil.example",
            "https://shop..example",
            "https://sh%6fp.example",
            "https://shöp.example",
            "https://１２７.0.0.1",
            "https://[::1",
            "https://[::1]x",
            "https://[fe80::1%25eth0]/",
            "https://[127.0.0.1]/",
        ] {
            assert_eq!(CallbackUrl::parse(text), Err(NotACallbackUrl), "{text}");
        }
    }

    /// Each is refused, either because nobody writes addresses so, or because it is inside.
    #[track_caller]
    fn assert_none_passes(hosts: &[&str]) {
        for host in hosts {
            let url = CallbackUrl::parse(&format!("http://{host}/hook"));
            assert!(url.as_ref().map_or(true, CallbackUrl::is_inside), "{host} {url:?}");
        }
    }

    #[test]
    fn no_disguise_of_an_inside_address_passes() {
        assert_none_passes(&[
            "localhost",
            "LOCALHOST",
            "localhost.",
            "a.localhost",
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "127.0.1",
            "127",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0x7f.1",
            "0177.0.0.1",
            "0177.1",
            "017700000001",
            "127.0.0.0x1",
            "127.000.000.001",
            "0",
            "0.0.0.0",
            "0x0",
            "00.0.0.0",
            "10.0.0.1",
            "012.0.0.1",
            "10.1",
            "167772161",
            "172.16.0.1",
            "172.31.255.254",
            "2886729729",
            "192.168.0.1",
            "192.168.1",
            "3232235521",
            "0xc0a80001",
            "0300.0250.0.1",
            "169.254.169.254",
            "2852039166",
            "0xa9fea9fe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "100.64.0.1",
            "192.0.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "4294967295",
        ]);
    }

    #[test]
    fn no_disguise_of_an_inside_address_of_the_longer_kind_passes() {
        assert_none_passes(&[
            "[::]",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[::ffff:0:127.0.0.1]",
            "[64:ff9b::127.0.0.1]",
            "[64:ff9b::a9fe:a9fe]",
            "[64:ff9b:1::a00:1]",
            "[2002:7f00:1::]",
            "[2002:a00:1::1]",
            "[fc00::1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[fec0::1]",
            "[ff02::1]",
            "[2001:db8::1]",
            "[2001::1]",
            "[100::1]",
            "[5f00::1]",
        ]);
    }
}
