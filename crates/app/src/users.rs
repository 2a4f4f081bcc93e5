//! People: a reseller's users, and the operator's staff, who belong to the house.

use domain::contact::Email;
use domain::{OrgId, Role, Secret, User, limits};
use store::{StoreError, organisations, sessions, users};

use crate::{Actor, App, password};

/// Why a user could not be added or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such organisation.
    #[error("organisation not found")]
    UnknownOrganisation,
    /// Nobody has that address.
    #[error("no user has that e-mail address")]
    UnknownUser,
    /// A field does not fit; named as on the wire.
    #[error("{field} {why}")]
    Field {
        /// Which.
        field: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Somebody has that address.
    #[error("emailAddress is in use already")]
    Taken,
    /// The organisation has as many users as it may have.
    #[error("too many users")]
    TooMany,
    /// The password does not fit.
    #[error(transparent)]
    Password(#[from] password::Unfit),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A person to be added.
#[derive(Debug, Clone, Default)]
pub struct NewUser {
    pub first_name: String,
    pub last_name: String,
    pub role: String,
    pub email: String,
    pub phone: String,
    pub time_zone: String,
    /// Without one the person cannot sign in yet.
    pub password: Option<Secret<String>>,
}

impl App {
    /// Adds a person to an organisation, or to the house.
    pub async fn add_user(&self, actor: Actor, org: OrgId, new: NewUser) -> Result<User, Error> {
        let user = self.checked_user(new)?;
        let act = self.act(actor, "user.add");
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                if org != OrgId::HOUSE && organisations::find(tx, org)?.is_none() {
                    return Err(Error::UnknownOrganisation);
                }
                if users::count(tx, org)? >= limits::USERS_PER_ORGANISATION_MAX {
                    return Err(Error::TooMany);
                }
                users::insert(tx, org, &user)?;
                let whose = Some(org).filter(|org| *org != OrgId::HOUSE);
                act.note(tx, whose, user.id, user.role.name())?;
                Ok(user.clone())
            })
            .await
            .map_err(taken)
    }

    /// All people of an organisation.
    pub async fn users(&self, org: OrgId) -> Result<Vec<User>, Error> {
        self.store()
            .read(move |tx| {
                if org != OrgId::HOUSE && organisations::find(tx, org)?.is_none() {
                    return Err(Error::UnknownOrganisation);
                }
                Ok(users::of_org(tx, org)?)
            })
            .await
    }

    /// Gives a person another password. All sessions end.
    pub async fn set_password(
        &self,
        actor: Actor,
        email: &str,
        password: &Secret<String>,
    ) -> Result<(), Error> {
        let email = Email::parse(email).map_err(|_| Error::UnknownUser)?;
        let hash = password::hash(self.rt(), password)?;
        let act = self.act(actor, "user.password");
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                if !users::set_password(tx, &email, &hash)? {
                    return Err(Error::UnknownUser);
                }
                if let Some(account) = users::by_email(tx, &email)? {
                    sessions::end_all(tx, account.user.id)?;
                    sessions::drop_links(tx, account.user.id)?;
                }
                act.note(tx, None, email.as_str(), "")?;
                Ok(())
            })
            .await
    }

    pub(crate) fn checked_user(&self, new: NewUser) -> Result<User, Error> {
        let texts = [
            ("firstName", &new.first_name),
            ("lastName", &new.last_name),
            ("phoneNumber", &new.phone),
            ("timeZone", &new.time_zone),
        ];
        for (field, text) in texts {
            if text.chars().count() > limits::TEXT_CHARS_MAX {
                return Err(Error::Field { field, why: "must be at most 1000 characters" });
            }
        }
        let role = Role::parse(&new.role).ok_or(Error::Field {
            field: "role",
            why: "must be Owner, Admin, Developer, Support or Viewer",
        })?;
        let email = Email::parse(&new.email).map_err(|_| Error::Field {
            field: "emailAddress",
            why: "must be an e-mail address",
        })?;
        let password_hash = match &new.password {
            Some(password) => Some(password::hash(self.rt(), password)?),
            None => None,
        };
        Ok(User {
            id: self.user_id(),
            first_name: new.first_name,
            last_name: new.last_name,
            role,
            email,
            phone: new.phone,
            time_zone: new.time_zone,
            password_hash,
            created_at: self.now(),
        })
    }
}

fn taken(error: Error) -> Error {
    match error {
        Error::Store(cause) if cause.is_unique(users::EMAIL_KEY) => Error::Taken,
        other => other,
    }
}
