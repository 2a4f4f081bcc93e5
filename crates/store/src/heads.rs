//! The head of an organisation: the one row that every write of it locks first, holding what is
//! counted per organisation.

use domain::ledger::Account;
use domain::{OrgId, Timestamp};

use crate::{Row, StoreError, Tx, Value, args};

/// What is counted per organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The last number given to an event of this organisation; the next one follows without a gap.
    pub event_seq: i64,
    /// The last number given to an order of this organisation.
    pub order_seq: i64,
    /// How many eSIMs it has.
    pub esims: i64,
    /// When the promotional credit ends.
    pub test_credit_expires_at: Option<Timestamp>,
    /// Since when there is promotional credit without a break: before, it was another pot.
    pub test_credit_since: Option<Timestamp>,
    /// How far the clock of a sandbox organisation runs ahead. Only grows.
    pub clock_offset_ms: i64,
    /// Since when asynchronous work of a sandbox organisation waits.
    pub held_at: Option<Timestamp>,
    /// How often it was told of a lack of money since its balance rose.
    pub short_told: i64,
    pub(crate) ledger_seq: i64,
    pub(crate) ledger_hash: Option<Vec<u8>>,
    /// The day of the last entry, counted from 1970.
    pub(crate) ledger_day: Option<i64>,
    /// In the order of `Account::ALL`. Only the ledger moves them.
    pub(crate) balances: [i64; 8],
}

impl Head {
    /// The organisation's own time at the wall-clock time `now`.
    pub fn clock(&self, now: Timestamp) -> Timestamp {
        now.plus_ms(self.clock_offset_ms)
    }

    /// What is on an account, in minor units.
    pub fn on(&self, account: Account) -> i64 {
        self.balances[account as usize]
    }

    /// How many entries its ledger has.
    pub fn ledger_seq(&self) -> i64 {
        self.ledger_seq
    }

    /// The last day on which something was posted, counted from 1970, as far as that was noted.
    pub fn ledger_day(&self) -> Option<i64> {
        self.ledger_day
    }

    /// The hash of the last of them; none before the first.
    pub fn ledger_hash(&self) -> Option<&[u8]> {
        self.ledger_hash.as_deref()
    }
}

const LOCK: &str = "SELECT event_seq, test_credit_expires_at, clock_offset_ms, held_at, \
     ledger_seq, ledger_hash, balance, held, test_credit, card, sales, refunds, breakage, \
     operator_credit, order_seq, test_credit_since, esims, short_told, ledger_day FROM org_heads \
     WHERE org_id = $1 {for update}";
const FIND: &str = "SELECT event_seq, test_credit_expires_at, clock_offset_ms, held_at, \
     ledger_seq, ledger_hash, balance, held, test_credit, card, sales, refunds, breakage, \
     operator_credit, order_seq, test_credit_since, esims, short_told, ledger_day FROM org_heads \
     WHERE org_id = $1";
const PAGE: &str = "SELECT event_seq, test_credit_expires_at, clock_offset_ms, held_at, \
     ledger_seq, ledger_hash, balance, held, test_credit, card, sales, refunds, breakage, \
     operator_credit, order_seq, test_credit_since, esims, short_told, ledger_day, org_id \
     FROM org_heads WHERE org_id > $1 ORDER BY org_id LIMIT $2";
const SAVE: &str = "UPDATE org_heads SET event_seq = $2, test_credit_expires_at = $3, \
     clock_offset_ms = $4, held_at = $5, ledger_seq = $6, ledger_hash = $7, balance = $8, \
     held = $9, test_credit = $10, card = $11, sales = $12, refunds = $13, breakage = $14, \
     operator_credit = $15, order_seq = $16, test_credit_since = $17, \
     esims = $18, short_told = $19, ledger_day = $20 WHERE org_id = $1";
const INSERT: &str = "INSERT INTO org_heads (org_id, event_seq, balance, test_credit, \
     clock_offset_ms) VALUES ($1, 0, 0, 0, 0)";
const OF_ORGS: &str = "SELECT event_seq, test_credit_expires_at, clock_offset_ms, held_at, \
     ledger_seq, ledger_hash, balance, held, test_credit, card, sales, refunds, breakage, \
     operator_credit, order_seq, test_credit_since, esims, short_told, ledger_day, org_id \
     FROM org_heads WHERE org_id IN ({list})";
const SET_CLOCK: &str = "UPDATE org_heads SET clock_offset_ms = $2 WHERE org_id = $1";

/// Locks the row until the transaction ends.
pub(crate) fn lock(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<Head>, StoreError> {
    tx.maybe(LOCK, args![org])?.map(|row| head(&row)).transpose()
}

/// Looks without locking. Within a write of that organisation it is the head at hand, which may
/// hold changes that are not in the table yet.
pub fn find(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<Head>, StoreError> {
    if tx.org() == Some(org) {
        return Ok(tx.head().cloned());
    }
    tx.maybe(FIND, args![org])?.map(|row| head(&row)).transpose()
}

/// Heads in the order of their organisations, after the given one.
pub fn page(tx: &mut Tx<'_>, after: OrgId, most: i64) -> Result<Vec<(OrgId, Head)>, StoreError> {
    let rows = tx.all(PAGE, args![after, most])?;
    rows.iter().map(|row| Ok((row.parsed(19, OrgId::parse)?, head(row)?))).collect()
}

/// Sets the clock of a new organisation.
pub fn set_clock(tx: &mut Tx<'_>, org: OrgId, offset_ms: i64) -> Result<(), StoreError> {
    tx.exec(SET_CLOCK, args![org, offset_ms]).map(drop)
}

/// Those of these organisations.
pub fn of_orgs(tx: &mut Tx<'_>, orgs: &[OrgId]) -> Result<Vec<(OrgId, Head)>, StoreError> {
    let orgs: Vec<_> = orgs.iter().copied().map(Value::from).collect();
    let rows = tx.all_in(OF_ORGS, &[], &orgs)?;
    rows.iter().map(|row| Ok((row.parsed(19, OrgId::parse)?, head(row)?))).collect()
}

/// The head of a new organisation: nothing counted yet.
pub fn insert(tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
    tx.exec(INSERT, args![org]).map(drop)
}

/// The statement that writes a head back; the writer runs it once per group.
pub(crate) fn saving(org: OrgId, head: &Head) -> (&'static str, Vec<Value>) {
    let mut args = args![
        org,
        head.event_seq,
        head.test_credit_expires_at,
        head.clock_offset_ms,
        head.held_at,
        head.ledger_seq,
        head.ledger_hash.clone()
    ]
    .to_vec();
    args.extend(head.balances.map(Value::Int));
    args.extend([Value::Int(head.order_seq), Value::from(head.test_credit_since)]);
    args.extend([Value::Int(head.esims), Value::Int(head.short_told)]);
    args.push(Value::from(head.ledger_day));
    (SAVE, args)
}

fn head(row: &Row) -> Result<Head, StoreError> {
    let mut balances = [0; 8];
    for (at, balance) in balances.iter_mut().enumerate() {
        *balance = row.int(6 + at)?;
    }
    Ok(Head {
        event_seq: row.int(0)?,
        test_credit_expires_at: row.time_or_none(1)?,
        clock_offset_ms: row.int(2)?,
        held_at: row.time_or_none(3)?,
        ledger_seq: row.int(4)?,
        ledger_hash: row.bytes_or_none(5)?.map(<[u8]>::to_vec),
        balances,
        order_seq: row.int(14)?,
        test_credit_since: row.time_or_none(15)?,
        esims: row.int(16)?,
        short_told: row.int(17)?,
        ledger_day: row.int_or_none(18)?,
    })
}
