//! A payment provider that moves no money: what it says follows from the card and the time alone,
//! so that it says the same after a restart.

use std::time::Duration;

use domain::ports::payments::{Answer, CardPage, Charge, Outcome, Payments};

/// The built-in provider of sandbox organisations.
pub struct TestProcessor {
    /// Waits; given from outside, so that a deterministic run can wait in no time.
    pub sleep: fn(Duration) -> Answer<'static>,
}

/// How long the silent card stays undecided, by the organisation's clock.
const SILENCE_MS: i64 = 60_000;
/// How long the late card takes: longer than a caller waits.
const LATE: Duration = Duration::from_secs(6);

impl Payments for TestProcessor {
    fn charge<'a>(&'a self, charge: &'a Charge) -> Answer<'a> {
        let silent_for_ms = charge.now.ms() - charge.asked_at.ms();
        match charge.card.expose().as_str() {
            "pays" => Box::pin(async { Outcome::Paid }),
            "silent" if silent_for_ms < SILENCE_MS => {
                Box::pin(async { Outcome::Undecided("the processor is silent".to_owned()) })
            }
            "silent" => Box::pin(async { Outcome::Paid }),
            "late" => (self.sleep)(LATE),
            _ => Box::pin(async { Outcome::Declined }),
        }
    }

    fn card_page(&self, _: &str, _: &str) -> Option<CardPage> {
        Some(CardPage::Own)
    }
}
