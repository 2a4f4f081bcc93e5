//! Text messages, as the test centre of sandbox organisations keeps them.

use domain::{Iccid, Msisdn, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, args};

/// A text message that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// To which number it was sent.
    pub to: Msisdn,
    /// Who it says it is from.
    pub sender: String,
    /// What it says.
    pub body: String,
    /// When it was sent.
    pub at: Timestamp,
}

const INSERT: &str = "INSERT INTO messages (org_id, iccid, msisdn, sender, body, at) \
     VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
const FIND: &str = "SELECT msisdn, sender, body, at, iccid FROM messages \
     WHERE id = $1 AND org_id = $2";
const REMOVE: &str = "DELETE FROM messages WHERE id = $1 AND org_id = $2";
const NEWEST: &str = "SELECT msisdn, sender, body, at FROM messages \
     WHERE org_id = $1 AND iccid = $2 ORDER BY id DESC LIMIT $3";

/// Keeps a message; its number is given here.
pub fn add(
    tx: &mut Tx<'_>,
    org: OrgId,
    iccid: &Iccid,
    message: &Message,
) -> Result<i64, StoreError> {
    let Message { to, sender, body, at } = message;
    tx.one(INSERT, args![org, iccid, to.as_str(), sender, body, *at])?.int(0)
}

/// The message of that number, and to which eSIM it goes.
pub fn find(tx: &mut Tx<'_>, org: OrgId, id: i64) -> Result<Option<(Iccid, Message)>, StoreError> {
    let Some(row) = tx.maybe(FIND, args![id, org])? else { return Ok(None) };
    Ok(Some((row.parsed(4, Iccid::parse)?, message(&row)?)))
}

/// Forgets a message.
pub fn remove(tx: &mut Tx<'_>, org: OrgId, id: i64) -> Result<(), StoreError> {
    tx.later(REMOVE, args![id, org])
}

/// The newest messages of an eSIM.
pub fn newest(
    tx: &mut Tx<'_>,
    org: OrgId,
    iccid: &Iccid,
    most: i64,
) -> Result<Vec<Message>, StoreError> {
    tx.all(NEWEST, args![org, iccid, most])?.iter().map(message).collect()
}

fn message(row: &Row) -> Result<Message, StoreError> {
    Ok(Message {
        to: row.parsed(0, Msisdn::parse)?,
        sender: row.text(1)?.to_owned(),
        body: row.text(2)?.to_owned(),
        at: row.time(3)?,
    })
}
