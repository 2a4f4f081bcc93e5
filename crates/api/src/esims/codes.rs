//! Install data of orders and applies as CSV, JSON or a ZIP of pictures, written while it is sent.

use std::collections::{HashMap, HashSet, VecDeque};

use app::esims::codes::{Download, Error, Installable};
use app::{Caller, StoreError, qr};
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::Iccid;
use futures_util::stream;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;

use super::not_yours;
use super::wire::Extras;
use super::zip::Zip;
use crate::Api;
use crate::caller::By;
use crate::path::{Named, Params};
use crate::problem::Problem;
use crate::query::Query;
use crate::versions::{Change, Version};
use domain::csv::cell;

/// Pictures drawn before others get their turn.
const PICTURES_AT_ONCE: usize = 32;

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
    let extras = Extras::of(&query);
    Ok(install_data((&api, &caller), references, (kind, extras)).await?)
}

/// `GET /esims/qr/{reference}`.
pub(crate) async fn pictures(
    By(caller): By,
    State(api): State<Api>,
    Named(reference): Named,
) -> Result<Response, Problem> {
    Ok(install_data((&api, &caller), vec![reference], (Kind::Zip, Extras::None)).await?)
}

/// `GET /esims/csv/{reference}`.
pub(crate) async fn table(
    By(caller): By,
    State(api): State<Api>,
    Named(reference): Named,
    query: Query,
) -> Result<Response, Problem> {
    let form = (Kind::Csv, Extras::of(&query));
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
    (kind, extras): (Kind, Extras),
) -> Result<Response, Error> {
    let name = references.first().cloned().unwrap_or_default();
    let references = match kind {
        Kind::Csv | Kind::Json => references,
        Kind::Zip => together(references),
    };
    let download = api.app.download(caller, references).await?;
    let writing = Writing {
        download,
        form: Form { kind, extras, version: api.version },
        step: Step::Open,
        waiting: VecDeque::new(),
        zip: Zip::default(),
        drawn: HashSet::new(),
        table: (String::new(), String::new()),
    };
    let body = Body::from_stream(stream::unfold(writing, Writing::next));
    let mut response = ([(header::CONTENT_TYPE, kind.name())], body).into_response();
    // A reference that was found is letters, digits and hyphens.
    let file = HeaderValue::from_str(&format!("attachment; filename=\"{name}.zip\""));
    if let (Kind::Zip, Ok(file)) = (kind, file) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, file);
    }
    Ok(response)
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
    kind: Kind,
    extras: Extras,
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

/// A download on its way out.
struct Writing {
    download: Download,
    form: Form,
    step: Step,
    waiting: VecDeque<Installable>,
    zip: Zip,
    /// An eSIM with two bundles has one picture.
    drawn: HashSet<Iccid>,
    /// The reference at hand and its table, where the archive holds one.
    table: (String, String),
}

impl Writing {
    async fn next(mut self) -> Option<(Result<Vec<u8>, StoreError>, Self)> {
        let piece = match self.step {
            Step::Done => return None,
            Step::Open => {
                self.step = Step::Rows { is_first: true };
                Ok(self.opening())
            }
            Step::Rows { is_first } => self.rows(is_first).await,
        };
        if piece.is_err() {
            // The connection breaks off, so that nobody takes half of it for all.
            self.step = Step::Done;
        }
        Some((piece, self))
    }

    fn opening(&self) -> Vec<u8> {
        match self.form.kind {
            Kind::Csv => self.form.headings().into_bytes(),
            Kind::Json => b"[".to_vec(),
            Kind::Zip => Vec::new(),
        }
    }

    async fn rows(&mut self, is_first: bool) -> Result<Vec<u8>, StoreError> {
        if self.waiting.is_empty() {
            let Some(rows) = self.download.next().await? else {
                self.step = Step::Done;
                return Ok(self.closing());
            };
            self.waiting.extend(rows);
        }
        self.step = Step::Rows { is_first: false };
        let at_once = match self.form.kind {
            Kind::Csv | Kind::Json => self.waiting.len(),
            Kind::Zip => self.waiting.len().min(PICTURES_AT_ONCE),
        };
        let rows: Vec<_> = self.waiting.drain(..at_once).collect();
        match self.form.kind {
            Kind::Csv => Ok(rows.iter().map(|row| self.form.line(row)).collect::<String>().into()),
            Kind::Json => self.form.objects(&rows, is_first),
            Kind::Zip => self.files(&rows),
        }
    }

    fn files(&mut self, rows: &[Installable]) -> Result<Vec<u8>, StoreError> {
        let mut out = Vec::new();
        for row in rows {
            if Change::ZipTable.seen_by(self.form.version) {
                self.note(row, &mut out);
            }
            if self.drawn.insert(row.code.iccid.clone()) {
                let drawn = qr::png(&row.code.activation_code());
                let drawn = drawn.map_err(|error| StoreError::Refused(error.to_string()))?;
                self.zip.add(&mut out, &format!("{}.png", row.code.iccid), &drawn);
            }
        }
        Ok(out)
    }

    /// A line in the table of its order.
    fn note(&mut self, row: &Installable, out: &mut Vec<u8>) {
        if self.table.0 != row.reference {
            self.close_table(out);
            self.table = (row.reference.clone(), self.form.headings());
        }
        self.table.1.push_str(&self.form.line(row));
    }

    fn close_table(&mut self, out: &mut Vec<u8>) {
        let (reference, table) = std::mem::take(&mut self.table);
        if !reference.is_empty() {
            self.zip.add(out, &format!("{reference}.csv"), table.as_bytes());
        }
    }

    fn closing(&mut self) -> Vec<u8> {
        match self.form.kind {
            Kind::Csv => Vec::new(),
            Kind::Json => b"]".to_vec(),
            Kind::Zip => {
                let mut out = Vec::new();
                self.close_table(&mut out);
                std::mem::take(&mut self.zip).finish(&mut out);
                out
            }
        }
    }
}

impl Form {
    fn headings(self) -> String {
        let apple = if self.extras.has_apple() { ",Apple Install URL" } else { "" };
        let android = if self.extras.has_android() { ",Android Install URL" } else { "" };
        format!("ICCID,Matching ID,RSP URL,Bundle,Reference{apple}{android}\n")
    }

    fn line(self, row: &Installable) -> String {
        let Installable { code, bundle, reference, .. } = row;
        let mut cells = vec![
            code.iccid.to_string(),
            cell(code.matching_id.expose()),
            cell(&code.smdp_address),
            cell(bundle),
            reference.clone(),
        ];
        if self.extras.has_apple() {
            cells.push(cell(&code.apple_url()));
        }
        if self.extras.has_android() {
            cells.push(cell(&code.android_url()));
        }
        format!("{}\n", cells.join(","))
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
            apple_install_url: form.extras.has_apple().then(|| code.apple_url()),
            android_install_url: form.extras.has_android().then(|| code.android_url()),
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
