//! Billing: card, top-ups, automatic top-up, ledger, statement.

use domain::ledger::Kind;

pub(crate) const TITLE: &str = "Billing";
pub(crate) const BALANCE: &str = "Balance";
pub(crate) const TEST_CREDIT: &str = "Test credit";
pub(crate) const UNTIL: &str = "until";
pub(crate) const CARD: &str = "Card";
pub(crate) const NO_CARD: &str = "none stored";
pub(crate) const AUTOMATIC: &str = "Automatic top-up";
pub(crate) const OFF: &str = "off";
pub(crate) const BELOW: &str = "when below";

pub(crate) const TOP_UP: &str = "Top up";
pub(crate) const AMOUNT: &str = "Amount";
pub(crate) const TOP_UP_HINT: &str =
    "Charged to the stored card at once and added to your balance.";
pub(crate) const TOP_UP_BUTTON: &str = "Charge the card";
pub(crate) const NOT_AN_AMOUNT: &str =
    "Enter an amount such as 50 or 12.50, more than nothing. Nothing was charged.";
pub(crate) const NO_CARD_YET: &str = "Your first payment stores a card; later top-ups, also those \
    through the API, are charged to it.";
pub(crate) const ADD_CARD: &str = "Pay with a card and store it";
pub(crate) const REPLACE_CARD: &str = "Use another card";
pub(crate) const REMOVE_CARD: &str = "Remove the card";
pub(crate) const REMOVE_CARD_SAYS: &str = "Top-ups, also automatic ones and those through the API, \
    are refused until a card is stored again. Your balance stays.";
pub(crate) const CARD_REMOVED: &str = "The card is removed.";

pub(crate) const AUTO_TEXT: &str = "When your balance falls below a limit, the card is charged by \
    itself, at most once at a time.";
pub(crate) const AUTO_THRESHOLD: &str = "When the balance is below";
pub(crate) const AUTO_AMOUNT: &str = "Charge";
pub(crate) const AUTO_HINT: &str = "Leave both empty to switch it off.";
pub(crate) const AUTO_SAVE: &str = "Save";
pub(crate) const AUTO_SAVED: &str = "Automatic top-up is set.";
pub(crate) const AUTO_OFF: &str = "Automatic top-up is off.";
pub(crate) const AUTO_BAD: &str =
    "Enter both amounts, such as 20 and 100, or neither. Nothing was changed.";

pub(crate) const CARD_TITLE: &str = "Pay with a card";
pub(crate) const TEST_PAGE: &str = "This is a test page of the sandbox. No real card is asked for \
    and no money moves: choose how the card behaves.";
pub(crate) const TEST_CARD: &str = "Test card";
pub(crate) const TEST_CARDS: [(&str, &str); 4] = [
    ("pays", "Pays at once"),
    ("declines", "Is declined"),
    ("late", "Answers late, then pays"),
    ("silent", "Does not answer; is settled later"),
];
pub(crate) const PAY: &str = "Pay and store the card";
pub(crate) const NO_PROVIDER: &str = "Your wholesaler has no card provider set up. Ask them to add \
    to your balance. Nothing was changed.";
pub(crate) const BAD_CARD: &str = "Choose one of the test cards. Nothing was charged.";

pub(crate) const LEDGER: &str = "Ledger";
pub(crate) const LEDGER_HEADS: [&str; 5] = ["When", "What", "Cause", "Balance", "Test credit"];
pub(crate) const LEDGER_EMPTY: [&str; 2] = [
    "Nothing was booked yet",
    "Every change of your balance appears here with what caused it: top-ups, orders, refunds. \
     Entries are never changed.",
];
pub(crate) const STATEMENT: &str = "Statement of a month";
pub(crate) const MONTH: &str = "Month";
pub(crate) const MONTH_HINT: &str = "Year and month, such as 2026-05 (UTC).";
pub(crate) const DOWNLOAD: &str = "Download CSV";
pub(crate) const BAD_MONTH: &str = "Enter a month as 2026-05.";
pub(crate) const CSV_HEAD: &str =
    "Number,Time,What,Cause,Reason,Balance change,Test credit change,Currency\r\n";

/// What an entry is, in words.
pub(crate) fn kind(name: &str) -> &'static str {
    let known = [
        (Kind::Topup, "Top-up"),
        (Kind::Credit, "Credit by your wholesaler"),
        (Kind::TestCredit, "Test credit given"),
        (Kind::TestCreditExpiry, "Test credit expired"),
        (Kind::Order, "Order"),
        (Kind::OrderCompleted, "Order completed"),
        (Kind::OrderFailed, "Order failed, money returned"),
        (Kind::Refund, "Refund"),
        (Kind::LotExpiry, "Bundles expired"),
    ];
    known.iter().find(|(kind, _)| kind.name() == name).map_or("Entry", |(_, word)| word)
}
