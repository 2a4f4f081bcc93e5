//! Lanes: who sends what, and in which order, on both databases.

use domain::organisation::{CallbackVersion, Endpoint};
use domain::{EventId, OrgId, Timestamp};
use store::{Store, StoreError, Tx, deliveries, events, heads, jobs, lanes, organisations};

use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::tables::sample;

on_both! {
    an_open_lane_stays_as_it_is,
    lanes_are_claimed_once_and_what_is_due_first,
    two_nodes_never_own_the_same_lane,
    what_is_given_back_is_closed_or_free,
    nobody_gives_back_what_another_owns,
    organisations_with_something_due_are_found,
    held_and_paused_organisations_are_left_out,
    the_lanes_of_a_silent_node_are_free_again,
    many_organisations_are_found,
}

type Taken = Vec<(String, Option<i64>)>;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// Adds an event that waits in a lane, due at a moment of the organisation's clock; its number.
pub(crate) fn tell(
    tx: &mut Tx<'_>,
    org: OrgId,
    lane: &str,
    due: Timestamp,
) -> Result<i64, StoreError> {
    let next = tx.head().map_or(0, |head| head.event_seq) + 1;
    let mut random = [0; 10];
    random[2..].copy_from_slice(&next.to_be_bytes());
    let id = EventId::new(due, random);
    let seq = events::add(tx, id, "Utilisation", due, &format!("full {next}"))?;
    deliveries::add(tx, org, (seq, lane), (CallbackVersion::V3, None), due)?;
    lanes::open(tx, org, lane, due)?;
    Ok(seq)
}

fn claim(tx: &mut Tx<'_>, org: OrgId, by: i64, most: usize) -> Result<Taken, StoreError> {
    let mut taken = lanes::claim(tx, org, "me", at(by), most)?;
    taken.sort();
    Ok(taken)
}

fn taken<const N: usize>(lanes: [(&str, i64); N]) -> Taken {
    lanes.map(|(lane, seq)| (lane.to_owned(), Some(seq))).to_vec()
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(ToOwned::to_owned).to_vec()
}

async fn found(store: &Store) -> Vec<(OrgId, i64)> {
    let found = store.read(lanes::orgs).await.expect("read");
    found.into_iter().map(|(org, due)| (org, due.ms())).collect()
}

async fn an_open_lane_stays_as_it_is(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        assert_eq!(lanes::due(tx, org, "a")?, None);
        lanes::open(tx, org, "a", at(5))?;
        lanes::open(tx, org, "a", at(3))?;
        lanes::hurry(tx, org, &names(["a", "b", ""]), at(9))?;
        lanes::hurry(tx, org, &[], at(1))?;
        for (lane, due) in [("a", Some(5)), ("b", Some(9)), ("", Some(9)), ("c", None)] {
            assert_eq!(lanes::due(tx, org, lane)?, due.map(at), "{lane}");
        }
        assert_eq!(lanes::due(tx, other, "a")?, None, "another organisation's");
        assert_eq!(lanes::next_due(tx, org)?, Some(at(5)));
        assert_eq!(lanes::next_due(tx, other)?, None);
        // Also while somebody sends what is in it.
        assert_eq!(claim(tx, org, 5, 9)?, [("a".to_owned(), None)]);
        lanes::open(tx, org, "a", at(1))?;
        assert_eq!((lanes::in_flight(tx, org)?, lanes::next_due(tx, org)?), (1, Some(at(9))));
        lanes::drop_all(tx, org)?;
        assert_eq!(lanes::next_due(tx, org)?, None);
        lanes::in_flight(tx, org)
    });
    assert_eq!(checks.await, Ok(0));
}

async fn lanes_are_claimed_once_and_what_is_due_first(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        for (lane, due) in [("d", 40), ("a", 30), ("b", 10), ("c", 20), ("b", 11), ("a", 31)] {
            tell(tx, org, lane, at(due))?;
        }
        assert_eq!(claim(tx, other, 99, 9)?, []);
        assert_eq!(claim(tx, org, 9, 9)?, [], "none is due");
        assert_eq!(claim(tx, org, 99, 0)?, []);
        assert_eq!(claim(tx, org, 30, 2)?, taken([("b", 3), ("c", 4)]), "due first, oldest event");
        assert_eq!(claim(tx, org, 30, 9)?, taken([("a", 2)]), "what is owned is left");
        assert_eq!(claim(tx, org, 39, 9)?, []);
        assert_eq!(lanes::next_due(tx, org)?, Some(at(40)));
        assert_eq!(claim(tx, org, 40, 9)?, taken([("d", 1)]), "due at that very moment");
        assert_eq!(lanes::next_due(tx, org)?, None);
        lanes::in_flight(tx, org)
    });
    assert_eq!(checks.await, Ok(4));
}

async fn two_nodes_never_own_the_same_lane(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let lane = |n: i64| format!("lane {n:02}");
    let told = store
        .write(org, move |tx| (0..40).try_for_each(|n| tell(tx, org, &lane(n), at(n)).map(drop)));
    assert_eq!(told.await, Ok(()));
    let mut nodes = Vec::new();
    for n in 0..8 {
        let (store, owner) = (store.clone(), format!("node {n}"));
        nodes.push(fixture.rt.task(async move {
            store.write(org, move |tx| lanes::claim(tx, org, &owner, at(29), 5)).await
        }));
    }
    let mut claimed = Vec::new();
    for node in nodes {
        let taken: Taken = node.await.expect("ran").unwrap_or_else(|error: StoreError| {
            panic!("{error}");
        });
        claimed.extend(taken.into_iter().map(|(lane, _)| lane));
    }
    claimed.sort();
    assert_eq!(claimed, (0..30).map(lane).collect::<Vec<_>>(), "what is due, each once");
}

async fn what_is_given_back_is_closed_or_free(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let checks = store.write(org, move |tx| {
        let first = tell(tx, org, "a", at(1))?;
        for lane in ["b", "c", "a"] {
            tell(tx, org, lane, at(2))?;
        }
        assert_eq!(claim(tx, org, 9, 9)?.len(), 3);
        deliveries::delivered(tx, org, &[first, 2], at(3))?;
        lanes::give_back(tx, (org, "me"), &[], at(7))?;
        lanes::give_back(tx, (org, "me"), &names(["a", "b"]), at(7))?;
        assert_eq!(lanes::due(tx, org, "a")?, Some(at(7)), "one more waits in it");
        assert_eq!(lanes::due(tx, org, "b")?, None, "nothing waits in it");
        assert_eq!((lanes::due(tx, org, "c")?, lanes::in_flight(tx, org)?), (Some(at(2)), 1));
        assert_eq!(claim(tx, org, 6, 9)?, []);
        assert_eq!(claim(tx, org, 7, 9)?, taken([("a", 4)]));
        // What was told while it was sent is not lost with it.
        deliveries::delivered(tx, org, &[3], at(3))?;
        tell(tx, org, "c", at(8))?;
        lanes::give_back(tx, (org, "me"), &names(["c"]), at(8))?;
        claim(tx, org, 8, 9)
    });
    assert_eq!(checks.await, Ok(taken([("c", 5)])));
}

async fn nobody_gives_back_what_another_owns(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        tell(tx, org, "full", at(1))?;
        lanes::open(tx, org, "empty", at(1))?;
        lanes::open(tx, org, "free", at(1))?;
        lanes::open(tx, other, "full", at(1))?;
        let both = names(["full", "empty"]);
        assert_eq!(lanes::claim(tx, org, "me", at(1), 1)?.len(), 1);
        assert_eq!(lanes::claim(tx, org, "me", at(1), 9)?.len(), 2);
        lanes::give_back(tx, (org, "me"), &names(["free"]), at(1))?;
        lanes::open(tx, org, "free", at(1))?;
        let everything = names(["full", "empty", "free"]);
        lanes::give_back(tx, (org, "you"), &everything, at(50))?;
        lanes::give_back(tx, (other, "me"), &everything, at(50))?;
        lanes::release(tx, "you")?;
        assert_eq!(lanes::in_flight(tx, org)?, 2, "they are owned still");
        for lane in ["full", "empty", "free"] {
            assert_eq!(lanes::due(tx, org, lane)?, Some(at(1)), "{lane}");
        }
        assert_eq!(lanes::due(tx, other, "full")?, Some(at(1)));
        lanes::give_back(tx, (org, "me"), &both, at(50))?;
        Ok::<_, StoreError>([lanes::due(tx, org, "full")?, lanes::due(tx, org, "empty")?])
    });
    assert_eq!(checks.await, Ok([Some(at(50)), None]));
}

async fn organisations_with_something_due_are_found(fixture: Fixture) {
    let store = fixture.store().await;
    assert_eq!(found(&store).await, []);
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let told = store.write(other, move |tx| {
        tx.head_mut().expect("there").clock_offset_ms = 1_000;
        tell(tx, other, "a", at(1_070))?;
        tell(tx, other, "b", at(1_050))
    });
    assert_eq!(told.await, Ok(2));
    assert_eq!(found(&store).await, [(other, 50)], "the first of them, by the real clock");
    let told = store.write(org, move |tx| tell(tx, org, "", at(60)).map(drop)).await;
    assert_eq!(told, Ok(()));
    assert_eq!(found(&store).await, [(org, 60), (other, 50)]);
    let claimed = store.write(other, move |tx| claim(tx, other, 1_050, 9)).await;
    assert_eq!(claimed.map(|taken| taken.len()), Ok(1));
    assert_eq!(found(&store).await, [(org, 60), (other, 70)], "what is owned is left");
    let claimed = store.write(other, move |tx| claim(tx, other, 1_070, 9)).await;
    assert_eq!(claimed.map(|taken| taken.len()), Ok(1));
    assert_eq!(found(&store).await, [(org, 60)]);
    assert_eq!(store.write(OrgId::HOUSE, lanes::release_all).await, Ok(()));
    assert_eq!(found(&store).await, [(org, 60), (other, 50)]);
}

async fn held_and_paused_organisations_are_left_out(fixture: Fixture) {
    let store = fixture.store().await;
    let mut orgs = Vec::new();
    for n in 1..=4 {
        let org = new_org(&store, n).await;
        let told = store.write(org, move |tx| {
            organisations::insert(tx, &sample(org))?;
            tell(tx, org, "a", at(5)).map(drop)
        });
        assert_eq!(told.await, Ok(()));
        orgs.push(org);
    }
    let (held, paused, off) = (orgs[0], orgs[1], orgs[2]);
    let hold = |on: bool| {
        store.write(held, move |tx| {
            tx.head_mut().expect("there").held_at = on.then_some(at(1));
            Ok::<_, StoreError>(())
        })
    };
    assert_eq!(hold(true).await, Ok(()));
    let pause =
        |at: Option<Timestamp>| store.write(paused, move |tx| organisations::pause(tx, paused, at));
    assert_eq!(pause(Some(at(1))).await, Ok(()));
    // What is switched off is found: what waits there is to be given up.
    let switch_off = store.write(off, move |tx| {
        let url = sample(off).settings.callback_url.expect("it has one");
        let endpoint = Endpoint { off_at: Some(at(1)), ..Endpoint::default() };
        organisations::judge(tx, (off, &url), &endpoint)
    });
    assert_eq!(switch_off.await, Ok(()));
    assert_eq!(found(&store).await, [(off, 5), (orgs[3], 5)]);
    assert_eq!(pause(None).await, Ok(()));
    assert_eq!(found(&store).await, [(paused, 5), (off, 5), (orgs[3], 5)]);
    assert_eq!(hold(false).await, Ok(()));
    assert_eq!(found(&store).await.len(), 4);
}

async fn the_lanes_of_a_silent_node_are_free_again(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let checks = store.write(org, move |tx| {
        for lane in ["a", "b", "c"] {
            tell(tx, org, lane, at(1))?;
        }
        assert_eq!(lanes::claim(tx, org, "dead", at(1), 2)?.len(), 2);
        assert_eq!(lanes::claim(tx, org, "alive", at(1), 2)?.len(), 1);
        jobs::beat(tx, "dead", 7)?;
        jobs::beat(tx, "alive", 3)?;
        assert!(!jobs::bury(tx, "dead", 6)?, "it has moved since");
        assert_eq!(lanes::in_flight(tx, org)?, 3);
        assert!(jobs::bury(tx, "dead", 7)?);
        assert_eq!(lanes::in_flight(tx, org)?, 1, "the other one's stay");
        // When they are due is not changed: they have waited long enough.
        assert_eq!(lanes::claim(tx, org, "alive", at(1), 9)?.len(), 2);
        // What the dead node brings now changes nothing.
        lanes::give_back(tx, (org, "dead"), &names(["a", "b", "c"]), at(99))?;
        lanes::let_go(tx, (org, "dead"))?;
        lanes::let_go(tx, (OrgId::HOUSE, "alive"))?;
        assert_eq!(lanes::in_flight(tx, org)?, 3);
        lanes::let_go(tx, (org, "alive"))?;
        Ok::<_, StoreError>((lanes::in_flight(tx, org)?, lanes::next_due(tx, org)?))
    });
    assert_eq!(checks.await, Ok((0, Some(at(1)))));
}

async fn many_organisations_are_found(fixture: Fixture) {
    let store = fixture.store().await;
    let org = |n: u16| {
        let [high, low] = n.to_be_bytes();
        OrgId::new(at(1_000), [high, low, 0, 0, 0, 0, 0, 0, 0, 0])
    };
    let opened = store.write(OrgId::HOUSE, move |tx| {
        for n in 1..=500 {
            heads::insert(tx, org(n))?;
            // Every other one has nothing to send, or somebody sends it.
            if n.is_multiple_of(2) {
                lanes::hurry(tx, org(n), &names(["a", "b", "c"]), at(i64::from(n)))?;
            }
            if n.is_multiple_of(4) {
                assert_eq!(lanes::claim(tx, org(n), "me", at(9_999), 9)?.len(), 3);
            }
        }
        Ok::<_, StoreError>(())
    });
    assert_eq!(opened.await, Ok(()));
    let numbers = (1..=500_u16).filter(|n| n % 4 == 2);
    let expected: Vec<_> = numbers.map(|n| (org(n), i64::from(n))).collect();
    assert_eq!(found(&store).await, expected);
}
