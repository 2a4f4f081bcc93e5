//! People: found by address and id, their sessions and links, second factors, wrong passwords.

use domain::contact::Email;
use domain::{OrgId, Role, Secret, Timestamp, User, UserId};
use store::guesses::Guesses;
use store::sessions::Session;
use store::{Sealed, StoreError, guesses, sessions, users};

use crate::fixture::{Fixture, new_org};
use crate::on_both;

on_both! {
    people_are_found_changed_and_removed,
    a_code_is_used_once_and_a_new_factor_counts_later,
    sessions_end_alone_together_and_by_time,
    links_are_good_until_they_are_dropped,
    wrong_passwords_are_counted_and_forgotten,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn person(n: u8, role: Role) -> User {
    User {
        id: UserId::new(at(i64::from(n)), [n; 10]),
        first_name: "Ada".into(),
        last_name: format!("{n}"),
        role,
        email: Email::parse(&format!("p{n}@reseller.example")).expect("an address"),
        phone: String::new(),
        time_zone: "Etc/UTC".into(),
        password_hash: None,
        created_at: at(1),
    }
}

async fn people_are_found_changed_and_removed(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let done = store.write(org, move |tx| {
        let mut user = person(1, Role::Owner);
        users::insert(tx, org, &user)?;
        users::insert(tx, org, &person(2, Role::Viewer))?;
        assert_eq!(users::with_role(tx, org, Role::Owner)?, 1);
        let found = users::by_email(tx, &user.email)?.expect("somebody");
        assert_eq!((found.org, &found.user, &found.factor), (org, &user, &None));
        user.role = Role::Admin;
        user.last_name = "changed".into();
        user.password_hash = Some(Secret::new("hash".into()));
        users::update(tx, &user)?;
        assert_eq!(users::find(tx, user.id)?.expect("somebody").user, user);
        assert_eq!(users::with_role(tx, org, Role::Owner)?, 0);
        users::remove(tx, user.id)?;
        assert_eq!(users::find(tx, user.id)?, None);
        assert_eq!(users::count(tx, org)?, 1);
        Ok::<_, StoreError>(())
    });
    assert_eq!(done.await, Ok(()));
}

async fn a_code_is_used_once_and_a_new_factor_counts_later(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let done = store.write(org, move |tx| {
        let user = person(1, Role::Owner);
        users::insert(tx, org, &user)?;
        let sealed = Sealed { bytes: vec![1, 2, 3], vault_key: "k1".into() };
        users::set_factor(tx, user.id, &sealed)?;
        let factor = users::find(tx, user.id)?.and_then(|found| found.factor).expect("a factor");
        assert_eq!((factor.sealed, factor.on_at, factor.step), (sealed.clone(), None, 0));
        assert_eq!(users::with_factor(tx, org)?, [], "not confirmed yet");
        assert!(users::use_factor(tx, user.id, 7, at(5))?);
        assert_eq!(users::with_factor(tx, org)?, [user.id]);
        assert!(!users::use_factor(tx, user.id, 7, at(6))?, "the same half-minute again");
        assert!(!users::use_factor(tx, user.id, 6, at(6))?, "an earlier one");
        assert!(users::use_factor(tx, user.id, 8, at(5))?);
        let factor = users::find(tx, user.id)?.and_then(|found| found.factor).expect("a factor");
        assert_eq!((factor.on_at, factor.step), (Some(at(5)), 8));
        users::set_factor(tx, user.id, &sealed)?;
        let factor = users::find(tx, user.id)?.and_then(|found| found.factor).expect("a factor");
        assert_eq!((factor.on_at, factor.step), (None, 0));
        users::drop_factor(tx, user.id)?;
        assert_eq!(users::find(tx, user.id)?.expect("somebody").factor, None);
        Ok::<_, StoreError>(())
    });
    assert_eq!(done.await, Ok(()));
}

fn session(n: u8, user: UserId, expires_at: i64) -> Session {
    Session {
        digest: vec![n; 32],
        user,
        address: "192.0.2.1".into(),
        agent: "a browser".into(),
        created_at: at(i64::from(n)),
        seen_at: at(i64::from(n)),
        expires_at: at(expires_at),
        waits_at: (n == 3).then(|| at(3)),
    }
}

async fn sessions_end_alone_together_and_by_time(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let done = store.write(org, move |tx| {
        let (one, two) = (person(1, Role::Owner), person(2, Role::Viewer));
        users::insert(tx, org, &one)?;
        users::insert(tx, org, &two)?;
        for n in 1..=4 {
            sessions::add(tx, &session(n, one.id, 100))?;
        }
        sessions::add(tx, &session(5, two.id, 50))?;
        assert_eq!(sessions::find(tx, &[3; 32], at(99))?, Some(session(3, one.id, 100)));
        assert_eq!(sessions::find(tx, &[3; 32], at(100))?, None, "its time is over");
        let order: Vec<u8> =
            sessions::of_user(tx, one.id, at(9))?.iter().map(|found| found.digest[0]).collect();
        assert_eq!(order, [4, 3, 2, 1]);
        sessions::touch(tx, &[4; 32], at(60), at(160))?;
        let touched = sessions::find(tx, &[4; 32], at(150))?.expect("longer now");
        assert_eq!((touched.seen_at, touched.expires_at), (at(60), at(160)));
        sessions::end(tx, &[1; 32])?;
        assert_eq!(sessions::end_others(tx, one.id, &[4; 32])?, 2);
        assert_eq!(sessions::of_user(tx, one.id, at(9))?.len(), 1);
        sessions::forget_old(tx, at(50))?;
        assert_eq!(sessions::of_user(tx, two.id, at(9))?, []);
        assert_eq!(sessions::end_all(tx, one.id)?, 1);
        Ok::<_, StoreError>(())
    });
    assert_eq!(done.await, Ok(()));
}

async fn links_are_good_until_they_are_dropped(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let done = store.write(org, move |tx| {
        let user = person(1, Role::Owner);
        users::insert(tx, org, &user)?;
        sessions::add_link(tx, &[1; 32], (user.id, "reset"), at(100))?;
        assert_eq!(sessions::link(tx, &[1; 32], at(99))?, Some((user.id, "reset".into())));
        assert_eq!(sessions::link(tx, &[1; 32], at(100))?, None);
        assert_eq!(sessions::link(tx, &[2; 32], at(1))?, None);
        sessions::forget_old(tx, at(99))?;
        assert!(sessions::link(tx, &[1; 32], at(1))?.is_some());
        sessions::drop_links(tx, user.id)?;
        assert_eq!(sessions::link(tx, &[1; 32], at(1))?, None);
        Ok::<_, StoreError>(())
    });
    assert_eq!(done.await, Ok(()));
}

async fn wrong_passwords_are_counted_and_forgotten(fixture: Fixture) {
    let store = fixture.store().await;
    let done = store.write(OrgId::HOUSE, |tx| {
        let guess = |count| Guesses { count, last_at: at(10), wait_until: at(20) };
        assert_eq!(guesses::find(tx, &[1; 32])?, None);
        guesses::put(tx, &[1; 32], guess(1))?;
        guesses::put(tx, &[1; 32], guess(2))?;
        guesses::put(tx, &[2; 32], Guesses { last_at: at(30), ..guess(9) })?;
        assert_eq!(guesses::find(tx, &[1; 32])?, Some(guess(2)));
        guesses::forget_old(tx, at(10))?;
        assert_eq!(guesses::find(tx, &[1; 32])?, None);
        assert!(guesses::find(tx, &[2; 32])?.is_some());
        guesses::forget(tx, &[2; 32])?;
        assert_eq!(guesses::find(tx, &[2; 32])?, None);
        Ok::<_, StoreError>(())
    });
    assert_eq!(done.await, Ok(()));
}
