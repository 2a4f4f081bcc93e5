//! Developers: keys, callbacks, deliveries, the feed, failed requests, the sandbox.

use super::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
