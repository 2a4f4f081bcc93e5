//! What a reseller tries in a sandbox: faults on demand, and a fresh start.

use std::time::Duration;

use serde_json::{Value, json};

use crate::callbacks::{deliveries, many, of_sandbox, report, told, used};
use crate::desk::{consume, text};
use crate::harness::{Home, Org, Reaction, Receiver, Request, World, wait};
use crate::money::{advance, balance, events, fate, settle};
use crate::shop::{PLENTY, PT, credit, into_inventory, listed, now, open, order, reseller};

crate::on_both! {
    a_route_fails_as_often_as_it_was_asked_to,
    a_slow_answer_is_the_usual_one,
    an_answer_that_is_dropped_is_what_a_key_is_for,
    faults_are_set_right_again,
    faults_that_are_none_are_refused,
    a_reset_is_a_fresh_start,
    a_reset_leaves_the_past_alone,
}

fn fault(org: &Org, body: &Value) -> Request {
    of_sandbox(org, "faults").json(body)
}

async fn ask_for(world: &World, org: &Org, body: &Value) -> Value {
    world.node.send(&fault(org, body)).await.json_of(200)
}

async fn a_route_fails_as_often_as_it_was_asked_to(home: Home) {
    let world = open(home, 5).await;
    let (org, other) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let iccid = many(&world, &org, 1).await.remove(0);
    let body = json!({"route": "GET /organisation", "fault": "status", "status": 503, "times": 3});
    let told = ask_for(&world, &org, &body).await;
    assert_eq!(told, json!({"route": "GET /organisation", "fault": "status", "times": 3}));
    // In whatever version, and nobody else's; other routes work.
    for version in ["v2.0", "v2.3", "v2.5"] {
        world.get("/v2.5/orders", &org.key).await.expect(200);
        world.get("/v2.5/organisation", &other.key).await.expect(200);
        world.get("/sandbox/v1/clock", &org.key).await.expect(200);
        let refusal = world.get(&format!("/{version}/organisation"), &org.key).await;
        refusal.refused(503, "sandbox-fault");
    }
    world.get("/v2.5/organisation", &org.key).await.expect(200);
    // Nothing happens to what fails.
    let before = balance(&world, &org).await;
    let body = json!({"route": "POST /orders", "fault": "status", "status": 500});
    assert_eq!(ask_for(&world, &org, &body).await["times"], 1, "once, if nothing is said");
    let one = into_inventory(&[(PT, 1)]);
    world.node.send(&order(&org, "/v2.2", &one)).await.refused(500, "sandbox-fault");
    assert_eq!(balance(&world, &org).await, before);
    world.node.send(&order(&org, "/v2.2", &one)).await.expect(200);
    // A pattern means every eSIM, a number only that one.
    let two = many(&world, &org, 1).await.remove(0);
    for (route, fails) in
        [("/esims/{iccid}", [&iccid, &two]), (&*format!("/esims/{two}"), [&two; 2])]
    {
        let body = json!({"route": route, "fault": "status", "status": 429, "times": 2});
        ask_for(&world, &org, &body).await;
        for iccid in fails {
            let refusal = world.get(&format!("/v2.5/esims/{iccid}"), &org.key).await;
            refusal.refused(429, "sandbox-fault");
        }
        world.get(&format!("/v2.5/esims/{iccid}"), &org.key).await.expect(200);
    }
}

async fn a_slow_answer_is_the_usual_one(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let body = json!({"route": "/organisation", "fault": "slow", "seconds": 1, "times": 1});
    ask_for(&world, &org, &body).await;
    let get = || world.get("/v2.5/organisation", &org.key);
    let (slow, took) = wait::timed(get()).await;
    assert!(took >= Duration::from_secs(1), "{took:?}");
    assert_eq!(slow.json_of(200), get().await.json_of(200));
}

async fn an_answer_that_is_dropped_is_what_a_key_is_for(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let drop_next = json!({"route": "POST /orders", "fault": "drop", "times": 1});
    ask_for(&world, &org, &drop_next).await;
    let request = order(&org, "/v2.5", &into_inventory(&[(PT, 1)]));
    let keyed = request.clone().header("Idempotency-Key", "try-it");
    let error = world.node.try_send(&keyed).await.expect_err("no answer");
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{error}");
    // It happened, and the key says what.
    assert_eq!(listed(&world, &org, "").await.len(), 1);
    let known = fate(&world, &org, "try-it").await;
    assert_eq!((&known["state"], &known["status"]), (&json!("done"), &json!(200)));
    let again = world.node.send(&keyed).await.json_of(200);
    assert_eq!(again, known["body"]);
    assert_eq!(listed(&world, &org, "").await.len(), 1, "bought once");
    // Without a key nobody knows: trying again buys again.
    ask_for(&world, &org, &drop_next).await;
    world.node.try_send(&request).await.expect_err("no answer");
    world.node.send(&request).await.expect(200);
    assert_eq!(listed(&world, &org, "").await.len(), 3);
    assert_eq!(balance(&world, &org).await, PLENTY - 3 * PT.price);
}

async fn faults_are_set_right_again(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let set = async |times: i64| {
        let body =
            json!({"route": "GET /orders", "fault": "status", "status": 418, "times": times});
        ask_for(&world, &org, &body).await;
    };
    set(5).await;
    world.get("/v2.5/orders", &org.key).await.refused(418, "sandbox-fault");
    set(0).await;
    world.get("/v2.5/orders", &org.key).await.expect(200);
    // The last word counts.
    set(5).await;
    set(1).await;
    world.get("/v2.5/orders", &org.key).await.refused(418, "sandbox-fault");
    world.get("/v2.5/orders", &org.key).await.expect(200);
}

async fn faults_that_are_none_are_refused(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let good = json!({"route": "GET /orders", "fault": "status", "status": 500, "times": 1});
    let with = |name: &str, value: Value| {
        let mut bad = good.clone();
        bad[name] = value;
        bad
    };
    let slow = |seconds: Value| json!({"route": "/orders", "fault": "slow", "seconds": seconds});
    let before = world.home.dump().await;
    for (body, code) in [
        (json!({}), "missing-parameter"),
        (json!({"route": "GET /orders"}), "missing-parameter"),
        (json!({"route": "GET /orders", "fault": "status"}), "missing-parameter"),
        (json!({"route": "GET /orders", "fault": "slow"}), "missing-parameter"),
        (with("route", json!("GET /nothing")), "invalid-parameter"),
        (with("route", json!("DELETE /orders")), "invalid-parameter"),
        (with("route", json!("POST /sandbox/v1/reset")), "invalid-parameter"),
        (with("route", json!("")), "invalid-parameter"),
        (with("fault", json!("explode")), "invalid-parameter"),
        (with("status", json!(200)), "invalid-parameter"),
        (with("status", json!(600)), "invalid-parameter"),
        (with("status", json!(-1)), "invalid-parameter"),
        (slow(json!(61)), "invalid-parameter"),
        (slow(json!(-1)), "invalid-parameter"),
        (with("times", json!(-1)), "invalid-parameter"),
        (with("times", json!(10_001)), "invalid-parameter"),
        (with("times", json!("2")), "malformed-body"),
        (with("route", json!(5)), "malformed-body"),
        (slow(json!("1")), "malformed-body"),
    ] {
        let refusal = world.node.send(&fault(&org, &body)).await;
        assert_eq!((refusal.status, refusal.header("x-error-code")), (400, Some(code)), "{body}");
    }
    let live = world.add_live("Live").await;
    world.node.send(&fault(&live, &good)).await.refused(403, "live-organisation");
    world.node.send(&of_sandbox(&live, "reset")).await.refused(403, "live-organisation");
    let after = world.home.dump().await;
    assert_eq!(after.get("faults"), before.get("faults"));
    world.get("/v2.5/orders", &org.key).await.expect(200);
}

async fn a_reset_is_a_fresh_start(home: Home) {
    let world = open(home, 10).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 2).await;
    world.change(&org, &json!({"callbackVersion": "V3", "notes": "mine"})).await;
    let secret = format!("/organisations/{}/webhook-secret", org.id);
    let secret = async || text(&world.show(&secret).await["secret"]);
    let own = secret().await;
    world.is_secret(&own);
    advance(&world, &org, 10 * 86_400).await;
    let before = now(&world, &org).await;
    let told = world.node.send(&of_sandbox(&org, "reset")).await.json_of(200);
    assert!(crate::life_bundles::time(&told["now"]).ms() >= before.ms(), "never back");
    assert!(now(&world, &org).await.ms() >= before.ms());
    // Nothing is left under the same key and the same id.
    let shown = world.show(&format!("/organisations/{}", org.id)).await;
    assert_eq!((&shown["id"], &shown["balance"]), (&json!(org.id), &json!(0)));
    assert_eq!((&shown["notes"], &shown["callbackVersion"]), (&json!("mine"), &json!("V3")));
    assert_eq!(shown["callbackUrl"], receiver.url());
    assert_eq!(events(&world, &org).await, []);
    assert_eq!(listed(&world, &org, "").await, [] as [Value; 0]);
    assert_eq!(crate::desk::esims(&world, &org).await, [] as [Value; 0]);
    world.get(&format!("/v2.5/esims/{}", iccids[0]), &org.key).await.refused(403, "not-your-esim");
    assert_eq!(secret().await, own);
    let all = world.show("/organisations?limit=1000").await;
    let same = all["organisations"].as_array().expect("a list").iter();
    assert_eq!(same.filter(|one| one["id"] == org.id.as_str()).count(), 1);
    // It works as a new one does; as often as one likes.
    for round in 1..=2 {
        credit(&world, &org, PLENTY).await;
        let iccid = many(&world, &org, 1).await.remove(0);
        assert!(!iccids.contains(&iccid), "another eSIM");
        consume(&world, &org, &iccid, 1_000).await;
        let call = receiver.wait_for(round).await.remove(round - 1);
        assert_eq!(call.iccid(), iccid);
        assert!(call.header("x-signature-sha256").is_some() && call.header("webhook-id").is_some());
        world.node.send(&of_sandbox(&org, "reset")).await.expect(200);
        assert_eq!(balance(&world, &org).await, 0);
    }
    crate::shop::verify(&world);
}

async fn a_reset_leaves_the_past_alone(home: Home) {
    let world = open(home, 10).await;
    let receiver = Receiver::that(Reaction::Status(500)).await;
    let (org, iccids) = told(&world, &receiver, 2).await;
    for iccid in &iccids {
        consume(&world, &org, iccid, 1_000).await;
    }
    settle(&world, &org).await;
    let body = json!({"route": "GET /orders", "fault": "status", "status": 500, "times": 9});
    ask_for(&world, &org, &body).await;
    let count = receiver.count();
    let at = now(&world, &org).await;
    world.node.send(&of_sandbox(&org, "reset")).await.expect(200);
    receiver.always(Reaction::Status(200));
    // Neither what waited nor what networks tell of the old eSIMs is sent.
    advance(&world, &org, 3 * 86_400).await;
    report(&world, &[used("late", &iccids[0], at, 1_000)]).await;
    advance(&world, &org, 60).await;
    settle(&world, &org).await;
    assert_eq!(receiver.count(), count);
    assert_eq!(deliveries(&world, &org, "").await, [] as [Value; 0]);
    assert_eq!(events(&world, &org).await, []);
    world.get("/v2.5/orders", &org.key).await.expect(200);
    crate::shop::verify(&world);
}
