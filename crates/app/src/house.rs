//! The house: what must exist before the first reseller, and the demo.

use domain::{Mode, OrgId, Secret};
use store::{StoreError, keys, organisations, users};

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

/// Why the house could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A user.
    #[error(transparent)]
    User(#[from] crate::users::Error),
    /// An organisation.
    #[error(transparent)]
    Organisation(#[from] crate::organisations::Error),
}

const PORTAL_EMAIL: &str = "portal@demo.example";
const CONSOLE_EMAIL: &str = "console@demo.example";

impl App {
    /// Makes the first operator key if there is none; its text, if it was made now. Two nodes that
    /// start at once make one between them.
    pub async fn first_operator_key(&self) -> Result<Option<Secret<String>>, Error> {
        let mut new = self.new_key(OrgId::HOUSE, Purpose::Operator, "first operator key");
        new.key.primary_at = Some(new.key.created_at);
        let text = new.text.clone();
        let act = self.act(Actor::Service, "key.add");
        let made = self
            .store()
            .write(OrgId::HOUSE, move |tx| {
                if keys::count(tx, OrgId::HOUSE)? > 0 {
                    return Ok(false);
                }
                new.insert(tx)?;
                act.note(tx, None, new.key.id, "first operator key")?;
                Ok::<_, StoreError>(true)
            })
            .await?;
        Ok(made.then_some(text))
    }

    /// Makes the first console user if there is none; its password, if it was made now.
    pub async fn first_console_user(&self, email: &str) -> Result<Option<Secret<String>>, Error> {
        let password = Secret::new(domain::hex(&self.rt().random::<12>()));
        let made = self.add_first_user(OrgId::HOUSE, "Console", email, &password).await?;
        Ok(made.then_some(password))
    }

    /// Sets up the demo, or finds what an earlier start has set up. A start that was killed
    /// half-way is finished by the next one.
    pub async fn demo(&self) -> Result<Demo, Error> {
        self.first_operator_key().await?;
        let portal_password = Secret::new(self.vault().derived_word("demo portal password"));
        let console_password = Secret::new(self.vault().derived_word("demo console password"));
        let found = self.store().read(|tx| organisations::page(tx, OrgId::HOUSE, 1)).await?;
        let organisation = match found.first() {
            Some(organisation) => organisation.id,
            None => self.add_demo_organisation().await?,
        };
        self.add_first_user(OrgId::HOUSE, "Demo", CONSOLE_EMAIL, &console_password).await?;
        self.add_first_user(organisation, "Demo", PORTAL_EMAIL, &portal_password).await?;
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

    async fn add_demo_organisation(&self) -> Result<OrgId, Error> {
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
        let made = self.add_organisation(Actor::Service, Mode::Sandbox, "USD", &change).await?;
        Ok(made.0.organisation.id)
    }

    /// Adds an owner unless the organisation has people; says whether it did.
    async fn add_first_user(
        &self,
        org: OrgId,
        first_name: &str,
        email: &str,
        password: &Secret<String>,
    ) -> Result<bool, Error> {
        if self.store().read(move |tx| users::count(tx, org)).await? > 0 {
            return Ok(false);
        }
        let new = NewUser {
            first_name: first_name.into(),
            last_name: "Owner".into(),
            role: "Owner".into(),
            email: email.into(),
            time_zone: "Etc/UTC".into(),
            password: Some(password.clone()),
            ..NewUser::default()
        };
        match self.add_user(Actor::Service, org, new).await {
            Ok(_) => Ok(true),
            // Another node was quicker.
            Err(crate::users::Error::Taken) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn primary_key(&self, org: OrgId) -> Result<Secret<String>, Error> {
        let sealed = self.store().read(move |tx| keys::primary(tx, org)).await?;
        let missing = || StoreError::Corrupt { column: 0, row: org.to_string() };
        Ok(self.opened(org, sealed)?.ok_or_else(missing)?)
    }
}
