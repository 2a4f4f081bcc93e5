//! The one list of all operations. A router per version is built from it by leaving out what that
//! version does not have; the contract's files are held against it by a test.

use std::collections::BTreeSet;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any, delete, get, patch, post, put};
use http::{HeaderValue, Method};

use crate::front::NoteRoute;
use crate::problem::Problem;
use crate::sandbox::{faults, phone};
use crate::versions::{Change, Version};
use crate::{
    Api, account, catalogue, esims, feed, inventory, operator, orders, sandbox, topup, usage,
};

/// An operation: where it lives and what answers.
struct Route {
    method: Method,
    path: &'static str,
    since: Change,
    /// What made it go away again.
    until: Option<Change>,
    /// What made another one the better choice.
    deprecated: Option<Change>,
    mount: fn() -> MethodRouter<Api>,
}

impl Route {
    const fn until(mut self, change: Change) -> Self {
        self.until = Some(change);
        self
    }

    const fn deprecated(mut self, change: Change) -> Self {
        self.deprecated = Some(change);
        self
    }

    fn is_in(&self, version: Version) -> bool {
        self.since.seen_by(version) && !self.until.is_some_and(|gone| gone.seen_by(version))
    }

    fn mounted(&self, version: Version) -> MethodRouter<Api> {
        let router = (self.mount)();
        if self.deprecated.is_some_and(|change| change.seen_by(version)) {
            return router.route_layer(map_response(mark_deprecated));
        }
        router
    }
}

/// Since when operations are deprecated that another one has replaced.
const DEPRECATED_AT: &str = "@1704067200";

async fn mark_deprecated(mut response: Response) -> Response {
    response.headers_mut().insert("deprecation", HeaderValue::from_static(DEPRECATED_AT));
    response
}

const fn route(
    method: Method,
    path: &'static str,
    since: Change,
    mount: fn() -> MethodRouter<Api>,
) -> Route {
    Route { method, path, since, until: None, deprecated: None, mount }
}

/// The interface, v2.0 to v2.5.
const INTERFACE: &[Route] = &[
    route(Method::GET, "/", Change::FirstRelease, || get(account::index)),
    route(Method::GET, "/organisation", Change::FirstRelease, || get(account::organisation)),
    route(Method::POST, "/organisation/balance", Change::FirstRelease, || post(topup::topup)),
    route(Method::GET, "/organisation/groups", Change::Catalogue, || get(catalogue::groups)),
    route(Method::GET, "/catalogue", Change::Catalogue, || get(catalogue::list)),
    route(Method::GET, "/catalogue/bundle/{name}", Change::Catalogue, || get(catalogue::bundle)),
    route(Method::GET, "/catalogue/prices", Change::ConsumptionPrices, || get(catalogue::prices)),
    route(Method::GET, "/networks", Change::Catalogue, || get(catalogue::networks)),
    route(Method::GET, "/orders", Change::FirstRelease, || get(orders::list)),
    route(Method::POST, "/orders", Change::FirstRelease, || post(orders::buy)),
    route(Method::GET, "/orders/{orderReference}", Change::FirstRelease, || get(orders::show)),
    route(Method::GET, "/inventory", Change::Inventory, || get(inventory::list)),
    route(Method::POST, "/inventory/refund", Change::Inventory, || post(inventory::refund)),
    route(Method::GET, "/esims", Change::FirstRelease, || get(esims::list)),
    route(Method::PUT, "/esims", Change::EsimCare, || put(esims::update)),
    route(Method::POST, "/esims/apply", Change::Apply, || post(esims::apply)),
    route(Method::GET, "/esims/assignments", Change::InstallData, || get(esims::assignments)),
    route(Method::GET, "/esims/qr/{reference}", Change::Apply, || get(esims::pictures))
        .deprecated(Change::InstallData),
    route(Method::GET, "/esims/csv/{reference}", Change::Apply, || get(esims::table))
        .deprecated(Change::InstallData),
    route(Method::GET, "/esims/{iccid}", Change::FirstRelease, || get(esims::show)),
    route(Method::DELETE, "/esims/{iccid}", Change::SuspendAndDelete, || delete(esims::remove)),
    route(Method::GET, "/esims/{iccid}/qr", Change::FirstRelease, || get(esims::picture)),
    route(Method::GET, "/esims/{iccid}/history", Change::EsimCare, || get(esims::history)),
    route(Method::GET, "/esims/{iccid}/refresh", Change::EsimCare, || get(esims::refresh)),
    route(Method::GET, "/esims/{iccid}/location", Change::EsimCare, || get(esims::location)),
    route(Method::GET, "/esims/{iccid}/compatible/{bundle}", Change::Compatible, || {
        get(esims::compatible)
    }),
    route(Method::POST, "/esims/{iccid}/sms", Change::FirstRelease, || post(esims::send_sms)),
    route(Method::GET, "/esims/{iccid}/suspend", Change::SuspendAndDelete, || {
        get(esims::suspended)
    }),
    route(Method::POST, "/esims/{iccid}/suspend", Change::SuspendAndDelete, || {
        post(esims::suspend)
    }),
    route(Method::GET, "/esims/{iccid}/bundles", Change::FirstRelease, || get(esims::bundles)),
    route(Method::POST, "/esims/{iccid}/bundles", Change::FirstRelease, || {
        post(esims::apply_to_one)
    })
    .deprecated(Change::Apply),
    route(Method::GET, "/esims/{iccid}/bundles/{name}", Change::FirstRelease, || {
        get(esims::bundle)
    }),
    route(Method::DELETE, "/esims/{iccid}/bundles/{name}", Change::FirstRelease, || {
        delete(esims::revoke_by_name)
    }),
    route(
        Method::DELETE,
        "/esims/{iccid}/bundles/{name}/offers/{offerId}",
        Change::FirstRelease,
        || delete(esims::revoke_by_id),
    )
    .until(Change::AssignmentsNotOffers),
    route(
        Method::DELETE,
        "/esims/{iccid}/bundles/{name}/applications/{assignmentId}",
        Change::AssignmentsNotOffers,
        || delete(esims::revoke_by_id),
    )
    .deprecated(Change::RevokeByAssignment),
    route(
        Method::DELETE,
        "/esims/{iccid}/bundles/{name}/assignments/{assignmentId}",
        Change::RevokeByAssignment,
        || delete(esims::revoke_by_id),
    ),
];

/// Ours, for resellers.
const RESELLER: &[Route] = &[
    route(Method::GET, "/events/v1", Change::FirstRelease, || get(feed::events)),
    route(Method::GET, "/usage/v1/esims/{iccid}", Change::FirstRelease, || get(usage::of_esim)),
    route(Method::GET, "/usage/v1/organisation", Change::FirstRelease, || {
        get(usage::of_organisation)
    }),
    route(Method::GET, "/idempotency/v1/{key}", Change::FirstRelease, || get(feed::idempotency)),
];

/// Ours, for the operator.
const OPERATOR: &[Route] = &[
    route(Method::GET, "/organisations", Change::FirstRelease, || {
        get(operator::organisations::list)
    }),
    route(Method::POST, "/organisations", Change::FirstRelease, || {
        post(operator::organisations::add)
    }),
    route(Method::GET, "/organisations/{id}", Change::FirstRelease, || {
        get(operator::organisations::show)
    }),
    route(Method::PATCH, "/organisations/{id}", Change::FirstRelease, || {
        patch(operator::organisations::change)
    }),
    route(Method::GET, "/organisations/{id}/keys", Change::FirstRelease, || {
        get(operator::keys::list)
    }),
    route(Method::POST, "/organisations/{id}/keys", Change::FirstRelease, || {
        post(operator::keys::add)
    }),
    route(Method::DELETE, "/organisations/{id}/keys/{keyId}", Change::FirstRelease, || {
        delete(operator::keys::revoke)
    }),
    route(Method::GET, "/organisations/{id}/users", Change::FirstRelease, || {
        get(operator::users::list)
    }),
    route(Method::POST, "/organisations/{id}/users", Change::FirstRelease, || {
        post(operator::users::add)
    }),
    route(Method::POST, "/organisations/{id}/users/{userId}/link", Change::FirstRelease, || {
        post(operator::users::link)
    }),
    route(Method::POST, "/organisations/{id}/credit", Change::FirstRelease, || {
        post(operator::money::credit)
    }),
    route(Method::POST, "/organisations/{id}/test-credit", Change::FirstRelease, || {
        post(operator::money::test_credit)
    }),
    route(Method::GET, "/organisations/{id}/charges", Change::FirstRelease, || {
        get(operator::money::charges)
    }),
    route(Method::GET, "/organisations/{id}/statement", Change::FirstRelease, || {
        get(operator::statement::show)
    }),
    route(Method::POST, "/organisations/{id}/grants", Change::FirstRelease, || {
        post(operator::grants::add)
    }),
    route(Method::GET, "/organisations/{id}/callbacks", Change::FirstRelease, || {
        get(operator::callbacks::health)
    }),
    route(Method::POST, "/organisations/{id}/callbacks/pause", Change::FirstRelease, || {
        post(operator::callbacks::pause)
    }),
    route(Method::POST, "/organisations/{id}/callbacks/test", Change::FirstRelease, || {
        post(operator::callbacks::test)
    }),
    route(Method::GET, "/organisations/{id}/webhook-secret", Change::FirstRelease, || {
        get(operator::callbacks::secret)
    }),
    route(Method::POST, "/organisations/{id}/webhook-secret", Change::FirstRelease, || {
        post(operator::callbacks::rotate_secret)
    }),
    route(Method::GET, "/organisations/{id}/deliveries", Change::FirstRelease, || {
        get(operator::callbacks::list)
    }),
    route(Method::GET, "/organisations/{id}/deliveries/{cursor}", Change::FirstRelease, || {
        get(operator::callbacks::show)
    }),
    route(Method::POST, "/organisations/{id}/deliveries/replay", Change::FirstRelease, || {
        post(operator::callbacks::replay)
    }),
    route(Method::POST, "/catalogue", Change::FirstRelease, || post(operator::catalogue::import)),
    route(Method::GET, "/stock", Change::FirstRelease, || get(operator::stock::show)),
    route(Method::POST, "/stock", Change::FirstRelease, || post(operator::stock::import)),
    route(Method::POST, "/usage", Change::FirstRelease, || post(operator::usage::take)),
    route(Method::GET, "/usage/strays", Change::FirstRelease, || get(operator::usage::strays)),
    route(Method::POST, "/esims/{iccid}/suspend", Change::FirstRelease, || {
        post(operator::esims::suspend)
    }),
    route(Method::POST, "/esims/{iccid}/deactivate", Change::FirstRelease, || {
        post(operator::esims::deactivate)
    }),
    route(Method::GET, "/jobs", Change::FirstRelease, || get(operator::jobs::list)),
    route(Method::POST, "/jobs/{id}/retry", Change::FirstRelease, || post(operator::jobs::retry)),
    route(Method::GET, "/audit", Change::FirstRelease, || get(operator::audit::list)),
];

/// Ours, for resellers who try things out.
const SANDBOX: &[Route] = &[
    route(Method::GET, "/clock", Change::FirstRelease, || get(sandbox::clock)),
    route(Method::POST, "/clock/advance", Change::FirstRelease, || post(sandbox::advance)),
    route(Method::POST, "/card", Change::FirstRelease, || post(sandbox::card)),
    route(Method::POST, "/settle", Change::FirstRelease, || post(sandbox::settle)),
    route(Method::POST, "/hold", Change::FirstRelease, || post(sandbox::hold)),
    route(Method::POST, "/callbacks/test", Change::FirstRelease, || post(sandbox::test_callback)),
    route(Method::POST, "/faults", Change::FirstRelease, || post(faults::set)),
    route(Method::POST, "/reset", Change::FirstRelease, || post(sandbox::reset)),
    route(Method::POST, "/esims/{iccid}/install", Change::FirstRelease, || post(phone::install)),
    route(Method::POST, "/esims/{iccid}/remove", Change::FirstRelease, || post(phone::remove)),
    route(Method::POST, "/esims/{iccid}/attach", Change::FirstRelease, || post(phone::attach)),
    route(Method::POST, "/esims/{iccid}/use", Change::FirstRelease, || post(phone::use_data)),
    route(Method::POST, "/esims/{iccid}/msisdn", Change::FirstRelease, || post(phone::number)),
    route(Method::GET, "/esims/{iccid}/messages", Change::FirstRelease, || get(phone::messages)),
];

/// A group of operations under one prefix, described by one document of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// The interface in one version.
    Interface(Version),
    /// Ours, for resellers.
    Reseller,
    /// The operator's.
    Operator,
    /// The sandbox.
    Sandbox,
}

impl Surface {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let versions = Version::ALL.into_iter().map(Self::Interface);
        versions.chain([Self::Reseller, Self::Operator, Self::Sandbox]).collect()
    }

    /// The name of its document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interface(version) => version.name(),
            Self::Reseller => "reseller",
            Self::Operator => "operator",
            Self::Sandbox => "sandbox",
        }
    }

    /// Where it is served.
    pub fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Interface(version) => version.prefixes(),
            // Each of these carries its own version.
            Self::Reseller => &[""],
            Self::Operator => &["/operator/v1"],
            Self::Sandbox => &["/sandbox/v1"],
        }
    }

    fn version(self) -> Version {
        match self {
            Self::Interface(version) => version,
            Self::Reseller | Self::Operator | Self::Sandbox => Version::NEWEST,
        }
    }

    fn table(self) -> &'static [Route] {
        match self {
            Self::Interface(_) => INTERFACE,
            Self::Reseller => RESELLER,
            Self::Operator => OPERATOR,
            Self::Sandbox => SANDBOX,
        }
    }

    fn routes(self) -> impl Iterator<Item = &'static Route> {
        self.table().iter().filter(move |route| route.is_in(self.version()))
    }

    /// Paths that only other versions have. They are fixed names there, so that none of them is
    /// read as a parameter here.
    fn paths_elsewhere(self) -> BTreeSet<&'static str> {
        let here: BTreeSet<_> = self.routes().map(|route| route.path).collect();
        self.table().iter().map(|route| route.path).filter(|path| !here.contains(path)).collect()
    }
}

/// A path below the prefix of its version.
pub(crate) fn without_version(path: &str) -> &str {
    let mut prefixes: Vec<_> = Version::ALL.iter().flat_map(|version| version.prefixes()).collect();
    // The longest first: `/v2` begins all of them.
    prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
    let below = prefixes.iter().find_map(|prefix| {
        path.strip_prefix(**prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    match below {
        Some("") => "/",
        Some(below) => below,
        None => path,
    }
}

/// A route as somebody writes it, `POST /v2.3/orders` or `/orders`, in the one spelling we keep:
/// without version. None if no operation of a reseller is called that.
pub(crate) fn named(text: &str) -> Option<String> {
    let (method, path) = match text.trim().split_once(' ') {
        Some((method, path)) => (Some(method.to_ascii_uppercase()), path.trim()),
        None => (None, text.trim()),
    };
    let path = without_version(path);
    let matches = |route: &Route| {
        let fits = |(wanted, given): (&str, &str)| {
            wanted == given || (wanted.starts_with('{') && !given.is_empty())
        };
        let (wanted, given) = (route.path.split('/'), path.split('/'));
        wanted.clone().count() == given.clone().count()
            && wanted.zip(given).all(fits)
            && method.as_deref().is_none_or(|method| route.method == method)
    };
    let is_known = INTERFACE.iter().chain(RESELLER).any(matches);
    is_known.then(|| match method {
        Some(method) => format!("{method} {path}"),
        None => path.to_owned(),
    })
}

/// An operation as the outside sees it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    /// `GET`, `POST`, …
    pub method: String,
    /// Below the prefix, with `{parameters}`.
    pub path: String,
}

/// What a surface offers.
pub fn operations(surface: Surface) -> Vec<Operation> {
    let operation =
        |route: &Route| Operation { method: route.method.to_string(), path: route.path.to_owned() };
    surface.routes().map(operation).collect()
}

/// The router of every surface, all paths written out: nesting would rewrite the address of every
/// request. Two routes that claim the same method and path in one version panic here, at the first
/// start.
pub(crate) fn router(api: &Api) -> Router {
    let mut all = Router::new();
    for surface in Surface::all() {
        let api = Api { version: surface.version(), ..api.clone() };
        for prefix in surface.prefixes() {
            let mut router = Router::new();
            for route in surface.routes() {
                let mounted = route.mounted(surface.version());
                router = router.route(&full_path(prefix, route.path), mounted);
            }
            for path in surface.paths_elsewhere() {
                let nothing = any(|| async { Problem::unknown_route() });
                router = router.route(&full_path(prefix, path), nothing);
            }
            let refuse = move |State(_): State<Api>, request: Request| async move {
                other_method(surface, prefix, &request)
            };
            let router = router.method_not_allowed_fallback(refuse).layer(NoteRoute);
            all = all.merge(router.with_state(api.clone()));
        }
    }
    all
}

/// `/v2.1` and `/` are `/v2.1`: the front door has cut the slash at the end.
fn full_path(prefix: &str, path: &str) -> String {
    match (prefix, path) {
        ("", path) => path.to_owned(),
        (prefix, "/") => prefix.to_owned(),
        (prefix, path) => format!("{prefix}{path}"),
    }
}

/// A known path with another method. An operation that only another version has is not known here.
fn other_method(surface: Surface, prefix: &str, request: &Request) -> Response {
    let matched = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let below = matched.strip_prefix(prefix).unwrap_or(matched);
    let path = if below.is_empty() { "/" } else { below };
    let elsewhere =
        surface.table().iter().any(|route| route.path == path && route.method == *request.method());
    if elsewhere {
        return Problem::unknown_route().into_response();
    }
    Problem::method_not_allowed().into_response()
}
