//! How to install it: the code to scan, links that open a phone's own installation, and what can be
//! typed in by hand. For those who may see codes.

use app::qr;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::Right;
use domain::esim::InstallCode;
use maud::{Markup, html};

use super::one::About;
use crate::kit::qr::Card;
use crate::kit::{self, facts, figures};
use crate::reseller::desk::Desk;
use crate::reseller::{Trouble, Visit};
use crate::words::esims as words;

pub(super) async fn section(
    desk: &Desk,
    visit: &Visit,
    about: &About,
) -> Result<Option<Markup>, Trouble> {
    if !visit.may(Right::Codes) {
        return Ok(None);
    }
    let iccid = &about.esim().iccid;
    if about.esim().is_deactivated() {
        return Ok(Some(kit::section(words::INSTALL, None, html! { p { (words::NO_CODE) } })));
    }
    let detail = desk.app.esim_detail(visit.member.caller(), iccid).await?;
    let detail = detail.ok_or(Trouble::Missing)?;
    let picture = super::deed(iccid, "qr.png");
    let card = Card { src: &picture, iccid: iccid.as_str(), says: "" };
    let unlock =
        [(words::PIN, detail.secrets.pin.expose()), (words::PUK, detail.secrets.puk.expose())];
    let unlock = unlock.into_iter().filter(|(_, code)| !code.is_empty());
    let unlock: Vec<_> =
        unlock.map(|(label, code)| (label, figures::copyable(code, label))).collect();
    let body = html! {
        p.quiet { (words::INSTALL_SAYS) }
        (kit::qr::card(card))
        (facts(&links(&detail.code())))
        details.data {
            summary { (words::BY_HAND) }
            (facts(&by_hand(&detail.code())))
            @if !unlock.is_empty() { (facts(&unlock)) }
        }
    };
    Ok(Some(kit::section(words::INSTALL, None, body)))
}

fn links(code: &InstallCode) -> [(&'static str, Markup); 2] {
    let link = |url: &str, label: &str| {
        html! {
            span.copyable {
                a href=(url) rel="noreferrer" { (words::OPEN) }
                (figures::copy_button(url, label))
            }
        }
    };
    [
        (words::APPLE, link(&code.apple_url(), words::APPLE)),
        (words::ANDROID, link(&code.android_url(), words::ANDROID)),
    ]
}

/// What a phone asks for when there is nothing to scan.
fn by_hand(code: &InstallCode) -> [(&'static str, Markup); 3] {
    [
        (words::SMDP, figures::copyable(&code.smdp_address, words::SMDP)),
        (words::MATCHING, figures::copyable(code.matching_id.expose(), words::MATCHING)),
        (words::LPA, figures::copyable(&code.activation_code(), words::LPA)),
    ]
}

/// The code as a picture, the same as the interface gives.
pub(super) async fn picture(
    State(desk): State<Desk>,
    visit: Visit,
    Path(iccid): Path<String>,
) -> Result<Response, Trouble> {
    let iccid = super::number(&iccid)?;
    let detail = desk.app.esim_detail(visit.member.caller(), &iccid).await?;
    let detail = detail.filter(|detail| !detail.esim.is_deactivated()).ok_or(Trouble::Missing)?;
    let picture = qr::png(&detail.code().activation_code());
    let picture = picture.map_err(|error| Trouble::Broken(error.to_string()))?;
    let headers = [(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, picture).into_response())
}
