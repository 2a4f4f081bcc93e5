//! An organisation at a glance: a few figures, one read, none of them counted from end to end.

use domain::esim::ProfileStatus;
use domain::filter::Page;
use domain::ledger::Account;
use domain::order::Order;
use domain::{Money, OrgId, Timestamp, limits};
pub use store::figures::InUse;
use store::{Head, StoreError, Tx, figures, heads, ledger, orders, organisations};

use crate::callbacks::{Health, health};
use crate::{App, Balances, Caller};

/// A number that was counted up to a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// How many, at least.
    pub count: i64,
    /// Whether there may be more.
    pub is_more: bool,
}

/// The first few of a list, and how long it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Few<T> {
    /// The first.
    pub first: Vec<T>,
    /// How many there are.
    pub counted: Counted,
}

/// What is in an inventory that expires soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expiring {
    /// How many lots.
    pub lots: Counted,
    /// How many bundles are left in these.
    pub bundles: i64,
}

/// An organisation at a glance, by its own clock.
#[derive(Debug, Clone)]
pub struct Overview {
    /// Now, by that clock.
    pub clock: Timestamp,
    /// What it has.
    pub balances: Balances,
    /// The balance at the end of each of the last days, oldest first; today's is the present one.
    /// Days before anything is known are left out.
    pub balance_by_day: Vec<(Timestamp, Money)>,
    /// How many eSIMs it has.
    pub esims: i64,
    /// The same by status.
    pub esims_by_status: Vec<(ProfileStatus, Counted)>,
    /// Bytes used on each of the last days, oldest first.
    pub used_by_day: Vec<(Timestamp, i64)>,
    /// Bundles in use that end soon, the first to end first.
    pub ending: Few<InUse>,
    /// Bundles in use of which little is left, the first to end first, of those that end first.
    pub nearly_used: Few<InUse>,
    /// What expires soon in the inventory.
    pub expiring: Expiring,
    /// How its callbacks do.
    pub callbacks: Health,
    /// The newest orders.
    pub orders: Vec<Order>,
}

impl App {
    /// The caller's organisation at a glance.
    pub async fn overview(&self, caller: &Caller) -> Result<Overview, StoreError> {
        let (org, now) = (caller.org(), self.now());
        self.store().read(move |tx| overview(tx, org, now)).await
    }
}

fn overview(tx: &mut Tx<'_>, org: OrgId, now: Timestamp) -> Result<Overview, StoreError> {
    let gone = || StoreError::Corrupt { column: 0, row: org.to_string() };
    let organisation = organisations::find(tx, org)?.ok_or_else(gone)?;
    let head = heads::find(tx, org)?.ok_or_else(gone)?;
    let clock = head.clock(now);
    let from = clock.day() + 1 - limits::OVERVIEW_DAYS;
    let used = figures::used_by_day(tx, org, from)?;
    let used_on = |day| used.iter().find(|(of, _)| *of == day).map_or(0, |(_, bytes)| *bytes);
    let soon = clock.plus(limits::ENDING_SOON);
    let bound = i64::try_from(limits::ENDING_COUNTED_MAX).unwrap_or(i64::MAX);
    let ending = figures::ending(tx, org, (clock, soon), bound)?;
    let in_use = figures::in_use_now(tx, org, clock, limits::IN_USE_LOOKED_AT)?;
    let is_part = i64::try_from(in_use.len()) == Ok(limits::IN_USE_LOOKED_AT);
    let lots = figures::expiring(
        tx,
        org,
        (clock, clock.plus_days(limits::LOT_SOON_DAYS)),
        limits::OVERVIEW_COUNTED_MAX,
    )?;
    let page = Page { number: 1, size: i64::try_from(limits::OVERVIEW_ROWS).unwrap_or(5) };
    let money = |minor| Money::minor(minor, organisation.currency);
    let course = course(&ledger::closings(tx, org, from)?, &head, (from, clock.day()));
    Ok(Overview {
        clock,
        balances: Balances::of(&head, organisation.currency, now),
        balance_by_day: course.into_iter().map(|(day, minor)| (begin(day), money(minor))).collect(),
        esims: head.esims,
        esims_by_status: by_status(tx, org, head.esims)?,
        used_by_day: (from..=clock.day()).map(|day| (begin(day), used_on(day))).collect(),
        ending: few(ending, |len| len >= limits::ENDING_COUNTED_MAX),
        nearly_used: few(in_use.into_iter().filter(is_nearly_used).collect(), |_| is_part),
        expiring: Expiring {
            lots: counted(lots.len(), limits::OVERVIEW_COUNTED_MAX),
            bundles: lots.iter().sum(),
        },
        callbacks: health(tx, &organisation)?,
        orders: orders::list(tx, org, &orders::Filter::default(), None, page)?.0,
    })
}

/// When a day begins.
fn begin(day: i64) -> Timestamp {
    Timestamp::of_hour(day * 24)
}

/// The balance at the end of each day. A day on which nothing was posted ends as the one before.
fn course(closings: &[(i64, i64)], head: &Head, (from, to): (i64, i64)) -> Vec<(i64, i64)> {
    let mut known = closings.to_vec();
    // Without a note of its day, the present balance is known for today.
    known.push((head.ledger_day().unwrap_or(to).min(to), head.on(Account::Available)));
    let last_by = |day| known.iter().rfind(|(of, _)| *of <= day).map(|(_, balance)| *balance);
    (from..=to).filter_map(|day| Some((day, last_by(day)?))).collect()
}

/// Each status is counted up to a bound; of one that has more, the rest of all is its number.
fn by_status(
    tx: &mut Tx<'_>,
    org: OrgId,
    all: i64,
) -> Result<Vec<(ProfileStatus, Counted)>, StoreError> {
    let most = limits::OVERVIEW_COUNTED_MAX;
    let mut counts = Vec::new();
    for status in ProfileStatus::ALL {
        let count = figures::of_status(tx, org, status, most)?;
        counts.push((status, Counted { count, is_more: count >= most }));
    }
    let rest: i64 = all - counts.iter().map(|(_, counted)| counted.count).sum::<i64>();
    let mut long: Vec<_> = counts.iter_mut().filter(|(_, counted)| counted.is_more).collect();
    if let [(_, one)] = &mut long[..] {
        *one = Counted { count: one.count + rest.max(0), is_more: false };
    }
    Ok(counts)
}

fn is_nearly_used(one: &InUse) -> bool {
    let mark = i128::from(one.megabytes) * 1_000_000 * i128::from(limits::NEARLY_USED_PERCENT);
    one.megabytes > 0 && i128::from(one.used) * 100 >= mark
}

fn few<T>(mut all: Vec<T>, is_more: impl Fn(usize) -> bool) -> Few<T> {
    let count = all.len().min(limits::ENDING_COUNTED_MAX);
    let is_more = is_more(all.len()) || all.len() > count;
    all.truncate(limits::OVERVIEW_ROWS);
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Few { first: all, counted: Counted { count, is_more } }
}

fn counted(count: usize, most: i64) -> Counted {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Counted { count, is_more: count >= most }
}
