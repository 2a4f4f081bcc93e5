//! Taking bundles off eSIMs: which one goes, under each path, and what comes back for it.

use api::versions::Version;
use serde_json::{Value, json};

use crate::desk::{
    alike, consume, esim, esim_with, esims, grant, happened, latest, put_on, put_onto, since,
    states, stock_up, take_off, text,
};
use crate::harness::{Home, Org, World};
use crate::money::{advance, balance, events, prefixes, settle};
use crate::shop::{
    FR, Good, PLENTY, PT, entries, give_back, has, hold, inventory, listed, lots, moved, moves,
    open, reseller, verify,
};

crate::on_both! {
    the_oldest_unused_one_goes_first_and_the_active_one_last,
    an_assignment_is_named_under_every_path,
    a_check_changes_nothing_and_says_the_same,
    an_unused_bundle_goes_back_into_its_lot,
    what_was_bought_for_an_esim_becomes_a_lot_of_its_own,
    money_comes_back_if_that_is_wanted,
    what_has_started_gives_nothing_back,
    what_is_too_old_gives_nothing_back,
    where_refunds_are_off_nothing_comes_back,
    what_was_given_goes_back_but_is_not_paid_for,
    what_is_being_processed_can_be_taken_off,
    what_is_not_there_cannot_be_taken_off,
}

const DAY: i64 = 86_400;
const TO_INVENTORY: &str = "Successfully Revoked Bundle, bundle has been refunded to inventory";
const TO_BALANCE: &str = "Successfully Revoked Bundle, bundle has been refunded to balance";
const NOTHING: &str = "Successfully Revoked Bundle, bundle has not been refunded";

/// Takes something off, which must succeed; what it says.
async fn revoke(world: &World, org: &Org, prefix: &str, (esim, rest): (&str, &str)) -> String {
    let told = world.node.send(&take_off(org, prefix, esim, rest)).await.json_of(200);
    assert_eq!(told.as_object().map(serde_json::Map::len), Some(1), "{told}");
    text(&told["status"])
}

/// The paths that name an assignment in a version.
fn paths(version: Version) -> &'static [&'static str] {
    match version.name() {
        "v2.0" => &["offers"],
        "v2.1" => &["applications"],
        _ => &["applications", "assignments"],
    }
}

/// An eSIM with one bundle, bought for it, and so many others of the inventory behind it.
async fn with(world: &World, org: &Org, good: Good, count: usize) -> (String, Vec<String>) {
    let own = esim(world, org).await;
    stock_up(world, org, &[(good, i64::try_from(count).expect("few"))]).await;
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(put_onto(world, org, &own, good).await);
    }
    (own, ids)
}

async fn state(world: &World, org: &Org, esim: &str, id: &str) -> String {
    let all = states(world, org, esim).await;
    all.into_iter().find(|(own, _)| own == id).expect("an assignment").1
}

async fn the_oldest_unused_one_goes_first_and_the_active_one_last(home: Home) {
    let world = open(home, 10).await;
    for (_, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let own = esim_with(&world, &org, PT).await;
        stock_up(&world, &org, &[(FR, 3)]).await;
        // The first bundle is used up, so that one of ours is in use next.
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(put_onto(&world, &org, &own, FR).await);
        }
        consume(&world, &org, &own, 1_000_000_005).await;
        assert_eq!(state(&world, &org, &own, &ids[0]).await, "active", "{prefix}");
        for (id, said) in [(&ids[1], TO_INVENTORY), (&ids[2], TO_INVENTORY), (&ids[0], NOTHING)] {
            let before = states(&world, &org, &own).await;
            assert_eq!(revoke(&world, &org, prefix, (&own, FR.name)).await, said, "{prefix}");
            let after = states(&world, &org, &own).await;
            for ((other, was), (_, is)) in before.iter().zip(&after) {
                let wanted = if other == id { "revoked" } else { was.as_str() };
                assert_eq!(is, wanted, "{prefix} {other}");
            }
        }
        let refusal = world.node.send(&take_off(&org, prefix, &own, FR.name)).await;
        assert_eq!(refusal.refused(400, "unknown-assignment"), "assignment not found", "{prefix}");
    }
    verify(&world);
}

async fn an_assignment_is_named_under_every_path(home: Home) {
    let world = open(home, 20).await;
    for (version, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let (own, ids) = with(&world, &org, FR, 4).await;
        let mut ways: Vec<_> = paths(version).iter().map(|path| format!("/{path}/ID")).collect();
        ways.push("?offerId=ID".to_owned());
        ways.push("?offerId=ID&type=transaction&refundToBalance=false".to_owned());
        for way in &ways {
            // Not the oldest, but the one that is meant; then there is another.
            let meant = text(&latest(&world, &org, &own, FR).await["id"]);
            let target = format!("{}{}", FR.name, way.replace("ID", &meant));
            assert_eq!(revoke(&world, &org, prefix, (&own, &target)).await, TO_INVENTORY);
            assert_eq!(state(&world, &org, &own, &meant).await, "revoked", "{prefix} {way}");
            assert_eq!(state(&world, &org, &own, &ids[0]).await, "queued", "{prefix} {way}");
            let refusal = world.node.send(&take_off(&org, prefix, &own, &target)).await;
            refusal.refused(400, "unknown-assignment");
            put_onto(&world, &org, &own, FR).await;
        }
        assert_eq!(lots(&world, &org, FR).await, [Value::Null; 0], "{prefix}");
    }
    verify(&world);
}

async fn a_check_changes_nothing_and_says_the_same(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let (own, ids) = with(&world, &org, FR, 2).await;
    let used = esim(&world, &org).await;
    consume(&world, &org, &used, 5_000).await;
    let before = world.home.dump().await;
    for (version, prefix) in prefixes() {
        for (esim, rest, said) in [
            (&own, format!("{}?type=validate", FR.name), TO_INVENTORY),
            (&own, format!("{}?type=validate&refundToBalance=true", FR.name), TO_BALANCE),
            (&own, format!("{}?type=validate&offerId={}", FR.name, ids[1]), TO_INVENTORY),
            (&used, format!("{}?type=validate&refundToBalance=true", PT.name), NOTHING),
        ] {
            assert_eq!(revoke(&world, &org, prefix, (esim, &rest)).await, said, "{prefix} {rest}");
        }
        for path in paths(version) {
            let rest = format!("{}/{path}/{}?type=validate", FR.name, ids[1]);
            assert_eq!(revoke(&world, &org, prefix, (&own, &rest)).await, TO_INVENTORY);
        }
        let gone = format!("{}?type=validate&offerId=1", FR.name);
        let refusal = world.node.send(&take_off(&org, prefix, &own, &gone)).await;
        refusal.refused(400, "unknown-assignment");
        for (query, name) in [
            ("type=Validate", "type"),
            ("type=check", "type"),
            ("refundToBalance=yes", "refundToBalance"),
            ("refundToBalance=1", "refundToBalance"),
        ] {
            let rest = format!("{}?{query}", FR.name);
            let refusal = world.node.send(&take_off(&org, prefix, &own, &rest)).await;
            let text = refusal.refused(400, "invalid-parameter");
            assert_eq!(text, format!("invalid {name}"), "{prefix} {query}");
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn an_unused_bundle_goes_back_into_its_lot(home: Home) {
    let world = open(home, 10).await;
    for (_, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let own = esim(&world, &org).await;
        stock_up(&world, &org, &[(FR, 2)]).await;
        advance(&world, &org, DAY).await;
        stock_up(&world, &org, &[(FR, 2)]).await;
        let before = has(&world, &org).await;
        let id = put_onto(&world, &org, &own, FR).await;
        advance(&world, &org, 10 * DAY).await;
        assert_ne!(has(&world, &org).await.inventory, before.inventory);
        assert_eq!(revoke(&world, &org, prefix, (&own, FR.name)).await, TO_INVENTORY, "{prefix}");
        let after = has(&world, &org).await;
        assert_eq!(after.inventory, before.inventory, "its old lot and date: {prefix}");
        assert_eq!((after.balance, after.entries), (before.balance, before.entries), "{prefix}");
        assert_eq!(state(&world, &org, &own, &id).await, "revoked");
        let history = happened(&world, &org, &own).await;
        assert_eq!(history[..2], ["Bundle Refunded to Inventory", "Bundle Revoked"], "{prefix}");
        assert_eq!(esims(&world, &org).await[0]["lastAction"], "Bundle Refund", "{prefix}");
        // And can be used again.
        put_onto(&world, &org, &own, FR).await;
    }
    verify(&world);
}

async fn what_was_bought_for_an_esim_becomes_a_lot_of_its_own(home: Home) {
    let world = open(home, 10).await;
    for (_, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let own = esim(&world, &org).await;
        let bought = listed(&world, &org, "?limit=1").await.remove(0);
        let bought = domain::Timestamp::parse(&text(&bought["createdDate"])).expect("a time");
        assert!(inventory(&world, &org).await.is_empty());
        advance(&world, &org, 30 * DAY).await;
        assert_eq!(revoke(&world, &org, prefix, (&own, PT.name)).await, TO_INVENTORY, "{prefix}");
        let lot = lots(&world, &org, PT).await.remove(0);
        assert_eq!((&lot["total"], &lot["remaining"]), (&json!(1), &json!(1)), "{prefix}");
        let expiry = bought.plus_ms(365 * DAY * 1_000).to_string();
        assert_eq!(lot["expiry"], expiry, "its old date: {prefix}");
        // Its old price as well.
        let before = balance(&world, &org).await;
        give_back(&world, &org, lot["id"].as_i64().expect("whole"), 1).await;
        assert_eq!(balance(&world, &org).await, before + PT.price, "{prefix}");
    }
    verify(&world);
}

async fn money_comes_back_if_that_is_wanted(home: Home) {
    let world = open(home, 20).await;
    for (version, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let (own, ids) = with(&world, &org, FR, 2).await;
        let mut ways = vec![(FR, format!("{}?refundToBalance=true", FR.name))];
        let path = paths(version).last().expect("a path");
        ways.push((FR, format!("{}/{path}/{}?refundToBalance=true", FR.name, ids[1])));
        ways.push((PT, format!("{}?refundToBalance=true&type=transaction", PT.name)));
        for (good, rest) in ways {
            let before = has(&world, &org).await;
            let said = revoke(&world, &org, prefix, (&own, &rest)).await;
            assert_eq!(said, TO_BALANCE, "{prefix} {rest}");
            let after = has(&world, &org).await;
            assert_eq!(after.balance, before.balance + good.price, "{prefix} {rest}");
            assert_eq!(after.inventory, before.inventory, "{prefix} {rest}");
            let moves = moves([("refunds", -good.price), ("available", good.price)]);
            assert_eq!(moved(&world, &org, "refund").await, moves, "{prefix}");
            let order = listed(&world, &org, "?limit=1").await.remove(0);
            assert_eq!(after.orders, before.orders + 1);
            let item = &order["order"][0];
            assert_eq!(
                (&item["type"], &item["item"], &item["quantity"]),
                (&json!("bundleRefund"), &json!(good.name), &json!(1)),
                "{prefix}"
            );
            assert_eq!(order["statusMessage"], "Refund completed");
            let history = happened(&world, &org, &own).await;
            assert_eq!(history[..2], ["Bundle Refunded To Balance", "Bundle Revoked"]);
            let (kind, _) = events(&world, &org).await.pop().expect("an event");
            assert_eq!(kind, "order.completed", "{prefix}");
        }
        let states = states(&world, &org, &own).await;
        assert!(states.iter().all(|(_, state)| state == "revoked"), "{states:?}");
    }
    verify(&world);
}

async fn what_has_started_gives_nothing_back(home: Home) {
    let world = open(home, 20).await;
    for (_, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        for query in ["", "?refundToBalance=true"] {
            let own = esim(&world, &org).await;
            consume(&world, &org, &own, 1).await;
            let before = has(&world, &org).await;
            let rest = format!("{}{query}", PT.name);
            assert_eq!(revoke(&world, &org, prefix, (&own, &rest)).await, NOTHING, "{prefix}");
            assert_eq!(has(&world, &org).await, before, "{prefix}");
            assert_eq!(happened(&world, &org, &own).await[0], "Bundle Revoked", "{prefix}");
            let listed = esims(&world, &org).await;
            let own = listed.iter().find(|one| one["iccid"] == own).expect("it stays");
            assert_eq!(own["lastAction"], "Bundle Revoked", "{prefix}");
        }
    }
    verify(&world);
}

async fn what_is_too_old_gives_nothing_back(home: Home) {
    let world = open(home, 20).await;
    for (n, (_, prefix)) in prefixes().into_iter().enumerate() {
        let org = reseller(&world, PLENTY).await;
        let days = if n % 2 == 0 { 60 } else { 10 };
        world.change(&org, &json!({"refundDays": days})).await;
        let (own, _) = with(&world, &org, FR, 3).await;
        // The purchase counts, not the apply.
        advance(&world, &org, days * DAY - 60).await;
        assert_eq!(revoke(&world, &org, prefix, (&own, FR.name)).await, TO_INVENTORY, "{prefix}");
        advance(&world, &org, 61).await;
        let before = has(&world, &org).await;
        for rest in [FR.name.to_owned(), format!("{}?refundToBalance=true", FR.name)] {
            assert_eq!(revoke(&world, &org, prefix, (&own, &rest)).await, NOTHING, "{prefix}");
        }
        assert_eq!(has(&world, &org).await, before, "{prefix}");
        assert_eq!(happened(&world, &org, &own).await[..2], ["Bundle Revoked", "Bundle Revoked"]);
    }
    verify(&world);
}

async fn where_refunds_are_off_nothing_comes_back(home: Home) {
    let world = open(home, 10).await;
    for (_, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let (own, _) = with(&world, &org, FR, 2).await;
        world.change(&org, &json!({"refundDays": 0})).await;
        let before = has(&world, &org).await;
        for rest in [FR.name.to_owned(), format!("{}?refundToBalance=true", FR.name)] {
            assert_eq!(revoke(&world, &org, prefix, (&own, &rest)).await, NOTHING, "{prefix}");
        }
        assert_eq!(has(&world, &org).await, before, "{prefix}");
    }
    verify(&world);
}

async fn what_was_given_goes_back_but_is_not_paid_for(home: Home) {
    let world = open(home, 10).await;
    for (_, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let own = esim(&world, &org).await;
        grant(&world, &org, FR, 2).await;
        let before = has(&world, &org).await;
        for query in ["", "?refundToBalance=true"] {
            put_onto(&world, &org, &own, FR).await;
            let rest = format!("{}{query}", FR.name);
            assert_eq!(revoke(&world, &org, prefix, (&own, &rest)).await, TO_INVENTORY, "{prefix}");
            let after = has(&world, &org).await;
            assert_eq!((&after.inventory, after.balance), (&before.inventory, before.balance));
        }
        assert!(!entries(&world, &org).await.contains(&"refund".to_owned()), "{prefix}");
    }
    verify(&world);
}

async fn what_is_being_processed_can_be_taken_off(home: Home) {
    let world = open(home, 60).await;
    for (_, prefix) in since("v2.2") {
        let org = reseller(&world, PLENTY).await;
        stock_up(&world, &org, &[(FR, 6)]).await;
        hold(&world, &org, true).await;
        let body = json!({"bundle": FR.name, "repeat": 6});
        let fresh = crate::desk::applied(&put_on(&world, &org, prefix, &body).await);
        assert_eq!(states(&world, &org, &fresh[2]).await[0].1, "processing");
        let before = world.home.dump().await;
        let rest = format!("{}?type=validate", FR.name);
        assert_eq!(revoke(&world, &org, prefix, (&fresh[2], &rest)).await, TO_INVENTORY);
        assert_eq!(world.home.dump().await, before, "{prefix}");
        let said = revoke(&world, &org, prefix, (&fresh[2], FR.name)).await;
        assert_eq!(said, TO_INVENTORY, "{prefix}");
        hold(&world, &org, false).await;
        settle(&world, &org).await;
        assert_eq!(states(&world, &org, &fresh[2]).await[0].1, "revoked", "{prefix}");
        assert_eq!(states(&world, &org, &fresh[3]).await[0].1, "queued", "{prefix}");
        assert_eq!(lots(&world, &org, FR).await[0]["remaining"], 1, "{prefix}");
    }
    verify(&world);
}

async fn what_is_not_there_cannot_be_taken_off(home: Home) {
    let world = open(home, 10).await;
    let (org, other) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let (own, ids) = with(&world, &org, FR, 2).await;
    revoke(&world, &org, "/v2.5", (&own, &format!("{}?offerId={}", FR.name, ids[0]))).await;
    let elsewhere = esim_with(&world, &org, FR).await;
    let elsewhere = text(&latest(&world, &org, &elsewhere, FR).await["id"]);
    let (_, theirs) = with(&world, &other, FR, 1).await;
    let before = world.home.dump().await;
    for (version, prefix) in prefixes() {
        let mut answers = Vec::new();
        for id in [
            ids[0].as_str(), // taken off before
            &elsewhere,
            &theirs[0],
            "999999999",
            "0",
            "-1",
            "x",
            "99999999999999999999",
            "1.0",
            "%20",
        ] {
            let mut ways: Vec<_> =
                paths(version).iter().map(|path| format!("{}/{path}/{id}", FR.name)).collect();
            ways.push(format!("{}?offerId={id}", FR.name));
            for way in ways {
                let mut refusal = world.node.send(&take_off(&org, prefix, &own, &way)).await;
                refusal.headers.retain(|(name, _)| name != "deprecation");
                answers.push(refusal);
            }
        }
        // The number is right, the name is not.
        for name in [PT.name, "ESIM_1GB_7D_FR_V2", "esim_x", "%20"] {
            let path = paths(version)[0];
            let rest = format!("{name}/{path}/{}", ids[1]);
            let mut refusal = world.node.send(&take_off(&org, prefix, &own, &rest)).await;
            refusal.headers.retain(|(name, _)| name != "deprecation");
            answers.push(refusal);
        }
        for name in ["esim_x", "esim_3GB_30D_PT_V2", "%00"] {
            answers.push(world.node.send(&take_off(&org, prefix, &own, name)).await);
        }
        assert_eq!(alike(answers, 400, "unknown-assignment"), "assignment not found", "{prefix}");
    }
    assert_eq!(world.home.dump().await, before);
}
