//! A writer: takes the waiting writes as a group, runs each in its own savepoint, ends them all
//! with one commit, then answers every caller.
//!
//! One refusal never fails its neighbours. What cannot be blamed on one write (a lost line, a full
//! disk) makes the group run again, since closures can. A commit whose answer was lost is not
//! guessed: a row that the group wrote tells whether it is there.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use domain::{OrgId, limits};

use super::error::{Fault, FaultKind};
use super::link::Link;
use super::queue::{Job, Queue, Settled, Verdict};
use super::sqlite::Access;
use super::stamps::Stamps;
use super::stats::Stats;
use super::tx::{Conn, Tx};
use super::{Database, StoreError};
use crate::heads::{self, Head};
use crate::{Rt, args};

const MARK_GROUP: &str = "INSERT INTO store_writers (writer, group_no, seen_at) \
     VALUES ($1, $2, $3) ON CONFLICT (writer) \
     DO UPDATE SET group_no = excluded.group_no, seen_at = excluded.seen_at";
/// Adds a row where there is none, and so waits for a transaction of ours that may still be open on
/// the far side, also for the first one, whose row nobody else can see yet.
const LAST_GROUP: &str = "INSERT INTO store_writers (writer, group_no, seen_at) \
     VALUES ($1, 0, $2) ON CONFLICT (writer) DO UPDATE SET seen_at = excluded.seen_at \
     RETURNING group_no";

/// How often a group is run when the line is lost.
const ATTEMPTS: usize = 2;

pub(super) struct Writer {
    link: Link,
    rt: Rt,
    stats: Arc<Stats>,
    stamps: Arc<Stamps>,
    /// Unlike any other writer's, also of this node's earlier lives.
    name: String,
    group_no: i64,
    /// How many writes fitted into the time of a group lately.
    fitting: usize,
    /// What a deterministic run does to the next commit.
    pub(super) crash: Option<Crash>,
}

/// How a process dies at a commit, played by a deterministic run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Nothing is committed, and the caller never hears.
    BeforeCommit,
    /// Everything is, and the caller never hears.
    AfterCommit,
}

/// A write of the group at hand, and how its last run ended.
struct Member {
    job: Job,
    turn: usize,
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
    /// Nothing is committed, and no member is to blame.
    NotBegun(StoreError),
    /// Nothing is committed; another try may help.
    Lost(StoreError),
    /// Nothing is committed, and one of the group is to blame; run one by one.
    Blame(Fault),
    /// COMMIT was sent and no answer came.
    FateUnknown(StoreError),
}

impl Failure {
    fn error(self) -> StoreError {
        match self {
            Self::NotBegun(error) | Self::Lost(error) | Self::FateUnknown(error) => error,
            Self::Blame(fault) => fault.error,
        }
    }
}

impl Writer {
    pub(super) fn new(
        database: Database,
        rt: Rt,
        (stats, stamps): (Arc<Stats>, Arc<Stamps>),
        name: String,
    ) -> Self {
        Self {
            link: Link::new(database, Access::Write, rt.clone()),
            rt,
            stats,
            stamps,
            name,
            group_no: 0,
            fitting: limits::GROUP_WRITES_MAX,
            crash: None,
        }
    }

    /// Serves the queue until it is closed and empty.
    pub(super) fn serve(mut self, queue: &Queue) {
        while let Some(jobs) = queue.take(self.fitting) {
            let left = self.group(jobs);
            queue.put_back(left);
            if self.link.current().is_none() {
                // The database is away: those who wait hear it now rather than after a time-out.
                for job in queue.drain() {
                    fail(job, &StoreError::Unavailable("not connected".to_owned()));
                }
            }
        }
    }

    /// Runs and settles a group; gives back what there was no time for, in the order it came.
    pub(super) fn group(&mut self, jobs: Vec<Job>) -> Vec<Job> {
        let numbered = jobs.into_iter().enumerate();
        let mut members: Vec<_> =
            numbered.map(|(turn, job)| Member { job, turn, end: End::NotRun }).collect();
        // One fixed order of locks on every node; an organisation's own order is kept.
        members.sort_by_key(|member| member.job.org);
        match self.attempt_until_settled(&mut members) {
            Ok(()) => self.settle(members),
            Err(Failure::Blame(_)) if members.len() > 1 => {
                self.stats.count(|s| &s.groups_split);
                members.sort_by_key(|member| member.turn);
                members.into_iter().flat_map(|member| self.group(vec![member.job])).collect()
            }
            Err(Failure::Blame(fault)) if fault.kind == FaultKind::HeldVictim => {
                for member in members {
                    self.again(member.job);
                }
                Vec::new()
            }
            Err(failure) => {
                let error = failure.error();
                for member in members {
                    // It may be on disk all the same.
                    self.stamps.moved(member.job.org);
                    fail(member.job, &error);
                }
                Vec::new()
            }
        }
    }

    /// A lost line is no reason to give up at once: closures can run again, and the fate of a
    /// commit can be asked for.
    fn attempt_until_settled(&mut self, members: &mut [Member]) -> Result<(), Failure> {
        let mut outcome = self.attempt(members);
        for _ in 1..ATTEMPTS {
            match outcome {
                Err(Failure::Lost(_)) => outcome = self.attempt(members),
                Err(Failure::FateUnknown(error)) => match self.is_committed() {
                    Some(true) => return Ok(()),
                    Some(false) => outcome = self.attempt(members),
                    None => return Err(Failure::FateUnknown(error)),
                },
                settled => return settled,
            }
        }
        match outcome {
            Err(Failure::FateUnknown(error)) => match self.is_committed() {
                Some(true) => Ok(()),
                Some(false) => Err(Failure::Lost(error)),
                None => Err(Failure::FateUnknown(error)),
            },
            settled => settled,
        }
    }

    fn attempt(&mut self, members: &mut [Member]) -> Result<(), Failure> {
        self.group_no += 1;
        let (name, group_no, rt) = (self.name.clone(), self.group_no, self.rt.clone());
        let crash = self.crash.take();
        let conn = self.link.get().map_err(Failure::Lost)?;
        let finished = match begin(conn, &name, group_no, &rt) {
            Ok(()) => finish(conn, members, (&rt, crash)),
            Err(Fault { kind: FaultKind::Lost, error }) => Err(Failure::Lost(error)),
            Err(fault) => Err(Failure::NotBegun(fault.error)),
        };
        match &finished {
            Ok(()) => {}
            Err(Failure::Blame(_) | Failure::NotBegun(_)) => conn.abandon(),
            Err(Failure::Lost(error) | Failure::FateUnknown(error)) => {
                tracing::warn!(writer = self.name, error = %error, "database connection lost");
                self.link.cut();
            }
        }
        finished
    }

    /// Answers the callers. Victims of a deadlock are run again, alone, after the others heard.
    fn settle(&mut self, mut members: Vec<Member>) -> Vec<Job> {
        let ran = members.iter().filter(|member| !matches!(member.end, End::NotRun)).count();
        self.stats.group(ran);
        self.fitting = match ran {
            // Room for everybody: try more next time.
            ran if ran == members.len() => (self.fitting * 2).min(limits::GROUP_WRITES_MAX),
            ran => ran.max(1),
        };
        members.sort_by_key(|member| member.turn);
        let (mut left, mut victims) = (Vec::new(), Vec::new());
        for Member { job, end, .. } in members {
            match end {
                End::NotRun => left.push(job),
                End::Decided => {
                    self.stamps.moved(job.org);
                    (job.settle)(Settled::Decided);
                }
                End::Failed(error) => fail(job, &error),
                End::Victim => victims.push(job),
            }
        }
        for job in victims {
            self.again(job);
        }
        left
    }

    /// Runs a write that lost a deadlock again, alone, and answers it.
    fn again(&mut self, job: Job) {
        let mut alone = [Member { job, turn: 0, end: End::Victim }];
        let mut outcome = Ok(());
        for _ in 0..limits::DEADLOCK_RETRIES {
            self.stats.count(|s| &s.victims_rerun);
            outcome = self.attempt_until_settled(&mut alone);
            let lost_again = match &outcome {
                Ok(()) => matches!(alone[0].end, End::Victim),
                Err(failure) => {
                    matches!(failure, Failure::Blame(fault) if fault.kind == FaultKind::HeldVictim)
                }
            };
            if !lost_again {
                break;
            }
        }
        let [Member { job, end, .. }] = alone;
        self.stamps.moved(job.org);
        match (outcome, end) {
            (Ok(()), End::Decided) => (job.settle)(Settled::Decided),
            (Ok(()), End::Failed(error)) => fail(job, &error),
            (Ok(()), End::NotRun | End::Victim) => fail(job, &StoreError::Busy),
            (Err(failure), _) => fail(job, &failure.error()),
        }
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
            self.link.cut();
            self.rt.pause(limits::RECONNECT_PAUSE);
        }
        None
    }

    fn ask_for_fate(&mut self) -> Result<bool, StoreError> {
        let (name, group_no, now) = (self.name.clone(), self.group_no, self.rt.now());
        let conn = self.link.get()?;
        let fate = conn
            .simple_soon("BEGIN")
            .and_then(|()| conn.all(LAST_GROUP, args![name, now]))
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
            conn.simple_soon("BEGIN ISOLATION LEVEL READ COMMITTED")?;
            conn.exec_soon(MARK_GROUP, args![name, group_no, rt.now()])
        }
    }
}

/// Runs the members and commits.
fn finish(
    conn: &mut Conn,
    members: &mut [Member],
    (rt, crash): (&Rt, Option<Crash>),
) -> Result<(), Failure> {
    run_all(conn, members, rt).map_err(|fault| match fault.kind {
        FaultKind::Lost => Failure::Lost(fault.error),
        _ => Failure::Blame(fault),
    })?;
    let died = || Failure::NotBegun(StoreError::Unavailable("the process died".to_owned()));
    if crash == Some(Crash::BeforeCommit) {
        return Err(died());
    }
    conn.simple("COMMIT").map_err(|fault| match fault.kind {
        FaultKind::Lost => Failure::FateUnknown(fault.error),
        _ => Failure::Blame(fault),
    })?;
    if crash.is_some() { Err(died()) } else { Ok(()) }
}

fn run_all(conn: &mut Conn, members: &mut [Member], rt: &Rt) -> Result<(), Fault> {
    let mut started = rt.monotonic();
    let mut shared = Shared::default();
    for (at, member) in members.iter_mut().enumerate() {
        member.end = End::NotRun;
        let out_of_time = rt.monotonic().saturating_sub(started) > limits::GROUP_TIME;
        if let Some(error) = shared.blocked.get(&member.job.org) {
            member.end = End::Failed(error.clone());
        } else if at == 0 || !out_of_time {
            member.end = run_one(conn, &mut member.job, &mut shared)?;
            if shared.blocked.contains_key(&member.job.org) {
                // The time went by waiting for another node, not by work of this group.
                started = rt.monotonic();
            }
        }
    }
    for org in shared.changed {
        let (sql, args) = heads::saving(org, &shared.heads[&org]);
        conn.exec_soon(sql, &args)?;
    }
    Ok(())
}

/// What the writes of a group hand on to each other.
#[derive(Default)]
struct Shared {
    /// Heads whose lock is held, as the last write left them.
    heads: HashMap<OrgId, Head>,
    /// Those that must be written back.
    changed: BTreeSet<OrgId>,
    /// Organisations whose head somebody else holds: one write has waited for it, which is enough.
    blocked: HashMap<OrgId, StoreError>,
}

fn run_one(conn: &mut Conn, job: &mut Job, shared: &mut Shared) -> Result<End, Fault> {
    conn.simple_soon("SAVEPOINT w")?;
    let mut tx = Tx::new(conn);
    let locked = tx.lock(job.org, shared.heads.get(&job.org).cloned());
    let verdict = match &locked {
        Ok(()) => catch_unwind(AssertUnwindSafe(|| (job.run)(&mut tx))),
        Err(_) => Ok(Verdict::Undo),
    };
    let end = match (&tx.fault, locked, verdict) {
        (Some(fault), locked, _) => match fault.kind {
            FaultKind::Statement => {
                if locked.is_err() {
                    shared.blocked.insert(job.org, fault.error.clone());
                }
                End::Failed(fault.error.clone())
            }
            FaultKind::Victim => End::Victim,
            FaultKind::Lost | FaultKind::Held | FaultKind::HeldVictim => return Err(fault.clone()),
        },
        (None, Err(error), _) => End::Failed(error),
        (None, Ok(()), Err(_)) => End::Failed(StoreError::Panicked),
        (None, Ok(()), Ok(Verdict::Undo)) => End::Decided,
        (None, Ok(()), Ok(Verdict::Keep)) => {
            if let Some(head) = tx.current_head() {
                shared.heads.insert(job.org, head.clone());
            }
            if tx.changed_head().is_some() {
                shared.changed.insert(job.org);
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
