//! The audit log of one organisation: what was done to it, and by whom.

use domain::{AuditId, OrgId};
use store::StoreError;
use store::audit::{self, Entry};

use crate::App;

impl App {
    /// Entries of an organisation from the newest on, or from the one before `before`. A fresh
    /// start does not end its log.
    pub async fn audit_of(
        &self,
        org: OrgId,
        before: Option<AuditId>,
        most: i64,
    ) -> Result<Vec<Entry>, StoreError> {
        self.store().read(move |tx| audit::page_of_org(tx, org, before, most)).await
    }
}
