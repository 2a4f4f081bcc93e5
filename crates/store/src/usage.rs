//! Data used, as running sums by the hour and the country.

use domain::{Iccid, OrgId};

use crate::{Row, StoreError, Tx, args};

/// Data used in one hour in one country.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    /// The hour, counted from 1970.
    pub hour: i64,
    /// ISO code of the country; may be empty.
    pub country: String,
    /// How much.
    pub bytes: i64,
}

const ADD: &str = "INSERT INTO usage_sums (org_id, iccid, hour, country, bytes) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (org_id, iccid, hour, country) \
     DO UPDATE SET bytes = usage_sums.bytes + excluded.bytes";
const SPAN: &str = "SELECT hour, country, bytes FROM usage_sums \
     WHERE org_id = $1 AND iccid = $2 AND hour >= $3 AND hour < $4 ORDER BY hour, country";

/// Adds data to the sums of eSIMs, or with none of the whole organisation. No two may be of the
/// same eSIM, hour and country.
pub fn add(tx: &mut Tx<'_>, org: OrgId, sums: &[(Option<Iccid>, Sum)]) -> Result<(), StoreError> {
    let row = |(iccid, sum): &(Option<Iccid>, Sum)| {
        args![org, iccid.as_ref().map_or("", Iccid::as_str), sum.hour, &sum.country, sum.bytes]
            .to_vec()
    };
    tx.later_rows(ADD, sums.iter().map(row).collect())
}

/// The sums of hours from the first to before the second, of an eSIM or of the organisation.
pub fn span(
    tx: &mut Tx<'_>,
    (org, iccid): (OrgId, Option<&Iccid>),
    (from, to): (i64, i64),
) -> Result<Vec<Sum>, StoreError> {
    let sum = |row: &Row| {
        Ok(Sum { hour: row.int(0)?, country: row.text(1)?.to_owned(), bytes: row.int(2)? })
    };
    let args = args![org, iccid.map_or("", Iccid::as_str), from, to];
    tx.all(SPAN, args)?.iter().map(sum).collect()
}
