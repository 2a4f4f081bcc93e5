//! Forms that change an eSIM or what is on it. One that is sent twice has one effect.

use app::esims::{apply, change, revoke, sms};
use app::orders::{Intent, Processing};
use axum::extract::{Path, State};
use axum::response::Response;
use domain::{Right, Timestamp};

use crate::reseller::desk::Desk;
use crate::reseller::trouble::sent_twice;
use crate::reseller::{Form, Trouble, Visit, follow, refused};
use crate::words::{answers, esims as words, trouble};

/// What the menu does.
pub(super) async fn change(
    State(desk): State<Desk>,
    visit: Visit,
    Path(iccid): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    use change::Change;
    let iccid = super::number(&iccid)?;
    let home = super::home(&iccid);
    let wanted = match form.text("what") {
        "reference" => Change::CustomerRef(form.text("reference").to_owned()),
        "refresh" => Change::Refresh,
        "suspend" => Change::Suspend,
        "resume" => Change::Resume,
        "delete" => Change::Delete,
        _ => return Err(Trouble::Malformed(trouble::NO_ACT)),
    };
    let is_delete = matches!(wanted, Change::Delete);
    let request = visit.request(&desk.app, &form, ("esim.change", iccid.as_str()))?;
    match desk.app.change_esim(visit.member.caller(), (iccid, wanted), &request).await {
        Ok(answer) if is_delete && answer.is_yes() => Ok(follow(&answer, super::LIST)),
        Ok(answer) => Ok(follow(&answer, &home)),
        Err(change::Error::NetworkAway) => Ok(refused(&home, words::NETWORK_AWAY)),
        Err(change::Error::Key(error)) => sent_twice(error, &home),
        Err(change::Error::Store(error)) => Err(error.into()),
    }
}

/// Puts a bundle of the inventory on it.
pub(super) async fn apply(
    State(desk): State<Desk>,
    visit: Visit,
    Path(iccid): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let iccid = super::number(&iccid)?;
    let home = super::home(&iccid);
    let Ok(start_at) = form.maybe("start").map(Timestamp::parse).transpose() else {
        return Ok(refused(&home, words::BAD_START));
    };
    let request = visit.request(&desk.app, &form, ("bundle.apply", iccid.as_str()))?;
    let line = apply::Line {
        bundle: form.text("bundle").to_owned(),
        repeat: 1,
        start_at,
        allow_reassign: false,
    };
    let command = apply::Command {
        iccid: Some(iccid),
        lines: vec![line],
        processing: Processing::Now,
        is_listed: true,
        source_ip: visit.from.address.to_string(),
    };
    match desk.app.apply(visit.member.caller(), command, &request).await {
        Ok(answer) => Ok(follow(&answer, &home)),
        Err(apply::Error::OutOfStock) => Ok(refused(&home, answers::OUT_OF_STOCK)),
        Err(apply::Error::Key(error)) => sent_twice(error, &home),
        Err(apply::Error::Store(error)) => Err(error.into()),
    }
}

/// Takes a bundle off it. Money comes back only to those who may spend it.
pub(super) async fn revoke(
    State(desk): State<Desk>,
    visit: Visit,
    Path(iccid): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let iccid = super::number(&iccid)?;
    let home = super::home(&iccid);
    let to_balance = form.text("to") == "balance";
    if to_balance {
        visit.must(Right::Pay)?;
    }
    let request = visit.request(&desk.app, &form, ("bundle.revoke", iccid.as_str()))?;
    let command = revoke::Command {
        iccid,
        bundle: form.text("bundle").to_owned(),
        id: Some(form.number("id").unwrap_or(0)),
        intent: Intent::Transaction,
        to_balance,
        source_ip: visit.from.address.to_string(),
    };
    match desk.app.revoke(visit.member.caller(), command, &request).await {
        Ok(answer) => Ok(follow(&answer, &home)),
        Err(revoke::Error::Key(error)) => sent_twice(error, &home),
        Err(revoke::Error::Store(error)) => Err(error.into()),
    }
}

/// Sends a text message to it.
pub(super) async fn send(
    State(desk): State<Desk>,
    visit: Visit,
    Path(iccid): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let iccid = super::number(&iccid)?;
    let home = super::home(&iccid);
    let request = visit.request(&desk.app, &form, ("sms.send", iccid.as_str()))?;
    let text = (form.maybe("sender").map(str::to_owned), form.text("message").to_owned());
    match desk.app.send_sms(visit.member.caller(), iccid, text, &request).await {
        Ok(answer) => Ok(follow(&answer, &home)),
        Err(sms::Error::Unavailable) => Ok(refused(&home, words::SMS_AWAY)),
        Err(sms::Error::Key(error)) => sent_twice(error, &home),
        Err(sms::Error::Store(error)) => Err(error.into()),
    }
}
