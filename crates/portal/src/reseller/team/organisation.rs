//! What the organisation says of itself, and what its wholesaler has set for it.

use app::organisations::{Details, OwnChange};
use axum::extract::State;
use axum::response::Response;
use domain::organisation::Profile;
use domain::{Mode, Organisation, Right};
use maud::{Markup, html};

use super::{Desk, Form, Routes, Trouble, Visit, done, pages};
use crate::kit::form::{self, Field, Kind};
use crate::kit::{Area, facts, section};
use crate::print;
use crate::reseller::trouble::not_set;
use crate::words::team as words;

const HOME: &str = "/portal/team/organisation";

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get(HOME, Right::Manage, page).post(HOME, Right::Manage, save)
}

async fn page(visit: Visit) -> Response {
    let organisation = visit.member.organisation();
    let content = html! {
        (pages(HOME))
        (section(words::DETAILS, None, details(&visit)))
        (section(words::FIXED, None, fixed(organisation)))
    };
    visit.page((Area::Team, words::ORGANISATION), None, content)
}

fn details(visit: &Visit) -> Markup {
    let profile = &visit.member.organisation().profile;
    let fields = html! {
        @for (name, label) in words::FIELDS {
            @let field = if name == "notes" {
                Field::textarea(name, label)
            } else {
                Field::text(name, label)
            };
            @let field = field.value(value(profile, name));
            @if name == "name" { (field.required()) } @else { (field) }
        }
        (form::buttons(&[form::button(Kind::Main, words::SAVE)]))
    };
    form::form(HOME, &visit.csrf, None, fields)
}

fn value<'a>(profile: &'a Profile, name: &str) -> &'a str {
    match name {
        "name" => &profile.name,
        "addr1" => &profile.addr1,
        "addr2" => &profile.addr2,
        "city" => &profile.city,
        "postcode" => &profile.postcode,
        "country" => &profile.country,
        "website" => &profile.website,
        "business_type" => &profile.business_type,
        "product_description" => &profile.product_description,
        _ => &profile.notes,
    }
}

fn fixed(organisation: &Organisation) -> Markup {
    let settings = &organisation.settings;
    let list = |names: &[String], none: &str| {
        if names.is_empty() { none.to_owned() } else { names.join(", ") }
    };
    let mode = match organisation.mode {
        Mode::Sandbox => words::SANDBOX,
        Mode::Live => words::LIVE,
    };
    facts(&[
        (words::ID, html! { code { (organisation.known_as) } }),
        (words::MODE, html! { (mode) }),
        (words::CURRENCY, html! { (organisation.currency.code()) }),
        (words::TAX, html! { (organisation.profile.tax_liable) }),
        (words::REFUND_TIME, html! { (print::counted(settings.refund_days, "day")) }),
        (words::GROUPS, html! { (list(&settings.groups, words::ALL_GROUPS)) }),
        (words::SENDERS, html! { (list(&settings.senders, words::DEFAULT_SENDER)) }),
    ])
}

async fn save(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let text = |name: &str| Some(form.text(name).to_owned());
    let details = Details {
        name: text("name"),
        addr1: text("addr1"),
        addr2: text("addr2"),
        city: text("city"),
        country: text("country"),
        postcode: text("postcode"),
        notes: text("notes"),
        business_type: text("business_type"),
        website: text("website"),
        product_description: text("product_description"),
    };
    match desk.app.change_own(&visit.member, OwnChange::Details(details)).await {
        Ok(_) => Ok(done(HOME, words::SAVED)),
        Err(error) => not_set(error, HOME),
    }
}
