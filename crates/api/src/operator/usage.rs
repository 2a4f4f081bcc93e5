//! `POST /operator/v1/usage`: what networks and installation servers tell, as a batch of
//! CloudEvents. A record that is wrong spoils no other.

use app::usage::{NewRecord, Place, Told, Verdict};
use axum::extract::State;
use domain::esim::ProfileStatus;
use domain::{Iccid, Timestamp, limits};
use serde::Serialize;

use super::page_size;
use crate::Api;
use crate::caller::ByOperator;
use crate::front::Upload;
use crate::json::{Answer, Count, Fields, ok};
use crate::problem::Problem;
use crate::query::Query;

#[derive(Serialize)]
pub(crate) struct Outcome {
    results: Vec<Judged>,
}

#[derive(Serialize)]
struct Judged {
    id: String,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

impl Judged {
    fn of(id: String, verdict: Verdict) -> Self {
        let (verdict, why) = match verdict {
            Verdict::Accepted => ("accepted", None),
            Verdict::Duplicate => ("duplicate", None),
            Verdict::Rejected(why) => ("rejected", Some(why)),
        };
        Self { id, verdict, why }
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
    let mut ids = Vec::with_capacity(events.len());
    let mut read = Vec::with_capacity(events.len());
    for event in events {
        let mut event = event.unwrap_or_default();
        let id = event.text("id").ok().flatten().unwrap_or_default();
        read.push(record(id.clone(), event));
        ids.push(id);
    }
    let good: Vec<_> = read.iter().filter_map(|one| one.as_ref().ok().cloned()).collect();
    let mut verdicts = api.app.take_records(good).await?.into_iter();
    let results = read.into_iter().zip(ids).map(|(one, id)| match one {
        Ok(_) => Judged::of(id, verdicts.next().unwrap_or(Verdict::Rejected("not taken"))),
        Err(why) => Judged::of(id, Verdict::Rejected(why)),
    });
    Ok(ok(Outcome { results: results.collect() }))
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

fn record(id: String, mut event: Fields) -> Result<NewRecord, &'static str> {
    let mut text = |name: &str| event.text(name).ok().flatten().unwrap_or_default();
    if text("specversion") != "1.0" {
        return Err("specversion must be 1.0");
    }
    let (source, kind, time) = (text("source"), text("type"), text("time"));
    let fits = |text: &str| (1..=limits::RECORD_NAME_CHARS_MAX).contains(&text.chars().count());
    if !fits(&id) {
        return Err("id must have 1 to 255 characters");
    }
    if !fits(&source) {
        return Err("source must have 1 to 255 characters");
    }
    let at = Timestamp::parse(&time).map_err(|_| "time must be an RFC 3339 date-time")?;
    let mut data = event.object("data").map_err(|_| "data must be an object")?;
    let iccid = data.text("iccid").ok().flatten().unwrap_or_default();
    let iccid = Iccid::parse(&iccid).map_err(|_| "iccid must be 18 to 20 digits")?;
    let told = match kind.as_str() {
        "tern.usage.data" => Told::Used { bytes: bytes(&mut data)?, place: place(&mut data)? },
        "tern.network.attach" => {
            Told::Attached(place(&mut data)?.ok_or("country must be an ISO code")?)
        }
        "tern.profile.progress" => Told::Progress(progress(&mut data)?),
        _ => return Err("type is not known"),
    };
    Ok(NewRecord { source, id, iccid, at, told })
}

fn bytes(data: &mut Fields) -> Result<i64, &'static str> {
    match data.count("bytes") {
        Ok(Count::Whole(bytes)) if (1..=limits::RECORD_BYTES_MAX).contains(&bytes) => Ok(bytes),
        _ => Err("bytes must be a whole number from 1 to 1000000000000000"),
    }
}

fn place(data: &mut Fields) -> Result<Option<Place>, &'static str> {
    let country = data.text("country").map_err(|_| "country must be an ISO code")?;
    let network = data.text("network").map_err(|_| "network must be a TADIG code")?;
    let country = country.filter(|country| !country.is_empty());
    let short = |text: &str| text.len() <= 10 && text.bytes().all(|b| b.is_ascii_graphic());
    if !country.as_deref().is_none_or(short) {
        return Err("country must be an ISO code");
    }
    let network = network.unwrap_or_default();
    if !short(&network) {
        return Err("network must be a TADIG code");
    }
    Ok(country.map(|country| Place { country, network }))
}

fn progress(data: &mut Fields) -> Result<ProfileStatus, &'static str> {
    let status = data.text("status").ok().flatten().unwrap_or_default();
    let status = ProfileStatus::parse(&status).filter(|s| *s != ProfileStatus::Deactivated);
    status.ok_or("status must be Downloaded, Installed, Released or Unavailable")
}
