//! Answers that are kept with a form's token, written for the portal: the page to go to and what it
//! says, or the sentence that says why not.

use app::inventory::Refund;
use app::{Answer, Answers, esims, orders, topup};

use crate::words::answers as words;

/// Names the portal among those who ask.
pub const FORM: &str = "portal";

/// Writes answers to forms of the portal.
pub struct InPortal;

impl Answers for InPortal {
    fn topup(&self, _: &str, outcome: &topup::Outcome) -> Answer {
        match outcome {
            topup::Outcome::Paid { amount, .. } => on("", &words::topped_up(*amount)),
            topup::Outcome::Declined => no("card-declined", words::CARD_DECLINED),
            topup::Outcome::NoCard => no("no-stored-card", words::NO_CARD),
            topup::Outcome::BelowMinimum => no("amount-below-minimum", words::BELOW_MINIMUM),
            topup::Outcome::DailyLimit => no("daily-limit-reached", words::DAILY_LIMIT),
        }
    }

    fn order(&self, _: &str, outcome: &orders::Outcome) -> Answer {
        match outcome {
            orders::Outcome::Placed(shown) => {
                on(&format!("/portal/orders/{}", shown.order.reference), words::BOUGHT)
            }
            orders::Outcome::Validated(_) => no("validated", words::CHECKED_ONLY),
            orders::Outcome::Refused(refusal) => no("refused", &words::order_refused(refusal)),
        }
    }

    fn refund(&self, _: &str, refund: Refund) -> Answer {
        here(words::refund(refund))
    }

    fn apply(&self, _: &str, outcome: &esims::apply::Outcome) -> Answer {
        match outcome {
            esims::apply::Outcome::Applied { reference, assigned, is_processing } => {
                let says = words::applied(*is_processing, assigned.len());
                let first = assigned.first().map(|one| &one.iccid);
                // Several bundles on one eSIM are seen there, those on several at their order.
                match first.filter(|iccid| assigned.iter().all(|one| one.iccid == **iccid)) {
                    Some(iccid) => on(&format!("/portal/esims/{iccid}"), says),
                    None => on(&format!("/portal/orders/{reference}"), says),
                }
            }
            esims::apply::Outcome::Refused(refusal) => {
                no("refused", &words::apply_refused(refusal))
            }
        }
    }

    fn revoke(&self, _: &str, outcome: esims::revoke::Outcome) -> Answer {
        here(words::revoke(outcome))
    }

    fn change(&self, _: &str, outcome: esims::change::Outcome) -> Answer {
        here(words::change(outcome))
    }

    fn sms(&self, _: &str, outcome: esims::sms::Outcome) -> Answer {
        here(words::sms(outcome))
    }
}

/// Back to where it was asked for.
fn here(said: Result<&str, &str>) -> Answer {
    match said {
        Ok(says) => on("", says),
        Err(why) => no("refused", why),
    }
}

/// On to a page, or back to where it was asked for, which says what was done.
fn on(path: &str, says: &str) -> Answer {
    let body = format!("{path}\n{says}").into_bytes();
    Answer { status: 303, code: String::new(), body }
}

/// Back, with the reason.
fn no(code: &str, says: &str) -> Answer {
    Answer { status: 400, code: code.to_owned(), body: says.as_bytes().to_vec() }
}
