//! What the portal needs of the store: links, failed requests, figures, erasing; on both databases.

use domain::assignment::State;
use domain::esim::ProfileStatus;
use domain::ledger::{Account, Entry, Kind};
use domain::organisation::CallbackVersion;
use domain::{AuditId, EventId, Iccid, KeyId, Msisdn, OrgId, ShareId, Timestamp};
use store::deliveries::Attempt;
use store::failures::Failure;
use store::messages::Message;
use store::records::{self, Record};
use store::shares::Share;
use store::usage::{self, Sum};
use store::{
    Sealed, Store, StoreError, Tx, args, assignments, audit, charges, deliveries, erasure, esims,
    events, failures, figures, heads, history, lanes, ledger, messages, orders, shares,
};

use crate::assignments::unit;
use crate::commerce::{name, put_bundles};
use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::orders::order;
use crate::profiles::{LIVE, iccid, iccids, import, issue};

on_both! {
    links_are_found_by_digest_and_gone_when_removed,
    the_newest_failures_are_kept,
    the_log_of_one_organisation_is_its_own,
    a_day_is_closed_by_the_next_entry,
    figures_are_those_of_the_organisation,
    every_sign_of_life_is_seen,
    nothing_that_tells_of_a_person_stays,
    what_has_left_tells_nothing_and_can_be_erased,
    events_stay_without_the_person,
    a_card_of_a_charge_is_kept_until_it_is_decided,
    esims_are_found_by_a_piece_of_what_is_known,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// Two organisations with two eSIMs each.
async fn start(store: &Store) -> (OrgId, OrgId) {
    let (org, other) = (new_org(store, 1).await, new_org(store, 2).await);
    import(store, LIVE, 1..=4).await;
    assert_eq!(issue(store, org, LIVE, 2).await, Ok(iccids(1..=2)));
    assert_eq!(issue(store, other, LIVE, 2).await, Ok(iccids(3..=4)));
    (org, other)
}

async fn check(
    store: &Store,
    org: OrgId,
    checks: impl Fn(&mut Tx<'_>) -> Result<(), StoreError> + Send + 'static,
) {
    assert_eq!(store.write(org, checks).await, Ok(()));
}

fn sealed(n: u8) -> Sealed {
    Sealed { bytes: vec![n; 3], vault_key: "k".into() }
}

async fn links_are_found_by_digest_and_gone_when_removed(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = start(&store).await;
    let share = move |n: u8, of: u64, ends: i64| Share {
        id: ShareId::new(at(i64::from(n)), [n; 10]),
        org,
        iccid: iccid(of),
        created_at: at(i64::from(n)),
        expires_at: at(ends),
    };
    check(&store, org, move |tx| {
        for (n, of, ends) in [(1, 1, 50), (2, 1, 60), (3, 2, 50)] {
            shares::insert(tx, &share(n, of, ends), &[n; 32], &sealed(n))?;
        }
        assert_eq!(shares::by_digest(tx, &[1; 32])?, Some(share(1, 1, 50)));
        assert_eq!(shares::by_digest(tx, &[9; 32])?, None);
        let of_first = [(share(2, 1, 60), sealed(2)), (share(1, 1, 50), sealed(1))];
        assert_eq!(shares::of_esim(tx, org, &iccid(1))?, of_first);
        assert_eq!(shares::of_esim(tx, other, &iccid(1))?, []);
        assert_eq!(shares::find(tx, other, share(1, 1, 50).id)?, None);
        assert!(!shares::remove(tx, other, share(2, 1, 60).id)?);
        shares::remove_expired(tx, org, &iccid(1), at(50))?;
        assert_eq!(shares::of_esim(tx, org, &iccid(1))?, of_first[..1]);
        assert!(shares::remove(tx, org, share(2, 1, 60).id)?);
        assert!(!shares::remove(tx, org, share(2, 1, 60).id)?);
        assert_eq!(shares::by_digest(tx, &[2; 32])?, None);
        assert_eq!(shares::find(tx, org, share(3, 2, 50).id)?, Some(share(3, 2, 50)));
        Ok(())
    })
    .await;
}

fn failure(n: i64) -> Failure {
    Failure {
        id: 0,
        at: at(n),
        request: format!("r{n}"),
        method: "GET".into(),
        route: "/v2.5/esims/{iccid}".into(),
        status: 429,
        code: "rate-limited".into(),
        message: "zu schnell – ü".into(),
        client: "192.0.2.1".into(),
        key: KeyId::new(at(1), [1; 10]),
    }
}

async fn the_newest_failures_are_kept(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    for from in [1, 4, 7] {
        let three: Vec<_> = (from..from + 3).map(failure).collect();
        check(&store, org, move |tx| failures::add(tx, org, &three, 5)).await;
    }
    check(&store, other, move |tx| failures::add(tx, other, &[failure(1)], 5)).await;
    check(&store, org, move |tx| {
        let page = failures::page(tx, org, (i64::MAX, at(0)), 9)?;
        let expected: Vec<_> = [9, 8, 7, 6, 5].map(failure).to_vec();
        let without_id = |one: &Failure| Failure { id: 0, ..one.clone() };
        assert_eq!(page.iter().map(without_id).collect::<Vec<_>>(), expected);
        let times = |page: &[Failure]| page.iter().map(|one| one.at.ms()).collect::<Vec<_>>();
        let next = failures::page(tx, org, (page[1].id, at(0)), 2)?;
        assert_eq!(times(&next), [7, 6]);
        assert_eq!(times(&failures::page(tx, org, (i64::MAX, at(8)), 9)?), [9, 8]);
        assert!(!failures::has_old(tx, org, at(5))? && failures::has_old(tx, org, at(6))?);
        failures::forget(tx, org, at(7))?;
        assert!(!failures::has_old(tx, org, at(7))?);
        assert_eq!(times(&failures::page(tx, org, (i64::MAX, at(0)), 9)?), [9, 8, 7]);
        assert_eq!(failures::page(tx, other, (i64::MAX, at(0)), 9)?.len(), 1, "its own");
        Ok(())
    })
    .await;
}

fn act(n: u8, org: Option<OrgId>) -> audit::Entry {
    audit::Entry {
        id: AuditId::new(at(i64::from(n)), [n; 10]),
        at: at(i64::from(n)),
        actor: "cli".into(),
        action: "key.add".into(),
        org,
        target: "t".into(),
        detail: String::new(),
    }
}

async fn the_log_of_one_organisation_is_its_own(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    check(&store, OrgId::HOUSE, move |tx| {
        for (n, of) in [(1, Some(org)), (2, None), (3, Some(other)), (4, Some(org))] {
            audit::add(tx, &act(n, of))?;
        }
        let (first, last) = (act(1, Some(org)), act(4, Some(org)));
        assert_eq!(audit::page_of_org(tx, org, None, 9)?, [last.clone(), first.clone()]);
        assert_eq!(audit::page_of_org(tx, org, None, 1)?, std::slice::from_ref(&last));
        assert_eq!(audit::page_of_org(tx, org, Some(last.id), 9)?, [first]);
        Ok(())
    })
    .await;
}

const DAY: i64 = 24 * 3_600 * 1_000;

async fn a_day_is_closed_by_the_next_entry(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let posts = [(10, 5), (10, 7), (12, 1), (12, 1), (15, -4)];
    for (n, (day, amount)) in posts.into_iter().enumerate() {
        let moved = [(Account::Available, amount), (Account::Card, -amount)];
        let entry = Entry::new(Kind::Topup, &n.to_string(), "", &moved).expect("an entry");
        let posted = store.write(org, move |tx| ledger::post(tx, at(day * DAY + 1), &entry)).await;
        assert!(posted.is_ok(), "{posted:?}");
    }
    let read = store.read(move |tx| {
        let head = heads::find(tx, org)?.expect("a head");
        assert_eq!((head.ledger_day(), head.on(Account::Available)), (Some(15), 10));
        assert_eq!(ledger::closings(tx, org, 0)?, [(10, 12), (12, 14)]);
        assert_eq!(ledger::closings(tx, org, 12)?, [(10, 12), (12, 14)], "and the one before");
        assert_eq!(ledger::closings(tx, org, 14)?, [(12, 14)]);
        let newest = ledger::page_before(tx, org, i64::MAX, 2)?;
        assert_eq!(newest.iter().map(|one| one.seq).collect::<Vec<_>>(), [5, 4]);
        let next = ledger::page_before(tx, org, 2, 9)?;
        assert_eq!(next.iter().map(|one| one.seq).collect::<Vec<_>>(), [1]);
        Ok::<_, StoreError>(())
    });
    assert_eq!(read.await, Ok(()));
}

async fn figures_are_those_of_the_organisation(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let (org, other) = start(&store).await;
    let placed = order(org, 1);
    check(&store, org, move |tx| {
        orders::insert(tx, &placed, &[])?;
        let new = [unit((0, 0), iccid(1), true), unit((0, 1), iccid(2), true)];
        assignments::insert(tx, (org, placed.id), &new, State::Queued, at(1))?;
        for (stored, ends) in assignments::of_esims(tx, org, &iccids(1..=2))?.iter().zip([90, 50]) {
            let mut one = stored.assignment.clone();
            (one.state, one.ends_at, one.used) = (State::Active, Some(at(ends)), ends);
            assignments::save(tx, &one)?;
        }
        let numbers = |found: Vec<figures::InUse>| {
            found.into_iter().map(|one| (one.iccid, one.used, one.bundle)).collect::<Vec<_>>()
        };
        let (early, late) = ((iccid(2), 50, name("a")), (iccid(1), 90, name("a")));
        let both = [early, late];
        assert_eq!(numbers(figures::in_use_now(tx, org, at(1), 9)?), both);
        assert_eq!(numbers(figures::ending(tx, org, (at(1), at(89)), 9)?), both[..1]);
        assert_eq!(numbers(figures::ending(tx, org, (at(50), at(90)), 9)?), both[1..]);
        assert_eq!(numbers(figures::ending(tx, org, (at(1), at(90)), 1)?), both[..1]);
        assert_eq!(figures::in_use_now(tx, other, at(1), 9)?, []);
        let count = |tx: &mut Tx<'_>, status, most| figures::of_status(tx, org, status, most);
        assert_eq!(count(tx, ProfileStatus::Released, 9)?, 2);
        assert_eq!(count(tx, ProfileStatus::Released, 1)?, 1, "up to a bound");
        assert_eq!(count(tx, ProfileStatus::Installed, 9)?, 0);
        let sum = |hour, country: &str, bytes| Sum { hour, country: country.into(), bytes };
        let sums = [
            (None, sum(47, "DE", 1)),
            (None, sum(48, "DE", 2)),
            (None, sum(71, "FR", 4)),
            (Some(iccid(1)), sum(48, "DE", 8)),
            (None, sum(96, "", 16)),
        ];
        usage::add(tx, org, &sums)?;
        assert_eq!(figures::used_by_day(tx, org, 2)?, [(2, 6), (4, 16)]);
        assert_eq!(figures::expiring(tx, org, (at(0), at(9)), 9)?, []);
        Ok(())
    })
    .await;
}

async fn every_sign_of_life_is_seen(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    check(&store, org, move |tx| {
        let none = (vec![0; 5], String::new());
        assert_eq!(figures::signs(tx, org)?, none);
        let seq = events::add(tx, EventId::new(at(1), [4; 10]), "Topup", at(1), "")?;
        deliveries::add(tx, org, (seq, "l"), (CallbackVersion::V2, None), at(7))?;
        lanes::open(tx, org, "l", at(7))?;
        assert_eq!(figures::signs(tx, org)?.0, [0, 7, 0, 0, 0]);
        let answer = "heard".to_owned();
        let heard = Attempt { seq, n: 2, at: at(8), status: None, took_ms: 1, answer };
        deliveries::attempted(tx, org, &[heard])?;
        deliveries::delivered(tx, org, &[seq], at(9))?;
        failures::add(tx, org, &[failure(1)], 5)?;
        let failed = failures::page(tx, org, (i64::MAX, at(0)), 1)?[0].id;
        charges::insert(tx, &charge(org))?;
        let act = act(1, Some(org));
        audit::add(tx, &act)?;
        let signs = (vec![9, 7, 1_002, failed, 1], act.id.to_string());
        assert_eq!(figures::signs(tx, org)?, signs);
        assert_eq!(figures::signs(tx, other)?, none);
        Ok(())
    })
    .await;
}

const ANSWERS: &str = "SELECT answer FROM attempts WHERE org_id = $1 ORDER BY seq, n";
const PLACES: &str = "SELECT country, network, bytes FROM records WHERE org_id = $1 ORDER BY id";

fn placed(n: i64, of: u64) -> Record {
    Record {
        source: "s".into(),
        id: n.to_string(),
        iccid: iccid(of),
        kind: "usage",
        at: at(n),
        arrived_at: at(n),
        bytes: n,
        overshoot: 0,
        country: "DE".into(),
        network: "DEUD1".into(),
    }
}

/// An eSIM and a neighbour about which everything is known that can be.
fn known_well(tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
    for n in [1, 2] {
        let mut esim = esims::find(tx, org, &iccid(n))?.expect("its own");
        esim.customer_ref = format!("Müller {n}");
        esim.msisdn = Msisdn::parse("447700900001").ok();
        let (country, network) = ("DE".to_owned(), "DEUD1".to_owned());
        esim.seen = Some(domain::esim::Seen { at: at(3), country, network });
        esims::save(tx, &esim)?;
        history::visit(tx, (org, &iccid(n)), "DE", at(3))?;
        for text in ["one", "two", "three"] {
            let to = Msisdn::parse("447700900001").expect("a number");
            let (sender, body) = ("Shop".to_owned(), text.to_owned());
            messages::add(tx, org, &iccid(n), &Message { to, sender, body, at: at(1) })?;
        }
        let sum =
            |hour, country: &str| (Some(iccid(n)), Sum { hour, country: country.into(), bytes: 5 });
        usage::add(tx, org, &[sum(1, "DE"), sum(1, "FR"), sum(1, ""), sum(2, "DE")])?;
    }
    records::add(tx, org, &[placed(1, 1), placed(2, 1), placed(3, 1), placed(4, 2)]).map(drop)
}

async fn nothing_that_tells_of_a_person_stays(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = start(&store).await;
    check(&store, org, move |tx| {
        known_well(tx, org)?;
        assert_eq!(erasure::noted(tx, org, "Müller 1", 9)?, [iccid(1)]);
        assert_eq!(erasure::noted(tx, org, "", 9)?, []);
        assert_eq!(erasure::noted(tx, other, "Müller 1", 9)?, []);
        let before = esims::find(tx, org, &iccid(2))?;
        erasure::esim(tx, org, &iccid(1))?;
        let mut rounds = 1;
        while erasure::rows(tx, org, &iccid(1), 2)? {
            rounds += 1;
        }
        assert_eq!(rounds, 2, "two of each at a time");
        assert!(!erasure::rows(tx, org, &iccid(1), 2)?, "harmless to repeat");
        let esim = esims::find(tx, org, &iccid(1))?.expect("its own");
        assert_eq!((esim.customer_ref.as_str(), esim.msisdn, esim.seen), ("", None, None));
        assert_eq!(erasure::noted(tx, org, "Müller 1", 9)?, []);
        assert_eq!(history::visits(tx, org, &[iccid(1)])?, []);
        assert_eq!(messages::newest(tx, org, &iccid(1), 9)?, []);
        let sum = |hour, bytes| Sum { hour, country: String::new(), bytes };
        assert_eq!(usage::span(tx, (org, Some(&iccid(1))), (0, 9))?, [sum(1, 15), sum(2, 5)]);
        let places = tx.all(PLACES, args![org])?;
        let places = places.iter().map(|row| Ok((row.text(0)?.to_owned(), row.int(2)?)));
        let places: Vec<_> = places.collect::<Result<_, StoreError>>()?;
        let empty = |n| (String::new(), n);
        assert_eq!(places, [empty(1), empty(2), empty(3), ("DE".into(), 4)]);
        // The neighbour is as it was.
        assert_eq!(esims::find(tx, org, &iccid(2))?, before);
        assert_eq!(messages::newest(tx, org, &iccid(2), 9)?.len(), 3);
        assert_eq!(usage::span(tx, (org, Some(&iccid(2))), (0, 9))?.len(), 4);
        Ok(())
    })
    .await;
}

async fn what_has_left_tells_nothing_and_can_be_erased(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let (org, other) = start(&store).await;
    let placed = order(org, 1);
    check(&store, org, move |tx| {
        known_well(tx, org)?;
        orders::insert(tx, &placed, &[])?;
        let new = [unit((0, 0), iccid(1), true), unit((0, 1), iccid(2), true)];
        assignments::insert(tx, (org, placed.id), &new, State::Queued, at(1))?;
        esims::leave(tx, &iccid(1))?;
        let left = esims::find(tx, OrgId::HOUSE, &iccid(1))?.expect("the house has it");
        assert_eq!((left.customer_ref.as_str(), left.msisdn, left.seen), ("", None, None));
        assert_eq!(erasure::noted(tx, OrgId::HOUSE, "Müller 1", 9)?, []);
        let mut own = |of: OrgId, these: &[Iccid]| {
            let found = erasure::own(tx, of, these)?;
            Ok::<_, StoreError>(found.into_iter().map(|esim| esim.iccid).collect::<Vec<_>>())
        };
        assert_eq!(own(org, &iccids(1..=4))?, [iccid(2), iccid(1)]);
        assert_eq!(own(other, &iccids(1..=2))?, []);
        assert_eq!(own(other, &[])?, []);
        Ok(())
    })
    .await;
}

async fn events_stay_without_the_person(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, _) = start(&store).await;
    check(&store, org, move |tx| {
        for (n, kind) in [(1, "Utilisation"), (2, "CountryChange"), (3, "Topup"), (4, "SMSFailed")]
        {
            let seq = events::add(tx, EventId::new(at(n), [4; 10]), kind, at(n), kind)?;
            let own = (CallbackVersion::V2, (n == 4).then(|| "body".to_owned()));
            deliveries::add(tx, org, (seq, "l"), own, at(n))?;
            let answer = "heard".to_owned();
            let heard = Attempt { seq, n: 1, at: at(n), status: None, took_ms: 1, answer };
            deliveries::attempted(tx, org, &[heard])?;
        }
        let named = |n: i64, kind: &str| (n, kind.to_owned());
        let personal = [named(2, "CountryChange"), named(4, "SMSFailed")];
        assert_eq!(erasure::events(tx, org, 0, 9)?, personal);
        assert_eq!(erasure::events(tx, org, 2, 9)?, personal[1..]);
        assert_eq!(erasure::events(tx, org, 0, 1)?, personal[..1]);
        assert_eq!(erasure::bodies(tx, org, &[2, 4])?, [named(4, "body")]);
        erasure::put_event(tx, org, 2, "empty")?;
        erasure::put_body(tx, org, 4, "none")?;
        erasure::empty_answers(tx, org, &[2, 4])?;
        let kept = events::page(tx, org, 0, 9)?;
        let kept: Vec<_> = kept.iter().map(|one| one.data.as_str()).collect();
        assert_eq!(kept, ["Utilisation", "empty", "Topup", "SMSFailed"]);
        let newest = events::page_before(tx, org, 4, 2)?;
        assert_eq!(newest.iter().map(|one| one.seq).collect::<Vec<_>>(), [3, 2]);
        let of_kind = |tx: &mut Tx<'_>, bounds| {
            let page = events::page_of_kind(tx, (org, "Topup"), bounds, 9)?;
            Ok::<_, StoreError>(page.iter().map(|one| one.seq).collect::<Vec<_>>())
        };
        assert_eq!(of_kind(tx, (9, 1))?, [3]);
        assert_eq!(of_kind(tx, (3, 1))?, [0; 0]);
        assert_eq!(of_kind(tx, (9, 4))?, [0; 0]);
        assert_eq!(erasure::bodies(tx, org, &[4])?, [named(4, "none")]);
        let answers = tx.all(ANSWERS, args![org])?;
        let answers: Result<Vec<_>, _> = answers.iter().map(|row| row.text(0)).collect();
        assert_eq!(answers?, ["heard", "", "heard", ""]);
        let page = deliveries::page_of_lane(tx, (org, "l"), (4, 2), 9)?;
        assert_eq!(page.iter().map(|one| one.seq).collect::<Vec<_>>(), [3, 2]);
        assert_eq!(deliveries::page_of_lane(tx, (org, "m"), (9, 1), 9)?, []);
        Ok(())
    })
    .await;
}

fn charge(org: OrgId) -> charges::Charge {
    charges::Charge {
        id: 0,
        org,
        kind: "apiTopup".into(),
        amount: 5,
        state: charges::State::Undecided,
        reference: "r".into(),
        form: String::new(),
        key_digest: None,
        after: None,
        created_at: at(1),
        decided_at: None,
    }
}

async fn a_card_of_a_charge_is_kept_until_it_is_decided(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    check(&store, org, move |tx| {
        let charge = charge(org);
        let id = charges::insert(tx, &charge)?;
        assert_eq!(charges::charge_card(tx, id)?, None);
        let (label, sealed) = ("label".to_owned(), sealed(1));
        let card = charges::ChargeCard { label, sealed, new_at: Some(at(1)) };
        charges::put_charge_card(tx, id, &card)?;
        assert_eq!(charges::charge_card(tx, id)?, Some(card.clone()));
        assert_eq!(charges::card(tx, org)?, None);
        charges::put_card(tx, org, "stored", &card.sealed, at(1))?;
        assert_eq!(charges::card_label(tx, org)?.as_deref(), Some("stored"));
        assert_eq!(charges::card(tx, org)?, Some(("stored".into(), card.sealed)));
        charges::drop_charge_card(tx, id)?;
        assert_eq!(charges::charge_card(tx, id)?, None);
        assert!(charges::is_any_undecided(tx, org)?);
        let charge = charges::Charge { id, ..charge };
        assert!(charges::decide(tx, &charge, charges::State::Declined, None, at(2))?);
        assert!(!charges::is_any_undecided(tx, org)?);
        Ok(())
    })
    .await;
}

async fn esims_are_found_by_a_piece_of_what_is_known(fixture: Fixture) {
    use store::esims::{Effort, Looked, Piece, Way};
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    import(&store, LIVE, 1..=9).await;
    assert_eq!(issue(&store, org, LIVE, 6).await, Ok(iccids(1..=6)));
    assert_eq!(issue(&store, other, LIVE, 3).await, Ok(iccids(7..=9)));
    check(&store, org, move |tx| {
        let mut noted = esims::find(tx, org, &iccid(2))?.expect("an eSIM");
        noted.customer_ref = "Löwe 7".into();
        noted.status = ProfileStatus::Installed;
        esims::save(tx, &noted)
    })
    .await;
    check(&store, org, move |tx| {
        let mut look = |looked: &Looked, way: &Way, (most, looked_at): (i64, i64)| {
            let effort = Effort { most, looked_at };
            let (found, reached) = esims::look(tx, org, looked, way, effort)?;
            let numbers: Vec<_> = found.into_iter().map(|esim| esim.iccid).collect();
            Ok::<_, StoreError>((numbers, reached))
        };
        let all = Looked::default();
        let numbers = |these: &[u64]| these.iter().map(|n| iccid(*n)).collect::<Vec<_>>();
        assert_eq!(look(&all, &Way::Top, (4, 2))?, (numbers(&[6, 5, 4, 3]), None));
        let below = Way::Below(iccid(3).to_string());
        assert_eq!(look(&all, &below, (4, 2))?, (numbers(&[2, 1]), None));
        let above = Way::Above(iccid(3).to_string());
        assert_eq!(look(&all, &above, (2, 9))?, (numbers(&[4, 5]), None));
        let status = Some(ProfileStatus::Installed);
        let installed = Looked { status, ..Looked::default() };
        assert_eq!(look(&installed, &Way::Top, (4, 9))?, (numbers(&[2]), None));
        // It looked at four and says how far it came.
        let reached = Some(iccid(3).to_string());
        assert_eq!(look(&installed, &Way::Top, (4, 4))?, (vec![], reached));
        let piece = |digits: &str, text: &str| Looked {
            piece: Piece { digits: digits.to_owned(), text: text.to_owned() },
            ..Looked::default()
        };
        assert_eq!(look(&piece("", "löwe"), &Way::Top, (4, 9))?.0, numbers(&[2]));
        let whole = iccid(5).to_string();
        assert_eq!(look(&piece(&whole, &whole), &Way::Top, (4, 9))?.0, numbers(&[5]));
        assert_eq!(look(&piece("", "%"), &Way::Top, (4, 9))?.0, vec![]);
        let noted = esims::by_note(tx, org, "Löwe 7", 5)?;
        assert_eq!(noted.into_iter().map(|esim| esim.iccid).collect::<Vec<_>>(), numbers(&[2]));
        assert_eq!(esims::by_note(tx, other, "Löwe 7", 5)?, vec![]);
        Ok(())
    })
    .await;
}
