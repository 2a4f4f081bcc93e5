//! The world beyond the ports: a payment provider that remembers every charge, and plain writers.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use app::esims::{apply, change, revoke, sms};
use app::inventory::Refund;
use app::topup::Outcome;
use app::{Answer, Answers, Store, orders};
use domain::event::{Event, Forms};
use domain::order::Order;
use domain::ports::payments::{self, Payments};
use store::sql::Crash;

/// What becomes of a charge follows from its amount, so that the model knows it beforehand.
pub(crate) struct Fate {
    /// How often the answer is "not known yet", or none at all.
    pub(crate) undecided: i64,
    /// What it is then.
    pub(crate) is_paid: bool,
    /// Whether the money is taken when first asked, long before that is said.
    takes_early: bool,
}

pub(crate) fn fate(amount: i64) -> Fate {
    let (undecided, is_paid) = match amount % 10 {
        0..=3 => (0, true),
        4 => (0, false),
        late @ 5..=7 => (late - 4, true),
        late => (late - 7, false),
    };
    Fate { undecided, is_paid, takes_early: amount % 20 < 10 }
}

/// How the process dies when the far side is asked.
pub(crate) enum Death {
    /// At the commit that follows the answer.
    At(Crash),
    /// Before it hears the answer.
    Unheard,
}

/// What unwinds when the process dies unheard.
pub(crate) struct Died;

/// A charge as the far side knows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Charged {
    pub(crate) amount: i64,
    pub(crate) times_taken: u32,
    asked: i64,
}

#[derive(Default)]
pub(crate) struct FarSide(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    charges: BTreeMap<String, Charged>,
    death: Option<(Death, Store)>,
}

impl FarSide {
    pub(crate) fn charges(&self) -> BTreeMap<String, Charged> {
        self.lock().charges.clone()
    }

    /// The next question ends the process.
    pub(crate) fn die_when_asked(&self, death: Option<(Death, Store)>) {
        self.lock().death = death;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// None: the far side stays silent.
    fn asked(&self, charge: &payments::Charge) -> Option<payments::Outcome> {
        assert_eq!(charge.card.expose(), "pays", "the card is the one that was stored");
        let amount = charge.amount.in_minor();
        let fate = fate(amount);
        let mut inner = self.lock();
        let known = inner.charges.entry(charge.reference.clone()).or_default();
        assert!(known.asked == 0 || known.amount == amount, "a reference names one charge");
        known.amount = amount;
        known.asked += 1;
        let is_decided = known.asked > fate.undecided;
        if fate.is_paid && known.times_taken == 0 && (is_decided || fate.takes_early) {
            known.times_taken += 1;
        }
        match (is_decided, fate.is_paid) {
            (true, true) => Some(payments::Outcome::Paid),
            (true, false) => Some(payments::Outcome::Declined),
            (false, _) if known.asked % 2 == 0 => None,
            (false, _) => Some(payments::Outcome::Undecided("ask again".to_owned())),
        }
    }
}

impl Payments for FarSide {
    fn charge<'a>(&'a self, charge: &'a payments::Charge) -> payments::Answer<'a> {
        let said = self.asked(charge);
        let death = self.lock().death.take();
        match death {
            Some((Death::At(crash), store)) => store.crash_at_next_commit(crash),
            Some((Death::Unheard, _)) => resume_unwind(Box::new(Died)),
            None => {}
        }
        match said {
            Some(said) => Box::pin(std::future::ready(said)),
            None => Box::pin(std::future::pending()),
        }
    }

    fn card_page(&self, _: &str, _: &str) -> Option<payments::CardPage> {
        Some(payments::CardPage::Own)
    }
}

/// Writes every answer differently, so that one that was kept can be told from one made again.
#[derive(Default)]
pub(crate) struct Writers(AtomicU32);

impl Writers {
    fn answer(&self, form: &str, (status, code): (u16, &str), about: &str) -> Answer {
        let n = self.0.fetch_add(1, Ordering::Relaxed);
        let body = format!("{form} {n}: {about}").into_bytes();
        Answer { status, code: code.to_owned(), body }
    }
}

impl Answers for Writers {
    fn order(&self, form: &str, outcome: &orders::Outcome) -> Answer {
        let (status, code, about) = match outcome {
            orders::Outcome::Placed(shown) => {
                let Order { status, reference, .. } = &shown.order;
                (200, status.name().to_owned(), reference.clone())
            }
            orders::Outcome::Validated(checked) => {
                let code = if checked.is_covered { "covered" } else { "uncovered" };
                (200, format!("{code} {}", checked.shown.order.total), String::new())
            }
            orders::Outcome::Refused(refusal) => (400, format!("{refusal:?}"), String::new()),
        };
        self.answer(form, (status, &code), &about)
    }

    fn apply(&self, form: &str, outcome: &apply::Outcome) -> Answer {
        match outcome {
            apply::Outcome::Applied { reference, is_processing, .. } => {
                let code = if *is_processing { "processing" } else { "completed" };
                self.answer(form, (200, code), reference)
            }
            apply::Outcome::Refused(refusal) => {
                self.answer(form, (400, &format!("{refusal:?}")), "")
            }
        }
    }

    fn revoke(&self, form: &str, outcome: revoke::Outcome) -> Answer {
        self.answer(form, (200, &format!("{outcome:?}")), "")
    }

    fn change(&self, form: &str, outcome: change::Outcome) -> Answer {
        self.answer(form, (200, &format!("{outcome:?}")), "")
    }

    fn sms(&self, form: &str, outcome: sms::Outcome) -> Answer {
        self.answer(form, (200, &format!("{outcome:?}")), "")
    }

    fn refund(&self, form: &str, refund: Refund) -> Answer {
        let status = if refund == Refund::Done { 200 } else { 400 };
        self.answer(form, (status, &format!("{refund:?}")), "")
    }

    fn topup(&self, form: &str, outcome: &Outcome) -> Answer {
        let (status, code) = match outcome {
            Outcome::Paid { .. } => (200, ""),
            Outcome::Declined => (402, "declined"),
            Outcome::NoCard => (402, "no-card"),
            Outcome::BelowMinimum => (400, "below-minimum"),
            Outcome::DailyLimit => (400, "daily-limit"),
        };
        self.answer(form, (status, code), &format!("{outcome:?}"))
    }
}

impl Forms for Writers {
    fn full(&self, event: &Event) -> String {
        format!("{{\"event\":\"{event:?}\"}}")
    }

    fn short(&self, event: &Event) -> Option<String> {
        let is_usage = matches!(event, Event::Utilisation { .. });
        is_usage.then(|| format!("{{\"short\":\"{event:?}\"}}"))
    }

    fn without_person(&self, kept: &str) -> Option<String> {
        let emptied = kept.replace("code: \"FR\", name: \"France\"", "code: \"\", name: \"\"");
        (emptied != kept).then_some(emptied)
    }
}
