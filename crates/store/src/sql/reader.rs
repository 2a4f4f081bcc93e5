//! Readers: threads that each hold a connection and answer reads from one bounded queue.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use domain::limits;

use super::error::FaultKind;
use super::link::Link;
use super::queue::Settled;
use super::sqlite::Access;
use super::stats::Stats;
use super::tx::{Conn, Tx};
use super::{Database, StoreError};
use crate::Rt;

/// A read that waits.
pub(super) struct Read {
    pub(super) run: Box<dyn FnMut(&mut Tx<'_>) + Send>,
    pub(super) settle: Box<dyn FnOnce(Settled) + Send>,
}

/// When a read is served.
#[derive(Clone, Copy)]
pub(super) enum Turn {
    First,
    Last,
}

#[derive(Default)]
pub(super) struct ReadQueue {
    waiting: Mutex<(VecDeque<Read>, bool)>,
    arrived: Condvar,
}

impl ReadQueue {
    pub(super) fn push(&self, read: Read, turn: Turn) -> Result<(), (Read, StoreError)> {
        let mut waiting = self.lock();
        if waiting.1 {
            return Err((read, StoreError::Unavailable("shutting down".to_owned())));
        }
        if waiting.0.len() >= limits::READ_QUEUE_MAX {
            return Err((read, StoreError::Busy));
        }
        match turn {
            Turn::First => waiting.0.push_front(read),
            Turn::Last => waiting.0.push_back(read),
        }
        drop(waiting);
        self.arrived.notify_one();
        Ok(())
    }

    fn take(&self) -> Option<Read> {
        let mut waiting = self.lock();
        loop {
            if let Some(read) = waiting.0.pop_front() {
                return Some(read);
            }
            if waiting.1 {
                return None;
            }
            waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn close(&self) {
        self.lock().1 = true;
        self.arrived.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, (VecDeque<Read>, bool)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Reader {
    link: Link,
    stats: Arc<Stats>,
}

impl Reader {
    pub(super) fn new(database: Database, rt: Rt, stats: Arc<Stats>) -> Self {
        Self { link: Link::new(database, Access::Read, rt), stats }
    }

    pub(super) fn serve(mut self, queue: &ReadQueue) {
        while let Some(read) = queue.take() {
            self.answer(read);
        }
    }

    pub(super) fn answer(&mut self, mut read: Read) {
        // Once more after a lost line: an idle connection is found dead only by using it.
        let outcome = match self.attempt(&mut read) {
            Err(FaultKind::Lost) => self.attempt(&mut read),
            other => other,
        };
        self.stats.count(|s| &s.reads);
        (read.settle)(match outcome {
            Ok(settled) => settled,
            Err(_) => Settled::Failed(StoreError::Unavailable("not connected".to_owned())),
        });
        // The caller has its answer; ending the transaction need not keep it waiting.
        if let Some(conn) = self.link.current() {
            conn.abandon();
        }
    }

    fn attempt(&mut self, read: &mut Read) -> Result<Settled, FaultKind> {
        let Ok(conn) = self.link.get() else { return Err(FaultKind::Statement) };
        let begin = match conn {
            Conn::Sqlite(_) => "BEGIN",
            Conn::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        if let Err(fault) = conn.simple_soon(begin) {
            return Ok(Settled::Failed(fault.error));
        }
        let mut tx = Tx::new(conn);
        let ran = catch_unwind(AssertUnwindSafe(|| (read.run)(&mut tx)));
        match (tx.fault_kind(), tx.fault.take(), ran) {
            (Some(FaultKind::Lost), _, _) => {
                self.link.cut();
                Err(FaultKind::Lost)
            }
            (_, Some(fault), _) => Ok(Settled::Failed(fault.error)),
            (_, None, Err(_)) => Ok(Settled::Failed(StoreError::Panicked)),
            (_, None, Ok(())) => Ok(Settled::Decided),
        }
    }
}
