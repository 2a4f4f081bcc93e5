//! Statements: the ledger of an organisation over a period, page by page.

use domain::{OrgId, Timestamp, limits};
pub use store::ledger::Posted;
use store::{StoreError, heads, ledger, organisations};

use crate::{App, Caller};

/// What stands at the head of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Its currency.
    pub currency: domain::Currency,
    /// How many entries the ledger has in all.
    pub entries: i64,
    /// The hash of the last of them, in hexadecimal; empty before the first. Whoever keeps it can
    /// prove later that nothing before it was changed.
    pub head_hash: String,
    /// The entry before the first of the period.
    pub before: i64,
}

impl App {
    /// The heading of a statement from that moment on; none if there is no such organisation.
    pub async fn statement(
        &self,
        org: OrgId,
        from: Timestamp,
    ) -> Result<Option<Heading>, StoreError> {
        self.store()
            .read(move |tx| {
                let found = organisations::find(tx, org)?.zip(heads::find(tx, org)?);
                let Some((organisation, head)) = found else { return Ok(None) };
                let first = ledger::first_since(tx, org, from)?;
                Ok(Some(Heading {
                    currency: organisation.currency,
                    entries: head.ledger_seq(),
                    head_hash: head.ledger_hash().map_or_else(String::new, domain::hex),
                    before: first.map_or(head.ledger_seq(), |first| first - 1),
                }))
            })
            .await
    }

    /// Entries of the caller's ledger from the newest on, or before that number.
    pub async fn ledger_page(
        &self,
        caller: &Caller,
        before: Option<i64>,
        most: i64,
    ) -> Result<Vec<Posted>, StoreError> {
        let (org, before) = (caller.org(), before.unwrap_or(i64::MAX));
        self.store().read(move |tx| ledger::page_before(tx, org, before, most)).await
    }

    /// The next entries of the period, after that number; none once it is over.
    pub async fn statement_page(
        &self,
        org: OrgId,
        after: i64,
        (to, heading): (Timestamp, &Heading),
    ) -> Result<Vec<Posted>, StoreError> {
        // What was posted since belongs to a later statement.
        let most = limits::LEDGER_PAGE.min(heading.entries - after);
        if most <= 0 {
            return Ok(Vec::new());
        }
        let page = self.store().read(move |tx| ledger::page(tx, org, after, most)).await?;
        Ok(page.into_iter().take_while(|posted| posted.at < to).collect())
    }
}
