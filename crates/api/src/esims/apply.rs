//! Putting bundles on eSIMs: `POST /esims/apply`, and the old `POST /esims/{iccid}/bundles`.

use app::Answer;
use app::esims::apply::{Command, Error, Line, Outcome, Refusal};
use app::orders::Processing;
use axum::extract::State;
use domain::{Iccid, Timestamp, limits};
use http::StatusCode;
use serde::Serialize;
use serde_json::json;

use crate::Api;
use crate::answers::{Kept, deactivated, done, not_compatible, not_your_esim, refused, version_of};
use crate::caller::By;
use crate::catalogue::unknown_bundle;
use crate::front::{Exchange, Repeatable};
use crate::json::{Count, Entry, Fields};
use crate::path::{Params, iccid};
use crate::problem::Problem;
use crate::versions::Change;

/// Follows the version in the form of the old apply, whose answer is shorter.
const TO_ONE: &str = " to one";

/// `POST /esims/apply`.
pub(crate) async fn apply(
    By(caller): By,
    State(api): State<Api>,
    exchange: Exchange,
    Repeatable { mut request, body }: Repeatable,
) -> Result<Kept, Problem> {
    let (iccid, lines) = wanted(Fields::read(&body)?)?;
    let command = command(&api, &exchange, iccid, lines);
    api.version.name().clone_into(&mut request.form);
    Ok(Kept(api.app.apply(&caller, command, &request).await?))
}

/// `POST /esims/{iccid}/bundles`: here `repeat` means how often on this one eSIM.
pub(crate) async fn apply_to_one(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
    exchange: Exchange,
    Repeatable { mut request, body }: Repeatable,
) -> Result<Kept, Problem> {
    let number = params.iccid()?;
    let mut fields = Fields::read(&body)?;
    let start_at = start_at(&mut fields)?;
    let bundle = name(&mut fields)?.ok_or_else(|| Problem::missing("name"))?;
    let repeat = repeat(&mut fields)?.unwrap_or(1);
    let line = Line { bundle, repeat, start_at, allow_reassign: false };
    let command = command(&api, &exchange, Some(number), vec![line]);
    request.form = format!("{}{TO_ONE}", api.version.name());
    Ok(Kept(api.app.apply(&caller, command, &request).await?))
}

fn command(api: &Api, exchange: &Exchange, iccid: Option<Iccid>, lines: Vec<Line>) -> Command {
    let is_later = Change::LargeOrdersLater.seen_by(api.version);
    Command {
        iccid,
        lines,
        processing: if is_later { Processing::Later } else { Processing::Now },
        is_listed: Change::ApplyOrders.seen_by(api.version),
        source_ip: exchange.client().to_canonical().to_string(),
    }
}

/// What a body asks for, or the rule it breaks.
fn wanted(mut fields: Fields) -> Result<(Option<Iccid>, Vec<Line>), Problem> {
    let start_at = start_at(&mut fields)?;
    let allow_reassign = fields.boolean("allowReassign")?.unwrap_or(false);
    let number = fields.text("iccid")?.filter(|text| !text.is_empty());
    let bundle = name(&mut fields)?;
    let entries = fields.entries("bundles")?.filter(|entries| !entries.is_empty());
    let repeat = repeat(&mut fields)?;
    match (bundle, entries) {
        (Some(bundle), None) => {
            if number.is_some() && repeat.is_some() {
                let text = "iccid cannot be used with repeat";
                return Err(Problem::bad_request("iccid-with-repeat", text));
            }
            let number = number.map(|text| iccid(&text)).transpose()?;
            let repeat = repeat.unwrap_or(1);
            Ok((number, vec![Line { bundle, repeat, start_at, allow_reassign }]))
        }
        (None, Some(entries)) => {
            if number.is_some() {
                return Err(with_bundles());
            }
            if repeat.is_some() {
                let text = "repeat cannot be used with bundles";
                return Err(Problem::bad_request("repeat-with-bundles", text));
            }
            let line = |entry| line(entry, start_at, allow_reassign);
            Ok((None, entries.into_iter().map(line).collect::<Result<_, _>>()?))
        }
        (Some(_), Some(_)) | (None, None) => {
            let text = "either bundle or bundles must be provided";
            Err(Problem::bad_request("bundle-choice", text))
        }
    }
}

fn with_bundles() -> Problem {
    Problem::bad_request("iccid-with-bundles", "iccid cannot be used with bundles")
}

fn line(
    entry: Entry,
    start_at_top: Option<Timestamp>,
    reassign_at_top: bool,
) -> Result<Line, Problem> {
    let mut fields = match entry {
        Entry::Object(fields) => fields,
        Entry::Text(bundle) => {
            let bundle = Some(bundle).filter(|name| !name.is_empty());
            let bundle = bundle.ok_or_else(|| Problem::missing("name"))?;
            let (start_at, allow_reassign) = (start_at_top, reassign_at_top);
            return Ok(Line { bundle, repeat: 1, start_at, allow_reassign });
        }
    };
    if fields.text("iccid")?.is_some_and(|text| !text.is_empty()) {
        return Err(with_bundles());
    }
    Ok(Line {
        bundle: name(&mut fields)?.ok_or_else(|| Problem::missing("name"))?,
        repeat: repeat(&mut fields)?.unwrap_or(1),
        start_at: start_at(&mut fields)?.or(start_at_top),
        allow_reassign: fields.boolean("allowReassign")?.unwrap_or(reassign_at_top),
    })
}

/// `bundle` and `name` are two words for one thing.
fn name(fields: &mut Fields) -> Result<Option<String>, Problem> {
    let bundle = fields.text("bundle")?.filter(|name| !name.is_empty());
    let name = fields.text("name")?.filter(|name| !name.is_empty());
    match (bundle, name) {
        (Some(bundle), Some(name)) if bundle != name => Err(Problem::invalid("bundle")),
        (bundle, name) => Ok(bundle.or(name)),
    }
}

const OUT_OF_RANGE: (&str, &str) = ("repeat-out-of-range", "repeat must be between 1 and 1000");

/// Nothing and 0 mean that it was not given.
fn repeat(fields: &mut Fields) -> Result<Option<i64>, Problem> {
    match fields.count("repeat")? {
        Count::Absent | Count::Whole(0) => Ok(None),
        Count::Whole(repeat) if (1..=limits::APPLY_BUNDLES_MAX).contains(&repeat) => {
            Ok(Some(repeat))
        }
        Count::Whole(_) | Count::Odd => Err(Problem::bad_request(OUT_OF_RANGE.0, OUT_OF_RANGE.1)),
    }
}

fn start_at(fields: &mut Fields) -> Result<Option<Timestamp>, Problem> {
    let odd = |_| Problem::bad_request("invalid-start-time", "invalid startTime");
    let text = fields.text("startTime")?.filter(|text| !text.is_empty());
    text.map(|text| Timestamp::parse(&text).map_err(odd)).transpose()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied<'a> {
    esims: Vec<Row<'a>>,
    apply_reference: &'a str,
}

#[derive(Serialize)]
struct Row<'a> {
    iccid: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<&'a str>,
}

/// The answer to an apply, in the form of the version that asked.
pub(crate) fn apply_answer(form: &str, outcome: &Outcome) -> Answer {
    let (version, to_one) =
        form.strip_suffix(TO_ONE).map_or((form, false), |version| (version, true));
    let (reference, assigned, is_processing) = match outcome {
        Outcome::Applied { reference, assigned, is_processing } => {
            (reference, assigned, *is_processing)
        }
        Outcome::Refused(refusal) => return refusal_answer(refusal),
    };
    let status = if is_processing { "Processing" } else { "Successfully Applied Bundle" };
    if to_one {
        return done(&json!({ "status": status }));
    }
    let named = Change::ApplyBundles.seen_by(version_of(version));
    let esims = assigned.iter().map(|one| Row {
        iccid: one.iccid.as_str(),
        status,
        bundle: named.then_some(one.bundle.as_str()),
    });
    done(&Applied { esims: esims.collect(), apply_reference: reference })
}

fn refusal_answer(refusal: &Refusal) -> Answer {
    match refusal {
        Refusal::Quantity => refused(OUT_OF_RANGE.0, OUT_OF_RANGE.1),
        Refusal::TooMany => {
            refused("too-many-bundles", "at most 1000 bundles can be applied in one request")
        }
        Refusal::UnknownBundle(name) => {
            let problem = unknown_bundle(name);
            refused(problem.code, &problem.message)
        }
        Refusal::NoneLeft(name) => {
            let text = format!("no bundles available: {name}");
            Answer { status: 403, ..refused("no-bundles-left", &text) }
        }
        Refusal::NotYourEsim => not_your_esim(),
        Refusal::Deactivated => deactivated(),
        Refusal::NotCompatible => not_compatible(),
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::OutOfStock => Self::new(StatusCode::SERVICE_UNAVAILABLE, "out-of-stock", text),
            Error::Key(error) => error.into(),
            Error::Store(cause) => cause.into(),
        }
    }
}
