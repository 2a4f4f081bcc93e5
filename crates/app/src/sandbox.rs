//! The clock of a sandbox organisation: runs like the real one plus an offset that only grows.

use domain::{Mode, Timestamp, limits};
use store::{StoreError, Tx, heads};

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
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

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

    /// Moves the clock on.
    pub async fn advance_clock(&self, caller: &Caller, seconds: i64) -> Result<Timestamp, Error> {
        sandbox_only(caller)?;
        if !(0..=limits::ADVANCE_SECONDS_MAX).contains(&seconds) {
            return Err(Error::Seconds);
        }
        let now = self.now();
        self.store()
            .write(caller.org(), move |tx| {
                let head = head(tx)?;
                let offset = head.clock_offset_ms + seconds * 1_000;
                if offset > limits::CLOCK_OFFSET_MS_MAX {
                    return Err(Error::Seconds);
                }
                head.clock_offset_ms = offset;
                Ok(head.clock(now))
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
