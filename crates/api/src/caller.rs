//! From a request to who sent it. A handler without one of these reaches nobody's data.

use app::access::Denied;
use app::{Caller, Operator};
use axum::extract::FromRequestParts;
use domain::{Mode, limits};
use http::request::Parts;
use http::{Method, StatusCode, header};

use crate::Api;
use crate::front::Exchange;
use crate::problem::Problem;
use crate::query::Query;
use crate::sandbox::faults;
use crate::versions::Change;

/// The reseller whose key came with the request.
pub(crate) struct By(pub(crate) Caller);

impl FromRequestParts<Api> for By {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let ByCosting(caller) = ByCosting::<1>::from_request_parts(parts, api).await?;
        Ok(Self(caller))
    }
}

/// The same for an operation that counts as several where a rate limit is on.
pub(crate) struct ByCosting<const COST: u32>(pub(crate) Caller);

impl<const COST: u32> FromRequestParts<Api> for ByCosting<COST> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let exchange = Exchange::of(parts);
        let key = key(parts)?;
        let caller = api.app.caller(&key, exchange.client()).await?;
        // Whoever comes through this door has one.
        let Some(key) = caller.key() else { return Err(Denied::BadKey.into()) };
        exchange.signed_in(caller.org(), key);
        if let Some(per_second) = rate(api, &caller) {
            let now = api.app.rt().monotonic();
            let standing = api.limiter.count(key, (per_second, COST), now);
            exchange.stands(standing);
            if !standing.allowed {
                let status = StatusCode::TOO_MANY_REQUESTS;
                return Err(Problem::new(status, "rate-limited", "Rate limit exceeded"));
            }
        }
        faults::meet(api, &caller, parts).await?;
        Ok(Self(caller))
    }
}

/// The limit in force, if any: the operator's own, else the version's for live organisations.
fn rate(api: &Api, caller: &Caller) -> Option<u32> {
    let of_version = Change::RateLimit.seen_by(api.version) && caller.mode() == Mode::Live;
    caller.rate_limit().or_else(|| of_version.then_some(limits::RATE_PER_SECOND))
}

/// The header decides; the query is for GET from a browser.
fn key(parts: &Parts) -> Result<String, Problem> {
    if let Some(value) = parts.headers.get("x-api-key") {
        let text = value.to_str().map_err(|_| Problem::denied("bad-key"))?;
        return Ok(text.trim().to_owned());
    }
    let may_use_query = [Method::GET, Method::HEAD].contains(&parts.method);
    // Who one is comes first: a query that cannot be read holds no key.
    let query = Query::parse(parts.uri.query()).ok().filter(|_| may_use_query);
    let key = query.as_ref().and_then(|query| query.one("api_key"));
    key.map(ToOwned::to_owned).ok_or_else(|| Problem::denied("bad-key"))
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::BadKey => Self::denied("bad-key"),
            Denied::Address => Self::denied("address-not-allowed"),
            Denied::Store(error) => error.into(),
        }
    }
}

/// A reseller of a sandbox organisation; a live one is refused before anything else is looked at.
pub(crate) struct BySandbox(pub(crate) Caller);

impl FromRequestParts<Api> for BySandbox {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let By(caller) = By::from_request_parts(parts, api).await?;
        match caller.mode() {
            Mode::Sandbox => Ok(Self(caller)),
            Mode::Live => Err(Problem::denied("live-organisation")),
        }
    }
}

/// The operator whose bearer key came with the request.
pub(crate) struct ByOperator(pub(crate) Operator);

impl FromRequestParts<Api> for ByOperator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let refused =
            || Problem::new(StatusCode::UNAUTHORIZED, "bad-operator-key", "access denied");
        let bearer = parts
            .headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, key)| key.trim())
            .ok_or_else(refused)?;
        match api.app.operator(bearer).await {
            Ok(operator) => Ok(Self(operator)),
            Err(Denied::Store(error)) => Err(error.into()),
            Err(_) => Err(refused()),
        }
    }
}
