//! Records of networks and installation servers: each counts once, for ever.

use std::collections::HashSet;

use domain::{Iccid, OrgId, Timestamp};
use ring::digest::{Context, SHA256};

use crate::{Row, StoreError, Tx, Value, args};

/// A record, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Who made it.
    pub source: String,
    /// Its id there.
    pub id: String,
    /// The eSIM it is about.
    pub iccid: Iccid,
    /// What it tells.
    pub kind: &'static str,
    /// When that was.
    pub at: Timestamp,
    /// When we heard of it.
    pub arrived_at: Timestamp,
    /// Data used.
    pub bytes: i64,
    /// How much of that nobody paid for.
    pub overshoot: i64,
    /// Where, as an ISO code; may be empty.
    pub country: String,
    /// On which network; may be empty.
    pub network: String,
}

/// What a record is known by.
pub type Digest = [u8; 16];

impl Record {
    /// What it is known by, from its source and its id.
    pub fn digest(&self) -> Digest {
        let mut context = Context::new(&SHA256);
        context.update(&(self.source.len() as u64).to_be_bytes());
        context.update(self.source.as_bytes());
        context.update(self.id.as_bytes());
        let mut short = [0; 16];
        short.copy_from_slice(&context.finish().as_ref()[..16]);
        short
    }
}

/// A record of an eSIM that no organisation has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Who made it.
    pub source: String,
    /// Its id there.
    pub id: String,
    /// The eSIM it is about.
    pub iccid: Iccid,
    /// What it tells.
    pub kind: String,
    /// When that was.
    pub at: Timestamp,
    /// When we last heard of it.
    pub arrived_at: Timestamp,
    /// Data used.
    pub bytes: i64,
}

const INSERT: &str = "INSERT INTO records (digest, source, id, org_id, iccid, kind, at, \
     arrived_at, bytes, overshoot, country, network) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
     ON CONFLICT (digest) DO NOTHING RETURNING digest";
const OVERSHOOT: &str = "UPDATE records SET overshoot = $2 WHERE digest = $1";
const KNOWN: &str = "SELECT digest FROM records WHERE digest IN ({list})";
const OLD: &str = "SELECT digest FROM records WHERE kind <> '' AND arrived_at < $1 \
     ORDER BY arrived_at LIMIT $2";
const EMPTY: &str = "UPDATE records SET source = '', id = '', iccid = '', kind = '', country = '', \
     network = '' WHERE digest IN ({list})";
const STRAY: &str = "INSERT INTO strays (digest, source, id, iccid, kind, at, arrived_at, bytes) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
     ON CONFLICT (digest) DO UPDATE SET arrived_at = excluded.arrived_at";
const STRAYS: &str = "SELECT source, id, iccid, kind, at, arrived_at, bytes FROM strays \
     ORDER BY arrived_at DESC, digest LIMIT $1";
const ANY_STRAY: &str = "SELECT MIN(arrived_at) FROM strays";
const FOUND: &str = "DELETE FROM strays WHERE digest IN ({list})";
const FORGET_STRAYS: &str = "DELETE FROM strays WHERE arrived_at < $1";

/// Keeps records and says which of them were not known. What comes twice is new once.
pub fn add(tx: &mut Tx<'_>, org: OrgId, records: &[Record]) -> Result<HashSet<Digest>, StoreError> {
    let mut rows: Vec<_> = records.iter().map(|record| row(org, record)).collect();
    // Always in one order, so that two nodes that bring the same never wait for each other.
    rows.sort_by(|one, other| bytes(one).cmp(bytes(other)));
    rows.dedup_by(|one, other| bytes(one) == bytes(other));
    let new = tx.all_rows(INSERT, rows)?;
    new.iter().map(digest).collect()
}

fn row(org: OrgId, record: &Record) -> Vec<Value> {
    let Record { source, id, iccid, kind, at, arrived_at, bytes, overshoot, country, network } =
        record;
    let known_by = record.digest();
    args![
        &known_by[..],
        source,
        id,
        org,
        iccid,
        *kind,
        *at,
        *arrived_at,
        *bytes,
        *overshoot,
        country,
        network
    ]
    .to_vec()
}

fn bytes(row: &[Value]) -> &[u8] {
    match row.first() {
        Some(Value::Bytes(bytes)) => bytes,
        _ => &[],
    }
}

fn digest(row: &Row) -> Result<Digest, StoreError> {
    let odd = || StoreError::Corrupt { column: 0, row: "a record".to_owned() };
    row.bytes(0)?.try_into().map_err(|_| odd())
}

/// Notes how much of a record nobody paid for.
pub fn put_overshoot(tx: &mut Tx<'_>, record: &Record) -> Result<(), StoreError> {
    tx.later(OVERSHOOT, args![&record.digest()[..], record.overshoot])
}

/// Empties records that came before a moment, so many at most; says how many. That they came is
/// never forgotten.
pub fn empty_old(tx: &mut Tx<'_>, before: Timestamp, most: i64) -> Result<usize, StoreError> {
    let old = tx.all(OLD, args![before, most])?;
    let old = old.iter().map(|row| row.bytes(0).map(Value::from)).collect::<Result<Vec<_>, _>>()?;
    tx.later_in(EMPTY, &[], &old)?;
    Ok(old.len())
}

/// Which of these were known before.
pub fn known(tx: &mut Tx<'_>, records: &[Record]) -> Result<HashSet<Digest>, StoreError> {
    let digests: Vec<_> = records.iter().map(|record| Value::from(&record.digest()[..])).collect();
    tx.all_in(KNOWN, &[], &digests)?.iter().map(digest).collect()
}

/// Keeps records of eSIMs that no organisation has, each once.
pub fn stray(tx: &mut Tx<'_>, records: &[Record]) -> Result<(), StoreError> {
    let row = |record: &Record| {
        let Record { source, id, iccid, kind, at, arrived_at, bytes, .. } = record;
        let known_by = record.digest();
        args![&known_by[..], source, id, iccid, *kind, *at, *arrived_at, *bytes].to_vec()
    };
    let mut rows: Vec<_> = records.iter().map(row).collect();
    rows.sort_by(|one, other| bytes(one).cmp(bytes(other)));
    rows.dedup_by(|one, other| bytes(one) == bytes(other));
    tx.later_rows(STRAY, rows)
}

/// Forgets strays that have found their organisation.
pub fn found(tx: &mut Tx<'_>, digests: &[Digest]) -> Result<(), StoreError> {
    // There are hardly ever any.
    if tx.one(ANY_STRAY, &[])?.int_or_none(0)?.is_none() {
        return Ok(());
    }
    let digests: Vec<_> = digests.iter().map(|digest| Value::from(&digest[..])).collect();
    tx.later_in(FOUND, &[], &digests)
}

/// Records of eSIMs that no organisation has, newest first.
pub fn strays(tx: &mut Tx<'_>, most: i64) -> Result<Vec<Stray>, StoreError> {
    let stray = |row: &Row| {
        Ok(Stray {
            source: row.text(0)?.to_owned(),
            id: row.text(1)?.to_owned(),
            iccid: row.parsed(2, Iccid::parse)?,
            kind: row.text(3)?.to_owned(),
            at: row.time(4)?,
            arrived_at: row.time(5)?,
            bytes: row.int(6)?,
        })
    };
    tx.all(STRAYS, args![most])?.iter().map(stray).collect()
}

/// Forgets strays that nobody has claimed since.
pub fn forget_strays(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64, StoreError> {
    tx.exec(FORGET_STRAYS, args![before])
}
