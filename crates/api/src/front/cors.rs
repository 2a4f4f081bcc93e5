//! CORS, open: browser front ends send the key in a header, and no cookie means anything here.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

/// Headers of ours that a page may read.
const EXPOSED: &str = "X-Request-Id, X-Error-Code, Retry-After, X-Ratelimit-Limit, \
     X-Ratelimit-Remaining, X-Ratelimit-Reset, X-Ratelimit-Cost, Content-Disposition, Deprecation";

/// Lets any page read the answer.
pub(super) fn open(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
}

/// What a browser asks before it sends a key.
pub(super) fn preflight() -> Response {
    let headers = [
        ("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE"),
        (
            "access-control-allow-headers",
            "X-API-Key, Authorization, Content-Type, Accept, Idempotency-Key",
        ),
        ("access-control-max-age", "86400"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}
