//! People: users of organisations, and the operator's staff, who belong to the house.

use domain::contact::Email;
use domain::{OrgId, Role, Secret, User, UserId};

use crate::{Row, StoreError, Tx, args};

/// The unique key that an e-mail address meets when it is taken.
pub const EMAIL_KEY: &str = "users(email)";

const INSERT: &str = "INSERT INTO users (id, org_id, first_name, last_name, role, email, phone, \
     time_zone, password_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
const OF_ORG: &str = "SELECT id, first_name, last_name, role, email, phone, time_zone, \
     password_hash, created_at FROM users WHERE org_id = $1 ORDER BY id";
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

/// How many people an organisation has.
pub fn count(tx: &mut Tx<'_>, org: OrgId) -> Result<i64, StoreError> {
    tx.one(COUNT, args![org])?.int(0)
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
