//! Work of a sandbox organisation whose clock is moved by hand: done in order, each piece at its
//! own moment, until nothing is due.

use std::time::Duration;

use domain::{OrgId, limits};
use store::jobs::{self, Job};
use store::{StoreError, Tx, lanes};

use crate::App;
use crate::callbacks::{Batch, Sender};
use crate::organisations::own;

/// What is done next.
enum Next {
    Job(Job),
    Callbacks(Batch),
    /// Somebody else was quicker.
    Lost,
}

impl App {
    /// Does all work of one organisation that is due within the next `ahead_ms` of its clock, in
    /// order, moving the clock to each item's own time first. Says how much it was, and how far the
    /// clock has still to go.
    pub(crate) async fn work_off(
        &self,
        org: OrgId,
        ahead_ms: i64,
    ) -> Result<(usize, i64), StoreError> {
        let sender = self.sender(org);
        let worked = self.work_on((org, &sender), ahead_ms).await;
        if worked.is_err() {
            // What was claimed unheard is let go when the database answers again.
            let app = self.clone();
            self.rt().task(async move {
                app.let_go_of_unheard().await;
                app.free_lanes(&sender).await;
            });
        }
        worked
    }

    async fn work_on(
        &self,
        (org, sender): (OrgId, &Sender),
        ahead_ms: i64,
    ) -> Result<(usize, i64), StoreError> {
        let mut left = ahead_ms;
        for done in 0..limits::ADVANCE_ITEMS_MAX {
            if left > 0 {
                // What is under way ends before the clock moves on, and may be due again by then.
                self.wait_for_flight(org).await?;
            }
            let Some((next, moved)) = self.claim_within((org, sender), left).await? else {
                return Ok((done, left));
            };
            left -= moved;
            match next {
                Next::Lost => {}
                Next::Job(job) => {
                    self.work().begin(job.id);
                    self.run(&job).await;
                    self.work().end(job.id);
                }
                Next::Callbacks(batch) => self.deliver(sender, batch).await?,
            }
        }
        Ok((limits::ADVANCE_ITEMS_MAX, left))
    }

    /// Claims the next item within reach and moves the clock to it; says by how much. Callbacks
    /// wait for work that is due at the same moment: it may tell more.
    async fn claim_within(
        &self,
        (org, sender): (OrgId, &Sender),
        reach_ms: i64,
    ) -> Result<Option<(Next, i64)>, StoreError> {
        let (app, now, new) = (self.clone(), self.now(), self.new_secret(org));
        let sender = sender.clone();
        self.store()
            .write(org, move |tx| {
                let (organisation, clock) = own(tx, org, now)?;
                if tx.head().is_none_or(|head| head.held_at.is_some()) {
                    return Ok(None);
                }
                let is_paused = organisation.endpoint.paused_at.is_some();
                let lane = if is_paused { None } else { lanes::next_due(tx, org)? };
                let job = jobs::next_due(tx, org)?;
                let Some(due) = [job, lane].into_iter().flatten().min() else { return Ok(None) };
                if due > clock.plus_ms(reach_ms) {
                    return Ok(None);
                }
                let moved = (due.ms() - clock.ms()).max(0);
                if let Some(head) = tx.head_mut() {
                    head.clock_offset_ms += moved;
                }
                let clock = clock.plus_ms(moved);
                let next = if job == Some(due) {
                    let claimed = jobs::claim_next_of_org(tx, org, &app.work().incarnation, clock)?;
                    claimed.map_or(Next::Lost, Next::Job)
                } else {
                    let room = (&sender, limits::CALLBACKS_PER_RECEIVER);
                    let all = (&organisation, clock);
                    Next::Callbacks(app.take_lanes(tx, all, room, (&new, now))?)
                };
                Ok(Some((next, moved)))
            })
            .await
    }

    /// Waits until no work of an organisation is in flight anywhere; says whether some was.
    pub(crate) async fn wait_for_flight(&self, org: OrgId) -> Result<bool, StoreError> {
        let until = self.rt().monotonic() + limits::FLIGHT;
        let flying = move |tx: &mut Tx<'_>| {
            Ok::<_, StoreError>(jobs::in_flight(tx, org)? + lanes::in_flight(tx, org)?)
        };
        let mut has_waited = false;
        while self.rt().monotonic() < until {
            let settled = self.work().settled.notified();
            if self.store().read(flying).await? == 0 {
                return Ok(has_waited);
            }
            has_waited = true;
            tokio::select! {
                biased;
                () = settled => {}
                () = self.rt().sleep(Duration::from_millis(50)) => {}
            }
            // Others settle all the time; there is no need to ask for each of them.
            self.rt().sleep(Duration::from_millis(2)).await;
        }
        Err(StoreError::Busy)
    }
}
