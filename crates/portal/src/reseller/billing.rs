//! Billing: balance, card, top-ups, automatic top-up, and the ledger with what caused each entry.

mod card;
mod ledger;

use app::organisations::OwnChange;
use app::{Balances, topup};
use axum::extract::State;
use axum::response::Response;
use domain::organisation::TopupSettings;
use domain::{Currency, Money, Right};
use maud::{Markup, html};

use super::desk::Desk;
use super::trouble::not_set;
use super::{Form, Routes, Trouble, Visit, done, follow, refused};
use crate::kit::form::{self, Field, Kind};
use crate::kit::{Area, figures, live, section, strip};
use crate::print;
use crate::words::answers;
use crate::words::billing as words;

const HOME: &str = "/portal/billing";

pub(super) fn routes(routes: Routes) -> Routes {
    let routes = routes
        .get(HOME, Right::Books, page)
        .post("/portal/billing/topup", Right::Pay, top_up)
        .post("/portal/billing/auto", Right::Pay, set_auto);
    ledger::routes(card::routes(routes))
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let caller = visit.member.caller();
    let (balances, clock) = desk.app.balances(caller).await?;
    let card = desk.app.card(caller).await?;
    let entries = ledger::table(&desk, &visit, clock).await?;
    let content = html! {
        (live("strip", summary(&visit, &balances, card.as_deref())))
        @if visit.may(Right::Pay) {
            (section(words::TOP_UP, None, top_up_form(&visit, card.is_some())))
            (section(words::AUTOMATIC, None, auto_form(&visit)))
        }
        (section(words::LEDGER, None, live("ledger", entries)))
        (section(words::STATEMENT, None, ledger::statement_form(clock)))
    };
    Ok(visit.live_page((Area::Money, words::TITLE), None, content))
}

fn summary(visit: &Visit, balances: &Balances, card: Option<&str>) -> Markup {
    let currency = balances.balance.currency();
    let mut known = vec![(words::BALANCE, figures::money(balances.balance))];
    if balances.test_credit.in_minor() > 0 {
        let credit = html! {
            (figures::money(balances.test_credit))
            @if let Some(until) = balances.test_credit_expires_at {
                " " small { (words::UNTIL) " " (figures::date(until)) }
            }
        };
        known.push((words::TEST_CREDIT, credit));
    }
    known.push((words::CARD, html! { (card.unwrap_or(words::NO_CARD)) }));
    let auto = html! {
        @if let Some((threshold, amount)) = auto_of(visit) {
            (figures::money(Money::minor(amount, currency)))
            " " small { (words::BELOW) " " (figures::money(Money::minor(threshold, currency))) }
        } @else { (words::OFF) }
    };
    known.push((words::AUTOMATIC, auto));
    strip(&known)
}

fn auto_of(visit: &Visit) -> Option<(i64, i64)> {
    let TopupSettings { auto_threshold, auto_amount, .. } =
        visit.member.organisation().settings.topup;
    auto_threshold.zip(auto_amount)
}

fn top_up_form(visit: &Visit, has_card: bool) -> Markup {
    if !has_card {
        return html! {
            p { (words::NO_CARD_YET) }
            (form::link_button(Kind::Main, words::ADD_CARD, card::HOME))
        };
    }
    let currency = visit.member.organisation().currency;
    let label = format!("{} ({})", words::AMOUNT, currency.code());
    let amount = Field::amount("amount", &label).hint(words::TOP_UP_HINT).required();
    let pay = html! {
        (amount)
        (form::buttons(&[form::button(Kind::Main, words::TOP_UP_BUTTON)]))
    };
    let remove = form::form(
        "/portal/billing/card/remove",
        &visit.csrf,
        None,
        form::button(Kind::Danger, words::REMOVE_CARD),
    );
    html! {
        (form::form("/portal/billing/topup", &visit.csrf, Some(&visit.once), pay))
        (form::buttons(&[
            form::link_button(Kind::Plain, words::REPLACE_CARD, card::HOME),
            form::confirm(words::REMOVE_CARD, words::REMOVE_CARD_SAYS, remove),
        ]))
    }
}

fn auto_form(visit: &Visit) -> Markup {
    let currency = visit.member.organisation().currency;
    let text = |minor: i64| Money::minor(minor, currency).in_major();
    let (threshold, amount) = match auto_of(visit) {
        Some((threshold, amount)) => (text(threshold), text(amount)),
        None => (String::new(), String::new()),
    };
    let labels = [words::AUTO_THRESHOLD, words::AUTO_AMOUNT]
        .map(|label| format!("{label} ({})", currency.code()));
    let fields = html! {
        (Field::amount("threshold", &labels[0]).value(&threshold))
        (Field::amount("amount", &labels[1]).within("auto").value(&amount).hint(words::AUTO_HINT))
        (form::buttons(&[form::button(Kind::Plain, words::AUTO_SAVE)]))
    };
    html! {
        p { (words::AUTO_TEXT) }
        (form::form("/portal/billing/auto", &visit.csrf, None, fields))
    }
}

async fn top_up(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let Some(amount) = amount(&form, "amount", &visit) else {
        return Ok(refused(HOME, words::NOT_AN_AMOUNT));
    };
    let request = visit.request(&desk.app, &form, ("balance.topup", &shown(amount)))?;
    match desk.app.topup(visit.member.caller(), amount.in_minor(), &request).await {
        Ok(answer) => Ok(follow(&answer, HOME)),
        Err(error) => Ok(refused(HOME, not_paid(error)?)),
    }
}

/// What was not paid, and why.
fn not_paid(error: topup::Error) -> Result<&'static str, Trouble> {
    match error {
        topup::Error::Undecided => Ok(answers::UNDECIDED),
        topup::Error::Key(_) => Ok(answers::USED_TWICE),
        topup::Error::Store(error) => Err(error.into()),
    }
}

/// An amount of more than nothing, in the organisation's currency.
fn amount(form: &Form, name: &str, visit: &Visit) -> Option<Money> {
    let currency: Currency = visit.member.organisation().currency;
    let text = form.text(name).replace(',', "");
    Money::parse_major(&text, currency).ok().filter(|amount| amount.in_minor() > 0)
}

fn shown(amount: Money) -> String {
    format!("{} {}", print::amount(amount), amount.currency().code())
}

async fn set_auto(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let both = (amount(&form, "threshold", &visit), amount(&form, "amount", &visit));
    let is_off = form.maybe("threshold").is_none() && form.maybe("amount").is_none();
    let (auto, says) = match both {
        (Some(threshold), Some(amount)) => {
            (Some((threshold.in_minor(), amount.in_minor())), words::AUTO_SAVED)
        }
        _ if is_off => (None, words::AUTO_OFF),
        _ => return Ok(refused(HOME, words::AUTO_BAD)),
    };
    match desk.app.change_own(&visit.member, OwnChange::AutoTopup(auto)).await {
        Ok(_) => Ok(done(HOME, says)),
        Err(error) => not_set(error, HOME),
    }
}
