//! The catalogue: what is for sale, one bundle, and what is seen before it is paid for.

use domain::catalogue::Start;
use domain::order::Target;

use crate::print;

pub(crate) const TITLE: &str = "Catalogue";
pub(crate) const LIST: &str = "Bundles for sale";
pub(crate) const SEARCH_HINT: &str = "country, region, size or name";
pub(crate) const HEADS: [&str; 5] = ["Bundle", "Data", "Lasts", "Works in", "Price"];
pub(crate) const NOTHING_FOUND: &str = "No bundle has all of that.";
pub(crate) const EMPTY: &str = "Nothing is for sale to you yet";
pub(crate) const EMPTY_WHY: &str = "Here stands every bundle you can buy, with its price. Your wholesaler decides which these are; \
     ask them to open some to you.";
pub(crate) const EMPTY_STEP: &str = "To your account";

/// Ranges of data in megabytes, with their word in the address.
pub(crate) const DATA: [(&str, &str, i64, i64); 4] = [
    ("s", "Up to 1 GB", 0, 1_000),
    ("m", "2–5 GB", 1_001, 5_000),
    ("l", "6–20 GB", 5_001, 20_000),
    ("xl", "More than 20 GB", 20_001, i64::MAX),
];
pub(crate) const UNLIMITED: &str = "Unlimited";

/// Ranges of duration in days, with their word in the address.
pub(crate) const DAYS: [(&str, &str, i64, i64); 3] = [
    ("week", "Up to 7 days", 0, 7),
    ("month", "8–30 days", 8, 30),
    ("longer", "More than 30 days", 31, i64::MAX),
];

pub(crate) const PRICE: &str = "Price";
pub(crate) const LASTS: &str = "Lasts";
pub(crate) const DATA_OF: &str = "Data";
pub(crate) const STARTS: &str = "Starts";
pub(crate) const WORKS_IN: &str = "Works in";
pub(crate) const ABOUT: &str = "What it is";
pub(crate) const NAME: &str = "Name";
pub(crate) const SPEEDS: &str = "Speeds";
pub(crate) const SPEEDS_UNKNOWN: &str = "Not known";
pub(crate) const GROUPS: &str = "Group";
pub(crate) const FULL_SPEED: &str = "Full speed";
pub(crate) const WHERE: &str = "Where it works";
pub(crate) const NETWORKS: &str = "Networks by country";
pub(crate) const NETWORK_HEADS: [&str; 3] = ["Country", "Networks", "Speeds"];
pub(crate) const IN_INVENTORY: &str = "See your inventory of it";

pub(crate) const BUY: &str = "Buy";
pub(crate) const QUANTITY: &str = "How many";
pub(crate) const QUANTITY_HINT: &str = "1 to 1,000";
pub(crate) const TARGET: &str = "Where to";
pub(crate) const TARGETS: [(&str, &str); 3] = [
    ("inventory", "Into the inventory, to be put on eSIMs later"),
    ("new", "Onto new eSIMs, one for each"),
    ("esim", "Onto an eSIM you have"),
];
pub(crate) const ICCID: &str = "ICCID";
pub(crate) const ICCID_HINT: &str = "Only for an eSIM you have.";
pub(crate) const REVIEW: &str = "Review the order";
pub(crate) const REVIEW_SAYS: &str = "Nothing is paid yet.";
pub(crate) const NOT_A_QUANTITY: &str = "Choose between 1 and 1,000. Nothing was bought.";
pub(crate) const NOT_AN_ICCID: &str =
    "An ICCID has 18 to 22 digits. Nothing was bought. Copy it from the eSIM's page.";
pub(crate) const NO_TARGET: &str = "Choose where the bundles go. Nothing was bought.";

pub(crate) const CHECK_TITLE: &str = "Review the order";
pub(crate) const ORDER: &str = "Your order";
pub(crate) const BUNDLE: &str = "Bundle";
pub(crate) const EACH: &str = "Price each";
pub(crate) const TOTAL: &str = "Total";
pub(crate) const BEFORE: &str = "Balance now";
pub(crate) const AFTER: &str = "Balance after";
pub(crate) const LACKING: &str = "Missing";
pub(crate) const HAPPENS: &str = "What happens";
pub(crate) const CHANGE: &str = "Change";
pub(crate) const TOP_UP: &str = "Top up";
pub(crate) const NOT_COVERED: &str = "Your balance does not cover this order, so it cannot be \
    placed. Nothing was bought. Top up, then come back.";

/// `Pay 12.50 USD`.
pub(crate) fn pay(amount: &str) -> String {
    format!("Pay {amount}")
}

/// Where a page of the list is.
pub(crate) fn showing(from: i64, to: i64, of: i64) -> String {
    format!("{}–{} of {}", print::count(from), print::count(to), print::count(of))
}

/// Countries beyond those that are named.
pub(crate) fn more(number: usize) -> String {
    format!("and {number} more")
}

/// `12 countries`.
pub(crate) fn countries(number: usize) -> String {
    match number {
        1 => "1 country".to_owned(),
        number => format!("{number} countries"),
    }
}

/// When a bundle starts, in short.
pub(crate) fn starts(start: Start) -> &'static str {
    match start {
        Start::Auto => "By itself",
        Start::FirstUse => "At first use",
    }
}

/// The same in full.
pub(crate) fn starts_in_full(start: Start) -> &'static str {
    match start {
        Start::Auto => "By itself, as soon as no other bundle is active on the eSIM.",
        Start::FirstUse => "When the traveller first uses data where it works.",
    }
}

/// What a bundle without an end gives, after the amount.
pub(crate) fn unlimited(kbps: i64) -> String {
    format!("a day, then {} kbit/s for the rest of the day (UTC)", print::count(kbps))
}

/// What follows the payment.
pub(crate) fn happens(target: Target, quantity: i64, (is_named, is_later): (bool, bool)) -> String {
    let bundles = print::counted(quantity, "bundle");
    match (target, is_named, is_later) {
        (Target::Esims, true, false) => {
            format!("The {} put on the eSIM at once.", is_or_are(&bundles, quantity))
        }
        (Target::Esims, true, true) => format!(
            "The {} put on the eSIM within a minute or so; the order's page shows how far it is.",
            is_or_are(&bundles, quantity)
        ),
        (Target::Esims, false, false) => format!(
            "{} made at once, each with the bundle on it. Their codes are on the order's page.",
            is_or_are(&print::counted(quantity, "new eSIM"), quantity)
        ),
        (Target::Esims, false, true) => format!(
            "{} made, each with the bundle on it. So many take a moment; the order's page shows \
             how far it is and has the codes when it is done.",
            is_or_are(&print::counted(quantity, "new eSIM"), quantity)
        ),
        (_, _, true) => format!(
            "{} put into your inventory. So many take a moment; the order's page shows how far it \
             is. What is not used expires after a year.",
            is_or_are(&bundles, quantity)
        ),
        _ => format!(
            "{} put into your inventory at once. What is not used expires after a year.",
            is_or_are(&bundles, quantity)
        ),
    }
}

fn is_or_are(what: &str, quantity: i64) -> String {
    format!("{what} {}", if quantity == 1 { "is" } else { "are" })
}

/// What goes where, in short.
pub(crate) fn target(target: Target, is_named: bool) -> &'static str {
    match (target, is_named) {
        (Target::Esims, true) => "An eSIM you have",
        (Target::Esims, false) => "New eSIMs",
        _ => "Inventory",
    }
}
