//! Forgetting: what nobody needs any more goes, a little at a time.

use domain::{OrgId, Timestamp, limits};
use store::{StoreError, deliveries, guesses, organisations, records, sessions};

use crate::App;

impl App {
    /// Forgets old deliveries and empties old records for as long as the service runs.
    pub async fn forget_old(self) {
        loop {
            if let Err(error) = self.forget_once().await {
                tracing::debug!(error = %error, "old records stay for now");
            }
            self.rt().sleep(limits::FORGET_EVERY).await;
        }
    }

    /// Does it once: what is done is older than what the operator wants kept.
    pub async fn forget_once(&self) -> Result<(), StoreError> {
        let options = self.ports().options;
        let now = self.now();
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                sessions::forget_old(tx, now)?;
                guesses::forget_old(tx, now.minus(limits::GUESSES_TIME))
            })
            .await?;
        self.empty_records(now.plus_days(-options.keep_records_days)).await?;
        let before = now.plus_days(-options.keep_deliveries_days);
        let mut after = OrgId::HOUSE;
        loop {
            let page = limits::OPERATOR_PAGE_DEFAULT;
            let orgs = self.store().read(move |tx| organisations::ids(tx, after, page)).await?;
            for org in &orgs {
                self.forget_failures(*org).await?;
                self.forget_deliveries(*org, before).await?;
            }
            match orgs.last() {
                Some(last) => after = *last,
                None => return Ok(()),
            }
        }
    }

    async fn empty_records(&self, before: Timestamp) -> Result<(), StoreError> {
        let most = limits::DELIVERIES_PER_WRITE;
        loop {
            let emptied = self.store().write(OrgId::HOUSE, move |tx| {
                records::forget_strays(tx, before)?;
                records::empty_old(tx, before, most)
            });
            if i64::try_from(emptied.await?) != Ok(most) {
                return Ok(());
            }
        }
    }

    async fn forget_deliveries(&self, org: OrgId, before: Timestamp) -> Result<(), StoreError> {
        let most = limits::DELIVERIES_PER_WRITE;
        loop {
            let is_old = self.store().read(move |tx| deliveries::has_old(tx, org, before)).await?;
            if !is_old {
                return Ok(());
            }
            self.store().write(org, move |tx| deliveries::forget(tx, org, before, most)).await?;
        }
    }
}
