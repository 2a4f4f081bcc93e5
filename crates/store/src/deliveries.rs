//! Deliveries: events on their way to the receiver, and every attempt.

use domain::callback::State;
use domain::organisation::CallbackVersion;
use domain::{EventId, OrgId, Timestamp, limits};

use crate::{Row, StoreError, Tx, Value, args};

/// A delivery that is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The number of its event.
    pub seq: i64,
    /// Its lane.
    pub lane: String,
    /// Its form.
    pub form: CallbackVersion,
    /// The bytes.
    pub body: String,
    /// How often it was tried.
    pub attempts: i64,
    /// The same since it was last given a full set of attempts.
    pub tries: i64,
    /// When it was made, by the real clock.
    pub made_at: Timestamp,
    /// The id of its event.
    pub event: EventId,
}

/// A delivery as people look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The number of its event.
    pub seq: i64,
    /// The id of its event.
    pub event: EventId,
    /// Its kind.
    pub kind: String,
    /// When the event was, by the organisation's clock.
    pub at: Timestamp,
    /// Its lane.
    pub lane: String,
    /// Its form.
    pub form: CallbackVersion,
    /// How far it is.
    pub state: State,
    /// How often it was tried.
    pub attempts: i64,
    /// When it was made, by the real clock.
    pub made_at: Timestamp,
    /// When it was delivered or given up, by the real clock.
    pub done_at: Option<Timestamp>,
    /// The bytes.
    pub body: String,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The number of the event.
    pub seq: i64,
    /// Which attempt, from 1.
    pub n: i64,
    /// When, by the organisation's clock.
    pub at: Timestamp,
    /// What the receiver answered with.
    pub status: Option<i64>,
    /// How long it took.
    pub took_ms: i64,
    /// How the answer begins, or why there is none.
    pub answer: String,
}

const INSERT: &str = "INSERT INTO deliveries (org_id, seq, lane, form, body, state, attempts, \
     tries, made_at) VALUES ($1, $2, $3, $4, $5, 'waiting', 0, 0, $6)";
const READY: &str = "SELECT d.seq, d.lane, d.form, d.body, e.data, d.attempts, d.tries, d.made_at, \
     e.id FROM deliveries d JOIN events e ON e.org_id = d.org_id AND e.seq = d.seq \
     WHERE d.org_id = $1 AND d.state = 'waiting' AND d.seq IN ({list})";
const DELIVERED: &str = "UPDATE deliveries SET state = 'delivered', attempts = attempts + 1, \
     tries = tries + 1, done_at = $2 WHERE org_id = $1 AND state = 'waiting' AND seq IN ({list})";
const FAILED: &str = "UPDATE deliveries SET state = $3, attempts = attempts + 1, \
     tries = tries + 1, done_at = $4 \
     WHERE org_id = $1 AND seq = $2 AND state = 'waiting' AND attempts = $5";
const GIVE_UP_LANES: &str = "UPDATE deliveries SET state = 'dead', done_at = $2 \
     WHERE org_id = $1 AND state = 'waiting' AND lane IN ({list})";
const ATTEMPT: &str = "INSERT INTO attempts (org_id, seq, n, at, status, took_ms, answer) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (org_id, seq, n) DO NOTHING";
const PAGE: &str = "SELECT d.seq, e.id, e.kind, e.at, d.lane, d.form, d.state, d.attempts, \
     d.made_at, d.done_at, d.body, e.data FROM deliveries d \
     JOIN events e ON e.org_id = d.org_id AND e.seq = d.seq \
     WHERE d.org_id = $1 AND d.seq < $2 ORDER BY d.seq DESC LIMIT $3";
const PAGE_DEAD: &str = "SELECT d.seq, e.id, e.kind, e.at, d.lane, d.form, d.state, d.attempts, \
     d.made_at, d.done_at, d.body, e.data FROM deliveries d \
     JOIN events e ON e.org_id = d.org_id AND e.seq = d.seq \
     WHERE d.org_id = $1 AND d.seq < $2 AND d.state = 'dead' ORDER BY d.seq DESC LIMIT $3";
const PAGE_WAITING: &str = "SELECT d.seq, e.id, e.kind, e.at, d.lane, d.form, d.state, \
     d.attempts, d.made_at, d.done_at, d.body, e.data FROM deliveries d \
     JOIN events e ON e.org_id = d.org_id AND e.seq = d.seq \
     WHERE d.org_id = $1 AND d.seq < $2 AND d.state = 'waiting' ORDER BY d.seq DESC LIMIT $3";
const PAGE_OF: &str = "SELECT d.seq, e.id, e.kind, e.at, d.lane, d.form, d.state, d.attempts, \
     d.made_at, d.done_at, d.body, e.data FROM deliveries d \
     JOIN events e ON e.org_id = d.org_id AND e.seq = d.seq \
     WHERE d.org_id = $1 AND d.seq < $2 AND d.state = $4 ORDER BY d.seq DESC LIMIT $3";
const PAGE_OF_LANE: &str = "SELECT d.seq, e.id, e.kind, e.at, d.lane, d.form, d.state, \
     d.attempts, d.made_at, d.done_at, d.body, e.data FROM deliveries d \
     JOIN events e ON e.org_id = d.org_id AND e.seq = d.seq \
     WHERE d.org_id = $1 AND d.seq < $2 AND d.seq >= $3 AND d.lane = $4 \
     ORDER BY d.seq DESC LIMIT $5";
const FIND: &str = "SELECT d.seq, e.id, e.kind, e.at, d.lane, d.form, d.state, d.attempts, \
     d.made_at, d.done_at, d.body, e.data FROM deliveries d \
     JOIN events e ON e.org_id = d.org_id AND e.seq = d.seq WHERE d.org_id = $1 AND d.seq = $2";
const ATTEMPTS: &str = "SELECT seq, n, at, status, took_ms, answer FROM attempts \
     WHERE org_id = $1 AND seq = $2 ORDER BY n";
const LAST_ATTEMPTS: &str = "SELECT a.seq, a.n, a.at, a.status, a.took_ms, a.answer \
     FROM deliveries d JOIN attempts a ON a.org_id = d.org_id AND a.seq = d.seq \
     AND a.n = d.attempts WHERE d.org_id = $1 AND d.seq IN ({list})";
const DEAD: &str = "SELECT seq, lane FROM deliveries WHERE org_id = $1 AND state = 'dead' \
     AND seq > $2 ORDER BY seq LIMIT $3";
const WITHIN: &str = "SELECT d.seq, d.lane, d.state, e.at FROM deliveries d \
     JOIN events e ON e.org_id = d.org_id AND e.seq = d.seq \
     WHERE d.org_id = $1 AND d.seq > $2 ORDER BY d.seq LIMIT $3";
const AGAIN: &str = "UPDATE deliveries SET state = 'waiting', tries = 0, done_at = NULL \
     WHERE org_id = $1 AND seq IN ({list})";
const DELAYS: &str = "SELECT made_at, done_at, state FROM deliveries WHERE org_id = $1 \
     AND done_at IS NOT NULL ORDER BY done_at DESC LIMIT $2";
const COUNT_DEAD: &str = "SELECT COUNT(*) FROM (SELECT seq FROM deliveries \
     WHERE org_id = $1 AND state = 'dead' LIMIT $2) AS counted";
const COUNT_WAITING: &str = "SELECT COUNT(*) FROM (SELECT seq FROM deliveries \
     WHERE org_id = $1 AND state = 'waiting' LIMIT $2) AS counted";
const AT: &str = "SELECT at FROM events WHERE org_id = $1 AND seq = $2";
const LAST: &str = "SELECT MAX(seq) FROM events WHERE org_id = $1";
const HAS_OLD: &str = "SELECT seq FROM deliveries WHERE org_id = $1 AND done_at < $2 LIMIT 1";
const OLD: &str = "SELECT seq FROM deliveries WHERE org_id = $1 AND done_at < $2 \
     ORDER BY done_at LIMIT $3";
const FORGET_ATTEMPTS: &str = "DELETE FROM attempts WHERE org_id = $1 AND seq IN ({list})";
const FORGET: &str = "DELETE FROM deliveries WHERE org_id = $1 AND seq IN ({list})";

/// Adds a delivery of an event of the organisation of this write.
pub fn add(
    tx: &mut Tx<'_>,
    org: OrgId,
    (seq, lane): (i64, &str),
    (form, body): (CallbackVersion, Option<String>),
    made_at: Timestamp,
) -> Result<(), StoreError> {
    tx.later(INSERT, args![org, seq, lane, form.name(), body, made_at])
}

/// Those that wait among these, ready to be sent.
pub fn ready(tx: &mut Tx<'_>, org: OrgId, seqs: &[i64]) -> Result<Vec<Ready>, StoreError> {
    let ready = |row: &Row| {
        Ok(Ready {
            seq: row.int(0)?,
            lane: row.text(1)?.to_owned(),
            form: row.parsed(2, |text| CallbackVersion::parse(text).ok_or(()))?,
            body: row.text_or_none(3)?.map_or_else(|| row.text(4), Ok)?.to_owned(),
            attempts: row.int(5)?,
            tries: row.int(6)?,
            made_at: row.time(7)?,
            event: row.parsed(8, EventId::parse)?,
        })
    };
    tx.all_in(READY, args![org], &values(seqs))?.iter().map(ready).collect()
}

/// Notes that the receiver has these.
pub fn delivered(
    tx: &mut Tx<'_>,
    org: OrgId,
    seqs: &[i64],
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.later_in(DELIVERED, args![org, now], &values(seqs))
}

/// Notes that an attempt failed that followed so many; with a moment it was the last one. Told
/// twice, it counts once.
pub fn failed(
    tx: &mut Tx<'_>,
    org: OrgId,
    (seq, attempts): (i64, i64),
    dead_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    let state = if dead_at.is_some() { State::Dead } else { State::Waiting };
    tx.later(FAILED, args![org, seq, state.name(), dead_at, attempts])
}

/// Gives up everything that waits in these lanes.
pub fn give_up(
    tx: &mut Tx<'_>,
    org: OrgId,
    lanes: &[String],
    now: Timestamp,
) -> Result<(), StoreError> {
    let lanes: Vec<_> = lanes.iter().map(Value::from).collect();
    tx.later_in(GIVE_UP_LANES, args![org, now], &lanes)
}

/// Notes attempts.
pub fn attempted(tx: &mut Tx<'_>, org: OrgId, attempts: &[Attempt]) -> Result<(), StoreError> {
    let row = |one: &Attempt| {
        args![org, one.seq, one.n, one.at, one.status, one.took_ms, &one.answer].to_vec()
    };
    tx.later_rows(ATTEMPT, attempts.iter().map(row).collect())
}

/// Deliveries of an organisation, newest first, before that number; all, or those of one state.
pub fn page(
    tx: &mut Tx<'_>,
    org: OrgId,
    before: i64,
    most: i64,
    state: Option<State>,
) -> Result<Vec<Delivery>, StoreError> {
    let rows = match state {
        Some(State::Waiting) => tx.all(PAGE_WAITING, args![org, before, most])?,
        Some(State::Dead) => tx.all(PAGE_DEAD, args![org, before, most])?,
        Some(state) => tx.all(PAGE_OF, args![org, before, most, state.name()])?,
        None => tx.all(PAGE, args![org, before, most])?,
    };
    rows.iter().map(delivery).collect()
}

/// Deliveries of a lane, newest first, from before one number down to another.
pub fn page_of_lane(
    tx: &mut Tx<'_>,
    (org, lane): (OrgId, &str),
    (before, down_to): (i64, i64),
    most: i64,
) -> Result<Vec<Delivery>, StoreError> {
    let rows = tx.all(PAGE_OF_LANE, args![org, before, down_to, lane, most])?;
    rows.iter().map(delivery).collect()
}

/// The delivery of an event, with its attempts.
pub fn find(
    tx: &mut Tx<'_>,
    org: OrgId,
    seq: i64,
) -> Result<Option<(Delivery, Vec<Attempt>)>, StoreError> {
    let Some(row) = tx.maybe(FIND, args![org, seq])? else { return Ok(None) };
    let attempts = tx.all(ATTEMPTS, args![org, seq])?;
    let attempts = attempts.iter().map(attempt).collect::<Result<_, _>>()?;
    Ok(Some((delivery(&row)?, attempts)))
}

/// The last attempt of each of these that was tried, in no order.
pub fn last_attempts(
    tx: &mut Tx<'_>,
    org: OrgId,
    seqs: &[i64],
) -> Result<Vec<Attempt>, StoreError> {
    tx.all_in(LAST_ATTEMPTS, args![org], &values(seqs))?.iter().map(attempt).collect()
}

/// Dead deliveries after that number, each with its lane.
pub fn dead(
    tx: &mut Tx<'_>,
    org: OrgId,
    after: i64,
    most: i64,
) -> Result<Vec<(i64, String)>, StoreError> {
    let rows = tx.all(DEAD, args![org, after, most])?;
    rows.iter().map(|row| Ok((row.int(0)?, row.text(1)?.to_owned()))).collect()
}

/// A delivery, as far as sending it again goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The number of its event.
    pub seq: i64,
    /// Its lane.
    pub lane: String,
    /// How far it is.
    pub state: State,
    /// When the event was.
    pub at: Timestamp,
}

/// Deliveries after that number, in order.
pub fn after(tx: &mut Tx<'_>, org: OrgId, after: i64, most: i64) -> Result<Vec<Sent>, StoreError> {
    let sent = |row: &Row| {
        Ok(Sent {
            seq: row.int(0)?,
            lane: row.text(1)?.to_owned(),
            state: row.parsed(2, |text| State::parse(text).ok_or(()))?,
            at: row.time(3)?,
        })
    };
    tx.all(WITHIN, args![org, after, most])?.iter().map(sent).collect()
}

/// Lets these wait for a full set of attempts again.
pub fn again(tx: &mut Tx<'_>, org: OrgId, seqs: &[i64]) -> Result<(), StoreError> {
    tx.later_in(AGAIN, args![org], &values(seqs))
}

/// When the newest deliveries were delivered, newest first, and how long each took from being
/// made, in milliseconds.
pub fn delays(tx: &mut Tx<'_>, org: OrgId, most: i64) -> Result<Vec<(Timestamp, i64)>, StoreError> {
    let mut delays = Vec::new();
    for row in tx.all(DELAYS, args![org, most])? {
        if row.text(2)? == State::Delivered.name() {
            delays.push((row.time(1)?, row.int(1)? - row.int(0)?));
        }
    }
    Ok(delays)
}

/// How many wait, and how many are dead; neither is counted beyond a bound.
pub fn counts(tx: &mut Tx<'_>, org: OrgId) -> Result<(i64, i64), StoreError> {
    let most = limits::DELIVERIES_COUNTED_MAX;
    let waiting = tx.one(COUNT_WAITING, args![org, most])?.int(0)?;
    Ok((waiting, tx.one(COUNT_DEAD, args![org, most])?.int(0)?))
}

/// The number of an event before which all are older than a moment, nearly: found by halving, since
/// events are numbered in the order they came.
pub fn before(tx: &mut Tx<'_>, org: OrgId, moment: Timestamp) -> Result<i64, StoreError> {
    let early = moment.minus(limits::RECORD_AHEAD);
    let (mut low, mut high) = (0, tx.one(LAST, args![org])?.int_or_none(0)?.unwrap_or(0));
    while low < high {
        let middle = low + (high - low) / 2 + 1;
        let at = tx.maybe(AT, args![org, middle])?.map(|row| row.time(0)).transpose()?;
        if at.is_some_and(|at| at < early) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Ok(low)
}

/// Whether something was done before a moment.
pub fn has_old(tx: &mut Tx<'_>, org: OrgId, before: Timestamp) -> Result<bool, StoreError> {
    Ok(tx.maybe(HAS_OLD, args![org, before])?.is_some())
}

/// Forgets deliveries that were done before a moment, so many at most.
pub fn forget(tx: &mut Tx<'_>, org: OrgId, before: Timestamp, most: i64) -> Result<(), StoreError> {
    let rows = tx.all(OLD, args![org, before, most])?;
    let old = rows.iter().map(|row| row.int(0)).collect::<Result<Vec<_>, _>>()?;
    tx.later_in(FORGET_ATTEMPTS, args![org], &values(&old))?;
    tx.later_in(FORGET, args![org], &values(&old))
}

fn values(seqs: &[i64]) -> Vec<Value> {
    seqs.iter().copied().map(Value::Int).collect()
}

fn delivery(row: &Row) -> Result<Delivery, StoreError> {
    Ok(Delivery {
        seq: row.int(0)?,
        event: row.parsed(1, EventId::parse)?,
        kind: row.text(2)?.to_owned(),
        at: row.time(3)?,
        lane: row.text(4)?.to_owned(),
        form: row.parsed(5, |text| CallbackVersion::parse(text).ok_or(()))?,
        state: row.parsed(6, |text| State::parse(text).ok_or(()))?,
        attempts: row.int(7)?,
        made_at: row.time(8)?,
        done_at: row.time_or_none(9)?,
        body: row.text_or_none(10)?.map_or_else(|| row.text(11), Ok)?.to_owned(),
    })
}

fn attempt(row: &Row) -> Result<Attempt, StoreError> {
    Ok(Attempt {
        seq: row.int(0)?,
        n: row.int(1)?,
        at: row.time(2)?,
        status: row.int_or_none(3)?,
        took_ms: row.int(4)?,
        answer: row.text(5)?.to_owned(),
    })
}
