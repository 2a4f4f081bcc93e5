//! Inventory: lots, their expiry, refunds, putting bundles on eSIMs.

use super::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
