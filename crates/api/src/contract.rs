//! The contract as data: the blessed OpenAPI files, part of the binary.

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// A document of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Document {
    /// `v2.5`, `operator`, …
    pub name: &'static str,
    /// The file.
    pub json: &'static str,
}

macro_rules! documents {
    ($($name:literal),* $(,)?) => {
        &[$(Document {
            name: $name,
            json: include_str!(concat!("../../../contract/openapi/", $name, ".json")),
        }),*]
    };
}

/// All of them.
pub const DOCUMENTS: &[Document] =
    documents!["v2.0", "v2.1", "v2.2", "v2.3", "v2.4", "v2.5", "reseller", "operator", "sandbox"];

/// `/openapi/v2.5.json` and so on.
pub(crate) fn router() -> Router {
    DOCUMENTS.iter().fold(Router::new(), |router, document| {
        let path = format!("/openapi/{}.json", document.name);
        let json = document.json;
        // Changes only with the binary, so its version and size name it.
        let tag = format!("\"{}-{}\"", env!("CARGO_PKG_VERSION"), json.len());
        router
            .route(&path, get(move |headers: HeaderMap| async move { file(json, &tag, &headers) }))
    })
}

fn file(json: &'static str, tag: &str, asked: &HeaderMap) -> Response {
    let known = asked.get(header::IF_NONE_MATCH).is_some_and(|value| value == tag);
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, "application/json")], json).into_response()
    };
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
