//! Forgetting a person: what tells of the end user of an eSIM is emptied, a piece at a time. What
//! was paid for, put on it and used stays.

use std::collections::BTreeMap;

use domain::esim::Esim;
use domain::{Iccid, OrgId};

use crate::usage::{self, Sum};
use crate::{StoreError, Tx, Value, args, esims, shares};

const ESIM: &str = "UPDATE esims SET customer_ref = '', customer_ref_lower = '', msisdn = NULL, \
     seen_at = NULL, seen_country = '', seen_network = '' WHERE iccid = $1 AND org_id = $2";
const VISITS: &str = "DELETE FROM esim_visits WHERE iccid = $1 AND org_id = $2";
const MESSAGES: &str = "SELECT id FROM messages WHERE org_id = $1 AND iccid = $2 \
     ORDER BY id LIMIT $3";
const DROP_MESSAGES: &str = "DELETE FROM messages WHERE id IN ({list})";
const RECORDS: &str = "SELECT digest FROM records WHERE iccid = $1 AND country <> '' \
     AND org_id = $2 LIMIT $3";
const EMPTY_RECORDS: &str = "UPDATE records SET country = '', network = '' \
     WHERE digest IN ({list})";
const SUMS: &str = "SELECT hour, country, bytes FROM usage_sums WHERE org_id = $1 AND iccid = $2 \
     AND country <> '' ORDER BY hour, country LIMIT $3";
const DROP_SUM: &str = "DELETE FROM usage_sums WHERE org_id = $1 AND iccid = $2 AND hour = $3 \
     AND country = $4";
const BY_NOTE: &str = "SELECT iccid FROM esims WHERE org_id = $1 AND customer_ref = $2 \
     AND customer_ref <> '' ORDER BY iccid LIMIT $3";
const WAS_ON: &str = "SELECT iccid FROM assignments WHERE org_id = $1 AND iccid IN ({list}) \
     GROUP BY iccid";
const EVENTS: &str = "SELECT seq, data FROM events WHERE org_id = $1 \
     AND kind IN ('CountryChange', 'SMSFailed') AND seq > $2 ORDER BY seq LIMIT $3";
const PUT_EVENT: &str = "UPDATE events SET data = $3 WHERE org_id = $1 AND seq = $2";
const BODIES: &str = "SELECT seq, body FROM deliveries WHERE org_id = $1 AND seq IN ({list}) \
     AND body IS NOT NULL";
const PUT_BODY: &str = "UPDATE deliveries SET body = $3 WHERE org_id = $1 AND seq = $2";
const EMPTY_ANSWERS: &str = "UPDATE attempts SET answer = '' WHERE org_id = $1 AND seq IN ({list})";

/// Numbers of the eSIMs with that note, at most so many.
pub fn noted(tx: &mut Tx<'_>, org: OrgId, note: &str, most: i64) -> Result<Vec<Iccid>, StoreError> {
    let rows = tx.all(BY_NOTE, args![org, note, most])?;
    rows.iter().map(|row| row.parsed(0, Iccid::parse)).collect()
}

/// Those of these eSIMs that an organisation has, and those that have left it: none is ever issued
/// without a bundle, which stays known.
pub fn own(tx: &mut Tx<'_>, org: OrgId, iccids: &[Iccid]) -> Result<Vec<Esim>, StoreError> {
    let mut found = esims::of_org(tx, org, iccids)?;
    let is_away = |iccid: &&Iccid| found.iter().all(|esim| esim.iccid != **iccid);
    let away: Vec<_> = iccids.iter().filter(is_away).map(Value::from).collect();
    let left = tx.all_in(WAS_ON, args![org], &away)?;
    let left = left.iter().map(|row| row.parsed(0, Iccid::parse)).collect::<Result<Vec<_>, _>>()?;
    found.extend(esims::of_org(tx, OrgId::HOUSE, &left)?);
    Ok(found)
}

/// Empties what an eSIM itself says of its user: note, number, where it was. Links to it are gone.
pub fn esim(tx: &mut Tx<'_>, org: OrgId, iccid: &Iccid) -> Result<(), StoreError> {
    tx.later(ESIM, args![iccid, org])?;
    tx.later(VISITS, args![iccid, org])?;
    shares::remove_all(tx, org, iccid)
}

/// Forgets its messages and the places of its records, and adds its usage up without countries; at
/// most so many rows of each. Says whether there may be more.
pub fn rows(tx: &mut Tx<'_>, org: OrgId, iccid: &Iccid, most: i64) -> Result<bool, StoreError> {
    let messages = tx.all(MESSAGES, args![org, iccid, most])?;
    let messages =
        messages.iter().map(|row| row.int(0).map(Value::Int)).collect::<Result<Vec<_>, _>>()?;
    tx.later_in(DROP_MESSAGES, &[], &messages)?;
    let records = tx.all(RECORDS, args![iccid, org, most])?;
    let records =
        records.iter().map(|row| row.bytes(0).map(Value::from)).collect::<Result<Vec<_>, _>>()?;
    tx.later_in(EMPTY_RECORDS, &[], &records)?;
    let summed = sums(tx, org, iccid, most)?;
    let is_full = |count: usize| i64::try_from(count) == Ok(most);
    Ok([messages.len(), records.len(), summed].into_iter().any(is_full))
}

/// The hours stay, the countries go.
fn sums(tx: &mut Tx<'_>, org: OrgId, iccid: &Iccid, most: i64) -> Result<usize, StoreError> {
    let mut hours: BTreeMap<i64, i64> = BTreeMap::new();
    let rows = tx.all(SUMS, args![org, iccid, most])?;
    for row in &rows {
        *hours.entry(row.int(0)?).or_default() += row.int(2)?;
        tx.later(DROP_SUM, args![org, iccid, row.int(0)?, row.text(1)?])?;
    }
    let sum = |(hour, bytes)| (Some(iccid.clone()), Sum { hour, country: String::new(), bytes });
    usage::add(tx, org, &hours.into_iter().map(sum).collect::<Vec<_>>())?;
    Ok(rows.len())
}

/// Events that tell where somebody was or a number, with their data; in order, after that number.
pub fn events(
    tx: &mut Tx<'_>,
    org: OrgId,
    after: i64,
    most: i64,
) -> Result<Vec<(i64, String)>, StoreError> {
    let rows = tx.all(EVENTS, args![org, after, most])?;
    rows.iter().map(|row| Ok((row.int(0)?, row.text(1)?.to_owned()))).collect()
}

/// Bodies of their deliveries, where these are not the event's own.
pub fn bodies(tx: &mut Tx<'_>, org: OrgId, seqs: &[i64]) -> Result<Vec<(i64, String)>, StoreError> {
    let rows = tx.all_in(BODIES, args![org], &values(seqs))?;
    rows.iter().map(|row| Ok((row.int(0)?, row.text(1)?.to_owned()))).collect()
}

/// Puts other data in the place of an event's.
pub fn put_event(tx: &mut Tx<'_>, org: OrgId, seq: i64, data: &str) -> Result<(), StoreError> {
    tx.later(PUT_EVENT, args![org, seq, data])
}

/// The same for the body of a delivery.
pub fn put_body(tx: &mut Tx<'_>, org: OrgId, seq: i64, body: &str) -> Result<(), StoreError> {
    tx.later(PUT_BODY, args![org, seq, body])
}

/// Empties what receivers answered: it may repeat what they were sent.
pub fn empty_answers(tx: &mut Tx<'_>, org: OrgId, seqs: &[i64]) -> Result<(), StoreError> {
    tx.later_in(EMPTY_ANSWERS, args![org], &values(seqs))
}

fn values(seqs: &[i64]) -> Vec<Value> {
    seqs.iter().copied().map(Value::Int).collect()
}
