//! The overview.

pub(crate) const TITLE: &str = "Overview";
pub(crate) const BUY: &str = "Buy bundles";

pub(crate) const BALANCE: &str = "Balance";
pub(crate) const TEST_CREDIT: &str = "Test credit";
pub(crate) const ESIMS: &str = "eSIMs";
pub(crate) const USED: &str = "Data used, 30 days";
pub(crate) const EXPIRING: &str = "Expiring within 30 days";
pub(crate) const CALLBACKS: &str = "Callbacks";

pub(crate) const BALANCE_COURSE: &str = "Balance by day";
pub(crate) const USED_COURSE: &str = "Data used by day";
pub(crate) const BY_STATE: &str = "eSIMs by profile state";

pub(crate) const ENDING: &str = "About to end";
pub(crate) const ENDING_NONE: &str = "No bundle ends within the next three days.";
pub(crate) const NEARLY: &str = "Nearly used up";
pub(crate) const NEARLY_NONE: &str = "No bundle in use has less than a fifth left.";
pub(crate) const IN_USE_HEADS: [&str; 4] = ["eSIM", "Bundle", "Left", "Ends"];
pub(crate) const UNLIMITED: &str = "unlimited";

pub(crate) const ORDERS: &str = "Latest orders";
pub(crate) const ORDER_HEADS: [&str; 4] = ["Order", "State", "Total", "Placed"];
pub(crate) const ALL: &str = "All";

pub(crate) const NO_RECEIVER: &str = "No address set";
pub(crate) const SWITCHED_OFF: &str = "Switched off";
pub(crate) const PAUSED: &str = "Paused by your wholesaler";
pub(crate) const FAILING: &str = "Failing";
pub(crate) const WORKING: &str = "Working";
pub(crate) const WAITING: &str = "waiting";
pub(crate) const GIVEN_UP: &str = "given up";

pub(crate) const EMPTY_TITLE: &str = "Welcome";
pub(crate) const EMPTY: &str = "Nothing was bought yet. A bundle is an amount of data for some days \
    in some countries; you put it on an eSIM and hand its QR code to a traveller. Figures appear \
    here as soon as there is something to count.";

/// How many more there are than those shown.
pub(crate) fn more(count: i64, is_more: bool) -> String {
    if is_more { format!("more than {count}") } else { format!("{count} in all") }
}
