//! The catalogue: search, filter, buy with a summary before paying.

use super::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
