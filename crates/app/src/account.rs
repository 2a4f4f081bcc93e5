//! What a reseller sees of its own organisation.

use domain::{Organisation, Secret, Timestamp, User};
use store::{StoreError, heads, keys, organisations, users};

use crate::{App, Balances, Caller};

/// An organisation as it sees itself.
#[derive(Debug, Clone)]
pub struct Account {
    /// The organisation.
    pub organisation: Organisation,
    /// What it has.
    pub balances: Balances,
    /// Its primary key.
    pub api_key: Option<Secret<String>>,
    /// Its people.
    pub users: Vec<User>,
}

impl App {
    /// What the caller has, and the time by its own clock.
    pub async fn balances(&self, caller: &Caller) -> Result<(Balances, Timestamp), StoreError> {
        let (org, now, currency) = (caller.org(), self.now(), caller.market().currency);
        self.store()
            .read(move |tx| {
                let gone = || StoreError::Corrupt { column: 0, row: org.to_string() };
                let head = heads::find(tx, org)?.ok_or_else(gone)?;
                Ok((Balances::of(&head, currency, now), head.clock(now)))
            })
            .await
    }

    /// The caller's own organisation.
    pub async fn account(&self, caller: &Caller) -> Result<Account, StoreError> {
        let org = caller.org();
        let (organisation, head, sealed, users) = self
            .store()
            .read(move |tx| {
                let gone = || StoreError::Corrupt { column: 0, row: org.to_string() };
                let organisation = organisations::find(tx, org)?.ok_or_else(gone)?;
                let head = heads::find(tx, org)?.ok_or_else(gone)?;
                Ok::<_, StoreError>((
                    organisation,
                    head,
                    keys::primary(tx, org)?,
                    users::of_org(tx, org)?,
                ))
            })
            .await?;
        let balances = Balances::of(&head, organisation.currency, self.now());
        Ok(Account { organisation, balances, api_key: self.opened(org, sealed)?, users })
    }
}
