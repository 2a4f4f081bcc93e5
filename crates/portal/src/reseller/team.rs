//! Team and organisation: people, roles, details, audit log, erasure.

mod audit;
mod erasure;
mod organisation;
mod people;

use maud::Markup;

use super::desk::Desk;
use super::{Form, Routes, Trouble, Visit, done, refused};
use crate::kit::tabs;
use crate::words::team as words;

pub(super) fn routes(routes: Routes) -> Routes {
    erasure::routes(audit::routes(organisation::routes(people::routes(routes))))
}

/// The pages of this area, the present one lit.
fn pages(here: &str) -> Markup {
    tabs(words::TABS_NAME, &words::TABS.map(|(label, href)| (label, href, href == here)))
}
