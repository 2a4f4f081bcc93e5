//! What is on it: a bar for each bundle in the order of use, what was on it before, and the form
//! that puts another one on it.

use app::esims::OnEsim;
use app::esims::revoke::GivesBack;
use app::inventory::HeldBundle;
use domain::assignment::State;
use domain::{Money, Right, Timestamp};
use maud::{Markup, html};

use super::one::About;
use crate::kit::chart::{self, Bundle};
use crate::kit::form::{self, Choice, Field, Kind};
use crate::kit::table::{Head, Row, Table};
use crate::kit::{self, figures, live};
use crate::print;
use crate::reseller::desk::Desk;
use crate::reseller::{Trouble, Visit};
use crate::words::esims as words;

/// A bundle as its bar is drawn.
pub(super) fn bar(one: &OnEsim, now: Timestamp) -> Bundle<'_> {
    let assignment = &one.assignment;
    let is_unlimited = assignment.terms.data.is_unlimited();
    Bundle {
        name: &one.stored.description,
        used: assignment.used,
        total: (!is_unlimited).then(|| assignment.initial_bytes()),
        valid: assignment.started_at.zip(assignment.ends_at),
        now,
    }
}

pub(super) async fn section(desk: &Desk, visit: &Visit, about: &About) -> Result<Markup, Trouble> {
    let caller = visit.member.caller();
    let may = visit.may(Right::Care);
    let gives =
        if may { desk.app.gives_back(caller, &about.esim().iccid).await? } else { Vec::new() };
    let apply = if may && !about.esim().is_deactivated() {
        Some(apply(desk, visit, about).await?)
    } else {
        None
    };
    // Newest first; they are used from the oldest on.
    let (open, over): (Vec<_>, Vec<_>) =
        about.one.bundles.iter().partition(|one| !one.assignment.state.is_finished());
    let mut open: Vec<&OnEsim> = open.into_iter().rev().collect();
    open.sort_by_key(|one| one.assignment.state != State::Active);
    let body = html! {
        (live("bundles", html! {
            @if open.is_empty() { p.quiet { (words::NO_BUNDLES) } }
            @for (place, one) in queued(&open) { (on_it(visit, about, (place, one), &gives)) }
            @if !over.is_empty() { (earlier(&over, about.clock())) }
        }))
        @if let Some(apply) = apply { (apply) }
    };
    Ok(kit::section(words::BUNDLES, None, body))
}

/// Each with its place in the queue; the one in use has none.
fn queued<'a>(open: &[&'a OnEsim]) -> Vec<(usize, &'a OnEsim)> {
    let mut place = 0;
    let placed = open.iter().map(|one| {
        let is_active = one.assignment.state == State::Active;
        place += usize::from(!is_active);
        (if is_active { 0 } else { place }, *one)
    });
    placed.collect()
}

fn on_it(
    visit: &Visit,
    about: &About,
    (place, one): (usize, &OnEsim),
    gives: &[GivesBack],
) -> Markup {
    let (mood, word) = words::bundle_state(one.assignment.state);
    let order = format!("/portal/orders/{}", one.stored.reference);
    let gives = gives.iter().find(|gives| gives.id == one.assignment.id);
    html! {
        div.on {
            (chart::bundle(&bar(one, about.clock())))
            p.says {
                (figures::badge(mood, word))
                @if place > 0 { span { (words::place(place)) } }
                @if let (0.., Some(at)) = (place, one.assignment.wanted_at) {
                    @if one.assignment.started_at.is_none() {
                        span { (words::STARTS) " " (figures::time(at, about.clock())) }
                    }
                }
                a href=(order) { (words::FROM_ORDER) }
            }
            @if let Some(gives) = gives { (revoke(visit, about, one, gives)) }
        }
    }
}

/// Says what comes back before it is taken off.
fn revoke(visit: &Visit, about: &About, one: &OnEsim, gives: &GivesBack) -> Markup {
    let currency = visit.member.organisation().currency;
    let money = gives.money.filter(|_| visit.may(Right::Pay));
    let amount = money.map(|minor| Money::minor(minor, currency));
    let amount = amount.map(|money| format!("{} {}", print::amount(money), currency.code()));
    let says = html! {
        (if gives.bundle { words::REVOKE_KEPT } else { words::REVOKE_LOST })
        @if let Some(amount) = &amount { " " (words::revoke_money(amount)) }
    };
    let label = if gives.bundle { words::REVOKE_TO_INVENTORY } else { words::REVOKE };
    let fields = html! {
        input type="hidden" name="bundle" value=(one.stored.bundle);
        input type="hidden" name="id" value=(one.assignment.id);
        div.buttons {
            (form::button_with(Kind::Danger, label, ("to", "inventory")))
            @if amount.is_some() {
                (form::button_with(Kind::Danger, words::REVOKE_TO_BALANCE, ("to", "balance")))
            }
        }
    };
    let action = super::deed(&about.esim().iccid, "revoke");
    let form = form::form(&action, &visit.csrf, Some(&visit.once), fields);
    form::confirm(words::REVOKE, says, form)
}

fn earlier(over: &[&OnEsim], now: Timestamp) -> Markup {
    let row = |one: &&OnEsim| {
        let (mood, word) = words::bundle_state(one.assignment.state);
        let ended = one.assignment.ended_at;
        Row::plain([
            html! { (one.stored.description) },
            figures::badge(mood, word),
            figures::bytes(one.assignment.used),
            ended.map_or_else(figures::none, |at| figures::time(at, now)),
        ])
    };
    let rows: Vec<Row> = over.iter().map(row).collect();
    let [name, state, used, ended] = words::EARLIER_HEADS;
    let heads = [Head::text(name), Head::text(state), Head::number(used), Head::text(ended)];
    let title = words::earlier(over.len());
    html! {
        details.more {
            summary { (title) }
            (Table::new(&title, &heads, &rows))
        }
    }
}

async fn apply(desk: &Desk, visit: &Visit, about: &About) -> Result<Markup, Trouble> {
    let profile = &about.esim().profile_name;
    let held = desk.app.held_bundles(visit.member.caller(), profile).await?;
    let catalogue = desk.app.catalogue().await?;
    let label = |held: &HeldBundle| {
        let bundle = catalogue.bundle(held.bundle.as_str())?;
        Some((bundle.name.to_string(), words::held(&bundle.description, held.remaining)))
    };
    let labels: Vec<(String, String)> = held.iter().filter_map(label).collect();
    if labels.is_empty() {
        return Ok(html! {
            p.quiet { (words::APPLY_EMPTY) " " a href="/portal/catalogue" { (words::APPLY_BUY) } }
        });
    }
    let choices: Vec<Choice> =
        labels.iter().map(|(value, label)| Choice { value, label }).collect();
    let fields = html! {
        (Field::select("bundle", words::APPLY_BUNDLE, &choices).required())
        (Field::text("start", words::APPLY_START).hint(words::APPLY_START_HINT))
        (form::buttons(&[form::button(Kind::Main, words::APPLY_BUTTON)]))
    };
    let action = super::deed(&about.esim().iccid, "apply");
    let form = form::form(&action, &visit.csrf, Some(&visit.once), fields);
    Ok(form::confirm(words::APPLY, words::APPLY_SAYS, form))
}
