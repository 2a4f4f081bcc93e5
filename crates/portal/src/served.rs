//! A file in memory and how it is served: cacheable by its tag, and with a policy that lets a page
//! load nothing but our own style, script and mark.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, Response, StatusCode, header};

/// What a page may load and do. No inline style or script, so injected markup stays dead text.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A body with its type and its tag.
#[derive(Clone)]
pub(crate) struct File {
    kind: &'static str,
    body: Bytes,
    tag: String,
}

impl File {
    pub(crate) fn new(kind: &'static str, body: String) -> Self {
        // Only equality matters, and only between builds: a hash that a later compiler makes
        // differently costs one download.
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        Self { kind, tag: format!("\"{:016x}\"", hasher.finish()), body: body.into() }
    }

    /// The file, or 304 when the client already has it.
    pub(crate) fn answer(&self, asked: &HeaderMap) -> Response<Body> {
        if self.is_known(asked) {
            return self.respond(StatusCode::NOT_MODIFIED, Body::empty());
        }
        self.answer_as(StatusCode::OK)
    }

    /// The file with a status of its own.
    pub(crate) fn answer_as(&self, status: StatusCode) -> Response<Body> {
        self.respond(status, Body::from(self.body.clone()))
    }

    fn is_known(&self, asked: &HeaderMap) -> bool {
        let known = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|v| v.to_str().ok());
        let mut tags = known.flat_map(|line| line.split(',')).map(str::trim);
        // A proxy that compresses marks the tag as weak.
        tags.any(|tag| tag == "*" || tag.trim_start_matches("W/") == self.tag)
    }

    fn respond(&self, status: StatusCode, body: Body) -> Response<Body> {
        let headers: [(HeaderName, &str); 7] = [
            (header::CONTENT_TYPE, self.kind),
            (header::ETAG, &self.tag),
            // Kept by everyone, asked for again each time: an upgrade shows at once.
            (header::CACHE_CONTROL, "public, no-cache"),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        ];
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(name, value);
        }
        response.body(body).expect("the headers are fixed text and a hexadecimal tag")
    }
}
