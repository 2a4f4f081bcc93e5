//! `POST /inventory/refund`: what can be given back, until when, and for how much.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::harness::{Answer, Home, Org, Request, World};
use crate::money::{advance, balance, events, prefixes, written};
use crate::shop::{
    FR, PLENTY, PT, PT_FOR_PARTNERS, TRIAL, buy, give_back, has, into_inventory, listed, lot, lots,
    moved, moves, open, reference, refund, reseller, seen, verify,
};

crate::on_both! {
    a_refund_gives_the_money_back_in_every_version,
    a_refund_is_an_order_of_its_own,
    a_refund_that_breaks_a_rule_is_refused,
    a_lot_of_somebody_else_looks_like_none,
    a_refund_is_possible_for_sixty_days,
    the_period_is_set_by_the_operator,
    the_price_paid_is_what_comes_back,
    what_cost_nothing_gives_nothing_back,
}

const DAY: i64 = 86_400;

/// Versions that give money back.
fn newer() -> impl Iterator<Item = (api::versions::Version, &'static str)> {
    prefixes().into_iter().filter(|(version, _)| version.name() >= "v2.1")
}

async fn send(world: &World, org: &Org, prefix: &str, body: &Value) -> Answer {
    world.node.send(&refund(org, prefix, body)).await
}

fn of(lot: i64, quantity: i64) -> Value {
    json!({"usageId": lot, "quantity": quantity})
}

async fn a_refund_gives_the_money_back_in_every_version(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    for (version, prefix) in newer() {
        buy(&world, &org, prefix, &into_inventory(&[(PT, 5)])).await;
        let lot = lot(&world, &org, PT).await;
        let name = if version.name() >= "v2.4" { "status" } else { "message" };
        for (quantity, left) in [(2, 3), (1, 2), (2, 0)] {
            let answer = send(&world, &org, prefix, &of(lot, quantity)).await.json_of(200);
            let wanted = json!({ name: "Successfully refunded bundles to balance" });
            assert_eq!(answer, wanted, "{prefix}");
            assert_eq!(balance(&world, &org).await, PLENTY - left * PT.price, "{prefix}");
            let held = lots(&world, &org, PT).await;
            let counts: Vec<_> =
                held.iter().map(|lot| (lot["total"].clone(), lot["remaining"].clone())).collect();
            let wanted: Vec<_> = (left > 0).then(|| (json!(5), json!(left))).into_iter().collect();
            assert_eq!(counts, wanted, "{prefix}");
            let back = PT.price * quantity;
            let moves = moves([("refunds", -back), ("available", back)]);
            assert_eq!(moved(&world, &org, "refund").await, moves, "{prefix}");
        }
    }
    for prefix in ["/v2", "/v2.0"] {
        send(&world, &org, prefix, &of(1, 1)).await.refused(404, "unknown-route");
    }
    verify(&world);
}

async fn a_refund_is_an_order_of_its_own(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 3)])).await;
    let lot = lot(&world, &org, PT).await;
    give_back(&world, &org, lot, 2).await;
    let order = listed(&world, &org, "?limit=1").await.remove(0);
    let reference = reference(&order);
    let wanted = json!({
        "order": [{
            "type": "bundleRefund", "item": PT.name, "quantity": 2, "subTotal": 4.8,
            "pricePerUnit": 2.4, "iccids": [], "esims": [], "AllowReassign": false,
        }],
        "total": 4.8, "currency": "USD", "status": "completed",
        "statusMessage": "Refund completed", "orderReference": reference,
        "createdDate": order["createdDate"], "assigned": false, "runningBalance": "997.6",
        "sourceIP": "127.0.0.1",
    });
    assert_eq!(order, wanted);
    assert_eq!(seen(&world, &org, &reference).await, wanted);
    // Once it exists, it is seen in every version.
    for (version, prefix) in prefixes() {
        let shown = world.get(&format!("{prefix}/orders/{reference}"), &org.key).await.expect(200);
        let total = format!(r#""total":{},"#, written(480, version));
        assert!(shown.text().contains(&total), "{prefix}: {shown}");
        let shown = shown.json();
        assert_eq!(shown["order"][0]["type"], "bundleRefund", "{prefix}");
        assert_eq!(shown["statusMessage"], "Refund completed", "{prefix}");
    }
    let (kind, data) = events(&world, &org).await.pop().expect("an event");
    let wanted = json!({
        "event": "order.completed", "orderReference": reference, "status": "completed",
        "statusMessage": "Refund completed", "total": 4.8, "currency": "USD",
        "date": order["createdDate"],
    });
    assert_eq!((kind.as_str(), data), ("order.completed", wanted));
    let all = crate::money::statement(&world, &org, "").await;
    let last = all["entries"].as_array().and_then(|all| all.last()).expect("entries");
    assert_eq!((&last["kind"], &last["reference"]), (&json!("refund"), &json!(reference)));
    verify(&world);
}

async fn a_refund_that_breaks_a_rule_is_refused(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 5)])).await;
    let lot = lot(&world, &org, PT).await;
    give_back(&world, &org, lot, 1).await;
    let before = world.home.dump().await;
    let quantity = |quantity: Value| json!({"usageId": lot, "quantity": quantity});
    let usage = |usage: Value| json!({"usageId": usage, "quantity": 1});
    let positive = "quantity must be a positive integer";
    let exceeds = "refund quantity exceeds remaining quantity";
    let unreadable = "failed to parse request body";
    for (_, prefix) in newer() {
        for (body, code, text) in [
            (quantity(json!(0)), "invalid-quantity", positive),
            (quantity(json!(-1)), "invalid-quantity", positive),
            (quantity(json!(1.5)), "invalid-quantity", positive),
            (quantity(json!(1e30)), "invalid-quantity", positive),
            (quantity(Value::Null), "invalid-quantity", positive),
            (json!({ "usageId": lot }), "invalid-quantity", positive),
            (quantity(json!(i64::MIN)), "invalid-quantity", positive),
            (quantity(json!(5)), "refund-exceeds-remaining", exceeds),
            (quantity(json!(i64::MAX)), "refund-exceeds-remaining", exceeds),
            (quantity(json!("2")), "malformed-body", unreadable),
            (quantity(json!([1])), "malformed-body", unreadable),
            (usage(json!(lot.to_string())), "malformed-body", unreadable),
            (usage(json!(lot + 1_000)), "unknown-usage", "usage not found"),
            (usage(json!(0)), "unknown-usage", "usage not found"),
            (usage(json!(-lot)), "unknown-usage", "usage not found"),
            (usage(json!(1.5)), "unknown-usage", "usage not found"),
            (usage(json!(i64::MAX)), "unknown-usage", "usage not found"),
            (json!({"quantity": 1}), "missing-parameter", "usageId is required"),
            (json!([]), "malformed-body", unreadable),
        ] {
            let refusal = send(&world, &org, prefix, &body).await;
            let print = refusal.to_string();
            assert_eq!(refusal.refused(400, code), text, "{prefix}: {body}\n{print}");
        }
        let broken = Request::post(&format!("{prefix}/inventory/refund")).key(&org.key);
        let refusal = world.node.send(&broken.body("usageId=1&quantity=1")).await;
        refusal.refused(400, "malformed-body");
        let get = Request::get(&format!("{prefix}/inventory/refund")).key(&org.key);
        world.node.send(&get).await.refused(405, "method-not-allowed");
    }
    assert_eq!(world.home.dump().await, before);
    // Names of fields are read in any case, and what else is sent does not matter.
    let tolerant = json!({"UsageID": lot, "QUANTITY": 4, "reason": "none"});
    send(&world, &org, "/v2.1", &tolerant).await.expect(200);
    // A lot that is used up is still known.
    let empty = send(&world, &org, "/v2.5", &of(lot, 1)).await;
    empty.refused(400, "refund-exceeds-remaining");
    verify(&world);
}

async fn a_lot_of_somebody_else_looks_like_none(home: Home) {
    let world = open(home, 1).await;
    let (mine, theirs) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    for org in [&mine, &theirs] {
        buy(&world, org, "/v2.5", &into_inventory(&[(PT, 5)])).await;
    }
    let foreign = lot(&world, &theirs, PT).await;
    let before = world.home.dump().await;
    for (_, prefix) in newer() {
        let mut prints = HashSet::new();
        for usage in [foreign, foreign + 1_000, 987_654_321] {
            let refusal = send(&world, &mine, prefix, &of(usage, 1)).await;
            prints.insert(refusal.fingerprint());
            assert_eq!(refusal.refused(400, "unknown-usage"), "usage not found", "{prefix}");
        }
        assert_eq!(prints.len(), 1, "{prefix}: {prints:?}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_refund_is_possible_for_sixty_days(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    buy(&world, &org, "/v2.0", &into_inventory(&[(PT, 10)])).await;
    let old = lot(&world, &org, PT).await;
    advance(&world, &org, 60 * DAY - 60).await;
    for (_, prefix) in newer() {
        send(&world, &org, prefix, &of(old, 1)).await.expect(200);
    }
    buy(&world, &org, "/v2.5", &into_inventory(&[(FR, 1)])).await;
    advance(&world, &org, 61).await;
    let before = has(&world, &org).await;
    for (_, prefix) in newer() {
        let refusal = send(&world, &org, prefix, &of(old, 1)).await;
        let text = refusal.refused(400, "not-refundable");
        assert_eq!(text, "bundle is not eligible for refund", "{prefix}");
    }
    assert_eq!(has(&world, &org).await, before);
    // Each lot has a period of its own.
    let new = lot(&world, &org, FR).await;
    send(&world, &org, "/v2.5", &of(new, 1)).await.expect(200);
    // What cannot be given back is still there to be used.
    assert_eq!(lots(&world, &org, PT).await[0]["remaining"], 5);
    verify(&world);
}

async fn the_period_is_set_by_the_operator(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    buy(&world, &org, "/v2.0", &into_inventory(&[(PT, 20)])).await;
    let lot = lot(&world, &org, PT).await;
    let tried = async |days: i64| {
        world.change(&org, &json!({ "refundDays": days })).await;
        let mut statuses = HashSet::new();
        for (_, prefix) in newer() {
            let answer = send(&world, &org, prefix, &of(lot, 1)).await;
            if answer.status != 200 {
                assert_eq!(answer.header("x-error-code"), Some("not-refundable"), "{answer}");
            }
            statuses.insert(answer.status);
        }
        assert_eq!(statuses.len(), 1, "all versions agree");
        statuses.contains(&200)
    };
    assert!(!tried(0).await, "switched off");
    assert!(tried(10).await);
    advance(&world, &org, 10 * DAY + 1).await;
    assert!(!tried(10).await && !tried(0).await && !tried(1).await);
    assert!(tried(11).await, "by the setting of now, not of then");
    advance(&world, &org, 300 * DAY).await;
    assert!(!tried(60).await);
    assert!(tried(365).await);
    assert_eq!(lots(&world, &org, PT).await[0]["remaining"], 5);
    assert_eq!(balance(&world, &org).await, PLENTY - 5 * PT.price);
    verify(&world);
}

async fn the_price_paid_is_what_comes_back(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 2)])).await;
    world.change(&org, &json!({"priceList": crate::shop::PARTNER})).await;
    advance(&world, &org, DAY).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 2)])).await;
    assert_eq!(balance(&world, &org).await, PLENTY - 2 * PT.price - 2 * PT_FOR_PARTNERS);
    // Dearer now, and no longer sold, and in no currency of theirs; what was paid was paid.
    let mut bundle = crate::shop::catalogue()["bundles"][0].clone();
    bundle["prices"] = json!({"USD": 9_900});
    bundle["withdrawn"] = json!(true);
    world.order("POST", "/catalogue", &json!({"bundles": [bundle]})).await.expect(200);
    let held = lots(&world, &org, PT).await;
    let mut left = PLENTY - 2 * PT.price - 2 * PT_FOR_PARTNERS;
    for (lot, price) in held.iter().zip([PT.price, PT_FOR_PARTNERS]) {
        give_back(&world, &org, lot["id"].as_i64().expect("whole"), 2).await;
        left += 2 * price;
        assert_eq!(balance(&world, &org).await, left);
        let order = listed(&world, &org, "?limit=1").await.remove(0);
        let paid: f64 = written(price, api::versions::Version::NEWEST).parse().expect("a number");
        assert_eq!(order["order"][0]["pricePerUnit"].as_f64(), Some(paid));
    }
    assert_eq!(balance(&world, &org).await, PLENTY);
    verify(&world);
}

async fn what_cost_nothing_gives_nothing_back(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(TRIAL, 3)])).await;
    let lot = lot(&world, &org, TRIAL).await;
    let before = has(&world, &org).await;
    send(&world, &org, "/v2.5", &of(lot, 1)).await.refused(400, "not-refundable");
    assert_eq!(has(&world, &org).await, before);
    verify(&world);
}
