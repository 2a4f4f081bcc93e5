//! Holds what the service says against the model, and lets the model learn what it cannot know: the
//! names the service gives, which profiles it picks, and when work was done.

use std::collections::{BTreeMap, BTreeSet};

use app::Answer;
use app::orders::{Codes, Filter, Shown};
use app::topup::{self, State};
use domain::filter::Page;
use domain::inventory;
use domain::ledger::Account;
use domain::order::{ItemKind, Status, Target};
use domain::{Iccid, Mode, OrgId, Timestamp};
use store::{Head, Row, StoreError, args, charges, heads, lots, profiles};

use super::books::Order;
use super::model::Model;
use super::shop::PROFILES;
use crate::far_side::fate;
use crate::world::{ALL, World};

/// Whether all due work of an organisation was just done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Done,
    MayWait,
}

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// At everything.
    Full,
    /// At orders only where some are new or under way.
    Brief,
}

/// Profiles for live organisations, which no sandbox ever gets.
pub(crate) const LIVE_STOCK: usize = 2;

/// What the service has of an organisation, and which profiles are whose.
struct Seen {
    head: Head,
    lots: Vec<inventory::Lot>,
    charges: Vec<topup::Charge>,
    owned: BTreeMap<Iccid, OrgId>,
    free: Vec<(Mode, String, i64)>,
    /// How often it was told that an eSIM leaves or has left, or that it lacks money.
    farewells: usize,
    lacks: usize,
}

fn see(world: &World, n: usize) -> Seen {
    const OWNED: &str = "SELECT iccid, org_id FROM esims WHERE org_id IS NOT NULL";
    const FAREWELLS: &str = "SELECT COUNT(*) FROM events WHERE org_id = $1 \
         AND kind IN ('esim.deletion_scheduled', 'esim.deleted')";
    const LACKS: &str = "SELECT COUNT(*) FROM events WHERE org_id = $1 \
         AND kind = 'InsufficientBalance'";
    let org = world.orgs[n];
    let read = world.store().read(move |tx| {
        let head = heads::find(tx, org)?.expect("a head");
        let (lots, charges) = (lots::page(tx, org, 0, ALL)?, charges::page(tx, org, 0, ALL)?);
        let rows = tx.all(OWNED, args![])?;
        let owner = |row: &Row| Ok((row.parsed(0, Iccid::parse)?, row.parsed(1, OrgId::parse)?));
        let owned = rows.iter().map(owner).collect::<Result<_, StoreError>>()?;
        let free = profiles::free(tx)?;
        let farewells = usize::try_from(tx.one(FAREWELLS, args![org])?.int(0)?).expect("a count");
        let lacks = usize::try_from(tx.one(LACKS, args![org])?.int(0)?).expect("a count");
        Ok::<_, StoreError>(Seen { head, lots, charges, owned, free, farewells, lacks })
    });
    world.wait(read).expect("the database answers")
}

/// Its last orders, so many at most, in the order they were placed; and how many there are.
fn see_orders(world: &World, n: usize, most: i64) -> (Vec<Shown>, i64) {
    let page = (Page { number: 1, size: most }, Codes::None);
    let listed = world.app().orders(world.caller_of(n), Filter::default(), None, page);
    let (mut orders, count) = world.wait(listed).expect("the database answers");
    orders.reverse();
    (orders, count)
}

impl Model {
    /// What holds of one organisation after every step; its time.
    pub(crate) fn check(&mut self, world: &World, n: usize, look: (Work, Look)) -> Timestamp {
        let (work, closeness) = look;
        let seen = see(world, n);
        let clock = seen.head.clock(world.rt.now());
        self.check_charges(n, &seen, world);
        let orders = &self.orgs[n].orders;
        let is_new = orders.last().is_some_and(|order| order.reference.is_none());
        let is_processed = orders.iter().any(|order| order.status == Status::Processing);
        if is_new {
            self.meet_newest(world, n);
        }
        if closeness == Look::Full || (work == Work::Done && is_processed) {
            self.check_orders(world, n, work);
        }
        let books = &self.orgs[n];
        let paid = books.charges.iter().filter(|charge| charge.is_paid == Some(true));
        let count = books.orders.len() + paid.count();
        assert_eq!(usize::try_from(seen.head.order_seq), Ok(count), "orders are numbered");
        self.orgs[n].pass(clock);
        self.check_lots(n, &seen);
        self.check_accounts(n, &seen, (clock, work));
        self.meet_farewells(world, n, (&seen, clock), work);
        self.check_esims(world, &seen);
        clock
    }

    fn check_charges(&mut self, n: usize, seen: &Seen, world: &World) {
        let far_side = world.far_side.charges();
        let books = &mut self.orgs[n];
        assert_eq!(seen.charges.len(), books.charges.len(), "every request has one charge");
        for (place, charge) in seen.charges.iter().enumerate() {
            let begun = &books.charges[place];
            let is_auto = charge.kind == topup::AUTO;
            let is_keyed = charge.key_digest.is_some();
            assert_eq!((charge.amount, is_auto), (begun.amount, begun.is_auto));
            assert_eq!(is_keyed, begun.is_keyed);
            if charge.state == State::Undecided {
                assert_eq!(begun.is_paid, None, "what is decided stays so");
                continue;
            }
            let is_paid = fate(charge.amount).is_paid;
            assert_eq!(charge.state == State::Paid, is_paid, "{charge:?}");
            let known = &far_side[&charge.reference];
            assert_eq!((known.amount, known.times_taken), (charge.amount, u32::from(is_paid)));
            if begun.is_paid.is_none() {
                books.decide(place);
            }
        }
    }

    /// The order that was just placed: nothing was done after it.
    fn meet_newest(&mut self, world: &World, n: usize) {
        let (newest, _) = see_orders(world, n, 1);
        let shown = newest.first().expect("it was placed");
        let place = self.orgs[n].orders.len() - 1;
        let order = &mut self.orgs[n].orders[place];
        let reference = &shown.order.reference;
        let is_named = |answer: &Answer| answer.body.ends_with(reference.as_bytes());
        assert!(order.answer.as_ref().is_none_or(is_named), "{reference}: {order:?}");
        order.reference = Some(reference.clone());
        let iccids = shown.assigned.iter().map(|one| one.iccid.clone()).collect();
        self.learn_iccids(n, place, iccids);
        assert_is(&self.orgs[n].orders[place], shown);
    }

    fn check_orders(&mut self, world: &World, n: usize, work: Work) {
        let (seen, count) = see_orders(world, n, ALL);
        assert_eq!(i64::try_from(seen.len()), Ok(count), "orders are counted");
        let is_topup = |shown: &&Shown| shown.items.iter().any(|item| item.kind.is_topup());
        let (topups, orders): (Vec<_>, Vec<_>) = seen.iter().partition(is_topup);
        let paid = self.orgs[n].charges.iter().filter(|charge| charge.is_paid == Some(true));
        let (sum, times) = (paid.clone().map(|charge| charge.amount).sum(), paid.count());
        assert_eq!(topups.iter().map(|shown| shown.order.total).sum::<i64>(), sum);
        assert_eq!(topups.len(), times, "every payment is an order");
        let known = &self.orgs[n].orders;
        assert_eq!(orders.len(), known.len(), "each purchase and refund is one order");
        let is_processed = |place: usize| known[place].status == Status::Processing;
        let ended = orders.iter().enumerate().filter(|(place, _)| is_processed(*place));
        let ended = ended.filter_map(|(place, shown)| Some((shown.order.finished_at?, place)));
        let mut ended: Vec<_> = ended.collect();
        ended.sort_unstable();
        for (at, place) in ended {
            self.finish(n, place, at);
        }
        for (order, shown) in self.orgs[n].orders.iter().zip(orders) {
            assert_is(order, shown);
            assert!(
                order.status != Status::Processing || work == Work::MayWait,
                "work is done: {order:?}"
            );
        }
    }

    fn check_lots(&mut self, n: usize, seen: &Seen) {
        let lots = &mut self.orgs[n].lots;
        assert_eq!(seen.lots.len(), lots.len(), "every item and every grant is a lot");
        let known: Vec<_> = lots.iter().filter_map(|lot| lot.id).collect();
        for found in seen.lots.iter().filter(|found| !known.contains(&found.id)) {
            // Of two that look the same either may be either.
            let is_it = |lot: &&mut super::books::Lot| {
                lot.id.is_none()
                    && lot.bundle == found.bundle.as_str()
                    && (lot.price, lot.test_credit) == (found.price, found.test_credit)
                    && (lot.came, lot.held) == (found.total, found.remaining)
                    && lot.came_at == found.bought_at
            };
            let lot = lots.iter_mut().find(is_it);
            lot.unwrap_or_else(|| panic!("nobody expects {found:?}")).id = Some(found.id);
        }
        for lot in lots.iter() {
            lot.assert_adds_up();
            let found = seen.lots.iter().find(|found| Some(found.id) == lot.id);
            let found = found.unwrap_or_else(|| panic!("no {lot:?}"));
            assert_eq!(found.refunded, lot.refunded, "{lot:?}, {found:?}");
            assert_eq!(found.expires_at, lot.ends_at(), "{lot:?}, {found:?}");
            assert!(found.remaining == lot.held || lot.held == 0, "{lot:?}, {found:?}");
        }
    }

    /// What has ended may not be booked yet, unless all work is done.
    fn check_accounts(&self, n: usize, seen: &Seen, (clock, work): (Timestamp, Work)) {
        let books = &self.orgs[n];
        let head = &seen.head;
        let mut accounts = Account::ALL.map(|account| head.on(account));
        let mut entries = usize::try_from(head.ledger_seq()).expect("not negative");
        let mut book = |from: Account, left: i64| {
            assert_eq!(work, Work::MayWait, "{left} of {} is booked", from.name());
            accounts[from as usize] -= left;
            accounts[Account::Breakage as usize] += left;
            entries += usize::from(left > 0);
        };
        if head.test_credit_expires_at.is_some_and(|end| end <= clock) {
            book(Account::TestCredit, head.on(Account::TestCredit));
        } else {
            assert_eq!(head.test_credit_expires_at, books.pot.map(|pot| pot.end));
        }
        for lot in seen.lots.iter().filter(|lot| lot.remaining > 0) {
            let is_over = lot.expires_at <= clock;
            let of_model = books.lots.iter().find(|known| known.id == Some(lot.id));
            let held = of_model.map_or(0, |known| known.held);
            assert_eq!(held, if is_over { 0 } else { lot.remaining }, "{lot:?}");
            if is_over {
                book(Account::Sales, lot.price * lot.remaining);
            }
        }
        let named = Account::ALL.map(Account::name);
        assert_eq!(accounts, books.accounts, "{named:?}");
        assert_eq!(accounts.iter().sum::<i64>(), 0);
        assert_eq!(entries, books.entries, "entries of the ledger");
        let events = books.events + seen.farewells + seen.lacks;
        assert_eq!(usize::try_from(head.event_seq), Ok(events), "events");
        assert_eq!(head.held_at.is_some(), books.is_held);
    }

    /// eSIMs that have left the organisation: each in its time, which comes for all.
    fn meet_farewells(
        &mut self,
        world: &World,
        n: usize,
        (seen, clock): (&Seen, Timestamp),
        work: Work,
    ) {
        let books = &mut self.orgs[n];
        let (there, gone): (Vec<_>, Vec<_>) = (books.esims.keys().cloned())
            .partition(|iccid| seen.owned.get(iccid) == Some(&world.orgs[n]));
        for iccid in there {
            let is_in_time = work == Work::MayWait || books.leaves_at(&iccid) > Some(clock);
            assert!(is_in_time || books.leaves_at(&iccid).is_none(), "{iccid} is still there");
        }
        for iccid in gone {
            let leaves_at = books.leaves_at(&iccid);
            assert!(leaves_at.is_some_and(|at| at <= clock), "{iccid} left: {leaves_at:?}");
            books.esims.remove(&iccid);
            books.left.insert(iccid);
            books.happened.push("esim left");
        }
    }

    /// Every profile is somebody's or nobody's, and the model knows whose.
    fn check_esims(&self, world: &World, seen: &Seen) {
        let expected = self.orgs.iter().zip(&world.orgs);
        let expected =
            expected.flat_map(|(books, org)| books.esims.keys().map(|i| (i.clone(), *org)));
        // What has left belongs to the house.
        let left = self.orgs.iter().flat_map(|books| &books.left);
        let expected = expected.chain(left.map(|iccid| (iccid.clone(), OrgId::HOUSE)));
        assert_eq!(seen.owned, expected.collect(), "eSIMs and whose they are");
        for profile in PROFILES {
            let left = |mode| {
                let is_it = |row: &&(Mode, String, i64)| row.0 == mode && row.1 == profile;
                seen.free.iter().find(is_it).map_or(0, |row| row.2)
            };
            let (sandbox, live) = (left(Mode::Sandbox), left(Mode::Live));
            assert_eq!(usize::try_from(sandbox), Ok(self.free(profile)), "free of {profile}");
            let brought = if profile == PROFILES[0] { LIVE_STOCK } else { 0 };
            assert_eq!(usize::try_from(live), Ok(brought), "live ones of {profile}");
        }
    }

    /// The bundles of an order on eSIMs are as far as the order, or have waited too long.
    pub(crate) fn check_assignments(&self, world: &World, n: usize, work: Work) {
        const STATES: &str = "SELECT o.reference, a.state, COUNT(*) FROM assignments a \
             JOIN orders o ON o.id = a.order_id WHERE a.org_id = $1 GROUP BY o.reference, a.state";
        let (org, clock) = (world.orgs[n], world.clock_of(n));
        let read = world.store().read(move |tx| {
            let rows = tx.all(STATES, args![org])?;
            let state =
                |row: &Row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned(), row.int(2)?));
            rows.iter().map(state).collect::<Result<Vec<_>, StoreError>>()
        });
        let found = world.wait(read).expect("the database answers");
        let orders = self.orgs[n].orders.iter().filter(|order| !order.iccids.is_empty());
        let mut count = 0;
        for order in orders {
            let reference = order.reference.as_ref().expect("it was seen");
            let of_it = found.iter().filter(|row| row.0 == *reference);
            let states: BTreeSet<_> = of_it.clone().map(|row| row.1.as_str()).collect();
            let units = of_it.map(|row| row.2).sum::<i64>();
            assert_eq!(usize::try_from(units), Ok(order.iccids.len()), "{order:?}");
            let is_over = clock >= order.lapses_at();
            let allowed: &[&str] = match (order.status, is_over, work) {
                (Status::Processing, ..) => &["processing"],
                (Status::Failed, ..) => &["revoked"],
                (Status::Completed, false, _) => &["queued"],
                (Status::Completed, true, Work::Done) => &["lapsed"],
                (Status::Completed, true, Work::MayWait) => &["queued", "lapsed"],
            };
            assert!(states.iter().all(|state| allowed.contains(state)), "{states:?}: {order:?}");
            count += states.len();
        }
        assert_eq!(count, found.len(), "and nothing else is on eSIMs: {found:?}");
    }

    /// The inventory as the organisation itself sees it.
    pub(crate) fn check_inventory(&self, world: &World, n: usize) {
        let listed = world.wait(world.app().inventory(world.caller_of(n)));
        let (listed, _) = listed.expect("the database answers");
        let order = |lot: &inventory::Lot| (lot.bundle.clone(), lot.expires_at, lot.id);
        assert!(listed.is_sorted_by_key(order), "by bundle, the earliest end first");
        let listed: BTreeMap<_, _> = listed.iter().map(|lot| (lot.id, lot.remaining)).collect();
        let held = self.orgs[n].lots.iter().filter(|lot| lot.held > 0);
        let held = held.filter_map(|lot| lot.id.map(|id| (id, lot.held))).collect();
        assert_eq!(listed, held);
    }
}

fn assert_is(order: &Order, shown: &Shown) {
    let found = &shown.order;
    assert_eq!(Some(&found.reference), order.reference.as_ref());
    assert_eq!((found.status, found.target), (order.status, order.target), "{found:?}");
    assert_eq!((found.total, found.test_credit), (order.total, order.test_credit), "{found:?}");
    assert_eq!(found.running_balance, order.running_balance, "{found:?}");
    assert_eq!((found.created_at, found.finished_at), (order.placed_at, order.finished_at));
    assert_eq!(shown.items.len(), order.items.len());
    let is_refund = order.target == Target::Nowhere;
    let kind = if is_refund { ItemKind::BundleRefund } else { ItemKind::Bundle };
    for (found, item) in shown.items.iter().zip(&order.items) {
        assert_eq!((found.kind, &found.item), (kind, &item.bundle));
        assert_eq!((found.quantity, found.price_per_unit), (item.quantity, item.price));
        assert_eq!(found.sub_total, item.quantity * item.price);
        assert_eq!(found.allow_reassign, item.allow_reassign);
    }
    assert_eq!(order.items.iter().map(|item| item.quantity * item.price).sum::<i64>(), order.total);
    let wanted = order.items.iter().zip(0..);
    let wanted = wanted.flat_map(|(item, n)| item.targets.iter().map(move |t| (n, item, t)));
    assert_eq!(shown.assigned.len(), wanted.clone().count());
    let iccids = order.iccids.iter().zip(0..);
    for ((found, (iccid, place)), (n, item, target)) in
        shown.assigned.iter().zip(iccids).zip(wanted)
    {
        assert_eq!((found.item, found.n, &found.iccid), (n, place, iccid));
        assert_eq!(found.bundle.as_str(), item.bundle);
        assert_eq!(found.is_new_esim, target.is_none());
    }
}
