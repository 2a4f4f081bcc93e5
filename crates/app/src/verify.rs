//! Adds everything up again: the chain, the sums, the balances, the lots, what is on eSIMs. Needs
//! the database only.

mod esims;
mod lots;

use domain::ledger::{Account, balanced, read_postings};
use domain::{OrgId, limits};
use store::ledger::{self, Posted};
use store::{Head, Store, StoreError, heads};

/// What verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Entries looked at.
    pub entries: u64,
    /// What is wrong, each naming its row.
    pub faults: Vec<String>,
}

/// Verifies every organisation, page by page.
pub async fn verify(store: &Store) -> Result<Report, StoreError> {
    let mut report = Report::default();
    let mut after = OrgId::HOUSE;
    loop {
        let page = store.read(move |tx| heads::page(tx, after, limits::LEDGER_PAGE)).await?;
        let Some((last, _)) = page.last() else { return Ok(report) };
        after = *last;
        for (org, head) in page {
            verify_one(store, org, &head, &mut report).await?;
        }
    }
}

async fn verify_one(
    store: &Store,
    org: OrgId,
    head: &Head,
    report: &mut Report,
) -> Result<(), StoreError> {
    let mut sum = Sum::default();
    // Entries posted since the head was read belong to a later head.
    while sum.seq < head.ledger_seq() {
        let after = sum.seq;
        let most = limits::LEDGER_PAGE.min(head.ledger_seq() - after);
        let page = store.read(move |tx| ledger::page(tx, org, after, most)).await?;
        if page.is_empty() {
            break;
        }
        for posted in page {
            report.entries += 1;
            sum.add(org, &posted, &mut report.faults);
        }
    }
    sum.compare(org, head, &mut report.faults);
    lots::verify(store, org, &mut report.faults).await?;
    esims::verify(store, org, &mut report.faults).await
}

/// The ledger of one organisation, recomputed so far.
#[derive(Default)]
struct Sum {
    seq: i64,
    hash: Option<Vec<u8>>,
    balances: [i64; 8],
}

impl Sum {
    fn add(&mut self, org: OrgId, posted: &Posted, faults: &mut Vec<String>) {
        let mut fault = |what: &str| {
            faults.push(format!("organisation {org}, ledger entry {}: {what}", posted.seq));
        };
        if posted.seq != self.seq + 1 {
            fault(&format!("follows entry {}", self.seq));
        }
        if posted.hash != posted.expected_hash(org, self.hash.as_deref()) {
            fault("its hash does not fit its contents or the entry before");
        }
        match read_postings(&posted.postings) {
            None => fault("its postings cannot be read"),
            Some(postings) => {
                if let Err(error) = balanced(&postings) {
                    fault(&error.to_string());
                }
                for posting in postings {
                    let balance = &mut self.balances[posting.account as usize];
                    *balance = balance.saturating_add(posting.amount);
                    if posting.account.is_owned() && *balance < 0 {
                        fault(&format!("{} falls below zero", posting.account.name()));
                    }
                }
            }
        }
        self.seq = posted.seq;
        self.hash = Some(posted.hash.clone());
    }

    fn compare(&self, org: OrgId, head: &Head, faults: &mut Vec<String>) {
        let mut fault = |what: String| faults.push(format!("organisation {org}, head: {what}"));
        if self.seq != head.ledger_seq() {
            fault(format!("counts {} entries, there are {}", head.ledger_seq(), self.seq));
        }
        if self.hash.as_deref() != head.ledger_hash() {
            fault("its hash is not that of the last entry".to_owned());
        }
        for account in Account::ALL {
            let (kept, sum) = (head.on(account), self.balances[account as usize]);
            if kept != sum {
                fault(format!("{} is {kept}, the entries sum to {sum}", account.name()));
            }
        }
    }
}
