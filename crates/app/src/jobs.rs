//! Due work: claimed in one short transaction, done with none open, settled in another that first
//! makes sure that the attempt still counts. Any piece of it may run twice.

mod by_hand;
mod watch;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::ports::network::Network;
use domain::{JobId, Mode, OrgId, Timestamp, limits};
pub use store::jobs::Job;
use store::jobs::{self, Due};
use store::sql::Dialect;
use store::{Rt, StoreError, Tx};
use tokio::sync::{Notify, oneshot};

use crate::{Actor, App, credit, esims, inventory, orders, topup};

/// Kinds of work.
pub(crate) const CHARGE: &str = "charge";
pub(crate) const TEST_CREDIT_EXPIRY: &str = "test-credit-expiry";
pub(crate) const ORDER: &str = "order";
pub(crate) const LOT_EXPIRY: &str = "lot-expiry";
pub(crate) const ESIM: &str = "esim";
pub(crate) const NETWORK: &str = "network";
pub(crate) const REFRESH: &str = "refresh";
pub(crate) const SMS: &str = "sms";

/// How an attempt ended.
pub(crate) enum Verdict {
    /// Settled; the job is gone.
    Settled,
    /// Not yet: try again.
    Again(String),
    /// Nobody knows this kind of work.
    Dead(String),
}

/// Delays between attempts; the last one repeats. An operator sees what still waits.
const BACK_OFF: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(10),
    Duration::from_hours(1),
];
/// After about three weeks of trying somebody must look.
const ATTEMPTS_MAX: i64 = 500;

/// This node's part in the work.
pub(crate) struct Work {
    /// Unlike that of any other node, also of this one's earlier lives.
    incarnation: String,
    wake: Notify,
    /// Told whenever a piece of work was settled, so that those who wait for one can look.
    pub(crate) settled: Notify,
    /// What this node does now.
    running: Mutex<HashSet<JobId>>,
    /// Attempts that failed and could not even be put off, and why.
    left_over: Mutex<Vec<(Job, String)>>,
    /// Those who wait for a charge on this node.
    waiting: Mutex<HashMap<i64, Vec<oneshot::Sender<()>>>>,
    /// What other nodes last said, and when we heard it by our own clock.
    heard: Mutex<HashMap<String, (i64, Duration)>>,
}

impl Work {
    pub(crate) fn new(rt: &Rt) -> Self {
        Self {
            incarnation: domain::hex(&rt.random::<8>()),
            wake: Notify::new(),
            settled: Notify::new(),
            running: Mutex::default(),
            left_over: Mutex::default(),
            waiting: Mutex::default(),
            heard: Mutex::default(),
        }
    }

    /// Is told when this node settles the charge of that number.
    pub(crate) fn wait_for(&self, charge: i64) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let callers = waiting.entry(charge).or_default();
        callers.retain(|caller| !caller.is_closed());
        callers.push(tell);
        told
    }

    /// Tells those who wait for a charge.
    pub(crate) fn tell(&self, charge: i64) {
        let callers = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&charge);
        for caller in callers.unwrap_or_default() {
            // It may have given up already.
            let _gone = caller.send(());
        }
    }

    fn running(&self) -> MutexGuard<'_, HashSet<JobId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, id: JobId) {
        self.running().insert(id);
    }

    fn end(&self, id: JobId) {
        self.running().remove(&id);
    }

    /// Keeps an attempt that failed until the database can be told.
    fn leave_over(&self, job: Job, why: String) {
        self.left_over.lock().unwrap_or_else(PoisonError::into_inner).push((job, why));
    }

    /// Names this life of this node.
    pub(crate) fn incarnation(&self) -> &str {
        &self.incarnation
    }

    /// A hint that there is work; the table is the truth.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }
}

/// Why a job could not be retried.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such job that was given up.
    #[error("job not found, or not failed")]
    Unknown,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Adds work in the transaction of its cause, due at a moment of the organisation's clock.
    pub(crate) fn add_job(
        tx: &mut Tx<'_>,
        id: JobId,
        work: (&str, &str),
        due_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (job, due) = new_job(tx, id, work, due_at)?;
        jobs::add(tx, &job, due, now)
    }

    /// Makes sure that there is such work no later than that moment.
    pub(crate) fn add_job_sooner(
        tx: &mut Tx<'_>,
        id: JobId,
        work: (&str, &str),
        due_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (job, due) = new_job(tx, id, work, due_at)?;
        jobs::add_sooner(tx, &job, due, now)
    }

    /// Settles an attempt of work that comes back at a later moment.
    pub(crate) fn again_at(
        tx: &mut Tx<'_>,
        job: &Job,
        due_at: Timestamp,
    ) -> Result<(), StoreError> {
        let (_, due) = new_job(tx, job.id, (&job.kind, &job.subject), due_at)?;
        jobs::back_at(tx, job.id, due)
    }

    /// Does due work for as long as the service runs.
    pub async fn do_work(self) {
        if self.store().database().dialect() == Dialect::Sqlite {
            // One process works on the file: what is claimed was claimed by an earlier life.
            let _later = self.store().write(OrgId::HOUSE, jobs::release_all).await;
        }
        loop {
            let woken = self.work().wake.notified();
            self.put_off_left_over().await;
            let room = limits::JOBS_AT_ONCE.saturating_sub(self.running());
            let claimed = if room > 0 { self.claim(room).await } else { Ok(Vec::new()) };
            if claimed.is_err() {
                self.let_go_of_unheard().await;
            }
            let jobs = claimed.unwrap_or_default();
            if jobs.is_empty() {
                tokio::select! {
                    biased;
                    () = woken => {}
                    () = self.rt().sleep(limits::JOBS_POLL) => {}
                }
            }
            for job in jobs {
                let app = self.clone();
                self.work().begin(job.id);
                self.rt().task(async move {
                    app.run(&job).await;
                    app.work().end(job.id);
                    app.work().wake();
                });
            }
        }
    }

    fn running(&self) -> usize {
        self.work().running().len()
    }

    /// After a claim that went unheard work may be ours that nobody does: it is let go as soon as
    /// the database answers. What is taken from under somebody's hands runs twice at worst.
    async fn let_go_of_unheard(&self) {
        loop {
            let (owner, doing) = (self.work().incarnation.clone(), self.work().running().clone());
            let let_go = move |tx: &mut Tx<'_>| jobs::let_go_but(tx, &owner, &doing);
            if self.store().write(OrgId::HOUSE, let_go).await.is_ok() {
                return;
            }
            self.rt().sleep(limits::JOBS_POLL).await;
        }
    }

    async fn claim(&self, most: usize) -> Result<Vec<Job>, StoreError> {
        let (owner, now) = (self.work().incarnation.clone(), self.now());
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.store().write(OrgId::HOUSE, move |tx| jobs::claim(tx, &owner, now, most)).await
    }

    /// Does one claimed piece of work to its end. An error leaves it claimed until it can be put
    /// off; if this node dies before, whoever buries it, or its next life, takes it up again.
    pub(crate) async fn run(&self, job: &Job) {
        let verdict = match job.kind.as_str() {
            CHARGE => topup::work(self, job).await,
            TEST_CREDIT_EXPIRY => credit::expire(self, job).await,
            ORDER => orders::process::work(self, job).await,
            LOT_EXPIRY => inventory::expire(self, job).await,
            ESIM => esims::due::work(self, job).await,
            NETWORK => esims::network::tell(self, job).await,
            REFRESH => esims::network::refresh(self, job).await,
            SMS => esims::sms::work(self, job).await,
            other => Ok(Verdict::Dead(format!("no work of kind {other} is known"))),
        };
        // Most kinds of work tell something.
        self.outgoing().wake();
        let outcome = match verdict {
            Ok(Verdict::Settled) => Ok(()),
            Ok(Verdict::Again(why)) => self.put_off(job, why).await,
            Ok(Verdict::Dead(why)) => self.give_up(job, why).await,
            Err(error) => self.put_off(job, error.to_string()).await,
        };
        if let Err(error) = outcome {
            tracing::warn!(job.id = %job.id, error = %error, "a job could not be settled yet");
            self.work().leave_over(job.clone(), error.to_string());
        }
        self.work().settled.notify_waiters();
    }

    /// Puts off what could not be put off when it failed: nobody else may touch it while we live.
    async fn put_off_left_over(&self) {
        loop {
            let next = self.work().left_over.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some((job, why)) = next else { return };
            if self.put_off(&job, why.clone()).await.is_err() {
                return self.work().leave_over(job, why);
            }
        }
    }

    async fn put_off(&self, job: &Job, why: String) -> Result<(), StoreError> {
        if job.attempts >= ATTEMPTS_MAX {
            return self.give_up(job, why).await;
        }
        let place = usize::try_from(job.attempts - 1).unwrap_or(0).min(BACK_OFF.len() - 1);
        let delay = i64::try_from(BACK_OFF[place].as_millis()).unwrap_or(i64::MAX);
        let (now, job, owner) = (self.now(), job.clone(), self.work().incarnation.clone());
        self.store()
            .write(job.org, move |tx| {
                if !jobs::is_mine(tx, &job, &owner)? {
                    return Ok(());
                }
                let clock = tx.head().map_or(now, |head| head.clock(now));
                let due = Due { at: clock.plus_ms(delay), wake_at: now.plus_ms(delay) };
                jobs::again(tx, job.id, due, &why)
            })
            .await
    }

    async fn give_up(&self, job: &Job, why: String) -> Result<(), StoreError> {
        tracing::error!(job.id = %job.id, kind = job.kind, why, "a job was given up");
        let (now, job, owner) = (self.now(), job.clone(), self.work().incarnation.clone());
        self.store()
            .write(job.org, move |tx| {
                if jobs::is_mine(tx, &job, &owner)? {
                    jobs::dead(tx, job.id, now, &why)?;
                }
                Ok(())
            })
            .await
    }

    /// Whether an attempt still counts; asked first in the transaction that settles it.
    pub(crate) fn is_mine(&self, tx: &mut Tx<'_>, job: &Job) -> Result<bool, StoreError> {
        jobs::is_mine(tx, job, &self.work().incarnation)
    }

    /// Jobs: all, or those that were given up.
    pub async fn jobs(
        &self,
        only_failed: bool,
        after: Option<JobId>,
        most: i64,
    ) -> Result<Vec<Job>, StoreError> {
        self.store()
            .read(move |tx| {
                if only_failed { jobs::failed(tx, after, most) } else { jobs::all(tx, after, most) }
            })
            .await
    }

    /// Makes a job that was given up due again.
    pub async fn retry_job(&self, actor: Actor, id: JobId) -> Result<(), Error> {
        let act = self.act(actor, "job.retry");
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                if !jobs::retry(tx, id, act.at)? {
                    return Err(Error::Unknown);
                }
                act.note(tx, None, id, "")?;
                Ok(())
            })
            .await?;
        self.work().wake();
        Ok(())
    }

    /// The network outside, where there is one. That of sandbox organisations is built in: it does
    /// what our own tables say, so nobody needs to tell it.
    pub(crate) fn network(&self, mode: Mode) -> Option<std::sync::Arc<dyn Network>> {
        match mode {
            Mode::Sandbox => None,
            Mode::Live => self.ports().live_network.clone(),
        }
    }

    pub(crate) fn payments(
        &self,
        mode: Mode,
    ) -> Option<std::sync::Arc<dyn domain::ports::payments::Payments>> {
        match mode {
            Mode::Sandbox => Some(self.ports().test_payments.clone()),
            Mode::Live => self.ports().live_payments.clone(),
        }
    }
}

/// A piece of work of the organisation that is being written, and when it is due by both clocks.
fn new_job(
    tx: &Tx<'_>,
    id: JobId,
    (kind, subject): (&str, &str),
    due_at: Timestamp,
) -> Result<(Job, Due), StoreError> {
    let refused = || StoreError::Refused("work outside a write of its organisation".into());
    let org = tx.org().ok_or_else(refused)?;
    let offset = tx.head().ok_or_else(refused)?.clock_offset_ms;
    let job = Job {
        id,
        org,
        kind: kind.to_owned(),
        subject: subject.to_owned(),
        due_at,
        attempts: 0,
        error: String::new(),
        failed_at: None,
    };
    Ok((job, Due { at: due_at, wake_at: due_at.plus_ms(-offset) }))
}
