//! What an order does to the money: test credit first, and back where it came from.

use serde_json::{Value, json};

use crate::harness::{Home, Org, World};
use crate::money::{advance, charges, events, prefixes, set_card, settle, written};
use crate::shop::{
    ES, FR, Has, PLENTY, PT, buy, entries, give_back, has, into_inventory, listed, lot, moved,
    moves, onto_new, open, order, reference, reseller, seen, test_credit, verify,
};
use api::versions::Version;

crate::on_both! {
    test_credit_is_spent_before_the_balance,
    test_credit_that_has_ended_pays_for_nothing,
    a_refund_returns_each_share_to_where_it_came_from,
    shares_that_do_not_divide_add_up_all_the_same,
    every_item_returns_its_own_share,
    test_credit_that_has_ended_comes_back_ended,
    a_new_pot_does_not_take_what_an_old_one_paid,
    an_order_that_lowers_the_balance_tops_it_up,
    a_story_of_many_orders_adds_up,
}

/// Balance and test credit.
async fn purse(world: &World, org: &Org) -> (i64, i64) {
    let Has { balance, test_credit, .. } = has(world, org).await;
    (balance, test_credit)
}

async fn test_credit_is_spent_before_the_balance(home: Home) {
    let world = open(home, 80).await;
    for (version, prefix) in prefixes() {
        let org = reseller(&world, 1_000).await;
        test_credit(&world, &org, 300, 86_400).await;
        // All of it from test credit, then the rest of it and some balance, then balance alone.
        let steps = [
            (1, (1_000, 60), moves([("testCredit", -240), ("sales", 240)])),
            (2, (580, 0), moves([("testCredit", -60), ("available", -420), ("sales", 480)])),
            (1, (340, 0), moves([("available", -240), ("sales", 240)])),
        ];
        for (quantity, left, paid) in steps {
            let answer = buy(&world, &org, prefix, &onto_new(&[(PT, quantity)])).await;
            assert_eq!(purse(&world, &org).await, left, "{prefix}");
            assert_eq!(moved(&world, &org, "order").await, paid, "{prefix}");
            let shown = seen(&world, &org, &reference(&answer)).await;
            let both = written(left.0 + left.1, Version::NEWEST);
            assert_eq!(shown["runningBalance"], json!(both), "{prefix}");
            let own = world.get(&format!("{prefix}/organisation"), &org.key).await.text();
            let balance = if version.name() >= "v2.4" { left.0 + left.1 } else { left.0 };
            let text = format!(r#""balance":{},"#, written(balance, version));
            assert!(own.contains(&text), "{prefix}: {text} in {own}");
        }
        // Both together cover an order to the cent.
        test_credit(&world, &org, 140, 86_400).await;
        buy(&world, &org, prefix, &into_inventory(&[(PT, 2)])).await;
        assert_eq!(purse(&world, &org).await, (0, 0), "{prefix}");
        let more = world.node.send(&order(&org, prefix, &into_inventory(&[(ES, 1)]))).await;
        more.refused(400, "balance-too-low");
    }
    verify(&world);
}

async fn test_credit_that_has_ended_pays_for_nothing(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, 239).await;
    test_credit(&world, &org, 500, 3_600).await;
    let body = into_inventory(&[(PT, 1)]);
    let checked = crate::shop::checked(body.clone());
    assert_eq!(buy(&world, &org, "/v2.5", &checked).await["valid"], true);
    advance(&world, &org, 3_601).await;
    assert_eq!(buy(&world, &org, "/v2.5", &checked).await["valid"], false);
    let refusal = world.node.send(&order(&org, "/v2.5", &body)).await;
    refusal.refused(400, "balance-too-low");
    assert_eq!(purse(&world, &org).await, (239, 0));
    assert_eq!(entries(&world, &org).await, ["credit", "testCredit", "testCreditExpiry"]);
    verify(&world);
}

async fn a_refund_returns_each_share_to_where_it_came_from(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, 1_000).await;
    test_credit(&world, &org, 300, 86_400).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 2)])).await;
    assert_eq!(purse(&world, &org).await, (820, 0));
    let lot = lot(&world, &org, PT).await;
    for left in [(910, 150), (1_000, 300)] {
        give_back(&world, &org, lot, 1).await;
        assert_eq!(purse(&world, &org).await, left);
        let back = moves([("refunds", -240), ("testCredit", 150), ("available", 90)]);
        assert_eq!(moved(&world, &org, "refund").await, back);
        let shown = listed(&world, &org, "?limit=1").await.remove(0);
        assert_eq!(shown["runningBalance"], json!(written(left.0 + left.1, Version::NEWEST)));
        assert_eq!(shown["total"], json!(2.4), "in all");
    }
    verify(&world);
}

async fn shares_that_do_not_divide_add_up_all_the_same(home: Home) {
    let world = open(home, 1).await;
    for steps in [vec![7], vec![1; 7], vec![3, 3, 1], vec![2, 5]] {
        let org = reseller(&world, 10_000).await;
        test_credit(&world, &org, 345, 86_400).await;
        buy(&world, &org, "/v2.0", &into_inventory(&[(ES, 7)])).await;
        let lot = lot(&world, &org, ES).await;
        let mut returned = 0;
        for quantity in steps.clone() {
            give_back(&world, &org, lot, quantity).await;
            let back = moved(&world, &org, "refund").await;
            assert_eq!(back["refunds"], -quantity * ES.price, "{steps:?}");
            assert_eq!(back.values().sum::<i64>(), 0, "{steps:?}");
            assert!(back.values().all(|part| *part != 0), "{steps:?}: {back:?}");
            returned += back["testCredit"];
            assert!(returned <= 345, "{steps:?}: never more than was spent");
        }
        assert_eq!(purse(&world, &org).await, (10_000, 345), "{steps:?}");
    }
    verify(&world);
}

async fn every_item_returns_its_own_share(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, 10_000).await;
    test_credit(&world, &org, 300, 86_400).await;
    buy(&world, &org, "/v2.0", &into_inventory(&[(PT, 1), (FR, 3), (ES, 2)])).await;
    let total = PT.price + 3 * FR.price + 2 * ES.price;
    assert_eq!(purse(&world, &org).await, (10_300 - total, 0));
    for (good, quantity) in [(ES, 2), (FR, 3), (PT, 1)] {
        let lot = lot(&world, &org, good).await;
        give_back(&world, &org, lot, quantity).await;
    }
    assert_eq!(purse(&world, &org).await, (10_000, 300), "all of it is back");
    assert!(has(&world, &org).await.inventory.is_empty());
    verify(&world);
}

async fn test_credit_that_has_ended_comes_back_ended(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, 1_000).await;
    test_credit(&world, &org, 400, 3_600).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 2)])).await;
    assert_eq!(purse(&world, &org).await, (920, 0));
    advance(&world, &org, 3_601).await;
    let lot = lot(&world, &org, PT).await;
    give_back(&world, &org, lot, 1).await;
    let back = moves([("refunds", -240), ("breakage", 200), ("available", 40)]);
    assert_eq!(moved(&world, &org, "refund").await, back);
    assert_eq!(purse(&world, &org).await, (960, 0));
    let own = world.get("/v2.5/organisation", &org.key).await.json_of(200);
    let own = &own["organisations"][0];
    let shown = ["balance", "testCredit", "testCreditExpiry"].map(|name| own[name].clone());
    assert_eq!(shown, [json!(9.6), json!(0), Value::Null]);
    verify(&world);
}

async fn a_new_pot_does_not_take_what_an_old_one_paid(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, 1_000).await;
    test_credit(&world, &org, 400, 3_600).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 2)])).await;
    advance(&world, &org, 3_601).await;
    test_credit(&world, &org, 50, 86_400).await;
    let lot = lot(&world, &org, PT).await;
    give_back(&world, &org, lot, 2).await;
    let back = moves([("refunds", -480), ("breakage", 400), ("available", 80)]);
    assert_eq!(moved(&world, &org, "refund").await, back);
    assert_eq!(purse(&world, &org).await, (1_000, 50));
    verify(&world);
}

async fn an_order_that_lowers_the_balance_tops_it_up(home: Home) {
    let world = open(home, 80).await;
    let org = reseller(&world, 1_000).await;
    set_card(&world, &org, &json!("pays")).await;
    world.change(&org, &json!({"autoTopupThreshold": 500, "autoTopupAmount": 2_000})).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 2)])).await;
    settle(&world, &org).await;
    assert_eq!(purse(&world, &org).await, (520, 0), "still enough");
    assert_eq!(charges(&world, &org).await.len(), 0);
    let mut left = 520;
    for (n, (_, prefix)) in prefixes().into_iter().enumerate() {
        // Into the inventory, onto eSIMs, and by an order that is worked on later.
        let bodies = [into_inventory(&[(PT, 1)]), onto_new(&[(PT, 1)]), onto_new(&[(PT, 9)])];
        let body = &bodies[n % 3];
        let total = PT.price * body["order"][0]["quantity"].as_i64().expect("whole");
        crate::shop::credit(&world, &org, 499 + total - left).await;
        // Above the threshold nothing happens; the order itself brings it below.
        let before = charges(&world, &org).await.len();
        buy(&world, &org, prefix, body).await;
        settle(&world, &org).await;
        left = 499 + 2_000;
        assert_eq!(purse(&world, &org).await, (left, 0), "{prefix}");
        assert_eq!(charges(&world, &org).await.len(), before + 1, "{prefix}: once");
        let auto = listed(&world, &org, "").await;
        let auto = auto.iter().find(|order| order["order"][0]["type"] == "autoTopup");
        let auto = auto.expect("it is an order");
        assert_eq!((&auto["total"], &auto["sourceIP"]), (&json!(20), &json!("")));
        let told = events(&world, &org).await;
        assert!(told.iter().any(|(kind, _)| kind == "AutoTopup"), "{prefix}: {told:?}");
    }
    // What is refused for want of money lowers nothing.
    let refusal = world.node.send(&order(&org, "/v2.5", &into_inventory(&[(PT, 900)]))).await;
    refusal.refused(400, "balance-too-low");
    settle(&world, &org).await;
    assert_eq!(charges(&world, &org).await.len(), prefixes().len());
    verify(&world);
}

async fn a_story_of_many_orders_adds_up(home: Home) {
    let world = open(home, 60).await;
    let org = reseller(&world, PLENTY).await;
    test_credit(&world, &org, 2_000, 40 * 86_400).await;
    let mut wanted = PLENTY + 2_000;
    for day in 0..30 {
        let (good, quantity) = ([PT, FR, ES][day % 3], 1 + i64::try_from(day % 9).expect("small"));
        let body = if day % 4 == 0 {
            onto_new(&[(good, 1 + quantity % 2)])
        } else {
            into_inventory(&[(good, quantity)])
        };
        let version = prefixes()[day % prefixes().len()].1;
        buy(&world, &org, version, &body).await;
        settle(&world, &org).await;
        wanted -= good.price * body["order"][0]["quantity"].as_i64().expect("whole");
        if day % 5 == 4 {
            for held in has(&world, &org).await.inventory {
                let lot = &held["available"][0];
                give_back(&world, &org, lot["id"].as_i64().expect("whole"), 1).await;
                let price = [PT, FR, ES].into_iter().find(|good| held["name"] == good.name);
                wanted += price.expect("one of three").price;
            }
        }
        let (balance, credit) = purse(&world, &org).await;
        assert_eq!(balance + credit, wanted, "day {day}");
        advance(&world, &org, 86_400).await;
    }
    advance(&world, &org, 400 * 86_400).await;
    assert!(has(&world, &org).await.inventory.is_empty());
    let sum = |entries: &Value, name: &str| -> i64 {
        let postings = entries.as_array().expect("a list").iter();
        let postings = postings.flat_map(|entry| entry["postings"].as_array().expect("a list"));
        let own = postings.filter(|posting| posting["account"] == name);
        own.map(|posting| posting["amount"].as_i64().expect("whole")).sum()
    };
    let entries = crate::money::statement(&world, &org, "").await["entries"].clone();
    assert_eq!(sum(&entries, "held"), 0);
    assert_eq!(sum(&entries, "available"), purse(&world, &org).await.0);
    assert_eq!(sum(&entries, "testCredit"), 0);
    assert!(sum(&entries, "breakage") > 0 && sum(&entries, "sales") > 0);
    verify(&world);
}
