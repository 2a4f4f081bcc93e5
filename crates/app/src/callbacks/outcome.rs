//! What becomes of attempts: written down, judged, counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use domain::callback::{self, Next};
use domain::ports::callbacks::Reply;
use domain::{CallbackUrl, Organisation, Timestamp, limits};
use store::deliveries::{self, Attempt, Ready};
use store::{StoreError, Tx, lanes, organisations};

use super::taking::Sender;
use crate::audit::Act;

/// What monitoring reads of sending.
#[derive(Debug, Default)]
pub struct Sending {
    /// Attempts that the receiver took.
    pub delivered: AtomicU64,
    /// Attempts that it did not.
    pub failed: AtomicU64,
    /// Attempts after which nothing more was tried.
    pub dead: AtomicU64,
    /// Delays from an event to its delivery that were not heard of yet, in milliseconds.
    delays: Mutex<Vec<i64>>,
}

impl Sending {
    /// Delays since this was last asked for.
    pub fn take_delays(&self) -> Vec<i64> {
        std::mem::take(&mut self.delays.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts what became of attempts.
    pub(super) fn count(&self, done: &[Outcome], now: Timestamp) {
        for outcome in done {
            let counter = match outcome.next() {
                Next::Delivered => {
                    self.note(now.ms() - outcome.ready.made_at.ms());
                    &self.delivered
                }
                Next::Dead | Next::Gone => {
                    self.dead.fetch_add(1, Ordering::Relaxed);
                    &self.failed
                }
                Next::After(_) => &self.failed,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        }
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

/// What became of an attempt, to be noted in the next turn.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) ready: Ready,
    pub(super) url: CallbackUrl,
    pub(super) reply: Reply,
    pub(super) sent_at: Timestamp,
    pub(super) took_ms: i64,
    pub(super) jitter: u8,
}

impl Outcome {
    pub(super) fn next(&self) -> Next {
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

/// Writes down what became of attempts. Says why callbacks are switched off, if they are now.
pub(super) fn note(
    tx: &mut Tx<'_>,
    (organisation, clock): (&mut Organisation, Timestamp),
    (sender, done): (&Sender, &[Outcome]),
    act: &Act,
) -> Result<Option<&'static str>, StoreError> {
    if done.is_empty() {
        return Ok(None);
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
                lanes::give_back(tx, sender.owned(), &[lane], clock.plus(delay))?;
            }
            Next::Dead | Next::Gone => {
                deliveries::failed(tx, org, (seq, attempts), Some(act.at))?;
                free.push(lane);
            }
        }
    }
    deliveries::delivered(tx, org, &delivered, act.at)?;
    lanes::give_back(tx, sender.owned(), &free, clock)?;
    judge(tx, (organisation, clock), done, act)
}

/// How the endpoint does after these: well after a success; off when it wants nothing any more, or
/// has failed for too long.
fn judge(
    tx: &mut Tx<'_>,
    (organisation, clock): (&mut Organisation, Timestamp),
    done: &[Outcome],
    act: &Act,
) -> Result<Option<&'static str>, StoreError> {
    let done: Vec<_> = done.iter().filter(|outcome| outcome.is_of(organisation)).collect();
    if done.is_empty() {
        return Ok(None);
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
    let why = why.filter(|_| endpoint.off_at.is_none());
    if let Some(why) = why {
        endpoint.off_at = Some(clock);
        why.clone_into(&mut endpoint.off_why);
        act.note(tx, Some(organisation.id), organisation.id, why)?;
    }
    if let Some(url) = &organisation.settings.callback_url
        && organisation.endpoint != was
    {
        organisations::judge(tx, (organisation.id, url), &organisation.endpoint)?;
    }
    Ok(why)
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
