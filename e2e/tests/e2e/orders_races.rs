//! Many at once for the last of something: exactly as many succeed as there is, and nothing is
//! sold twice.

use std::collections::BTreeSet;

use serde_json::json;

use crate::harness::{Home, Node, Org};
use crate::money::settle;
use crate::shop::{
    FR, Has, PLENTY, PROFILE, PT, at_once, at_once_to, buy, has, iccids, into_inventory, listed,
    lot, lots, onto_new, open, order, reference, refund, reseller, seen, stock, verify, winners,
};

crate::on_both! {
    the_last_ten_of_a_lot_are_given_back_once,
    money_for_ten_orders_buys_ten,
    seven_profiles_become_seven_esims,
    two_nodes_share_what_there_is,
    large_orders_share_what_there_is,
    a_refund_and_an_order_never_pay_twice,
}

const CLIENTS: usize = 32;

async fn the_last_ten_of_a_lot_are_given_back_once(home: Home) {
    let world = open(home, 1).await;
    for (quantity, wins) in [(1, 10), (3, 3), (10, 1)] {
        let org = reseller(&world, 10 * PT.price).await;
        buy(&world, &org, "/v2.0", &into_inventory(&[(PT, 10)])).await;
        let lot = lot(&world, &org, PT).await;
        let request = refund(&org, "/v2.5", &json!({"usageId": lot, "quantity": quantity}));
        let answers = at_once(&world, &vec![request; CLIENTS]).await;
        let won = winners(answers, 400, "refund-exceeds-remaining");
        assert_eq!(won.len(), wins, "{quantity} each");
        let units = quantity * i64::try_from(wins).expect("small");
        let Has { balance, orders, .. } = has(&world, &org).await;
        assert_eq!((balance, orders), (units * PT.price, 1 + units / quantity));
        let left: i64 =
            lots(&world, &org, PT).await.iter().filter_map(|lot| lot["remaining"].as_i64()).sum();
        assert_eq!(left, 10 - units);
    }
    verify(&world);
}

async fn money_for_ten_orders_buys_ten(home: Home) {
    let world = open(home, 200).await;
    for (prefix, body) in [
        ("/v2.5", into_inventory(&[(PT, 1)])),
        ("/v2.0", onto_new(&[(PT, 2)])),
        ("/v2.3", onto_new(&[(PT, 6)])),
    ] {
        let total = PT.price * body["order"][0]["quantity"].as_i64().expect("whole");
        // Not quite enough for another one.
        let org = reseller(&world, 11 * total - 1).await;
        let answers = at_once(&world, &vec![order(&org, prefix, &body); CLIENTS]).await;
        let won = winners(answers, 400, "balance-too-low");
        assert_eq!(won.len(), 10, "{prefix}");
        let distinct: BTreeSet<_> = won.iter().map(reference).collect();
        assert_eq!(distinct.len(), 10, "{prefix}");
        settle(&world, &org).await;
        let Has { balance, orders, .. } = has(&world, &org).await;
        assert_eq!((balance, orders), (total - 1, 10), "{prefix}");
        assert_eq!(listed(&world, &org, "?status=eq:completed").await.len(), 10, "{prefix}");
    }
    verify(&world);
}

/// The eSIMs that all orders of these organisations are on.
async fn all_iccids(world: &crate::harness::World, orgs: &[Org]) -> Vec<String> {
    let mut all = Vec::new();
    for org in orgs {
        for order in listed(world, org, "?limit=10000&status=eq:completed").await {
            all.extend(iccids(&order));
        }
    }
    all
}

async fn seven_profiles_become_seven_esims(home: Home) {
    let world = open(home, 7).await;
    let orgs = [reseller(&world, PLENTY).await, reseller(&world, PLENTY).await];
    let body = onto_new(&[(PT, 1)]);
    let requests: Vec<_> = (0..CLIENTS).map(|n| order(&orgs[n % 2], "/v2.5", &body)).collect();
    let won = winners(at_once(&world, &requests).await, 503, "out-of-stock");
    assert_eq!(won.len(), 7);
    assert_eq!(stock(&world, PROFILE).await, 0);
    let sold: BTreeSet<_> = won.iter().flat_map(iccids).collect();
    assert_eq!(sold.len(), 7, "none twice");
    let kept: BTreeSet<_> = all_iccids(&world, &orgs).await.into_iter().collect();
    assert_eq!(kept, sold);
    let mut left = 0;
    for org in &orgs {
        left += has(&world, org).await.balance;
    }
    assert_eq!(left, 2 * PLENTY - 7 * PT.price, "who got nothing paid nothing");
    verify(&world);
}

/// Money, stock and lots are the same on every node. (An embedded database has one.)
async fn two_nodes_share_what_there_is(home: Home) {
    let world = open(home, 7).await;
    if world.home.is_sqlite() {
        return;
    }
    let second = Node::beside(&world.home, &[]).await;
    let nodes = [world.node.address, second.address];
    let rich = reseller(&world, PLENTY).await;
    let crowd = vec![order(&rich, "/v2.5", &onto_new(&[(PT, 1)])); CLIENTS];
    let won = winners(at_once_to(&world, &nodes, &crowd).await, 503, "out-of-stock");
    let sold: BTreeSet<_> = won.iter().flat_map(iccids).collect();
    assert_eq!((won.len(), sold.len()), (7, 7));

    let poor = reseller(&world, 10 * PT.price).await;
    let crowd = vec![order(&poor, "/v2.5", &into_inventory(&[(PT, 1)])); CLIENTS];
    let won = winners(at_once_to(&world, &nodes, &crowd).await, 400, "balance-too-low");
    assert_eq!((won.len(), has(&world, &poor).await.balance), (10, 0));

    let lot = lots(&world, &poor, PT).await[0]["id"].clone();
    let crowd = vec![refund(&poor, "/v2.5", &json!({"usageId": lot, "quantity": 1})); CLIENTS];
    let back = at_once_to(&world, &nodes, &crowd).await;
    assert_eq!(winners(back, 400, "refund-exceeds-remaining").len(), 1);
    verify(&world);
}

async fn large_orders_share_what_there_is(home: Home) {
    let world = open(home, 100).await;
    let orgs = [reseller(&world, PLENTY).await, reseller(&world, PLENTY).await];
    let body = onto_new(&[(PT, 6), (FR, 3)]);
    let requests: Vec<_> = (0..CLIENTS).map(|n| order(&orgs[n % 2], "/v2.5", &body)).collect();
    let won = winners(at_once(&world, &requests).await, 503, "out-of-stock");
    // While one has taken the last ones and may yet give them back, another is told to come again.
    assert!((1..=11).contains(&won.len()), "{} of 11", won.len());
    for org in &orgs {
        settle(&world, org).await;
    }
    let sold = all_iccids(&world, &orgs).await;
    let distinct: BTreeSet<_> = sold.iter().collect();
    assert_eq!((sold.len(), distinct.len()), (9 * won.len(), sold.len()));
    let free = stock(&world, PROFILE).await;
    assert_eq!(usize::try_from(free), Ok(100 - sold.len()), "none is lost");
    let price = 6 * PT.price + 3 * FR.price;
    let mut left = 0;
    for org in &orgs {
        left += has(&world, org).await.balance;
    }
    assert_eq!(left, 2 * PLENTY - price * i64::try_from(won.len()).expect("small"));
    verify(&world);
}

async fn a_refund_and_an_order_never_pay_twice(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, 16 * PT.price).await;
    buy(&world, &org, "/v2.0", &into_inventory(&[(PT, 16)])).await;
    let lot = lot(&world, &org, PT).await;
    // Half give back what the other half wants to buy with it.
    let back = refund(&org, "/v2.5", &json!({"usageId": lot, "quantity": 1}));
    let again = order(&org, "/v2.5", &into_inventory(&[(PT, 1)]));
    let requests: Vec<_> =
        (0..CLIENTS).map(|n| if n % 2 == 0 { back.clone() } else { again.clone() }).collect();
    let answers = at_once(&world, &requests).await;
    let (mut given, mut bought) = (0, 0);
    for (n, answer) in answers.into_iter().enumerate() {
        if n % 2 == 0 {
            answer.expect(200);
            given += 1;
        } else if answer.status == 200 {
            bought += 1;
            let order = seen(&world, &org, &reference(&answer.json())).await;
            assert_eq!(order["status"], "completed");
        } else {
            answer.refused(400, "balance-too-low");
        }
    }
    assert_eq!(given, 16);
    let Has { balance, inventory, .. } = has(&world, &org).await;
    assert_eq!(balance, PT.price * (given - bought));
    let held: i64 = inventory
        .iter()
        .flat_map(|bundle| bundle["available"].as_array().expect("lots"))
        .filter_map(|lot| lot["remaining"].as_i64())
        .sum();
    assert_eq!(held, bought);
    verify(&world);
}
