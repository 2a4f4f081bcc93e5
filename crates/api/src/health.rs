//! Is it alive, is it ready, how is it doing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header;
use serde_json::json;

use crate::Api;
use crate::caller::ByOperator;
use crate::json::ok;
use crate::metrics::Metrics;
use crate::problem::Problem;

#[derive(Clone)]
pub(crate) struct State {
    pub(crate) api: Api,
    pub(crate) draining: Arc<AtomicBool>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) open_metrics: bool,
}

/// A database that takes longer to say "here" is not ready.
const PING: Duration = Duration::from_secs(2);

pub(crate) fn router(state: State) -> Router {
    let (ready, metrics) = (state.clone(), state);
    Router::new()
        .route("/healthz", get(|| async { ok(json!({ "status": "alive" })) }))
        .route("/readyz", get(move || async move { is_ready(&ready).await }))
        .route(
            "/metrics",
            get(move |request: Request| async move { page(&metrics, request).await }),
        )
}

async fn is_ready(state: &State) -> Response {
    if state.draining.load(Ordering::Relaxed) {
        return Problem::unavailable("shutting down").into_response();
    }
    let ping = tokio::time::timeout(PING, state.api.app.store().ping()).await;
    match ping {
        Ok(Ok(())) => ok(json!({ "status": "ready" })).into_response(),
        Ok(Err(error)) => Problem::unavailable(error.to_string()).into_response(),
        Err(_) => Problem::unavailable("the database does not answer").into_response(),
    }
}

async fn page(state: &State, request: Request) -> Response {
    if !state.open_metrics {
        let (mut parts, _) = request.into_parts();
        if let Err(problem) = ByOperator::from_request_parts(&mut parts, &state.api).await {
            return problem.into_response();
        }
    }
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let page = state.metrics.page(&state.api.app);
    ([(header::CONTENT_TYPE, kind)], page).into_response()
}
