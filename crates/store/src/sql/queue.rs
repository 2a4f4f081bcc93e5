//! Writes that wait: one queue per organisation, served in turn, bounded.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use domain::{OrgId, limits};

use super::StoreError;
use super::tx::Tx;

/// A write that waits. It may be run several times; it is settled once.
pub(super) struct Job {
    pub(super) org: OrgId,
    pub(super) run: Box<dyn FnMut(&mut Tx<'_>) -> Verdict + Send>,
    pub(super) settle: Box<dyn FnOnce(Settled) + Send>,
}

/// What a closure wants done with its effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    Undo,
}

/// What became of a write.
#[derive(Debug, Clone)]
pub(super) enum Settled {
    /// Its last run counts: committed, or refused by its own rule.
    Decided,
    /// It has no effect, for this reason; or, of an `Unavailable` one, nobody knows yet.
    Failed(StoreError),
}

#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    by_org: HashMap<OrgId, VecDeque<Job>>,
    turn: VecDeque<OrgId>,
    count: usize,
    closed: bool,
}

impl Queue {
    pub(super) fn push(&self, job: Job) -> Result<(), Refusal> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(Refusal {
                job,
                error: StoreError::Unavailable("shutting down".to_owned()),
            });
        }
        let of_org = waiting.by_org.get(&job.org).map_or(0, VecDeque::len);
        if of_org >= limits::QUEUE_PER_ORGANISATION_MAX || waiting.count >= limits::QUEUE_TOTAL_MAX
        {
            return Err(Refusal { job, error: StoreError::Busy });
        }
        waiting.add(job);
        drop(waiting);
        self.arrived.notify_one();
        Ok(())
    }

    /// Up to `most` writes, one of each organisation in turn; waits for the first. None once the
    /// queue is closed and empty.
    pub(super) fn take(&self, most: usize) -> Option<Vec<Job>> {
        let mut waiting = self.lock();
        while waiting.count == 0 {
            if waiting.closed {
                return None;
            }
            waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let count = waiting.count.min(most);
        Some((0..count).filter_map(|_| waiting.next()).collect())
    }

    /// Puts writes back before all others of their organisations, which are served next.
    pub(super) fn put_back(&self, jobs: Vec<Job>) {
        let mut waiting = self.lock();
        for job in jobs.into_iter().rev() {
            waiting.add_front(job);
        }
    }

    /// Everything that waits now.
    pub(super) fn drain(&self) -> Vec<Job> {
        let mut waiting = self.lock();
        let count = waiting.count;
        (0..count).filter_map(|_| waiting.next()).collect()
    }

    /// Takes no more; what waits is still served.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    pub(super) fn len(&self) -> usize {
        self.lock().count
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write the queue has no room for, handed back so that it can be answered.
pub(super) struct Refusal {
    pub(super) job: Job,
    pub(super) error: StoreError,
}

impl Waiting {
    fn add(&mut self, job: Job) {
        let org = job.org;
        let queue = self.by_org.entry(org).or_default();
        if queue.is_empty() {
            self.turn.push_back(org);
        }
        queue.push_back(job);
        self.count += 1;
    }

    fn add_front(&mut self, job: Job) {
        let org = job.org;
        let queue = self.by_org.entry(org).or_default();
        if queue.is_empty() {
            self.turn.push_front(org);
        }
        queue.push_front(job);
        self.count += 1;
    }

    fn next(&mut self) -> Option<Job> {
        let org = self.turn.pop_front()?;
        let queue = self.by_org.get_mut(&org)?;
        let job = queue.pop_front()?;
        self.count -= 1;
        if queue.is_empty() {
            self.by_org.remove(&org);
        } else {
            self.turn.push_back(org);
        }
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;

    fn org(n: u8) -> OrgId {
        OrgId::new(Timestamp::from_ms(n.into()), [n; 10])
    }

    fn job(n: u8) -> Job {
        Job { org: org(n), run: Box::new(|_| Verdict::Keep), settle: Box::new(|_| ()) }
    }

    fn push(queue: &Queue, n: u8) -> Result<(), StoreError> {
        queue.push(job(n)).map_err(|refusal| refusal.error)
    }

    #[test]
    fn a_busy_organisation_does_not_delay_a_quiet_one() {
        let queue = Queue::default();
        for _ in 0..100 {
            push(&queue, 1).expect("room");
        }
        push(&queue, 2).expect("room");
        let first: Vec<_> = queue.take(3).expect("open").iter().map(|job| job.org).collect();
        assert_eq!(first, [org(1), org(2), org(1)]);
    }

    #[test]
    fn the_queue_of_one_organisation_is_bounded_and_others_go_on() {
        let queue = Queue::default();
        for _ in 0..limits::QUEUE_PER_ORGANISATION_MAX {
            push(&queue, 1).expect("room");
        }
        assert_eq!(push(&queue, 1), Err(StoreError::Busy));
        push(&queue, 2).expect("another organisation has room");
    }

    #[test]
    fn what_is_put_back_comes_before_what_arrived_since() {
        let queue = Queue::default();
        for n in [1, 1, 2] {
            push(&queue, n).expect("room");
        }
        let taken = queue.take(3).expect("open");
        push(&queue, 3).expect("room");
        queue.put_back(taken);
        let order: Vec<_> = queue.take(9).expect("open").iter().map(|job| job.org).collect();
        assert_eq!(order, [org(2), org(1), org(3), org(1)]);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_closed_queue_serves_what_waits_and_takes_no_more() {
        let queue = Queue::default();
        push(&queue, 1).expect("room");
        queue.close();
        assert!(matches!(push(&queue, 1), Err(StoreError::Unavailable(_))));
        assert_eq!(queue.take(9).map(|jobs| jobs.len()), Some(1));
        assert!(queue.take(9).is_none());
    }
}
