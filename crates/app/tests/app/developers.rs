//! What people who develop do in the portal: keys, callbacks, the log, the sandbox.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use app::organisations::{Callbacks, Change, Details, Error, OwnChange, OwnError};
use app::people::{Attempt, MeError, Member};
use app::sandbox::{self, Act, Fault};
use app::users::NewUser;
use app::{Actor, access};
use domain::callback::State;
use domain::{CallbackUrl, Role, Secret};

use crate::lives::wares::opened;
use crate::world::{ALL, World};

const PASSWORD: &str = "correct horse battery";

fn world(seed: u64) -> World {
    World::new(seed, opened(), &[Change::default(), Change::default()])
}

fn here() -> Attempt {
    Attempt { address: Ipv4Addr::new(192, 0, 2, 1).into(), agent: String::new() }
}

fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

fn member(world: &World, role: Role) -> Member {
    let (app, email) = (world.app(), format!("{}@reseller.example", role.name().to_lowercase()));
    let new = NewUser {
        role: role.name().to_owned(),
        email: email.clone(),
        password: Some(secret(PASSWORD)),
        ..NewUser::default()
    };
    world.wait(app.add_user(Actor::CommandLine, world.org(), new)).expect("a person");
    let entered = world.wait(app.sign_in(&email, &secret(PASSWORD), &here())).expect("in");
    world.wait(app.member(entered.token.expose())).expect("read").expect("a member")
}

/// What a person has done, in the order of its names: the clock of a test stands still.
fn acts(world: &World, member: &Member) -> Vec<String> {
    let log = world.wait(world.app().audit_of(world.org(), None, ALL)).expect("a log");
    let actor = member.actor().to_string();
    let own = log.into_iter().filter(|one| one.actor == actor);
    let mut acts: Vec<_> = own.map(|one| one.action).collect();
    acts.sort();
    acts
}

fn to(url: &str) -> OwnChange {
    OwnChange::Callbacks(Callbacks { url: Some(url.to_owned()), ..Callbacks::default() })
}

#[test]
fn an_organisation_changes_what_is_its_own() {
    let world = world(1);
    let (app, org) = (world.app(), world.org());
    let operators = Change {
        rate_limit: Some(7),
        refund_days: Some(3),
        topup_daily_maximum: Some(9),
        ..Change::default()
    };
    let set = world.wait(app.change_organisation(Actor::CommandLine, org, operators));
    let set = set.expect("changed").organisation.settings;
    let developer = member(&world, Role::Developer);
    let change = |member: &Member, change| world.wait(app.change_own(member, change));
    let named = Details { name: Some("Taken over".to_owned()), ..Details::default() };
    for forbidden in [OwnChange::Details(named.clone()), OwnChange::AutoTopup(Some((1, 2)))] {
        let refused = change(&developer, forbidden);
        assert!(matches!(refused, Err(OwnError::Forbidden)), "{refused:?}");
    }
    change(&developer, to("https://hook.example/x")).expect("an address");
    let networks = vec!["192.0.2.0/24".to_owned()];
    let own = change(&developer, OwnChange::AllowList(networks)).expect("a list");
    let now = own.organisation.settings;
    let url = now.callback_url.as_ref().map(CallbackUrl::as_str);
    assert_eq!(url, Some("https://hook.example/x"));
    assert_eq!(
        (now.rate_limit, now.refund_days, now.topup),
        (set.rate_limit, set.refund_days, set.topup)
    );
    let is_in = |address: [u8; 4]| access::is_allowed(&now.ip_allow_list, IpAddr::from(address));
    assert!(is_in([192, 0, 2, 9]) && !is_in([198, 51, 100, 1]));
    assert!(access::is_allowed(&[], IpAddr::from([198, 51, 100, 1])));
    let odd = change(&developer, to("nowhere"));
    let unfit = matches!(odd, Err(OwnError::Unfit(Error::Field { field: "callbackUrl", .. })));
    assert!(unfit, "{odd:?}");
    assert_eq!(acts(&world, &developer), ["organisation.change", "organisation.change"]);
    let owner = member(&world, Role::Owner);
    let auto = change(&owner, OwnChange::AutoTopup(Some((100, 500)))).expect("topped up");
    assert_eq!(auto.organisation.settings.topup.auto_amount, Some(500));
    let off = change(&owner, OwnChange::AutoTopup(None)).expect("switched off");
    assert_eq!(off.organisation.settings.topup, set.topup);
    let called = change(&owner, OwnChange::Details(named)).expect("a name");
    assert_eq!(called.organisation.profile.name, "Taken over");
}

#[test]
fn the_key_is_shown_to_whoever_knows_the_password() {
    let world = world(2);
    let (app, developer) = (world.app(), member(&world, Role::Developer));
    let shown = |text: &str| world.wait(app.show_key(&developer, &secret(text), &here()));
    assert!(matches!(shown("a guess of mine"), Err(MeError::WrongPassword)));
    assert!(acts(&world, &developer).is_empty(), "nobody has seen it");
    let key = shown(PASSWORD).expect("shown").expect("a key");
    let caller = world.wait(app.caller(key.expose(), here().address)).expect("it opens");
    assert_eq!(caller.org(), world.org());
    let password = secret(PASSWORD);
    let signs = || world.wait(app.show_webhook_secret(&developer, &password, &here()));
    let first = signs().expect("made");
    assert_eq!(signs().expect("kept").expose(), first.expose());
    let seen = ["key.show", "webhook-secret.make", "webhook-secret.show", "webhook-secret.show"];
    assert_eq!(acts(&world, &developer), seen);
}

#[test]
fn a_test_event_leads_to_its_delivery() {
    let world = world(3);
    let (app, org) = (world.app(), world.org());
    let developer = member(&world, Role::Developer);
    world.wait(app.change_own(&developer, to("https://hook.example/x"))).expect("an address");
    let log = |state| world.wait(app.delivery_log(org, (state, None), None, 10)).expect("a log");
    assert!(log(None).found.is_empty());
    let (event, seq) =
        world.wait(app.test_callback_of(developer.actor(), org)).expect("on its way");
    let (delivery, _, _) = world.wait(app.delivery(org, seq)).expect("a delivery");
    assert_eq!((delivery.event, delivery.kind.as_str()), (event, "Test"));
    let waiting = log(Some(State::Waiting));
    assert_eq!((waiting.found.len(), waiting.next), (1, None));
    assert!(waiting.found[0].last.is_none() && log(Some(State::Dead)).found.is_empty());
    assert!(world.wait(app.callback_times(org)).expect("none").is_empty());
    let of = |kind| world.wait(app.recent_events_of(world.caller(), kind, None, 10));
    let found = of("Test").expect("events");
    assert_eq!(found.found.iter().map(|one| one.seq).collect::<Vec<_>>(), [seq]);
    assert!(found.next.is_none() && of("FirstUse").expect("events").found.is_empty());
    let other = world.wait(app.delivery_log(world.orgs[1], (None, None), None, 10));
    assert!(other.expect("a log").found.is_empty());
}

#[test]
fn what_people_do_to_the_sandbox_is_noted() {
    let world = world(4);
    let (app, developer) = (world.app(), member(&world, Role::Developer));
    let act = |act| world.wait(app.act_in_sandbox(&developer, act));
    let sandbox = || world.wait(app.sandbox(world.caller())).expect("a sandbox");
    let began = sandbox();
    assert_eq!((began.held_at, began.card.as_deref()), (None, Some("test card that pays")));
    act(Act::Advance(3_600)).expect("later");
    act(Act::Hold(true)).expect("held");
    act(Act::Card(None)).expect("no card");
    let route = || "POST /orders".to_owned();
    act(Act::Fault(route(), Fault::Status(503), 2)).expect("a fault");
    let now = sandbox();
    assert_eq!(now.clock, began.clock.plus(Duration::from_hours(1)));
    assert_eq!((now.held_at, now.card), (Some(now.clock), None));
    assert_eq!(now.faults, [(route(), Fault::Status(503), 2)]);
    for odd in [
        Act::Fault(route(), Fault::Status(200), 1),
        Act::Fault(route(), Fault::Slow(Duration::from_mins(2)), 1),
        Act::Fault(route(), Fault::Drop, -1),
    ] {
        assert!(matches!(act(odd), Err(sandbox::Error::Fault)));
    }
    assert!(matches!(act(Act::Advance(-1)), Err(sandbox::Error::Seconds)));
    act(Act::Hold(false)).expect("goes on");
    act(Act::Settle).expect("settled");
    let done = [
        "sandbox.advance",
        "sandbox.card",
        "sandbox.fault",
        "sandbox.go-on",
        "sandbox.hold",
        "sandbox.settle",
    ];
    assert_eq!(acts(&world, &developer), done);
    act(Act::Reset).expect("a fresh start");
    let log = world.wait(app.audit(None, ALL)).expect("a log");
    let reset = log.iter().find(|one| one.action == "sandbox.reset").expect("noted");
    assert_eq!(reset.actor, developer.actor().to_string());
}

#[test]
fn the_log_goes_on_after_a_fresh_start() {
    let world = world(9);
    let (app, old) = (world.app(), world.org());
    for amount in [100, 200] {
        world.wait(app.credit(Actor::CommandLine, old, amount, "money")).expect("money");
        world.rt.advance(Duration::from_secs(1));
    }
    let before = world.wait(app.audit_of(old, None, ALL)).expect("a log");
    for _ in 0..2 {
        let key = world.wait(app.caller(world.key_of(0), here().address)).expect("its key");
        world.wait(app.reset(&key)).expect("a fresh start");
        world.rt.advance(Duration::from_secs(1));
    }
    let new = world.wait(app.caller(world.key_of(0), here().address)).expect("its key").org();
    assert_ne!(new, old);
    let log = world.wait(app.audit_of(new, None, ALL)).expect("a log");
    let acts: Vec<_> = log.iter().take(2).map(|one| one.action.as_str()).collect();
    assert_eq!(acts, ["sandbox.reset"; 2]);
    assert_eq!(log[2..], before);
    let page = world.wait(app.audit_of(new, Some(log[1].id), 1)).expect("a log");
    assert_eq!(page, log[2..3]);
    let others = world.wait(app.audit_of(world.orgs[1], None, ALL)).expect("a log");
    assert!(others.iter().all(|one| one.org == Some(world.orgs[1])), "{others:?}");
}
