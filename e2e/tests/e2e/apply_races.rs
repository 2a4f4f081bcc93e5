//! Many at once for the last unit, and for one assignment: exactly one gets it.

use std::collections::BTreeSet;

use serde_json::json;

use crate::desk::{
    applied, apply, apply_to_one, esim, esims, put_onto, states, stock_up, take_off,
};
use crate::harness::{Home, Node};
use crate::money::balance;
use crate::shop::{
    FR, PLENTY, PROFILE, PT, at_once, at_once_to, has, lot, lots, open, refund, reseller, stock,
    verify, winners,
};

crate::on_both! {
    the_last_unit_is_applied_once,
    the_last_units_are_shared,
    the_last_unit_is_applied_or_given_back,
    an_assignment_is_taken_off_once,
    two_nodes_share_the_inventory,
}

const CLIENTS: usize = 24;

async fn the_last_unit_is_applied_once(home: Home) {
    let world = open(home, 50).await;
    for prefix in ["/v2.1", "/v2.5"] {
        let org = reseller(&world, PLENTY).await;
        let iccid = esim(&world, &org).await;
        stock_up(&world, &org, &[(FR, 1)]).await;
        let free = stock(&world, PROFILE).await;
        // Onto a new eSIM, onto the one there is, by the new call and by the old one.
        let ways = [
            apply(&org, prefix, &json!({"bundle": FR.name})),
            apply(&org, prefix, &json!({"bundle": FR.name, "iccid": iccid})),
            apply_to_one(&org, prefix, &iccid, &json!({"name": FR.name})),
        ];
        let requests: Vec<_> = ways.iter().cycle().take(CLIENTS).cloned().collect();
        let won = winners(at_once(&world, &requests).await, 403, "no-bundles-left");
        assert_eq!(won.len(), 1, "{prefix}: {won:?}");
        assert!(lots(&world, &org, FR).await.is_empty());
        let taken = free - stock(&world, PROFILE).await;
        let known = esims(&world, &org).await.len();
        assert_eq!(usize::try_from(taken), Ok(known - 1), "who got nothing took no eSIM");
        let on_it = states(&world, &org, &iccid).await.len();
        assert_eq!(on_it + known, 3, "one bundle more, here or there");
    }
    verify(&world);
}

async fn the_last_units_are_shared(home: Home) {
    let world = open(home, 100).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 10)]).await;
    stock_up(&world, &org, &[(PT, 1)]).await;
    let request = apply(&org, "/v2.5", &json!({"bundle": PT.name, "repeat": 3}));
    let won = winners(at_once(&world, &vec![request; CLIENTS]).await, 403, "no-bundles-left");
    assert_eq!(won.len(), 3, "three times three of eleven");
    let issued: BTreeSet<_> = won.iter().flat_map(applied).collect();
    assert_eq!((issued.len(), esims(&world, &org).await.len()), (9, 9), "no eSIM twice");
    let left: i64 =
        lots(&world, &org, PT).await.iter().filter_map(|lot| lot["remaining"].as_i64()).sum();
    assert_eq!((left, stock(&world, PROFILE).await), (2, 91));
    verify(&world);
}

async fn the_last_unit_is_applied_or_given_back(home: Home) {
    let world = open(home, 50).await;
    for _ in 0..4 {
        let org = reseller(&world, PT.price).await;
        stock_up(&world, &org, &[(PT, 1)]).await;
        let lot = lot(&world, &org, PT).await;
        let body = json!({"usageId": lot, "quantity": 1});
        let ways =
            [apply(&org, "/v2.5", &json!({"bundle": PT.name})), refund(&org, "/v2.5", &body)];
        let requests: Vec<_> = ways.iter().cycle().take(CLIENTS).cloned().collect();
        let answers = at_once(&world, &requests).await;
        let mut won = Vec::new();
        for (n, answer) in answers.into_iter().enumerate() {
            match (answer.status, n % 2) {
                (200, way) => won.push(way),
                (_, 0) => drop(answer.refused(403, "no-bundles-left")),
                _ => drop(answer.refused(400, "refund-exceeds-remaining")),
            }
        }
        assert_eq!(won.len(), 1, "exactly one");
        let (money, known) = (balance(&world, &org).await, esims(&world, &org).await.len());
        let wanted = if won[0] == 0 { (0, 1) } else { (PT.price, 0) };
        assert_eq!((money, known), wanted);
        assert!(lots(&world, &org, PT).await.is_empty());
    }
    verify(&world);
}

async fn an_assignment_is_taken_off_once(home: Home) {
    let world = open(home, 50).await;
    for (query, to_balance) in [("", false), ("?refundToBalance=true", true)] {
        let org = reseller(&world, 2 * PT.price).await;
        let iccid = esim(&world, &org).await;
        stock_up(&world, &org, &[(PT, 1)]).await;
        let id = put_onto(&world, &org, &iccid, PT).await;
        let path = format!("{}/assignments/{id}{query}", PT.name);
        let requests = vec![take_off(&org, "/v2.5", &iccid, &path); CLIENTS];
        let won = winners(at_once(&world, &requests).await, 400, "unknown-assignment");
        assert_eq!(won.len(), 1);
        let has_now = has(&world, &org).await;
        let held: i64 =
            lots(&world, &org, PT).await.iter().filter_map(|lot| lot["remaining"].as_i64()).sum();
        let wanted = if to_balance { (PT.price, 0) } else { (0, 1) };
        assert_eq!((has_now.balance, held), wanted, "it came back once");
        // By name there is one more, and then nothing.
        let requests = vec![take_off(&org, "/v2.5", &iccid, PT.name); CLIENTS];
        let won = winners(at_once(&world, &requests).await, 400, "unknown-assignment");
        assert_eq!(won.len(), 1);
        let all = states(&world, &org, &iccid).await;
        assert!(all.iter().all(|(_, state)| state == "revoked"), "{all:?}");
    }
    verify(&world);
}

/// The inventory is the same on every node. (An embedded database has one.)
async fn two_nodes_share_the_inventory(home: Home) {
    let world = open(home, 50).await;
    if world.home.is_sqlite() {
        return;
    }
    let second = Node::beside(&world.home, &[]).await;
    let nodes = [world.node.address, second.address];
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    stock_up(&world, &org, &[(FR, 5)]).await;
    let requests = vec![apply(&org, "/v2.5", &json!({"bundle": FR.name})); CLIENTS];
    let won = winners(at_once_to(&world, &nodes, &requests).await, 403, "no-bundles-left");
    let issued: BTreeSet<_> = won.iter().flat_map(applied).collect();
    assert_eq!((won.len(), issued.len()), (5, 5));
    let requests = vec![take_off(&org, "/v2.5", &iccid, PT.name); CLIENTS];
    let won = winners(at_once_to(&world, &nodes, &requests).await, 400, "unknown-assignment");
    assert_eq!((won.len(), lots(&world, &org, PT).await.len()), (1, 1));
    verify(&world);
}
