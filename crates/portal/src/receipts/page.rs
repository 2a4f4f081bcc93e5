//! What the pages say. Pure: a receipt goes in, markup comes out, and everything a person or a
//! program once wrote into the database is set as text.

use std::collections::HashSet;

use app::orders::{Item, ItemKind, Receipt, Shown, Status, Target};
use domain::Money;
use domain::organisation::{Mode, Profile};
use maud::{DOCTYPE, Markup, html};

use crate::print::{amount, count, counted, moment};

/// The receipt of an order.
pub(super) fn page(receipt: &Receipt) -> Markup {
    let (organisation, shown) = (&receipt.organisation, &receipt.shown);
    let affair = Affair::of(shown);
    let title = title(shown, affair);
    layout(
        // Also the name of the file, when the page is printed to one.
        &format!("{title} {}", shown.order.reference),
        &html! {
            header {
                h1 { (title) }
                p.story { (story(shown, affair)) }
                @if organisation.mode == Mode::Sandbox {
                    p.sandbox { strong { "Sandbox." } " This is a test: no real money was moved." }
                }
            }
            div.about {
                (customer(&organisation.profile))
                (facts(shown))
            }
            section aria-labelledby="items" {
                h2 #items { "Items" }
                (items(shown, affair))
            }
            footer { p { "Whoever has the address of this page can read it." } }
        },
    )
}

/// For a link that leads nowhere, whatever is wrong with it.
pub(super) fn missing() -> Markup {
    notice(
        "No receipt at this address",
        "The link may have been cut off: some mail programs break long ones. Open it again where \
         you got it, or copy all of it into the address bar.",
        "If that does not help, ask whoever sent the link to send it again.",
    )
}

/// For a database that is away.
pub(super) fn away() -> Markup {
    notice(
        "The receipt cannot be shown right now",
        "The service does not reach its records at the moment. The order is not affected.",
        "Wait a few seconds, then load this page again.",
    )
}

/// For a fault of ours.
pub(super) fn broken() -> Markup {
    notice(
        "The receipt cannot be shown",
        "Something is wrong on our side. It has been noted, and the order is not affected.",
        "Try again later. If it stays like this, tell whoever sent you the link.",
    )
}

fn notice(title: &str, what: &str, next: &str) -> Markup {
    layout(title, &html! { h1 { (title) } p.story { (what) } p.story { (next) } })
}

fn layout(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Telephones take long numbers for their own.
                meta name="format-detection" content="telephone=no";
                title { (title) }
                link rel="stylesheet" href="/receipts/style.css";
            }
            body { main { (content) } }
        }
    }
}

/// What an order is about as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Affair {
    Purchase,
    Apply,
    Refund,
    Topup,
}

impl Affair {
    fn of(shown: &Shown) -> Self {
        let all = |is: fn(ItemKind) -> bool| {
            !shown.items.is_empty() && shown.items.iter().all(|item| is(item.kind))
        };
        if all(ItemKind::is_topup) {
            Self::Topup
        } else if all(|kind| kind == ItemKind::BundleRefund) {
            Self::Refund
        } else if all(|kind| kind == ItemKind::BundleAssignment) {
            Self::Apply
        } else {
            Self::Purchase
        }
    }
}

fn title(shown: &Shown, affair: Affair) -> &'static str {
    match (shown.order.status, affair) {
        (Status::Processing, _) => "Order being processed",
        (Status::Failed, _) => "Order failed",
        (Status::Completed, Affair::Topup) => "Top-up",
        (Status::Completed, Affair::Refund) => "Refund",
        (Status::Completed, Affair::Purchase | Affair::Apply) => "Receipt",
    }
}

/// What happened, in a sentence or two.
fn story(shown: &Shown, affair: Affair) -> Markup {
    match (shown.order.status, affair) {
        (Status::Processing, _) => processing(shown),
        (Status::Failed, _) => failed(shown, affair),
        (Status::Completed, Affair::Topup) => topped_up(shown),
        (Status::Completed, Affair::Refund) => refunded(shown),
        (Status::Completed, Affair::Purchase | Affair::Apply) => delivered(shown, affair),
    }
}

fn processing(shown: &Shown) -> Markup {
    html! {
        "The order was accepted and is being worked on. Load this page again in a moment to see "
        "how it ended."
        @if shown.order.total > 0 {
            " The amount has been taken; all of it is returned if the order fails."
        }
    }
}

fn failed(shown: &Shown, affair: Affair) -> Markup {
    html! {
        "The order was not fulfilled. Nothing was charged"
        @if shown.order.total > 0 {
            ": the amount was returned"
            @if let Some(at) = shown.order.finished_at { " on " (moment(at)) }
        } @else if affair == Affair::Apply {
            ": the bundles are back in the inventory"
        }
        "."
    }
}

fn topped_up(shown: &Shown) -> Markup {
    let by_itself = shown.items.iter().any(|item| item.kind == ItemKind::AutoTopup);
    html! {
        @if by_itself { "The balance had fallen below the amount set for it. " }
        "The stored card was charged and the amount added to the balance."
    }
}

fn refunded(shown: &Shown) -> Markup {
    let back = counted(bundles(shown), "bundle");
    html! {
        (back) " given back. "
        @match Purse::of(shown) {
            Purse::Nothing => "Nothing had been paid for them.",
            Purse::Balance => "The amount was added to the balance.",
            Purse::Credit => "The amount was added to the promotional credit it was paid from.",
            Purse::Both => {
                "Promotional credit and balance each got back the part they had paid."
            }
        }
    }
}

fn delivered(shown: &Shown, affair: Affair) -> Markup {
    let number = counted(bundles(shown), "bundle");
    let from = if affair == Affair::Apply { " from the inventory" } else { "" };
    html! {
        (number) (from)
        @match shown.order.target {
            Target::Esims => { " on " (counted(esims(shown), "eSIM")) },
            Target::Inventory => " added to the inventory",
            Target::Nowhere => "",
        }
        ". "
        @match Purse::of(shown) {
            Purse::Nothing => "Nothing was charged.",
            Purse::Balance => "Paid from the balance.",
            Purse::Credit => "Paid from promotional credit.",
            Purse::Both => "Paid from promotional credit and the balance.",
        }
    }
}

fn bundles(shown: &Shown) -> i64 {
    if shown.order.target == Target::Esims {
        return whole(shown.assigned.len());
    }
    shown.items.iter().map(|item| item.quantity).fold(0, i64::saturating_add)
}

fn esims(shown: &Shown) -> i64 {
    // One eSIM may have got several bundles.
    let different: HashSet<_> = shown.assigned.iter().map(|one| one.iccid.as_str()).collect();
    whole(different.len())
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Which of the two purses of an organisation the money came from or went to.
enum Purse {
    Nothing,
    Balance,
    Credit,
    Both,
}

impl Purse {
    fn of(shown: &Shown) -> Self {
        let order = &shown.order;
        match (order.test_credit, order.total.saturating_sub(order.test_credit)) {
            (..=0, ..=0) => Self::Nothing,
            (..=0, _) => Self::Balance,
            (_, ..=0) => Self::Credit,
            _ => Self::Both,
        }
    }
}

fn customer(profile: &Profile) -> Markup {
    let town = format!("{} {}", profile.postcode.trim(), profile.city.trim());
    let address = [&profile.addr1, &profile.addr2, &town, &profile.country];
    let lines = address.into_iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    html! {
        section aria-labelledby="customer" {
            h2 #customer { "Customer" }
            p.name { bdi { (profile.name) } }
            @for line in lines { p { bdi { (line) } } }
        }
    }
}

fn facts(shown: &Shown) -> Markup {
    let order = &shown.order;
    let (class, status) = match order.status {
        Status::Processing => ("state processing", "Being processed"),
        Status::Completed => ("state completed", "Completed"),
        Status::Failed => ("state failed", "Failed"),
    };
    html! {
        section aria-labelledby="order" {
            h2 #order { "Order" }
            dl {
                div { dt { "Reference" } dd { code { (order.reference) } } }
                div { dt { "Date" } dd { (moment(order.created_at)) } }
                div { dt { "Status" } dd class=(class) { (status) } }
            }
        }
    }
}

/// Roles are named although they are those of the elements: on a narrow screen the style lays the
/// rows out anew, and some browsers then forget that this is a table.
fn items(shown: &Shown, affair: Affair) -> Markup {
    let money = |minor: i64| amount(Money::minor(minor, shown.currency));
    html! {
        table role="table" aria-labelledby="items" {
            thead role="rowgroup" {
                tr role="row" {
                    th scope="col" role="columnheader" { "Item" }
                    th scope="col" role="columnheader" { "Quantity" }
                    th scope="col" role="columnheader" { "Price per unit" }
                    th scope="col" role="columnheader" { "Subtotal" }
                }
            }
            tbody role="rowgroup" {
                @for item in &shown.items {
                    tr role="row" {
                        th scope="row" role="rowheader" { (name(item)) }
                        td role="cell" { (count(item.quantity)) }
                        td role="cell" { (money(item.price_per_unit)) }
                        td role="cell" { (money(item.sub_total)) }
                    }
                }
            }
            tfoot role="rowgroup" {
                @for (weight, label, sum) in sums(shown, affair) {
                    tr.total[weight == Weight::Main] role="row" {
                        th scope="row" colspan="3" role="rowheader" {
                            (label)
                            @if weight == Weight::Main {
                                " " span.unit { (shown.currency.code()) }
                            }
                        }
                        td role="cell" { (money(sum)) }
                    }
                }
            }
        }
    }
}

fn name(item: &Item) -> Markup {
    let what = match item.kind {
        ItemKind::Bundle => "Bundle",
        ItemKind::BundleAssignment => "Bundle from the inventory, put on an eSIM",
        ItemKind::BundleRefund => "Bundle given back",
        ItemKind::ApiTopup => "Top-up by card, over the API",
        ItemKind::Topup => "Top-up by card, in the portal",
        ItemKind::AutoTopup => "Automatic top-up by card",
    };
    html! {
        span { (what) } " "
        code { @if item.kind.is_topup() { "No. " } (item.item) }
    }
}

/// How a sum is set. One is what it all comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Main,
    Part,
}

/// What it all came to, and where that came from or went to where the story leaves it open.
fn sums(shown: &Shown, affair: Affair) -> Vec<(Weight, &'static str, i64)> {
    let (total, credit) = (shown.order.total, shown.order.test_credit);
    let balance = total.saturating_sub(credit);
    let part = |label, sum: i64| (sum > 0).then_some((Weight::Part, label, sum));
    if shown.order.status == Status::Failed && total > 0 {
        let taken = [
            part("Total", total),
            part("Returned to promotional credit", credit),
            part("Returned to the balance", balance),
            Some((Weight::Main, "Charged", 0)),
        ];
        return taken.into_iter().flatten().collect();
    }
    let (sum, of_credit, of_balance) = match affair {
        Affair::Refund => ("Total refunded", "To promotional credit", "To the balance"),
        _ => ("Total", "From promotional credit", "From the balance"),
    };
    let mut sums = vec![(Weight::Main, sum, total)];
    if credit > 0 {
        sums.extend([part(of_credit, credit), part(of_balance, balance)].into_iter().flatten());
    }
    sums
}
