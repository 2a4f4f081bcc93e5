//! Due work: one table. Claimed by a node's incarnation, settled only by the one that claimed it.

use std::collections::HashSet;
use std::hash::BuildHasher;

use domain::{JobId, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, Value, args, lanes};

/// A piece of due work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Whose work it is.
    pub org: OrgId,
    /// What kind of work.
    pub kind: String,
    /// What it is about.
    pub subject: String,
    /// When it is due, by the organisation's clock.
    pub due_at: Timestamp,
    /// How often it was begun.
    pub attempts: i64,
    /// Why the last attempt did not end it.
    pub error: String,
    /// When it was given up.
    pub failed_at: Option<Timestamp>,
}

/// A moment by both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// By the organisation's clock.
    pub at: Timestamp,
    /// By the real one.
    pub wake_at: Timestamp,
}

const ADD: &str = "INSERT INTO jobs (id, org_id, kind, subject, due_at, wake_at, attempts, error, \
     created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
     ON CONFLICT (org_id, kind, subject) DO UPDATE SET id = excluded.id, \
     due_at = excluded.due_at, wake_at = excluded.wake_at, attempts = 0, owner = NULL, \
     failed_at = NULL, error = ''";
const SOONER: &str = "INSERT INTO jobs (id, org_id, kind, subject, due_at, wake_at, attempts, \
     error, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
     ON CONFLICT (org_id, kind, subject) DO UPDATE SET \
     due_at = CASE WHEN jobs.due_at > excluded.due_at \
                   THEN excluded.due_at ELSE jobs.due_at END, \
     wake_at = CASE WHEN jobs.due_at > excluded.due_at \
                    THEN excluded.wake_at ELSE jobs.wake_at END, \
     attempts = CASE WHEN jobs.failed_at IS NULL THEN jobs.attempts ELSE 0 END, failed_at = NULL \
     WHERE jobs.due_at > excluded.due_at OR jobs.failed_at IS NOT NULL";
// A WITH, so that the limit holds: see the one that issues eSIMs.
const CLAIM: &str = "UPDATE jobs SET owner = $1, attempts = attempts + 1 WHERE id IN \
     (WITH due AS (SELECT id FROM jobs WHERE owner IS NULL AND failed_at IS NULL AND wake_at <= $2 \
      AND NOT EXISTS (SELECT 1 FROM org_heads h WHERE h.org_id = jobs.org_id \
                      AND h.held_at IS NOT NULL) \
      ORDER BY wake_at, id LIMIT $3 {skip locked}) SELECT id FROM due) \
     RETURNING id, org_id, kind, subject, due_at, attempts, error, failed_at";
const CLAIM_OF_ORG: &str = "UPDATE jobs SET owner = $2, attempts = attempts + 1 WHERE id IN \
     (SELECT id FROM jobs WHERE org_id = $1 AND owner IS NULL AND failed_at IS NULL \
      AND due_at <= $3 ORDER BY due_at, id LIMIT 1) \
     RETURNING id, org_id, kind, subject, due_at, attempts, error, failed_at";
const NEXT_OF_ORG: &str = "SELECT MIN(due_at) FROM jobs WHERE org_id = $1 AND owner IS NULL \
     AND failed_at IS NULL";
const IN_FLIGHT: &str = "SELECT COUNT(*) FROM jobs WHERE org_id = $1 AND owner IS NOT NULL";
const MINE: &str = "SELECT COUNT(*) FROM jobs WHERE id = $1 AND owner = $2 AND attempts = $3";
const DONE: &str = "DELETE FROM jobs WHERE id = $1";
const AGAIN: &str = "UPDATE jobs SET owner = NULL, due_at = $2, wake_at = $3, error = $4 \
     WHERE id = $1";
const BACK: &str = "UPDATE jobs SET owner = NULL, due_at = $2, wake_at = $3, error = '', \
     attempts = 0 WHERE id = $1";
const DEAD: &str = "UPDATE jobs SET owner = NULL, failed_at = $2, error = $3 WHERE id = $1";
const FAILED: &str = "SELECT id, org_id, kind, subject, due_at, attempts, error, failed_at \
     FROM jobs WHERE failed_at IS NOT NULL AND id > $1 ORDER BY id LIMIT $2";
const ALL: &str = "SELECT id, org_id, kind, subject, due_at, attempts, error, failed_at \
     FROM jobs WHERE id > $1 ORDER BY id LIMIT $2";
const ABOUT: &str = "SELECT id, org_id, kind, subject, due_at, attempts, error, failed_at \
     FROM jobs WHERE org_id = $1 AND subject = $2 AND kind IN ({list})";
const RETRY: &str = "UPDATE jobs SET failed_at = NULL, attempts = 0, wake_at = $2 \
     WHERE id = $1 AND failed_at IS NOT NULL";
const RELEASE: &str = "UPDATE jobs SET owner = NULL WHERE owner = $1";
const OWNED: &str = "SELECT id FROM jobs WHERE owner = $1";
const LET_GO: &str = "UPDATE jobs SET owner = NULL WHERE owner = $1 AND id IN ({list})";
const RELEASE_ALL: &str = "UPDATE jobs SET owner = NULL WHERE owner IS NOT NULL";
const RESET_WAKE: &str = "UPDATE jobs SET wake_at = due_at - $2 \
     WHERE org_id = $1 AND wake_at <> due_at - $2";
const DROP_ALL: &str = "DELETE FROM jobs WHERE org_id = $1";
const BEAT: &str = "INSERT INTO nodes (incarnation, beat) VALUES ($1, $2) \
     ON CONFLICT (incarnation) DO UPDATE SET beat = excluded.beat";
const KNOWN: &str = "INSERT INTO nodes (incarnation, beat) VALUES ($1, 0) \
     ON CONFLICT (incarnation) DO NOTHING";
const BEATS: &str = "SELECT incarnation, beat FROM nodes ORDER BY incarnation";
const BURY: &str = "DELETE FROM nodes WHERE incarnation = $1 AND beat = $2";

/// Adds work, or moves the work of the same subject to another time.
pub fn add(tx: &mut Tx<'_>, job: &Job, due: Due, now: Timestamp) -> Result<(), StoreError> {
    let Job { id, org, kind, subject, .. } = job;
    tx.later(ADD, args![*id, *org, kind, subject, due.at, due.wake_at, 0, "", now])
}

/// The same for many, each of another subject.
pub fn add_all_sooner(
    tx: &mut Tx<'_>,
    jobs: &[Job],
    due: Due,
    now: Timestamp,
) -> Result<(), StoreError> {
    let rows = jobs.iter().map(|Job { id, org, kind, subject, .. }| {
        args![*id, *org, kind, subject, due.at, due.wake_at, 0, "", now].to_vec()
    });
    tx.later_rows(SOONER, rows.collect())
}

/// Makes sure that there is work of this subject no later than then; what was given up is taken up
/// again.
pub fn add_sooner(tx: &mut Tx<'_>, job: &Job, due: Due, now: Timestamp) -> Result<(), StoreError> {
    let Job { id, org, kind, subject, .. } = job;
    tx.later(SOONER, args![*id, *org, kind, subject, due.at, due.wake_at, 0, "", now])
}

/// Claims work that is due by the real clock, of any organisation that is not held.
pub fn claim(
    tx: &mut Tx<'_>,
    owner: &str,
    now: Timestamp,
    most: i64,
) -> Result<Vec<Job>, StoreError> {
    let rows = tx.all(CLAIM, args![owner, now, most])?;
    let mut jobs = rows.iter().map(job).collect::<Result<Vec<_>, _>>()?;
    jobs.sort_by_key(|job| (job.due_at, job.id));
    if !jobs.is_empty() {
        known(tx, owner)?;
    }
    Ok(jobs)
}

/// Claims the next work of one organisation that is due by its own clock.
pub fn claim_next_of_org(
    tx: &mut Tx<'_>,
    org: OrgId,
    owner: &str,
    by: Timestamp,
) -> Result<Option<Job>, StoreError> {
    let Some(row) = tx.maybe(CLAIM_OF_ORG, args![org, owner, by])? else { return Ok(None) };
    known(tx, owner)?;
    job(&row).map(Some)
}

/// Work of these kinds about one thing, given up or not.
pub fn about(
    tx: &mut Tx<'_>,
    org: OrgId,
    subject: &str,
    kinds: &[&str],
) -> Result<Vec<Job>, StoreError> {
    let kinds: Vec<_> = kinds.iter().map(|kind| Value::from(*kind)).collect();
    tx.all_in(ABOUT, args![org, subject], &kinds)?.iter().map(job).collect()
}

/// When the next work of an organisation is due that nobody does.
pub fn next_due(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<Timestamp>, StoreError> {
    tx.one(NEXT_OF_ORG, args![org])?.time_or_none(0)
}

/// Whoever claims work is among the nodes, so that somebody misses it: it may die before it has
/// said for the first time that it lives.
pub fn known(tx: &mut Tx<'_>, owner: &str) -> Result<(), StoreError> {
    tx.later(KNOWN, args![owner])
}

/// How much work of an organisation is being done now.
pub fn in_flight(tx: &mut Tx<'_>, org: OrgId) -> Result<i64, StoreError> {
    tx.one(IN_FLIGHT, args![org])?.int(0)
}

/// Whether an attempt is still the one that counts: asked first when settling.
pub fn is_mine(tx: &mut Tx<'_>, job: &Job, owner: &str) -> Result<bool, StoreError> {
    Ok(tx.one(MINE, args![job.id, owner, job.attempts])?.int(0)? == 1)
}

/// Ends a job.
pub fn done(tx: &mut Tx<'_>, id: JobId) -> Result<(), StoreError> {
    tx.later(DONE, args![id])
}

/// Puts a job off.
pub fn again(tx: &mut Tx<'_>, id: JobId, due: Due, why: &str) -> Result<(), StoreError> {
    tx.later(AGAIN, args![id, due.at, due.wake_at, why])
}

/// Puts off a job that did what it could for now: its next attempt is a first one again.
pub fn back_at(tx: &mut Tx<'_>, id: JobId, due: Due) -> Result<(), StoreError> {
    tx.later(BACK, args![id, due.at, due.wake_at])
}

/// Gives a job up; it stays visible.
pub fn dead(tx: &mut Tx<'_>, id: JobId, now: Timestamp, why: &str) -> Result<(), StoreError> {
    tx.later(DEAD, args![id, now, why])
}

/// Jobs that were given up, in the order of their ids.
pub fn failed(tx: &mut Tx<'_>, after: Option<JobId>, most: i64) -> Result<Vec<Job>, StoreError> {
    tx.all(FAILED, args![text_or_empty(after), most])?.iter().map(job).collect()
}

/// All jobs, in the order of their ids.
pub fn all(tx: &mut Tx<'_>, after: Option<JobId>, most: i64) -> Result<Vec<Job>, StoreError> {
    tx.all(ALL, args![text_or_empty(after), most])?.iter().map(job).collect()
}

/// Makes a job that was given up due again; false if there is none.
pub fn retry(tx: &mut Tx<'_>, id: JobId, now: Timestamp) -> Result<bool, StoreError> {
    Ok(tx.exec(RETRY, args![id, now])? == 1)
}

/// After a sandbox clock has moved: the real moments at which its work is due.
pub fn reset_wake(tx: &mut Tx<'_>, org: OrgId, offset_ms: i64) -> Result<(), StoreError> {
    tx.exec(RESET_WAKE, args![org, offset_ms]).map(drop)
}

/// Forgets all work of an organisation.
pub fn drop_all(tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
    tx.exec(DROP_ALL, args![org]).map(drop)
}

/// Says that a node lives.
pub fn beat(tx: &mut Tx<'_>, incarnation: &str, beat: i64) -> Result<(), StoreError> {
    tx.exec(BEAT, args![incarnation, beat]).map(drop)
}

/// What all nodes last said.
pub fn beats(tx: &mut Tx<'_>) -> Result<Vec<(String, i64)>, StoreError> {
    let rows = tx.all(BEATS, &[])?;
    rows.iter().map(|row| Ok((row.text(0)?.to_owned(), row.int(1)?))).collect()
}

/// Takes the work of a node that has not moved since `beat`; false if it has.
pub fn bury(tx: &mut Tx<'_>, incarnation: &str, beat: i64) -> Result<bool, StoreError> {
    if tx.exec(BURY, args![incarnation, beat])? == 0 {
        return Ok(false);
    }
    tx.exec(RELEASE, args![incarnation])?;
    lanes::release(tx, incarnation)?;
    Ok(true)
}

/// Lets go of work of a node that it does not do: a claim whose answer was lost.
pub fn let_go_but<S: BuildHasher>(
    tx: &mut Tx<'_>,
    owner: &str,
    doing: &HashSet<JobId, S>,
) -> Result<(), StoreError> {
    let owned = tx.all(OWNED, args![owner])?;
    let owned =
        owned.iter().map(|row| row.parsed(0, JobId::parse)).collect::<Result<Vec<_>, _>>()?;
    let idle = owned.into_iter().filter(|id| !doing.contains(id)).map(Value::from);
    tx.later_in(LET_GO, args![owner], &idle.collect::<Vec<_>>())
}

/// Releases everything: for a database that only one process works on.
pub fn release_all(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    tx.exec(RELEASE_ALL, &[]).map(drop)
}

fn text_or_empty(id: Option<JobId>) -> String {
    id.map_or_else(String::new, |id| id.to_string())
}

fn job(row: &Row) -> Result<Job, StoreError> {
    Ok(Job {
        id: row.parsed(0, JobId::parse)?,
        org: row.parsed(1, OrgId::parse)?,
        kind: row.text(2)?.to_owned(),
        subject: row.text(3)?.to_owned(),
        due_at: row.time(4)?,
        attempts: row.int(5)?,
        error: row.text(6)?.to_owned(),
        failed_at: row.time_or_none(7)?,
    })
}
