//! Sending: a sender per organisation that has something due. Each of its turns is one transaction
//! that notes what became of the last attempts and takes the next lanes; in between nothing is
//! locked. A slow receiver holds up nobody but itself.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::callback::Next;
use domain::organisation::CallbackVersion;
use domain::ports::callbacks::Callback;
use domain::{OrgId, limits};
use store::deliveries::Ready;
use store::sql::Dialect;
use store::{StoreError, lanes};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use super::outcome::{self, Outcome, Sending};
use super::taking::{Batch, Envelope, Sender};
use super::width::Width;
use crate::App;
use crate::organisations::own;

/// This node's part in sending.
pub(crate) struct Outgoing {
    room: Arc<Semaphore>,
    wake: Notify,
    /// Those that are at work, each to be told of more.
    senders: Mutex<HashMap<OrgId, Arc<Notify>>>,
    /// How many senders there were so far.
    numbers: AtomicU64,
    sending: Sending,
}

impl Default for Outgoing {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(limits::CALLBACKS_AT_ONCE)),
            wake: Notify::new(),
            senders: Mutex::default(),
            numbers: AtomicU64::new(0),
            sending: Sending::default(),
        }
    }
}

impl Outgoing {
    /// A hint that there is something to send; the tables are the truth.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// A number that no other sender of this node has.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    fn senders(&self) -> MutexGuard<'_, HashMap<OrgId, Arc<Notify>>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// What monitoring reads of sending.
    pub fn sending(&self) -> &Sending {
        &self.outgoing().sending
    }

    /// Sends what is due for as long as the service runs.
    pub async fn send_callbacks(self) {
        if self.store().database().dialect() == Dialect::Sqlite {
            // One process works on the file: what is taken was taken by an earlier life.
            let _later = self.store().write(OrgId::HOUSE, lanes::release_all).await;
        }
        loop {
            let woken = self.outgoing().wake.notified();
            let next = self.start_senders().await.unwrap_or(limits::CALLBACKS_POLL);
            self.rt().sleep(limits::CALLBACKS_REST).await;
            tokio::select! {
                biased;
                () = woken => {}
                () = self.rt().sleep(next) => {}
            }
        }
    }

    /// Starts a sender for every organisation that has something due, and says when to look again.
    async fn start_senders(&self) -> Result<Duration, StoreError> {
        let now = self.now();
        let mut next = limits::CALLBACKS_POLL;
        for (org, due) in self.store().read(lanes::orgs).await? {
            if due > now {
                let ahead = u64::try_from(due.ms() - now.ms()).unwrap_or(0);
                next = next.min(Duration::from_millis(ahead));
                continue;
            }
            let more = {
                let mut senders = self.outgoing().senders();
                if let Some(running) = senders.get(&org) {
                    running.notify_one();
                    continue;
                }
                senders.entry(org).or_default().clone()
            };
            let at_work = AtWork(self.clone(), org);
            self.rt().task(async move { at_work.0.send_for(org, &more).await });
        }
        Ok(next)
    }

    /// Sends for one organisation until nothing is due.
    async fn send_for(&self, org: OrgId, more: &Notify) {
        let (sender, mut flying) = (self.sender(org), JoinSet::new());
        let (mut done, mut width) = (Vec::new(), Width::default());
        loop {
            let room = width.room().saturating_sub(flying.len());
            let noted = Arc::new(std::mem::take(&mut done));
            let batch = match self.turn(&sender, noted.clone(), room).await {
                Ok(batch) => batch,
                Err(error) => {
                    tracing::warn!(error = %error, "callbacks wait for the database");
                    self.land(&sender, noted, &mut flying).await;
                    self.rt().sleep(limits::CALLBACKS_POLL).await;
                    continue;
                }
            };
            self.work().settled.notify_waiters();
            if batch.is_empty() && flying.is_empty() {
                return;
            }
            width.heard(batch.failing);
            self.launch(batch, &mut flying);
            if flying.is_empty() {
                continue;
            }
            let has_room = flying.len() < width.room();
            let mut landed = Vec::new();
            tokio::select! {
                first = flying.join_next() => landed.extend(first),
                () = more.notified(), if has_room => {}
            }
            landed.extend(std::iter::from_fn(|| flying.try_join_next()));
            let is_whole = landed.iter().all(Result::is_ok);
            done.extend(landed.into_iter().filter_map(Result::ok));
            if !is_whole {
                // An attempt that broke off says nothing, and its lane would be sent by nobody.
                self.land(&sender, Arc::new(std::mem::take(&mut done)), &mut flying).await;
            }
            for outcome in &done {
                width.learn(outcome.next() == Next::Delivered);
            }
        }
    }

    /// After a turn that went unheard, lanes may be a sender's that it does not send: they are let
    /// go as soon as all that flies has landed and is noted.
    async fn land(&self, sender: &Sender, noted: Arc<Vec<Outcome>>, flying: &mut JoinSet<Outcome>) {
        let mut landed = Vec::new();
        while let Some(outcome) = flying.join_next().await {
            landed.extend(outcome.ok());
        }
        let landed = Arc::new(landed);
        while self.free_after(sender, [&noted, &landed]).await.is_err() {
            self.rt().sleep(limits::CALLBACKS_POLL).await;
        }
    }

    async fn free_after(
        &self,
        sender: &Sender,
        all: [&Arc<Vec<Outcome>>; 2],
    ) -> Result<(), StoreError> {
        for done in all {
            self.turn(sender, done.clone(), 0).await?;
        }
        let sender = sender.clone();
        self.store().write(sender.org, move |tx| lanes::let_go(tx, sender.owned())).await
    }

    /// Lets go of all lanes of a sender that sends nothing, as soon as the database answers.
    pub(crate) async fn free_lanes(&self, sender: &Sender) {
        self.land(sender, Arc::default(), &mut JoinSet::new()).await;
    }

    /// Sends a batch and notes what became of it; for a clock that is moved by hand.
    pub(crate) async fn deliver(&self, sender: &Sender, batch: Batch) -> Result<(), StoreError> {
        let mut flying = JoinSet::new();
        self.launch(batch, &mut flying);
        let mut done = Vec::new();
        while let Some(landed) = flying.join_next().await {
            let broken = |_| StoreError::Unavailable("an attempt broke off".to_owned());
            done.push(landed.map_err(broken)?);
        }
        self.turn(sender, Arc::new(done), 0).await?;
        self.work().settled.notify_waiters();
        Ok(())
    }

    fn launch(&self, batch: Batch, flying: &mut JoinSet<Outcome>) {
        let Some(envelope) = batch.callback else { return };
        for ready in batch.ready {
            let (app, envelope) = (self.clone(), envelope.clone());
            flying.spawn(async move { app.attempt(ready, &envelope).await });
        }
    }

    async fn attempt(&self, mut ready: Ready, envelope: &Envelope) -> Outcome {
        // Closed only with the process.
        let _permit = self.outgoing().room.acquire().await;
        let (sent_at, began) = (self.now(), self.rt().monotonic());
        let is_signed = ready.form == CallbackVersion::V3;
        let callback = Callback {
            url: envelope.url.clone(),
            id: ready.event.to_string(),
            body: std::mem::take(&mut ready.body),
            signers: envelope.signers.clone().filter(|_| is_signed),
            at: sent_at,
        };
        let reply = self.ports().receivers.send(&callback).await;
        let took = self.rt().monotonic().saturating_sub(began);
        let took_ms = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
        let [jitter] = self.rt().random();
        Outcome { ready, url: envelope.url.clone(), reply, sent_at, took_ms, jitter }
    }

    /// One transaction: notes outcomes, then takes as many lanes as there is room for.
    async fn turn(
        &self,
        sender: &Sender,
        done: Arc<Vec<Outcome>>,
        room: usize,
    ) -> Result<Batch, StoreError> {
        let (app, sender, now) = (self.clone(), sender.clone(), self.now());
        let org = sender.org;
        let act = self.act(crate::Actor::Service, "callbacks.switch-off");
        let (noted, new) = (done.clone(), self.new_secret(org));
        let (batch, off) = self
            .store()
            .write(org, move |tx| {
                let (mut organisation, clock) = own(tx, org, now)?;
                let off = outcome::note(tx, (&mut organisation, clock), (&sender, &done), &act)?;
                let is_held = tx.head().is_none_or(|head| head.held_at.is_some());
                if is_held || room == 0 {
                    return Ok((Batch::default(), off));
                }
                let all = (&organisation, clock);
                Ok::<_, StoreError>((app.take_lanes(tx, all, (&sender, room), (&new, now))?, off))
            })
            .await?;
        if let Some(why) = off {
            tracing::warn!(organisation = %org, why, "callbacks are switched off");
        }
        self.sending().count(&noted, now);
        Ok(batch)
    }
}

/// Somebody sends for an organisation; when it ends, however that comes, another one may.
struct AtWork(App, OrgId);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.outgoing().senders().remove(&self.1);
        // Something may have come between its last look and now.
        self.0.outgoing().wake();
    }
}
