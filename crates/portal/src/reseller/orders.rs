//! Orders: list, detail, receipt, downloads, the print page of codes.

use domain::order::Status;
use maud::Markup;

use super::Routes;
use crate::kit::{Mood, figures};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}

/// How far an order is, in a word.
pub(super) fn status_badge(status: Status) -> Markup {
    let mood = match status {
        Status::Processing => Mood::Busy,
        Status::Completed => Mood::Good,
        Status::Failed => Mood::Bad,
    };
    figures::badge(mood, status.name())
}
