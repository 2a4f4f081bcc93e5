//! The ledger: entries that are only added, each hashed together with the one before, and the
//! balances beside them in the organisation's head row.

use domain::ledger::{Account, Entry, Facts, Posting, canonical_bytes, write_postings};
use domain::{OrgId, Timestamp};
use ring::digest::{Context, SHA256};

use crate::{Row, StoreError, Tx, args};

/// Why an entry was not posted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The organisation does not have that much.
    #[error("account {} would fall below zero", .0.name())]
    Overdrawn(Account),
    /// A balance would not fit.
    #[error("balance out of range")]
    OutOfRange,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An entry as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// Its number, from 1 on without a gap.
    pub seq: i64,
    /// When, by the organisation's clock.
    pub at: Timestamp,
    /// Name of its kind.
    pub kind: String,
    /// The thing that caused it.
    pub reference: String,
    /// Why.
    pub reason: String,
    /// What moves, as one line.
    pub postings: String,
    /// The hash of all this and of the entry before.
    pub hash: Vec<u8>,
}

impl Posted {
    /// The hash it should have after an entry with the hash `before`.
    pub fn expected_hash(&self, org: OrgId, before: Option<&[u8]>) -> Vec<u8> {
        chained(before, &self.facts(org))
    }

    fn facts(&self, org: OrgId) -> Facts<'_> {
        Facts {
            org,
            seq: self.seq,
            at: self.at,
            kind: &self.kind,
            reference: &self.reference,
            reason: &self.reason,
            postings: &self.postings,
        }
    }
}

const INSERT: &str = "INSERT INTO ledger_entries (org_id, seq, at, kind, reference, reason, \
     postings, hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const PAGE: &str = "SELECT seq, at, kind, reference, reason, postings, hash FROM ledger_entries \
     WHERE org_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";
const PAGE_BEFORE: &str = "SELECT seq, at, kind, reference, reason, postings, hash \
     FROM ledger_entries WHERE org_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3";
const CLOSE: &str = "INSERT INTO closings (org_id, day, balance) VALUES ($1, $2, $3) \
     ON CONFLICT (org_id, day) DO UPDATE SET balance = excluded.balance";
const CLOSINGS: &str = "SELECT day, balance FROM closings WHERE org_id = $1 AND day >= $2 \
     ORDER BY day";
const CLOSED_BEFORE: &str = "SELECT day, balance FROM closings WHERE org_id = $1 AND day < $2 \
     ORDER BY day DESC LIMIT 1";
const FIRST_SINCE: &str = "SELECT MIN(seq) FROM ledger_entries WHERE org_id = $1 AND at >= $2";

/// Posts an entry of the organisation this write belongs to. The only way to move a balance.
pub fn post(tx: &mut Tx<'_>, at: Timestamp, entry: &Entry) -> Result<i64, Error> {
    let org = tx.org().ok_or_else(no_head)?;
    let head = tx.head_mut().ok_or_else(no_head)?;
    let mut balances = head.balances;
    for Posting { account, amount } in entry.postings() {
        let balance = &mut balances[*account as usize];
        *balance = balance.checked_add(*amount).ok_or(Error::OutOfRange)?;
        if account.is_owned() && *balance < 0 {
            return Err(Error::Overdrawn(*account));
        }
    }
    let posted = Posted {
        seq: head.ledger_seq + 1,
        at,
        kind: entry.kind().name().to_owned(),
        reference: entry.reference().to_owned(),
        reason: entry.reason().to_owned(),
        postings: write_postings(entry.postings()),
        hash: Vec::new(),
    };
    let available = Account::Available as usize;
    if balances[available] > head.balances[available] {
        head.short_told = 0;
    }
    let hash = posted.expected_hash(org, head.ledger_hash.as_deref());
    let closed = head.ledger_day.filter(|day| *day < at.day());
    let closed = closed.map(|day| (day, head.balances[available]));
    head.ledger_day = head.ledger_day.max(Some(at.day()));
    head.balances = balances;
    head.ledger_seq = posted.seq;
    head.ledger_hash = Some(hash.clone());
    let Posted { seq, kind, reference, reason, postings, .. } = posted;
    tx.later(INSERT, args![org, seq, at, kind, reference, reason, postings, hash])?;
    if let Some((day, balance)) = closed {
        tx.later(CLOSE, args![org, day, balance])?;
    }
    Ok(seq)
}

/// Entries of an organisation in order, after that number.
pub fn page(tx: &mut Tx<'_>, org: OrgId, after: i64, most: i64) -> Result<Vec<Posted>, StoreError> {
    tx.all(PAGE, args![org, after, most])?.iter().map(posted).collect()
}

/// The same from the newest on, before that number.
pub fn page_before(
    tx: &mut Tx<'_>,
    org: OrgId,
    before: i64,
    most: i64,
) -> Result<Vec<Posted>, StoreError> {
    tx.all(PAGE_BEFORE, args![org, before, most])?.iter().map(posted).collect()
}

/// The balances at the ends of days on which something was posted, from that day on, and the last
/// one before. The day of the last entry is not over: its balance is in the head row.
pub fn closings(tx: &mut Tx<'_>, org: OrgId, from: i64) -> Result<Vec<(i64, i64)>, StoreError> {
    let before = tx.maybe(CLOSED_BEFORE, args![org, from])?;
    let rows = tx.all(CLOSINGS, args![org, from])?;
    before.iter().chain(&rows).map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
}

/// The first entry at or after a moment.
pub fn first_since(
    tx: &mut Tx<'_>,
    org: OrgId,
    since: Timestamp,
) -> Result<Option<i64>, StoreError> {
    tx.one(FIRST_SINCE, args![org, since])?.int_or_none(0)
}

fn posted(row: &Row) -> Result<Posted, StoreError> {
    Ok(Posted {
        seq: row.int(0)?,
        at: row.time(1)?,
        kind: row.text(2)?.to_owned(),
        reference: row.text(3)?.to_owned(),
        reason: row.text(4)?.to_owned(),
        postings: row.text(5)?.to_owned(),
        hash: row.bytes(6)?.to_vec(),
    })
}

fn chained(before: Option<&[u8]>, facts: &Facts<'_>) -> Vec<u8> {
    let mut context = Context::new(&SHA256);
    context.update(before.unwrap_or(&[0; 32]));
    context.update(&canonical_bytes(facts));
    context.finish().as_ref().to_vec()
}

fn no_head() -> StoreError {
    StoreError::Refused("an entry outside a write of its organisation".to_owned())
}
