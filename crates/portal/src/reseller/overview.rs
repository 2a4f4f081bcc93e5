//! The overview: how things stand, at a glance.

use super::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
