//! Looking for eSIMs by what a person remembers of them: a piece of a number or of a note. Walks an
//! organisation's eSIMs by number, only so far at a time.

use domain::OrgId;
use domain::esim::{Esim, ProfileStatus};

use super::esim;
use crate::{StoreError, Tx, args};

/// What is looked for; all of it must fit.
#[derive(Debug, Clone, Default)]
pub struct Looked {
    /// Its status.
    pub status: Option<ProfileStatus>,
    /// In its number or its note; both empty = any.
    pub piece: Piece,
}

/// A piece of text, as it may stand in either place.
#[derive(Debug, Clone, Default)]
pub struct Piece {
    /// In the number; empty if it cannot be there.
    pub digits: String,
    /// In the owner's note, in lower case.
    pub text: String,
}

impl Looked {
    fn is_any(&self) -> bool {
        self.status.is_none() && self.piece.text.is_empty()
    }
}

/// From where to look, and which way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// From the highest number on.
    Top,
    /// Below that number.
    Below(String),
    /// Above that number.
    Above(String),
}

/// How many to find and how many to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// To find.
    pub most: i64,
    /// To look at.
    pub looked_at: i64,
}

const EDGE_DOWN: &str = "SELECT iccid FROM esims WHERE org_id >= $1 AND org_id <= $1 \
     AND iccid < $2 ORDER BY org_id DESC, iccid DESC LIMIT 1 OFFSET $3";
const EDGE_UP: &str = "SELECT iccid FROM esims WHERE org_id >= $1 AND org_id <= $1 \
     AND iccid > $2 ORDER BY org_id, iccid LIMIT 1 OFFSET $3";
const DOWN: &str = "SELECT iccid, profile_name, profile_status, msisdn, customer_ref, \
     last_action, action_at, assigned_at, first_installed_at, first_used_at, suspended_by, \
     seen_at, seen_country, seen_network, leaves_at FROM esims \
     WHERE org_id >= $1 AND org_id <= $1 AND iccid < $2 AND iccid >= $3 \
     AND ($4 = '' OR profile_status = $4) AND ($6 = '' \
     OR ($5 <> '' AND {position}(iccid, $5) > 0) OR {position}(customer_ref_lower, $6) > 0) \
     ORDER BY org_id DESC, iccid DESC LIMIT $7";
const UP: &str = "SELECT iccid, profile_name, profile_status, msisdn, customer_ref, \
     last_action, action_at, assigned_at, first_installed_at, first_used_at, suspended_by, \
     seen_at, seen_country, seen_network, leaves_at FROM esims \
     WHERE org_id >= $1 AND org_id <= $1 AND iccid > $2 AND iccid <= $3 \
     AND ($4 = '' OR profile_status = $4) AND ($6 = '' \
     OR ($5 <> '' AND {position}(iccid, $5) > 0) OR {position}(customer_ref_lower, $6) > 0) \
     ORDER BY org_id, iccid LIMIT $7";
const BY_NOTE: &str = "SELECT iccid, profile_name, profile_status, msisdn, customer_ref, \
     last_action, action_at, assigned_at, first_installed_at, first_used_at, suspended_by, \
     seen_at, seen_country, seen_network, leaves_at FROM esims \
     WHERE org_id = $1 AND customer_ref = $2 AND customer_ref <> '' \
     ORDER BY org_id, customer_ref, iccid LIMIT $3";

/// Lies above and below every number.
const ABOVE_ALL: &str = "~";
const BELOW_ALL: &str = "";

/// Those found on the way, in its order; and the number that was reached, where the effort was
/// spent before the end.
pub fn look(
    tx: &mut Tx<'_>,
    org: OrgId,
    looked: &Looked,
    way: &Way,
    effort: Effort,
) -> Result<(Vec<Esim>, Option<String>), StoreError> {
    let (edge, list, from, end) = match way {
        Way::Top => (EDGE_DOWN, DOWN, ABOVE_ALL, BELOW_ALL),
        Way::Below(iccid) => (EDGE_DOWN, DOWN, iccid.as_str(), BELOW_ALL),
        Way::Above(iccid) => (EDGE_UP, UP, iccid.as_str(), ABOVE_ALL),
    };
    let reached = if looked.is_any() {
        None
    } else {
        tx.maybe(edge, args![org, from, effort.looked_at - 1])?
    };
    let reached = reached.map(|row| row.text(0).map(str::to_owned)).transpose()?;
    let to = reached.as_deref().unwrap_or(end);
    let status = looked.status.map_or("", ProfileStatus::name);
    let Piece { digits, text } = &looked.piece;
    let rows = tx.all(list, args![org, from, to, status, digits, text, effort.most])?;
    Ok((rows.iter().map(esim).collect::<Result<_, _>>()?, reached))
}

/// Those whose note is exactly this.
pub fn by_note(
    tx: &mut Tx<'_>,
    org: OrgId,
    note: &str,
    most: i64,
) -> Result<Vec<Esim>, StoreError> {
    tx.all(BY_NOTE, args![org, note, most])?.iter().map(esim).collect()
}
