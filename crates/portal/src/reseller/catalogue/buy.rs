//! Buying in two steps: a summary that takes nothing, then the order.

use app::idempotency;
use app::orders::{Command, Error, Intent, Line, Outcome, Processing, Target, Validated};
use axum::extract::State;
use axum::response::Response;
use domain::{Money, limits};
use maud::{Markup, html};

use super::super::desk::Desk;
use super::super::fields::address;
use super::super::visit::moved;
use super::super::{Form, Trouble, Visit, follow, refused};
use super::bundle::{self, Entered};
use super::{href, named};
use crate::kit::form::{self, Kind};
use crate::kit::{Area, facts, figures, section};
use crate::print;
use crate::words::{answers, catalogue as words, trouble};

/// Shows what an order comes to. Takes nothing.
pub(super) async fn check(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    let catalogue = desk.app.catalogue().await?;
    let caller = visit.member.caller();
    let offer = catalogue.offer(caller.market(), form.text("bundle")).ok_or(Trouble::Missing)?;
    let entered = Entered::of(&form);
    let refused = match command(&visit, &form, Intent::Validate) {
        Err(why) => why.to_owned(),
        Ok(command) => {
            let is_named = command.lines.iter().any(|line| !line.iccids.is_empty());
            match desk.app.validate(caller, command).await {
                Ok(Outcome::Validated(validated)) => {
                    let what = named(offer.bundle);
                    return Ok(summary(&visit, &form, (&validated, is_named), &what));
                }
                Ok(Outcome::Refused(refusal)) => answers::order_refused(&refusal),
                Ok(Outcome::Placed(_)) => {
                    return Err(Trouble::Broken("a check has placed an order".to_owned()));
                }
                Err(error) => why(error)?,
            }
        }
    };
    let entered = (&entered, Some(refused.as_str()));
    bundle::page((&desk, &visit), (&catalogue, &offer), entered).await
}

/// A summary cannot be asked for again by its address alone.
pub(super) async fn begin_again() -> Response {
    moved(super::HOME, None)
}

fn summary(
    visit: &Visit,
    form: &Form,
    (validated, is_named): (&Validated, bool),
    what: &Markup,
) -> Response {
    let shown = &validated.shown;
    let money = |minor| Money::minor(minor, shown.currency);
    let item = shown.items.first();
    let quantity = item.map_or(0, |item| item.quantity);
    let (total, after) = (shown.order.total, validated.available - shown.order.total);
    let target = html! {
        (words::target(shown.order.target, is_named))
        @if let Some(iccid) = form.iccid("iccid").filter(|_| is_named) {
            " " (figures::iccid(iccid.as_str()))
        }
    };
    let mut known = vec![
        (words::BUNDLE, what.clone()),
        (words::QUANTITY, figures::count(quantity)),
        (words::EACH, figures::money(money(item.map_or(0, |item| item.price_per_unit)))),
        (words::TARGET, target),
        (words::TOTAL, html! { strong { (figures::money(money(total))) } }),
        (words::BEFORE, figures::money(money(validated.available))),
    ];
    known.push(if validated.is_covered {
        (words::AFTER, figures::money(money(after)))
    } else {
        (words::LACKING, html! { span.bad { (figures::money(money(after.saturating_neg()))) } })
    });
    let happens = words::happens(shown.order.target, quantity, (is_named, validated.is_later));
    let content = html! {
        (section(words::ORDER, None, facts(&known)))
        @if validated.is_covered {
            (section(words::HAPPENS, None, html! {
                p { (happens) }
                (pay_form(visit, form, money(total)))
            }))
        } @else {
            (form::refused(words::NOT_COVERED))
            (form::buttons(&[
                form::link_button(Kind::Main, words::TOP_UP, "/portal/billing"),
                form::link_button(Kind::Plain, words::CHANGE, &back(form)),
            ]))
        }
    };
    visit.page((Area::Catalogue, words::CHECK_TITLE), None, content)
}

fn pay_form(visit: &Visit, form: &Form, total: Money) -> Markup {
    let amount = format!("{} {}", print::amount(total), total.currency().code());
    let fields = html! {
        @for name in ["bundle", "quantity", "target", "iccid"] {
            input type="hidden" name=(name) value=(form.text(name));
        }
        (form::buttons(&[
            form::button(Kind::Main, &words::pay(&amount)),
            form::link_button(Kind::Plain, words::CHANGE, &back(form)),
        ]))
    };
    form::form("/portal/catalogue/buy", &visit.csrf, Some(&visit.once), fields)
}

/// The bundle's page with what was entered.
fn back(form: &Form) -> String {
    let pairs = ["quantity", "target", "iccid"].map(|name| (name, form.text(name)));
    address(&href(form.text("bundle")), &pairs)
}

/// Places the order.
pub(super) async fn buy(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    let name = form.text("bundle");
    if domain::BundleName::parse(name).is_err() {
        return Err(Trouble::Missing);
    }
    let back = back(&form);
    let command = match command(&visit, &form, Intent::Transaction) {
        Ok(command) => command,
        Err(why) => return Ok(refused(&back, why)),
    };
    let request = visit.request(&desk.app, &form, ("order.place", name))?;
    match desk.app.buy(visit.member.caller(), command, &request).await {
        Ok(answer) => Ok(follow(&answer, &back)),
        Err(error) => Ok(refused(&back, why(error)?)),
    }
}

/// What a form asks for, or what is wrong with it.
fn command(visit: &Visit, form: &Form, intent: Intent) -> Result<Command, &'static str> {
    let quantity = form.number("quantity").ok_or(words::NOT_A_QUANTITY)?;
    let (target, iccids) = match form.text("target") {
        "inventory" => (Target::Inventory, Vec::new()),
        "new" => (Target::Esims, Vec::new()),
        "esim" => {
            let iccid = form.iccid("iccid").ok_or(words::NOT_AN_ICCID)?;
            let times = quantity.clamp(1, limits::ITEM_QUANTITY_MAX);
            (Target::Esims, vec![iccid; usize::try_from(times).unwrap_or(1)])
        }
        _ => return Err(words::NO_TARGET),
    };
    let bundle = form.text("bundle").to_owned();
    Ok(Command {
        intent,
        target,
        lines: vec![Line { bundle, quantity, iccids, allow_reassign: false }],
        processing: Processing::Later,
        source_ip: visit.from.address.to_string(),
    })
}

/// Why there is no outcome.
fn why(error: Error) -> Result<String, Trouble> {
    Ok(match error {
        Error::BalanceTooLow => answers::BALANCE_TOO_LOW.to_owned(),
        Error::OutOfStock => answers::OUT_OF_STOCK.to_owned(),
        Error::Key(idempotency::Error::OtherRequest) => answers::USED_TWICE.to_owned(),
        Error::Key(idempotency::Error::BadKey(_)) => {
            return Err(Trouble::Malformed(trouble::NO_TOKEN));
        }
        Error::Store(error) => return Err(error.into()),
    })
}
