//! The event feed.

pub(crate) const SAYS: &str = "Every fact about your organisation, numbered without gaps and kept, \
    whether callbacks are set up or not. Programs read on from the last cursor they have seen.";
pub(crate) const CURL: &str = "The feed from a terminal";
pub(crate) const ALL: &str = "All";
pub(crate) const CHIPS: &str = "Kinds of events";
pub(crate) const CURSOR: &str = "the cursor";
pub(crate) const ID: &str = "the id";
pub(crate) const ESIM: &str = "Open the eSIM";
pub(crate) const ORDER: &str = "Open the order";
pub(crate) const DATA: &str = "Data";
pub(crate) const NOTHING: &str = "There is no such event.";
pub(crate) const NOTHING_HERE: &str =
    "None in this stretch of the feed. Older events are on the next page.";
pub(crate) const EMPTY: &str = "Nothing has happened yet";
pub(crate) const EMPTY_SAYS: &str = "Orders, usage, top-ups and more appear here as they happen. \
    Buy a bundle to see the first.";
pub(crate) const EMPTY_STEP: &str = "Open the catalogue";

/// The kinds there are chips for; the others are found under “All”.
pub(crate) const KINDS: [&str; 9] = [
    "Utilisation",
    "FirstUse",
    "FirstAttachment",
    "CountryChange",
    "order.completed",
    "order.failed",
    "Topup",
    "LowBalance",
    "Test",
];
