//! The inventory: what was bought and is not on an eSIM yet.

use crate::print;

pub(crate) const TITLE: &str = "Inventory";
pub(crate) const LIST: &str = "Lots by bundle";
pub(crate) const HEADS: [&str; 5] = ["Bundle", "Left", "Bought", "Expires", "Refundable until"];
pub(crate) const PAID: &str = "Paid each";
pub(crate) const NOTHING_FOUND: &str = "There are not so many lots.";
pub(crate) const EMPTY: &str = "The inventory is empty";
pub(crate) const EMPTY_WHY: &str = "Bundles that you buy ahead wait here, for a year, until you \
    put them on an eSIM. Buy some into the inventory; put them on eSIMs when travellers come.";
pub(crate) const EMPTY_STEP: &str = "Choose a bundle";
pub(crate) const BUY_MORE: &str = "Buy more";

pub(crate) const NONE_LEFT: &str = "None left of it";
pub(crate) const NONE_LEFT_WHY: &str = "No unit of this bundle is in your inventory. Those you \
    bought are on eSIMs, were given back, or have expired.";

pub(crate) const LEFT: &str = "Left";
pub(crate) const WORTH: &str = "Paid for what is left";
pub(crate) const NEXT_EXPIRY: &str = "First to expire";
pub(crate) const LOTS: &str = "Lots";
pub(crate) const LOT_HEADS: [&str; 5] = ["Lot", "Left", "Bought", "Expires", "Refundable until"];
pub(crate) const GIVE_BACK_HEAD: &str = "Refund";
pub(crate) const NOTHING_PAID: &str = "Given to you";
pub(crate) const OVER: &str = "Over";
pub(crate) const SOON: &str = "Soon";

pub(crate) const APPLY: &str = "Put on an eSIM";
pub(crate) const APPLY_SAYS: &str =
    "Units that expire first are taken first. This costs nothing: they are paid for.";
pub(crate) const QUANTITY: &str = "How many";
pub(crate) const TARGET: &str = "Where to";
pub(crate) const TARGETS: [(&str, &str); 2] =
    [("new", "Onto new eSIMs, one for each"), ("esim", "Onto an eSIM you have")];
pub(crate) const ICCID: &str = "ICCID";
pub(crate) const ICCID_HINT: &str = "Only for an eSIM you have.";
pub(crate) const APPLY_BUTTON: &str = "Put on";
pub(crate) const NOT_AN_ICCID: &str =
    "An ICCID has 18 to 20 digits. Nothing was changed. Copy it from the eSIM's page.";
pub(crate) const NO_TARGET: &str = "Choose a new eSIM or one you have. Nothing was changed.";

pub(crate) const REFUND: &str = "Give back";
pub(crate) const REFUND_BUTTON: &str = "Give back";

/// `Lot 12`.
pub(crate) fn lot(id: i64) -> String {
    format!("Lot {id}")
}

/// `7 of 10`.
pub(crate) fn of(total: i64) -> String {
    format!("of {}", print::count(total))
}

/// What comes back, before it is done.
pub(crate) fn refund(each: &str, remaining: i64, all: &str, test_credit: Option<&str>) -> String {
    let comes = match remaining {
        1 => format!("{each} comes back to your balance, and the bundle is gone."),
        n => format!(
            "{each} for each comes back to your balance, {all} for all {}, and the bundles are \
             gone.",
            print::count(n)
        ),
    };
    match test_credit {
        None => comes,
        Some(credit) => format!("{comes} {credit} of it was test credit and becomes that again."),
    }
}
