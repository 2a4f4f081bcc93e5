//! `POST /sandbox/v1/faults`: what the next calls of a route meet, and how they meet it.

use std::time::Duration;

use app::Caller;
use app::sandbox::Fault;
use axum::extract::{MatchedPath, State};
use domain::limits;
use http::StatusCode;
use http::request::Parts;
use serde::Serialize;

use crate::caller::BySandbox;
use crate::front::{Body, Exchange};
use crate::json::{Answer, Fields, ok};
use crate::problem::Problem;
use crate::{Api, routes};

#[derive(Serialize)]
pub(crate) struct Set {
    route: String,
    fault: String,
    times: i64,
}

/// `POST /sandbox/v1/faults`.
pub(crate) async fn set(
    BySandbox(caller): BySandbox,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Set>, Problem> {
    let route = fields.text("route")?.ok_or_else(|| Problem::missing("route"))?;
    let route = routes::named(&route).ok_or_else(|| {
        let text = "route must be an operation such as POST /orders or /esims/{iccid}";
        Problem::bad_request("invalid-parameter", text)
    })?;
    let name = fields.text("fault")?.ok_or_else(|| Problem::missing("fault"))?;
    let fault = fault(&name, &mut fields)?;
    let times = fields.int("times")?.unwrap_or(1);
    if !(0..=limits::FAULT_TIMES_MAX).contains(&times) {
        return Err(Problem::invalid("times"));
    }
    api.app.set_fault(&caller, route.clone(), fault, times).await?;
    Ok(ok(Set { route, fault: name, times }))
}

fn fault(name: &str, fields: &mut Fields) -> Result<Fault, Problem> {
    match name {
        "status" => {
            let status = fields.int("status")?.ok_or_else(|| Problem::missing("status"))?;
            let status = u16::try_from(status).ok().filter(|status| (400..600).contains(status));
            status.map(Fault::Status).ok_or_else(|| Problem::invalid("status"))
        }
        "slow" => {
            let seconds = fields.int("seconds")?.ok_or_else(|| Problem::missing("seconds"))?;
            let seconds = Some(seconds).filter(|s| (0..=limits::FAULT_SECONDS_MAX).contains(s));
            let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
            let slow = seconds.map(|seconds| Fault::Slow(Duration::from_secs(seconds)));
            slow.ok_or_else(|| Problem::invalid("seconds"))
        }
        "drop" => Ok(Fault::Drop),
        _ => Err(Problem::bad_request("invalid-parameter", "fault must be status, slow or drop")),
    }
}

/// Lets a call meet what its organisation has asked for. The sandbox itself never fails.
pub(crate) async fn meet(api: &Api, caller: &Caller, parts: &Parts) -> Result<(), Problem> {
    let matched = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if !caller.has_faults() || matched.starts_with("/sandbox/") {
        return Ok(());
    }
    let below = |path: &str| routes::without_version(path).to_owned();
    let (pattern, path, method) = (below(matched), below(parts.uri.path()), &parts.method);
    let names = [format!("{method} {pattern}"), format!("{method} {path}"), pattern, path];
    match api.app.fault_for(caller, names).await? {
        None => {}
        Some(Fault::Status(status)) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
            let text = "a fault of the sandbox, as it was asked for";
            return Err(Problem::new(status, "sandbox-fault", text));
        }
        Some(Fault::Slow(time)) => api.app.rt().sleep(time).await,
        Some(Fault::Drop) => Exchange::of(parts).hang_up(),
    }
    Ok(())
}
