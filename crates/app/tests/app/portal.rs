//! What a reseller's portal asks for, on a sandbox organisation with one eSIM in use.

use std::time::Duration;

use app::esims::change::Change as Wanted;
use app::failures::Failure;
use app::idempotency::Request;
use app::orders::{Command, Intent, Line, Processing};
use app::organisations::Change;
use app::overview::Counted;
use app::topup::CardError;
use app::usage::{NewRecord, Place, Told};
use app::{Actor, Answer, erasure, shares};
use domain::esim::ProfileStatus;
use domain::order::Target;
use domain::ports::payments::CardPage;
use domain::{Iccid, limits};

use crate::lives::wares::opened;
use crate::world::{ALL, World};

pub(crate) const ME: Actor = Actor::CommandLine;

pub(crate) fn request(key: Option<&str>) -> Request {
    let key = key.map(str::to_owned);
    Request { key, facts: Vec::new(), form: "v2.5".to_owned(), deed: None }
}

/// Two organisations; the first has money and, with the answer, an eSIM.
pub(crate) fn start(seed: u64, bundle: &str) -> (World, Iccid) {
    let change = Change::default();
    let world = World::new(seed, opened(), &[change.clone(), change]);
    world.wait(world.app().credit(ME, world.org(), 10_000, "money")).expect("money");
    let (bundle, iccids) = (bundle.to_owned(), Vec::new());
    let command = Command {
        intent: Intent::Transaction,
        target: Target::Esims,
        lines: vec![Line { bundle, quantity: 1, iccids, allow_reassign: false }],
        processing: Processing::Now,
        source_ip: String::new(),
    };
    let keyless = request(None);
    let bought = world.app().buy(world.caller(), command, &keyless);
    assert_eq!(world.wait(bought).expect("bought").status, 200);
    let filter = app::esims::Filter::default();
    let sort = (app::esims::SortBy::Iccid, domain::filter::Direction::Ascending);
    let page = domain::filter::Page { number: 1, size: 10 };
    let (esims, _) =
        world.wait(world.app().esims(world.caller(), filter, sort, page)).expect("eSIMs");
    let iccid = esims[0].iccid.clone();
    (world, iccid)
}

pub(crate) fn tell(world: &World, iccid: &Iccid, id: &str, told: Told) {
    let (source, id, at) = ("cdr".to_owned(), id.to_owned(), world.rt.now());
    let record = NewRecord { source, id, iccid: iccid.clone(), at, told };
    world.wait(world.app().take_records(vec![record])).expect("taken");
}

pub(crate) fn in_france() -> Place {
    Place { country: "FR".to_owned(), network: "FRAF1".to_owned() }
}

#[test]
fn a_link_leads_to_an_esim_until_it_ends() {
    let (world, iccid) = start(1, "week");
    let (app, org, other) = (world.app(), world.orgs[0], world.orgs[1]);
    for days in [0, 366] {
        let refused = world.wait(app.share(ME, org, &iccid, days));
        assert!(matches!(refused, Err(shares::Error::Days)), "{refused:?}");
    }
    let refused = world.wait(app.share(ME, other, &iccid, 1));
    assert!(matches!(refused, Err(shares::Error::NotYourEsim)), "{refused:?}");
    let made = world.wait(app.share(ME, org, &iccid, 2)).expect("a link");
    let token = made.token.expose().clone();
    let url_safe = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    assert!(token.len() == 32 && token.chars().all(url_safe), "{token}");
    let shown = world.wait(app.shares(org, &iccid)).expect("links");
    assert_eq!(shown.iter().map(|one| one.token.expose()).collect::<Vec<_>>(), [&token]);
    tell(&world, &iccid, "1", Told::Used { bytes: 4_000_000, place: None });
    let seen = world.wait(app.shared(&token)).expect("read").expect("an eSIM");
    assert_eq!((seen.organisation.as_str(), &seen.iccid), ("Reseller 1", &iccid));
    assert_eq!((seen.status, seen.state), (ProfileStatus::Released, "active"));
    assert!(seen.code.activation_code().starts_with("LPA:1$"));
    assert_eq!(seen.bundles[0].remaining, 6_000_000);
    let nothing = |token: &str| assert!(world.wait(app.shared(token)).expect("read").is_none());
    nothing("");
    nothing(&"A".repeat(32));
    nothing(&format!("{token}A"));
    let second = world.wait(app.share(ME, org, &iccid, 30)).expect("a link");
    let unknown = world.wait(app.revoke_share(ME, other, second.share.id));
    assert!(matches!(unknown, Err(shares::Error::Unknown)), "{unknown:?}");
    world.wait(app.revoke_share(ME, org, second.share.id)).expect("revoked");
    nothing(second.token.expose());
    // By the real clock, not the organisation's.
    world.wait(world.do_work(0, 30 * 24 * 3_600)).expect("later");
    let later = world.wait(app.shared(&token)).expect("read").expect("still");
    assert_eq!(later.bundles[0].assignment.state, domain::assignment::State::Expired);
    world.rt.advance(Duration::from_hours(48));
    nothing(&token);
    assert!(world.wait(app.shares(org, &iccid)).expect("links").is_empty());
    let log = world.wait(app.audit_of(org, None, ALL)).expect("a log");
    let acts = |action| log.iter().filter(|one| one.action == action).count();
    assert_eq!((acts("share.make"), acts("share.revoke")), (2, 1));
    assert!(log.iter().all(|one| !one.detail.contains(&token)), "never the link itself");
}

#[test]
fn links_to_one_esim_are_few_and_end_with_it() {
    let (world, iccid) = start(2, "week");
    let (app, org) = (world.app(), world.org());
    let make = || world.wait(app.share(ME, org, &iccid, limits::SHARE_DAYS));
    let made: Vec<_> = (0..limits::SHARES_PER_ESIM_MAX).map(|_| make().expect("a link")).collect();
    assert!(matches!(make(), Err(shares::Error::TooMany)));
    let keyless = request(None);
    let deleted = app.change_esim(world.caller(), (iccid.clone(), Wanted::Delete), &keyless);
    world.wait(deleted).expect("given up");
    assert!(world.wait(app.shared(made[0].token.expose())).expect("read").is_none());
    let (world, iccid) = start(3, "week");
    let made = world.wait(world.app().share(ME, world.org(), &iccid, 1)).expect("a link");
    world.wait(world.app().reset(world.caller())).expect("a fresh start");
    assert!(world.wait(world.app().shared(made.token.expose())).expect("read").is_none());
}

#[test]
fn a_card_is_stored_only_if_it_pays() {
    let (world, _) = start(3, "week");
    let (app, org, caller) = (world.app(), world.org(), world.caller());
    assert_eq!(app.card_page(caller, "/back").ok(), Some(CardPage::Own));
    assert!(world.wait(app.remove_card(ME, org)).expect("removed"));
    assert!(!world.wait(app.remove_card(ME, org)).expect("there is none"));
    let card = || world.wait(app.card(caller)).expect("read");
    assert_eq!(card(), None);
    let odd = world.wait(app.first_payment(caller, "gold", 10, &request(None)));
    assert!(matches!(odd, Err(CardError::Card)), "{odd:?}");
    let pay = |key: &str, amount: i64| -> Answer {
        let ask = || world.wait(app.first_payment(caller, "pays", amount, &request(Some(key))));
        // Nobody works beside: the first to ask is told to wait.
        assert!(ask().is_err());
        assert_eq!(card(), None, "not before it is decided");
        world.wait(app.settle(caller)).expect("settled");
        ask().expect("decided")
    };
    // What the far side does with a card follows from the amount.
    assert_eq!(pay("one", 14).code, "declined");
    assert_eq!(card(), None, "as it was");
    assert_eq!(pay("two", 1_000).status, 200);
    assert_eq!(card().as_deref(), Some("test card that pays"));
    // The same once more is the same answer, and does not bring back a card.
    assert!(world.wait(app.remove_card(ME, org)).expect("removed"));
    let again = world.wait(app.first_payment(caller, "pays", 1_000, &request(Some("two"))));
    assert_eq!((again.expect("kept").status, card()), (200, None));
    let paid = world.balances().balance.in_minor();
    assert_eq!(paid, 10_000 - 199 + 1_000);
    let newest = world.wait(app.ledger_page(caller, None, 1)).expect("entries");
    assert_eq!((newest.len(), newest[0].kind.as_str()), (1, "topup"));
}

#[test]
fn an_end_user_is_erased() {
    let (world, iccid) = start(4, "week");
    let (app, org, caller) = (world.app(), world.org(), world.caller());
    let note = Wanted::CustomerRef("Müller, Zimmer 4".into());
    world.wait(app.change_esim(caller, (iccid.clone(), note), &request(None))).expect("noted");
    tell(&world, &iccid, "1", Told::Attached(in_france()));
    tell(&world, &iccid, "2", Told::Used { bytes: 3_000_000, place: Some(in_france()) });
    let keyless = request(None);
    let message = app.send_sms(caller, iccid.clone(), (None, "hello".into()), &keyless);
    world.wait(message).expect("sent");
    let link = world.wait(app.share(ME, org, &iccid, 1)).expect("a link");
    let found = world.wait(app.end_user(org, "Müller, Zimmer 4")).expect("read");
    assert_eq!((found.esims.len(), found.is_more), (1, false));
    let by_number = world.wait(app.end_user(org, iccid.as_str())).expect("read");
    assert_eq!(by_number, found);
    assert!(
        world.wait(app.end_user(world.orgs[1], iccid.as_str())).expect("read").esims.is_empty()
    );
    let before = world.wait(app.events(caller, 0, ALL)).expect("events");
    assert!(before.iter().any(|one| one.data.contains("France")), "{before:?}");
    let refused = world.wait(app.erase_end_user(ME, world.orgs[1], vec![iccid.clone()]));
    assert!(matches!(refused, Err(erasure::Error::NotYourEsim)), "{refused:?}");
    for _ in 0..2 {
        let erased = world.wait(app.erase_end_user(ME, org, vec![iccid.clone()]));
        assert_eq!(erased.expect("erased"), 1);
    }
    let esim = world.wait(app.esim(caller, &iccid)).expect("read").expect("its own");
    assert_eq!((esim.customer_ref.as_str(), esim.msisdn, esim.seen), ("", None, None));
    let after = world.wait(app.events(caller, 0, ALL)).expect("events");
    let numbers = |events: &[app::events::Stored]| {
        events.iter().map(|one| (one.seq, one.id, one.kind.clone())).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&after), numbers(&before), "the feed has no gap");
    assert!(after.iter().all(|one| !one.data.contains("FR")), "{after:?}");
    let span = app::usage::Span { from: None, to: None, step: app::usage::Step::Day };
    let series = world.wait(app.usage_series(caller, Some(iccid.clone()), span)).expect("use");
    assert_eq!(series.steps.iter().map(|(_, bytes)| bytes).sum::<i64>(), 3_000_000);
    assert!(series.countries.is_empty(), "{series:?}");
    let messages = world.wait(app.messages(caller, &iccid)).expect("read");
    assert!(messages.is_some_and(|kept| kept.is_empty()));
    assert!(world.wait(app.shared(link.token.expose())).expect("read").is_none());
    let bundles = world.wait(app.bundles_on(caller, &iccid)).expect("read").expect("its own");
    assert_eq!(bundles[0].remaining, 7_000_000, "what was bought and used stays");
    let log = world.wait(app.audit_of(org, None, ALL)).expect("a log");
    let details = log.iter().filter(|one| one.action == "enduser.erase");
    assert_eq!(details.map(|one| one.detail.as_str()).collect::<Vec<_>>(), ["1 eSIMs"; 2]);
}

#[test]
fn an_overview_shows_what_is_there() {
    let (world, iccid) = start(5, "at_once");
    let (app, caller) = (world.app(), world.caller());
    let seen = |world: &World| world.wait(app.overview(world.caller())).expect("an overview");
    let some = |count| Counted { count, is_more: false };
    let first = seen(&world);
    assert_eq!((first.esims, first.orders.len()), (1, 1));
    assert_eq!(first.esims_by_status[0], (ProfileStatus::Released, some(1)));
    assert_eq!(first.ending.counted, some(1), "it lasts three days");
    assert_eq!(first.nearly_used.counted, some(0));
    assert_eq!((first.expiring.lots, first.expiring.bundles), (some(0), 0));
    assert_eq!(first.callbacks.waiting, 0);
    let last = |seen: &app::overview::Overview| {
        let (_, money) = *seen.balance_by_day.last().expect("today");
        (seen.balance_by_day.len(), money.in_minor())
    };
    assert_eq!(last(&first), (1, 9_650));
    tell(&world, &iccid, "1", Told::Used { bytes: 3_300_000, place: Some(in_france()) });
    let used = seen(&world);
    assert_eq!(used.nearly_used.first[0].iccid, iccid);
    let by_day: Vec<_> = used.used_by_day.iter().map(|(_, bytes)| *bytes).collect();
    assert_eq!((by_day.len(), by_day[29], by_day.iter().sum()), (30, 3_300_000, 3_300_000));
    world.wait(world.do_work(0, 2 * 24 * 3_600)).expect("later");
    world.wait(app.credit(ME, world.org(), 350, "more")).expect("money");
    world.wait(world.do_work(0, 2 * 24 * 3_600)).expect("later");
    let later = seen(&world);
    assert_eq!(last(&later), (5, 10_000));
    let course: Vec<_> = later.balance_by_day.iter().map(|(_, day)| day.in_minor()).collect();
    assert_eq!(course, [9_650, 9_650, 10_000, 10_000, 10_000]);
    assert_eq!(later.ending.counted, some(0), "its time is over");
    let work = world.wait(app.open_work(caller, &iccid)).expect("read").expect("its own");
    assert_eq!(work.jobs.iter().map(|job| job.kind.as_str()).collect::<Vec<_>>(), ["esim"]);
    let events = world.wait(app.recent_events(caller, None, 1)).expect("events");
    assert_eq!(events[0].kind, "Credit");
    let about = app.deliveries_about((world.org(), &iccid), None, None, 10);
    let about = world.wait(about).expect("deliveries");
    assert!(about.found.is_empty() && about.next.is_none());
}

#[test]
fn failed_requests_are_written_a_little_later() {
    let (world, _) = start(6, "week");
    let (app, caller) = (world.app(), world.caller());
    let failure = |n: i64| Failure {
        id: 0,
        at: world.rt.now(),
        request: format!("r{n}"),
        method: "POST".into(),
        route: "/v2.5/orders".into(),
        status: 400,
        code: "x".into(),
        message: "ü".repeat(limits::FAILURE_MESSAGE_CHARS_MAX + 1),
        client: "192.0.2.1".into(),
        key: caller.key().expect("it came with one"),
    };
    (0..300).for_each(|n| app.note_failure(world.org(), failure(n)));
    let read = |before| world.wait(app.failed_requests(caller, before, ALL)).expect("read");
    assert!(read(None).is_empty());
    world.wait(app.write_failures_once()).expect("written");
    let kept = read(None);
    assert_eq!((kept.len(), kept[0].request.as_str()), (200, "r299"));
    assert_eq!(kept[0].message.chars().count(), limits::FAILURE_MESSAGE_CHARS_MAX);
    assert_eq!(read(Some(kept[0].id))[0].request, "r298");
    let others = world.wait(app.failed_requests(world.caller_of(1), None, ALL)).expect("read");
    assert!(others.is_empty());
    world.rt.advance(Duration::from_hours(15 * 24));
    assert!(read(None).is_empty(), "not shown, whether or not they are forgotten");
    let (org, since) = (world.org(), domain::Timestamp::from_ms(0));
    let kept = || {
        let read =
            move |tx: &mut store::Tx<'_>| store::failures::page(tx, org, (i64::MAX, since), ALL);
        world.wait(world.store().read(read)).expect("read").len()
    };
    assert_eq!(kept(), 200);
    let own = world.store().stamp(org);
    world.wait(app.forget_once()).expect("forgotten");
    assert_eq!(kept(), 0);
    assert_ne!(world.store().stamp(org), own, "under its own lock");
}
