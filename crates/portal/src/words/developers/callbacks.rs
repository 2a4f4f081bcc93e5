//! Callbacks: where events are sent, in which form, of what, and how that goes.

pub(crate) const TEST: &str = "Send a test event";
pub(crate) const TESTED: &str =
    "A test event is on its way. This page shows what your receiver answers.";
pub(crate) const NO_ADDRESS: &str = "No address is set, so nothing was sent. Save one first.";
pub(crate) const IS_OFF: &str =
    "Callbacks are switched off, so nothing was sent. Save the address to switch them on again.";

pub(crate) const STATE: &str = "State";
pub(crate) const WAITING: &str = "Waiting";
pub(crate) const DEAD: &str = "Given up";
pub(crate) const P50: &str = "Half within";
pub(crate) const P99: &str = "99 of 100 within";
pub(crate) const TIMES: &str = "From event to your receiver";

pub(crate) const NONE: &str = "No address";
pub(crate) const WELL: &str = "Well";
pub(crate) const FAILING: &str = "Failing";
pub(crate) const OFF: &str = "Switched off";
pub(crate) const PAUSED: &str = "Paused";
/// How long already.
pub(crate) const FOR: &str = "for";
pub(crate) const FAILING_SAYS: &str = "Every attempt has failed for so long. Each event is tried \
    eight times over a day or so; look at a delivery for what your receiver answers.";
pub(crate) const OFF_SAYS: &str =
    "Events go on into the feed. Mend the receiver, then save its address to switch callbacks on.";
pub(crate) const PAUSED_SAYS: &str =
    "Your wholesaler lets callbacks wait. Nothing is lost; they are sent when it ends.";
pub(crate) const NONE_SAYS: &str = "Callbacks tell your server about usage and more within a \
    second. Give the address of a receiver to begin; the feed has every event either way.";

pub(crate) const SETTINGS: &str = "Settings";
pub(crate) const URL: &str = "Address of your receiver";
pub(crate) const URL_HINT: &str = "It must answer with a status from 200 to 299 within seconds. \
    Empty takes callbacks away.";
pub(crate) const VERSION: &str = "Form";
pub(crate) const VERSIONS: [(&str, &str); 2] = [
    ("V3", "V3: all fields, signed by your primary key and by the webhook secret"),
    ("V2", "V2: the shorter form of usage events, unsigned, for older receivers"),
];
pub(crate) const USAGE: &str = "Usage events";
pub(crate) const USAGES: [(&str, &str); 2] = [
    ("every", "Every record: whenever the network reports usage of a bundle"),
    ("steps", "Steps: only when one of the percentages below is passed"),
];
pub(crate) const STEPS: &str = "Steps in percent";
pub(crate) const STEPS_HINT: &str =
    "For example 50, 80, 100. Only with “Steps”; empty sets the usual 1, 50, 80, 100.";
pub(crate) const STEPS_WRONG: &str =
    "The steps are whole percentages with commas between. Nothing was changed.";
pub(crate) const KINDS: &str = "Other events to send";
/// Kind, and what it tells of. Those of `domain::event::OPTIONAL`, in the same order.
pub(crate) const KINDS_SAY: [(&str, &str); 11] = [
    ("FirstUse", "A bundle on an eSIM is used for the first time."),
    ("FirstAttachment", "An eSIM registers on a network for the first time."),
    ("CountryChange", "An eSIM registers in another country than before."),
    ("Topup", "The balance was raised by card."),
    ("AutoTopup", "The balance was raised by itself because it was low."),
    ("Credit", "Your wholesaler credited or corrected the balance."),
    ("LowBalance", "The balance has fallen to 100, 75, 50 or 10 % of the low balance below."),
    ("InsufficientBalance", "Something could not be bought for lack of money."),
    ("SMSFailed", "A text message could not be delivered."),
    ("esim.deletion_scheduled", "An idle eSIM is going to leave your organisation."),
    ("esim.deleted", "An eSIM has left your organisation."),
];
pub(crate) const AMOUNT_WRONG: &str =
    "The low balance is an amount such as 100 or 99.50. Nothing was changed.";

pub(crate) const SECRET: &str = "Webhook secret";
pub(crate) const SECRET_SAYS: &str = "Callbacks of form V3 carry webhook-signature after the \
    Standard Webhooks, made with this secret. Unlike the API key it opens nothing, so it may stand \
    where callbacks are received.";
pub(crate) const SECRET_SHOW: &str = "Show the secret";
pub(crate) const SECRET_SHOW_SAYS: &str =
    "It takes your password, and the audit log notes that you have seen it.";
pub(crate) const SECRET_SHOW_BUTTON: &str = "Show";
pub(crate) const SECRET_TITLE: &str = "Your webhook secret";
pub(crate) const SECRET_SHOWN: &str =
    "Copy it to your receiver and leave this page. It is not kept in your browser.";
pub(crate) const SECRET_NAME: &str = "the webhook secret";
pub(crate) const SECRET_BACK: &str = "Back to callbacks";
pub(crate) const SECRET_ROTATE: &str = "Change the secret";
pub(crate) const SECRET_ROTATE_SAYS: &str = "A new secret is made. For a day every callback \
    carries two signatures, one of each, so receivers have time to change over. Then the old one \
    ends.";
pub(crate) const SECRET_ROTATE_BUTTON: &str = "Make a new secret";
pub(crate) const SECRET_ROTATED: &str = "There is a new secret; the old one signs beside it for a \
    day. Show it and put it into your receiver.";

pub(crate) const VERIFY: &str = "How to check that a callback is ours";
pub(crate) const VERIFY_SAYS: &str = "Check the bytes of the body as they came, before anything \
    parses them. During a change of secrets webhook-signature holds several; one that fits is \
    enough. Refuse timestamps that are more than five minutes off.";
pub(crate) const VERIFY_SECRET: &str = "webhook-signature, in Python";
pub(crate) const VERIFY_SECRET_CODE: &str = r#"import base64, hashlib, hmac

def is_ours(secret, headers, body):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f'{headers["webhook-id"]}.{headers["webhook-timestamp"]}.'.encode() + body
    wanted = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    given = headers["webhook-signature"].split(" ")
    return any(hmac.compare_digest(one, wanted) for one in given)"#;
pub(crate) const VERIFY_KEY: &str = "X-Signature-SHA256, in Node.js";
pub(crate) const VERIFY_KEY_CODE: &str = r#"const crypto = require("node:crypto");

function isOurs(primaryKey, headers, body) {
  const wanted = crypto.createHmac("sha256", primaryKey).update(body).digest("base64");
  const given = headers["x-signature-sha256"] ?? "";
  return given.length === wanted.length
    && crypto.timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
}"#;

/// The label of the low balance.
pub(crate) fn low_balance(currency: &str) -> String {
    format!("Low balance in {currency}")
}

/// What the usual one is.
pub(crate) fn low_balance_hint(usual: &str) -> String {
    format!("For LowBalance. Empty sets the usual {usual}.")
}
