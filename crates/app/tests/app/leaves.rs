//! Checking an order before it is placed, and leafing through orders and their eSIMs.

use app::idempotency::Request;
use app::orders::leaf::{Leafed, Place};
use app::orders::{Command, Intent, Line, Outcome, Processing, Refusal, Validated};
use app::organisations::Change;
use app::{Actor, Caller};
use domain::order::{Status, Target};

use crate::lives::wares::opened;
use crate::world::World;

const ME: Actor = Actor::CommandLine;

/// Two organisations; the first has money.
fn start(seed: u64) -> World {
    let change = Change::default();
    let world = World::new(seed, opened(), &[change.clone(), change]);
    world.wait(world.app().credit(ME, world.org(), 10_000, "money")).expect("money");
    world
}

fn command(intent: Intent, target: Target, quantity: i64) -> Command {
    let (bundle, iccids) = ("week".to_owned(), Vec::new());
    let lines = vec![Line { bundle, quantity, iccids, allow_reassign: false }];
    Command { intent, target, lines, processing: Processing::Later, source_ip: String::new() }
}

fn buy(world: &World, target: Target, quantity: i64) {
    let form = "v2.5".to_owned();
    let request = Request { key: None, facts: Vec::new(), form, deed: None };
    let command = command(Intent::Transaction, target, quantity);
    let bought = world.app().buy(world.caller(), command, &request);
    assert_eq!(world.wait(bought).expect("bought").status, 200);
}

fn check(world: &World, target: Target, quantity: i64) -> Result<Box<Validated>, Refusal> {
    let command = command(Intent::Validate, target, quantity);
    match world.wait(world.app().validate(world.caller(), command)).expect("checked") {
        Outcome::Validated(validated) => Ok(validated),
        Outcome::Refused(refusal) => Err(refusal),
        Outcome::Placed(_) => panic!("a check has placed an order"),
    }
}

fn leaf(world: &World, caller: &Caller, status: Option<Status>, place: (Place, i64)) -> Leafed {
    world.wait(world.app().leaf_orders(caller, status, place)).expect("orders")
}

fn numbers(leafed: &Leafed) -> Vec<i64> {
    leafed.orders.iter().map(|listed| listed.number).collect()
}

#[test]
fn a_check_says_what_an_order_comes_to_and_takes_nothing() {
    let world = start(1);
    let checked = check(&world, Target::Esims, 2).expect("no rule is broken");
    assert_eq!((checked.shown.order.total, checked.available), (2 * 199, 10_000));
    assert!(checked.is_covered && !checked.is_later);
    let large = check(&world, Target::Inventory, 51).expect("no rule is broken");
    assert!(!large.is_covered && large.is_later);
    assert_eq!(check(&world, Target::Inventory, 0).err(), Some(Refusal::Quantity));
    assert_eq!(world.balances().balance.in_minor(), 10_000);
    let none = leaf(&world, world.caller(), None, (Place::Newest, 10));
    assert_eq!((none.count, none.orders.len()), (0, 0));
}

#[test]
fn every_order_is_on_one_page_both_ways() {
    let world = start(2);
    for n in 0..7 {
        buy(&world, if n % 2 == 0 { Target::Inventory } else { Target::Esims }, 1);
    }
    buy(&world, Target::Inventory, 6);
    let at = |status, place| leaf(&world, world.caller(), status, (place, 3));
    let first = at(None, Place::Newest);
    assert_eq!((numbers(&first), first.count), (vec![8, 7, 6], 8));
    assert_eq!((&first.newer, &first.older), (&None, &Some(Place::Before(6))));
    let second = at(None, Place::Before(6));
    assert_eq!(numbers(&second), [5, 4, 3]);
    let third = at(None, Place::Before(3));
    assert_eq!((numbers(&third), &third.older), (vec![2, 1], &None));
    let back = at(None, third.newer.expect("newer ones"));
    assert_eq!(numbers(&back), [5, 4, 3]);
    assert_eq!(numbers(&at(Some(Status::Processing), Place::Newest)), [8]);
    assert_eq!(numbers(&at(Some(Status::Completed), Place::Newest)), [7, 6, 5]);
    assert!(at(Some(Status::Failed), Place::Newest).orders.is_empty());
    // By the beginning of a reference, and nothing of anybody else.
    let one = &second.orders[0].order.reference;
    let called = at(None, Place::Called(one[..8].to_owned()));
    assert_eq!(&called.orders[0].order.reference, one);
    let other = leaf(&world, world.caller_of(1), None, (Place::Called(one.clone()), 3));
    assert!(other.orders.is_empty());
    for odd in [Place::Before(i64::MIN), Place::After(i64::MAX)] {
        assert!(at(None, odd).orders.is_empty());
    }
}

#[test]
fn an_order_shows_its_esims_page_by_page() {
    let world = start(3);
    buy(&world, Target::Esims, 5);
    let newest = leaf(&world, world.caller(), None, (Place::Newest, 1));
    let listed = &newest.orders[0];
    assert_eq!(listed.bundle.as_deref(), Some("week"));
    assert_eq!(listed.gist.as_ref().map(|gist| gist.quantity), Some(5));
    let reference = &listed.order.reference;
    let page = |caller, from| world.wait(world.app().order_page(caller, reference, (from, 2)));
    for (from, left) in [(0, 2), (2, 2), (4, 1), (5, 0)] {
        let page = page(world.caller(), from).expect("a page").expect("an order");
        assert_eq!((page.assigned, page.esims.len()), (5, left));
        assert!(page.esims.iter().all(|(one, esim)| one.is_new_esim && esim.is_some()));
    }
    assert!(page(world.caller_of(1), 0).expect("a page").is_none());
}
