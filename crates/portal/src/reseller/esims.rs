//! eSIMs: the list, and the page that explains one.

use super::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
