//! API keys and where they are taken from.

use std::net::IpAddr;

pub(crate) const START: &str = "Start here";
pub(crate) const BASE_URL: &str = "Base URL";
pub(crate) const HEADER: &str = "Header";
pub(crate) const REFERENCE: &str = "Reference";
pub(crate) const REFERENCE_LINK: &str = "Every operation, with samples";
pub(crate) const CURL: &str = "Your organisation, from a terminal";

pub(crate) const PRIMARY: &str = "Primary key";
pub(crate) const PRIMARY_SAYS: &str = "The primary key is the one that GET /organisation returns, \
    and it signs callbacks in X-Signature-SHA256. Whoever holds a key can spend your balance: keep \
    it on servers, never in an app or a web page.";
pub(crate) const SHOW: &str = "Show the primary key";
pub(crate) const SHOW_SAYS: &str =
    "It takes your password, and the audit log notes that you have seen it.";
pub(crate) const SHOW_BUTTON: &str = "Show";
pub(crate) const SHOWN_TITLE: &str = "Your primary key";
pub(crate) const SHOWN_SAYS: &str =
    "Copy it to where it is needed and leave this page. It is not kept in your browser.";
pub(crate) const NO_PRIMARY: &str =
    "There is no primary key. Make a key; the first one is primary.";
pub(crate) const API_KEY: &str = "the API key";
pub(crate) const BACK: &str = "Back to keys";

pub(crate) const LIST: &str = "Keys";
pub(crate) const HEADS: [&str; 3] = ["Label", "State", "Made"];
pub(crate) const NO_LABEL: &str = "without a label";
pub(crate) const IS_PRIMARY: &str = "Primary";
pub(crate) const WORKS: &str = "Works";
pub(crate) const REVOKED: &str = "Revoked";

pub(crate) const NEW: &str = "Make a further key";
pub(crate) const LABEL: &str = "Label";
pub(crate) const LABEL_HINT: &str = "What it is for, such as “shop server, production”.";
pub(crate) const MAKE: &str = "Make key";
pub(crate) const MADE_TITLE: &str = "Your new key";
pub(crate) const MADE_SAYS: &str = "It is shown now and never again; only its fingerprint is used \
    from here on. Copy it before you leave this page.";
pub(crate) const MADE_OPEN: &str = "Open this key";

pub(crate) const ROTATE: &str = "How to change keys without a break";
pub(crate) const ROTATE_STEPS: [&str; 3] = [
    "Make a further key. Both work from then on.",
    "Put the new key on your servers, one by one. Failed requests show which key they came with.",
    "Make the new key primary, so that it signs callbacks, and revoke the old one.",
];

pub(crate) const STATE: &str = "State";
pub(crate) const MADE: &str = "Made";
pub(crate) const ID: &str = "Id";
pub(crate) const SINCE: &str = "Primary since";
pub(crate) const REVOKED_AT: &str = "Revoked";
pub(crate) const ACTIONS: &str = "Change";
pub(crate) const MAKE_PRIMARY: &str = "Make primary";
pub(crate) const MAKE_PRIMARY_SAYS: &str = "From that moment this key signs callbacks in \
    X-Signature-SHA256, and receivers that check with the old key refuse them. Teach your receiver \
    this key first. Both keys go on working for calls.";
pub(crate) const REVOKE: &str = "Revoke";
pub(crate) const REVOKE_SAYS: &str = "Calls with this key are refused within a second, everywhere. \
    This cannot be undone.";
pub(crate) const PRIMARY_STAYS: &str =
    "The primary key cannot be revoked. Make another key primary first.";
pub(crate) const REVOKED_STAYS: &str = "This key opens nothing any more.";
pub(crate) const NOW_PRIMARY: &str = "This key is primary now and signs callbacks.";
pub(crate) const NOW_REVOKED: &str = "The key is revoked.";
pub(crate) const TOO_MANY: &str =
    "You have as many keys as there may be. Nothing was made. Revoke one first.";
pub(crate) const LONG_LABEL: &str =
    "A label is one line of at most 1000 characters. Nothing was made.";

pub(crate) const ALLOW: &str = "Where keys are taken from";
pub(crate) const ALLOW_SAYS: &str = "Without a list, keys work from everywhere. With one, a key \
    that was stolen opens nothing from elsewhere. The portal itself stays reachable.";
pub(crate) const ALLOW_FIELD: &str = "Addresses and networks";
pub(crate) const ALLOW_HINT: &str = "One per line, such as 192.0.2.7 or 198.51.100.0/24.";

/// Where the person is, seen from the list.
pub(crate) fn you_are_outside(from: IpAddr) -> String {
    format!(
        "You come from {from}, which is not on the list: calls from this computer are refused. \
         That is right if only your servers call."
    )
}

/// Where the person is.
pub(crate) fn you_are_at(from: IpAddr) -> String {
    format!("You come from {from}.")
}
