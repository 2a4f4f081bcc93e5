//! Which addresses are connected to, and which are not even knocked at.

use std::time::Duration;

use adapters::callbacks::{HttpReceivers, Settings};
use domain::ports::callbacks::Receivers as _;
use rustls::RootCertStore;

use crate::receiver::Receiver;
use crate::{LIMIT, answered, failed, receivers, send, unsigned};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const INSIDE: &str = "the address is not on the public network";

fn outside_only() -> HttpReceivers {
    let roots = RootCertStore::empty();
    HttpReceivers::with(Settings { allow_inside: false, roots, limit: LIMIT })
}

#[tokio::test]
async fn inside_addresses_are_refused_in_every_form() {
    let receivers = outside_only();
    let receiver = Receiver::at("0.0.0.0:0").await;
    for host in [
        "127.0.0.1",
        "127.1.2.3",
        "0.0.0.0",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "169.254.169.254",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[fe80::1]",
        "[fd00::1]",
    ] {
        let url = format!("http://{host}:{}/hook", receiver.port());
        assert_eq!(send(&receivers, &url).await, failed(INSIDE), "{host}");
    }
    assert!(receiver.is_left_alone().await);
}

#[tokio::test]
async fn a_name_is_judged_by_what_it_resolves_to() {
    let receivers = outside_only();
    let receiver = Receiver::new().await;
    for name in ["localhost", "LocalHost"] {
        let url = format!("http://{name}:{}/hook", receiver.port());
        assert_eq!(send(&receivers, &url).await, failed(INSIDE), "{name}");
    }
    assert!(receiver.is_left_alone().await);
}

#[tokio::test]
async fn the_operator_may_allow_them() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let url = format!("http://{host}:{}/hook", receiver.port());
        let (reply, (request, _stream)) = tokio::join!(send(&receivers, &url), receiver.answer(OK));
        assert_eq!(reply, answered(200, ""), "{host}");
        let line = format!("host: {host}:{}\r\n", receiver.port());
        assert!(request.contains(&line), "{request}");
    }
}

#[tokio::test]
async fn a_name_that_is_nobodys_says_so() {
    let roots = RootCertStore::empty();
    // Somebody else's resolver may take its time.
    let limit = Duration::from_secs(10);
    let receivers = HttpReceivers::with(Settings { allow_inside: true, roots, limit });
    let callback = unsigned("http://nobody.invalid:8080/?secret=1");
    let reply = receivers.send(&callback).await;
    assert_eq!(reply, failed("the name could not be resolved"));
}
