//! The phone of a sandbox: installs, registers, uses data, all by hand.

use app::esims::phone::{Act, Error};
use app::usage::{Charged, Place};
use axum::extract::{Path, State};
use axum::response::Response;
use domain::Msisdn;
use maud::{Markup, html};

use super::one::About;
use crate::kit;
use crate::kit::figures::bytes_in_words;
use crate::kit::form::{self, Choice, Field, Kind};
use crate::reseller::desk::Desk;
use crate::reseller::{Form, Trouble, Visit, done, refused};
use crate::words::{esims as words, trouble};

const BYTES_PER_MB: i64 = 1_000_000;

pub(super) fn section(visit: &Visit, about: &About) -> Markup {
    let esim = about.esim();
    let action = super::deed(&esim.iccid, "phone");
    let form = |act: &str, body: Markup| {
        let fields = html! { input type="hidden" name="act" value=(act); (body) };
        form::form(&action, &visit.csrf, None, fields)
    };
    let button = |label: &str| form::button(Kind::Plain, label);
    let places = about.catalogue.networks();
    let choices: Vec<Choice> = places
        .iter()
        .map(|(country, _)| Choice { value: &country.iso, label: &country.name })
        .collect();
    let here = esim.seen.as_ref().map_or_else(|| somewhere(about), |seen| seen.country.clone());
    let number = esim.msisdn.as_ref().map_or("", |number| number.as_str());
    let body = html! {
        p.quiet { (words::PHONE_SAYS) }
        div.phone {
            (form("install", button(words::PHONE_INSTALL)))
            (form("remove", button(words::PHONE_REMOVE)))
            (form("attach", html! {
                (Field::select("country", words::PHONE_ATTACH, &choices).value(&here).required())
                (button(words::PHONE_ATTACH_BUTTON))
            }))
            (form("use", html! {
                (Field::number("mb", words::PHONE_USE).value("100").bounds(Some(1), None)
                    .required())
                (button(words::PHONE_USE_BUTTON))
            }))
            (form("number", html! {
                (Field::text("msisdn", words::PHONE_NUMBER).value(number).complete("off"))
                (button(words::PHONE_NUMBER_BUTTON))
            }))
        }
    };
    kit::section(words::PHONE, None, body)
}

/// A country in which something on it works.
fn somewhere(about: &About) -> String {
    let names = about.one.bundles.iter().map(|one| one.stored.bundle.as_str());
    let known = names.filter_map(|name| about.catalogue.bundle(name));
    let mut countries = known.flat_map(|bundle| bundle.roaming.iter().chain(&bundle.countries));
    countries.next().cloned().unwrap_or_default()
}

/// Does what the form says.
pub(super) async fn act(
    State(desk): State<Desk>,
    visit: Visit,
    Path(iccid): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let iccid = super::number(&iccid)?;
    let home = super::home(&iccid);
    let act = match form.text("act") {
        "install" => Act::Install,
        "remove" => Act::Remove,
        "attach" => {
            let country = form.text("country").to_owned();
            Act::Attach(Place { country, network: String::new() })
        }
        "use" => Act::Use(form.number("mb").unwrap_or(0).saturating_mul(BYTES_PER_MB)),
        "number" => match form.maybe("msisdn").map(Msisdn::parse).transpose() {
            Ok(number) => Act::Number(number),
            Err(_) => return Ok(refused(&home, words::PHONE_NOT_A_NUMBER)),
        },
        _ => return Err(Trouble::Malformed(trouble::NO_ACT)),
    };
    let is_use = matches!(act, Act::Use(_));
    match desk.app.phone(visit.member.caller(), &iccid, act).await {
        Ok((_, charged)) if is_use => Ok(done(&home, used(&charged))),
        Ok(_) => Ok(done(&home, words::PHONE_DONE)),
        Err(Error::NotYourEsim) => Err(Trouble::Missing),
        Err(Error::Store(error)) => Err(error.into()),
        Err(error) => Ok(refused(&home, words::phone_refused(&error))),
    }
}

fn used(charged: &Charged) -> String {
    let text = |bytes: i64| {
        let (number, unit) = bytes_in_words(bytes);
        format!("{number} {unit}")
    };
    let paid = charged.by.iter().map(|(_, _, bytes)| *bytes).fold(0, i64::saturating_add);
    let over = (charged.overshoot > 0).then(|| text(charged.overshoot));
    words::used(&text(paid), over.as_deref())
}
