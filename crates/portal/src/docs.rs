//! The API reference at `/docs`: one page per OpenAPI document and a changelog, rendered once when
//! the router is built and served from memory. It shows the documents it is given, and knows no
//! operation by name.

mod changelog;
mod operation;
mod page;
mod prose;
mod reference;
mod sample;
mod schema;
mod spec;

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{MethodRouter, get};

use spec::Spec;

use crate::served::File;

/// An OpenAPI document and the name it is found under, such as `v2.5` or `operator`.
#[derive(Debug, Clone, Copy)]
pub struct Document {
    pub name: &'static str,
    pub json: &'static str,
}

/// What a version changed, in sentences for a customer.
#[derive(Debug, Clone)]
pub struct Release {
    pub version: &'static str,
    pub changes: Vec<&'static str>,
}

/// The routes under `/docs`. The newest version is also the first page.
///
/// # Panics
/// When a document is not JSON: they are part of the binary, so a test meets it first.
pub fn router(documents: &[Document], changelog: &[Release]) -> Router {
    let specs = spec::sorted(documents.iter().map(Spec::read).collect());
    let html = |body: maud::Markup| File::new("text/html; charset=utf-8", body.into_string());
    let mut router = Router::new()
        .route("/docs/style.css", file(File::new("text/css; charset=utf-8", STYLE.to_owned())))
        .route(
            "/docs/docs.js",
            file(File::new("text/javascript; charset=utf-8", SCRIPT.to_owned())),
        )
        .route("/docs/mark.svg", file(File::new("image/svg+xml", MARK.to_owned())))
        .route("/docs/changelog", file(html(changelog::page(&specs, changelog))));
    for (place, spec) in specs.iter().enumerate() {
        let page = html(reference::page(&specs, spec));
        if place == 0 {
            router = router.route("/docs", file(page.clone())).route("/docs/", file(page.clone()));
        }
        router = router.route(&format!("/docs/{}", spec.name), file(page));
    }
    let missing = Arc::new(html(page::not_found(&specs)));
    let not_found = get(move || async move { missing.answer_as(StatusCode::NOT_FOUND) });
    router.route("/docs/{*rest}", not_found)
}

fn file(file: File) -> MethodRouter {
    let file = Arc::new(file);
    get(move |headers: HeaderMap| async move { file.answer(&headers) })
}

/// The tokens stand in a file of their own, because every page for people shares them.
const STYLE: &str =
    concat!(include_str!("../assets/tokens.css"), include_str!("../assets/docs.css"));
const SCRIPT: &str = include_str!("../assets/docs.js");
const MARK: &str = include_str!("../assets/mark.svg");
