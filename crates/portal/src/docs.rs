//! The API reference at `/docs`: one page per OpenAPI document and a changelog, rendered once when
//! somebody asks for it and from then on served from memory. It shows the documents it is given,
//! and knows no operation by name.

mod changelog;
mod operation;
mod page;
mod prose;
mod reference;
mod sample;
mod schema;
mod spec;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{MethodRouter, get};

use maud::Markup;
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
pub fn router(documents: &[Document], changelog: &[Release]) -> Router {
    let documents = spec::sorted(documents.to_vec());
    let names: Vec<_> = documents.iter().map(|document| document.name).collect();
    let specs = late(move || documents.iter().map(Spec::read).collect::<Vec<_>>());
    let (of_changes, of_none) = (specs.clone(), specs.clone());
    let changelog = changelog.to_vec();
    let changes = late(move || html(changelog::page(&of_changes, &changelog)));
    let mut router = Router::new()
        .route("/docs/style.css", fixed("text/css; charset=utf-8", STYLE))
        .route("/docs/docs.js", fixed("text/javascript; charset=utf-8", SCRIPT))
        .route("/docs/mark.svg", fixed("image/svg+xml", MARK))
        .route("/docs/changelog", file(changes));
    for (place, name) in names.into_iter().enumerate() {
        let specs = specs.clone();
        let page = late(move || html(reference::page(&specs, &specs[place])));
        if place == 0 {
            router = router.route("/docs", file(page.clone())).route("/docs/", file(page.clone()));
        }
        router = router.route(&format!("/docs/{name}"), file(page));
    }
    let missing = late(move || html(page::not_found(&of_none)));
    let not_found = get(move || async move { missing.answer_as(StatusCode::NOT_FOUND) });
    router.route("/docs/{*rest}", not_found)
}

/// Something that is made when it is first needed: most processes are never asked for a page, and
/// none should start later because of pages.
type Late<T> = Arc<LazyLock<T, Box<dyn FnOnce() -> T + Send>>>;

fn late<T>(make: impl FnOnce() -> T + Send + 'static) -> Late<T> {
    Arc::new(LazyLock::new(Box::new(make)))
}

fn html(body: Markup) -> File {
    File::new("text/html; charset=utf-8", body.into_string())
}

fn fixed(kind: &'static str, text: &'static str) -> MethodRouter {
    file(late(move || File::new(kind, text.to_owned())))
}

fn file(file: Late<File>) -> MethodRouter {
    get(move |headers: HeaderMap| async move { file.answer(&headers) })
}

/// The tokens stand in a file of their own, because every page for people shares them.
const STYLE: &str =
    concat!(include_str!("../assets/tokens.css"), include_str!("../assets/docs.css"));
const SCRIPT: &str = include_str!("../assets/docs.js");
const MARK: &str = include_str!("../assets/mark.svg");
