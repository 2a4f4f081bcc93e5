//! The house: what must exist before the first reseller.

use domain::{OrgId, Secret};
use store::{StoreError, Tx, keys, users};

use crate::keys::Purpose;
use crate::users::NewUser;
use crate::{Actor, App};

/// What a first start made.
#[derive(Debug)]
pub struct FirstStart {
    /// The operator's key.
    pub operator_key: Secret<String>,
    /// The password of the console user.
    pub console_password: Secret<String>,
}

/// Why the house could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The secrets could not be put away, so nothing was made.
    #[error("the first operator key cannot be kept, so none was made: {0}")]
    NotKept(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A key.
    #[error(transparent)]
    Key(#[from] crate::keys::Error),
    /// A user.
    #[error(transparent)]
    User(#[from] crate::users::Error),
}

impl App {
    /// At the first start of an empty database: an operator key and a console user, made together.
    /// `keep` is handed their secrets before anything is committed, so that none is ever lost; says
    /// whether they were made. Two nodes that start at once make one pair between them.
    pub async fn first_start(
        &self,
        email: &str,
        keep: impl FnOnce(&FirstStart) -> Result<(), String>,
    ) -> Result<bool, Error> {
        let is_first = |tx: &mut Tx<'_>| -> Result<bool, StoreError> {
            Ok(keys::count(tx, OrgId::HOUSE)? == 0 && users::count(tx, OrgId::HOUSE)? == 0)
        };
        if !self.store().read(is_first).await? {
            return Ok(false);
        }
        let mut key = self.new_key(OrgId::HOUSE, Purpose::Operator, "first operator key");
        key.key.primary_at = Some(key.key.created_at);
        let password = Secret::new(domain::hex(&self.rt().random::<12>()));
        let user = self.checked_user(owner("Console", email, &password))?;
        let secrets = FirstStart { operator_key: key.text.clone(), console_password: password };
        keep(&secrets).map_err(Error::NotKept)?;
        let (key_act, user_act) =
            (self.act(Actor::Service, "key.add"), self.act(Actor::Service, "user.add"));
        let made = self.store().write(OrgId::HOUSE, move |tx| {
            if !is_first(tx)? {
                return Ok(false);
            }
            key.insert(tx)?;
            users::insert(tx, OrgId::HOUSE, &user)?;
            key_act.note(tx, None, key.key.id, "first operator key")?;
            user_act.note(tx, None, user.id, user.role.name())?;
            Ok::<_, Error>(true)
        });
        made.await
    }
}

pub(crate) fn owner(first_name: &str, email: &str, password: &Secret<String>) -> NewUser {
    NewUser {
        first_name: first_name.into(),
        last_name: "Owner".into(),
        role: "Owner".into(),
        email: email.into(),
        time_zone: "Etc/UTC".into(),
        password: Some(password.clone()),
        ..NewUser::default()
    }
}
