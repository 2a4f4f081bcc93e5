//! The share page: what a traveller sees of an eSIM through a link. No account, no script, nothing of
//! the reseller's business.

mod page;
mod phone;

use app::shares::SharedEsim;
use app::{App, StoreError, qr};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::Markup;

use self::phone::Phone;
use crate::words::share as words;

/// The routes under `/share`.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/share", get(|| async { nothing() }))
        .route("/share/{token}", get(shared))
        .route("/share/{token}/qr.png", get(picture))
        .with_state(app)
}

async fn shared(
    State(app): State<App>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let Some(esim) = find(&app, &token).await? else { return Err(nothing()) };
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let phone = Phone::of(agent.unwrap_or(""));
    Ok(answer(StatusCode::OK, &page::page(&esim, &token, phone)))
}

async fn picture(State(app): State<App>, Path(token): Path<String>) -> Result<Response, Response> {
    let esim = find(&app, &token).await?.filter(page::can_be_installed);
    let Some(esim) = esim else { return Err(nothing()) };
    let picture = qr::png(&esim.code.activation_code()).map_err(|error| {
        tracing::error!(cause = %error, "a share page could not be made");
        away()
    })?;
    Ok(guarded((StatusCode::OK, [(header::CONTENT_TYPE, "image/png")], picture)))
}

async fn find(app: &App, token: &str) -> Result<Option<SharedEsim>, Response> {
    app.shared(token).await.map_err(|error: StoreError| {
        tracing::warn!(%error, "a share page waits for the database");
        away()
    })
}

/// Unknown, ended and revoked look alike.
fn nothing() -> Response {
    answer(StatusCode::NOT_FOUND, &page::note(words::GONE_TITLE, words::GONE))
}

fn away() -> Response {
    answer(StatusCode::SERVICE_UNAVAILABLE, &page::note(words::AWAY_TITLE, words::AWAY))
}

fn answer(status: StatusCode, page: &Markup) -> Response {
    guarded((status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page.0.clone()))
}

/// With what keeps the link to those who have it: it is in no cache, no index, and no other site
/// hears of it.
fn guarded(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response.headers_mut().insert(name, axum::http::HeaderValue::from_static(value));
    }
    response
}

/// Our own style and pictures; no script, no form, nothing from elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; \
    base-uri 'none'; frame-ancestors 'none'";
