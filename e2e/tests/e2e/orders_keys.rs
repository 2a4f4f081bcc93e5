//! `Idempotency-Key` on orders and refunds: one effect and one answer, for ever.

use serde_json::{Value, json};

use crate::harness::{Home, Org, Request, World};
use crate::money::{balance, essence, events, fate, prefixes, settle};
use crate::sealed::{spellings, stolen};
use crate::shop::{
    FR, Has, PLENTY, PROFILE, PT, at_once, buy, checked, credit, fill, has, into_inventory, lot,
    lots, onto_new, open, order, reference, refund, reseller, stock, verify,
};

crate::on_both! {
    the_same_order_three_times_is_one_order,
    the_same_key_with_another_order_is_refused,
    a_refusal_is_kept,
    what_was_never_decided_is_not_kept,
    too_little_money_is_not_kept,
    an_empty_stock_is_not_kept,
    a_check_is_kept_too,
    the_same_refund_three_times_is_one_refund,
    a_crowd_with_one_key_makes_one_order,
    a_key_belongs_to_its_organisation,
    no_answer_stands_in_the_database,
}

fn keyed(org: &Org, prefix: &str, body: &Value, key: &str) -> Request {
    order(org, prefix, body).header("Idempotency-Key", key)
}

/// What a key says when it was answered like that.
fn done(status: u16, body: &Value) -> Value {
    json!({"state": "done", "status": status, "body": body})
}

fn unknown() -> Value {
    json!({"state": "unknown", "status": null, "body": null})
}

async fn the_same_order_three_times_is_one_order(home: Home) {
    let world = open(home, 120).await;
    let org = reseller(&world, 10 * PLENTY).await;
    let (mut left, mut orders, mut free) = (10 * PLENTY, 0, 120);
    for (n, (_, prefix)) in prefixes().into_iter().enumerate() {
        for (what, body, esims) in [
            ("small", into_inventory(&[(PT, 2)]), 0),
            ("esims", onto_new(&[(PT, 2)]), 2),
            ("large", onto_new(&[(PT, 8)]), 8),
        ] {
            let key = format!("{what}-{n}");
            let request = keyed(&org, prefix, &body, &key);
            let first = world.node.send(&request).await.expect(200);
            left -= PT.price * body["order"][0]["quantity"].as_i64().expect("whole");
            (orders, free) = (orders + 1, free - esims);
            // Meanwhile it may be done, but that is not what was said.
            settle(&world, &org).await;
            for _ in 0..2 {
                let again = world.node.send(&request).await;
                assert_eq!(essence(&again), essence(&first), "{prefix} {what}");
            }
            assert_eq!(fate(&world, &org, &key).await, done(200, &first.json()), "{prefix}");
            let Has { balance, orders: made, stock, .. } = has(&world, &org).await;
            assert_eq!((balance, made, stock[0]), (left, orders, free), "{prefix} {what}");
        }
    }
    let completed = events(&world, &org).await;
    let completed = completed.iter().filter(|(kind, _)| kind == "order.completed").count();
    assert_eq!(i64::try_from(completed), Ok(orders));
    verify(&world);
}

async fn the_same_key_with_another_order_is_refused(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let body = into_inventory(&[(PT, 1)]);
    let first = world.node.send(&keyed(&org, "/v2.3", &body, "once")).await.expect(200);
    let before = world.home.dump().await;
    let bytes = body.to_string();
    let at = |target: &str| Request::post(target).key(&org.key).header("Idempotency-Key", "once");
    let mut others = vec![
        keyed(&org, "/v2.3", &into_inventory(&[(PT, 2)]), "once"),
        keyed(&org, "/v2.3", &into_inventory(&[(FR, 1)]), "once"),
        keyed(&org, "/v2.3", &onto_new(&[(PT, 1)]), "once"),
        keyed(&org, "/v2.3", &checked(body.clone()), "once"),
        // Bytes are compared, not what they mean.
        at("/v2.3/orders").body(format!("{bytes} ")),
        at("/v2.3/orders?includeIccids=true").body(bytes.clone()),
        at("/v2.3/inventory/refund").body(r#"{"usageId":1,"quantity":1}"#),
        at("/v2.3/organisation/balance?amount=5").body(bytes.clone()),
    ];
    let versions = prefixes().into_iter().filter(|(_, prefix)| *prefix != "/v2.3");
    others.extend(versions.map(|(_, prefix)| keyed(&org, prefix, &body, "once")));
    for other in others {
        let text = world.node.send(&other).await.refused(400, "idempotency-mismatch");
        assert_eq!(text, "idempotency key was used for another request", "{}", other.target);
    }
    assert_eq!(world.home.dump().await, before);
    let again = world.node.send(&at("/v2.3/orders").body(bytes)).await;
    assert_eq!(essence(&again), essence(&first));
    for key in [String::new(), "x".repeat(256)] {
        let refusal = world.node.send(&keyed(&org, "/v2.5", &body, &key)).await;
        let text = refusal.refused(400, "invalid-idempotency-key");
        assert_eq!(text, "invalid Idempotency-Key");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_refusal_is_kept(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let next = crate::shop::iccid(1);
    let unborn = json!({"type": "transaction", "order": [{"item": "esim_new", "quantity": 1}]});
    let mut kept = Vec::new();
    for (_, prefix) in prefixes() {
        for (body, status, code) in [
            (unborn.clone(), 400, "unknown-bundle"),
            (into_inventory(&[(PT, 0)]), 400, "quantity-out-of-range"),
            (crate::shop::onto(PT, std::slice::from_ref(&next)), 403, "not-your-esim"),
        ] {
            let key = format!("{prefix} {code}").replace(['/', ' '], "-");
            let request = keyed(&org, prefix, &body, &key);
            let first = world.node.send(&request).await;
            first.clone().refused(status, code);
            kept.push((key, first, request));
        }
    }
    // Now the first would be found, and the last would be theirs; but both have been decided.
    let mut bundle = crate::shop::catalogue()["bundles"][0].clone();
    bundle["name"] = json!("esim_new");
    world.order("POST", "/catalogue", &json!({"bundles": [bundle]})).await.expect(200);
    buy(&world, &org, "/v2.5", &unborn).await;
    let own = buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await;
    assert_eq!(crate::shop::iccids(&own), [next]);
    let before = world.home.dump().await;
    for (key, first, request) in &kept {
        let again = world.node.send(request).await;
        assert_eq!(essence(&again), essence(first), "{key}");
        assert_eq!(fate(&world, &org, key).await, done(first.status, &first.json()));
    }
    assert_eq!(world.home.dump().await, before);
}

async fn what_was_never_decided_is_not_kept(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let before = world.home.dump().await;
    for body in ["not JSON", "{}", r#"{"type":"transaction"}"#] {
        let request = Request::post("/v2.5/orders").key(&org.key);
        let request = request.header("Idempotency-Key", "odd").body(body);
        world.node.send(&request).await.expect(400);
        assert_eq!(fate(&world, &org, "odd").await, unknown(), "{body}");
    }
    assert_eq!(world.home.dump().await, before);
    world.node.send(&keyed(&org, "/v2.5", &into_inventory(&[(PT, 1)]), "odd")).await.expect(200);
}

async fn too_little_money_is_not_kept(home: Home) {
    let world = open(home, 80).await;
    for (n, (_, prefix)) in prefixes().into_iter().enumerate() {
        let org = reseller(&world, PT.price).await;
        for (what, body) in [("small", into_inventory(&[(PT, 2)])), ("large", onto_new(&[(PT, 7)]))]
        {
            let key = format!("{what}-{n}");
            let request = keyed(&org, prefix, &body, &key);
            let before = has(&world, &org).await;
            for _ in 0..2 {
                world.node.send(&request).await.refused(400, "balance-too-low");
                assert_eq!(fate(&world, &org, &key).await, unknown(), "{prefix}");
            }
            assert_eq!(has(&world, &org).await, before, "{prefix} {what}");
            credit(&world, &org, 2_000).await;
            let first = world.node.send(&request).await.expect(200);
            let left = balance(&world, &org).await;
            let again = world.node.send(&request).await;
            assert_eq!(essence(&again), essence(&first), "{prefix} {what}");
            assert_eq!(balance(&world, &org).await, left, "{prefix} {what}");
            credit(&world, &org, PT.price - left).await;
        }
    }
    verify(&world);
}

async fn an_empty_stock_is_not_kept(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let mut next = 2;
    for (n, (_, prefix)) in prefixes().into_iter().enumerate() {
        let key = format!("stock-{n}");
        let request = keyed(&org, prefix, &onto_new(&[(PT, 2)]), &key);
        let before = has(&world, &org).await;
        world.node.send(&request).await.refused(503, "out-of-stock");
        assert_eq!(fate(&world, &org, &key).await, unknown(), "{prefix}");
        assert_eq!(has(&world, &org).await, before, "{prefix}");
        fill(&world, next..next + 2, PROFILE).await;
        next += 2;
        let first = world.node.send(&request).await.expect(200);
        assert_eq!(essence(&world.node.send(&request).await), essence(&first), "{prefix}");
        assert_eq!(stock(&world, PROFILE).await, 1, "{prefix}");
    }
    verify(&world);
}

async fn a_check_is_kept_too(home: Home) {
    let world = open(home, 1).await;
    for (n, (_, prefix)) in prefixes().into_iter().enumerate() {
        let org = reseller(&world, PT.price).await;
        let key = format!("check-{n}");
        let request = keyed(&org, prefix, &checked(into_inventory(&[(PT, 1)])), &key);
        let first = world.node.send(&request).await.expect(200);
        assert_eq!(first.json()["valid"], true, "{prefix}");
        buy(&world, &org, prefix, &into_inventory(&[(PT, 1)])).await;
        assert_eq!(essence(&world.node.send(&request).await), essence(&first), "{prefix}");
        assert_eq!(fate(&world, &org, &key).await, done(200, &first.json()), "{prefix}");
        let fresh = buy(&world, &org, prefix, &checked(into_inventory(&[(PT, 1)]))).await;
        assert_eq!(fresh["valid"], false, "{prefix}");
    }
}

async fn the_same_refund_three_times_is_one_refund(home: Home) {
    let world = open(home, 1).await;
    for (n, (version, prefix)) in prefixes().into_iter().enumerate() {
        if version.name() < "v2.1" {
            continue;
        }
        let org = reseller(&world, PLENTY).await;
        buy(&world, &org, prefix, &into_inventory(&[(PT, 5)])).await;
        let lot = lot(&world, &org, PT).await;
        let key = format!("refund-{n}");
        let back = json!({"usageId": lot, "quantity": 2});
        let request = refund(&org, prefix, &back).header("Idempotency-Key", &key);
        let first = world.node.send(&request).await.expect(200);
        for _ in 0..2 {
            assert_eq!(essence(&world.node.send(&request).await), essence(&first), "{prefix}");
        }
        assert_eq!(fate(&world, &org, &key).await, done(200, &first.json()), "{prefix}");
        assert_eq!(lots(&world, &org, PT).await[0]["remaining"], 3, "{prefix}");
        assert_eq!(balance(&world, &org).await, PLENTY - 3 * PT.price, "{prefix}");
        // A refusal is kept as well, here too.
        let many = json!({"usageId": lot, "quantity": 4});
        let refused = refund(&org, prefix, &many).header("Idempotency-Key", "many");
        let first = world.node.send(&refused).await;
        first.clone().refused(400, "refund-exceeds-remaining");
        assert_eq!(essence(&world.node.send(&refused).await), essence(&first), "{prefix}");
        assert_eq!(fate(&world, &org, "many").await, done(400, &first.json()), "{prefix}");
        let other = refund(&org, prefix, &many).header("Idempotency-Key", &key);
        world.node.send(&other).await.refused(400, "idempotency-mismatch");
    }
    verify(&world);
}

async fn a_crowd_with_one_key_makes_one_order(home: Home) {
    let world = open(home, 100).await;
    let org = reseller(&world, PLENTY).await;
    let (mut left, mut free) = (PLENTY, 100);
    for (round, body) in
        [into_inventory(&[(PT, 2)]), onto_new(&[(PT, 2)]), onto_new(&[(PT, 9)])].iter().enumerate()
    {
        let request = keyed(&org, "/v2.5", body, &format!("crowd-{round}"));
        let answers = at_once(&world, &vec![request; 32]).await;
        let mut said: Vec<_> =
            answers.into_iter().map(|answer| essence(&answer.expect(200))).collect();
        said.dedup();
        assert_eq!(said.len(), 1, "{said:?}");
        let quantity = body["order"][0]["quantity"].as_i64().expect("whole");
        left -= PT.price * quantity;
        free -= if body["assign"] == true { quantity } else { 0 };
        let Has { balance, orders, stock, .. } = has(&world, &org).await;
        assert_eq!((balance, usize::try_from(orders), stock[0]), (left, Ok(round + 1), free));
    }
    settle(&world, &org).await;
    verify(&world);
}

async fn a_key_belongs_to_its_organisation(home: Home) {
    let world: World = open(home, 1).await;
    let (one, two) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let body = into_inventory(&[(PT, 1)]);
    let first = world.node.send(&keyed(&one, "/v2.5", &body, "shared")).await.json_of(200);
    assert_eq!(fate(&world, &two, "shared").await, unknown());
    let second = world.node.send(&keyed(&two, "/v2.5", &body, "shared")).await.json_of(200);
    assert_ne!(reference(&first), reference(&second));
    assert_eq!(fate(&world, &one, "shared").await["body"], first);
    assert_eq!(fate(&world, &two, "shared").await["body"], second);
}

/// The answer to an order holds codes that are as good as money.
async fn no_answer_stands_in_the_database(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let key = "the-key-of-an-order-8733";
    let request = keyed(&org, "/v2.5", &onto_new(&[(PT, 2)]), key);
    let first = world.node.send(&request).await.expect(200);
    let code = first.json()["order"][0]["esims"][0]["matchingId"].clone();
    let code = code.as_str().expect("a text");
    assert_eq!(code, crate::shop::matching_id(1));
    let stolen = stolen(&world.home).await;
    let reference = reference(&first.json());
    assert!(stolen.iter().any(|(_, all)| all.contains(&reference)), "the order itself is found");
    for secret in [key, code, &first.text()] {
        for spelling in spellings(secret) {
            let found = stolen.iter().find(|(_, all)| all.contains(&spelling));
            assert_eq!(found.map(|(name, _)| name), None, "{secret} stands there as {spelling}");
        }
    }
    assert!(!world.home.logs().contains(key), "nor in the log");
}
