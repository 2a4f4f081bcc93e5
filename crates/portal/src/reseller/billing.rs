//! Billing: card, top-ups, automatic top-up, statement.

use super::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
