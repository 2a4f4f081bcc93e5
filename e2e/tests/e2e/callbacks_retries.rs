//! A callback that fails: eight attempts, then dead, and what people can do about it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::callbacks::{deliveries, delivery, health, listen, of_sandbox, replay, told};
use crate::desk::{consume, esim_with, text};
use crate::harness::{Home, Org, Reaction, Receiver, World, wait};
use crate::life_bundles::{DAY, time};
use crate::money::{advance, events, settle};
use crate::shop::{PT_MORE, now, open};

crate::on_both! {
    there_are_eight_attempts_and_then_none,
    a_receiver_that_asks_for_time_gets_it,
    what_is_dead_can_be_sent_again,
    a_window_of_time_can_be_sent_again,
    a_receiver_that_is_gone_is_left_alone,
    five_days_of_failure_switch_off,
    callbacks_can_be_paused,
    an_address_that_was_left_says_nothing_about_the_next,
    a_clock_that_is_moved_waits_for_what_is_under_way,
}

const HOUR: i64 = 3_600;
const DELAYS: [i64; 7] = [5, 300, 1_800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];

/// The only delivery, with every attempt.
async fn only(world: &World, org: &Org) -> Value {
    let all = deliveries(world, org, "").await;
    assert_eq!(all.len(), 1, "{all:?}");
    delivery(world, org, &all[0]["cursor"]).await
}

async fn there_are_eight_attempts_and_then_none(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::that(Reaction::Says(500, "x".repeat(2_000))).await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    world.change(&org, &json!({"callbackVersion": "V3"})).await;
    consume(&world, &org, &iccids[0], 1_000).await;
    settle(&world, &org).await;
    for (n, delay) in DELAYS.into_iter().enumerate() {
        assert_eq!(receiver.count(), n + 1);
        let one = only(&world, &org).await;
        assert_eq!((&one["state"], &one["attempts"]), (&json!("waiting"), &json!(n + 1)));
        // At most a tenth early, and never late.
        let tried = one["tried"].as_array().expect("attempts");
        let due = time(&one["nextAttemptAt"]).ms() - time(&tried[n]["time"]).ms();
        let wanted = delay * 900 - 100..=delay * 1_000 + 3_000;
        assert!(wanted.contains(&due), "attempt {} is due after {due} ms", n + 2);
        let left = (time(&one["nextAttemptAt"]).ms() - now(&world, &org).await.ms()) / 1_000;
        if left > 60 {
            advance(&world, &org, left - 30).await;
            assert_eq!(receiver.count(), n + 1, "not before its time");
        }
        advance(&world, &org, left.min(30) + 1).await;
    }
    let one = only(&world, &org).await;
    assert_eq!((&one["state"], &one["attempts"]), (&json!("dead"), &json!(8)));
    assert_eq!(one["nextAttemptAt"], Value::Null);
    let tried = one["tried"].as_array().expect("attempts");
    assert_eq!(tried.len(), 8);
    for attempt in tried {
        assert_eq!((&attempt["status"], text(&attempt["answer"])), (&json!(500), "x".repeat(500)));
    }
    advance(&world, &org, 3 * DAY).await;
    let calls = receiver.calls();
    assert_eq!(calls.len(), 8, "dead is dead");
    assert!(calls.iter().all(|call| call.body == calls[0].body), "the same bytes every time");
    let ids: Vec<_> = calls.iter().filter_map(|call| call.header("webhook-id")).collect();
    assert_eq!(ids, [ids[0]; 8], "and the same name");
    let told = health(&world, &org).await;
    assert_eq!((&told["state"], &told["dead"]), (&json!("failing"), &json!(1)), "{told}");
    // The feed had it all the time.
    let told = events(&world, &org).await;
    assert_eq!(told.iter().filter(|(kind, _)| kind == "Utilisation").count(), 1);
}

async fn a_receiver_that_asks_for_time_gets_it(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    let asked = |text: &str| Reaction::With(429, format!("Retry-After: {text}"));
    let rest = ["soon", "0"].map(asked);
    receiver.then([asked("90"), asked("99999999999999999999999")]);
    receiver.then(rest);
    consume(&world, &org, &iccids[0], 1_000).await;
    settle(&world, &org).await;
    let due = async || {
        let one = only(&world, &org).await;
        let last = one["tried"].as_array().and_then(|all| all.last()).expect("an attempt").clone();
        assert_eq!(last["status"], 429);
        (time(&one["nextAttemptAt"]).ms() - time(&last["time"]).ms()) / 1_000
    };
    let near = |found: i64, wanted: i64| assert!((wanted..=wanted + 3).contains(&found), "{found}");
    near(due().await, 90);
    advance(&world, &org, 60).await;
    assert_eq!(receiver.count(), 1);
    advance(&world, &org, 31).await;
    // Nobody waits for more than a day.
    near(due().await, DAY);
    advance(&world, &org, DAY + 1).await;
    // What is no time, or less than ours, changes nothing.
    assert!((1_600..=1_803).contains(&due().await));
    advance(&world, &org, 1_803).await;
    assert!((6_400..=7_203).contains(&due().await));
    advance(&world, &org, 7_203).await;
    assert_eq!(
        (receiver.count(), only(&world, &org).await["state"].clone()),
        (5, json!("delivered"))
    );
}

async fn what_is_dead_can_be_sent_again(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::that(Reaction::Status(400)).await;
    let (org, iccids) = told(&world, &receiver, 2).await;
    for iccid in [&iccids[0], &iccids[1], &iccids[0]] {
        consume(&world, &org, iccid, 1_000).await;
    }
    settle(&world, &org).await;
    // The one behind gets its own attempts when the one before it is dead.
    advance(&world, &org, 3 * DAY).await;
    assert_eq!(receiver.count(), 24);
    let dead = deliveries(&world, &org, "?state=dead").await;
    assert_eq!(dead.len(), 3);
    receiver.always(Reaction::Status(200));
    // One of them; it was tried eight times and is tried again.
    assert_eq!(replay(&world, &org, &json!({"cursor": dead[1]["cursor"]})).await, 1);
    settle(&world, &org).await;
    let one = delivery(&world, &org, &dead[1]["cursor"]).await;
    assert_eq!((&one["state"], &one["attempts"]), (&json!("delivered"), &json!(9)), "{one}");
    assert_eq!(receiver.calls()[24].iccid(), text(&dead[1]["iccid"]));
    // Once more, though it was delivered: who asks gets it.
    assert_eq!(replay(&world, &org, &json!({"cursor": dead[1]["cursor"]})).await, 1);
    settle(&world, &org).await;
    assert_eq!(receiver.calls()[25].body, receiver.calls()[24].body);
    // All that are dead, in their order, with full sets of attempts.
    receiver.then([Reaction::Status(500)]);
    assert_eq!(replay(&world, &org, &json!({"dead": true})).await, 2);
    settle(&world, &org).await;
    advance(&world, &org, 5).await;
    settle(&world, &org).await;
    let left = crate::callbacks::remaining_of(&receiver.calls()[26..], &iccids[0]);
    assert_eq!(left, [999_999_000, 999_999_000, 999_998_000]);
    assert_eq!(deliveries(&world, &org, "?state=dead").await, [] as [Value; 0]);
    assert_eq!(replay(&world, &org, &json!({"dead": true})).await, 0);
    let told = health(&world, &org).await;
    assert_eq!(
        (&told["state"], &told["dead"], &told["waiting"]),
        (&json!("well"), &json!(0), &json!(0))
    );
}

async fn a_window_of_time_can_be_sent_again(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(now(&world, &org).await);
        consume(&world, &org, &iccids[0], 1_000).await;
        advance(&world, &org, HOUR).await;
    }
    settle(&world, &org).await;
    assert_eq!(receiver.count(), 5);
    let window = |from: usize, to: usize| {
        let [from, to] = [from, to].map(|place: usize| times[place].to_string());
        json!({ "from": from, "to": to })
    };
    assert_eq!(replay(&world, &org, &window(1, 4)).await, 3);
    settle(&world, &org).await;
    let left: Vec<_> = receiver.calls()[5..].iter().map(crate::harness::Call::remaining).collect();
    assert_eq!(left, [999_998_000, 999_997_000, 999_996_000]);
    let path = format!("/organisations/{}/deliveries/replay", org.id);
    for (body, code) in [
        (json!({}), "missing-parameter"),
        (json!({"dead": false}), "missing-parameter"),
        (json!({"dead": true, "cursor": "1"}), "missing-parameter"),
        (json!({"from": times[0].to_string()}), "missing-parameter"),
        (json!({"from": "yesterday", "to": times[1].to_string()}), "invalid-parameter"),
        (window(1, 1), "invalid-parameter"),
        (window(2, 1), "invalid-parameter"),
        (json!({"cursor": "x"}), "invalid-parameter"),
        (json!({"cursor": "-1"}), "invalid-parameter"),
        (json!({"cursor": 1}), "malformed-body"),
        (json!({"dead": "yes"}), "malformed-body"),
    ] {
        let refusal = world.order("POST", &path, &body).await;
        assert_eq!((refusal.status, refusal.header("x-error-code")), (400, Some(code)), "{body}");
    }
    let unknown = world.order("POST", &path, &json!({"cursor": "99999999"})).await;
    unknown.refused(404, "unknown-delivery");
    let elsewhere = "/organisations/00000000-0000-4000-8000-000000000000/deliveries/replay";
    world
        .order("POST", elsewhere, &json!({"dead": true}))
        .await
        .refused(404, "unknown-organisation");
    settle(&world, &org).await;
    assert_eq!(receiver.count(), 8);
}

async fn a_receiver_that_is_gone_is_left_alone(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::that(Reaction::Status(500)).await;
    let (org, iccids) = told(&world, &receiver, 2).await;
    for iccid in [&iccids[0], &iccids[0], &iccids[1]] {
        consume(&world, &org, iccid, 1_000).await;
    }
    settle(&world, &org).await;
    let before = receiver.count();
    assert_eq!(before, 2);
    receiver.always(Reaction::Status(410));
    advance(&world, &org, 10).await;
    settle(&world, &org).await;
    let told = health(&world, &org).await;
    assert_eq!((&told["state"], &told["waiting"]), (&json!("off"), &json!(0)), "{told}");
    assert_eq!(told["why"], "the receiver answered 410 Gone");
    assert!((3..=4).contains(&receiver.count()), "no more than were under way");
    let then = receiver.count();
    assert_eq!(deliveries(&world, &org, "?state=dead").await.len(), 3);
    // What happens now is in the feed only, and nothing can be sent by hand.
    consume(&world, &org, &iccids[0], 1_000).await;
    advance(&world, &org, DAY).await;
    assert_eq!((receiver.count(), deliveries(&world, &org, "").await.len()), (then, 3));
    let path = format!("/organisations/{}/deliveries/replay", org.id);
    world.order("POST", &path, &json!({"dead": true})).await.refused(400, "callbacks-off");
    let refusal = world.node.send(&of_sandbox(&org, "callbacks/test")).await;
    refusal.refused(400, "callbacks-off");
    let audit = world.show("/audit?limit=1000").await.to_string();
    assert!(audit.contains("callbacks.switch-off"), "{audit}");
    // Saying where they go, even the same place, switches them on.
    receiver.always(Reaction::Status(200));
    listen(&world, &org, &receiver).await;
    assert_eq!(health(&world, &org).await["state"], "well");
    assert_eq!(receiver.count(), then, "what is dead stays dead");
    assert_eq!(replay(&world, &org, &json!({"dead": true})).await, 3);
    settle(&world, &org).await;
    let calls = receiver.calls().split_off(then);
    assert_eq!(crate::callbacks::remaining_of(&calls, &iccids[0]), [999_999_000, 999_998_000]);
    assert_eq!(calls.len(), 3);
}

async fn five_days_of_failure_switch_off(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::that(Reaction::Status(500)).await;
    let (org, _) = told(&world, &receiver, 1).await;
    let iccid = esim_with(&world, &org, PT_MORE).await;
    let state = async || text(&health(&world, &org).await["state"]);
    let fail = async || {
        consume(&world, &org, &iccid, 1_000).await;
        settle(&world, &org).await;
    };
    fail().await;
    advance(&world, &org, 4 * DAY).await;
    // A success in between: the days are counted anew.
    receiver.always(Reaction::Status(200));
    fail().await;
    assert_eq!(state().await, "well");
    receiver.always(Reaction::Status(500));
    fail().await;
    let began = now(&world, &org).await;
    advance(&world, &org, 2 * DAY).await;
    assert_eq!(state().await, "failing");
    let since = time(&health(&world, &org).await["since"]).ms();
    assert!((since - began.ms()).abs() < 10_000, "{since} {began}");
    advance(&world, &org, 3 * DAY - 60).await;
    fail().await;
    assert_eq!(state().await, "failing", "a minute is missing");
    advance(&world, &org, 600).await;
    settle(&world, &org).await;
    assert_eq!(state().await, "off");
    let told = health(&world, &org).await;
    assert_eq!(told["why"], "every attempt has failed for five days");
    let count = receiver.count();
    fail().await;
    advance(&world, &org, 2 * DAY).await;
    assert_eq!(receiver.count(), count, "nothing is sent any more");
    receiver.always(Reaction::Status(200));
    listen(&world, &org, &receiver).await;
    fail().await;
    assert_eq!((state().await, receiver.count()), ("well".to_owned(), count + 1));
}

async fn callbacks_can_be_paused(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    let path = format!("/organisations/{}/callbacks/pause", org.id);
    let pause =
        async |on: bool| world.order("POST", &path, &json!({ "on": on })).await.json_of(200);
    assert_eq!(pause(true).await["state"], "paused");
    for _ in 0..2 {
        consume(&world, &org, &iccids[0], 1_000).await;
    }
    settle(&world, &org).await;
    advance(&world, &org, 10 * DAY).await;
    let told = health(&world, &org).await;
    assert_eq!((&told["state"], &told["waiting"]), (&json!("paused"), &json!(2)));
    // Setting the address does not go over the operator's head.
    listen(&world, &org, &receiver).await;
    settle(&world, &org).await;
    assert_eq!(
        (receiver.count(), text(&health(&world, &org).await["state"])),
        (0, "paused".into())
    );
    assert_eq!(pause(false).await["state"], "well");
    assert_eq!(receiver.wait_for(2).await.len(), 2);
    for (body, code) in [(json!({}), "missing-parameter"), (json!({"on": "no"}), "malformed-body")]
    {
        let refusal = world.order("POST", &path, &body).await;
        assert_eq!((refusal.status, refusal.header("x-error-code")), (400, Some(code)), "{body}");
    }
    let audit = world.show("/audit?limit=1000").await.to_string();
    assert!(audit.contains("callbacks.pause") && audit.contains("callbacks.resume"), "{audit}");
}

async fn an_address_that_was_left_says_nothing_about_the_next(home: Home) {
    let world = open(home, 5).await;
    let (old, new) = (Receiver::start().await, Receiver::start().await);
    let (org, iccids) = told(&world, &old, 1).await;
    old.always(Reaction::LateStatus(Duration::from_millis(500), 410));
    consume(&world, &org, &iccids[0], 1_000).await;
    old.wait_for(1).await;
    // It is under way to the old one when the new one is set.
    listen(&world, &org, &new).await;
    let calls = new.wait_for(1).await;
    assert_eq!(calls[0].body, old.calls()[0].body);
    settle(&world, &org).await;
    let told = health(&world, &org).await;
    assert_eq!((&told["state"], &told["dead"]), (&json!("well"), &json!(0)), "{told}");
    consume(&world, &org, &iccids[0], 1_000).await;
    new.wait_for(2).await;
    assert_eq!(old.count(), 1);
}

async fn a_clock_that_is_moved_waits_for_what_is_under_way(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    receiver.then([Reaction::LateStatus(Duration::from_millis(400), 500)]);
    consume(&world, &org, &iccids[0], 1_000).await;
    receiver.wait_for(1).await;
    // The first attempt has not failed yet; the second one is due within this time.
    advance(&world, &org, 6).await;
    wait::until("it came again", Duration::from_millis(10), async || {
        (receiver.count() == 2).then_some(())
    })
    .await;
    assert_eq!(only(&world, &org).await["state"], "delivered");
}
