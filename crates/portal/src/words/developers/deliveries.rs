//! Deliveries: what was sent, what came back, and sending again.

use crate::print;

pub(crate) const HINT: &str = "ICCID";
pub(crate) const HEADS: [&str; 5] = ["Event", "eSIM", "State", "Last answer", "When"];
pub(crate) const ATTEMPTS: &str = "Attempts";
pub(crate) const ALL: &str = "All";
pub(crate) const WAITING: &str = "Waiting";
pub(crate) const DELIVERED: &str = "Delivered";
pub(crate) const DEAD: &str = "Given up";
pub(crate) const NOT_AN_ICCID: &str = "An ICCID has 18 to 22 digits; this is none yet.";
pub(crate) const NOTHING: &str = "No delivery is like that.";
pub(crate) const NOTHING_HERE: &str =
    "Nothing in this stretch of the log. Older deliveries are on the next page.";

pub(crate) const EMPTY: &str = "No callback was sent yet";
pub(crate) const EMPTY_SAYS: &str = "Every event that is sent to your receiver stands here, with \
    each attempt and what came back. Set an address, then send a test event.";
pub(crate) const EMPTY_STEP: &str = "Set up callbacks";

pub(crate) const AGAIN: &str = "Send again";
pub(crate) const AGAIN_DEAD: &str = "All that were given up";
pub(crate) const AGAIN_DEAD_SAYS: &str = "Each is sent once more with a full set of attempts, \
    under the same event id, so a receiver that knows it can leave it out.";
pub(crate) const AGAIN_WITHIN: &str = "Everything of a time";
pub(crate) const AGAIN_WITHIN_SAYS: &str = "Delivered ones are sent once more, too, under the same \
    event ids; those that wait anyway are left alone. Times are UTC, by your organisation's clock.";
pub(crate) const FROM: &str = "From";
pub(crate) const TO: &str = "To, not included";
pub(crate) const WRONG_TIME: &str =
    "Give two times, the first before the second. Nothing was sent.";
pub(crate) const NO_ADDRESS: &str = "No callback address is set. Nothing was sent.";
pub(crate) const IS_OFF: &str =
    "Callbacks are switched off. Nothing was sent. Save the address to switch them on again.";
pub(crate) const SENT_ONE: &str = "It is on its way again.";

pub(crate) const STATE: &str = "State";
pub(crate) const EVENT_TIME: &str = "Event";
pub(crate) const NEXT: &str = "Next attempt";
pub(crate) const DONE: &str = "Last sent";
pub(crate) const ESIM: &str = "eSIM";
pub(crate) const BODY: &str = "Body";
pub(crate) const BODY_CAPTION: &str = "Laid out for reading";
pub(crate) const BODY_SAYS: &str =
    "Sent were the same characters without line breaks; signatures are over those.";
pub(crate) const BODY_COPY: &str = "Copy as sent";
pub(crate) const HEADERS: &str = "Headers";
/// Of every callback.
pub(crate) const PLAIN_HEADERS: [(&str, &str); 2] =
    [("Content-Type", "application/json"), ("User-Agent", "Tern")];
/// Of those that are signed; the first value is the id of the event.
pub(crate) const SIGNED_HEADERS: [(&str, &str); 3] = [
    ("webhook-timestamp", "seconds, new with every attempt"),
    ("webhook-signature", "by the webhook secret"),
    ("X-Signature-SHA256", "by the primary key"),
];
pub(crate) const TRIED: &str = "Attempts";
pub(crate) const TRIED_HEADS: [&str; 5] = ["No.", "Answer", "Took", "When", "It began with"];
pub(crate) const NOT_TRIED: &str = "Not tried yet. Events about one eSIM are sent in order, so it \
    may wait for an earlier one.";
pub(crate) const NO_ANSWER: &str = "no answer";
pub(crate) const BACK: &str = "All deliveries";

/// The title of a delivery.
pub(crate) fn title(kind: &str, seq: i64) -> String {
    format!("{kind}, event {}", print::count(seq))
}

/// After sending several again.
pub(crate) fn sent(count: i64) -> String {
    match count {
        0 => "There was nothing to send again.".to_owned(),
        1 => "One delivery is on its way again.".to_owned(),
        n => format!("{} deliveries are on their way again.", print::count(n)),
    }
}
