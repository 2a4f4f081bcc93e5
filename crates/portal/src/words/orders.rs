//! Orders: the list, one of them, and its codes to take along.

use domain::order::{ItemKind, Status, Target};

use crate::kit::Mood;
use crate::print;

pub(crate) const TITLE: &str = "Orders";
pub(crate) const LIST: &str = "Orders, newest first";
pub(crate) const SEARCH_HINT: &str = "the beginning of a reference";
pub(crate) const HEADS: [&str; 6] = ["Order", "What", "Quantity", "Total", "State", "When"];
pub(crate) const NOTHING_FOUND: &str = "No order is like that.";
pub(crate) const NOTHING_YET: &str = "None among these.";
pub(crate) const ALL: &str = "All";
pub(crate) const EMPTY: &str = "No orders yet";
pub(crate) const EMPTY_WHY: &str = "Everything you buy, put on eSIMs from the inventory, give back \
    or top up is an order: it says what it was, what it cost and which eSIMs belong to it.";
pub(crate) const EMPTY_STEP: &str = "Choose a bundle";
pub(crate) const STATUSES: [Status; 3] = [Status::Processing, Status::Completed, Status::Failed];

pub(crate) const STATE: &str = "State";
pub(crate) const TOTAL: &str = "Total";
pub(crate) const PLACED: &str = "Placed";
pub(crate) const FINISHED: &str = "Finished";
pub(crate) const QUANTITY: &str = "Bundles";
pub(crate) const WHERE: &str = "Where to";
pub(crate) const REFERENCE: &str = "Reference";
pub(crate) const TEST_CREDIT: &str = "Of this from test credit";
pub(crate) const BALANCE: &str = "Balance after it";
pub(crate) const FROM: &str = "Ordered from";
pub(crate) const RECEIPT: &str = "Receipt";
pub(crate) const OPEN_RECEIPT: &str = "Open the receipt";
pub(crate) const DETAILS: &str = "Details";
pub(crate) const ITEMS: &str = "Items";
pub(crate) const ITEM_HEADS: [&str; 4] = ["What", "Quantity", "Each", "Sum"];
pub(crate) const ESIMS: &str = "eSIMs";
pub(crate) const ESIM_HEADS: [&str; 4] = ["ICCID", "Bundle", "eSIM", "State"];
pub(crate) const NEW_ESIM: &str = "New";
pub(crate) const OLD_ESIM: &str = "You had it";
pub(crate) const GONE: &str = "No longer yours";

pub(crate) const CODES: &str = "Codes";
pub(crate) const CODES_SAY: &str =
    "Whoever has a code can install its eSIM, once. Hand each to one traveller.";
pub(crate) const CSV: &str = "Table (CSV)";
pub(crate) const ZIP: &str = "QR codes (ZIP)";
pub(crate) const PRINT_SIX: &str = "Print, 6 a sheet";
pub(crate) const PRINT_TWELVE: &str = "Print, 12 a sheet";
pub(crate) const STILL_PROCESSING: &str =
    "The order is still worked on. Its codes are here when it is done.";
pub(crate) const DEACTIVATED: &str =
    "All eSIMs of this order are deactivated, so there are no codes any more.";
pub(crate) const NO_CODES: &str = "This order has no codes to print.";
pub(crate) const PRINT_HINT: &str =
    "For A4 paper, without margins and at full size. Cut along the marks.";
pub(crate) const BACK: &str = "Back to the order";

/// `Order 3f2a9c1e`.
pub(crate) fn title(reference: &str) -> String {
    format!("Order {}", short(reference))
}

/// The title of its codes.
pub(crate) fn print_title(reference: &str) -> String {
    format!("Codes of order {}", short(reference))
}

/// The first part of a reference, enough to recognise it.
pub(crate) fn short(reference: &str) -> &str {
    reference.split('-').next().unwrap_or(reference)
}

/// How far an order is.
pub(crate) fn status(status: Status) -> (Mood, &'static str) {
    match status {
        Status::Processing => (Mood::Busy, "Processing"),
        Status::Completed => (Mood::Good, "Completed"),
        Status::Failed => (Mood::Bad, "Failed"),
    }
}

/// What an order is about. `bundle` is empty where there is none.
pub(crate) fn about(kind: ItemKind, bundle: &str) -> String {
    match kind {
        ItemKind::Bundle => bundle.to_owned(),
        ItemKind::BundleAssignment => format!("From the inventory: {bundle}"),
        ItemKind::BundleRefund => format!("Given back: {bundle}"),
        ItemKind::ApiTopup => "Top-up through the API".to_owned(),
        ItemKind::Topup => "Top-up".to_owned(),
        ItemKind::AutoTopup => "Automatic top-up".to_owned(),
    }
}

/// Items beyond the first.
pub(crate) fn more(number: i64) -> String {
    format!("and {} more", print::count(number))
}

/// Where its bundles go.
pub(crate) fn target(target: Target) -> &'static str {
    match target {
        Target::Nowhere => "Nowhere: it is about money",
        Target::Inventory => "Inventory",
        Target::Esims => "eSIMs",
    }
}

/// What is next.
pub(crate) fn next(status: Status) -> Option<&'static str> {
    match status {
        Status::Processing => Some(
            "It is paid and being worked on. This page follows by itself; you can leave it and \
             come back.",
        ),
        Status::Completed => None,
        Status::Failed => {
            Some("It could not be fulfilled. Everything it had cost is back where it came from.")
        }
    }
}

/// Which orders of all these are.
pub(crate) fn showing(from: i64, to: i64, of: i64) -> String {
    format!("{}–{} of {}", print::count(from), print::count(to), print::count(of))
}
