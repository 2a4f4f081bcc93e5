//! How long things last for people: sessions, links, waits after wrong passwords. By a clock that
//! moves when told.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use app::Actor;
use app::organisations::Change;
use app::people::{Attempt, SignInError};
use app::users::NewUser;
use domain::{Role, Secret};

use crate::lives::wares::opened;
use crate::world::World;

const PASSWORD: &str = "correct horse battery";
const HOUR: Duration = Duration::from_hours(1);

fn world(seed: u64) -> World {
    World::new(seed, opened(), &[Change::default()])
}

fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

fn from(last: u8) -> Attempt {
    let address: IpAddr = Ipv4Addr::new(192, 0, 2, last).into();
    Attempt { address, agent: String::new() }
}

fn add(world: &World, email: &str) {
    let new = NewUser {
        role: Role::Owner.name().to_owned(),
        email: email.to_owned(),
        password: Some(secret(PASSWORD)),
        ..NewUser::default()
    };
    world.wait(world.app().add_user(Actor::CommandLine, world.org(), new)).expect("a person");
}

/// Tries to sign in from there: the token, or how many seconds to wait, or nothing.
fn sign_in(world: &World, email: &str, password: &str, last: u8) -> Result<String, Option<i64>> {
    let (password, from) = (secret(password), from(last));
    match world.wait(world.app().sign_in(email, &password, &from)) {
        Ok(entered) => Ok(entered.token.expose().clone()),
        Err(SignInError::Wait(until)) => Err(Some((until.ms() - world.rt.now().ms()) / 1_000)),
        Err(SignInError::Wrong) => Err(None),
        Err(other) => panic!("{other}"),
    }
}

fn is_in(world: &World, token: &str) -> bool {
    world.wait(world.app().member(token)).expect("read").is_some()
}

#[test]
fn a_session_ends_without_visits_and_after_a_month_of_them() {
    let world = world(31);
    add(&world, "a@reseller.example");
    let left = sign_in(&world, "a@reseller.example", PASSWORD, 1).expect("in");
    let used = sign_in(&world, "a@reseller.example", PASSWORD, 1).expect("in");
    let open = sign_in(&world, "a@reseller.example", PASSWORD, 1).expect("in");
    for _ in 0..11 {
        world.rt.advance(HOUR);
        assert!(is_in(&world, &used));
        // A page that loads itself again is no visit.
        let unseen = world.app().member_unseen(&open);
        assert!(world.wait(unseen).expect("read").is_some());
    }
    world.rt.advance(2 * HOUR);
    assert!(!is_in(&world, &left), "nobody came for twelve hours");
    assert!(!is_in(&world, &open), "nobody but a script came for twelve hours");
    for _ in 0..70 {
        assert!(is_in(&world, &used));
        world.rt.advance(10 * HOUR);
    }
    world.rt.advance(10 * HOUR);
    assert!(!is_in(&world, &used), "a month is the most");
}

#[test]
fn waits_double_and_are_forgotten() {
    let world = world(32);
    add(&world, "a@reseller.example");
    let wrong = || sign_in(&world, "a@reseller.example", "wrong password", 1);
    for _ in 0..5 {
        assert_eq!(wrong(), Err(None));
    }
    for wait in [30, 60, 120] {
        assert_eq!(wrong(), Err(Some(wait)));
        let right = sign_in(&world, "a@reseller.example", PASSWORD, 1);
        assert_eq!(right, Err(Some(wait)), "the right one waits, too");
        world.rt.advance(Duration::from_secs(wait.unsigned_abs()));
        assert_eq!(wrong(), Err(None));
    }
    // From elsewhere the person comes in, and then the count is over.
    sign_in(&world, "a@reseller.example", PASSWORD, 2).expect("from elsewhere");
    world.rt.advance(HOUR);
    for _ in 0..5 {
        assert_eq!(wrong(), Err(None));
        world.rt.advance(HOUR);
    }
    world.rt.advance(25 * HOUR);
    for _ in 0..5 {
        assert_eq!(wrong(), Err(None), "a day later nobody remembers");
    }
}

#[test]
fn a_busy_office_is_not_locked_by_typing_errors_of_days() {
    let world = world(33);
    for n in 0..8 {
        add(&world, &format!("p{n}@reseller.example"));
    }
    // Everybody errs once a day and comes in then: thirty together would lock the address.
    for _ in 0..6 {
        for n in 0..8 {
            let email = format!("p{n}@reseller.example");
            assert_eq!(sign_in(&world, &email, "typing error", 1), Err(None));
            sign_in(&world, &email, PASSWORD, 1).expect("in");
        }
        world.rt.advance(26 * HOUR);
    }
    // Guessing at many from one address is slowed down, whoever else is there.
    let tried = (0..40).map(|n| format!("guess{n}@reseller.example"));
    let waits = tried.filter(|email| sign_in(&world, email, "guess", 1) != Err(None)).count();
    assert!(waits >= 9, "{waits}");
    sign_in(&world, "p1@reseller.example", PASSWORD, 2).expect("elsewhere nobody waits");
}

#[test]
fn links_are_good_for_their_time() {
    let world = world(34);
    add(&world, "a@reseller.example");
    let app = world.app();
    let made = app.password_link_for(Actor::CommandLine, "a@reseller.example");
    let link = world.wait(made).expect("a link").token;
    world.rt.advance(23 * HOUR);
    let found = world.wait(app.password_link(link.expose())).expect("read");
    assert_eq!(found.expect("still good").email, "a@reseller.example");
    world.rt.advance(2 * HOUR);
    assert!(world.wait(app.password_link(link.expose())).expect("read").is_none());
    let late = world.wait(app.choose_password(link.expose(), &secret("far too late now")));
    assert!(late.is_err());
    sign_in(&world, "a@reseller.example", PASSWORD, 1).expect("nothing was changed");
}
