//! People: users of organisations, and the operator's staff, who belong to the house.

use domain::contact::Email;
use domain::{OrgId, Role, Secret, Timestamp, User, UserId};

use crate::sealed::Sealed;
use crate::{Row, StoreError, Tx, args};

/// The unique key that an e-mail address meets when it is taken.
pub const EMAIL_KEY: &str = "users(email)";

/// A person with what only signing in needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The organisation, or the house.
    pub org: OrgId,
    /// The person.
    pub user: User,
    /// The second factor, sealed.
    pub factor: Option<Factor>,
}

/// A second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// Its secret.
    pub sealed: Sealed,
    /// Since when it counts; none until it has been confirmed.
    pub on_at: Option<Timestamp>,
    /// The last half-minute whose code was used.
    pub step: i64,
}

const INSERT: &str = "INSERT INTO users (id, org_id, first_name, last_name, role, email, phone, \
     time_zone, password_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
const OF_ORG: &str = "SELECT id, first_name, last_name, role, email, phone, time_zone, \
     password_hash, created_at FROM users WHERE org_id = $1 ORDER BY id";
const BY_EMAIL: &str = "SELECT id, first_name, last_name, role, email, phone, time_zone, \
     password_hash, created_at, org_id, totp, totp_vault_key, totp_on_at, totp_step FROM users \
     WHERE email = $1";
const BY_ID: &str = "SELECT id, first_name, last_name, role, email, phone, time_zone, \
     password_hash, created_at, org_id, totp, totp_vault_key, totp_on_at, totp_step FROM users \
     WHERE id = $1";
const OWNERS: &str = "SELECT COUNT(*) FROM users WHERE org_id = $1 AND role = $2";
const UPDATE: &str = "UPDATE users SET first_name = $2, last_name = $3, role = $4, phone = $5, \
     time_zone = $6, password_hash = $7 WHERE id = $1";
const SET_FACTOR: &str = "UPDATE users SET totp = $2, totp_vault_key = $3, totp_on_at = NULL, \
     totp_step = 0 WHERE id = $1";
const DROP_FACTOR: &str = "UPDATE users SET totp = NULL, totp_vault_key = NULL, \
     totp_on_at = NULL, totp_step = 0 WHERE id = $1";
const USE_FACTOR: &str = "UPDATE users SET totp_step = $2, totp_on_at = $3 \
     WHERE id = $1 AND totp_step < $2";
const REMOVE: &str = "DELETE FROM users WHERE id = $1";
const WITH_FACTOR: &str = "SELECT id FROM users WHERE org_id = $1 AND totp_on_at IS NOT NULL";
const COUNT: &str = "SELECT COUNT(*) FROM users WHERE org_id = $1";
const SET_PASSWORD: &str = "UPDATE users SET password_hash = $2 WHERE email = $1";
const HAND_ON: &str = "UPDATE users SET org_id = $2 WHERE org_id = $1";

/// Adds a person.
pub fn insert(tx: &mut Tx<'_>, org: OrgId, user: &User) -> Result<(), StoreError> {
    let args = args![
        user.id,
        org,
        &user.first_name,
        &user.last_name,
        user.role.name(),
        user.email.as_str(),
        &user.phone,
        &user.time_zone,
        user.password_hash.as_ref().map(|hash| hash.expose().as_str()),
        user.created_at,
    ];
    tx.exec(INSERT, args).map(drop)
}

/// All people of an organisation, oldest first.
pub fn of_org(tx: &mut Tx<'_>, org: OrgId) -> Result<Vec<User>, StoreError> {
    tx.all(OF_ORG, args![org])?.iter().map(user).collect()
}

/// Those of them whose second factor counts.
pub fn with_factor(tx: &mut Tx<'_>, org: OrgId) -> Result<Vec<UserId>, StoreError> {
    let id = |row: &Row| row.parsed(0, UserId::parse);
    tx.all(WITH_FACTOR, args![org])?.iter().map(id).collect()
}

/// How many people an organisation has.
pub fn count(tx: &mut Tx<'_>, org: OrgId) -> Result<i64, StoreError> {
    tx.one(COUNT, args![org])?.int(0)
}

/// How many of them have that role.
pub fn with_role(tx: &mut Tx<'_>, org: OrgId, role: Role) -> Result<i64, StoreError> {
    tx.one(OWNERS, args![org, role.name()])?.int(0)
}

/// Who has that address.
pub fn by_email(tx: &mut Tx<'_>, email: &Email) -> Result<Option<Account>, StoreError> {
    tx.maybe(BY_EMAIL, args![email.as_str()])?.as_ref().map(account).transpose()
}

/// The person of that id.
pub fn find(tx: &mut Tx<'_>, id: UserId) -> Result<Option<Account>, StoreError> {
    tx.maybe(BY_ID, args![id])?.as_ref().map(account).transpose()
}

/// Writes everything of a person but the address and the second factor.
pub fn update(tx: &mut Tx<'_>, user: &User) -> Result<(), StoreError> {
    let args = args![
        user.id,
        &user.first_name,
        &user.last_name,
        user.role.name(),
        &user.phone,
        &user.time_zone,
        user.password_hash.as_ref().map(|hash| hash.expose().as_str()),
    ];
    tx.exec(UPDATE, args).map(drop)
}

/// Gives a person a second factor that is yet to be confirmed.
pub fn set_factor(tx: &mut Tx<'_>, id: UserId, sealed: &Sealed) -> Result<(), StoreError> {
    tx.exec(SET_FACTOR, args![id, sealed.bytes.as_slice(), &sealed.vault_key]).map(drop)
}

/// Takes it away.
pub fn drop_factor(tx: &mut Tx<'_>, id: UserId) -> Result<(), StoreError> {
    tx.exec(DROP_FACTOR, args![id]).map(drop)
}

/// Uses the code of a half-minute; false if it, or a later one, was used already.
pub fn use_factor(
    tx: &mut Tx<'_>,
    id: UserId,
    step: i64,
    on_at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(tx.exec(USE_FACTOR, args![id, step, on_at])? == 1)
}

/// Removes a person, who has no session and no link any more.
pub fn remove(tx: &mut Tx<'_>, id: UserId) -> Result<(), StoreError> {
    tx.exec(REMOVE, args![id]).map(drop)
}

/// Moves all people of one organisation to another.
pub fn hand_on(tx: &mut Tx<'_>, from: OrgId, to: OrgId) -> Result<(), StoreError> {
    tx.exec(HAND_ON, args![from, to]).map(drop)
}

/// Sets the hash of a person's password; false if nobody has that address.
pub fn set_password(
    tx: &mut Tx<'_>,
    email: &Email,
    hash: &Secret<String>,
) -> Result<bool, StoreError> {
    Ok(tx.exec(SET_PASSWORD, args![email.as_str(), hash.expose()])? == 1)
}

fn user(row: &Row) -> Result<User, StoreError> {
    Ok(User {
        id: row.parsed(0, UserId::parse)?,
        first_name: row.text(1)?.to_owned(),
        last_name: row.text(2)?.to_owned(),
        role: row.parsed(3, |text| Role::parse(text).ok_or(()))?,
        email: row.parsed(4, Email::parse)?,
        phone: row.text(5)?.to_owned(),
        time_zone: row.text(6)?.to_owned(),
        password_hash: row.text_or_none(7)?.map(|hash| Secret::new(hash.to_owned())),
        created_at: row.time(8)?,
    })
}

fn account(row: &Row) -> Result<Account, StoreError> {
    let factor = match row.bytes_or_none(10)? {
        None => None,
        Some(_) => Some(Factor {
            sealed: Sealed::from_row(row, 10)?,
            on_at: row.time_or_none(12)?,
            step: row.int(13)?,
        }),
    };
    Ok(Account { org: row.parsed(9, OrgId::parse)?, user: user(row)?, factor })
}
