//! Telling an organisation that its money runs out.

use domain::event::{Event, Short};
use domain::ledger::Account;
use domain::{EventId, Money, OrgId, Organisation, Timestamp, limits};
use store::{StoreError, Tx};

use crate::App;
use crate::organisations::own;

/// Shares of the threshold at which a falling balance is told of, in percent, from the contract.
const MARKS: [i64; 4] = [100, 75, 50, 10];

impl App {
    /// Tells that the balance is low if it has fallen to a mark since it was `before`.
    pub(crate) fn tell_if_low(
        &self,
        tx: &mut Tx<'_>,
        organisation: &Organisation,
        before: i64,
        (id, at): (EventId, Timestamp),
    ) -> Result<(), StoreError> {
        let short = short(tx, organisation);
        let is_passed = passed(short.threshold.in_minor(), before, short.balance.in_minor());
        if !is_passed {
            return Ok(());
        }
        self.tell(tx, organisation, (id, at), &Event::LowBalance(short))
    }

    /// Tells that something could not be bought, unless that was told often enough. The refusal
    /// itself changes nothing, so this is a write of its own; without it nothing is wrong.
    pub(crate) async fn tell_of_lack(&self, org: OrgId) {
        let (app, id, now) = (self.clone(), self.event_id(), self.now());
        let told = self.store().write(org, move |tx| {
            let (organisation, clock) = own(tx, org, now)?;
            let Some(head) = tx.head_mut().filter(|h| h.short_told < limits::SHORT_TOLD_MAX) else {
                return Ok(());
            };
            head.short_told += 1;
            let event = Event::InsufficientBalance(short(tx, &organisation));
            app.tell(tx, &organisation, (id, clock), &event)
        });
        if let Err(error) = told.await {
            let error: StoreError = error;
            tracing::debug!(error = %error, "a lack of money was not told of");
        }
        self.outgoing().wake();
    }
}

fn short(tx: &Tx<'_>, organisation: &Organisation) -> Short {
    let balance = tx.head().map_or(0, |head| head.on(Account::Available));
    Short {
        balance: Money::minor(balance, organisation.currency),
        threshold: organisation.low_balance(),
    }
}

/// Whether a balance that fell has come to one of the marks.
fn passed(threshold: i64, before: i64, after: i64) -> bool {
    let share = |amount: i64| i128::from(amount) * 100;
    MARKS.iter().any(|percent| {
        let mark = i128::from(threshold) * i128::from(*percent);
        share(before) > mark && share(after) <= mark
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_falling_balance_is_told_of_at_four_marks() {
        let falls = |before, after| passed(10_000, before, after);
        assert!(falls(10_001, 10_000));
        assert!(!falls(10_000, 9_000));
        assert!(falls(7_600, 7_500));
        assert!(!falls(7_500, 5_001));
        assert!(falls(5_001, 5_000));
        assert!(falls(1_001, 0));
        assert!(!falls(1_000, 0));
        assert!(!falls(9_000, 20_000));
        assert!(falls(20_000, 0));
    }
}
