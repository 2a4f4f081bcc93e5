//! What happened to eSIMs, and where they have been.

use domain::esim::{Entry, EntryKind};
use domain::filter::Page;
use domain::{Iccid, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, Value, args};

const INSERT: &str = "INSERT INTO esim_history (org_id, iccid, at, kind, bundle, state, percent) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";
const COUNT: &str = "SELECT COUNT(*) FROM esim_history WHERE org_id = $1 AND iccid = $2";
const PAGE: &str = "SELECT at, kind, bundle, state, percent FROM esim_history \
     WHERE org_id = $1 AND iccid = $2 ORDER BY id DESC LIMIT $3 OFFSET $4";
const VISITS: &str = "SELECT iccid, country, told_at FROM esim_visits \
     WHERE org_id = $1 AND iccid IN ({list})";
const VISIT: &str = "INSERT INTO esim_visits (iccid, country, told_at, org_id) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (iccid, country, org_id) \
     DO UPDATE SET told_at = excluded.told_at";

/// Adds entries, in order.
pub fn add(tx: &mut Tx<'_>, org: OrgId, entries: &[(Iccid, Entry)]) -> Result<(), StoreError> {
    let rows = entries.iter().map(|(iccid, entry)| {
        let Entry { at, kind, bundle, percent } = entry;
        let (bundle, state) = match bundle {
            Some((bundle, state)) => (Some(bundle.as_str()), Some(state.as_str())),
            None => (None, None),
        };
        args![org, iccid, *at, kind.name(), bundle, state, *percent].to_vec()
    });
    tx.later_rows(INSERT, rows.collect())
}

/// The history of an eSIM, newest first, all of it unless a page is asked for; and how long it is.
pub fn list(
    tx: &mut Tx<'_>,
    org: OrgId,
    iccid: &Iccid,
    page: Option<Page>,
) -> Result<(Vec<Entry>, i64), StoreError> {
    let count = tx.one(COUNT, args![org, iccid])?.int(0)?;
    let (limit, offset) = page.map_or((count, 0), |page| (page.size, page.offset()));
    let rows = tx.all(PAGE, args![org, iccid, limit, offset])?;
    Ok((rows.iter().map(entry).collect::<Result<_, _>>()?, count))
}

/// When the owner of some eSIMs was last told that they are in a country, for each country.
pub fn visits(
    tx: &mut Tx<'_>,
    org: OrgId,
    iccids: &[Iccid],
) -> Result<Vec<(Iccid, String, Timestamp)>, StoreError> {
    let iccids: Vec<_> = iccids.iter().map(Value::from).collect();
    let rows = tx.all_in(VISITS, args![org], &iccids)?;
    let visit =
        |row: &Row| Ok((row.parsed(0, Iccid::parse)?, row.text(1)?.to_owned(), row.time(2)?));
    rows.iter().map(visit).collect()
}

/// Notes that it was told.
pub fn visit(
    tx: &mut Tx<'_>,
    (org, iccid): (OrgId, &Iccid),
    country: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    tx.later(VISIT, args![iccid, country, at, org])
}

fn entry(row: &Row) -> Result<Entry, StoreError> {
    let state = row.text_or_none(3)?.unwrap_or_default();
    Ok(Entry {
        at: row.time(0)?,
        kind: row.parsed(1, |text| EntryKind::parse(text).ok_or(()))?,
        bundle: row.text_or_none(2)?.map(|bundle| (bundle.to_owned(), state.to_owned())),
        percent: row.int_or_none(4)?,
    })
}
