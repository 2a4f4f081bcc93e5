//! Sessions of people, and the links with which they choose a password. Both are found by a keyed
//! digest of what the person holds.

use domain::{Timestamp, UserId};

use crate::{Row, StoreError, Tx, args};

/// A person at a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Digest of what its cookie holds.
    pub digest: Vec<u8>,
    /// Whose it is.
    pub user: UserId,
    /// Where it was begun.
    pub address: String,
    /// What the browser calls itself.
    pub agent: String,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was last seen, within minutes.
    pub seen_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// Since when it waits for the second factor.
    pub waits_at: Option<Timestamp>,
}

const ADD: &str = "INSERT INTO sessions (digest, user_id, address, agent, created_at, seen_at, \
     expires_at, waits_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const FIND: &str = "SELECT digest, user_id, address, agent, created_at, seen_at, expires_at, \
     waits_at FROM sessions WHERE digest = $1 AND expires_at > $2";
const OF_USER: &str = "SELECT digest, user_id, address, agent, created_at, seen_at, expires_at, \
     waits_at FROM sessions WHERE user_id = $1 AND expires_at > $2 ORDER BY created_at DESC";
const TOUCH: &str = "UPDATE sessions SET seen_at = $2, expires_at = $3 WHERE digest = $1";
const END: &str = "DELETE FROM sessions WHERE digest = $1";
const END_ALL: &str = "DELETE FROM sessions WHERE user_id = $1";
const END_OTHERS: &str = "DELETE FROM sessions WHERE user_id = $1 AND digest <> $2";
const END_OLD: &str = "DELETE FROM sessions WHERE expires_at <= $1";
const ADD_LINK: &str = "INSERT INTO password_links (digest, user_id, kind, expires_at) \
     VALUES ($1, $2, $3, $4)";
const LINK: &str = "SELECT user_id, kind FROM password_links WHERE digest = $1 AND expires_at > $2";
const DROP_LINKS: &str = "DELETE FROM password_links WHERE user_id = $1";
const DROP_OLD_LINKS: &str = "DELETE FROM password_links WHERE expires_at <= $1";

/// Begins a session.
pub fn add(tx: &mut Tx<'_>, session: &Session) -> Result<(), StoreError> {
    let args = args![
        session.digest.as_slice(),
        session.user,
        &session.address,
        &session.agent,
        session.created_at,
        session.seen_at,
        session.expires_at,
        session.waits_at,
    ];
    tx.exec(ADD, args).map(drop)
}

/// The session of that digest, if it has not ended.
pub fn find(tx: &mut Tx<'_>, digest: &[u8], now: Timestamp) -> Result<Option<Session>, StoreError> {
    tx.maybe(FIND, args![digest, now])?.as_ref().map(session).transpose()
}

/// A person's sessions that have not ended, the newest first.
pub fn of_user(tx: &mut Tx<'_>, user: UserId, now: Timestamp) -> Result<Vec<Session>, StoreError> {
    tx.all(OF_USER, args![user, now])?.iter().map(session).collect()
}

/// Notes that it was seen, and when it ends now.
pub fn touch(
    tx: &mut Tx<'_>,
    digest: &[u8],
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<(), StoreError> {
    tx.exec(TOUCH, args![digest, now, expires_at]).map(drop)
}

/// Ends one.
pub fn end(tx: &mut Tx<'_>, digest: &[u8]) -> Result<(), StoreError> {
    tx.exec(END, args![digest]).map(drop)
}

/// Ends all of a person's.
pub fn end_all(tx: &mut Tx<'_>, user: UserId) -> Result<u64, StoreError> {
    tx.exec(END_ALL, args![user])
}

/// Ends all of a person's but this one.
pub fn end_others(tx: &mut Tx<'_>, user: UserId, digest: &[u8]) -> Result<u64, StoreError> {
    tx.exec(END_OTHERS, args![user, digest])
}

/// Adds a link with which a person chooses a password.
pub fn add_link(
    tx: &mut Tx<'_>,
    digest: &[u8],
    (user, kind): (UserId, &str),
    expires_at: Timestamp,
) -> Result<(), StoreError> {
    tx.exec(ADD_LINK, args![digest, user, kind, expires_at]).map(drop)
}

/// Whose link it is, and its kind.
pub fn link(
    tx: &mut Tx<'_>,
    digest: &[u8],
    now: Timestamp,
) -> Result<Option<(UserId, String)>, StoreError> {
    let read = |row: &Row| Ok((row.parsed(0, UserId::parse)?, row.text(1)?.to_owned()));
    tx.maybe(LINK, args![digest, now])?.as_ref().map(read).transpose()
}

/// None of a person's links is good any more.
pub fn drop_links(tx: &mut Tx<'_>, user: UserId) -> Result<(), StoreError> {
    tx.exec(DROP_LINKS, args![user]).map(drop)
}

/// Forgets what has ended.
pub fn forget_old(tx: &mut Tx<'_>, now: Timestamp) -> Result<(), StoreError> {
    tx.exec(END_OLD, args![now])?;
    tx.exec(DROP_OLD_LINKS, args![now]).map(drop)
}

fn session(row: &Row) -> Result<Session, StoreError> {
    Ok(Session {
        digest: row.bytes(0)?.to_vec(),
        user: row.parsed(1, UserId::parse)?,
        address: row.text(2)?.to_owned(),
        agent: row.text(3)?.to_owned(),
        created_at: row.time(4)?,
        seen_at: row.time(5)?,
        expires_at: row.time(6)?,
        waits_at: row.time_or_none(7)?,
    })
}
