//! The reseller's portal under `/portal`: what its people see and do. Pages and forms only; every
//! rule is a use-case of `app`, the same ones the API calls.
//!
//! [`routes::Routes`] is the door: it knows who comes, whether the role allows it, and whether a
//! form is ours. A handler behind it gets a [`Visit`] and, where something was sent, a [`Form`].

mod account;
mod answers;
mod billing;
mod catalogue;
mod desk;
mod developers;
mod entrance;
mod esims;
mod fields;
mod inventory;
mod live;
mod orders;
mod overview;
mod routes;
mod team;
mod trouble;
mod visit;

use app::App;
use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;

pub use self::answers::{FORM, InPortal};
use self::desk::Desk;
pub(crate) use self::fields::Form;
pub(crate) use self::routes::Routes;
pub(crate) use self::trouble::Trouble;
pub(crate) use self::visit::{Visit, done, follow, refused};
use crate::kit;
use crate::served::File;

/// How the portal is set up.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The address the service is reached at, for links that are handed over.
    pub public_url: String,
    /// The operations a reseller can call, such as `POST /orders`.
    pub operations: Vec<String>,
}

/// Everything under `/portal`.
pub fn router(app: App, settings: &Settings) -> Router {
    let desk = Desk::new(app, settings);
    routes(&desk).into_router().merge(files())
}

fn routes(desk: &Desk) -> Routes {
    let mut routes = Routes::new(desk.clone());
    for area in [
        entrance::routes,
        overview::routes,
        catalogue::routes,
        esims::routes,
        orders::routes,
        inventory::routes,
        billing::routes,
        developers::routes,
        team::routes,
        account::routes,
        live::routes,
    ] {
        routes = area(routes);
    }
    routes
}

fn files() -> Router {
    let file = |kind, text: &str| {
        let file = File::new(kind, text.to_owned());
        get(move |headers: HeaderMap| async move { file.answer(&headers) })
    };
    Router::new()
        .route("/portal/style.css", file("text/css; charset=utf-8", kit::STYLE))
        .route("/portal/portal.js", file("text/javascript; charset=utf-8", kit::SCRIPT))
        .route("/portal/mark.svg", file("image/svg+xml", kit::MARK))
}
