//! REST v2.0 to v2.5 and our own JSON surfaces: routes, versions, wire types, status codes.
//!
//! Handlers are thin: extract, call a use-case, translate. No rule lives here.

mod account;
mod answers;
mod caller;
pub mod contract;
mod feed;
mod front;
mod health;
mod json;
mod metrics;
mod money;
mod operator;
mod problem;
mod query;
mod rate;
mod routes;
mod sandbox;
mod topup;
pub mod versions;

use std::sync::Arc;

use app::App;

pub use answers::InVersions;
pub use front::{Front, Settings};
pub use routes::{Operation, Surface, operations};

use self::rate::Limiter;
use self::versions::Version;

/// What every handler can reach: the service, and the version its router was built for.
#[derive(Clone)]
pub(crate) struct Api {
    app: App,
    version: Version,
    limiter: Arc<Limiter>,
}
