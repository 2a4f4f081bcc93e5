//! The sandbox: clock, work, card, faults, a fresh start.

use crate::print;

pub(crate) const CLOCK: &str = "Clock";
pub(crate) const AHEAD: &str = "Ahead of real time";
pub(crate) const WORK: &str = "Background work";
pub(crate) const CARD: &str = "Test card";
pub(crate) const FAULTS: &str = "Faults";
pub(crate) const RUNS: &str = "Runs";
pub(crate) const HELD: &str = "Held";
pub(crate) const NO_CARD: &str = "None";

pub(crate) const CLOCK_SAYS: &str = "Your sandbox has its own clock, which you move on to see \
    bundles expire and deletions come due. Everything that is due happens in order, each at its \
    own time. It never goes back.";
/// Seconds, and what the button says.
pub(crate) const STEPS: [(&str, &str); 3] =
    [("3600", "+ 1 hour"), ("86400", "+ 1 day"), ("2592000", "+ 30 days")];
pub(crate) const SECONDS: &str = "Or by seconds";
pub(crate) const ADVANCE: &str = "Move on";
pub(crate) const SECONDS_WRONG: &str =
    "Give whole seconds, up to ten years. The clock was not moved.";
pub(crate) const SETTLE: &str = "Do everything that is due";
pub(crate) const SETTLED: &str = "Everything that was due is done.";
pub(crate) const ADVANCED: &str = "The clock was moved on.";

pub(crate) const WORK_SAYS: &str = "Held work lets you see the states between: bundles that are \
    still processing, callbacks that wait.";
pub(crate) const HOLD: &str = "Hold work";
pub(crate) const GO_ON: &str = "Let work go on";
pub(crate) const IS_HELD: &str = "Background work waits now.";
pub(crate) const GOES_ON: &str = "Background work goes on.";

pub(crate) const CARD_SAYS: &str = "Top-ups are charged to this card. No money moves.";
pub(crate) const CARDS: [(&str, &str); 5] = [
    ("pays", "Pays"),
    ("declines", "Is declined"),
    ("silent", "Stays silent, settles later"),
    ("late", "Answers late"),
    ("", "No card"),
];
pub(crate) const CARD_SAVED: &str = "The test card is changed.";

pub(crate) const FAULTS_SAYS: &str = "Lets the next calls of an operation go wrong, to see what \
    your program does then. The sandbox's own calls never fail.";
pub(crate) const FAULT_HEADS: [&str; 2] = ["Operation", "Goes wrong by"];
pub(crate) const FAULT_TIMES: &str = "Times left";
pub(crate) const FAULT_CLEAR_HEAD: &str = "Set right";
pub(crate) const ROUTE: &str = "Operation";
pub(crate) const FAULT: &str = "What goes wrong";
pub(crate) const FAULT_KINDS: [(&str, &str); 3] = [
    ("status", "It is answered with an error, and nothing happens"),
    ("slow", "It is answered late"),
    ("drop", "Everything happens, but there is no answer"),
];
pub(crate) const STATUS: &str = "Status";
pub(crate) const STATUS_HINT: &str = "From 400 to 599, for an error.";
pub(crate) const SLOW_SECONDS: &str = "Seconds";
pub(crate) const SLOW_HINT: &str = "Up to 60, for a late answer.";
pub(crate) const TIMES: &str = "How many calls";
pub(crate) const ADD: &str = "Let it go wrong";
pub(crate) const CLEAR: &str = "Clear";
pub(crate) const FAULT_SET: &str = "The next calls of that operation go wrong.";
pub(crate) const FAULT_CLEARED: &str = "That operation works again.";
pub(crate) const FAULT_WRONG: &str = "A fault takes an operation, a status from 400 to 599 or up \
    to 60 seconds, and up to 10,000 calls. Nothing was set.";
pub(crate) const CARD_WRONG: &str = "There is no such test card. Nothing was changed.";

pub(crate) const PHONES: &str = "Phones";
pub(crate) const PHONES_SAYS: &str = "Every eSIM of a sandbox is in a phone of its own, which \
    installs it, registers in a country and uses data when you say so, on the eSIM's page.";
pub(crate) const PHONES_LINK: &str = "Open eSIMs";

pub(crate) const RESET: &str = "Start afresh";
pub(crate) const RESET_SAYS: &str = "All eSIMs, orders, bundles, events, deliveries, faults and \
    the balance are gone for you. People, keys, settings, the test card, the webhook secret and \
    the clock stay. This cannot be undone.";
pub(crate) const RESET_DONE: &str = "Your sandbox starts afresh.";

/// What goes wrong, in a row.
pub(crate) fn status(status: u16) -> String {
    format!("status {status}")
}

/// The same for a late answer.
pub(crate) fn slow(seconds: u64) -> String {
    format!("{seconds} s late")
}

pub(crate) const DROP: &str = "no answer";

/// How many operations go wrong.
pub(crate) fn faults(count: usize) -> String {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    if count == 0 { "None".to_owned() } else { print::counted(count, "operation") }
}
