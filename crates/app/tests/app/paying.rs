//! Which card a charge is made to, and when another one may begin.

use app::idempotency::Request;
use app::topup::{self, CardError, State};

use crate::portal::{ME, request, start};
use crate::world::World;

/// The far side says that it does not know yet when it is asked first, and pays then.
const LATE: i64 = 2_505;

fn by_a_person(world: &World, key: &str) -> Request {
    let deed = world.app().deed(ME, "topup", "25.05");
    Request { deed: Some(deed), ..request(Some(key)) }
}

fn states(world: &World) -> Vec<State> {
    world.charges().iter().map(|charge| charge.state).collect()
}

/// The far side insists that it is asked for the card that pays.
#[test]
fn every_attempt_is_made_to_the_card_it_began_with() {
    let (world, _) = start(21, "week");
    let (app, caller) = (world.app(), world.caller());
    let before = world.balances().balance.in_minor();
    let begun = world.wait(app.topup(caller, LATE, &by_a_person(&world, "one")));
    assert!(matches!(begun, Err(topup::Error::Undecided)), "{begun:?}");
    for card in [Some("declines"), None] {
        world.wait(app.set_test_card(caller, card)).expect("another card");
        world.wait(app.settle(caller)).expect("asked");
    }
    world.wait(world.do_work(0, 3_600)).expect("asked again");
    assert_eq!(states(&world), [State::Paid]);
    assert_eq!(world.balances().balance.in_minor(), before + LATE);
    assert_eq!(world.wait(app.card(caller)).expect("read"), None, "it is not stored anew");
    let kept = world.charges()[0].id;
    let kept = world.store().read(move |tx| store::charges::charge_card(tx, kept));
    assert_eq!(world.wait(kept).expect("read"), None, "and not kept");
}

#[test]
fn a_person_begins_no_charge_while_one_is_undecided() {
    let (world, _) = start(22, "week");
    let (app, caller) = (world.app(), world.caller());
    // By a program, with a key.
    let begun = world.topup(Some("one"), LATE);
    assert!(matches!(begun, Err(topup::Error::Undecided)), "{begun:?}");
    let person = by_a_person(&world, "two");
    let refused = world.wait(app.topup(caller, 1_000, &person));
    assert!(matches!(refused, Err(topup::Error::Undecided)), "{refused:?}");
    let refused = world.wait(app.first_payment(caller, "pays", 1_000, &person));
    let is_undecided = |error| matches!(error, Err(CardError::Topup(topup::Error::Undecided)));
    assert!(is_undecided(refused));
    assert_eq!(states(&world), [State::Undecided], "nothing was begun");
    let second = world.topup(Some("three"), 1_001);
    assert!(matches!(second, Err(topup::Error::Undecided)), "{second:?}");
    assert_eq!(states(&world).len(), 2, "a program may, with another key");
    world.wait(world.do_work(0, 3_600)).expect("decided");
    assert_eq!(states(&world), [State::Paid; 2]);
    assert!(is_undecided(world.wait(app.first_payment(caller, "pays", 1_000, &person))), "begun");
    world.wait(app.settle(caller)).expect("asked");
    assert_eq!(states(&world), [State::Paid; 3], "the same form goes through then");
}
