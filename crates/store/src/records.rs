//! Records of networks and installation servers: each counts once, for ever.

use domain::{Iccid, OrgId, Timestamp};

use crate::{StoreError, Tx, args};

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
    /// When we heard of it, by the organisation's clock.
    pub arrived_at: Timestamp,
    /// Data used.
    pub bytes: i64,
    /// How much of that nobody paid for.
    pub overshoot: i64,
    /// Where; may be empty.
    pub country: String,
    /// On which network; may be empty.
    pub network: String,
}

const INSERT: &str = "INSERT INTO records (source, id, org_id, iccid, kind, at, arrived_at, \
     bytes, overshoot, country, network) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
     ON CONFLICT (source, id) DO NOTHING RETURNING id";
const OVERSHOOT: &str = "UPDATE records SET overshoot = $3 WHERE source = $1 AND id = $2";

/// Keeps a record; false if it was known.
pub fn add(tx: &mut Tx<'_>, org: OrgId, record: &Record) -> Result<bool, StoreError> {
    let Record { source, id, iccid, kind, at, arrived_at, bytes, overshoot, country, network } =
        record;
    let args = args![
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
    ];
    Ok(tx.maybe(INSERT, args)?.is_some())
}

/// Notes how much of a record nobody paid for.
pub fn put_overshoot(tx: &mut Tx<'_>, record: &Record) -> Result<(), StoreError> {
    tx.later(OVERSHOOT, args![&record.source, &record.id, record.overshoot])
}
