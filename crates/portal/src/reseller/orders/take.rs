//! What people take along from an order: a table, an archive of codes, sheets for the printer.

use std::collections::HashSet;

use app::esims::codes::Error;
use app::esims::files::{Kind, Links, Writing};
use app::orders::Status;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use maud::html;

use super::super::desk::Desk;
use super::super::fields::address;
use super::super::trouble::answer;
use super::super::{Trouble, Visit, refused};
use super::{bundle_title, href};
use crate::kit::form;
use crate::kit::print_page;
use crate::kit::qr::{self, Card, PerSheet};
use crate::kit::table::Pages;
use crate::words::orders as words;

/// Sheets on one page: their codes are pictures that a browser fetches one by one.
const SHEETS: i64 = 5;

pub(super) async fn table(
    State(desk): State<Desk>,
    visit: Visit,
    Path(reference): Path<String>,
) -> Result<Response, Trouble> {
    let kind = Kind::Table(Links::AppleAndAndroid);
    file(&desk, &visit, (&reference, kind), ("text/csv; charset=utf-8", "csv")).await
}

pub(super) async fn pictures(
    State(desk): State<Desk>,
    visit: Visit,
    Path(reference): Path<String>,
) -> Result<Response, Trouble> {
    let kind = Kind::Pictures(Some(Links::AppleAndAndroid));
    file(&desk, &visit, (&reference, kind), ("application/zip", "zip")).await
}

async fn file(
    desk: &Desk,
    visit: &Visit,
    (reference, kind): (&str, Kind),
    (content_type, ending): (&'static str, &str),
) -> Result<Response, Trouble> {
    let references = vec![reference.to_owned()];
    let download = match desk.app.download(visit.member.caller(), references).await {
        Ok(download) => download,
        Err(Error::UnknownReference) => return Err(Trouble::Missing),
        Err(Error::StillProcessing) => {
            return Ok(refused(&href(reference), words::STILL_PROCESSING));
        }
        Err(Error::Deactivated) => return Ok(refused(&href(reference), words::DEACTIVATED)),
        Err(Error::Store(error)) => return Err(error.into()),
    };
    let body = Body::from_stream(stream::unfold(Writing::new(download, kind), Writing::next));
    // A reference that was found is letters, digits and hyphens.
    let name = format!("attachment; filename=\"{reference}.{ending}\"");
    let name = HeaderValue::from_str(&name).map_err(|_| Trouble::Missing)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, body).into_response())
}

pub(super) async fn print(
    State(desk): State<Desk>,
    visit: Visit,
    Path(reference): Path<String>,
) -> Result<Response, Trouble> {
    let (per, number) = match visit.query.text("per") {
        "12" => (PerSheet::Twelve, 12),
        _ => (PerSheet::Six, 6),
    };
    let (from, most) = (visit.query.number("from").unwrap_or(0).max(0), number * SHEETS);
    let found = desk.app.order_page(visit.member.caller(), &reference, (from, most)).await?;
    let page = found.ok_or(Trouble::Missing)?;
    if page.order.status == Status::Processing {
        return Ok(refused(&href(&reference), words::STILL_PROCESSING));
    }
    let shelf = desk.app.catalogue().await?;
    let mut seen = HashSet::new();
    let alive = page.esims.iter().filter_map(|(one, esim)| {
        let esim = esim.as_ref().filter(|esim| !esim.is_deactivated())?;
        // An eSIM with two bundles has one code.
        let src = seen.insert(&esim.iccid).then(|| format!("/portal/esims/{}/qr.png", esim.iccid));
        Some((src?, esim.iccid.as_str(), bundle_title(&shelf, one.bundle.as_str())))
    });
    let alive: Vec<_> = alive.collect();
    if alive.is_empty() && from == 0 || page.order.status == Status::Failed {
        return Ok(refused(&href(&reference), words::NO_CODES));
    }
    let cards = alive.iter().map(|(src, iccid, says)| Card { src, iccid, says });
    let cards: Vec<_> = cards.collect();
    let path = format!("{}/print", href(&reference));
    let per_sheet = number.to_string();
    let at = |from: i64| {
        address(&path, &[("per", per_sheet.as_str()), ("from", from.to_string().as_str())])
    };
    let to = from + i64::try_from(page.esims.len()).unwrap_or(0);
    let previous = (from > 0).then(|| at((from - most).max(0)));
    let next = (to < page.assigned).then(|| at(to));
    let says = words::showing(from + 1, to, page.assigned);
    let content = html! {
        div.filter {
            h1 { (words::print_title(&reference)) }
            p { (words::PRINT_HINT) }
            (form::buttons(&[
                form::link_button(form::Kind::Plain, words::BACK, &href(&reference)),
            ]))
            (Pages { previous: previous.as_deref(), next: next.as_deref(), says: &says })
        }
        (qr::sheets(per, &cards))
    };
    Ok(answer(StatusCode::OK, &print_page(&words::print_title(&reference), content)))
}
