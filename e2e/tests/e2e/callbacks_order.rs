//! Callbacks come in order per eSIM, and nobody waits for somebody else's receiver.

use std::time::Duration;

use serde_json::{Value, json};
use store::Rt;

use crate::callbacks::{deliveries, delivery, listen, many, remaining_of, report, told, used};
use crate::desk::consume;
use crate::harness::{Call, Home, Org, Reaction, Receiver, World, wait};
use crate::money::{advance, settle};
use crate::shop::{PLENTY, at_once, credit, hold, now, open, reseller};

crate::on_both! {
    a_failing_event_holds_back_its_own_esim_only,
    events_without_an_esim_keep_an_order_of_their_own,
    what_waits_comes_in_order_once_the_receiver_is_back,
    nobody_waits_for_a_hostile_receiver,
    settle_sends_everything_and_hold_lets_it_wait,
    a_receiver_may_close_its_connections_at_will,
    sending_again_from_many_sides_keeps_the_order,
}

const GB: i64 = 1_000_000_000;

/// What is left after each of so many uses of a thousand bytes.
fn steps(count: i64) -> Vec<i64> {
    (1..=count).map(|n| GB - n * 1_000).collect()
}

async fn a_failing_event_holds_back_its_own_esim_only(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 3).await;
    let bad = iccids[1].clone();
    // The second event of the second eSIM is not taken.
    let poison = format!("\"remainingQuantity\":{}", GB - 2_000);
    let at = now(&world, &org).await;
    report(&world, &[used("first", &bad, at, 1_000)]).await;
    settle(&world, &org).await;
    receiver.refuse(&[&poison]);
    report(&world, &[used("second", &bad, at, 1_000)]).await;
    settle(&world, &org).await;
    receiver.refuse(&[&format!("\"iccid\":\"{bad}\"")]);
    let mut batch = Vec::new();
    for n in 0..4 {
        for iccid in &iccids {
            batch.push(used(&format!("{n}-{iccid}"), iccid, at, 1_000));
        }
    }
    report(&world, &batch).await;
    settle(&world, &org).await;
    let calls = receiver.calls();
    assert_eq!(remaining_of(&calls, &iccids[0]), steps(4));
    assert_eq!(remaining_of(&calls, &iccids[2]), steps(4));
    assert_eq!(remaining_of(&calls, &bad), steps(2), "one that came, one that failed");
    let waiting = deliveries(&world, &org, "?state=waiting").await;
    assert_eq!(waiting.len(), 5);
    // It is tried again alone; then everything behind it follows.
    advance(&world, &org, 5).await;
    assert_eq!(remaining_of(&receiver.calls(), &bad)[2..], [GB - 2_000]);
    receiver.refuse(&[]);
    advance(&world, &org, 300).await;
    settle(&world, &org).await;
    assert_eq!(remaining_of(&receiver.calls(), &bad)[3..], steps(6)[1..]);
    assert_eq!(deliveries(&world, &org, "?state=waiting").await, [] as [Value; 0]);
}

async fn events_without_an_esim_keep_an_order_of_their_own(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    world.change(&org, &json!({"callbackEvents": ["Credit"]})).await;
    receiver.refuse(&["Credit"]);
    for amount in [100, 200, 300] {
        credit(&world, &org, amount).await;
    }
    consume(&world, &org, &iccids[0], 1_000).await;
    settle(&world, &org).await;
    let kinds: Vec<_> = receiver.calls().iter().map(Call::kind).collect();
    let count = |kind: &str| kinds.iter().filter(|own| *own == kind).count();
    assert_eq!((count("Credit"), count("Utilisation"), kinds.len()), (1, 1, 2));
    receiver.refuse(&[]);
    advance(&world, &org, 5).await;
    settle(&world, &org).await;
    let calls = receiver.calls();
    let credits = calls.iter().filter(|call| call.kind() == "Credit");
    let gained = |call: &Call| {
        let bundle = call.json()["bundle"].take();
        bundle["newAmount"].as_f64().expect("a number") - bundle["oldAmount"].as_f64().expect("one")
    };
    let gained: Vec<_> = credits.map(gained).map(f64::round).collect();
    assert_eq!(gained, [1.0, 1.0, 2.0, 3.0]);
}

async fn what_waits_comes_in_order_once_the_receiver_is_back(home: Home) {
    let world = open(home, 40).await;
    let receiver = Receiver::that(Reaction::Status(503)).await;
    let (org, iccids) = told(&world, &receiver, 40).await;
    let at = now(&world, &org).await;
    for n in 0..5 {
        let one = |iccid: &String| used(&format!("{n}-{iccid}"), iccid, at, 1_000);
        report(&world, &iccids.iter().map(one).collect::<Vec<_>>()).await;
    }
    settle(&world, &org).await;
    let failed = receiver.count();
    assert_eq!(failed, 40, "the first of each");
    receiver.always(Reaction::Status(204));
    advance(&world, &org, 5).await;
    settle(&world, &org).await;
    let calls = receiver.calls().split_off(failed);
    assert_eq!(calls.len(), 200);
    for iccid in &iccids {
        assert_eq!(remaining_of(&calls, iccid), steps(5), "{iccid}");
    }
}

/// An organisation whose receiver does its worst.
struct Victim {
    org: Org,
    receiver: Receiver,
    what: &'static str,
    says: &'static str,
}

async fn victims(world: &World, trap: &Receiver) -> Vec<Victim> {
    let redirect = Reaction::With(307, format!("Location: {}", trap.url()));
    let late = "no answer within 15 seconds";
    let mut all = Vec::new();
    for (what, reaction, says) in [
        ("never answers", Reaction::Silent, late),
        ("answers byte by byte", Reaction::Drip, late),
        ("has no end", Reaction::Endless, "xxx"),
        ("sends elsewhere", redirect, "as told"),
        ("resets", Reaction::Reset, "the connection was reset before an answer"),
        ("closes", Reaction::Close, "the connection was closed before an answer"),
    ] {
        let receiver = Receiver::that(reaction).await;
        let (org, iccids) = told(world, &receiver, 3).await;
        let at = now(world, &org).await;
        for iccid in &iccids {
            report(world, &[used(&format!("v-{iccid}"), iccid, at, 1_000)]).await;
        }
        all.push(Victim { org, receiver, what, says });
    }
    all
}

async fn nobody_waits_for_a_hostile_receiver(home: Home) {
    let world = open(home, 30).await;
    let (healthy, trap) = (Receiver::start().await, Receiver::start().await);
    let (org, iccids) = told(&world, &healthy, 2).await;
    let rt = Rt::real();
    let victims = victims(&world, &trap).await;
    // While they hang, somebody else's arrive at once.
    let mut count = 0;
    while rt.monotonic() < Duration::from_secs(6) {
        consume(&world, &org, &iccids[count % 2], 1_000).await;
        count += 1;
        let arrived = healthy.wait_for(count);
        let (_, took) = wait::timed(arrived).await;
        assert!(took < Duration::from_secs(6), "callback {count} took {took:?}");
        rt.sleep(Duration::from_millis(100)).await;
    }
    for Victim { org, receiver, what, says } in &victims {
        let tried = wait::until("each was tried", Duration::from_secs(20), async || {
            let rows = deliveries(&world, org, "").await;
            let all = rows.iter().all(|row| row["attempts"] != 0);
            all.then_some(rows)
        });
        let rows = tried.await;
        assert_eq!(rows.len(), 3, "{what}");
        for row in &rows {
            let first = delivery(&world, org, &row["cursor"]).await["tried"][0].take();
            assert!(first["milliseconds"].as_i64() <= Some(20_000), "{what}: {first}");
            let answer = first["answer"].as_str().expect("a text");
            assert!(answer.starts_with(says), "{what}: {first}");
            assert!(answer.len() <= 500, "{what}: {first}");
            let delivered = *what == "has no end";
            assert_eq!(row["state"], if delivered { "delivered" } else { "waiting" }, "{what}");
        }
        assert!(receiver.connections() > 0, "{what}");
    }
    assert_eq!(trap.connections(), 0, "nobody follows a redirect");
}

async fn settle_sends_everything_and_hold_lets_it_wait(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::that(Reaction::Late(Duration::from_millis(100))).await;
    let org = reseller(&world, PLENTY).await;
    let iccids = many(&world, &org, 2).await;
    listen(&world, &org, &receiver).await;
    for n in 1..=3 {
        consume(&world, &org, &iccids[0], 1_000).await;
        settle(&world, &org).await;
        assert_eq!(receiver.count(), n, "settled is delivered");
    }
    assert_eq!(deliveries(&world, &org, "?state=delivered").await.len(), 3);
    assert_eq!(receiver.connections_used(), 1, "a connection is used again");
    hold(&world, &org, true).await;
    for _ in 0..2 {
        consume(&world, &org, &iccids[1], 1_000).await;
    }
    settle(&world, &org).await;
    advance(&world, &org, 3_600).await;
    Rt::real().sleep(Duration::from_millis(700)).await;
    assert_eq!(receiver.count(), 3, "what is held waits");
    assert_eq!(deliveries(&world, &org, "?state=waiting").await.len(), 2);
    hold(&world, &org, false).await;
    let calls = receiver.wait_for(5).await;
    assert_eq!(remaining_of(&calls, &iccids[1]), steps(2));
}

/// Servers close connections when they like. A callback that meets a closed one takes another, and
/// that is no failure of the receiver.
async fn a_receiver_may_close_its_connections_at_will(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::that(Reaction::Leave).await;
    let (org, iccids) = told(&world, &receiver, 4).await;
    let at = now(&world, &org).await;
    let one = |n: usize| used(&format!("c-{n}"), &iccids[n % 4], at, 1_000);
    report(&world, &(0..200).map(one).collect::<Vec<_>>()).await;
    let calls = receiver.wait_for(200).await;
    settle(&world, &org).await;
    assert_eq!(receiver.count(), 200);
    for iccid in &iccids {
        assert_eq!(remaining_of(&calls, iccid), steps(50));
    }
    let rows = deliveries(&world, &org, "?limit=1000").await;
    // One that was closed at the very moment it was used again is tried once more.
    let few = rows.iter().filter(|row| row["attempts"] != 1).count();
    assert!(few <= 5, "nearly each at the first attempt: {few} of them not");
}

async fn sending_again_from_many_sides_keeps_the_order(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    for _ in 0..5 {
        consume(&world, &org, &iccids[0], 1_000).await;
    }
    settle(&world, &org).await;
    receiver.always(Reaction::Late(Duration::from_millis(20)));
    let path = format!("/organisations/{}/deliveries/replay", org.id);
    let span = json!({"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"});
    let requests: Vec<_> = (0..8).map(|_| world.operator("POST", &path).json(&span)).collect();
    let answers = at_once(&world, &requests).await;
    let sent: i64 =
        answers.into_iter().map(|a| a.json_of(200)["replayed"].as_i64().expect("whole")).sum();
    settle(&world, &org).await;
    let again = remaining_of(&receiver.calls()[5..], &iccids[0]);
    assert_eq!(i64::try_from(again.len()), Ok(sent), "as often as was said");
    // Never two at a time, and an older one before a newer one of the same wish.
    assert!(sent >= 5, "at least once each: {sent}");
    assert_eq!(again[0], GB - 1_000);
    assert_eq!(again.last(), Some(&(GB - 5_000)));
    let left = deliveries(&world, &org, "?state=waiting").await;
    assert_eq!(left, [] as [Value; 0]);
}
