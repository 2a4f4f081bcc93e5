//! The client for callbacks against receivers of every kind, on real sockets of this host.

mod addresses;
mod answers;
mod connections;
mod receiver;
mod requests;
mod tls;

use std::time::{Duration, Instant};

use adapters::callbacks::{HttpReceivers, Settings};
use domain::ports::callbacks::{Callback, Receivers, Reply};
use domain::{CallbackUrl, Timestamp};
use rustls::RootCertStore;

/// Enough for a socket of this host, and little to wait for.
const LIMIT: Duration = Duration::from_millis(300);
/// What a busy machine may add to a limit.
const SLACK: Duration = Duration::from_secs(3);

fn receivers() -> HttpReceivers {
    let roots = RootCertStore::empty();
    HttpReceivers::with(Settings { allow_inside: true, roots, limit: LIMIT })
}

fn unsigned(url: &str) -> Callback {
    Callback {
        url: CallbackUrl::parse(url).expect("a URL"),
        id: "msg_0000000042".to_owned(),
        body: r#"{"alertType":"Topup"}"#.to_owned(),
        signers: None,
        at: Timestamp::parse("2026-05-04T08:15:00.999Z").expect("a time"),
    }
}

/// Sends, and sees that it takes no longer than it may.
async fn send(receivers: &HttpReceivers, url: &str) -> Reply {
    let callback = unsigned(url);
    let begun = monotonic();
    let reply = receivers.send(&callback).await;
    assert!(begun.elapsed() < LIMIT + SLACK, "{:?} {reply:?}", begun.elapsed());
    reply
}

#[expect(clippy::disallowed_methods, reason = "the time it really takes is what is tested")]
fn monotonic() -> Instant {
    Instant::now()
}

fn answered(status: u16, start: &str) -> Reply {
    Reply::Answered { status, retry_after: None, start: start.to_owned() }
}

fn failed(text: &str) -> Reply {
    Reply::Failed(text.to_owned())
}

const LATE: &str = "no answer within 0.3 seconds";
const CLOSED: &str = "the connection was closed before an answer";
