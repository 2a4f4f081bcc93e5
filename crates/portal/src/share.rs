//! The share page: what a traveller sees of an eSIM through a link. No account, no script, nothing of
//! the reseller's business.

use app::App;
use axum::Router;

/// The routes under `/share`.
pub fn router(_app: App) -> Router {
    Router::new()
}
