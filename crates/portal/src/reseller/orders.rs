//! Orders: list, detail, receipt, downloads, the print page of codes.

use super::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
