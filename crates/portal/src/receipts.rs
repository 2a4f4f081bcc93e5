//! Receipts: the page behind the link of an order. Whoever has the link may read it, so the page
//! shows what an order cost and never what it bought access to: no ICCID, no code, no key.

mod page;
#[cfg(test)]
mod tests;

use app::orders::Receipt;
use app::{App, StoreError};
use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use axum::routing::get;
use maud::Markup;

use crate::served::File;

/// The routes under `/receipts`.
pub fn router(app: App) -> Router {
    routes(move |reference, seal| {
        let app = app.clone();
        async move { app.receipt(&reference, &seal).await }
    })
}

/// The same over anything that finds receipts.
fn routes<F, A>(find: F) -> Router
where
    F: Fn(String, String) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<Option<Receipt>, StoreError>> + Send,
{
    let show = move |link: Result<Path<(String, String)>, PathRejection>| async move {
        match link {
            Ok(Path((reference, seal))) if is_link(&reference, &seal) => {
                answer(find(reference, seal).await)
            }
            _ => missing(),
        }
    };
    let style = File::new("text/css; charset=utf-8", STYLE.to_owned());
    let style = move |headers: HeaderMap| async move { style.answer(&headers) };
    // Half a link is what a mail program leaves of a long one: it leads to the same calm page.
    let nowhere = get(|| async { missing() });
    Router::new()
        .route("/receipts/style.css", get(style))
        .route("/receipts/{reference}/{seal}", get(show))
        .route("/receipts", nowhere.clone())
        .route("/receipts/{reference}", nowhere.clone())
        .route("/receipts/{reference}/{seal}/{*rest}", nowhere)
}

/// Whether this can be a link of ours. What cannot is no question to a database, which may refuse
/// its characters.
fn is_link(reference: &str, seal: &str) -> bool {
    let fits = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    fits(reference) && fits(seal)
}

fn answer(found: Result<Option<Receipt>, StoreError>) -> Response<Body> {
    match found {
        Ok(Some(receipt)) => respond(StatusCode::OK, page::page(&receipt)),
        Ok(None) => missing(),
        Err(error) => failure(&error),
    }
}

/// One answer for a wrong seal and for a reference that does not exist: it tells nobody which.
fn missing() -> Response<Body> {
    respond(StatusCode::NOT_FOUND, page::missing())
}

fn failure(error: &StoreError) -> Response<Body> {
    tracing::warn!(%error, "a receipt could not be read");
    if !error.is_passing() {
        return respond(StatusCode::INTERNAL_SERVER_ERROR, page::broken());
    }
    let mut response = respond(StatusCode::SERVICE_UNAVAILABLE, page::away());
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn respond(status: StatusCode, page: Markup) -> Response<Body> {
    let headers: [(HeaderName, &str); 7] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        // The address is the key to the page: nobody on the way keeps it, lists it or passes it on.
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(page.into_string())).expect("the headers are fixed text")
}

/// Our style and nothing else: the page has no script, no picture and no form.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

const STYLE: &str =
    concat!(include_str!("../assets/tokens.css"), include_str!("../assets/receipts.css"));
