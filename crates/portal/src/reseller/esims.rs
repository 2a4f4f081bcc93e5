//! eSIMs: the list, and the page that explains one.

mod acts;
mod answer;
mod bundles;
mod codes;
mod list;
mod menu;
mod one;
mod phone;
mod sharing;
mod story;
mod usage;

use domain::{Iccid, Right};

use super::{Routes, Trouble};

const LIST: &str = "/portal/esims";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(LIST, Right::See, list::page)
        .get("/portal/esims/{iccid}", Right::See, one::page)
        .get("/portal/esims/{iccid}/qr.png", Right::Codes, codes::picture)
        .post("/portal/esims/{iccid}/change", Right::Care, acts::change)
        .post("/portal/esims/{iccid}/apply", Right::Care, acts::apply)
        .post("/portal/esims/{iccid}/revoke", Right::Care, acts::revoke)
        .post("/portal/esims/{iccid}/sms", Right::Care, acts::send)
        .post("/portal/esims/{iccid}/share", Right::Care, sharing::make)
        .post("/portal/esims/{iccid}/unshare", Right::Care, sharing::revoke)
        .post("/portal/esims/{iccid}/phone", Right::Develop, phone::act)
}

/// The number in an address; what is none leads nowhere.
fn number(text: &str) -> Result<Iccid, Trouble> {
    Iccid::parse(text).map_err(|_| Trouble::Missing)
}

/// The page of an eSIM.
fn home(iccid: &Iccid) -> String {
    format!("{LIST}/{iccid}")
}

/// The address of something that is done with it.
fn deed(iccid: &Iccid, what: &str) -> String {
    format!("{LIST}/{iccid}/{what}")
}
