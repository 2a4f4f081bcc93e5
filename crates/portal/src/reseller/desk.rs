//! What every page has at hand.

use std::sync::Arc;

use app::App;
use domain::limits;
use tokio::sync::Semaphore;

use super::Settings;

/// The service, and how the portal is set up. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) app: App,
    pub(crate) public_url: Arc<str>,
    /// The operations a reseller can call.
    pub(crate) operations: Arc<[String]>,
    /// Whether the portal is reached over HTTPS, so that cookies may insist on it.
    pub(crate) is_secure: bool,
    /// Places for pages that follow changes.
    pub(super) live: Arc<Semaphore>,
}

impl Desk {
    pub(super) fn new(app: App, settings: &Settings) -> Self {
        let public_url: Arc<str> = settings.public_url.trim_end_matches('/').into();
        let is_secure = public_url.starts_with("https://");
        let operations = settings.operations.clone().into();
        let live = Arc::new(Semaphore::new(limits::LIVE_PAGES_MAX));
        Self { app, public_url, operations, is_secure, live }
    }
}
