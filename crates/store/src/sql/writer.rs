//! A writer: takes the waiting writes as a group, runs each in its own savepoint, ends them all
//! with one commit, then answers every caller.
//!
//! One refusal never fails its neighbours. What cannot be blamed on one write (a lost line, a full
//! disk) makes the group run again, since closures can. A commit whose answer was lost is not
//! guessed: a row that the group wrote tells whether it is there.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use domain::{OrgId, limits};

use super::error::{Fault, FaultKind};
use super::queue::{Job, Queue, Settled, Verdict};
use super::stats::Stats;
use super::tx::{Conn, Tx};
use super::{Database, StoreError};
use crate::heads::{self, Head};
use crate::{Rt, args};

const MARK_GROUP: &str = "INSERT INTO store_writers (writer, group_no, seen_at) \
     VALUES ($1, $2, $3) ON CONFLICT (writer) \
     DO UPDATE SET group_no = excluded.group_no, seen_at = excluded.seen_at";
/// Waits for a transaction of ours that may still be open on the far side: it holds this row.
const LAST_GROUP: &str = "SELECT group_no FROM store_writers WHERE writer = $1 {for update}";

pub(super) struct Writer {
    database: Database,
    rt: Rt,
    stats: Arc<Stats>,
    /// Unlike any other writer's, also of this node's earlier lives.
    name: String,
    group_no: i64,
    conn: Option<Conn>,
    failed_at: Option<Duration>,
}

/// A write of the group at hand, and how its last run ended.
struct Member {
    job: Job,
    end: End,
}

enum End {
    NotRun,
    Decided,
    Failed(StoreError),
    Victim,
}

/// Why a group has no effect (or may have).
enum Failure {
    /// Nothing is committed; another try may help.
    Lost(StoreError),
    /// Nothing is committed, and one of the group is to blame; run one by one.
    Blame(StoreError),
    /// COMMIT was sent and no answer came.
    FateUnknown(StoreError),
}

impl Writer {
    pub(super) fn new(database: Database, rt: Rt, stats: Arc<Stats>, name: String) -> Self {
        Self { database, rt, stats, name, group_no: 0, conn: None, failed_at: None }
    }

    /// Serves the queue until it is closed and empty.
    pub(super) fn serve(mut self, queue: &Queue) {
        while let Some(jobs) = queue.take(limits::GROUP_WRITES_MAX) {
            let left = self.group(jobs);
            queue.put_back(left);
            if self.conn.is_none() {
                // The database is away: those who wait hear it now rather than after a time-out.
                for job in queue.drain() {
                    fail(job, &StoreError::Unavailable("not connected".to_owned()));
                }
            }
        }
    }

    /// Runs and settles a group; gives back what there was no time for.
    pub(super) fn group(&mut self, jobs: Vec<Job>) -> Vec<Job> {
        let mut members: Vec<_> =
            jobs.into_iter().map(|job| Member { job, end: End::NotRun }).collect();
        // One fixed order of locks on every node; an organisation's own order is kept.
        members.sort_by_key(|member| member.job.org);
        let outcome = self.attempt_twice(&mut members);
        match outcome {
            Ok(()) => self.settle(members),
            Err(Failure::Blame(_)) if members.len() > 1 => {
                self.stats.count(|s| &s.groups_split);
                members.into_iter().flat_map(|member| self.group(vec![member.job])).collect()
            }
            Err(Failure::Lost(error) | Failure::Blame(error) | Failure::FateUnknown(error)) => {
                for member in members {
                    fail(member.job, &error);
                }
                Vec::new()
            }
        }
    }

    /// A lost line is no reason to give up at once: closures can run again.
    fn attempt_twice(&mut self, members: &mut [Member]) -> Result<(), Failure> {
        match self.attempt(members) {
            Err(Failure::Lost(_)) => self.attempt(members),
            Err(Failure::FateUnknown(error)) => {
                if self.is_committed().ok_or(Failure::FateUnknown(error))? {
                    Ok(())
                } else {
                    self.attempt(members)
                }
            }
            other => other,
        }
    }

    fn attempt(&mut self, members: &mut [Member]) -> Result<(), Failure> {
        self.group_no += 1;
        let (name, group_no, rt) = (self.name.clone(), self.group_no, self.rt.clone());
        let conn = self.connection().map_err(Failure::Lost)?;
        let ran = begin(conn, &name, group_no, &rt).and_then(|()| run_all(conn, members, &rt));
        let finished = match ran {
            Ok(()) => conn.simple("COMMIT").map_err(|fault| match fault.kind {
                FaultKind::Lost => Failure::FateUnknown(fault.error),
                _ => Failure::Blame(fault.error),
            }),
            Err(Fault { kind: FaultKind::Lost, error }) => Err(Failure::Lost(error)),
            Err(fault) => Err(Failure::Blame(fault.error)),
        };
        match &finished {
            Ok(()) => {}
            Err(Failure::Blame(_)) => conn.abandon(),
            Err(Failure::Lost(error) | Failure::FateUnknown(error)) => {
                tracing::warn!(writer = self.name, error = %error, "database connection lost");
                self.conn = None;
            }
        }
        finished
    }

    /// Answers the callers. Victims of a deadlock are run again, alone.
    fn settle(&mut self, members: Vec<Member>) -> Vec<Job> {
        self.stats.group(members.iter().filter(|m| !matches!(m.end, End::NotRun)).count());
        let mut left = Vec::new();
        for Member { job, end } in members {
            match end {
                End::NotRun => left.push(job),
                End::Decided => (job.settle)(Settled::Decided),
                End::Failed(error) => fail(job, &error),
                End::Victim => self.again(job),
            }
        }
        left
    }

    fn again(&mut self, job: Job) {
        let mut alone = [Member { job, end: End::Victim }];
        for _ in 0..limits::DEADLOCK_RETRIES {
            self.stats.count(|s| &s.victims_rerun);
            let outcome = self.attempt_twice(&mut alone);
            if outcome.is_err() || !matches!(alone[0].end, End::Victim) {
                break;
            }
        }
        let [Member { job, end }] = alone;
        match end {
            End::Decided => (job.settle)(Settled::Decided),
            End::Failed(error) => fail(job, &error),
            End::NotRun | End::Victim => fail(job, &StoreError::Busy),
        }
    }

    fn connection(&mut self) -> Result<&mut Conn, StoreError> {
        if self.conn.is_none() {
            let now = self.rt.monotonic();
            let hopeless = |at| now.saturating_sub(at) < limits::RECONNECT_PAUSE;
            if self.failed_at.is_some_and(hopeless) {
                return Err(StoreError::Unavailable("not connected".to_owned()));
            }
            match self.database.connect_to_write() {
                Ok(conn) => self.conn = Some(conn),
                Err(fault) => {
                    self.failed_at = Some(self.rt.monotonic());
                    return Err(fault.error);
                }
            }
        }
        Ok(self.conn.as_mut().expect("just connected"))
    }

    /// Whether the last group is in the database; none if that cannot be learnt in time.
    fn is_committed(&mut self) -> Option<bool> {
        self.stats.count(|s| &s.commits_doubted);
        let deadline = self.rt.monotonic() + limits::LOST_COMMIT_WAIT;
        while self.rt.monotonic() < deadline {
            match self.ask_for_fate() {
                Ok(answer) => return Some(answer),
                Err(error) => tracing::warn!(error = %error, "fate of a commit still unknown"),
            }
            self.conn = None;
            self.rt.pause(limits::RECONNECT_PAUSE);
        }
        None
    }

    fn ask_for_fate(&mut self) -> Result<bool, StoreError> {
        let (name, group_no) = (self.name.clone(), self.group_no);
        let conn = self.connection()?;
        let fate = conn
            .simple_soon("BEGIN")
            .and_then(|()| conn.all(LAST_GROUP, args![name]))
            .and_then(|rows| conn.simple("COMMIT").map(|()| rows))
            .map_err(|fault| fault.error)?;
        match fate.first() {
            Some(row) => Ok(row.int(0)? == group_no),
            None => Ok(false),
        }
    }
}

fn begin(conn: &mut Conn, name: &str, group_no: i64, rt: &Rt) -> Result<(), Fault> {
    match conn {
        // One process, one file: a commit is there or it is not.
        Conn::Sqlite(_) => conn.simple("BEGIN IMMEDIATE"),
        Conn::Postgres(_) => {
            conn.simple_soon("BEGIN")?;
            conn.exec_soon(MARK_GROUP, args![name, group_no, rt.now()])
        }
    }
}

fn run_all(conn: &mut Conn, members: &mut [Member], rt: &Rt) -> Result<(), Fault> {
    let started = rt.monotonic();
    let mut heads = HashMap::new();
    let mut changed = BTreeSet::new();
    for (at, member) in members.iter_mut().enumerate() {
        member.end = End::NotRun;
        let out_of_time = rt.monotonic().saturating_sub(started) > limits::GROUP_TIME;
        if at == 0 || !out_of_time {
            member.end = run_one(conn, &mut member.job, &mut heads, &mut changed)?;
        }
    }
    for org in changed {
        let (sql, args) = heads::saving(org, &heads[&org]);
        conn.exec_soon(sql, &args)?;
    }
    Ok(())
}

fn run_one(
    conn: &mut Conn,
    job: &mut Job,
    heads: &mut HashMap<OrgId, Head>,
    changed: &mut BTreeSet<OrgId>,
) -> Result<End, Fault> {
    conn.simple_soon("SAVEPOINT w")?;
    let mut tx = Tx::new(conn);
    let verdict = match tx.lock(job.org, heads.get(&job.org).cloned()) {
        Ok(()) => catch_unwind(AssertUnwindSafe(|| (job.run)(&mut tx))),
        Err(_) => Ok(Verdict::Undo),
    };
    let end = match (&tx.fault, verdict) {
        (Some(fault), _) => match fault.kind {
            FaultKind::Statement => End::Failed(fault.error.clone()),
            FaultKind::Victim => End::Victim,
            FaultKind::Lost | FaultKind::Held => return Err(fault.clone()),
        },
        (None, Err(_)) => End::Failed(StoreError::Panicked),
        (None, Ok(Verdict::Undo)) => End::Decided,
        (None, Ok(Verdict::Keep)) => {
            if let Some(head) = tx.current_head() {
                heads.insert(job.org, head.clone());
            }
            if tx.changed_head().is_some() {
                changed.insert(job.org);
            }
            conn.simple_soon("RELEASE SAVEPOINT w")?;
            return Ok(End::Decided);
        }
    };
    if !conn.in_transaction() {
        // The error has ended the whole transaction, and the neighbours' effects with it.
        return Err(Fault {
            kind: FaultKind::Held,
            error: StoreError::Unavailable("the transaction was ended".to_owned()),
        });
    }
    conn.simple_soon("ROLLBACK TO SAVEPOINT w; RELEASE SAVEPOINT w")?;
    Ok(end)
}

fn fail(job: Job, error: &StoreError) {
    (job.settle)(Settled::Failed(error.clone()));
}
