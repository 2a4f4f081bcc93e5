//! An error as the caller sees it: a status, a stable code, a text, and nothing of its cause.

use std::borrow::Cow;

use app::{StoreError, idempotency};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

/// What went wrong. The cause goes to the log, never to the wire.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: Cow<'static, str>,
    pub(crate) cause: Option<String>,
    /// Seconds after which to try again, for those who must wait.
    pub(crate) retry_after: u16,
}

/// How long to wait before trying again, for those who must.
const RETRY_AFTER_SECONDS: u16 = 1;

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            cause: None,
            retry_after: RETRY_AFTER_SECONDS,
        }
    }

    pub(crate) fn bad_request(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// The body cannot be read; `why` helps whoever reads the log.
    pub(crate) fn malformed(why: impl Into<String>) -> Self {
        Self::bad_request("malformed-body", "failed to parse request body").because(why)
    }

    pub(crate) fn invalid(name: &str) -> Self {
        Self::bad_request("invalid-parameter", format!("invalid {name}"))
    }

    pub(crate) fn missing(name: &str) -> Self {
        Self::bad_request("missing-parameter", format!("{name} is required"))
    }

    pub(crate) fn denied(code: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, "access denied")
    }

    pub(crate) fn unknown_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "unknown-route", "no such route")
    }

    pub(crate) fn method_not_allowed() -> Self {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        Self::new(status, "method-not-allowed", "method not allowed")
    }

    pub(crate) fn too_large() -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "request body too large")
    }

    pub(crate) fn unavailable(why: impl Into<String>) -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Self::new(status, "unavailable", "service unavailable").because(why)
    }

    /// A fault of ours: a fixed text and no detail.
    pub(crate) fn internal(why: impl Into<String>) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, "internal", "internal server error").because(why)
    }

    /// To be tried again after so many seconds.
    pub(crate) fn after(mut self, seconds: u16) -> Self {
        self.retry_after = seconds;
        self
    }

    fn because(mut self, why: impl Into<String>) -> Self {
        self.cause = Some(why.into());
        self
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if error.is_passing() {
            Self::unavailable(error.to_string())
        } else {
            Self::internal(error.to_string())
        }
    }
}

impl From<idempotency::Error> for Problem {
    fn from(error: idempotency::Error) -> Self {
        let code = match error {
            idempotency::Error::BadKey(_) => "invalid-idempotency-key",
            idempotency::Error::OtherRequest => "idempotency-mismatch",
        };
        Self::bad_request(code, error.to_string())
    }
}

/// Marks a response as an error of ours and carries its cause to the log.
#[derive(Debug, Clone)]
pub(crate) struct Cause(pub(crate) Option<String>);

/// What the caller of a response is told in one sentence, for those who look after it later.
#[derive(Debug, Clone)]
pub(crate) struct Told(pub(crate) Cow<'static, str>);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "message": self.message }).to_string();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("x-error-code", HeaderValue::from_static(self.code));
        let waits = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS];
        if waits.contains(&self.status) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(self.retry_after));
        }
        response.extensions_mut().insert(Cause(self.cause));
        response.extensions_mut().insert(Told(self.message));
        response
    }
}
