//! What the operator gives: credit, and promotional credit that expires.

use domain::event::Event;
use domain::ledger::{Account, Entry, Kind};
use domain::{Money, OrgId, Timestamp, limits};
use store::jobs::Job;
use store::{Head, StoreError, Tx, ledger, organisations};

use crate::jobs::{TEST_CREDIT_EXPIRY, Verdict};
use crate::{Actor, App, Balances};

/// Why nothing was given.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such organisation.
    #[error("organisation not found")]
    UnknownOrganisation,
    /// The amount is nothing, or too much.
    #[error("amount must be a whole number of minor units that is not 0")]
    Amount,
    /// A reason is missing or too long.
    #[error("reason must have 1 to 1000 characters")]
    Reason,
    /// The moment is not in the future.
    #[error("expiresAt must be in the future")]
    Expiry,
    /// It would take more than there is.
    #[error("the balance would fall below zero")]
    Overdrawn,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ledger::Error> for Error {
    fn from(error: ledger::Error) -> Self {
        match error {
            ledger::Error::Overdrawn(_) => Self::Overdrawn,
            ledger::Error::OutOfRange => Self::Amount,
            ledger::Error::Store(cause) => Self::Store(cause),
        }
    }
}

impl App {
    /// Gives an organisation credit, or takes some back with a negative amount.
    pub async fn credit(
        &self,
        actor: Actor,
        org: OrgId,
        amount: i64,
        reason: &str,
    ) -> Result<Balances, Error> {
        check(amount, reason)?;
        let (app, act, event) = (self.clone(), self.act(actor, "credit.give"), self.event_id());
        let low = self.event_id();
        let (reason, draft) = (reason.to_owned(), self.auto_draft());
        let given = self.store().write(org, move |tx| {
            let organisation = organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
            let clock = clock(tx, act.at)?;
            let old = balance(tx, organisation.currency);
            let moved = [(Account::Available, amount), (Account::OperatorCredit, -amount)];
            ledger::post(tx, clock, &entry(Kind::Credit, &act.reference(), &reason, &moved)?)?;
            let new = balance(tx, organisation.currency);
            app.tell(tx, &organisation, (event, clock), &Event::Credit { old, new })?;
            app.tell_if_low(tx, &organisation, old.in_minor(), (low, clock))?;
            App::top_up_if_low(tx, &organisation, &draft)?;
            act.note(tx, Some(org), org, &format!("{amount}: {reason}"))?;
            Ok::<_, Error>(Balances::of(head(tx)?, organisation.currency, act.at))
        });
        let balances = given.await?;
        self.work().wake();
        self.outgoing().wake();
        Ok(balances)
    }

    /// Gives promotional credit. It is one pot with one end: the later of the two.
    pub async fn test_credit(
        &self,
        actor: Actor,
        org: OrgId,
        amount: i64,
        (reason, expires_at): (&str, Timestamp),
    ) -> Result<Balances, Error> {
        check(amount, reason)?;
        if amount < 0 {
            return Err(Error::Amount);
        }
        let (act, job) = (self.act(actor, "testCredit.give"), self.job_id());
        let reason = reason.to_owned();
        self.store()
            .write(org, move |tx| {
                let organisation =
                    organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
                let clock = clock(tx, act.at)?;
                if expires_at <= clock {
                    return Err(Error::Expiry);
                }
                expire_if_due(tx, clock)?;
                let moved = [(Account::TestCredit, amount), (Account::OperatorCredit, -amount)];
                let entry = entry(Kind::TestCredit, &act.reference(), &reason, &moved)?;
                ledger::post(tx, clock, &entry)?;
                let end = head_mut(tx)?.test_credit_expires_at.max(Some(expires_at));
                head_mut(tx)?.test_credit_expires_at = end;
                head_mut(tx)?.test_credit_since.get_or_insert(clock);
                let due = end.unwrap_or(expires_at);
                App::add_job(tx, job, (TEST_CREDIT_EXPIRY, ""), due, act.at)?;
                act.note(tx, Some(org), org, &format!("{amount} until {due}: {reason}"))?;
                Ok(Balances::of(head(tx)?, organisation.currency, act.at))
            })
            .await
    }
}

/// The job: promotional credit ends.
pub(crate) async fn expire(app: &App, job: &Job) -> Result<Verdict, StoreError> {
    let (worker, job, now) = (app.clone(), job.clone(), app.now());
    let org = job.org;
    let ended = app.store().write(org, move |tx| {
        if !worker.is_mine(tx, &job)? {
            return Ok(());
        }
        let clock = clock(tx, now)?;
        expire_if_due(tx, clock)?;
        store::jobs::done(tx, job.id)?;
        Ok::<_, Error>(())
    });
    match ended.await {
        Ok(()) => Ok(Verdict::Settled),
        Err(Error::Store(cause)) => Err(cause),
        Err(other) => Ok(Verdict::Dead(other.to_string())),
    }
}

/// What an organisation can spend at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Purse {
    balance: i64,
    /// What has not expired.
    test_credit: i64,
}

impl Purse {
    pub(crate) fn of(tx: &Tx<'_>, clock: Timestamp) -> Result<Self, StoreError> {
        Ok(Self::in_head(tx.head().ok_or_else(no_head)?, clock))
    }

    /// The same where nothing is written.
    pub(crate) fn in_head(head: &Head, clock: Timestamp) -> Self {
        let is_valid = head.test_credit_expires_at.is_none_or(|end| end > clock);
        let test_credit = if is_valid { head.on(Account::TestCredit) } else { 0 };
        Self { balance: head.on(Account::Available), test_credit }
    }

    /// Everything in it.
    pub(crate) fn total(self) -> i64 {
        self.balance.saturating_add(self.test_credit)
    }

    pub(crate) fn covers(self, amount: i64) -> bool {
        self.total() >= amount
    }
}

/// How something was paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paid {
    /// The share of test credit.
    pub(crate) test_credit: i64,
}

/// Pays from test credit first, then from the balance. The purse must cover it.
pub(crate) fn pay(
    tx: &mut Tx<'_>,
    clock: Timestamp,
    cause: (Kind, &str),
    (amount, into): (i64, Account),
) -> Result<Paid, StoreError> {
    let purse = Purse::of(tx, clock)?;
    let test_credit = purse.test_credit.min(amount);
    let moved = [
        (Account::Available, test_credit - amount),
        (Account::TestCredit, -test_credit),
        (into, amount),
    ];
    if amount > 0 {
        post(tx, clock, cause, &moved)?;
    }
    Ok(Paid { test_credit })
}

/// Money that comes back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Back {
    /// How much of it had been test credit.
    pub(crate) test_credit: i64,
    /// When it was spent.
    pub(crate) spent_at: Timestamp,
}

/// Where an amount that comes back goes: the share of test credit to test credit, or, when that has
/// expired since it was spent, to breakage.
pub(crate) fn returned(
    tx: &mut Tx<'_>,
    amount: i64,
    back: Back,
    clock: Timestamp,
) -> Result<[(Account, i64); 2], StoreError> {
    expire_if_due(tx, clock)?;
    let head = tx.head().ok_or_else(no_head)?;
    let is_same_pot = head.test_credit_since.is_some_and(|since| since <= back.spent_at);
    let credit = if is_same_pot { Account::TestCredit } else { Account::Breakage };
    Ok([(Account::Available, amount - back.test_credit), (credit, back.test_credit)])
}

/// Posts an entry; what moves nothing is left out.
pub(crate) fn post(
    tx: &mut Tx<'_>,
    clock: Timestamp,
    (kind, reference): (Kind, &str),
    moved: &[(Account, i64)],
) -> Result<(), StoreError> {
    let moved: Vec<_> = moved.iter().copied().filter(|(_, amount)| *amount != 0).collect();
    let entry = entry(kind, reference, "", &moved)?;
    ledger::post(tx, clock, &entry).map(drop).map_err(refused)
}

/// A refusal of the ledger where the rules have made sure that there is none.
pub(crate) fn refused(error: ledger::Error) -> StoreError {
    match error {
        ledger::Error::Store(cause) => cause,
        other => StoreError::Refused(other.to_string()),
    }
}

/// Moves what is left of expired credit to breakage.
pub(crate) fn expire_if_due(tx: &mut Tx<'_>, clock: Timestamp) -> Result<(), StoreError> {
    let head = tx.head().ok_or_else(no_head)?;
    let Some(end) = head.test_credit_expires_at.filter(|end| *end <= clock) else {
        return Ok(());
    };
    let left = head.on(Account::TestCredit);
    if left > 0 {
        let moved = [(Account::TestCredit, -left), (Account::Breakage, left)];
        // The end of the pot names it: each end comes once.
        let reference = end.ms().to_string();
        let entry = entry(Kind::TestCreditExpiry, &reference, "test credit expired", &moved)?;
        ledger::post(tx, clock, &entry).map_err(refused)?;
    }
    let head = tx.head_mut().ok_or_else(no_head)?;
    head.test_credit_expires_at = None;
    head.test_credit_since = None;
    Ok(())
}

fn no_head() -> StoreError {
    StoreError::Refused("money outside a write of its organisation".to_owned())
}

fn check(amount: i64, reason: &str) -> Result<(), Error> {
    if amount == 0 || amount.unsigned_abs() > limits::AMOUNT_MAX.unsigned_abs() {
        return Err(Error::Amount);
    }
    let length = reason.chars().count();
    if (1..=limits::TEXT_CHARS_MAX).contains(&length) { Ok(()) } else { Err(Error::Reason) }
}

fn entry(
    kind: Kind,
    reference: &str,
    reason: &str,
    moved: &[(Account, i64)],
) -> Result<Entry, StoreError> {
    Entry::new(kind, reference, reason, moved)
        .map_err(|error| StoreError::Refused(error.to_string()))
}

fn head<'t>(tx: &'t Tx<'_>) -> Result<&'t store::Head, Error> {
    tx.head().ok_or(Error::UnknownOrganisation)
}

fn head_mut<'t>(tx: &'t mut Tx<'_>) -> Result<&'t mut store::Head, Error> {
    tx.head_mut().ok_or(Error::UnknownOrganisation)
}

fn clock(tx: &Tx<'_>, now: Timestamp) -> Result<Timestamp, Error> {
    Ok(head(tx)?.clock(now))
}

fn balance(tx: &Tx<'_>, currency: domain::Currency) -> Money {
    Money::minor(tx.head().map_or(0, |head| head.on(Account::Available)), currency)
}
