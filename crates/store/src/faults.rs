//! What a sandbox organisation wants to go wrong next.

use domain::OrgId;

use crate::{Row, StoreError, Tx, args};

/// Something that is to go wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its number.
    pub id: i64,
    /// On which route, as `POST /orders`.
    pub route: String,
    /// What, by its name.
    pub fault: String,
    /// The status to answer with.
    pub status: i64,
    /// How long to wait.
    pub seconds: i64,
    /// How often.
    pub times: i64,
}

const ADD: &str = "INSERT INTO faults (org_id, route, fault, status, seconds, times) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const CLEAR: &str = "DELETE FROM faults WHERE org_id = $1 AND route = $2";
const OF_ORG: &str = "SELECT id, route, fault, status, seconds, times FROM faults \
     WHERE org_id = $1 ORDER BY id";
const TAKE: &str = "UPDATE faults SET times = times - 1 WHERE id = $1 AND times > 0";
const DROP_ALL: &str = "DELETE FROM faults WHERE org_id = $1";
const USED_UP: &str = "DELETE FROM faults WHERE id = $1 AND times = 0";

/// Adds one; what was set for the same route before is gone.
pub fn put(tx: &mut Tx<'_>, org: OrgId, fault: &Fault) -> Result<(), StoreError> {
    let Fault { route, fault, status, seconds, times, .. } = fault;
    tx.exec(CLEAR, args![org, route])?;
    if *times > 0 {
        tx.exec(ADD, args![org, route, fault, *status, *seconds, *times])?;
    }
    Ok(())
}

/// Those of an organisation, oldest first.
pub fn of_org(tx: &mut Tx<'_>, org: OrgId) -> Result<Vec<Fault>, StoreError> {
    let fault = |row: &Row| {
        Ok(Fault {
            id: row.int(0)?,
            route: row.text(1)?.to_owned(),
            fault: row.text(2)?.to_owned(),
            status: row.int(3)?,
            seconds: row.int(4)?,
            times: row.int(5)?,
        })
    };
    tx.all(OF_ORG, args![org])?.iter().map(fault).collect()
}

/// Forgets those of an organisation.
pub fn drop_all(tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
    tx.exec(DROP_ALL, args![org]).map(drop)
}

/// Uses one up by one time; false if it was used up, and whether it is now.
pub fn take(tx: &mut Tx<'_>, id: i64) -> Result<(bool, bool), StoreError> {
    let taken = tx.exec(TAKE, args![id])? == 1;
    Ok((taken, tx.exec(USED_UP, args![id])? == 1))
}
