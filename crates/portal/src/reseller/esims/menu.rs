//! Everything that can be done with an eSIM as a whole, each with what it means.

use domain::Right;
use maud::{Markup, html};

use super::one::About;
use crate::kit::form::{self, Field, Kind};
use crate::kit::{self, menu_link};
use crate::reseller::Visit;
use crate::words::esims as words;

pub(super) fn menu(visit: &Visit, about: &About) -> Markup {
    let esim = about.esim();
    let mut items = Vec::new();
    if visit.may(Right::Care) {
        let change = |what: &str, body: Markup| {
            let fields = html! { input type="hidden" name="what" value=(what); (body) };
            let action = super::deed(&esim.iccid, "change");
            form::form(&action, &visit.csrf, Some(&visit.once), fields)
        };
        let plain = |what: &str, label: &str, says: &str| {
            form::confirm(label, says, change(what, form::button(Kind::Main, label)))
        };
        let reference = html! {
            (Field::text("reference", words::REFERENCE).value(&esim.customer_ref).longest(255))
            (form::buttons(&[form::button(Kind::Main, words::SAVE)]))
        };
        let reference = change("reference", reference);
        items.push(form::confirm(words::REFERENCE_EDIT, words::REFERENCE_SAYS, reference));
        if !esim.is_deactivated() {
            items.push(plain("refresh", words::REFRESH, words::REFRESH_SAYS));
            items.push(match esim.suspended_by {
                None => plain("suspend", words::SUSPEND, words::SUSPEND_SAYS),
                Some(_) => plain("resume", words::RESUME, words::RESUME_SAYS),
            });
        }
        let bundles = about.one.bundles.iter();
        let lost = bundles.filter(|one| !one.assignment.state.is_finished()).count();
        let delete = change("delete", form::button(Kind::Danger, words::DELETE_BUTTON));
        items.push(form::confirm(words::DELETE, words::delete_says(lost), delete));
    }
    if visit.may(Right::Manage) {
        let href = format!("/portal/team/erasure?who={}", esim.iccid);
        items.push(menu_link(words::ERASE, &href, words::ERASE_SAYS));
    }
    if items.is_empty() {
        return html! {};
    }
    kit::menu(words::MENU, &items)
}
