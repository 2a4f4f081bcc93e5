//! One bundle: what it is, where it works, and the form that buys it.

use app::catalogue::{Catalogue, Offer};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use domain::catalogue::{Bundle, Data};
use domain::{Right, limits};
use maud::{Markup, html};

use super::super::desk::Desk;
use super::super::fields::Fields;
use super::super::{Trouble, Visit, inventory};
use super::{country, data, lasts, title};
use crate::kit::form::{self, Choice, Field, Kind};
use crate::kit::{Area, facts, figures, section, strip};
use crate::words::catalogue as words;

/// What somebody has filled in.
pub(super) struct Entered<'f> {
    pub(super) quantity: &'f str,
    pub(super) target: &'f str,
    pub(super) iccid: &'f str,
}

impl<'f> Entered<'f> {
    pub(super) fn of(fields: &'f Fields) -> Self {
        Self {
            quantity: fields.maybe("quantity").unwrap_or("1"),
            target: fields.maybe("target").unwrap_or(words::TARGETS[0].0),
            iccid: fields.text("iccid"),
        }
    }
}

pub(super) async fn show(
    State(desk): State<Desk>,
    visit: Visit,
    Path(name): Path<String>,
) -> Result<Response, Trouble> {
    let catalogue = desk.app.catalogue().await?;
    let offer = catalogue.offer(visit.member.caller().market(), &name);
    let offer = offer.ok_or(Trouble::Missing)?;
    Ok(page(&visit, (&catalogue, &offer), (&Entered::of(&visit.query), None)))
}

/// The page, with what was entered and why it was refused.
pub(super) fn page(
    visit: &Visit,
    (catalogue, offer): (&Catalogue, &Offer),
    (entered, refused): (&Entered, Option<&str>),
) -> Response {
    let bundle = offer.bundle;
    let isos = super::countries(bundle);
    let content = html! {
        (strip(&[
            (words::PRICE, figures::money(offer.price)),
            (words::DATA_OF, data(bundle)),
            (words::LASTS, lasts(bundle)),
            (words::STARTS, html! { (words::starts(bundle.start)) }),
            (words::WORKS_IN, match isos {
                [one] => html! { (country(catalogue, one)) },
                several => html! { (words::countries(several.len())) },
            }),
        ]))
        @if visit.may(Right::Pay) {
            (section(words::BUY, None, buy_form(visit, bundle, (entered, refused))))
        }
        (section(words::ABOUT, None, about(bundle)))
        (section(words::WHERE, None, places(catalogue, bundle)))
    };
    let action =
        form::link_button(Kind::Plain, words::IN_INVENTORY, &inventory::href(bundle.name.as_str()));
    let mut response = visit.page((Area::Catalogue, title(bundle)), Some(action), content);
    if refused.is_some() {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    response
}

fn about(bundle: &Bundle) -> Markup {
    let speeds = match bundle.speeds.as_slice() {
        [] => words::SPEEDS_UNKNOWN.to_owned(),
        speeds => speeds.join(", "),
    };
    let mut known = vec![
        (words::NAME, figures::copyable(bundle.name.as_str(), words::NAME)),
        (words::STARTS, html! { (words::starts_in_full(bundle.start)) }),
        (words::SPEEDS, html! { (speeds) }),
    ];
    if let Data::Unlimited { daily_mb, throttle_kbps } = bundle.data {
        let daily = figures::bytes(daily_mb.saturating_mul(1_000_000));
        let says = html! { (daily) " " (words::unlimited(throttle_kbps)) };
        known.push((words::FULL_SPEED, says));
    }
    if !bundle.groups.is_empty() {
        known.push((words::GROUPS, html! { (bundle.groups.join(", ")) }));
    }
    facts(&known)
}

fn places(catalogue: &Catalogue, bundle: &Bundle) -> Markup {
    let isos = super::countries(bundle);
    let names: Vec<_> = isos.iter().map(|iso| country(catalogue, iso)).collect();
    let [place, networks, speeds] = words::NETWORK_HEADS;
    html! {
        p { (names.join(", ")) }
        details.data {
            summary { (words::NETWORKS) }
            div.region role="region" aria-label=(words::NETWORKS) tabindex="0" {
                table.data {
                    thead { tr { @for head in [place, networks, speeds] { th scope="col" { (head) } } } }
                    tbody {
                        @for iso in isos {
                            @for (n, network) in catalogue.networks_of(iso).iter().enumerate() {
                                tr {
                                    th scope="row" { @if n == 0 { (country(catalogue, iso)) } }
                                    td { (network.brand) }
                                    td { (network.speeds.join(", ")) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn buy_form(
    visit: &Visit,
    bundle: &Bundle,
    (entered, refused): (&Entered, Option<&str>),
) -> Markup {
    let choices = words::TARGETS.map(|(value, label)| Choice { value, label });
    let fields = html! {
        @if let Some(refused) = refused { (form::refused(refused)) }
        input type="hidden" name="bundle" value=(bundle.name.as_str());
        (Field::number("quantity", words::QUANTITY).value(entered.quantity)
            .bounds(Some(1), Some(limits::ITEM_QUANTITY_MAX)).hint(words::QUANTITY_HINT).required())
        (Field::radio("target", words::TARGET, &choices).value(entered.target).required())
        (Field::text("iccid", words::ICCID).value(entered.iccid).hint(words::ICCID_HINT)
            .complete("off"))
        (form::buttons(&[form::button(Kind::Main, words::REVIEW)]))
        p.hint { (words::REVIEW_SAYS) }
    };
    form::form("/portal/catalogue/buy/check", &visit.csrf, None, fields)
}
