//! What the service *does*: one file per use-case, each one transaction.
//!
//! Knows the words of the trade and the tables. Knows nothing of HTTP, JSON, API releases or any
//! concrete outside system.

pub mod access;
pub mod account;
mod answer;
pub mod audit;
pub mod callbacks;
pub mod catalogue;
pub mod credit;
pub mod demo;
pub mod erasure;
pub mod esims;
pub mod events;
pub mod failures;
pub mod house;
pub mod idempotency;
mod ids;
pub mod inventory;
pub mod jobs;
pub mod keys;
mod low;
pub mod orders;
pub mod organisations;
pub mod overview;
pub mod password;
pub mod people;
pub mod qr;
pub mod sandbox;
pub mod shares;
pub mod statement;
pub mod stock;
pub mod topup;
pub mod usage;
pub mod users;
pub mod vault;
pub mod verify;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::event::Forms;
use domain::ledger::Account;
use domain::ports::callbacks::Receivers;
use domain::ports::network::Network;
use domain::ports::payments::Payments;
use domain::ports::sms::Sms;
use domain::{
    AuditId, Currency, EventId, JobId, KeyId, Money, OrderId, OrgId, Timestamp, UserId, limits,
};
pub use store::sql::Stats;
pub use store::{Database, Rt, Store, StoreError};
use tokio::sync::Semaphore;

pub use self::access::{Caller, Operator};
pub use self::answer::{Answer, Answers};
pub use self::audit::{Actor, Deed};
pub use self::people::Member;
use self::vault::Vault;

/// The service: its store, its clock and randomness, its vault. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    store: Store,
    rt: Rt,
    vault: Vault,
    access: access::Cache,
    shelf: catalogue::Cache,
    ports: Ports,
    work: jobs::Work,
    outgoing: callbacks::Outgoing,
    levels: stock::Levels,
    passwords: Semaphore,
    is_closing: AtomicBool,
    failures: failures::Waiting,
}

/// What the service needs from outside: the world, and how answers are written.
#[derive(Clone)]
pub struct Ports {
    /// Charges the test cards of sandbox organisations.
    pub test_payments: Arc<dyn Payments>,
    /// Charges the cards of live ones, where there is a provider.
    pub live_payments: Option<Arc<dyn Payments>>,
    /// Tells the network of live organisations what their eSIMs may do, where there is one.
    pub live_network: Option<Arc<dyn Network>>,
    /// Sends text messages of live organisations, where there is a centre.
    pub live_sms: Option<Arc<dyn Sms>>,
    /// Writes events as receivers know them.
    pub forms: Arc<dyn Forms>,
    /// The way to receivers of callbacks.
    pub receivers: Arc<dyn Receivers>,
    /// Writes answers that are kept, in the form whoever asked wants.
    pub answers: Arc<dyn Answers>,
    /// What the operator has chosen.
    pub options: Options,
}

/// What the operator has chosen for the whole installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether callbacks may go to addresses that are not on the public network.
    pub inside_callbacks: bool,
    /// Days for which deliveries and their attempts are kept once they are done.
    pub keep_deliveries_days: i64,
    /// Days for which records are kept; that they came is never forgotten.
    pub keep_records_days: i64,
}

impl Default for Options {
    fn default() -> Self {
        Self { inside_callbacks: false, keep_deliveries_days: 30, keep_records_days: 400 }
    }
}

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database does not answer or does not fit.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The vault file belongs to another database.
    #[error(
        "the vault file is not the one this database was made with; \
         put back the right one (it was written at the first start)"
    )]
    WrongVault,
}

impl App {
    /// Opens the service on a migrated database and proves that the vault file fits it.
    pub async fn open(store: Store, rt: Rt, vault: Vault, ports: Ports) -> Result<Self, OpenError> {
        let proof = vault.proof();
        let put =
            move |tx: &mut store::Tx<'_>| store::settings::put_first(tx, vault::PROOF, &proof);
        store.write(OrgId::HOUSE, put).await?;
        if !vault_fits(&store, &vault).await? {
            return Err(OpenError::WrongVault);
        }
        let work = jobs::Work::new(&rt);
        Ok(Self(Arc::new(Inner {
            store,
            rt,
            vault,
            access: access::Cache::default(),
            shelf: catalogue::Cache::default(),
            ports,
            work,
            outgoing: callbacks::Outgoing::default(),
            levels: stock::Levels::default(),
            passwords: Semaphore::new(limits::PASSWORDS_AT_ONCE),
            failures: failures::Waiting::default(),
            is_closing: AtomicBool::new(false),
        })))
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The door to time, randomness and tasks.
    pub fn rt(&self) -> &Rt {
        &self.0.rt
    }

    pub(crate) fn vault(&self) -> &Vault {
        &self.0.vault
    }

    pub(crate) fn ports(&self) -> &Ports {
        &self.0.ports
    }

    pub(crate) fn work(&self) -> &jobs::Work {
        &self.0.work
    }

    pub(crate) fn outgoing(&self) -> &callbacks::Outgoing {
        &self.0.outgoing
    }

    pub(crate) fn levels(&self) -> &stock::Levels {
        &self.0.levels
    }

    /// The service is about to stop: what goes on without end, such as a page that follows changes,
    /// comes to one.
    pub fn close_soon(&self) {
        self.0.is_closing.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    pub fn is_closing(&self) -> bool {
        self.0.is_closing.load(Ordering::Relaxed)
    }

    /// Turns at checking a password.
    pub(crate) fn passwords(&self) -> &Semaphore {
        &self.0.passwords
    }

    pub(crate) fn failures_waiting(&self) -> &failures::Waiting {
        &self.0.failures
    }

    pub(crate) fn access(&self) -> &access::Cache {
        &self.0.access
    }

    pub(crate) fn shelf(&self) -> &catalogue::Cache {
        &self.0.shelf
    }

    fn now(&self) -> Timestamp {
        self.0.rt.now()
    }

    fn org_id(&self) -> OrgId {
        OrgId::new(self.now(), self.0.rt.random())
    }

    fn key_id(&self) -> KeyId {
        KeyId::new(self.now(), self.0.rt.random())
    }

    fn user_id(&self) -> UserId {
        UserId::new(self.now(), self.0.rt.random())
    }

    fn job_id(&self) -> JobId {
        JobId::new(self.now(), self.0.rt.random())
    }

    fn event_id(&self) -> EventId {
        EventId::new(self.now(), self.0.rt.random())
    }

    fn order_id(&self) -> OrderId {
        OrderId::new(self.now(), self.0.rt.random())
    }

    fn audit_id(&self) -> AuditId {
        AuditId::new(self.now(), self.0.rt.random())
    }
}

/// Whether this is the vault file that the database was made with. Changes nothing.
pub async fn vault_fits(store: &Store, vault: &Vault) -> Result<bool, StoreError> {
    let kept = store.read(|tx| store::settings::find(tx, vault::PROOF)).await?;
    Ok(kept.as_deref() == Some(&vault.proof()[..]))
}

/// What an organisation has, in its own currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balances {
    /// Prepaid balance.
    pub balance: Money,
    /// Promotional credit.
    pub test_credit: Money,
    /// When that ends.
    pub test_credit_expires_at: Option<Timestamp>,
}

impl Balances {
    /// What there is at the wall-clock time `now`. Credit that has expired pays for nothing.
    pub(crate) fn of(head: &store::Head, currency: Currency, now: Timestamp) -> Self {
        let expired = |at: Timestamp| at <= head.clock(now);
        let is_valid = !head.test_credit_expires_at.is_some_and(expired);
        Self {
            balance: Money::minor(head.on(Account::Available), currency),
            test_credit: Money::minor(
                if is_valid { head.on(Account::TestCredit) } else { 0 },
                currency,
            ),
            test_credit_expires_at: head.test_credit_expires_at,
        }
    }
}
