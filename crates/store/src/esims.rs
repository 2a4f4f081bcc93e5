//! eSIMs that belong to somebody.

mod look;

use std::collections::HashMap;

use domain::esim::{Esim, ProfileStatus, Seen, SuspendedBy};
use domain::filter::{Direction, NumberTest, Page, TextTest};
use domain::{Iccid, Msisdn, OrgId, Timestamp};

pub use self::look::{Effort, Looked, Piece, Way, by_note, look};
use crate::profiles::count_in_head;
use crate::sealed::Sealed;
use crate::sql::Select;
use crate::{Row, StoreError, Tx, Value, args};

/// What is needed to install an eSIM.
#[derive(Debug, Clone)]
pub struct Install {
    /// Its number.
    pub iccid: Iccid,
    /// Bare host name of its installation server.
    pub smdp_address: String,
    /// The rest, sealed.
    pub sealed: Sealed,
    /// What the installation server says of it.
    pub status: ProfileStatus,
    /// When it was installed for the first time.
    pub first_installed_at: Option<Timestamp>,
}

/// What eSIMs to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Conditions on the number.
    pub iccid: Vec<TextTest>,
    /// Conditions on the owner's note.
    pub customer_ref: Vec<TextTest>,
    /// Conditions on what was last done.
    pub last_action: Vec<TextTest>,
    /// Conditions on when that was, in milliseconds.
    pub action_at: Vec<NumberTest>,
    /// Conditions on when it came to the organisation, in milliseconds.
    pub assigned_at: Vec<NumberTest>,
}

impl Filter {
    fn is_empty(&self) -> bool {
        self.iccid.is_empty()
            && self.customer_ref.is_empty()
            && self.last_action.is_empty()
            && self.action_at.is_empty()
            && self.assigned_at.is_empty()
    }
}

/// What eSIMs are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// Their number.
    Iccid,
    /// Their owner's note.
    CustomerRef,
    /// What was last done.
    LastAction,
    /// When that was.
    ActionAt,
    /// When they came to the organisation.
    AssignedAt,
}

const COLUMNS: &str = "iccid, profile_name, profile_status, msisdn, customer_ref, last_action, \
     action_at, assigned_at, first_installed_at, first_used_at, suspended_by, seen_at, \
     seen_country, seen_network, leaves_at";
const OF_ORG: &str = "SELECT iccid, profile_name, profile_status, msisdn, customer_ref, \
     last_action, action_at, assigned_at, first_installed_at, first_used_at, suspended_by, \
     seen_at, seen_country, seen_network, leaves_at FROM esims \
     WHERE org_id = $1 AND iccid IN ({list})";
const FIND: &str = "SELECT iccid, profile_name, profile_status, msisdn, customer_ref, \
     last_action, action_at, assigned_at, first_installed_at, first_used_at, suspended_by, \
     seen_at, seen_country, seen_network, leaves_at FROM esims WHERE iccid = $1 AND org_id = $2";
const DETAIL: &str = "SELECT iccid, profile_name, profile_status, msisdn, customer_ref, \
     last_action, action_at, assigned_at, first_installed_at, first_used_at, suspended_by, \
     seen_at, seen_country, seen_network, leaves_at, smdp_address, sealed, vault_key FROM esims \
     WHERE iccid = $1 AND org_id = $2";
const INSTALL: &str = "SELECT iccid, smdp_address, sealed, vault_key, profile_status, \
     first_installed_at FROM esims WHERE org_id = $1 AND iccid IN ({list})";
const ICCIDS: &str = "SELECT iccid FROM esims WHERE (org_id, iccid) > ($1, $2) \
     AND org_id <= $1 ORDER BY org_id, iccid LIMIT $3";
const COUNT: &str = "SELECT COUNT(*) FROM esims WHERE org_id = $1";
const OWNER: &str = "SELECT org_id FROM esims WHERE iccid = $1 AND org_id IS NOT NULL";
const OWNERS: &str = "SELECT iccid, org_id FROM esims \
     WHERE org_id IS NOT NULL AND org_id <> $1 AND iccid IN ({list})";
const SAVE: &str = "UPDATE esims SET profile_status = $2, msisdn = $3, customer_ref = $4, \
     last_action = $5, action_at = $6, first_installed_at = $7, first_used_at = $8, \
     suspended_by = $9, seen_at = $10, seen_country = $11, seen_network = $12, leaves_at = $13, \
     customer_ref_lower = $14 WHERE iccid = $1";
const ACTED: &str = "UPDATE esims SET last_action = $1, action_at = $2, leaves_at = NULL \
     WHERE iccid IN ({list})";
const LEAVE: &str = "UPDATE esims SET org_id = $2, profile_status = 'Deactivated', \
     customer_ref = '', customer_ref_lower = '', msisdn = NULL, seen_at = NULL, \
     seen_country = '', seen_network = '' WHERE iccid = $1 AND org_id = $3";
const SERVICE: &str = "SELECT service FROM esims WHERE iccid = $1";
const PUT_SERVICE: &str = "UPDATE esims SET service = $2 WHERE iccid = $1";

/// A page of an organisation's eSIMs, by number unless sorted otherwise, and how many there are.
pub fn list(
    tx: &mut Tx<'_>,
    org: OrgId,
    filter: &Filter,
    (by, direction): (SortBy, Direction),
    page: Page,
) -> Result<(Vec<Esim>, i64), StoreError> {
    let mut select = Select::from("FROM esims WHERE org_id >= $1 AND org_id <= $1", args![org]);
    for (column, tests) in [("iccid", &filter.iccid), ("last_action", &filter.last_action)] {
        for test in tests {
            select.text(column, test);
        }
    }
    for test in &filter.customer_ref {
        // The databases know the case of ASCII only, so the note is kept in lower case as well.
        match test {
            TextTest::Is(_) => select.text("customer_ref", test),
            TextTest::Contains(_) => select.text("customer_ref_lower", test),
        }
    }
    for (column, tests) in [("action_at", &filter.action_at), ("assigned_at", &filter.assigned_at)]
    {
        for test in tests {
            select.number(column, *test);
        }
    }
    let count = if filter.is_empty() {
        crate::heads::find(tx, org)?.map_or(0, |head| head.esims)
    } else {
        select.count(tx)?
    };
    let rows = select.page(tx, COLUMNS, order_by(by, direction), page)?;
    Ok((rows.iter().map(esim).collect::<Result<_, _>>()?, count))
}

/// Times that are not there come first, on both databases. The number alone, of one organisation,
/// would make PostgreSQL walk the primary key, over everybody's: it must not know that it is one.
fn order_by(by: SortBy, direction: Direction) -> &'static str {
    use Direction::{Ascending, Descending};
    match (by, direction) {
        (SortBy::Iccid, Ascending) => "org_id, iccid",
        (SortBy::Iccid, Descending) => "org_id DESC, iccid DESC",
        (SortBy::CustomerRef, Ascending) => "customer_ref, iccid",
        (SortBy::CustomerRef, Descending) => "customer_ref DESC, iccid DESC",
        (SortBy::LastAction, Ascending) => "last_action, iccid",
        (SortBy::LastAction, Descending) => "last_action DESC, iccid DESC",
        (SortBy::ActionAt, Ascending) => "COALESCE(action_at, 0), iccid",
        (SortBy::ActionAt, Descending) => "COALESCE(action_at, 0) DESC, iccid DESC",
        (SortBy::AssignedAt, Ascending) => "assigned_at, iccid",
        (SortBy::AssignedAt, Descending) => "assigned_at DESC, iccid DESC",
    }
}

/// One eSIM of an organisation.
pub fn find(tx: &mut Tx<'_>, org: OrgId, iccid: &Iccid) -> Result<Option<Esim>, StoreError> {
    tx.maybe(FIND, args![iccid, org])?.map(|row| esim(&row)).transpose()
}

/// The same, with what is needed to install it.
pub fn detail(
    tx: &mut Tx<'_>,
    org: OrgId,
    iccid: &Iccid,
) -> Result<Option<(Esim, Install)>, StoreError> {
    let Some(row) = tx.maybe(DETAIL, args![iccid, org])? else { return Ok(None) };
    let esim = esim(&row)?;
    let install = Install {
        iccid: esim.iccid.clone(),
        smdp_address: row.text(15)?.to_owned(),
        sealed: Sealed::from_row(&row, 16)?,
        status: esim.status,
        first_installed_at: esim.first_installed_at,
    };
    Ok(Some((esim, install)))
}

/// Those of an organisation among these.
pub fn of_org(tx: &mut Tx<'_>, org: OrgId, iccids: &[Iccid]) -> Result<Vec<Esim>, StoreError> {
    tx.all_in(OF_ORG, args![org], &values(iccids))?.iter().map(esim).collect()
}

/// What is needed to install those of an organisation among these.
pub fn install(tx: &mut Tx<'_>, org: OrgId, iccids: &[Iccid]) -> Result<Vec<Install>, StoreError> {
    let rows = tx.all_in(INSTALL, args![org], &values(iccids))?;
    let install = |row: &Row| {
        Ok(Install {
            iccid: row.parsed(0, Iccid::parse)?,
            smdp_address: row.text(1)?.to_owned(),
            sealed: Sealed::from_row(row, 2)?,
            status: row.parsed(4, |text| ProfileStatus::parse(text).ok_or(()))?,
            first_installed_at: row.time_or_none(5)?,
        })
    };
    rows.iter().map(install).collect()
}

/// Numbers of an organisation's eSIMs in order, after that one.
pub fn iccids(
    tx: &mut Tx<'_>,
    org: OrgId,
    after: &str,
    most: i64,
) -> Result<Vec<Iccid>, StoreError> {
    let rows = tx.all(ICCIDS, args![org, after, most])?;
    rows.iter().map(|row| row.parsed(0, Iccid::parse)).collect()
}

/// How many eSIMs an organisation has, counted one by one.
pub fn count(tx: &mut Tx<'_>, org: OrgId) -> Result<i64, StoreError> {
    tx.one(COUNT, args![org])?.int(0)
}

/// Whose it is; the house's are nobody's.
pub fn owner(tx: &mut Tx<'_>, iccid: &Iccid) -> Result<Option<OrgId>, StoreError> {
    let owner = tx.maybe(OWNER, args![iccid])?;
    let owner = owner.map(|row| row.parsed(0, OrgId::parse)).transpose()?;
    Ok(owner.filter(|org| *org != OrgId::HOUSE))
}

/// Whose some are, as far as they are somebody's.
pub fn owners(tx: &mut Tx<'_>, iccids: &[Iccid]) -> Result<HashMap<Iccid, OrgId>, StoreError> {
    let rows = tx.all_in(OWNERS, args![OrgId::HOUSE], &values(iccids))?;
    let owner = |row: &Row| Ok((row.parsed(0, Iccid::parse)?, row.parsed(1, OrgId::parse)?));
    rows.iter().map(owner).collect()
}

/// Writes back what became of an eSIM.
pub fn save(tx: &mut Tx<'_>, esim: &Esim) -> Result<(), StoreError> {
    let (seen_at, country, network) = match &esim.seen {
        Some(seen) => (Some(seen.at), seen.country.as_str(), seen.network.as_str()),
        None => (None, "", ""),
    };
    let args = args![
        &esim.iccid,
        esim.status.name(),
        esim.msisdn.as_ref().map(Msisdn::as_str),
        &esim.customer_ref,
        &esim.last_action,
        esim.action_at,
        esim.first_installed_at,
        esim.first_used_at,
        esim.suspended_by.map(SuspendedBy::name),
        seen_at,
        country,
        network,
        esim.leaves_at,
        esim.customer_ref.to_lowercase()
    ];
    tx.later(SAVE, args)
}

/// Notes what was last done to some eSIMs, which stay for now.
pub fn acted(
    tx: &mut Tx<'_>,
    iccids: &[Iccid],
    action: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    tx.later_in(ACTED, args![action, at], &values(iccids))
}

/// It belongs to the organisation of this write no longer, and is dead for good; what it says of
/// its user is gone.
pub fn leave(tx: &mut Tx<'_>, iccid: &Iccid) -> Result<(), StoreError> {
    let gone = tx.exec(LEAVE, args![iccid, OrgId::HOUSE, tx.org()])?;
    count_in_head(tx, -i64::try_from(gone).unwrap_or(i64::MAX));
    Ok(())
}

/// What the network was last told to allow it.
pub fn service(tx: &mut Tx<'_>, iccid: &Iccid) -> Result<String, StoreError> {
    Ok(tx.one(SERVICE, args![iccid])?.text(0)?.to_owned())
}

/// Notes what the network was told.
pub fn put_service(tx: &mut Tx<'_>, iccid: &Iccid, service: &str) -> Result<(), StoreError> {
    tx.later(PUT_SERVICE, args![iccid, service])
}

fn esim(row: &Row) -> Result<Esim, StoreError> {
    let seen_at = row.time_or_none(11)?;
    let (country, network) = (row.text(12)?.to_owned(), row.text(13)?.to_owned());
    let by = |text: &str| SuspendedBy::parse(text).ok_or(());
    Ok(Esim {
        iccid: row.parsed(0, Iccid::parse)?,
        profile_name: row.text(1)?.to_owned(),
        status: row.parsed(2, |text| ProfileStatus::parse(text).ok_or(()))?,
        msisdn: row.parsed_or_none(3, Msisdn::parse)?,
        customer_ref: row.text(4)?.to_owned(),
        last_action: row.text(5)?.to_owned(),
        action_at: row.time_or_none(6)?,
        assigned_at: row.time(7)?,
        first_installed_at: row.time_or_none(8)?,
        first_used_at: row.time_or_none(9)?,
        suspended_by: row.parsed_or_none(10, by)?,
        seen: seen_at.map(|at| Seen { at, country, network }),
        leaves_at: row.time_or_none(14)?,
    })
}

fn values(iccids: &[Iccid]) -> Vec<Value> {
    iccids.iter().map(Value::from).collect()
}
