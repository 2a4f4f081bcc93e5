//! `POST /operator/v1/usage`: what networks and installation servers tell, as a batch of
//! CloudEvents. A record that is wrong spoils no other.

use app::usage::Verdict;
use axum::extract::State;
use domain::limits;
use serde::Serialize;

use super::page_size;
use crate::Api;
use crate::caller::ByOperator;
use crate::front::Upload;
use crate::import::usage::{Chunk, Judged};
use crate::json::{Answer, Fields, ok};
use crate::problem::Problem;
use crate::query::Query;

#[derive(Serialize)]
pub(crate) struct Outcome {
    results: Vec<WireVerdict>,
}

#[derive(Serialize)]
struct WireVerdict {
    id: String,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

impl From<Judged> for WireVerdict {
    fn from(judged: Judged) -> Self {
        let (verdict, why) = match judged.verdict {
            Verdict::Accepted => ("accepted", None),
            Verdict::Duplicate => ("duplicate", None),
            Verdict::Rejected(why) => ("rejected", Some(why)),
        };
        Self { id: judged.id, verdict, why }
    }
}

/// `POST /usage`.
pub(crate) async fn take(
    _: ByOperator,
    State(api): State<Api>,
    upload: Upload<{ limits::RECORDS_BYTES_MAX }>,
) -> Result<Answer<Outcome>, Problem> {
    let events = Fields::read_list(&upload.bytes)?;
    if events.len() > limits::RECORDS_MAX {
        let text = "at most 10000 records can be sent at once";
        return Err(Problem::bad_request("too-many-records", text));
    }
    let mut chunk = Chunk::default();
    for (place, event) in (1..).zip(events) {
        chunk.add_event(place, event.unwrap_or_default(), "");
    }
    let judged = chunk.take(&api.app).await?;
    Ok(ok(Outcome { results: judged.into_iter().map(WireVerdict::from).collect() }))
}

#[derive(Serialize)]
pub(crate) struct Strays {
    records: Vec<Stray>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stray {
    source: String,
    id: String,
    iccid: String,
    kind: String,
    time: String,
    arrived_at: String,
    bytes: i64,
}

/// `GET /usage/strays`: records of eSIMs that no organisation has.
pub(crate) async fn strays(
    _: ByOperator,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Strays>, Problem> {
    let found = api.app.strays(page_size(&query)?).await?;
    let stray = |stray: app::usage::Stray| Stray {
        source: stray.source,
        id: stray.id,
        iccid: stray.iccid.to_string(),
        kind: stray.kind,
        time: stray.at.to_string(),
        arrived_at: stray.arrived_at.to_string(),
        bytes: stray.bytes,
    };
    Ok(ok(Strays { records: found.into_iter().map(stray).collect() }))
}
