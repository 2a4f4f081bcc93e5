//! `/operator/v1/stock`.

use app::stock::{Error, Judged, Verdict};
use axum::extract::State;
use domain::{Mode, limits};
use serde::Serialize;

use crate::Api;
use crate::caller::ByOperator;
use crate::front::Upload;
use crate::import::stock::{Chunk, Stock};
use crate::json::{Answer, ok};
use crate::problem::Problem;
use crate::query::Query;

#[derive(Serialize)]
pub(crate) struct WireStock {
    stock: Vec<WireCount>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireCount {
    mode: &'static str,
    profile_name: String,
    free: i64,
}

/// `GET /stock`.
pub(crate) async fn show(
    _: ByOperator,
    State(api): State<Api>,
) -> Result<Answer<WireStock>, Problem> {
    let count = |(mode, profile_name, free): (Mode, String, i64)| WireCount {
        mode: mode.name(),
        profile_name,
        free,
    };
    let stock = api.app.stock().await?.into_iter().map(count).collect();
    Ok(ok(WireStock { stock }))
}

#[derive(Serialize)]
pub(crate) struct Outcome {
    added: usize,
    known: usize,
    rejected: usize,
    results: Vec<WireLine>,
}

#[derive(Serialize)]
struct WireLine {
    line: usize,
    iccid: String,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

impl From<Judged> for WireLine {
    fn from(judged: Judged) -> Self {
        let (verdict, why) = match judged.verdict {
            Verdict::Added => ("added", None),
            Verdict::Known => ("known", None),
            Verdict::Rejected(why) => ("rejected", Some(why)),
        };
        Self { line: judged.line, iccid: judged.iccid, verdict, why }
    }
}

impl From<Vec<Judged>> for Outcome {
    fn from(judged: Vec<Judged>) -> Self {
        let results: Vec<_> = judged.into_iter().map(WireLine::from).collect();
        let count = |verdict| results.iter().filter(|line| line.verdict == verdict).count();
        Self { added: count("added"), known: count("known"), rejected: count("rejected"), results }
    }
}

/// `POST /stock`.
pub(crate) async fn import(
    ByOperator(operator): ByOperator,
    State(api): State<Api>,
    query: Query,
    upload: Upload<{ limits::BODY_BYTES_MAX }>,
) -> Result<Answer<Outcome>, Problem> {
    let mode = query.one("mode").ok_or_else(|| Problem::missing("mode"))?;
    let mode = Mode::parse(mode).ok_or_else(|| Problem::invalid("mode"))?;
    let chunk = if upload.is_csv {
        let mut stock = Stock::open(&upload.bytes[..]).map_err(Problem::malformed)?;
        // One line more than allowed is enough to know.
        let chunk = stock.chunk(limits::STOCK_LINES_MAX + 1);
        chunk.map_err(|error| Problem::malformed(error.to_string()))?
    } else {
        Chunk::from_json(&upload.bytes)?
    };
    if chunk.len() > limits::STOCK_LINES_MAX {
        return Err(Error::TooMany.into());
    }
    Ok(ok(chunk.import(&api.app, operator.actor(), mode).await?.into()))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::TooMany => Self::bad_request("too-many-lines", error.to_string()),
            Error::Store(cause) => cause.into(),
        }
    }
}
