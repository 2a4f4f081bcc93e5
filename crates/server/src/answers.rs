//! Whoever asks gets its answer in its own form: a version of the API, or the portal.

use api::InVersions;
use app::inventory::Refund;
use app::{Answer, Answers, esims, orders, topup};
use portal::reseller::{FORM, InPortal};

/// Writes answers for everybody; the form says who asked.
pub(crate) struct InForms;

fn writer(form: &str) -> &'static dyn Answers {
    if form == FORM { &InPortal } else { &InVersions }
}

impl Answers for InForms {
    fn topup(&self, form: &str, outcome: &topup::Outcome) -> Answer {
        writer(form).topup(form, outcome)
    }

    fn order(&self, form: &str, outcome: &orders::Outcome) -> Answer {
        writer(form).order(form, outcome)
    }

    fn refund(&self, form: &str, refund: Refund) -> Answer {
        writer(form).refund(form, refund)
    }

    fn apply(&self, form: &str, outcome: &esims::apply::Outcome) -> Answer {
        writer(form).apply(form, outcome)
    }

    fn revoke(&self, form: &str, outcome: esims::revoke::Outcome) -> Answer {
        writer(form).revoke(form, outcome)
    }

    fn change(&self, form: &str, outcome: esims::change::Outcome) -> Answer {
        writer(form).change(form, outcome)
    }

    fn sms(&self, form: &str, outcome: esims::sms::Outcome) -> Answer {
        writer(form).sms(form, outcome)
    }
}
