//! What remains of a request: its line in the log and its place in the metrics.

use std::net::IpAddr;
use std::time::Duration;

use app::failures::Failure;
use axum::response::Response;
use domain::{KeyId, OrgId};

use super::{Exchange, Front};
use crate::problem::{Cause, Told};

/// One request, as the log tells it. Never a query, a key or a body.
#[derive(Debug, Clone, Copy)]
pub struct RequestLine<'a> {
    /// The name that is also in the answer.
    pub id: &'a str,
    /// `GET`, `POST`, …
    pub method: &'a str,
    /// The pattern that matched, never the path itself, which may hold an ICCID.
    pub route: &'a str,
    /// The first part of it: `v2.1`, `operator`, `sandbox`.
    pub version: &'a str,
    /// The answer's status.
    pub status: u16,
    /// How long it took, in microseconds.
    pub us: u64,
    /// Whose key it came with.
    pub org: Option<&'a str>,
    /// Where it came from.
    pub client: IpAddr,
    /// The stable code of an error.
    pub code: Option<&'a str>,
    /// What the caller is not told.
    pub cause: Option<&'a str>,
}

/// Writes lines.
pub trait RequestLog: Send + Sync {
    /// Writes one.
    fn write(&self, line: &RequestLine<'_>);
}

/// Says nothing was answered because nobody was there any more; of our own, as others have it.
const CLIENT_GONE: u16 = 499;

/// A request that is under way. Dropped before its end, it is logged as given up by its client.
pub(super) struct Record<'f> {
    front: &'f Front,
    exchange: Exchange,
    method: &'static str,
    started: Duration,
    ended: bool,
}

impl<'f> Record<'f> {
    pub(super) fn begin(front: &'f Front, exchange: Exchange, method: &'static str) -> Self {
        let started = front.app.rt().monotonic();
        Self { front, exchange, method, started, ended: false }
    }

    pub(super) fn end(mut self, response: &Response) {
        self.ended = true;
        let code = response.headers().get("x-error-code").and_then(|code| code.to_str().ok());
        let cause = response.extensions().get::<Cause>().and_then(|cause| cause.0.as_deref());
        let told = response.extensions().get::<Told>().map_or("", |told| &told.0);
        self.write(response.status().as_u16(), code, (cause, Some(told)));
    }

    /// Without something told there was no answer.
    fn write(&self, status: u16, code: Option<&str>, (cause, told): (Option<&str>, Option<&str>)) {
        let time = self.front.app.rt().monotonic().saturating_sub(self.started);
        let (route, signed_in) = self.exchange.learnt_names();
        let route = route.as_deref().unwrap_or("-");
        if let Some((by, told)) = signed_in.zip(told).filter(|_| status >= 400) {
            self.note_failure(by, (route, status), (code.unwrap_or_default(), told));
        }
        let org = signed_in.map(|(org, _)| org.to_string());
        let version = route.split('/').nth(1).unwrap_or_default();
        let mut digits = [0; 3];
        let digits = digits_of(status, &mut digits);
        self.front.metrics.request([version, route, self.method, digits], time);
        self.front.log.write(&RequestLine {
            id: self.exchange.id(),
            method: self.method,
            route,
            version,
            status,
            us: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
            org: org.as_deref(),
            client: self.exchange.client(),
            code,
            cause,
        });
    }

    /// Keeps it for whoever sent it.
    fn note_failure(
        &self,
        (org, key): (OrgId, KeyId),
        (route, status): (&str, u16),
        (code, message): (&str, &str),
    ) {
        let app = &self.front.app;
        let failure = Failure {
            id: 0,
            at: app.rt().now(),
            request: self.exchange.id().to_owned(),
            method: self.method.to_owned(),
            route: route.to_owned(),
            status,
            code: code.to_owned(),
            message: message.to_owned(),
            client: self.exchange.client().to_string(),
            key,
        };
        app.note_failure(org, failure);
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.write(CLIENT_GONE, Some("client-gone"), (None, None));
        }
    }
}

/// A status in digits; all have three.
fn digits_of(status: u16, digits: &mut [u8; 3]) -> &str {
    for (place, power) in [100, 10, 1].into_iter().enumerate() {
        digits[place] = b'0' + u8::try_from(status / power % 10).unwrap_or(0);
    }
    std::str::from_utf8(digits).unwrap_or("000")
}
