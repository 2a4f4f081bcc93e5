//! eSIMs: the list, one of them, and what its owner does to it.

mod apply;
mod bundles;
mod codes;
mod recent;
mod revoke;
mod wire;

use app::esims::change::{Change as Wanted, Error, Outcome};
use app::esims::{Filter, SortBy, sms};
use app::{Answer as Rendered, idempotency};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::filter::Direction;
use http::StatusCode;
use serde_json::{Value, json};

pub(crate) use self::apply::{apply, apply_answer, apply_to_one};
pub(crate) use self::bundles::{list as bundles, show as bundle};
pub(crate) use self::codes::{assignments, picture, pictures, table};
use self::recent::Key;
pub(crate) use self::recent::Recent;
pub(crate) use self::revoke::{revoke_answer, revoke_by_id, revoke_by_name};
use self::wire::{WireDetail, WireEntry, WireListed, WireLocation, links};
use crate::Api;
use crate::answers::{Kept, NOT_COMPATIBLE, deactivated, done, not_your_esim, refused, version_of};
use crate::caller::By;
use crate::front::Repeatable;
use crate::json::{Answer, Fields, ok, rendered, written};
use crate::lists::{self, Paging};
use crate::path::{Params, iccid};
use crate::problem::Problem;
use crate::query::Query;
use crate::versions::{Change, Version};

/// eSIMs of a page when no size is asked for, from the contract.
const PAGE_DEFAULT: i64 = 10;

/// `GET /esims`.
pub(crate) async fn list(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
) -> Result<Response, Problem> {
    let page = lists::page(&query, PAGE_DEFAULT)?;
    let query = with_pair(query, api.version)?;
    let (filter, sort) = (filter(&query, api.version)?, sort(&query, api.version)?);
    let (esims, rows) = api.app.esims(&caller, filter, sort, page).await?;
    let esims: Vec<_> = esims.iter().map(|esim| WireListed::of(esim, api.version)).collect();
    if Change::ListEnvelopes.seen_by(api.version) {
        return Ok(ok(wire::Listed { esims, paging: Paging::of(page, rows) }).into_response());
    }
    Ok(ok(json!({ "esims": esims })).into_response())
}

/// `filterBy=<name>&filter=<condition>` is another way of writing `<name>=<condition>`.
fn with_pair(query: Query, version: Version) -> Result<Query, Problem> {
    const NAMES: [&str; 5] = ["iccid", "customerRef", "lastAction", "actionDate", "assignedDate"];
    let (Some(name), Some(condition)) = (query.one("filterBy"), query.one("filter")) else {
        return Ok(query);
    };
    let filters = Change::Filters.seen_by(version);
    let Some(name) = NAMES.into_iter().find(|known| *known == name) else {
        return if filters { Err(Problem::invalid("filterBy")) } else { Ok(query) };
    };
    if !filters && name != "iccid" {
        return Ok(query);
    }
    let condition = condition.to_owned();
    // Where a list has no filters of its own, only the pair counts.
    let own = if filters { name } else { "filterBy=iccid" };
    Ok(query.with(own, &condition))
}

fn filter(query: &Query, version: Version) -> Result<Filter, Problem> {
    if !Change::Filters.seen_by(version) {
        let tests = query.all("filterBy=iccid").map(|value| lists::text("filter", value));
        return Ok(Filter { iccid: tests.collect::<Result<_, _>>()?, ..Filter::default() });
    }
    Ok(Filter {
        iccid: lists::texts(query, "iccid")?,
        customer_ref: lists::texts(query, "customerRef")?,
        last_action: lists::texts(query, "lastAction")?,
        action_at: lists::numbers(query, "actionDate", lists::moment)?,
        assigned_at: lists::numbers(query, "assignedDate", lists::moment)?,
    })
}

fn sort(query: &Query, version: Version) -> Result<(SortBy, Direction), Problem> {
    let direction = lists::direction(query)?.unwrap_or(Direction::Ascending);
    let by = match query.one("orderBy") {
        None | Some("iccid") => SortBy::Iccid,
        _ if !Change::Filters.seen_by(version) => SortBy::Iccid,
        Some("customerRef") => SortBy::CustomerRef,
        Some("lastAction") => SortBy::LastAction,
        Some("actionDate") => SortBy::ActionAt,
        Some("assignedDate") => SortBy::AssignedAt,
        Some(_) => return Err(Problem::invalid("orderBy")),
    };
    Ok((by, direction))
}

/// `GET /esims/{iccid}`.
pub(crate) async fn show(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
    query: Query,
) -> Result<Response, Problem> {
    let (iccid, extras) = (params.iccid()?, links(&query));
    // Before anything is read: what is written meanwhile moves it.
    let stamp = api.app.stamp(&caller);
    let key = Key { org: caller.org(), iccid, version: api.version, extras };
    if let Some(answer) = stamp.and_then(|stamp| api.recent.get(&key, stamp)) {
        return Ok(written(answer));
    }
    let found = api.app.esim_detail(&caller, &key.iccid).await?;
    let detail = found.ok_or_else(|| unknown(api.version))?;
    let answer = Bytes::from(rendered(&WireDetail::of(&detail, extras, api.version))?);
    if let Some(stamp) = stamp {
        api.recent.put(key, stamp, answer.clone());
    }
    Ok(written(answer))
}

/// An ICCID that is not the caller's, where early versions say so more openly.
fn unknown(version: Version) -> Problem {
    if Change::UnknownEsimDenied.seen_by(version) {
        return not_yours();
    }
    Problem::bad_request("not-your-esim", "iccid not found")
}

/// An ICCID that is not the caller's.
fn not_yours() -> Problem {
    Problem::denied("not-your-esim")
}

/// `PUT /esims`.
pub(crate) async fn update(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
    Repeatable { mut request, body }: Repeatable,
) -> Result<Kept, Problem> {
    let mut fields = Fields::read(&body)?;
    let number = fields.text("iccid")?.filter(|text| !text.is_empty());
    let number = number.or_else(|| query.one("iccid").map(ToOwned::to_owned));
    let number = iccid(&number.ok_or_else(|| Problem::missing("iccid"))?)?;
    let in_query = || query.has("customerRef").then(|| query.one("customerRef").unwrap_or(""));
    let text = match fields.text("customerRef")? {
        Some(text) => text,
        None => in_query().ok_or_else(|| Problem::missing("customerRef"))?.to_owned(),
    };
    api.version.name().clone_into(&mut request.form);
    let wanted = (number, Wanted::CustomerRef(text));
    Ok(Kept(api.app.change_esim(&caller, wanted, &request).await?))
}

/// `DELETE /esims/{iccid}`.
pub(crate) async fn remove(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
    Repeatable { mut request, .. }: Repeatable,
) -> Result<Kept, Problem> {
    api.version.name().clone_into(&mut request.form);
    let wanted = (params.iccid()?, Wanted::Delete);
    Ok(Kept(api.app.change_esim(&caller, wanted, &request).await?))
}

/// `GET /esims/{iccid}/refresh`: a GET with an effect, because that is what callers send.
pub(crate) async fn refresh(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
) -> Result<Kept, Problem> {
    let request = idempotency::Request {
        key: None,
        facts: Vec::new(),
        form: format!("{}{REFRESH}", api.version.name()),
        deed: None,
    };
    let wanted = (params.iccid()?, Wanted::Refresh);
    Ok(Kept(api.app.change_esim(&caller, wanted, &request).await?))
}

/// Follows the version in the form of a refresh, whose refusals differ.
const REFRESH: &str = " refresh";

/// `POST /esims/{iccid}/suspend`.
pub(crate) async fn suspend(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
    Repeatable { mut request, body }: Repeatable,
) -> Result<Kept, Problem> {
    let number = params.iccid()?;
    let on = Fields::read(&body)?.boolean("suspend")?.ok_or_else(|| Problem::missing("suspend"))?;
    api.version.name().clone_into(&mut request.form);
    let wanted = (number, if on { Wanted::Suspend } else { Wanted::Resume });
    Ok(Kept(api.app.change_esim(&caller, wanted, &request).await?))
}

/// `GET /esims/{iccid}/suspend`.
pub(crate) async fn suspended(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
) -> Result<Answer<Value>, Problem> {
    let esim = api.app.esim(&caller, &params.iccid()?).await?.ok_or_else(not_yours)?;
    Ok(ok(json!({ "suspended": esim.suspended_by.is_some() })))
}

/// `GET /esims/{iccid}/history`.
pub(crate) async fn history(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
    query: Query,
) -> Result<Response, Problem> {
    let number = params.iccid()?;
    let page = lists::page_or_whole(&query)?;
    let found = api.app.esim_history(&caller, &number, page).await?;
    let (entries, rows) = found.ok_or_else(|| unknown(api.version))?;
    let actions: Vec<_> = entries.iter().map(|one| WireEntry::of(one, api.version)).collect();
    if !Change::HistoryPages.seen_by(api.version) {
        return Ok(ok(actions).into_response());
    }
    let paging = page.map_or_else(|| Paging::whole(rows), |page| Paging::of(page, rows));
    Ok(ok(wire::History { actions, paging }).into_response())
}

/// `GET /esims/{iccid}/compatible/{bundle}`.
pub(crate) async fn compatible(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
) -> Result<Answer<Value>, Problem> {
    let fits = api.app.is_compatible(&caller, &params.iccid()?, params.get("bundle")).await?;
    let fits = fits.ok_or_else(|| unknown(api.version))?;
    if Change::UnknownEsimDenied.seen_by(api.version) {
        return Ok(ok(json!({ "compatible": fits })));
    }
    let message = if fits { "bundle is compatible with esim" } else { NOT_COMPATIBLE };
    Ok(ok(json!({ "compatible": fits, "message": message })))
}

/// `GET /esims/{iccid}/location`.
pub(crate) async fn location(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
) -> Result<Response, Problem> {
    let esim = api.app.esim(&caller, &params.iccid()?).await?.ok_or_else(not_yours)?;
    let catalogue = api.app.catalogue().await?;
    let location = WireLocation::of(esim.seen.as_ref(), &catalogue, api.version);
    Ok(ok(location).into_response())
}

/// `POST /esims/{iccid}/sms`.
pub(crate) async fn send_sms(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
    Repeatable { mut request, body }: Repeatable,
) -> Result<Kept, Problem> {
    let number = params.iccid()?;
    let mut fields = Fields::read(&body)?;
    let text = fields.text("message")?.unwrap_or_default();
    let sender = fields.text("from")?.filter(|sender| !sender.is_empty());
    api.version.name().clone_into(&mut request.form);
    Ok(Kept(api.app.send_sms(&caller, number, (sender, text), &request).await?))
}

/// The answer to a text message.
pub(crate) fn sms_answer(form: &str, outcome: sms::Outcome) -> Rendered {
    use sms::Outcome;
    match outcome {
        Outcome::Sent if Change::StatusNotMessage.seen_by(version_of(form)) => {
            done(&json!({ "status": "sent" }))
        }
        Outcome::Sent => done(&json!({ "message": "Message sent" })),
        Outcome::Length => {
            refused("message-length", "message must be between 1 and 160 characters")
        }
        Outcome::NotYourEsim => not_your_esim(),
        Outcome::Deactivated => deactivated(),
        Outcome::NoMsisdn => refused("no-msisdn", "esim has no msisdn"),
        Outcome::SenderNotAllowed => refused("sender-not-allowed", "sender not allowed"),
    }
}

/// The answer to a change of an eSIM.
pub(crate) fn change_answer(form: &str, outcome: Outcome) -> Rendered {
    let (name, is_refresh) =
        form.strip_suffix(REFRESH).map_or((form, false), |version| (version, true));
    let version = version_of(name);
    let said = |text: &str| {
        let key = if Change::StatusNotMessage.seen_by(version) { "status" } else { "message" };
        done(&json!({ key: text }))
    };
    let created = |text: &str| Rendered { status: 201, ..said(text) };
    match outcome {
        Outcome::Updated => said("success"),
        Outcome::Refreshed => said("Successfully refreshed SIM"),
        Outcome::Suspended => created("eSIM suspended successfully"),
        Outcome::Resumed => created("eSIM unsuspended successfully"),
        Outcome::Deleted => said("eSIM deleted successfully"),
        Outcome::NotYourEsim if is_refresh => {
            let problem = unknown(version);
            let status = problem.status.as_u16();
            Rendered { status, ..refused(problem.code, &problem.message) }
        }
        Outcome::NotYourEsim => not_your_esim(),
        Outcome::Deactivated => deactivated(),
        Outcome::TooLong => {
            refused("customer-ref-too-long", "customerRef must be at most 255 characters")
        }
        Outcome::AlreadySuspended => refused("already-suspended", "esim is already suspended"),
        Outcome::NotSuspended => refused("not-suspended", "esim is not suspended"),
        Outcome::Locked => {
            Rendered { status: 403, ..refused("suspension-locked", "suspension cannot be lifted") }
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::NetworkAway => Self::unavailable("there is no network to tell"),
            Error::Key(error) => error.into(),
            Error::Store(cause) => cause.into(),
        }
    }
}

impl From<sms::Error> for Problem {
    fn from(error: sms::Error) -> Self {
        let text = error.to_string();
        match error {
            sms::Error::Unavailable => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "sms-unavailable", text)
            }
            sms::Error::Key(error) => error.into(),
            sms::Error::Store(cause) => cause.into(),
        }
    }
}
