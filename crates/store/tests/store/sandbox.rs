//! What a sandbox that starts afresh hands on, what it wants to go wrong, and secrets that sign; on
//! both databases.

use domain::organisation::Endpoint;
use domain::{CallbackUrl, KeyId, OrgId, Role, Timestamp, User, UserId};
use store::faults::{self, Fault};
use store::{Sealed, StoreError, Tx, keys, organisations, secrets, users};

use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::tables::{key, sample};

on_both! {
    secrets_sign_until_they_expire,
    a_fault_comes_as_often_as_it_was_asked_for,
    only_the_newest_is_met_under_an_id,
    an_endpoint_reads_back,
    keys_and_people_are_handed_on,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn sealed(n: u8) -> Sealed {
    Sealed { bytes: vec![n, 0, 255], vault_key: format!("k{n}") }
}

async fn secrets_sign_until_they_expire(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let id = |n: u8| KeyId::new(at(i64::from(n)), [n; 10]);
    let checks = store.write(org, move |tx| {
        assert_eq!(secrets::valid(tx, org, at(0))?, []);
        secrets::expire(tx, org, at(1))?;
        secrets::add(tx, (org, id(1)), &sealed(1), at(1))?;
        secrets::add(tx, (other, id(9)), &sealed(9), at(1))?;
        secrets::expire(tx, org, at(50))?;
        secrets::add(tx, (org, id(2)), &sealed(2), at(2))?;
        let both = [(id(2), sealed(2)), (id(1), sealed(1))];
        assert_eq!(secrets::valid(tx, org, at(49))?, both, "the newest first");
        // An end that is set is not moved.
        secrets::expire(tx, org, at(60))?;
        assert_eq!(secrets::valid(tx, org, at(49))?, both);
        assert_eq!(secrets::valid(tx, org, at(50))?, both[..1]);
        assert_eq!(secrets::valid(tx, org, at(60))?, []);
        secrets::valid(tx, other, at(99))
    });
    assert_eq!(checks.await, Ok(vec![(id(9), sealed(9))]), "another organisation's stays");
}

async fn a_fault_comes_as_often_as_it_was_asked_for(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let fault = |route: &str, times: i64| Fault {
        id: 0,
        route: route.into(),
        fault: "status".into(),
        status: 503,
        seconds: 4,
        times,
    };
    let all = |tx: &mut Tx<'_>, org: OrgId| {
        let all = faults::of_org(tx, org)?;
        Ok::<_, StoreError>(all.into_iter().map(|one| (one.route, one.times)).collect::<Vec<_>>())
    };
    let checks = store.write(org, move |tx| {
        faults::put(tx, org, &fault("POST /orders", 9))?;
        faults::put(tx, org, &fault("GET /esims", 1))?;
        faults::put(tx, other, &fault("POST /orders", 5))?;
        faults::put(tx, org, &fault("POST /orders", 2))?;
        let (gone, again) = (("GET /esims".to_owned(), 1), ("POST /orders".to_owned(), 2));
        assert_eq!(all(tx, org)?, [gone, again], "one a route, oldest first");
        let [esims, orders] = &faults::of_org(tx, org)?[..] else { panic!("two of them") };
        assert_eq!(*orders, Fault { id: orders.id, ..fault("POST /orders", 2) });
        assert_eq!(faults::take(tx, orders.id)?, (true, false));
        assert_eq!(faults::take(tx, orders.id)?, (true, true), "that was the last");
        assert_eq!(faults::take(tx, orders.id)?, (false, false), "used up");
        assert_eq!(faults::take(tx, esims.id)?, (true, true));
        assert_eq!(all(tx, org)?, []);
        faults::put(tx, org, &fault("GET /esims", 1))?;
        faults::put(tx, org, &fault("GET /esims", 0))?;
        assert_eq!(all(tx, org)?, [], "no more of them");
        faults::put(tx, org, &fault("GET /esims", 1))?;
        faults::drop_all(tx, org)?;
        assert_eq!(all(tx, org)?, []);
        all(tx, other)
    });
    assert_eq!(checks.await, Ok(vec![("POST /orders".to_owned(), 5)]));
}

async fn only_the_newest_is_met_under_an_id(fixture: Fixture) {
    let store = fixture.store().await;
    let (first, second) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let (third, bystander) = (new_org(&store, 3).await, new_org(&store, 4).await);
    let checks = store.write(OrgId::HOUSE, move |tx| {
        organisations::insert(tx, &sample(first))?;
        organisations::insert(tx, &sample(bystander))?;
        assert_eq!(organisations::known_as(tx, first)?, Some(first));
        assert_eq!(organisations::known_as(tx, second)?, None);
        for (old, new) in [(first, second), (second, third)] {
            organisations::replace(tx, old, at(5))?;
            let heir = domain::Organisation { known_as: first, ..sample(new) };
            organisations::insert(tx, &heir)?;
            assert_eq!(organisations::find(tx, new)?, Some(heir));
            assert_eq!(organisations::known_as(tx, first)?, Some(new));
            assert_eq!(organisations::known_as(tx, new)?, None, "its own id means nobody");
        }
        let page = organisations::page(tx, OrgId::HOUSE, 9)?;
        let met: Vec<_> = page.iter().map(|one| one.id).collect();
        assert_eq!(met, [third, bystander], "those that are kept apart are not met");
        assert!(organisations::find(tx, first)?.is_some(), "and are there still");
        let all = organisations::ids(tx, OrgId::HOUSE, 9)?;
        assert_eq!(all, [first, second, third, bystander]);
        assert_eq!(organisations::ids(tx, second, 1)?, [third]);
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
    let twice = store.write(OrgId::HOUSE, move |tx| {
        organisations::insert(tx, &domain::Organisation { known_as: third, ..sample(second) })
    });
    assert!(twice.await.is_err(), "an organisation is there once");
}

async fn an_endpoint_reads_back(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let failing = Endpoint {
        paused_at: None,
        failing_since: Some(at(2)),
        off_at: Some(at(3)),
        off_why: "it is gone".into(),
    };
    let checks = store.write(org, move |tx| {
        let all = [sample(org), sample(other)];
        all.iter().try_for_each(|one| organisations::insert(tx, one))?;
        let url = sample(org).settings.callback_url.expect("it has one");
        let elsewhere = CallbackUrl::parse("https://shop.example/other").expect("a URL");
        organisations::judge(tx, (org, &elsewhere), &failing)?;
        assert_eq!(organisations::find(tx, org)?, Some(sample(org)), "it is another one by now");
        organisations::judge(tx, (org, &url), &failing)?;
        // What the operator wants is one thing, how an endpoint does another.
        organisations::pause(tx, org, Some(at(1)))?;
        organisations::judge(tx, (org, &url), &failing)?;
        organisations::update(tx, &sample(org))?;
        let endpoint = Endpoint { paused_at: Some(at(1)), ..failing.clone() };
        let expected = domain::Organisation { endpoint, ..sample(org) };
        assert_eq!(organisations::find(tx, org)?, Some(expected));
        organisations::switch_on(tx, org)?;
        let endpoint = Endpoint { paused_at: Some(at(1)), ..Endpoint::default() };
        let expected = domain::Organisation { endpoint, ..sample(org) };
        assert_eq!(organisations::find(tx, org)?, Some(expected));
        organisations::pause(tx, org, None)?;
        assert_eq!(organisations::find(tx, other)?, Some(sample(other)));
        organisations::find(tx, org)
    });
    assert_eq!(checks.await, Ok(Some(sample(org))));
}

fn person(n: u8) -> User {
    User {
        id: UserId::new(at(i64::from(n)), [n; 10]),
        first_name: "Ada".into(),
        last_name: "L".into(),
        role: Role::Owner,
        email: domain::contact::Email::parse(&format!("p{n}@shop.example")).expect("an address"),
        phone: String::new(),
        time_zone: "UTC".into(),
        password_hash: None,
        created_at: at(1),
    }
}

async fn keys_and_people_are_handed_on(fixture: Fixture) {
    let store = fixture.store().await;
    let (old, new) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let bystander = new_org(&store, 3).await;
    let checks = store.write(OrgId::HOUSE, move |tx| {
        for (n, org, is_primary) in [(1, old, true), (2, old, false), (3, bystander, true)] {
            keys::insert(tx, &key(org, n, is_primary), &[n], &sealed(n))?;
            users::insert(tx, org, &person(n))?;
        }
        let (one, two) = (key(old, 1, true).id, key(old, 2, false).id);
        assert_eq!(keys::sealed_of(tx, old)?, [(one, sealed(1)), (two, sealed(2))]);
        assert_eq!(keys::sealed_of(tx, new)?, []);
        for (id, n) in [(one, 11), (two, 12)] {
            keys::hand_on(tx, id, new, &sealed(n))?;
        }
        assert_eq!(keys::sealed_of(tx, old)?, []);
        assert_eq!(keys::sealed_of(tx, new)?, [(one, sealed(11)), (two, sealed(12))]);
        assert_eq!(keys::by_digest(tx, &[1])?, Some(key(new, 1, true)), "it works as before");
        assert_eq!(keys::primary(tx, new)?, Some((one, sealed(11))));
        assert_eq!(keys::primary(tx, old)?, None);
        secrets::add(tx, (old, one), &sealed(4), at(1))?;
        secrets::hand_on(tx, one, new, &sealed(14))?;
        assert_eq!(secrets::valid(tx, old, at(1))?, []);
        assert_eq!(secrets::valid(tx, new, at(1))?, [(one, sealed(14))]);
        users::hand_on(tx, old, new)?;
        assert_eq!(users::of_org(tx, old)?, []);
        assert_eq!(users::of_org(tx, new)?, [person(1), person(2)]);
        assert_eq!(users::of_org(tx, bystander)?, [person(3)]);
        keys::sealed_of(tx, bystander)
    });
    assert_eq!(checks.await, Ok(vec![(key(bystander, 3, true).id, sealed(3))]));
}
