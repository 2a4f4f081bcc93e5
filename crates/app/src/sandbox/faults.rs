//! Faults on demand: a sandbox organisation says what is to go wrong, to see what its own program
//! does then.

use std::time::Duration;

use domain::{OrgId, limits};
use store::epochs::{self, Epoch};
use store::{StoreError, faults};

use super::{Error, sandbox_only};
use crate::{App, Caller};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An answer of this status, and nothing happens.
    Status(u16),
    /// The answer comes that much later.
    Slow(Duration),
    /// Everything happens, and there is no answer.
    Drop,
}

impl Fault {
    pub(super) fn parts(self) -> (&'static str, i64, i64) {
        match self {
            Self::Status(status) => ("status", i64::from(status), 0),
            Self::Slow(time) => ("slow", 0, i64::try_from(time.as_secs()).unwrap_or(i64::MAX)),
            Self::Drop => ("drop", 0, 0),
        }
    }

    pub(super) fn of(kept: &faults::Fault) -> Self {
        match kept.fault.as_str() {
            "status" => Self::Status(u16::try_from(kept.status).unwrap_or(500)),
            "slow" => Self::Slow(Duration::from_secs(u64::try_from(kept.seconds).unwrap_or(0))),
            _ => Self::Drop,
        }
    }
}

impl App {
    /// Lets the next calls of a route go wrong; none at all sets it right again.
    pub async fn set_fault(
        &self,
        caller: &Caller,
        route: String,
        fault: Fault,
        times: i64,
    ) -> Result<(), Error> {
        sandbox_only(caller)?;
        check(fault, times)?;
        let org = caller.org();
        let (name, status, seconds) = fault.parts();
        let fault = name.to_owned();
        let kept = faults::Fault { id: 0, route, fault, status, seconds, times };
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                faults::put(tx, org, &kept)?;
                epochs::bump(tx, Epoch::Access)
            })
            .await?;
        self.forget().await;
        Ok(())
    }

    /// What is to go wrong with a call that goes by one of these names, if anything.
    pub async fn fault_for(
        &self,
        caller: &Caller,
        names: [String; 4],
    ) -> Result<Option<Fault>, StoreError> {
        if !caller.has_faults() {
            return Ok(None);
        }
        let org = caller.org();
        let (fault, is_over) = self
            .store()
            .write(OrgId::HOUSE, move |tx| {
                let all = faults::of_org(tx, org)?;
                let Some(found) = all.iter().find(|fault| names.contains(&fault.route)) else {
                    return Ok((None, false));
                };
                let (taken, used_up) = faults::take(tx, found.id)?;
                let is_over = used_up && all.len() == 1;
                if is_over {
                    epochs::bump(tx, Epoch::Access)?;
                }
                Ok::<_, StoreError>((taken.then(|| Fault::of(found)), is_over))
            })
            .await?;
        if is_over {
            self.forget().await;
        }
        Ok(fault)
    }
}

fn check(fault: Fault, times: i64) -> Result<(), Error> {
    let fits = match fault {
        Fault::Status(status) => (400..600).contains(&status),
        Fault::Slow(time) => {
            i64::try_from(time.as_secs()).unwrap_or(i64::MAX) <= limits::FAULT_SECONDS_MAX
        }
        Fault::Drop => true,
    };
    let is_some = (0..=limits::FAULT_TIMES_MAX).contains(&times);
    if fits && is_some { Ok(()) } else { Err(Error::Fault) }
}
