//! The house: what must exist before the first reseller, and the demo.

use domain::{Mode, OrgId, Secret};
use store::{StoreError, Tx, keys, organisations, settings, users};

use crate::keys::Purpose;
use crate::organisations::Change;
use crate::users::NewUser;
use crate::{Actor, App};

/// What a first start made, or a later one found again.
#[derive(Debug)]
pub struct Demo {
    /// The demo organisation.
    pub organisation: OrgId,
    /// Its API key.
    pub api_key: Secret<String>,
    /// The operator's key.
    pub operator_key: Secret<String>,
    /// The address its user signs in with.
    pub portal_email: &'static str,
    /// And the password.
    pub portal_password: Secret<String>,
    /// The same for the operator's staff.
    pub console_email: &'static str,
    /// And the password.
    pub console_password: Secret<String>,
}

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
    /// The database has been used for something else.
    #[error(
        "this database was not made by the demo, and the demo leaves it alone; \
         choose another folder with --data"
    )]
    NotADemo,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A key.
    #[error(transparent)]
    Key(#[from] crate::keys::Error),
    /// A user.
    #[error(transparent)]
    User(#[from] crate::users::Error),
    /// The test card.
    #[error(transparent)]
    Card(#[from] crate::sandbox::Error),
    /// An organisation.
    #[error(transparent)]
    Organisation(#[from] crate::organisations::Error),
}

/// Name of the setting that holds the id of the demo's organisation.
const DEMO: &str = "demo-organisation";
const PORTAL_EMAIL: &str = "portal@demo.example";
const CONSOLE_EMAIL: &str = "console@demo.example";

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

    /// Sets up the demo, or finds what an earlier start has set up. A start that was killed
    /// half-way is finished by the next one. A database that the demo did not make is left alone.
    pub async fn demo(&self) -> Result<Demo, Error> {
        let organisation = self.demo_organisation().await?;
        let portal_password = Secret::new(self.vault().derived_word("demo portal password"));
        let console_password = Secret::new(self.vault().derived_word("demo console password"));
        let known = self.store().read(move |tx| organisations::find(tx, organisation)).await?;
        if known.is_none() {
            self.add_demo_organisation(organisation).await?;
        }
        if self.store().read(|tx| keys::count(tx, OrgId::HOUSE)).await? == 0 {
            self.add_key(Actor::Service, OrgId::HOUSE, "first operator key", true).await?;
        }
        self.add_first_user(OrgId::HOUSE, CONSOLE_EMAIL, &console_password).await?;
        self.add_first_user(organisation, PORTAL_EMAIL, &portal_password).await?;
        Ok(Demo {
            organisation,
            api_key: self.primary_key(organisation).await?,
            operator_key: self.primary_key(OrgId::HOUSE).await?,
            portal_email: PORTAL_EMAIL,
            portal_password,
            console_email: CONSOLE_EMAIL,
            console_password,
        })
    }

    /// The id of the demo's organisation, noted before anything else is made.
    async fn demo_organisation(&self) -> Result<OrgId, Error> {
        let fresh = self.org_id();
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                if let Some(noted) = settings::find(tx, DEMO)? {
                    let text = String::from_utf8(noted).unwrap_or_default();
                    return OrgId::parse(&text).map_err(|_| Error::NotADemo);
                }
                let used = keys::count(tx, OrgId::HOUSE)? > 0
                    || users::count(tx, OrgId::HOUSE)? > 0
                    || !organisations::page(tx, OrgId::HOUSE, 1)?.is_empty();
                if used {
                    return Err(Error::NotADemo);
                }
                settings::put_first(tx, DEMO, fresh.to_string().as_bytes())?;
                Ok(fresh)
            })
            .await
    }

    async fn add_demo_organisation(&self, id: OrgId) -> Result<(), Error> {
        let change = Change {
            name: Some("Demo Reseller".into()),
            tax_liable: Some("No".into()),
            addr1: Some("1 Demo Quay".into()),
            city: Some("Demoville".into()),
            country: Some("Nowhere".into()),
            postcode: Some("00000".into()),
            notes: Some("Made by `tern demo`; nothing in it is real.".into()),
            business_type: Some("Demo".into()),
            website: Some("https://reseller.example".into()),
            product_description: Some("Demo eSIMs for demo travellers".into()),
            ..Change::default()
        };
        let (actor, mode) = (Actor::Service, Mode::Sandbox);
        self.add_organisation_as(id, actor, (mode, "USD"), &change).await?;
        self.store_card(id, Some("pays")).await?;
        Ok(())
    }

    /// Adds an owner unless the organisation has people.
    async fn add_first_user(
        &self,
        org: OrgId,
        email: &str,
        password: &Secret<String>,
    ) -> Result<(), Error> {
        if self.store().read(move |tx| users::count(tx, org)).await? == 0 {
            self.add_user(Actor::Service, org, owner("Demo", email, password)).await?;
        }
        Ok(())
    }

    async fn primary_key(&self, org: OrgId) -> Result<Secret<String>, Error> {
        let sealed = self.store().read(move |tx| keys::primary(tx, org)).await?;
        let missing = || StoreError::Corrupt { column: 0, row: org.to_string() };
        Ok(self.opened(org, sealed)?.ok_or_else(missing)?)
    }
}

fn owner(first_name: &str, email: &str, password: &Secret<String>) -> NewUser {
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
