//! Install data of orders and applies as CSV, JSON or a ZIP of pictures, written while it is sent.

use std::collections::HashMap;

use app::esims::codes::{Download, Error, Installable};
use app::esims::files::{self, Links, Writing};
use app::{Caller, StoreError, qr};
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;

use super::not_yours;
use super::wire::links;
use crate::Api;
use crate::caller::By;
use crate::path::{Named, Params};
use crate::problem::Problem;
use crate::query::Query;
use crate::versions::{Change, Version};

/// In which form install data is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Csv,
    Json,
    Zip,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Csv, Self::Json, Self::Zip];

    fn name(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::Json => "application/json",
            Self::Zip => "application/zip",
        }
    }

    /// The one that is liked best, the first of equals; CSV when none is known.
    fn accepted(headers: &HeaderMap) -> Self {
        let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut best = (Self::Csv, 0);
        for range in values.flat_map(|value| value.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let known = Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1_000, weight);
            if let Some(kind) = known
                && weight > best.1
            {
                best = (kind, weight);
            }
        }
        best.0
    }
}

/// `0.85` → 850; what is no weight is none at all.
fn weight(text: &str) -> u32 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.is_empty() || fraction.len() > 3 {
        return 0;
    }
    let thousandths = format!("{whole}{fraction:0<3}").parse().unwrap_or(0);
    if thousandths <= 1_000 { thousandths } else { 0 }
}

/// `GET /esims/assignments`.
pub(crate) async fn assignments(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let references: Vec<_> = query.all("reference").map(ToOwned::to_owned).collect();
    if references.is_empty() {
        return Err(Problem::missing("reference"));
    }
    let kind = Kind::accepted(&headers);
    Ok(install_data((&api, &caller), references, (kind, links(&query))).await?)
}

/// `GET /esims/qr/{reference}`.
pub(crate) async fn pictures(
    By(caller): By,
    State(api): State<Api>,
    Named(reference): Named,
) -> Result<Response, Problem> {
    Ok(install_data((&api, &caller), vec![reference], (Kind::Zip, Links::None)).await?)
}

/// `GET /esims/csv/{reference}`.
pub(crate) async fn table(
    By(caller): By,
    State(api): State<Api>,
    Named(reference): Named,
    query: Query,
) -> Result<Response, Problem> {
    let form = (Kind::Csv, links(&query));
    match install_data((&api, &caller), vec![reference], form).await {
        Err(Error::UnknownReference) if Change::UnknownEsimDenied.seen_by(api.version) => {
            Err(Problem::denied("unknown-reference"))
        }
        answered => Ok(answered?),
    }
}

/// `GET /esims/{iccid}/qr`.
pub(crate) async fn picture(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
) -> Result<Response, Problem> {
    let found = api.app.esim_detail(&caller, &params.iccid()?).await?;
    let detail = found.ok_or_else(not_yours)?;
    if detail.esim.is_deactivated() {
        return Err(Error::Deactivated.into());
    }
    let picture = qr::png(&detail.code().activation_code());
    let picture = picture.map_err(|error| Problem::internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "image/png")], picture).into_response())
}

async fn install_data(
    (api, caller): (&Api, &Caller),
    references: Vec<String>,
    (kind, links): (Kind, Links),
) -> Result<Response, Error> {
    let name = references.first().cloned().unwrap_or_default();
    let references = match kind {
        Kind::Csv | Kind::Json => references,
        Kind::Zip => together(references),
    };
    let download = api.app.download(caller, references).await?;
    let form = Form { links, version: api.version };
    let body = match kind {
        Kind::Csv => written(download, files::Kind::Table(links)),
        Kind::Zip => written(download, files::Kind::Pictures(form.table_in_archive())),
        Kind::Json => {
            let objects = Objects { download, form, step: Step::Open };
            Body::from_stream(stream::unfold(objects, Objects::next))
        }
    };
    let mut response = ([(header::CONTENT_TYPE, kind.name())], body).into_response();
    // A reference that was found is letters, digits and hyphens.
    let file = HeaderValue::from_str(&format!("attachment; filename=\"{name}.zip\""));
    if let (Kind::Zip, Ok(file)) = (kind, file) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, file);
    }
    Ok(response)
}

fn written(download: Download, kind: files::Kind) -> Body {
    Body::from_stream(stream::unfold(Writing::new(download, kind), Writing::next))
}

/// The parts of one order side by side, so that an archive has one table of it.
fn together(references: Vec<String>) -> Vec<String> {
    /// Of an order; what follows names a part of it.
    const REFERENCE_CHARS: usize = 36;
    let of_order = |text: &str| text.get(..REFERENCE_CHARS).unwrap_or(text).to_owned();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, reference) in references.iter().enumerate() {
        places.entry(of_order(reference)).or_insert(place);
    }
    let mut grouped = references;
    grouped.sort_by_key(|reference| places.get(&of_order(reference)).copied());
    grouped
}

#[derive(Clone, Copy)]
struct Form {
    links: Links,
    version: Version,
}

enum Step {
    Open,
    /// Whether something was written before.
    Rows {
        is_first: bool,
    },
    Done,
}

/// A list of objects on its way out.
struct Objects {
    download: Download,
    form: Form,
    step: Step,
}

impl Objects {
    async fn next(mut self) -> Option<(Result<Vec<u8>, StoreError>, Self)> {
        let piece = match self.step {
            Step::Done => return None,
            Step::Open => {
                self.step = Step::Rows { is_first: true };
                Ok(b"[".to_vec())
            }
            Step::Rows { is_first } => self.rows(is_first).await,
        };
        if piece.is_err() {
            // The connection breaks off, so that nobody takes half of it for all.
            self.step = Step::Done;
        }
        Some((piece, self))
    }

    async fn rows(&mut self, is_first: bool) -> Result<Vec<u8>, StoreError> {
        let Some(rows) = self.download.next().await? else {
            self.step = Step::Done;
            return Ok(b"]".to_vec());
        };
        self.step = Step::Rows { is_first: false };
        self.form.objects(&rows, is_first)
    }
}

impl Form {
    fn table_in_archive(self) -> Option<Links> {
        Change::ZipTable.seen_by(self.version).then_some(self.links)
    }

    fn objects(self, rows: &[Installable], is_first: bool) -> Result<Vec<u8>, StoreError> {
        let mut out = Vec::new();
        for (row, n) in rows.iter().zip(0..) {
            if n > 0 || !is_first {
                out.push(b',');
            }
            let odd = |error: serde_json::Error| StoreError::Refused(error.to_string());
            serde_json::to_writer(&mut out, &WireRow::of(row, self)).map_err(odd)?;
        }
        Ok(out)
    }
}

/// An eSIM of an order. What a version does not have is not there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireRow<'r> {
    iccid: &'r str,
    matching_id: &'r str,
    rsp_url: &'r str,
    smdp_address: &'r str,
    bundle: &'r str,
    reference: &'r str,
    #[serde(flatten)]
    secrets: Option<Secrets<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    apple_install_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    android_install_url: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Secrets<'r> {
    profile_status: &'static str,
    pin: &'r str,
    puk: &'r str,
    first_installed_date_time: Option<String>,
}

impl<'r> WireRow<'r> {
    fn of(row: &'r Installable, form: Form) -> Self {
        let Installable { code, bundle, reference, status, pin, puk, first_installed_at } = row;
        Self {
            iccid: code.iccid.as_str(),
            matching_id: code.matching_id.expose(),
            rsp_url: &code.smdp_address,
            smdp_address: &code.smdp_address,
            bundle,
            reference,
            secrets: Change::InstallSecrets.seen_by(form.version).then(|| Secrets {
                profile_status: status.name(),
                pin: pin.expose(),
                puk: puk.expose(),
                first_installed_date_time: first_installed_at.map(|at| at.to_string()),
            }),
            apple_install_url: form.links.has_apple().then(|| code.apple_url()),
            android_install_url: form.links.has_android().then(|| code.android_url()),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::UnknownReference => Self::bad_request("unknown-reference", text),
            Error::StillProcessing => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "still-processing", text).after(5)
            }
            Error::Deactivated => Self::new(StatusCode::GONE, "esim-deactivated", text),
            Error::Store(cause) => cause.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(values: &[&'static str]) -> Kind {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::ACCEPT, HeaderValue::from_static(value));
        }
        Kind::accepted(&headers)
    }

    #[test]
    fn the_type_liked_best_wins_and_csv_when_none_is_known() {
        for (values, kind) in [
            (&[][..], Kind::Csv),
            (&["*/*"], Kind::Csv),
            (&["image/png"], Kind::Csv),
            (&["application/json"], Kind::Json),
            (&["Application/JSON; charset=utf-8"], Kind::Json),
            (&["application/json, text/plain, */*"], Kind::Json),
            (&["text/csv;q=0.5, application/zip;q=0.9"], Kind::Zip),
            (&["application/zip;q=0.5", "application/json;q=0.5"], Kind::Zip),
            (&["*/*, application/json;q=0.1"], Kind::Json),
            (&["application/json;q=0"], Kind::Csv),
            (&["application/zip;q=x"], Kind::Csv),
        ] {
            assert_eq!(accepted(values), kind, "{values:?}");
        }
    }
}
