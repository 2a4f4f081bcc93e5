//! Orders of more than five bundles: paid at once, worked on later, or given back whole.

use std::collections::BTreeSet;
use std::time::Duration;

use api::versions::Version;
use domain::Timestamp;
use serde_json::{Value, json};

use crate::harness::{Home, Org, Request, World, wait};
use crate::money::{advance, events, prefixes, settle, written};
use crate::shop::{
    FR, Good, Has, OTHER_PROFILE, PLENTY, PROFILE, PT, US, buy, entries, fill, has, hold, iccids,
    into_inventory, listed, lots, moved, moves, onto, onto_new, open, reference, reseller, seen,
    stock, test_credit, verify,
};

crate::on_both! {
    six_bundles_are_worked_on_after_the_answer,
    all_quantities_together_make_an_order_large,
    a_large_order_fills_the_inventory_when_it_is_done,
    an_order_that_takes_too_long_gives_everything_back,
    what_was_given_back_can_be_sold_again,
    a_failed_order_leaves_an_esim_that_is_in_use_by_now,
    test_credit_that_ended_meanwhile_does_not_come_back,
    ten_minutes_are_long_enough,
    a_thousand_esims_are_reserved_at_once,
    the_largest_order_is_ten_thousand_bundles,
    old_versions_finish_before_they_answer,
    a_large_order_is_done_without_being_asked_for,
}

/// Whether a version answers first.
fn answers_first(version: Version) -> bool {
    version.name() >= "v2.2"
}

/// An order as a version tells it, with its eSIMs.
async fn asked(world: &World, org: &Org, prefix: &str, reference: &str) -> Value {
    let target = format!("{prefix}/orders/{reference}?includeIccids=true");
    world.get(&target, &org.key).await.json_of(200)
}

/// Places one in a version, and shows its eSIMs.
async fn place(world: &World, org: &Org, prefix: &str, body: &Value) -> Value {
    let request = Request::post(&format!("{prefix}/orders?includeIccids=true")).key(&org.key);
    world.node.send(&request.json(body)).await.json_of(200)
}

async fn six_bundles_are_worked_on_after_the_answer(home: Home) {
    let world = open(home, 60).await;
    for (version, prefix) in prefixes().into_iter().filter(|(version, _)| answers_first(*version)) {
        let org = reseller(&world, PLENTY).await;
        hold(&world, &org, true).await;
        let free = stock(&world, PROFILE).await;
        let told = events(&world, &org).await.len();
        let placed = place(&world, &org, prefix, &onto_new(&[(PT, 4), (FR, 2)])).await;
        let reference = reference(&placed);
        let total = 4 * PT.price + 2 * FR.price;
        assert_eq!(placed["status"], "processing", "{prefix}");
        assert_eq!(placed["statusMessage"], "Order processing", "{prefix}");
        let reserved = iccids(&placed);
        assert_eq!(reserved.iter().collect::<BTreeSet<_>>().len(), 6, "{prefix}");
        if placed.get("iccids").is_some() {
            assert_eq!(placed["iccids"], json!(reserved), "{prefix}");
        }
        let at_top = ["v2.2", "v2.3"].contains(&version.name());
        assert_eq!(placed.get("iccids").is_some(), at_top, "{prefix}");
        // Paid for, and reserved; but not theirs to install yet.
        assert_eq!(stock(&world, PROFILE).await, free - 6);
        assert_eq!(has(&world, &org).await.balance, PLENTY - total);
        let held = moves([("available", -total), ("held", total)]);
        assert_eq!(moved(&world, &org, "order").await, held);
        assert_eq!(events(&world, &org).await.len(), told, "nothing has ended");
        // While it is processing it stays so, whatever is asked.
        settle(&world, &org).await;
        let under_way = asked(&world, &org, prefix, &reference).await;
        let mut wanted = placed.clone();
        wanted.as_object_mut().expect("an object").remove("iccids");
        assert_eq!(under_way, wanted, "{prefix}");
        for item in under_way["order"].as_array().expect("items") {
            assert_eq!(item["esims"], json!([]), "{prefix}");
        }
        let listed = listed(&world, &org, "?status=processing").await;
        assert_eq!(listed.iter().map(crate::shop::reference).collect::<Vec<_>>(), [&*reference]);

        hold(&world, &org, false).await;
        settle(&world, &org).await;
        let done = asked(&world, &org, prefix, &reference).await;
        assert_eq!(done["status"], "completed", "{prefix}");
        assert_eq!(done["statusMessage"], "Order completed: 6 eSIMs assigned", "{prefix}");
        assert_eq!(iccids(&done), reserved, "{prefix}");
        check_codes(&done, version);
        ended(&world, &org, &reference, total).await;
    }
    verify(&world);
}

/// How to install them is told of up to five, or from v2.4 on of all.
fn check_codes(order: &Value, version: Version) {
    for item in order["order"].as_array().expect("items") {
        let codes = item["esims"].as_array().expect("a list");
        let shown: Vec<_> = codes.iter().map(|code| code["iccid"].clone()).collect();
        let wanted = if version.name() >= "v2.4" { item["iccids"].clone() } else { json!([]) };
        assert_eq!(json!(shown), wanted, "{order}");
        assert!(codes.iter().all(|code| code["smdpAddress"] == "rsp.example"), "{order}");
    }
}

/// The books and the feed tell that it was completed, once.
async fn ended(world: &World, org: &Org, reference: &str, total: i64) {
    let sold = moves([("held", -total), ("sales", total)]);
    assert_eq!(moved(world, org, "orderCompleted").await, sold);
    assert_eq!(entries(world, org).await, ["credit", "order", "orderCompleted"]);
    assert!(listed(world, org, "?status=processing").await.is_empty());
    let (kind, data) = events(world, org).await.pop().expect("an event");
    let told = (kind.as_str(), &data["orderReference"], &data["status"]);
    assert_eq!(told, ("order.completed", &json!(reference), &json!("completed")));
    let major: f64 = written(total, Version::NEWEST).parse().expect("a number");
    assert_eq!(data["total"], json!(major));
    let order = seen(world, org, reference).await;
    let left = written(PLENTY - total, Version::NEWEST);
    assert_eq!(order["runningBalance"], json!(left), "of the moment it was placed");
}

async fn all_quantities_together_make_an_order_large(home: Home) {
    let world = open(home, 60).await;
    let org = reseller(&world, PLENTY).await;
    hold(&world, &org, true).await;
    for (version, prefix) in prefixes() {
        for (items, is_large) in [
            (vec![(PT, 5)], false),
            (vec![(PT, 1), (FR, 4)], false),
            (vec![(PT, 6)], true),
            (vec![(PT, 3), (FR, 3)], true),
            (vec![(PT, 1); 6], true),
        ] {
            let later = is_large && answers_first(version);
            let status = if later { "processing" } else { "completed" };
            let answer = buy(&world, &org, prefix, &into_inventory(&items)).await;
            assert_eq!(answer["status"], status, "{prefix}: {items:?}");
            let text = if later { "Order processing" } else { "Order completed" };
            assert_eq!(answer["statusMessage"], text, "{prefix}: {items:?}");
        }
    }
    // eSIMs by name are counted like new ones, the same one several times too.
    let one = iccids(&buy(&world, &org, "/v2.3", &onto_new(&[(PT, 1)])).await).remove(0);
    let answer = buy(&world, &org, "/v2.3", &onto(FR, &vec![one.clone(); 6])).await;
    assert_eq!((&answer["status"], iccids(&answer)), (&json!("processing"), vec![one; 6]));
    hold(&world, &org, false).await;
    settle(&world, &org).await;
    assert!(listed(&world, &org, "?status=processing").await.is_empty());
    verify(&world);
}

async fn a_large_order_fills_the_inventory_when_it_is_done(home: Home) {
    let world = open(home, 1).await;
    for (version, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        hold(&world, &org, true).await;
        let placed = place(&world, &org, prefix, &into_inventory(&[(PT, 6), (FR, 3)])).await;
        if !answers_first(version) {
            assert_eq!(placed["status"], "completed", "{prefix}");
            assert_eq!(lots(&world, &org, PT).await[0]["remaining"], 6, "{prefix}");
            continue;
        }
        assert_eq!((&placed["status"], iccids(&placed)), (&json!("processing"), vec![]));
        assert!(has(&world, &org).await.inventory.is_empty(), "{prefix}: not before");
        advance(&world, &org, 300).await;
        hold(&world, &org, false).await;
        settle(&world, &org).await;
        let order = seen(&world, &org, &reference(&placed)).await;
        let told = (&order["status"], &order["statusMessage"], &order["assigned"]);
        assert_eq!(told, (&json!("completed"), &json!("Order completed"), &json!(false)));
        let bought = order["createdDate"].as_str().expect("a time");
        let bought = Timestamp::parse(bought).expect("a time");
        let expiry = bought.plus_ms(365 * 86_400_000).to_string();
        for (good, quantity) in [(PT, 6), (FR, 3)] {
            let lot = &lots(&world, &org, good).await[0];
            let counts = (&lot["total"], &lot["remaining"], &lot["expiry"]);
            assert_eq!(counts, (&json!(quantity), &json!(quantity), &json!(expiry)));
        }
    }
    verify(&world);
}

/// Lets an order that waits take longer than any may.
async fn time_out(world: &World, org: &Org) {
    advance(world, org, 601).await;
    let waiting = listed(world, org, "?status=processing").await;
    assert!(!waiting.is_empty(), "what is held waits, however long");
    hold(world, org, false).await;
    settle(world, org).await;
    assert!(listed(world, org, "?status=processing").await.is_empty());
}

async fn an_order_that_takes_too_long_gives_everything_back(home: Home) {
    let world = open(home, 30).await;
    fill(&world, 101..104, OTHER_PROFILE).await;
    for (version, prefix) in prefixes().into_iter().filter(|(version, _)| answers_first(*version)) {
        let org = reseller(&world, 4_000).await;
        test_credit(&world, &org, 500, 86_400).await;
        let own = iccids(&buy(&world, &org, "/v2.3", &onto_new(&[(PT, 1)])).await);
        let before = has(&world, &org).await;
        assert_eq!((before.balance, before.test_credit), (4_000, 260));
        for into in ["inventory", "esims"] {
            hold(&world, &org, true).await;
            let body = if into == "inventory" {
                into_inventory(&[(PT, 4), (US, 2)])
            } else {
                json!({"type": "transaction", "assign": true, "order": [
                    {"item": PT.name, "quantity": 3},
                    {"item": PT.name, "quantity": 1, "iccids": own},
                    {"item": US.name, "quantity": 2},
                ]})
            };
            let total = 4 * PT.price + 2 * US.price;
            let placed = place(&world, &org, prefix, &body).await;
            let taken = has(&world, &org).await;
            assert_eq!((taken.balance, taken.test_credit), (4_000 - (total - 260), 0));
            time_out(&world, &org).await;
            let after = has(&world, &org).await;
            assert_eq!((after.balance, after.test_credit), (4_000, 260), "{prefix} {into}");
            assert_eq!((after.stock, &after.inventory), (before.stock, &before.inventory));
            let back = moves([("held", -total), ("testCredit", 260), ("available", total - 260)]);
            assert_eq!(moved(&world, &org, "orderFailed").await, back);
            failed(&world, &org, (version, prefix), &placed).await;
        }
        let kinds =
            ["credit", "testCredit", "order", "order", "orderFailed", "order", "orderFailed"];
        assert_eq!(entries(&world, &org).await, kinds);
    }
    verify(&world);
}

/// How an order that failed is told: without eSIMs, in every version.
async fn failed(world: &World, org: &Org, (version, prefix): (Version, &str), placed: &Value) {
    let reference = reference(placed);
    for (_, other) in prefixes() {
        let order = asked(world, org, other, &reference).await;
        assert_eq!(order["status"], "failed", "{other}");
        assert_eq!(order["statusMessage"], "Order processing failed", "{other}");
        for item in order["order"].as_array().expect("items") {
            for list in ["iccids", "esims"] {
                assert!(item.get(list).is_none_or(|list| *list == json!([])), "{other}: {item}");
            }
        }
    }
    let order = asked(world, org, prefix, &reference).await;
    assert_eq!(order["total"], placed["total"], "{prefix}: it says what it would have cost");
    if version.name() >= "v2.5" {
        assert_eq!(order["runningBalance"], placed["runningBalance"]);
    }
    let (kind, data) = events(world, org).await.pop().expect("an event");
    let told = (kind.as_str(), &data["event"], &data["orderReference"], &data["status"]);
    let wanted = ("order.failed", &json!("order.failed"), &json!(reference), &json!("failed"));
    assert_eq!(told, wanted);
    assert_eq!(data["statusMessage"], "Order processing failed");
    let found = listed(world, org, "?status=failed").await;
    assert_eq!(crate::shop::reference(&found[0]), reference);
}

async fn what_was_given_back_can_be_sold_again(home: Home) {
    let world = open(home, 8).await;
    let (org, other) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let mut reserved = Vec::new();
    // Again and again the same eSIMs, and each time all of them come back.
    for round in 0..3 {
        hold(&world, &org, true).await;
        let placed = buy(&world, &org, "/v2.3", &onto_new(&[(PT, 7)])).await;
        reserved.push(iccids(&placed));
        assert_eq!(stock(&world, PROFILE).await, 1, "round {round}");
        time_out(&world, &org).await;
        assert_eq!(stock(&world, PROFILE).await, 8, "round {round}");
        assert_eq!(has(&world, &org).await.balance, PLENTY, "round {round}");
    }
    assert_eq!(reserved[0], reserved[2]);
    let theirs = buy(&world, &other, "/v2.0", &onto_new(&[(PT, 8)])).await;
    let theirs = iccids(&seen(&world, &other, &reference(&theirs)).await);
    assert!(reserved[0].iter().all(|iccid| theirs.contains(iccid)));
    // They are not the first organisation's any more.
    let refusal = crate::shop::order(&org, "/v2.3", &onto(PT, &reserved[0][..1]));
    world.node.send(&refusal).await.refused(403, "not-your-esim");
    verify(&world);
}

async fn a_failed_order_leaves_an_esim_that_is_in_use_by_now(home: Home) {
    let world = open(home, 8).await;
    let org = reseller(&world, PLENTY).await;
    hold(&world, &org, true).await;
    let large = buy(&world, &org, "/v2.3", &onto_new(&[(PT, 6)])).await;
    let one = iccids(&large).remove(2);
    // It is reserved, so it can take another bundle meanwhile.
    let small = buy(&world, &org, "/v2.3", &onto(FR, std::slice::from_ref(&one))).await;
    assert_eq!(small["status"], "completed");
    time_out(&world, &org).await;
    assert_eq!(seen(&world, &org, &reference(&large)).await["status"], "failed");
    assert_eq!(stock(&world, PROFILE).await, 7, "all but that one");
    let kept = iccids(&seen(&world, &org, &reference(&small)).await);
    assert_eq!(kept, std::slice::from_ref(&one));
    buy(&world, &org, "/v2.3", &onto(FR, &[one])).await;
    assert_eq!(has(&world, &org).await.balance, PLENTY - 2 * FR.price);
    verify(&world);
}

async fn test_credit_that_ended_meanwhile_does_not_come_back(home: Home) {
    let world = open(home, 8).await;
    let org = reseller(&world, 2_000).await;
    test_credit(&world, &org, 500, 300).await;
    hold(&world, &org, true).await;
    buy(&world, &org, "/v2.5", &onto_new(&[(PT, 6)])).await;
    time_out(&world, &org).await;
    let back = moves([("held", -1_440), ("breakage", 500), ("available", 940)]);
    assert_eq!(moved(&world, &org, "orderFailed").await, back);
    let Has { balance, test_credit, .. } = has(&world, &org).await;
    assert_eq!((balance, test_credit), (2_000, 0));
    verify(&world);
}

async fn ten_minutes_are_long_enough(home: Home) {
    let world = open(home, 8).await;
    let org = reseller(&world, PLENTY).await;
    hold(&world, &org, true).await;
    let placed = buy(&world, &org, "/v2.5", &onto_new(&[(PT, 6)])).await;
    advance(&world, &org, 570).await;
    hold(&world, &org, false).await;
    settle(&world, &org).await;
    assert_eq!(seen(&world, &org, &reference(&placed)).await["status"], "completed");
    // What has ended never changes.
    advance(&world, &org, 10_000).await;
    assert_eq!(seen(&world, &org, &reference(&placed)).await["status"], "completed");
    verify(&world);
}

async fn a_thousand_esims_are_reserved_at_once(home: Home) {
    let world = open(home, 1_010).await;
    let org = reseller(&world, 1_000 * PT.price).await;
    let placed = buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1_000)])).await;
    assert_eq!((&placed["status"], &placed["runningBalance"]), (&json!("processing"), &json!("0")));
    let reserved = iccids(&placed);
    assert_eq!(reserved.iter().collect::<BTreeSet<_>>().len(), 1_000);
    assert_eq!(stock(&world, PROFILE).await, 10);
    settle(&world, &org).await;
    let order = seen(&world, &org, &reference(&placed)).await;
    assert_eq!(order["statusMessage"], "Order completed: 1000 eSIMs assigned");
    assert_eq!(iccids(&order), reserved);
    check_codes(&order, Version::NEWEST);
    let older = asked(&world, &org, "/v2.3", &reference(&placed)).await;
    assert_eq!((iccids(&older), &older["order"][0]["esims"]), (reserved, &json!([])));
    verify(&world);
}

async fn the_largest_order_is_ten_thousand_bundles(home: Home) {
    let world = open(home, 10_000).await;
    let org = reseller(&world, 30_000 * FR.price).await;
    let items: [(Good, i64); 10] = [(FR, 1_000); 10];
    let stocked = buy(&world, &org, "/v2.4", &into_inventory(&items)).await;
    assert_eq!((&stocked["status"], &stocked["total"]), (&json!("processing"), &json!(19_900)));
    let fresh = buy(&world, &org, "/v2.4", &onto_new(&items)).await;
    let reserved = iccids(&fresh);
    assert_eq!(reserved.iter().collect::<BTreeSet<_>>().len(), 10_000);
    let named: Vec<_> = reserved
        .chunks(1_000)
        .map(|iccids| json!({"item": FR.name, "quantity": 1_000, "iccids": iccids}))
        .collect();
    let named = json!({"type": "transaction", "assign": true, "order": named});
    let named = buy(&world, &org, "/v2.4", &named).await;
    assert_eq!(iccids(&named), reserved);
    settle(&world, &org).await;
    for (placed, esims) in [(&stocked, 0), (&fresh, 10_000), (&named, 10_000)] {
        let order = seen(&world, &org, &reference(placed)).await;
        assert_eq!((&order["status"], iccids(&order).len()), (&json!("completed"), esims));
        check_codes(&order, Version::NEWEST);
    }
    let lots = lots(&world, &org, FR).await;
    assert_eq!(lots.len(), 10, "one for each item");
    assert!(lots.iter().all(|lot| lot["total"] == 1_000 && lot["remaining"] == 1_000));
    let Has { balance, stock, .. } = has(&world, &org).await;
    assert_eq!((balance, stock), (0, [0, 0]));
    verify(&world);
}

async fn old_versions_finish_before_they_answer(home: Home) {
    let world = open(home, 160).await;
    for prefix in ["/v2", "/v2.0", "/v2.1"] {
        let org = reseller(&world, PLENTY).await;
        // Nothing of it is left to a job.
        hold(&world, &org, true).await;
        let placed = buy(&world, &org, prefix, &onto_new(&[(PT, 50)])).await;
        assert_eq!(placed["status"], "completed", "{prefix}");
        assert_eq!(placed["statusMessage"], "Order completed: 50 eSIMs assigned", "{prefix}");
        let order = seen(&world, &org, &reference(&placed)).await;
        assert_eq!(iccids(&order).len(), 50, "{prefix}");
        check_codes(&order, Version::NEWEST);
        let paid = moves([("available", -50 * PT.price), ("sales", 50 * PT.price)]);
        assert_eq!(moved(&world, &org, "order").await, paid);
        assert_eq!(entries(&world, &org).await, ["credit", "order"]);
        assert_eq!(events(&world, &org).await.pop().expect("an event").0, "order.completed");
    }
    assert_eq!(stock(&world, PROFILE).await, 10);
    verify(&world);
}

async fn a_large_order_is_done_without_being_asked_for(home: Home) {
    let world = open(home, 10).await;
    let (live, sandbox) = (world.add_live("Live").await, reseller(&world, PLENTY).await);
    crate::shop::credit(&world, &live, PLENTY).await;
    let profile = |n: usize| {
        let (iccid, code) = (crate::shop::iccid(500 + n), crate::shop::matching_id(500 + n));
        json!({"iccid": iccid, "matchingId": code, "smdpAddress": "rsp.example"})
    };
    let profiles: Vec<_> = (0..10).map(profile).collect();
    let profiles = json!({ "profiles": profiles });
    world.order("POST", "/stock?mode=live", &profiles).await.expect(200);
    for org in [&live, &sandbox] {
        let placed = buy(&world, org, "/v2.5", &onto_new(&[(PT, 8)])).await;
        wait::until("the order is completed", Duration::from_secs(10), async || {
            let order = seen(&world, org, &reference(&placed)).await;
            (order["status"] == "completed").then_some(())
        })
        .await;
        let (kind, data) = events(&world, org).await.pop().expect("an event");
        assert_eq!((kind.as_str(), &data["total"]), ("order.completed", &json!(19.2)));
    }
    verify(&world);
}
