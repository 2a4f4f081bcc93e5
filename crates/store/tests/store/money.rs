//! The tables of money: ledger, idempotency, due work, events, charges; on both databases.

use domain::ledger::{Account, Entry, Kind};
use domain::{EventId, JobId, OrgId, Timestamp};
use store::charges::{self, Charge, State};
use store::jobs::{self, Due, Job};
use store::{Sealed, StoreError, events, heads, idempotency, ledger};

use crate::fixture::{Fixture, new_org};
use crate::on_both;

on_both! {
    entries_are_chained_and_balances_follow,
    an_overdraft_is_refused_and_changes_nothing,
    the_same_cause_posts_once,
    a_balance_that_rises_may_be_told_of_again,
    an_answer_is_kept_once,
    work_is_claimed_once_and_in_order,
    no_more_is_claimed_than_asked_for,
    much_work_is_added_at_once_and_never_put_off,
    work_that_is_added_again_overtakes_whoever_does_it,
    work_is_pulled_forward_and_never_put_off,
    held_work_waits,
    the_work_of_a_silent_node_is_released,
    the_work_of_a_node_that_never_said_a_word_is_released,
    events_are_numbered_without_gaps,
    charges_are_decided_once_and_summed,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn topup(reference: &str, amount: i64) -> Entry {
    let moved = [(Account::Available, amount), (Account::Card, -amount)];
    Entry::new(Kind::Topup, reference, "", &moved).expect("an entry")
}

async fn entries_are_chained_and_balances_follow(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    for n in 1..=3 {
        let entry = topup(&n.to_string(), n * 10);
        let posted = store.write(org, move |tx| ledger::post(tx, at(n), &entry)).await;
        assert_eq!(posted, Ok(n));
    }
    let read: Result<_, StoreError> =
        store.read(move |tx| Ok((ledger::page(tx, org, 0, 10)?, heads::find(tx, org)?))).await;
    let (entries, head) = read.expect("read");
    let head = head.expect("there");
    let mut before: Option<Vec<u8>> = None;
    for entry in &entries {
        assert_eq!(entry.hash, entry.expected_hash(org, before.as_deref()));
        before = Some(entry.hash.clone());
    }
    assert_eq!((entries.len(), head.ledger_seq()), (3, 3));
    assert_eq!(head.ledger_hash(), before.as_deref());
    assert_eq!((head.on(Account::Available), head.on(Account::Card)), (60, -60));
    let first: Result<_, StoreError> =
        store.read(move |tx| ledger::first_since(tx, org, at(2))).await;
    assert_eq!(first, Ok(Some(2)));
}

async fn an_overdraft_is_refused_and_changes_nothing(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let post = store.write(org, |tx| ledger::post(tx, at(1), &topup("1", 5))).await;
    assert_eq!(post, Ok(1));
    let refused = store.write(org, |tx| ledger::post(tx, at(2), &topup("2", -6))).await;
    assert_eq!(refused, Err(ledger::Error::Overdrawn(Account::Available)));
    let head: Result<_, StoreError> = store.read(move |tx| heads::find(tx, org)).await;
    let head = head.expect("read").expect("there");
    assert_eq!((head.ledger_seq(), head.on(Account::Available)), (1, 5));
}

async fn the_same_cause_posts_once(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let post = |tx: &mut store::Tx<'_>| ledger::post(tx, at(1), &topup("1", 5));
    assert_eq!(store.write(org, post).await, Ok(1));
    let again = store.write(org, post).await.expect_err("once");
    let ledger::Error::Store(cause) = again else { panic!("{again:?}") };
    assert!(cause.is_unique("ledger_entries(org_id, kind, reference)"), "{cause:?}");
}

async fn a_balance_that_rises_may_be_told_of_again(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let credit = |reference: &str, amount: i64| {
        let moved = [(Account::TestCredit, amount), (Account::OperatorCredit, -amount)];
        Entry::new(Kind::Topup, reference, "", &moved).expect("an entry")
    };
    for (n, entry, expected) in [
        (1, topup("1", 10), 0),
        (2, topup("2", -4), 5),
        (3, credit("3", 10), 5),
        (4, topup("4", 1), 0),
    ] {
        let told = store.write(org, move |tx| {
            tx.head_mut().expect("there").short_told = 5;
            ledger::post(tx, at(n), &entry)
        });
        assert_eq!(told.await, Ok(n));
        let head: Result<_, StoreError> = store.read(move |tx| heads::find(tx, org)).await;
        let told = head.expect("read").map(|head| head.short_told);
        assert_eq!(told, Some(expected), "entry {n}");
    }
}

async fn an_answer_is_kept_once(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let checks = store.write(org, move |tx| {
        let seen = idempotency::Seen {
            request_digest: b"request".to_vec(),
            answer: None,
            subject: "7".into(),
        };
        assert_eq!(idempotency::find(tx, org, b"key")?, None);
        idempotency::begin(tx, org, b"key", &seen, at(1))?;
        assert_eq!(idempotency::find(tx, org, b"key")?, Some(seen));
        for bytes in [b"first", b"other"] {
            let answer = Sealed { bytes: bytes.to_vec(), vault_key: "k1".into() };
            idempotency::finish(tx, org, b"key", &answer)?;
        }
        let kept = idempotency::find(tx, org, b"key")?.and_then(|seen| seen.answer);
        assert_eq!(kept.map(|sealed| sealed.bytes), Some(b"first".to_vec()));
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}

fn job(org: OrgId, n: u8) -> Job {
    Job {
        id: JobId::new(at(i64::from(n)), [n; 10]),
        org,
        kind: "test".into(),
        subject: n.to_string(),
        due_at: at(i64::from(n)),
        attempts: 0,
        error: String::new(),
        failed_at: None,
    }
}

fn add(tx: &mut store::Tx<'_>, org: OrgId, n: u8) -> Result<(), StoreError> {
    let due = at(i64::from(n));
    jobs::add(tx, &job(org, n), Due { at: due, wake_at: due }, at(0))
}

async fn work_is_claimed_once_and_in_order(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let added = store.write(org, move |tx| (1..=9).try_for_each(|n| add(tx, org, n))).await;
    assert_eq!(added, Ok(()));
    let mut claims = Vec::new();
    for n in 0..8 {
        let (store, owner) = (store.clone(), format!("node {n}"));
        claims.push(fixture.rt.task(async move {
            store.write(OrgId::HOUSE, move |tx| jobs::claim(tx, &owner, at(6), 2)).await
        }));
    }
    let mut claimed = Vec::new();
    for claim in claims {
        let jobs = claim.await.expect("ran").expect("claimed");
        claimed.extend(jobs.into_iter().map(|job| job.due_at.ms()));
    }
    claimed.sort_unstable();
    assert_eq!(claimed, [1, 2, 3, 4, 5, 6], "what is due, each once");
    let settled = store.write(org, move |tx| {
        let mine = Job { attempts: 1, ..job(org, 1) };
        assert!(!jobs::is_mine(tx, &mine, "nobody")?);
        jobs::again(tx, mine.id, Due { at: at(20), wake_at: at(20) }, "later")?;
        jobs::dead(tx, job(org, 2).id, at(9), "broken")?;
        jobs::done(tx, job(org, 3).id)?;
        assert_eq!(jobs::failed(tx, None, 10)?.len(), 1);
        assert_eq!(jobs::all(tx, None, 10)?.len(), 8);
        assert!(jobs::retry(tx, job(org, 2).id, at(9))?);
        assert!(!jobs::retry(tx, job(org, 2).id, at(9))?);
        let next = jobs::claim_next_of_org(tx, org, "me", at(8))?.expect("due");
        assert_eq!((next.due_at, next.attempts), (at(2), 1));
        assert!(jobs::is_mine(tx, &next, "me")?);
        assert_eq!(jobs::in_flight(tx, org)?, 4);
        jobs::release_all(tx)?;
        assert_eq!(jobs::in_flight(tx, org)?, 0);
        jobs::reset_wake(tx, org, 100)
    });
    assert_eq!(settled.await, Ok(()));
}

/// Also when the database takes the table for smaller than it is, and so goes another way.
async fn no_more_is_claimed_than_asked_for(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    store.write(org, move |tx| add(tx, org, 1)).await.expect("added");
    fixture.script("ANALYZE").await;
    let added = store.write(org, move |tx| (2..=9).try_for_each(|n| add(tx, org, n))).await;
    assert_eq!(added, Ok(()));
    for (most, expected) in [(1, &[1][..]), (3, &[2, 3, 4]), (9, &[5, 6, 7, 8, 9])] {
        let claim = store.write(OrgId::HOUSE, move |tx| jobs::claim(tx, "me", at(99), most)).await;
        let claimed: Vec<_> = claim.expect("claimed").iter().map(|job| job.due_at.ms()).collect();
        assert_eq!(claimed, expected);
    }
}

async fn much_work_is_added_at_once_and_never_put_off(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    // More than one statement holds; ids of another make are of the same work.
    let many = |org: OrgId, make: u8, subjects: std::ops::Range<u16>| -> Vec<Job> {
        let one = |n: u16| {
            let [high, low] = n.to_be_bytes();
            let id = JobId::new(at(i64::from(make)), [0, 0, 0, 0, 0, 0, 0, 0, high, low]);
            Job { id, subject: n.to_string(), ..job(org, 0) }
        };
        subjects.map(one).collect()
    };
    let due = |ms: i64| Due { at: at(ms), wake_at: at(ms + 1_000) };
    let checks = store.write(org, move |tx| {
        jobs::add_all_sooner(tx, &[], due(1), at(0))?;
        jobs::add_all_sooner(tx, &many(other, 9, 0..3), due(70), at(0))?;
        jobs::add_all_sooner(tx, &many(org, 1, 0..300), due(50), at(0))?;
        jobs::add_all_sooner(tx, &many(org, 2, 0..300), due(60), at(0))?;
        jobs::add_all_sooner(tx, &many(org, 3, 0..299), due(5), at(0))?;
        assert_eq!(jobs::claim(tx, "me", at(1_004), 999)?, []);
        assert_eq!(jobs::claim(tx, "me", at(1_005), 999)?.len(), 299);
        let all = jobs::all(tx, None, 999)?;
        Ok::<_, StoreError>(all.into_iter().filter(|job| job.org == org).collect::<Vec<_>>())
    });
    let moved = |job: Job| match job.subject.as_str() {
        "299" => Job { due_at: at(50), ..job },
        _ => Job { due_at: at(5), attempts: 1, ..job },
    };
    let expected: Vec<_> = many(org, 1, 0..300).into_iter().map(moved).collect();
    assert_eq!(checks.await, Ok(expected), "each once, under its first id");
}

async fn work_that_is_added_again_overtakes_whoever_does_it(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let due = |ms: i64| Due { at: at(ms), wake_at: at(ms) };
    let checks = store.write(org, move |tx| {
        jobs::add(tx, &job(org, 1), due(5), at(0))?;
        let first = jobs::claim_next_of_org(tx, org, "me", at(5))?.expect("due");
        let again = Job { id: job(org, 2).id, ..job(org, 1) };
        jobs::add(tx, &again, due(5), at(0))?;
        let second = jobs::claim_next_of_org(tx, org, "me", at(5))?.expect("due again");
        assert_eq!((first.attempts, second.attempts), (1, 1));
        assert!(!jobs::is_mine(tx, &first, "me")?, "the same owner, the same attempt, another one");
        assert!(jobs::is_mine(tx, &second, "me")?);
        // What comes back by itself begins anew.
        jobs::back_at(tx, second.id, due(9))?;
        let third = jobs::claim_next_of_org(tx, org, "me", at(9))?.expect("back");
        Ok::<_, StoreError>((third.id == second.id, third.attempts, jobs::all(tx, None, 9)?.len()))
    });
    assert_eq!(checks.await, Ok((true, 1, 1)));
}

async fn work_is_pulled_forward_and_never_put_off(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        // Every call brings an id of its own; the work of a subject keeps the first one.
        let sooner = |tx: &mut store::Tx<'_>, n: u8, due: i64| {
            let job = Job { id: job(org, n).id, ..job(org, 1) };
            jobs::add_sooner(tx, &job, Due { at: at(due), wake_at: at(due + 1_000) }, at(0))
        };
        let only = |tx: &mut store::Tx<'_>| -> Result<(JobId, i64, i64), StoreError> {
            let all = jobs::all(tx, None, 10)?;
            assert_eq!(all.len(), 1);
            Ok((all[0].id, all[0].due_at.ms(), all[0].attempts))
        };
        let id = job(org, 1).id;
        for (n, due, expected) in [(1, 100, 100), (2, 150, 100), (3, 100, 100), (4, 50, 50)] {
            sooner(tx, n, due)?;
            assert_eq!(only(tx)?, (id, expected, 0), "due {due}");
        }
        assert_eq!(jobs::claim(tx, "me", at(1_049), 9)?, []);
        let mine = jobs::claim(tx, "me", at(1_050), 9)?.remove(0);
        assert_eq!((mine.id, mine.due_at, mine.attempts), (id, at(50), 1));
        for (n, due, expected) in [(5, 60, 50), (6, 50, 50), (7, 40, 40)] {
            sooner(tx, n, due)?;
            assert_eq!(only(tx)?, (id, expected, 1), "due {due}, while it is being done");
            assert!(jobs::is_mine(tx, &mine, "me")?);
        }
        let foreign = Job { id: job(other, 8).id, ..job(other, 1) };
        jobs::add_sooner(tx, &foreign, Due { at: at(7), wake_at: at(7) }, at(0))?;
        assert_eq!(jobs::all(tx, None, 10)?.len(), 2, "another organisation's is another");
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}

async fn held_work_waits(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let held = store.write(org, move |tx| {
        tx.head_mut().expect("there").held_at = Some(at(1));
        add(tx, org, 1)
    });
    held.await.expect("held");
    let claim = |tx: &mut store::Tx<'_>| jobs::claim(tx, "me", at(9), 9);
    assert_eq!(store.write(OrgId::HOUSE, claim).await, Ok(Vec::new()));
}

async fn the_work_of_a_silent_node_is_released(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    store.write(org, move |tx| add(tx, org, 1)).await.expect("added");
    let checks = store.write(OrgId::HOUSE, |tx| {
        jobs::beat(tx, "dead", 7)?;
        jobs::beat(tx, "alive", 3)?;
        assert_eq!(jobs::claim(tx, "dead", at(9), 9)?.len(), 1);
        assert_eq!(jobs::beats(tx)?, [("alive".into(), 3), ("dead".into(), 7)]);
        assert!(!jobs::bury(tx, "dead", 6)?, "it has moved since");
        assert!(jobs::bury(tx, "dead", 7)?);
        assert_eq!(jobs::claim(tx, "alive", at(9), 9)?.len(), 1);
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}

async fn the_work_of_a_node_that_never_said_a_word_is_released(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let checks = store.write(org, move |tx| {
        add(tx, org, 1)?;
        assert_eq!(jobs::claim(tx, "first", at(9), 9)?.len(), 1);
        assert_eq!(jobs::beats(tx)?, [("first".into(), 0)], "whoever claims is known");
        assert!(jobs::bury(tx, "first", 0)?);
        assert!(jobs::claim_next_of_org(tx, org, "second", at(9))?.is_some());
        assert_eq!(jobs::beats(tx)?, [("second".into(), 0)]);
        jobs::beat(tx, "second", 1)?;
        assert!(!jobs::bury(tx, "second", 0)?, "it lives");
        assert_eq!(jobs::claim(tx, "third", at(9), 9)?, []);
        assert_eq!(jobs::beats(tx)?.len(), 1, "who claims nothing need not be known");
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}

async fn events_are_numbered_without_gaps(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    for n in 1..=3_u8 {
        let id = EventId::new(at(i64::from(n)), [n; 10]);
        let added = store.write(org, move |tx| events::add(tx, id, "Topup", at(1), "{}")).await;
        assert_eq!(added, Ok(i64::from(n)));
    }
    let page: Result<_, StoreError> = store.read(move |tx| events::page(tx, org, 1, 10)).await;
    let numbers: Vec<_> = page.expect("read").into_iter().map(|event| event.seq).collect();
    assert_eq!(numbers, [2, 3]);
}

async fn charges_are_decided_once_and_summed(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let charge = |reference: &str, amount: i64| Charge {
        id: 0,
        org,
        kind: "apiTopup".into(),
        amount,
        state: State::Undecided,
        reference: reference.into(),
        form: "v2.3".into(),
        key_digest: None,
        after: None,
        created_at: at(5),
        decided_at: None,
    };
    let (one, two) = (charge("a", 1_000_000_000_000), charge("b", 23));
    let checks = store.write(org, move |tx| {
        let first = charges::insert(tx, &one)?;
        let second = charges::insert(tx, &two)?;
        assert_eq!(charges::undecided(tx, org, "apiTopup")?, 2);
        assert_eq!(charges::charged_since(tx, org, at(5))?, 1_000_000_000_023);
        assert_eq!(charges::charged_since(tx, org, at(6))?, 0);
        let found = charges::find(tx, org, first)?.expect("there");
        assert_eq!(found, Charge { id: first, ..one.clone() });
        assert_eq!(charges::find(tx, other, first)?, None, "another organisation's");
        assert!(charges::decide(tx, &found, State::Paid, Some((1, 2)), at(7))?);
        assert!(!charges::decide(tx, &found, State::Declined, None, at(8))?, "once");
        let paid = charges::find(tx, org, first)?.expect("there");
        assert_eq!((paid.state, paid.after), (State::Paid, Some((1, 2))));
        assert_eq!(charges::page(tx, org, first, 9)?[0].id, second);
        assert_eq!(charges::card(tx, org)?, None);
        let card = Sealed { bytes: vec![1], vault_key: "k1".into() };
        charges::put_card(tx, org, "card", &card, at(1))?;
        assert_eq!(charges::card(tx, org)?, Some(("card".into(), card)));
        charges::remove_card(tx, org)?;
        assert_eq!(charges::card(tx, org)?, None);
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}
