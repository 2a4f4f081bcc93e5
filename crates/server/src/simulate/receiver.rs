//! A receiver of callbacks on this machine: counts what comes and answers 200 at once.

use std::convert::Infallible;
use std::time::Duration;

use app::Rt;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::score::Shared;

/// More than any callback has.
const BODY_BYTES_MAX: usize = 1_000_000;
/// How long to rest when no connection can be accepted.
const REST: Duration = Duration::from_millis(100);

/// Listens as long as it lives.
pub(super) struct Receiver {
    pub(super) url: String,
    task: JoinHandle<()>,
}

impl Receiver {
    /// Starts one on a free port. The clock is the one the score counts by.
    pub(super) async fn start(score: Shared, clock: Rt) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}/callbacks", listener.local_addr()?);
        let task = clock.clone().task(accept(listener, score, clock));
        Ok(Self { url, task })
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, score: Shared, clock: Rt) {
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            clock.sleep(REST).await;
            continue;
        };
        let (score, own) = (score.clone(), clock.clone());
        let service = service_fn(move |request| receive(request, score.clone(), own.clone()));
        clock.task(async move {
            let mut server = http1::Builder::new();
            let connection = server.timer(TokioTimer::new());
            // Whoever called does it again.
            drop(connection.serve_connection(TokioIo::new(socket), service).await);
        });
    }
}

async fn receive(
    request: Request<Incoming>,
    score: Shared,
    clock: Rt,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    if let Ok(body) = Limited::new(request.into_body(), BODY_BYTES_MAX).collect().await {
        let body = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
        score.lock().called(&body, clock.monotonic());
    }
    Ok(Response::new(Empty::new()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::client::{Client, Who};
    use super::*;

    #[tokio::test]
    async fn what_comes_is_counted_and_answered() {
        let score = Shared::default();
        let receiver = Receiver::start(score.clone(), Rt::real()).await.expect("a port");
        let base = receiver.url.strip_suffix("/callbacks").expect("a path");
        let client = Client::new(base, &Who::Reseller("none")).expect("an address");
        for _ in 0..3 {
            let body = json!({"iccid": "8943001000000026411", "alertType": "Utilisation"});
            client.post("/callbacks", &body).await.expect("200");
        }
        client.post("/callbacks", &json!("no callback")).await.expect("200");
        assert_eq!(score.lock().callbacks.total, 4);
    }
}
