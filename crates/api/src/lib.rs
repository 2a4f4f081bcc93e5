//! REST v2.0 to v2.5 and our own JSON surfaces: routes, versions, wire types, status codes.
//!
//! Handlers are thin: extract, call a use-case, translate. No rule lives here.

mod account;
mod answers;
mod caller;
mod catalogue;
pub mod contract;
mod esims;
mod feed;
mod front;
mod health;
pub mod import;
mod inventory;
mod json;
mod lists;
mod metrics;
mod money;
mod operator;
mod orders;
mod path;
mod problem;
mod query;
mod rate;
mod routes;
mod sandbox;
mod topup;
mod usage;
pub mod versions;

use std::sync::Arc;

use app::App;

pub use answers::InVersions;
pub use front::{Front, HangUp, RequestLine, RequestLog, Settings};
pub use routes::{Operation, Surface, operations};

use self::rate::Limiter;
use self::versions::Version;

/// What every handler can reach: the service, and the version its router was built for. Cloned for
/// every request, so it is one pointer and a version.
#[derive(Clone)]
pub(crate) struct Api {
    version: Version,
    shared: Arc<Shared>,
}

/// What all versions share.
pub(crate) struct Shared {
    app: App,
    limiter: Limiter,
    /// Rendered answers about the catalogue.
    pages: catalogue::Pages,
    /// Rendered answers about eSIMs.
    recent: esims::Recent,
    /// The address the service is reached at, for links.
    public_url: String,
}

impl std::ops::Deref for Api {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}
