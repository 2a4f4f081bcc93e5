//! The stock of profiles: those that belong to nobody yet.

use domain::{Iccid, Mode, Msisdn, OrderId, OrgId, Timestamp};

use crate::sealed::Sealed;
use crate::{Row, StoreError, Tx, Value, args};

/// A profile for the stock, its secrets sealed.
#[derive(Debug, Clone)]
pub struct NewEsim {
    /// Its number.
    pub iccid: Iccid,
    /// Bare host name of its installation server.
    pub smdp_address: String,
    /// What only its owner may know.
    pub sealed: Sealed,
    /// Its telephone number.
    pub msisdn: Option<Msisdn>,
    /// The bundles it fits.
    pub profile_name: String,
}

const INSERT: &str = "INSERT INTO esims (iccid, mode, profile_name, smdp_address, msisdn, sealed, \
     vault_key, profile_status, imported_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
     ON CONFLICT (iccid) DO NOTHING RETURNING iccid";
// The limit stands in a WITH, which PostgreSQL works out once. A plain subquery may be the inner
// side of a loop, whose every round finds others to lock: more would be issued than asked for.
const ISSUE: &str = "UPDATE esims SET org_id = $1, assigned_at = $2 WHERE iccid IN \
     (WITH free AS (SELECT iccid FROM esims WHERE org_id IS NULL AND mode = $3 \
      AND profile_name = $4 ORDER BY imported_at, iccid LIMIT $5 {skip locked}) \
      SELECT iccid FROM free) RETURNING iccid";
const ENOUGH: &str = "SELECT COUNT(*) FROM (SELECT iccid FROM esims WHERE org_id IS NULL \
     AND mode = $1 AND profile_name = $2 LIMIT $3) AS found";
// An eSIM goes back when it was issued for an order and every order that put something on it has
// failed: whichever of them fails last takes it back. Nothing of its owner goes with it. One that
// was on a phone meanwhile stays where it is: nobody else could install it.
const TAKE_BACK: &str = "UPDATE esims SET org_id = NULL, assigned_at = NULL, \
     customer_ref = '', customer_ref_lower = '', last_action = '', action_at = NULL, \
     first_used_at = NULL, suspended_by = NULL, seen_at = NULL, seen_country = '', \
     seen_network = '', leaves_at = NULL \
     WHERE org_id = $2 AND profile_status = 'Released' AND first_installed_at IS NULL \
      AND iccid IN (SELECT a.iccid FROM assignments a WHERE a.order_id = $1 \
      AND EXISTS (SELECT 1 FROM assignments c WHERE c.iccid = a.iccid \
                  AND c.org_id = a.org_id AND c.esim = 'new') \
      AND NOT EXISTS (SELECT 1 FROM assignments b JOIN orders o ON o.id = b.order_id \
                      WHERE b.iccid = a.iccid AND b.org_id = a.org_id \
                      AND b.order_id <> a.order_id AND o.status <> 'failed'))";
const MODES: &str = "SELECT iccid FROM esims WHERE mode <> $1 AND iccid IN ({list})";
const FREE: &str = "SELECT mode, profile_name, COUNT(*) FROM esims WHERE org_id IS NULL \
     GROUP BY mode, profile_name ORDER BY mode, profile_name";

/// Adds profiles to the stock; says which were new.
pub fn import(
    tx: &mut Tx<'_>,
    mode: Mode,
    esims: &[NewEsim],
    now: Timestamp,
) -> Result<Vec<Iccid>, StoreError> {
    let rows = esims.iter().map(|esim| {
        let NewEsim { iccid, smdp_address, sealed, msisdn, profile_name } = esim;
        let Sealed { bytes, vault_key } = sealed;
        let msisdn = msisdn.as_ref().map(Msisdn::as_str);
        let (mode, bytes) = (mode.name(), bytes.as_slice());
        args![iccid, mode, profile_name, smdp_address, msisdn, bytes, vault_key, "Released", now]
            .to_vec()
    });
    let rows = tx.all_rows(INSERT, rows.collect())?;
    rows.iter().map(|row| row.parsed(0, Iccid::parse)).collect()
}

/// Those of these that exist in another mode.
pub fn of_other_mode(
    tx: &mut Tx<'_>,
    mode: Mode,
    iccids: &[Iccid],
) -> Result<Vec<Iccid>, StoreError> {
    let rows = tx.all_in(MODES, args![mode.name()], &values(iccids))?;
    rows.iter().map(|row| row.parsed(0, Iccid::parse)).collect()
}

/// Gives an organisation so many profiles of the stock, the oldest first, then by number; fewer if
/// there are not so many. Those that another node is giving away are passed over.
pub fn issue(
    tx: &mut Tx<'_>,
    org: OrgId,
    (mode, profile_name): (Mode, &str),
    count: i64,
    at: Timestamp,
) -> Result<Vec<Iccid>, StoreError> {
    let rows = tx.all(ISSUE, args![org, at, mode.name(), profile_name, count])?;
    let mut iccids =
        rows.iter().map(|row| row.parsed(0, Iccid::parse)).collect::<Result<Vec<_>, _>>()?;
    iccids.sort();
    count_in_head(tx, i64::try_from(iccids.len()).unwrap_or(i64::MAX));
    Ok(iccids)
}

/// Whether the stock has so many; nothing is promised.
pub fn has(
    tx: &mut Tx<'_>,
    (mode, profile_name): (Mode, &str),
    count: i64,
) -> Result<bool, StoreError> {
    Ok(tx.one(ENOUGH, args![mode.name(), profile_name, count])?.int(0)? == count)
}

/// Takes back the eSIMs that were issued for an order, unless they carry something else by now or
/// were installed.
pub fn take_back(tx: &mut Tx<'_>, org: OrgId, order: OrderId) -> Result<(), StoreError> {
    let count = tx.exec(TAKE_BACK, args![order, org])?;
    count_in_head(tx, -i64::try_from(count).unwrap_or(i64::MAX));
    Ok(())
}

/// The organisation of this write has so many eSIMs more.
pub(crate) fn count_in_head(tx: &mut Tx<'_>, more: i64) {
    if let Some(head) = tx.head_mut() {
        head.esims += more;
    }
}

/// How many profiles are left, by mode and profile.
pub fn free(tx: &mut Tx<'_>) -> Result<Vec<(Mode, String, i64)>, StoreError> {
    let rows = tx.all(FREE, &[])?;
    let free = |row: &Row| {
        let mode = row.parsed(0, |text| Mode::parse(text).ok_or(()))?;
        Ok((mode, row.text(1)?.to_owned(), row.int(2)?))
    };
    rows.iter().map(free).collect()
}

fn values(iccids: &[Iccid]) -> Vec<Value> {
    iccids.iter().map(Value::from).collect()
}
