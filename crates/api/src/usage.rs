//! `/usage/v1`: data used over time.

use app::usage::{Error, Series, Span, Step};
use axum::extract::State;
use domain::{Iccid, Timestamp};
use serde::Serialize;

use crate::Api;
use crate::caller::By;
use crate::json::{Answer, ok};
use crate::path::Params;
use crate::problem::Problem;
use crate::query::Query;

#[derive(Serialize)]
pub(crate) struct Usage {
    series: Vec<Entry>,
    countries: Vec<Country>,
}

#[derive(Serialize)]
struct Entry {
    time: String,
    bytes: i64,
}

#[derive(Serialize)]
struct Country {
    country: String,
    bytes: i64,
}

/// `GET /usage/v1/esims/{iccid}`. What is no ICCID is nobody's eSIM.
pub(crate) async fn of_esim(
    By(caller): By,
    State(api): State<Api>,
    path: Params,
    query: Query,
) -> Result<Answer<Usage>, Problem> {
    let iccid = Iccid::parse(path.get("iccid")).map_err(|_| Problem::denied("not-your-esim"))?;
    let series = api.app.usage_series(&caller, Some(iccid), span(&query)?).await?;
    Ok(ok(series.into()))
}

/// `GET /usage/v1/organisation`.
pub(crate) async fn of_organisation(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Usage>, Problem> {
    Ok(ok(api.app.usage_series(&caller, None, span(&query)?).await?.into()))
}

fn span(query: &Query) -> Result<Span, Problem> {
    let step = match query.one("step") {
        None | Some("day") => Step::Day,
        Some("hour") => Step::Hour,
        Some(_) => return Err(Problem::invalid("step")),
    };
    Ok(Span { from: query.time("from")?, to: query.time("to")?, step })
}

impl From<Series> for Usage {
    fn from(series: Series) -> Self {
        let entry = |(time, bytes): (Timestamp, i64)| Entry { time: time.to_string(), bytes };
        let country = |(country, bytes)| Country { country, bytes };
        Self {
            series: series.steps.into_iter().map(entry).collect(),
            countries: series.countries.into_iter().map(country).collect(),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::NotYourEsim => Self::denied("not-your-esim"),
            Error::Span => Self::bad_request("invalid-parameter", error.to_string()),
            Error::Store(cause) => cause.into(),
        }
    }
}
