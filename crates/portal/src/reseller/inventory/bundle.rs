//! What is left of one bundle: put on eSIMs, or given back lot by lot.

use app::esims::apply::{self, Command, Line};
use app::inventory;
use app::orders::Processing;
use axum::extract::{Path, State};
use axum::response::Response;
use domain::inventory::Lot;
use domain::{BundleName, Money, Right, limits};
use maud::{Markup, html};

use super::super::desk::Desk;
use super::super::trouble::sent_twice;
use super::super::{Form, Trouble, Visit, catalogue, follow, refused};
use super::{Shelf, href};
use crate::kit::form::{self, Choice, Field, Kind};
use crate::kit::table::{self, Head, Row, Table};
use crate::kit::{Area, figures, section, strip};
use crate::print;
use crate::words::{answers, inventory as words};

pub(super) async fn show(
    State(desk): State<Desk>,
    visit: Visit,
    Path(name): Path<String>,
) -> Result<Response, Trouble> {
    let name = BundleName::parse(&name).map_err(|_| Trouble::Missing)?;
    let goods = desk.app.catalogue().await?;
    let is_sold = goods.offer(visit.member.caller().market(), name.as_str()).is_some();
    let held = desk.app.held(visit.member.caller(), Some(name.clone())).await?;
    // What one neither holds nor can buy is somebody else's affair.
    let bundle = goods.bundle(name.as_str()).filter(|_| is_sold || !held.lots.is_empty());
    let bundle = bundle.ok_or(Trouble::Missing)?;
    let buys = is_sold && visit.may(Right::Pay);
    let buy = form::link_button(Kind::Plain, words::BUY_MORE, &catalogue::href(name.as_str()));
    let here = (Area::Inventory, catalogue::title(bundle));
    if held.lots.is_empty() {
        let step = html! { @if buys { (buy) } };
        let empty = table::empty(words::NONE_LEFT, words::NONE_LEFT_WHY, step, None);
        return Ok(visit.page(here, None, empty));
    }
    let shelf = Shelf { visit: &visit, catalogue: &goods, clock: held.clock };
    let content = html! {
        (shelf.summary(&held.lots))
        @if visit.may(Right::Care) {
            (section(words::APPLY, None, apply_form(&visit, name.as_str(), &held.lots)))
        }
        (section(words::LOTS, None, shelf.lots(&held.lots)))
    };
    Ok(visit.page(here, buys.then_some(buy), content))
}

impl Shelf<'_> {
    fn summary(&self, lots: &[Lot]) -> Markup {
        let left: i64 = lots.iter().map(|lot| lot.remaining).sum();
        let mut known = vec![(words::LEFT, figures::count(left))];
        if self.sees_prices() {
            let worth = lots.iter().map(|lot| lot.price.saturating_mul(lot.remaining));
            let worth = worth.fold(0, i64::saturating_add);
            known.push((words::WORTH, figures::money(self.money(worth))));
        }
        if let Some(first) = lots.first() {
            known.push((words::NEXT_EXPIRY, self.expiry(first)));
        }
        strip(&known)
    }

    fn lots(&self, lots: &[Lot]) -> Markup {
        let gives_back = self.visit.may(Right::Pay);
        let row = |lot: &Lot| {
            let mut cells = vec![html! { (words::lot(lot.id)) }];
            cells.extend(self.facts(lot));
            if gives_back {
                let can = self.can_be_given_back(lot);
                cells.push(if can { self.refund_form(lot) } else { figures::none() });
            }
            Row::plain(cells)
        };
        let rows: Vec<_> = lots.iter().map(row).collect();
        let mut heads = self.heads(words::LOT_HEADS);
        if gives_back {
            heads.push(Head::text(words::GIVE_BACK_HEAD));
        }
        html! { (Table::new(words::LOTS, &heads, &rows)) }
    }

    fn refund_form(&self, lot: &Lot) -> Markup {
        let visit = self.visit;
        let text = |minor: i64| {
            let money: Money = self.money(minor);
            format!("{} {}", print::amount(money), money.currency().code())
        };
        let all = lot.refund(lot.remaining);
        let credit = (all.test_credit > 0).then(|| text(all.test_credit));
        let says =
            words::refund(&text(lot.price), lot.remaining, &text(all.amount), credit.as_deref());
        let (id, left) = (lot.id.to_string(), lot.remaining.to_string());
        let fields = html! {
            input type="hidden" name="lot" value=(id);
            input type="hidden" name="bundle" value=(lot.bundle.as_str());
            (Field::number("quantity", words::QUANTITY).within(&id).value(&left)
                .bounds(Some(1), Some(lot.remaining)).required())
            (form::buttons(&[form::button(Kind::Danger, words::REFUND_BUTTON)]))
        };
        let once = format!("{}-{id}", visit.once);
        let form = form::form("/portal/inventory/refund", &visit.csrf, Some(&once), fields);
        form::confirm(words::REFUND, says, form)
    }
}

fn apply_form(visit: &Visit, bundle: &str, lots: &[Lot]) -> Markup {
    let left: i64 = lots.iter().map(|lot| lot.remaining).sum();
    let choices = words::TARGETS.map(|(value, label)| Choice { value, label });
    let target = visit.query.maybe("target").unwrap_or(words::TARGETS[0].0);
    let fields = html! {
        input type="hidden" name="bundle" value=(bundle);
        (Field::number("quantity", words::QUANTITY).within("apply")
            .value(visit.query.maybe("quantity").unwrap_or("1"))
            .bounds(Some(1), Some(left.min(limits::APPLY_BUNDLES_MAX))).required())
        (Field::radio("target", words::TARGET, &choices).value(target).required())
        div.onto {
            (Field::text("iccid", words::ICCID).value(visit.query.text("iccid")).depends()
                .hint(words::ICCID_HINT).complete("off"))
        }
        p.hint { (words::APPLY_SAYS) }
        (form::buttons(&[form::button(Kind::Main, words::APPLY_BUTTON)]))
    };
    form::form("/portal/inventory/apply", &visit.csrf, Some(&visit.once), fields)
}

/// The page that a form came from.
fn back(form: &Form) -> Result<String, Trouble> {
    let name = form.text("bundle");
    BundleName::parse(name).map(|_| href(name)).map_err(|_| Trouble::Missing)
}

pub(super) async fn refund(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    let back = back(&form)?;
    let wanted = (form.number("lot").unwrap_or(0), form.number("quantity").unwrap_or(0));
    let source_ip = visit.from.address.to_string();
    let request = visit.request(&desk.app, &form, ("inventory.refund", form.text("lot")))?;
    match desk.app.refund(visit.member.caller(), wanted, source_ip, &request).await {
        Ok(answer) => Ok(follow(&answer, &back)),
        Err(inventory::Error::Key(error)) => sent_twice(error, &back),
        Err(inventory::Error::Store(error)) => Err(error.into()),
    }
}

pub(super) async fn apply(
    State(desk): State<Desk>,
    visit: Visit,
    form: Form,
) -> Result<Response, Trouble> {
    let page = back(&form)?;
    let pairs = ["quantity", "target", "iccid"].map(|name| (name, form.text(name)));
    let back = super::address(&page, &pairs);
    let iccid = match (form.text("target"), form.iccid("iccid")) {
        ("new", _) => None,
        ("esim", Some(iccid)) => Some(iccid),
        ("esim", None) => return Ok(refused(&back, words::NOT_AN_ICCID)),
        _ => return Ok(refused(&back, words::NO_TARGET)),
    };
    let line = Line {
        bundle: form.text("bundle").to_owned(),
        repeat: form.number("quantity").unwrap_or(0),
        start_at: None,
        allow_reassign: false,
    };
    let command = Command {
        iccid,
        lines: vec![line],
        processing: Processing::Later,
        is_listed: true,
        source_ip: visit.from.address.to_string(),
    };
    let request = visit.request(&desk.app, &form, ("inventory.apply", form.text("bundle")))?;
    match desk.app.apply(visit.member.caller(), command, &request).await {
        Ok(answer) => Ok(follow(&answer, &back)),
        Err(apply::Error::OutOfStock) => Ok(refused(&back, answers::OUT_OF_STOCK)),
        Err(apply::Error::Key(error)) => sent_twice(error, &back),
        Err(apply::Error::Store(error)) => Err(error.into()),
    }
}
