//! Whose request it is when a proxy stands in front of us.

use std::net::IpAddr;

use http::{HeaderMap, HeaderValue};
use ipnet::IpNet;

/// The client's address: the connection's own, unless that is a trusted proxy; then the nearest
/// address of `X-Forwarded-For` that is not one. What a stranger writes there changes nothing.
pub(super) fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    let is_proxy = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    if !is_proxy(&peer) {
        return peer;
    }
    let lines: Vec<_> =
        headers.get_all("x-forwarded-for").iter().map(HeaderValue::as_bytes).collect();
    // From the nearest hop on. Each is read by itself: what a client wrote in front of it, however
    // odd, changes nothing.
    let hops = lines.iter().rev().flat_map(|line| line.rsplit(|byte| *byte == b','));
    let mut nearest = peer;
    for hop in hops {
        let Some(address) = parse(hop) else { break };
        nearest = address;
        if !is_proxy(&address) {
            break;
        }
    }
    nearest
}

/// An address, or one with a port, as some proxies write it.
fn parse(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim();
    let bare = hop.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>().ok();
    let with_port = || hop.parse::<std::net::SocketAddr>().ok().map(|socket| socket.ip());
    address.or_else(with_port).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, forwarded: &[&str]) -> String {
        let lines: Vec<_> = forwarded.iter().map(|line| line.as_bytes()).collect();
        seen_bytes(peer, &lines)
    }

    fn seen_bytes(peer: &str, forwarded: &[&[u8]]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            let value = HeaderValue::from_bytes(line).expect("a header");
            headers.append("x-forwarded-for", value);
        }
        let trusted = ["10.0.0.0/8".parse().expect("a network")];
        client(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        assert_eq!(seen("192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(seen("::ffff:10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
    }

    #[test]
    fn a_forged_start_of_the_list_changes_nothing() {
        assert_eq!(seen("10.0.0.1", &["203.0.113.9, 198.51.100.7, 10.0.0.2"]), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["203.0.113.9", "198.51.100.7"]), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7, nonsense"]), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7:4711"]), "198.51.100.7");
        assert_eq!(seen_bytes("10.0.0.1", &[b"\xff, 198.51.100.7"]), "198.51.100.7");
    }
}
