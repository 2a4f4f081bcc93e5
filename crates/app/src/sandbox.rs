//! The clock of a sandbox organisation: runs like the real one plus an offset that only grows. And
//! what else only a sandbox has: faults on demand, and a fresh start.

mod by_people;
mod faults;
mod reset;

use domain::{Mode, OrgId, Timestamp, limits};
use store::{StoreError, Tx, heads};

pub use self::by_people::{Act, Sandbox};
pub use self::faults::Fault;
use crate::{App, Caller};

/// Why a sandbox call was refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A live organisation lives in real time.
    #[error("only a sandbox organisation has a clock of its own")]
    Live,
    /// The clock does not go back, and not beyond what dates can express.
    #[error("seconds must be a whole number from 0 to 316224000")]
    Seconds,
    /// There is no such test card.
    #[error("card must be pays, declines, silent or late, or null for none")]
    Card,
    /// The fault is none that can be had.
    #[error("a fault is a status from 400 to 599 or up to 60 seconds, up to 10000 times")]
    Fault,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The test cards: one that pays, one that is declined, one whose processor stays silent and
/// settles later, one that answers late.
pub const TEST_CARDS: [&str; 4] = ["pays", "declines", "silent", "late"];

impl App {
    /// The organisation's own time.
    pub async fn clock(&self, caller: &Caller) -> Result<Timestamp, Error> {
        sandbox_only(caller)?;
        let (org, now) = (caller.org(), self.now());
        self.store()
            .read(move |tx| {
                let head = heads::find(tx, org)?.ok_or_else(|| gone(org.to_string()))?;
                Ok(head.clock(now))
            })
            .await
    }

    /// Moves the clock on. Everything due by then happens first, in order, each at its own time.
    pub async fn advance_clock(&self, caller: &Caller, seconds: i64) -> Result<Timestamp, Error> {
        if !(0..=limits::ADVANCE_SECONDS_MAX).contains(&seconds) {
            sandbox_only(caller)?;
            return Err(Error::Seconds);
        }
        let org = caller.org();
        self.check_reach(caller, seconds).await?;
        let (done, left) = self.work_off(org, seconds * 1_000).await?;
        // Stopped half-way by sheer amount, the clock stays where it got to.
        let left = if done < limits::ADVANCE_ITEMS_MAX { left } else { 0 };
        let now = self.now();
        self.store()
            .write(org, move |tx| {
                let head = head(tx)?;
                head.clock_offset_ms += left;
                let (offset, clock) = (head.clock_offset_ms, head.clock(now));
                store::jobs::reset_wake(tx, org, offset)?;
                Ok(clock)
            })
            .await
    }

    /// Dates must stay writable.
    async fn check_reach(&self, caller: &Caller, seconds: i64) -> Result<(), Error> {
        let ahead = self.clock(caller).await?.ms() - self.now().ms();
        let reach = ahead.saturating_add(seconds * 1_000);
        if reach > limits::CLOCK_OFFSET_MS_MAX { Err(Error::Seconds) } else { Ok(()) }
    }

    /// Does everything that is due now, until nothing is and nothing is in flight.
    pub async fn settle(&self, caller: &Caller) -> Result<Timestamp, Error> {
        loop {
            sandbox_only(caller)?;
            let (done, _) = self.work_off(caller.org(), 0).await?;
            // What was under way may have left something to do.
            let has_waited = self.wait_for_flight(caller.org()).await?;
            if done == 0 && !has_waited {
                return self.clock(caller).await;
            }
        }
    }

    /// Stores one of the test cards, or takes the card away.
    pub async fn set_test_card(&self, caller: &Caller, card: Option<&str>) -> Result<(), Error> {
        sandbox_only(caller)?;
        self.store_card(caller.org(), card).await
    }

    pub(crate) async fn store_card(&self, org: OrgId, card: Option<&str>) -> Result<(), Error> {
        if card.is_some_and(|card| !TEST_CARDS.contains(&card)) {
            return Err(Error::Card);
        }
        let now = self.now();
        let owner = crate::topup::owner_of_card(org);
        let sealed = card.map(|card| {
            let sealed = self.vault().seal(self.rt().random(), &owner, card.as_bytes());
            (test_card_label(card), sealed)
        });
        self.store()
            .write(org, move |tx| match &sealed {
                Some((label, sealed)) => Ok(store::charges::put_card(tx, org, label, sealed, now)?),
                None => Ok(store::charges::remove_card(tx, org)?),
            })
            .await
    }

    /// Makes asynchronous work of the organisation wait, or go on.
    pub async fn hold(&self, caller: &Caller, on: bool) -> Result<(), Error> {
        sandbox_only(caller)?;
        let now = self.now();
        self.store()
            .write(caller.org(), move |tx| {
                let head = head(tx)?;
                head.held_at = on.then(|| head.clock(now));
                Ok(())
            })
            .await
    }
}

/// What a test card is called.
pub(crate) fn test_card_label(card: &str) -> String {
    format!("test card that {card}")
}

fn sandbox_only(caller: &Caller) -> Result<(), Error> {
    match caller.mode() {
        Mode::Sandbox => Ok(()),
        Mode::Live => Err(Error::Live),
    }
}

fn head<'t>(tx: &'t mut Tx<'_>) -> Result<&'t mut store::Head, Error> {
    let row = tx.org().map_or_else(String::new, |org| org.to_string());
    tx.head_mut().ok_or_else(|| gone(row))
}

fn gone(row: String) -> Error {
    Error::Store(StoreError::Corrupt { column: 0, row })
}
