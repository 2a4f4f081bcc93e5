//! Sending: a sender per organisation that has something due. Each of its turns is one transaction
//! that notes what became of the last attempts and takes the next lanes; in between nothing is
//! locked. A slow receiver holds up nobody but itself.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::callback::{self, Next};
use domain::organisation::CallbackVersion;
use domain::ports::callbacks::{Callback, Reply, Signers};
use domain::{CallbackUrl, KeyId, OrgId, Organisation, Timestamp, limits};
use store::deliveries::{self, Attempt, Ready};
use store::sql::Dialect;
use store::{Sealed, StoreError, Tx, jobs, keys, lanes, organisations, secrets};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use super::secrets::owner_of_secret;
use super::width::Width;
use crate::App;
use crate::audit::Act;
use crate::organisations::own;

/// What monitoring reads of sending.
#[derive(Debug, Default)]
pub struct Sending {
    /// Attempts that the receiver took.
    pub delivered: AtomicU64,
    /// Attempts that it did not.
    pub failed: AtomicU64,
    /// Deliveries that were given up.
    pub dead: AtomicU64,
    /// Delays from an event to its delivery that were not heard of yet, in milliseconds.
    delays: Mutex<Vec<i64>>,
}

impl Sending {
    /// Delays since this was last asked for.
    pub fn take_delays(&self) -> Vec<i64> {
        std::mem::take(&mut self.delays.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, delay: i64) {
        let mut delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody reads: the first ones will do.
        if delays.len() < DELAYS_UNHEARD_MAX {
            delays.push(delay);
        }
    }
}

const DELAYS_UNHEARD_MAX: usize = 100_000;

/// This node's part in sending.
pub(crate) struct Outgoing {
    room: Arc<Semaphore>,
    wake: Notify,
    /// Those that are at work, each to be told of more.
    senders: Mutex<HashMap<OrgId, Arc<Notify>>>,
    sending: Sending,
}

impl Default for Outgoing {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(limits::CALLBACKS_AT_ONCE)),
            wake: Notify::new(),
            senders: Mutex::default(),
            sending: Sending::default(),
        }
    }
}

impl Outgoing {
    /// A hint that there is something to send; the tables are the truth.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    fn senders(&self) -> MutexGuard<'_, HashMap<OrgId, Arc<Notify>>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What became of an attempt, to be noted in the next turn.
#[derive(Debug)]
struct Outcome {
    ready: Ready,
    url: CallbackUrl,
    reply: Reply,
    sent_at: Timestamp,
    took_ms: i64,
    jitter: u8,
}

impl Outcome {
    fn next(&self) -> Next {
        let (status, wait) = match &self.reply {
            Reply::Answered { status, retry_after, .. } => (Some(*status), *retry_after),
            Reply::Failed(_) => (None, None),
        };
        callback::after(self.ready.tries + 1, status, wait, self.jitter)
    }

    /// Whether it was sent where callbacks still go.
    fn is_of(&self, organisation: &Organisation) -> bool {
        organisation.settings.callback_url.as_ref() == Some(&self.url)
    }
}

/// Lanes that were taken, as far as there is something to send.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    ready: Vec<Ready>,
    callback: Option<Arc<Envelope>>,
    /// Whether lanes were taken that held nothing to send: there may be more of them.
    is_partial: bool,
    failing: bool,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && !self.is_partial
    }
}

/// What all callbacks of a batch have in common.
#[derive(Debug)]
struct Envelope {
    url: CallbackUrl,
    signers: Option<Arc<Signers>>,
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
            let app = self.clone();
            self.rt().task(async move {
                app.send_for(org, &more).await;
                app.outgoing().senders().remove(&org);
                // Something may have come between its last look and now.
                app.outgoing().wake();
            });
        }
        Ok(next)
    }

    /// Sends for one organisation until nothing is due.
    async fn send_for(&self, org: OrgId, more: &Notify) {
        let mut flying = JoinSet::new();
        let (mut done, mut width) = (Vec::new(), Width::default());
        loop {
            let room = width.room().saturating_sub(flying.len());
            let noted = Arc::new(std::mem::take(&mut done));
            let batch = match self.turn(org, noted.clone(), room).await {
                Ok(batch) => batch,
                Err(error) => {
                    tracing::warn!(error = %error, "callbacks wait for the database");
                    self.land(org, noted, &mut flying).await;
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
            tokio::select! {
                landed = flying.join_next() => done.extend(landed.and_then(Result::ok)),
                () = more.notified(), if has_room => {}
            }
            while let Some(landed) = flying.try_join_next() {
                done.extend(landed.ok());
            }
            for outcome in &done {
                width.learn(outcome.next() == Next::Delivered);
            }
        }
    }

    /// After a turn that went unheard, lanes may be ours that nobody sends: they are let go as soon
    /// as all that flies has landed and is noted.
    async fn land(&self, org: OrgId, noted: Arc<Vec<Outcome>>, flying: &mut JoinSet<Outcome>) {
        let mut landed = Vec::new();
        while let Some(outcome) = flying.join_next().await {
            landed.extend(outcome.ok());
        }
        let landed = Arc::new(landed);
        while self.free_after(org, [&noted, &landed]).await.is_err() {
            self.rt().sleep(limits::CALLBACKS_POLL).await;
        }
    }

    async fn free_after(&self, org: OrgId, all: [&Arc<Vec<Outcome>>; 2]) -> Result<(), StoreError> {
        for done in all {
            self.turn(org, done.clone(), 0).await?;
        }
        let owner = self.work().incarnation().to_owned();
        self.store().write(org, move |tx| lanes::let_go(tx, org, &owner)).await
    }

    /// Lets go of an organisation's lanes as soon as the database answers.
    pub(crate) async fn free_lanes(&self, org: OrgId) {
        while self.free_after(org, [&Arc::default(), &Arc::default()]).await.is_err() {
            self.rt().sleep(limits::CALLBACKS_POLL).await;
        }
    }

    /// Sends a batch and notes what became of it; for a clock that is moved by hand.
    pub(crate) async fn deliver(&self, org: OrgId, batch: Batch) -> Result<(), StoreError> {
        let mut flying = JoinSet::new();
        self.launch(batch, &mut flying);
        let mut done = Vec::new();
        while let Some(landed) = flying.join_next().await {
            done.extend(landed.ok());
        }
        self.turn(org, Arc::new(done), 0).await?;
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
        org: OrgId,
        done: Arc<Vec<Outcome>>,
        room: usize,
    ) -> Result<Batch, StoreError> {
        let (app, now) = (self.clone(), self.now());
        let act = self.act(crate::Actor::Service, "callbacks.switch-off");
        let (noted, new) = (done.clone(), self.new_secret(org));
        let batch = self
            .store()
            .write(org, move |tx| {
                let (mut organisation, clock) = own(tx, org, now)?;
                app.note_outcomes(tx, (&mut organisation, clock), &done, &act)?;
                let is_held = tx.head().is_none_or(|head| head.held_at.is_some());
                if is_held || room == 0 {
                    return Ok(Batch::default());
                }
                app.take_lanes(tx, (&organisation, clock), room, (&new, now))
            })
            .await?;
        self.count(&noted, now);
        Ok(batch)
    }

    /// Takes lanes that are due, with what is to be sent.
    pub(crate) fn take_lanes(
        &self,
        tx: &mut Tx<'_>,
        (organisation, clock): (&Organisation, Timestamp),
        room: usize,
        (new, now): (&(KeyId, Sealed), Timestamp),
    ) -> Result<Batch, StoreError> {
        let org = organisation.id;
        if organisation.endpoint.paused_at.is_some() {
            return Ok(Batch::default());
        }
        let owner = self.work().incarnation();
        let taken = lanes::claim(tx, org, owner, clock, room)?;
        if taken.is_empty() {
            return Ok(Batch::default());
        }
        jobs::known(tx, owner)?;
        let failing = organisation.endpoint.failing_since.is_some();
        let url = organisation.settings.callback_url.clone();
        let Some(url) = url.filter(|_| organisation.endpoint.off_at.is_none()) else {
            // Nowhere to go: what waits is given up, and can be sent again later.
            let names: Vec<_> = taken.into_iter().map(|(lane, _)| lane).collect();
            deliveries::give_up(tx, org, &names, now)?;
            lanes::give_back(tx, (org, owner), &names, clock)?;
            return Ok(Batch { is_partial: true, ..Batch::default() });
        };
        let seqs: Vec<_> = taken.iter().filter_map(|(_, seq)| *seq).collect();
        let empty: Vec<_> = taken.into_iter().filter(|(_, seq)| seq.is_none()).collect();
        let empty: Vec<_> = empty.into_iter().map(|(lane, _)| lane).collect();
        if !empty.is_empty() {
            lanes::give_back(tx, (org, owner), &empty, clock)?;
        }
        let ready = deliveries::ready(tx, org, &seqs)?;
        let is_signed = ready.iter().any(|one| one.form == CallbackVersion::V3);
        let signers = if is_signed { self.signers(tx, org, (new, now))? } else { None };
        let callback = Some(Arc::new(Envelope { url, signers: signers.map(Arc::new) }));
        Ok(Batch { ready, callback, is_partial: !empty.is_empty(), failing })
    }

    /// What signs now: the primary key, and the webhook secrets. The first one is made here.
    fn signers(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        (new, now): (&(KeyId, Sealed), Timestamp),
    ) -> Result<Option<Signers>, StoreError> {
        let sealed = keys::primary(tx, org)?;
        let Some(api_key) = self.opened(org, sealed)? else { return Ok(None) };
        let mut sealed = secrets::valid(tx, org, now)?;
        if sealed.is_empty() {
            secrets::add(tx, (org, new.0), &new.1, now)?;
            sealed.push(new.clone());
        }
        let open = |(id, sealed): &(KeyId, Sealed)| {
            self.vault().open_text(&owner_of_secret(org, *id), sealed)
        };
        Ok(Some(Signers { api_key, secrets: sealed.iter().filter_map(open).collect() }))
    }

    /// Writes down what became of attempts.
    fn note_outcomes(
        &self,
        tx: &mut Tx<'_>,
        (organisation, clock): (&mut Organisation, Timestamp),
        done: &[Outcome],
        act: &Act,
    ) -> Result<(), StoreError> {
        if done.is_empty() {
            return Ok(());
        }
        let org = organisation.id;
        let offset = tx.head().map_or(0, |head| head.clock_offset_ms);
        let attempts: Vec<_> = done.iter().map(|outcome| attempt(outcome, offset)).collect();
        deliveries::attempted(tx, org, &attempts)?;
        let mut free = Vec::new();
        let mut delivered = Vec::new();
        for outcome in done {
            let Ready { seq, lane, attempts, .. } = outcome.ready.clone();
            match outcome.next() {
                Next::Delivered => {
                    delivered.push(seq);
                    free.push(lane);
                }
                // An address that was left says nothing about the one that took its place.
                _ if !outcome.is_of(organisation) => {
                    deliveries::failed(tx, org, (seq, attempts), None)?;
                    free.push(lane);
                }
                Next::After(delay) => {
                    deliveries::failed(tx, org, (seq, attempts), None)?;
                    let owned = (org, self.work().incarnation());
                    lanes::give_back(tx, owned, &[lane], clock.plus(delay))?;
                }
                Next::Dead | Next::Gone => {
                    deliveries::failed(tx, org, (seq, attempts), Some(act.at))?;
                    free.push(lane);
                }
            }
        }
        deliveries::delivered(tx, org, &delivered, act.at)?;
        lanes::give_back(tx, (org, self.work().incarnation()), &free, clock)?;
        judge(tx, (organisation, clock), done, act)
    }

    fn count(&self, done: &[Outcome], now: Timestamp) {
        let sending = self.sending();
        for outcome in done {
            let counter = match outcome.next() {
                Next::Delivered => {
                    sending.note(now.ms() - outcome.ready.made_at.ms());
                    &sending.delivered
                }
                Next::Dead | Next::Gone => {
                    sending.dead.fetch_add(1, Ordering::Relaxed);
                    &sending.failed
                }
                Next::After(_) => &sending.failed,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// How the endpoint does after these: well after a success; off when it wants nothing any more, or
/// has failed for too long.
fn judge(
    tx: &mut Tx<'_>,
    (organisation, clock): (&mut Organisation, Timestamp),
    done: &[Outcome],
    act: &Act,
) -> Result<(), StoreError> {
    let done: Vec<_> = done.iter().filter(|outcome| outcome.is_of(organisation)).collect();
    if done.is_empty() {
        return Ok(());
    }
    let was = organisation.endpoint.clone();
    let endpoint = &mut organisation.endpoint;
    if done.iter().any(|outcome| outcome.next() == Next::Delivered) {
        endpoint.failing_since = None;
    } else {
        endpoint.failing_since.get_or_insert(clock);
    }
    let has_failed_long =
        endpoint.failing_since.is_some_and(|s| clock >= s.plus(limits::CALLBACK_FAILING_MAX));
    let why = if done.iter().any(|outcome| outcome.next() == Next::Gone) {
        Some("the receiver answered 410 Gone")
    } else {
        has_failed_long.then_some("every attempt has failed for five days")
    };
    if let Some(why) = why.filter(|_| endpoint.off_at.is_none()) {
        endpoint.off_at = Some(clock);
        why.clone_into(&mut endpoint.off_why);
        tracing::warn!(organisation = %organisation.id, why, "callbacks are switched off");
        act.note(tx, Some(organisation.id), organisation.id, why)?;
    }
    match &organisation.settings.callback_url {
        Some(url) if organisation.endpoint != was => {
            organisations::judge(tx, (organisation.id, url), &organisation.endpoint)
        }
        _ => Ok(()),
    }
}

fn attempt(outcome: &Outcome, offset: i64) -> Attempt {
    let (status, answer) = match &outcome.reply {
        Reply::Answered { status, start, .. } => (Some(i64::from(*status)), start.clone()),
        Reply::Failed(why) => (None, why.clone()),
    };
    Attempt {
        seq: outcome.ready.seq,
        n: outcome.ready.attempts + 1,
        at: outcome.sent_at.plus_ms(offset),
        status,
        took_ms: outcome.took_ms,
        answer,
    }
}
