//! The first payment, which stores the card: on the provider's own page, or, for sandbox
//! organisations, on a plainly marked test page.

use app::topup::CardError;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use domain::Right;
use domain::ports::payments::CardPage;
use maud::html;

use super::{Desk, Form, HOME as BILLING, Routes, Trouble, Visit, amount, not_paid, shown};
use crate::kit::form::{self, Choice, Field, Kind};
use crate::kit::{Area, Mood, Said};
use crate::reseller::{done, follow, refused};
use crate::words::billing as words;

pub(super) const HOME: &str = "/portal/billing/card";

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get(HOME, Right::Pay, page).post(HOME, Right::Pay, pay).post(
        "/portal/billing/card/remove",
        Right::Pay,
        remove,
    )
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Response {
    let back = format!("{}{BILLING}", desk.public_url);
    match desk.app.card_page(visit.member.caller(), &back) {
        Ok(CardPage::Hosted(url)) => Redirect::to(&url).into_response(),
        Ok(CardPage::Own) => test_page(&visit),
        Err(_) => refused(BILLING, words::NO_PROVIDER),
    }
}

fn test_page(visit: &Visit) -> Response {
    let label = format!("{} ({})", words::AMOUNT, visit.member.organisation().currency.code());
    let choices = words::TEST_CARDS.map(|(value, label)| Choice { value, label });
    let fields = html! {
        (Field::radio("card", words::TEST_CARD, &choices).value("pays").required())
        (Field::amount("amount", &label).required())
        (form::buttons(&[form::button(Kind::Main, words::PAY)]))
    };
    let content = html! {
        section.part {
            (Said { kind: Mood::Warn, text: words::TEST_PAGE })
            (form::form(HOME, &visit.csrf, Some(&visit.once), fields))
        }
    };
    visit.page((Area::Money, words::CARD_TITLE), None, content)
}

async fn pay(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let Some(amount) = amount(&form, "amount", &visit) else {
        return Ok(refused(HOME, words::NOT_AN_AMOUNT));
    };
    let request = visit.request(&desk.app, &form, ("card.store", &shown(amount)))?;
    let (caller, card) = (visit.member.caller(), form.text("card"));
    match desk.app.first_payment(caller, card, amount.in_minor(), &request).await {
        Ok(answer) if answer.is_yes() => Ok(follow(&answer, BILLING)),
        Ok(answer) => Ok(follow(&answer, HOME)),
        Err(CardError::NoProvider) => Ok(refused(BILLING, words::NO_PROVIDER)),
        Err(CardError::Card) => Ok(refused(HOME, words::BAD_CARD)),
        Err(CardError::Topup(error)) => Ok(refused(BILLING, not_paid(error)?)),
        Err(CardError::Store(error)) => Err(error.into()),
    }
}

async fn remove(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let member = &visit.member;
    desk.app.remove_card(member.actor(), member.org()).await?;
    Ok(done(BILLING, words::CARD_REMOVED))
}
