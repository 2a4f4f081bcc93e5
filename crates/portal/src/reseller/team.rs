//! Team and organisation: people, roles, details, audit log, erasure.

use super::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
