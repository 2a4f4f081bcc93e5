//! What forms that spend, give back or change an eSIM answer.

use app::esims::{apply, change, revoke, sms};
use app::inventory::Refund;
use app::orders;
use domain::Money;

use crate::print;

pub(crate) const BOUGHT: &str = "Bought.";
pub(crate) const CHECKED_ONLY: &str = "This was only checked; nothing was bought.";
pub(crate) const CARD_DECLINED: &str = "The card was declined. Nothing was charged and your \
    balance is unchanged. Try another card, or ask your bank.";
pub(crate) const NO_CARD: &str = "There is no stored card. Nothing was charged. Add a card first.";
pub(crate) const BELOW_MINIMUM: &str =
    "The amount is below your organisation's minimum. Nothing was charged.";
pub(crate) const DAILY_LIMIT: &str = "This would exceed what your organisation may top up in one \
    day. Nothing was charged. Choose a smaller amount, or try tomorrow (UTC).";
pub(crate) const UNDECIDED: &str = "The payment provider has not decided yet. It will be settled \
    by itself and never charged twice; look again in a minute.";
pub(crate) const BALANCE_TOO_LOW: &str =
    "Your balance is too low. Nothing was bought. Top up first, then try again.";
pub(crate) const OUT_OF_STOCK: &str = "There is no eSIM in stock right now. Nothing was taken. Try \
    again later, or ask your wholesaler.";
pub(crate) const USED_TWICE: &str = "This form was sent before with other contents. Nothing was \
    changed this time. Open the page again and start afresh.";

/// After a top-up.
pub(crate) fn topped_up(amount: Money) -> String {
    let currency = amount.currency();
    format!("{} {} were added to your balance.", print::amount(amount), currency.code())
}

/// Why an order was refused.
pub(crate) fn order_refused(refusal: &orders::Refusal) -> String {
    use orders::Refusal as R;
    let why = match refusal {
        R::Quantity => "Choose between 1 and 1,000 of a bundle.",
        R::TooLarge => "An order has at most 10,000 bundles.",
        R::IccidsWithoutAssign => "eSIMs were named for bundles that go into the inventory.",
        R::IccidsMismatch => "Name as many eSIMs as bundles.",
        R::UnknownBundle(name) => {
            return format!("{name} is not for sale to you. Nothing was bought.");
        }
        R::NotYourEsim => "One of the eSIMs is not yours.",
        R::Deactivated => "One of the eSIMs is deactivated.",
        R::NotCompatible => "The bundle does not fit the eSIM. Put it on a new one instead.",
    };
    format!("{why} Nothing was bought.")
}

/// What a refund came to; whether it was one.
pub(crate) fn refund(refund: Refund) -> Result<&'static str, &'static str> {
    match refund {
        Refund::Done => Ok("Given back. The price is on your balance again."),
        Refund::Quantity => Err("Choose how many to give back. Nothing was changed."),
        Refund::UnknownUsage => Err("There is no such lot. Nothing was changed."),
        Refund::NotRefundable => {
            Err("The time in which this lot could be given back is over. Nothing was changed.")
        }
        Refund::ExceedsRemaining => Err("There are fewer left than that. Nothing was changed."),
    }
}

/// Why an apply was refused.
pub(crate) fn apply_refused(refusal: &apply::Refusal) -> String {
    use apply::Refusal as R;
    let why = match refusal {
        R::Quantity => "Choose how many.",
        R::TooMany => "That is too many at once; at most 1,000.",
        R::UnknownBundle(name) => {
            return format!("{name} is not in your catalogue or inventory. Nothing was changed.");
        }
        R::NoneLeft(name) => {
            return format!(
                "There is not enough of {name} in your inventory. Nothing was changed. \
                 Buy it first."
            );
        }
        R::NotYourEsim => "This eSIM is not yours.",
        R::Deactivated => "This eSIM is deactivated.",
        R::NotCompatible => "The bundle does not fit this eSIM. Put it on a new one instead.",
    };
    format!("{why} Nothing was changed.")
}

/// After an apply.
pub(crate) fn applied(is_processing: bool, bundles: usize) -> &'static str {
    match (is_processing, bundles) {
        (true, _) => "Accepted. The bundles are being put on their eSIMs.",
        (false, 1) => "The bundle is on the eSIM.",
        (false, _) => "The bundles are on their eSIMs.",
    }
}

/// What a revoke came to; whether it was one.
pub(crate) fn revoke(outcome: revoke::Outcome) -> Result<&'static str, &'static str> {
    use revoke::Outcome as O;
    match outcome {
        O::ToInventory => Ok("Taken off. The bundle is back in your inventory."),
        O::ToBalance => Ok("Taken off. Its price is back on your balance."),
        O::Nothing => Ok("Taken off. It had started or was too old, so nothing was given back."),
        O::NotYourEsim => Err("This eSIM is not yours. Nothing was changed."),
        O::UnknownAssignment => {
            Err("There is no such bundle on this eSIM any more. Nothing was changed.")
        }
    }
}

/// What a change of an eSIM came to; whether it was one.
pub(crate) fn change(outcome: change::Outcome) -> Result<&'static str, &'static str> {
    use change::Outcome as O;
    match outcome {
        O::Updated => Ok("Saved."),
        O::Refreshed => Ok("The network was asked to register the eSIM again."),
        O::Suspended => Ok("Suspended. It gets no data until you resume it."),
        O::Resumed => Ok("Resumed."),
        O::Deleted => Ok("The eSIM is gone from your organisation."),
        O::NotYourEsim => Err("This eSIM is not yours. Nothing was changed."),
        O::Deactivated => Err("This eSIM is deactivated. Nothing was changed."),
        O::TooLong => Err("The reference is too long. Nothing was changed."),
        O::AlreadySuspended => Err("It is suspended already."),
        O::NotSuspended => Err("It is not suspended."),
        O::Locked => Err("Your wholesaler suspended this eSIM; only they can resume it."),
    }
}

/// What became of a message; whether it was sent.
pub(crate) fn sms(outcome: sms::Outcome) -> Result<&'static str, &'static str> {
    use sms::Outcome as O;
    match outcome {
        O::Sent => Ok("The message is on its way."),
        O::Length => Err("A message has 1 to 160 characters. Nothing was sent."),
        O::NotYourEsim => Err("This eSIM is not yours. Nothing was sent."),
        O::Deactivated => Err("This eSIM is deactivated. Nothing was sent."),
        O::NoMsisdn => Err("This eSIM has no telephone number. Nothing was sent."),
        O::SenderNotAllowed => Err("You may not send under that name. Nothing was sent."),
    }
}
