//! Developers: keys, callbacks, deliveries, the feed, failed requests, the sandbox.

mod address;
mod callbacks;
mod deliveries;
mod delivery;
mod events;
mod keys;
mod requests;
mod sandbox;
mod secrets;

use axum::response::Response;
use domain::{Mode, Timestamp};
use maud::{Markup, html};

use super::desk::Desk;
use super::{Routes, Trouble, Visit};
use crate::kit::{Area, tabs};
use crate::words::developers as words;

pub(super) fn routes(mut routes: Routes) -> Routes {
    for part in [
        keys::routes,
        secrets::routes,
        callbacks::routes,
        deliveries::routes,
        delivery::routes,
        events::routes,
        requests::routes,
        sandbox::routes,
    ] {
        routes = part(routes);
    }
    routes
}

/// The parts of this area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Keys,
    Callbacks,
    Deliveries,
    Events,
    Requests,
    Sandbox,
}

impl Part {
    const ALL: [Self; 6] = [
        Self::Keys,
        Self::Callbacks,
        Self::Deliveries,
        Self::Events,
        Self::Requests,
        Self::Sandbox,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::Keys => words::KEYS,
            Self::Callbacks => words::CALLBACKS,
            Self::Deliveries => words::DELIVERIES,
            Self::Events => words::EVENTS,
            Self::Requests => words::REQUESTS,
            Self::Sandbox => words::SANDBOX,
        }
    }

    fn href(self) -> &'static str {
        match self {
            Self::Keys => keys::HOME,
            Self::Callbacks => callbacks::HOME,
            Self::Deliveries => deliveries::HOME,
            Self::Events => events::HOME,
            Self::Requests => requests::HOME,
            Self::Sandbox => sandbox::HOME,
        }
    }
}

/// A page of this area under its title, below the row of its parts.
struct Page<'a> {
    part: Part,
    title: &'a str,
    action: Option<Markup>,
}

impl<'a> Page<'a> {
    /// The first page of a part.
    fn of(part: Part) -> Self {
        Self { part, title: part.label(), action: None }
    }

    /// A page behind it.
    fn behind(part: Part, title: &'a str) -> Self {
        Self { part, title, action: None }
    }

    fn action(self, action: Markup) -> Self {
        Self { action: Some(action), ..self }
    }

    fn show(self, visit: &Visit, content: &Markup) -> Response {
        let content = self.with_tabs(visit, content);
        visit.page((Area::Developers, self.title), self.action, content)
    }

    fn show_live(self, visit: &Visit, content: &Markup) -> Response {
        let content = self.with_tabs(visit, content);
        visit.live_page((Area::Developers, self.title), self.action, content)
    }

    fn with_tabs(&self, visit: &Visit, content: &Markup) -> Markup {
        let parts = Part::ALL.iter().filter(|part| **part != Part::Sandbox || in_sandbox(visit));
        let row: Vec<_> =
            parts.map(|part| (part.label(), part.href(), *part == self.part)).collect();
        html! { (tabs(words::TABS, &row)) (content) }
    }
}

fn in_sandbox(visit: &Visit) -> bool {
    visit.member.caller().mode() == Mode::Sandbox
}

/// Now, by the organisation's clock.
async fn clock(desk: &Desk, visit: &Visit) -> Result<Timestamp, Trouble> {
    match desk.app.clock(visit.member.caller()).await {
        Ok(clock) => Ok(clock),
        Err(app::sandbox::Error::Store(error)) => Err(error.into()),
        Err(_) => Ok(visit.now),
    }
}
