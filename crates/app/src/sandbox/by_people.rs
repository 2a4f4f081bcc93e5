//! The sandbox as people see and use it. What a person does to it stands in the audit log; what a
//! program does with its key does not, since nothing of it costs anything.

use domain::Timestamp;
use store::{StoreError, charges, faults, heads};

use super::{Error, Fault, gone, sandbox_only};
use crate::people::Member;
use crate::{App, Caller};

/// How a sandbox stands.
#[derive(Debug, Clone)]
pub struct Sandbox {
    /// Its own time.
    pub clock: Timestamp,
    /// Since when its work waits, by that time.
    pub held_at: Option<Timestamp>,
    /// What the stored card is called.
    pub card: Option<String>,
    /// What is to go wrong: on which route, what, and how often still.
    pub faults: Vec<(String, Fault, i64)>,
}

/// Something a person does to the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Moves the clock on by so many seconds.
    Advance(i64),
    /// Does everything that is due.
    Settle,
    /// Lets work wait, or go on.
    Hold(bool),
    /// Stores a test card, or takes the card away.
    Card(Option<String>),
    /// Lets so many calls of a route go wrong; none sets it right again.
    Fault(String, Fault, i64),
    /// Starts afresh.
    Reset,
}

impl Act {
    fn name(&self) -> &'static str {
        match self {
            Self::Advance(_) => "sandbox.advance",
            Self::Settle => "sandbox.settle",
            Self::Hold(true) => "sandbox.hold",
            Self::Hold(false) => "sandbox.go-on",
            Self::Card(_) => "sandbox.card",
            Self::Fault(..) => "sandbox.fault",
            Self::Reset => "sandbox.reset",
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Advance(seconds) => format!("{seconds} s"),
            Self::Card(card) => card.clone().unwrap_or_else(|| "none".to_owned()),
            Self::Fault(route, fault, times) => format!("{route} {} x{times}", fault.parts().0),
            Self::Settle | Self::Hold(_) | Self::Reset => String::new(),
        }
    }
}

impl App {
    /// How the caller's sandbox stands.
    pub async fn sandbox(&self, caller: &Caller) -> Result<Sandbox, Error> {
        sandbox_only(caller)?;
        let (org, now) = (caller.org(), self.now());
        self.store()
            .read(move |tx| {
                let head = heads::find(tx, org)?.ok_or_else(|| gone(org.to_string()))?;
                let kept = faults::of_org(tx, org)?;
                let fault = |one: faults::Fault| {
                    let what = Fault::of(&one);
                    (one.route, what, one.times)
                };
                Ok(Sandbox {
                    clock: head.clock(now),
                    held_at: head.held_at,
                    card: charges::card_label(tx, org)?,
                    faults: kept.into_iter().map(fault).collect(),
                })
            })
            .await
    }

    /// Does something to the member's sandbox and notes who did it.
    pub async fn act_in_sandbox(&self, member: &Member, act: Act) -> Result<(), Error> {
        let caller = member.caller();
        sandbox_only(caller)?;
        let (noted, detail) = (self.act(member.actor(), act.name()), act.detail());
        match act {
            Act::Advance(seconds) => drop(self.advance_clock(caller, seconds).await?),
            Act::Settle => drop(self.settle(caller).await?),
            Act::Hold(on) => self.hold(caller, on).await?,
            Act::Card(card) => self.set_test_card(caller, card.as_deref()).await?,
            Act::Fault(route, fault, times) => {
                self.set_fault(caller, route, fault, times).await?;
            }
            // Notes itself, for the organisation that takes the place of this one.
            Act::Reset => return self.reset_by(member.actor(), caller).await.map(drop),
        }
        let org = member.org();
        let note = move |tx: &mut store::Tx<'_>| noted.note(tx, Some(org), org, &detail);
        let written: Result<(), StoreError> = self.store().write(org, note).await;
        Ok(written?)
    }
}
