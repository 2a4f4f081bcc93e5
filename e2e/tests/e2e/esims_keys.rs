//! `Idempotency-Key` on everything that changes an eSIM: one effect and one answer, for ever.

use serde_json::{Value, json};

use crate::desk::{
    apply, apply_to_one, esim, happened, number, on, put_onto, since, states, stock_up, take_off,
};
use crate::harness::{Answer, Home, Org, Request, World};
use crate::money::{essence, events, fate, prefixes, settle};
use crate::shop::{
    FR, PLENTY, PROFILE, PT, at_once, fill, has, lots, open, reseller, stock, verify,
};

crate::on_both! {
    the_same_apply_three_times_is_one_apply,
    the_same_old_apply_three_times_is_one_apply,
    the_same_revoke_three_times_is_one_revoke,
    the_same_note_three_times_is_one_note,
    the_same_message_three_times_is_one_message,
    the_same_suspension_three_times_is_one,
    the_same_deletion_three_times_is_one,
    the_same_key_with_another_request_is_refused,
    a_refusal_is_kept,
    an_empty_stock_is_not_kept,
    a_crowd_with_one_key_applies_once,
    a_refresh_has_no_key,
}

fn keyed(request: Request, key: &str) -> Request {
    request.header("Idempotency-Key", key)
}

fn done(answer: &Answer) -> Value {
    json!({"state": "done", "status": answer.status, "body": answer.json()})
}

/// Sends a request with a key three times; the first answer, which all are.
async fn thrice(world: &World, org: &Org, request: Request, key: &str) -> Answer {
    let request = keyed(request, key);
    let first = world.node.send(&request).await;
    assert!((200..300).contains(&first.status), "{first}");
    settle(world, org).await;
    let before = world.home.dump().await;
    for _ in 0..2 {
        let again = world.node.send(&request).await;
        assert_eq!(essence(&again), essence(&first), "{}", request.target);
    }
    assert_eq!(world.home.dump().await, before, "{}", request.target);
    assert_eq!(fate(world, org, key).await, done(&first), "{}", request.target);
    first
}

async fn the_same_apply_three_times_is_one_apply(home: Home) {
    let world = open(home, 120).await;
    for (version, prefix) in since("v2.1") {
        let org = reseller(&world, PLENTY).await;
        let own = esim(&world, &org).await;
        stock_up(&world, &org, &[(FR, 30)]).await;
        let (mut left, mut free) = (30, stock(&world, PROFILE).await);
        for (what, body, bundles, fresh) in [
            ("one", json!({"iccid": own, "bundle": FR.name}), 1, 0),
            ("new", json!({"bundle": FR.name, "repeat": 2}), 2, 2),
            ("list", json!({"bundles": [FR.name, FR.name, FR.name]}), 3, 3),
            ("large", json!({"bundle": FR.name, "repeat": 7}), 7, 7),
        ] {
            let orders = has(&world, &org).await.orders;
            thrice(&world, &org, apply(&org, prefix, &body), what).await;
            (left, free) = (left - bundles, free - fresh);
            let lot = lots(&world, &org, FR).await.remove(0);
            assert_eq!(lot["remaining"], left, "{prefix} {what}");
            assert_eq!(stock(&world, PROFILE).await, free, "{prefix} {what}");
            let more = i64::from(version.name() >= "v2.2");
            assert_eq!(has(&world, &org).await.orders, orders + more, "{prefix} {what}");
        }
        assert_eq!(states(&world, &org, &own).await.len(), 2, "{prefix}");
    }
    verify(&world);
}

async fn the_same_old_apply_three_times_is_one_apply(home: Home) {
    let world = open(home, 10).await;
    for (_, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let own = esim(&world, &org).await;
        stock_up(&world, &org, &[(FR, 30)]).await;
        for (what, repeat, wanted) in [("few", 2, 3), ("many", 6, 9)] {
            let body = json!({"name": FR.name, "repeat": repeat});
            thrice(&world, &org, apply_to_one(&org, prefix, &own, &body), what).await;
            assert_eq!(states(&world, &org, &own).await.len(), wanted, "{prefix}");
        }
    }
    verify(&world);
}

async fn the_same_revoke_three_times_is_one_revoke(home: Home) {
    let world = open(home, 10).await;
    for (_, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let own = esim(&world, &org).await;
        stock_up(&world, &org, &[(FR, 4)]).await;
        for _ in 0..4 {
            put_onto(&world, &org, &own, FR).await;
        }
        let balance = has(&world, &org).await.balance;
        for (key, query) in
            [("check", "?type=validate"), ("bundle", ""), ("money", "?refundToBalance=true")]
        {
            let rest = format!("{}{query}", FR.name);
            thrice(&world, &org, take_off(&org, prefix, &own, &rest), key).await;
        }
        let revoked = states(&world, &org, &own).await;
        let revoked = revoked.iter().filter(|(_, state)| state == "revoked").count();
        assert_eq!(revoked, 2, "{prefix}");
        assert_eq!(lots(&world, &org, FR).await[0]["remaining"], 1, "{prefix}");
        assert_eq!(has(&world, &org).await.balance, balance + FR.price, "{prefix}");
    }
    verify(&world);
}

async fn the_same_note_three_times_is_one_note(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    for (n, (_, prefix)) in since("v2.1").enumerate() {
        let body = json!({"iccid": own, "customerRef": prefix});
        let put = Request::new("PUT", &format!("{prefix}/esims")).key(&org.key).json(&body);
        thrice(&world, &org, put, &format!("put-{n}")).await;
        let query = format!("{prefix}/esims?iccid={own}&customerRef=asked");
        let put = Request::new("PUT", &query).key(&org.key);
        thrice(&world, &org, put, &format!("query-{n}")).await;
        assert_eq!(happened(&world, &org, &own).await.len(), 1 + 2 * (n + 1), "{prefix}");
    }
}

async fn the_same_message_three_times_is_one_message(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    number(&world, &org, &own, &json!("447700900123")).await;
    for (n, (_, prefix)) in prefixes().into_iter().enumerate() {
        let sms = Request::post(&format!("{prefix}/esims/{own}/sms")).key(&org.key);
        let sms = sms.json(&json!({ "message": prefix }));
        thrice(&world, &org, sms, &format!("sms-{n}")).await;
        let target = format!("/sandbox/v1/esims/{own}/messages");
        let kept = world.get(&target, &org.key).await.json_of(200);
        assert_eq!(kept["messages"].as_array().map(Vec::len), Some(n + 1), "{prefix}");
    }
}

fn suspend(org: &Org, esim: &str, on: bool) -> Request {
    let request = Request::post(&format!("/v2.5/esims/{esim}/suspend")).key(&org.key);
    request.json(&json!({ "suspend": on }))
}

async fn the_same_suspension_three_times_is_one(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let first = thrice(&world, &org, suspend(&org, &own, true), "on").await;
    assert_eq!(first.status, 201);
    thrice(&world, &org, suspend(&org, &own, false), "off").await;
    // What was said once is said again, though it is not so any more.
    let again = world.node.send(&keyed(suspend(&org, &own, true), "on")).await;
    assert_eq!(essence(&again), essence(&first));
    let shown = world.get(&format!("/v2.5/esims/{own}/suspend"), &org.key).await.json_of(200);
    assert_eq!(shown, json!({"suspended": false}));
}

async fn the_same_deletion_three_times_is_one(home: Home) {
    let world = open(home, 2).await;
    let org = reseller(&world, PLENTY).await;
    let (own, other) = (esim(&world, &org).await, esim(&world, &org).await);
    let delete = Request::new("DELETE", &format!("/v2.5/esims/{own}")).key(&org.key);
    thrice(&world, &org, delete.clone(), "gone").await;
    world.node.send(&delete).await.refused(403, "not-your-esim");
    let told = events(&world, &org).await;
    assert_eq!(told.iter().filter(|(kind, _)| kind == "esim.deleted").count(), 1);
    world.get(&format!("/v2.5/esims/{other}"), &org.key).await.expect(200);
}

async fn the_same_key_with_another_request_is_refused(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    number(&world, &org, &own, &json!("447700900123")).await;
    stock_up(&world, &org, &[(FR, 10)]).await;
    let body = json!({"iccid": own, "bundle": FR.name});
    let first = world.node.send(&keyed(apply(&org, "/v2.3", &body), "once")).await.expect(200);
    let before = world.home.dump().await;
    let at = |method: &str, path: &str| {
        Request::new(method, &format!("/v2.5/esims{path}")).key(&org.key)
    };
    let others = [
        apply(&org, "/v2.5", &body),
        apply(&org, "/v2.3", &json!({"iccid": own, "name": FR.name})),
        apply(&org, "/v2.3", &json!({"bundle": FR.name})),
        Request::post("/v2.3/esims/apply?x=1").key(&org.key).json(&body),
        Request::post("/v2.3/esims/apply").key(&org.key).body(format!("{body} ")),
        apply_to_one(&org, "/v2.3", &own, &json!({"name": FR.name})),
        take_off(&org, "/v2.3", &own, FR.name),
        at("PUT", "").json(&json!({"iccid": own, "customerRef": "x"})),
        at("POST", &format!("/{own}/sms")).json(&json!({"message": "x"})),
        suspend(&org, &own, true),
        at("DELETE", &format!("/{own}")),
    ];
    for other in others {
        let print = format!("{} {}", other.method, other.target);
        let refusal = world.node.send(&keyed(other.clone(), "once")).await;
        let text = refusal.refused(400, "idempotency-mismatch");
        assert_eq!(text, "idempotency key was used for another request", "{print}");
        for key in [String::new(), "x".repeat(256)] {
            let refusal = world.node.send(&keyed(other.clone(), &key)).await;
            let text = refusal.refused(400, "invalid-idempotency-key");
            assert_eq!(text, "invalid Idempotency-Key", "{print}");
        }
    }
    assert_eq!(world.home.dump().await, before);
    let again = world.node.send(&keyed(apply(&org, "/v2.3", &body), "once")).await;
    assert_eq!(essence(&again), essence(&first));
}

async fn a_refusal_is_kept(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let put = Request::new("PUT", "/v2.5/esims").key(&org.key);
    let next = crate::shop::iccid(2);
    let requests = [
        (apply(&org, "/v2.3", &json!({"bundle": FR.name})), 403, "no-bundles-left"),
        (take_off(&org, "/v2.3", &own, FR.name), 400, "unknown-assignment"),
        (
            Request::post(&format!("/v2.5/esims/{own}/sms"))
                .key(&org.key)
                .json(&json!({"message": "x"})),
            400,
            "no-msisdn",
        ),
        (put.json(&json!({"iccid": next, "customerRef": "x"})), 403, "not-your-esim"),
        (suspend(&org, &own, false), 400, "not-suspended"),
        (
            Request::new("DELETE", &format!("/v2.5/esims/{next}")).key(&org.key),
            403,
            "not-your-esim",
        ),
    ];
    let mut kept = Vec::new();
    for (n, (request, status, code)) in requests.into_iter().enumerate() {
        let key = format!("kept-{n}");
        let request = keyed(request, &key);
        let first = world.node.send(&request).await;
        first.clone().refused(status, code);
        kept.push((request, first, key));
    }
    // Now each of them could be done; but they have been decided.
    stock_up(&world, &org, &[(FR, 2)]).await;
    put_onto(&world, &org, &own, FR).await;
    number(&world, &org, &own, &json!("447700900123")).await;
    world.node.send(&suspend(&org, &own, true)).await.expect(201);
    assert_eq!(esim(&world, &org).await, next);
    let before = world.home.dump().await;
    for (request, first, key) in kept {
        let again = world.node.send(&request).await;
        assert_eq!(essence(&again), essence(&first), "{}", request.target);
        assert_eq!(fate(&world, &org, &key).await, done(&first), "{}", request.target);
    }
    assert_eq!(world.home.dump().await, before);
}

async fn an_empty_stock_is_not_kept(home: Home) {
    let world = open(home, 0).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(FR, 20)]).await;
    let mut next = 1;
    for (n, (_, prefix)) in since("v2.1").enumerate() {
        let key = format!("stock-{n}");
        let request = keyed(apply(&org, prefix, &json!({"bundle": FR.name, "repeat": 2})), &key);
        let before = has(&world, &org).await;
        for _ in 0..2 {
            world.node.send(&request).await.refused(503, "out-of-stock");
        }
        assert_eq!(fate(&world, &org, &key).await["state"], "unknown", "{prefix}");
        assert_eq!(has(&world, &org).await, before, "{prefix}");
        fill(&world, next..next + 2, PROFILE).await;
        next += 2;
        let first = world.node.send(&request).await.expect(200);
        assert_eq!(essence(&world.node.send(&request).await), essence(&first), "{prefix}");
        assert_eq!(stock(&world, PROFILE).await, 0, "{prefix}");
    }
    verify(&world);
}

async fn a_crowd_with_one_key_applies_once(home: Home) {
    let world = open(home, 60).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    stock_up(&world, &org, &[(FR, 30)]).await;
    let mut left = 30;
    for (n, (body, taken)) in [
        (json!({"iccid": own, "bundle": FR.name}), 1),
        (json!({"bundle": FR.name, "repeat": 3}), 3),
        (json!({"bundle": FR.name, "repeat": 9}), 9),
    ]
    .into_iter()
    .enumerate()
    {
        let request = keyed(apply(&org, "/v2.5", &body), &format!("crowd-{n}"));
        let answers = at_once(&world, &vec![request; 16]).await;
        let mut said: Vec<_> =
            answers.into_iter().map(|answer| essence(&answer.expect(200))).collect();
        said.dedup();
        assert_eq!(said.len(), 1, "{said:?}");
        left -= taken;
        assert_eq!(lots(&world, &org, FR).await[0]["remaining"], left);
    }
    let revoke = keyed(take_off(&org, "/v2.5", &own, PT.name), "crowd-off");
    for answer in at_once(&world, &vec![revoke; 16]).await {
        answer.expect(200);
    }
    assert_eq!(on(&world, &org, &own).await.len(), 2);
    settle(&world, &org).await;
    verify(&world);
}

/// Only what writes by its method has a key; a GET with an effect has it each time.
async fn a_refresh_has_no_key(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    for _ in 0..2 {
        let refresh = Request::get(&format!("/v2.5/esims/{own}/refresh")).key(&org.key);
        world.node.send(&keyed(refresh, "refresh")).await.expect(200);
    }
    assert_eq!(happened(&world, &org, &own).await.len(), 3);
    assert_eq!(fate(&world, &org, "refresh").await["state"], "unknown");
}
