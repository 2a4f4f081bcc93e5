//! `POST /esims/apply` and the old apply: bundles of the inventory on eSIMs, in every form.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::desk::{
    applied, apply, apply_reference, apply_to_one, esim, esims, grant, happened, latest, on, phone,
    put_on, put_onto, since, states, stock_up, text,
};
use crate::harness::{Home, Org, World};
use crate::money::{advance, events, prefixes, settle};
use crate::shop::{
    DE, FR, Good, Has, IE_IN_EUROS, OTHER_PROFILE, PLENTY, PROFILE, PT, US, catalogue, fill, has,
    hold, iccid, inventory, listed, lots, matching_id, now, open, reseller, stock, verify,
};

crate::on_both! {
    a_bundle_goes_onto_the_esim_that_is_named,
    without_an_esim_each_bundle_gets_a_new_one,
    an_apply_is_an_order_from_its_version_on,
    an_apply_of_an_early_version_is_in_no_list,
    more_than_five_are_applied_later,
    early_versions_finish_any_number_before_they_answer,
    what_is_not_done_in_ten_minutes_is_undone,
    the_old_apply_repeats_on_one_esim,
    a_bundle_that_does_not_fit_gets_a_new_esim_if_that_is_allowed,
    a_bundle_starts_when_it_is_asked_to,
    a_time_is_ignored_by_what_starts_by_itself,
    the_time_at_the_top_is_the_default_of_the_elements,
    what_expires_first_is_used_first,
    what_lies_in_the_inventory_can_be_applied_though_it_is_not_for_sale,
}

const DAY: i64 = 86_400;
const DONE: &str = "Successfully Applied Bundle";

/// How many of a bundle are in the inventory.
async fn left(world: &World, org: &Org, good: Good) -> i64 {
    let lots = lots(world, org, good).await;
    lots.iter().map(|lot| lot["remaining"].as_i64().expect("whole")).sum()
}

/// The rows of an answer, all of which say that; the names of bundles from v2.4 on.
fn rows(answer: &Value, prefix: &str, status: &str, bundles: &[&str]) -> Vec<String> {
    let iccids = applied(answer);
    let row = |(iccid, bundle): (&String, &&str)| {
        if prefix >= "/v2.4" {
            json!({"iccid": iccid, "status": status, "bundle": bundle})
        } else {
            json!({"iccid": iccid, "status": status})
        }
    };
    let wanted: Vec<_> = iccids.iter().zip(bundles).map(row).collect();
    let reference = apply_reference(answer);
    let wanted = json!({"esims": wanted, "applyReference": reference});
    assert_eq!((answer, iccids.len()), (&wanted, bundles.len()), "{prefix}");
    let is_v4 = reference.len() == 36 && reference.as_bytes()[14] == b'4';
    assert!(is_v4, "{reference}");
    iccids
}

async fn a_bundle_goes_onto_the_esim_that_is_named(home: Home) {
    let world = open(home, 2).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    stock_up(&world, &org, &[(FR, 40)]).await;
    let mut on_it = 1;
    for (_, prefix) in since("v2.1") {
        for body in [
            json!({"iccid": own, "bundle": FR.name}),
            json!({"iccid": own, "name": FR.name}),
            json!({"iccid": own, "name": FR.name, "bundle": FR.name}),
            json!({"ICCID": format!("{own}F"), "Bundle": FR.name, "REPEAT": 0, "other": [1]}),
            json!({"iccid": own, "bundle": FR.name, "repeat": null, "bundles": null,
                   "startTime": "", "allowReassign": true}),
            json!({"iccid": own, "bundle": FR.name, "bundles": []}),
        ] {
            let before = (left(&world, &org, FR).await, stock(&world, PROFILE).await);
            let answer = put_on(&world, &org, prefix, &body).await;
            assert_eq!(
                rows(&answer, prefix, DONE, &[FR.name]),
                std::slice::from_ref(&own),
                "{body}"
            );
            on_it += 1;
            let all = states(&world, &org, &own).await;
            assert_eq!(all.len(), on_it, "{prefix} {body}");
            assert_eq!(all[on_it - 1].1, "queued");
            let reference = format!("{}-0", apply_reference(&answer));
            let newest = latest(&world, &org, &own, FR).await;
            assert_eq!(newest["assignmentReference"], reference);
            let after = (left(&world, &org, FR).await, stock(&world, PROFILE).await);
            assert_eq!((after.0 + 1, after.1), before, "{prefix} {body}");
            assert_eq!(happened(&world, &org, &own).await[0], "Bundle Applied");
        }
    }
    verify(&world);
}

async fn without_an_esim_each_bundle_gets_a_new_one(home: Home) {
    let world = open(home, 120).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 60), (FR, 60)]).await;
    let mut next = 1;
    let (pt, fr) = (PT.name, FR.name);
    for (_, prefix) in since("v2.1") {
        for (body, wanted) in [
            (json!({"bundle": pt}), vec![pt]),
            (json!({"iccid": "", "name": fr, "repeat": 0}), vec![fr]),
            (json!({"bundle": pt, "repeat": 1}), vec![pt]),
            (json!({"bundle": pt, "repeat": 3}), vec![pt, pt, pt]),
            (json!({"bundles": [pt, fr, pt]}), vec![pt, fr, pt]),
            (json!({"bundles": [{"name": fr}, {"bundle": pt, "iccid": ""}]}), vec![fr, pt]),
            (
                json!({"bundles": [pt, {"name": fr, "repeat": 2}, {"NAME": pt, "repeat": 0}],
                    "repeat": 0, "bundle": ""}),
                vec![pt, fr, fr, pt],
            ),
        ] {
            let before = (left(&world, &org, PT).await, left(&world, &org, FR).await);
            let had = (esims(&world, &org).await.len(), stock(&world, PROFILE).await);
            let answer = put_on(&world, &org, prefix, &body).await;
            let fresh = rows(&answer, prefix, DONE, &wanted);
            let of_stock: Vec<_> = (next..next + wanted.len()).map(iccid).collect();
            assert_eq!(fresh, of_stock, "{prefix} {body}");
            next += wanted.len();
            for (n, (esim, bundle)) in fresh.iter().zip(&wanted).enumerate() {
                let all = on(&world, &org, esim).await;
                assert_eq!(all.len(), 1);
                let reference = format!("{}-{n}", apply_reference(&answer));
                assert_eq!(
                    (all[0].0.as_str(), &all[0].1["assignmentReference"]),
                    (*bundle, &json!(reference)),
                    "{prefix} {body}"
                );
            }
            let count =
                |name: &str| i64::try_from(wanted.iter().filter(|one| **one == name).count());
            let after = (left(&world, &org, PT).await, left(&world, &org, FR).await);
            assert_eq!((Ok(before.0 - after.0), Ok(before.1 - after.1)), (count(pt), count(fr)));
            let has = (esims(&world, &org).await.len(), stock(&world, PROFILE).await);
            assert_eq!(has.0, had.0 + wanted.len());
            assert_eq!(Ok(had.1 - has.1), i64::try_from(wanted.len()));
        }
    }
    verify(&world);
}

/// An item of an order as a version shows it.
fn item(prefix: &str, reference: &str, n: usize, number: usize) -> Value {
    let mut item = json!({
        "type": "bundleAssignment", "item": format!("{reference}-{n}"), "quantity": 0,
        "subTotal": 0, "pricePerUnit": 0,
    });
    if prefix >= "/v2.2" {
        let (iccid, code) = (iccid(number), matching_id(number));
        item["iccids"] = json!([iccid]);
        item["esims"] = json!([{"iccid": iccid, "matchingId": code, "smdpAddress": "rsp.example"}]);
    }
    if prefix >= "/v2.4" {
        item["AllowReassign"] = json!(false);
    }
    item
}

async fn an_apply_is_an_order_from_its_version_on(home: Home) {
    let world = open(home, 20).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 10), (FR, 10)]).await;
    let balance = has(&world, &org).await.balance;
    for (n, (_, prefix)) in since("v2.2").enumerate() {
        let body = json!({"bundles": [PT.name, FR.name]});
        let reference = apply_reference(&put_on(&world, &org, prefix, &body).await);
        let first = 2 * n + 1;
        // Once it exists, it is seen in every version.
        for (_, shown_in) in prefixes() {
            let query = if shown_in == "/v2.2" { "?includeIccids=true" } else { "" };
            let target = format!("{shown_in}/orders/{reference}{query}");
            let order = world.get(&target, &org.key).await.json_of(200);
            let items =
                [item(shown_in, &reference, 0, first), item(shown_in, &reference, 1, first + 1)];
            assert_eq!(order["order"], json!(items), "{shown_in}");
            assert_eq!((&order["total"], &order["status"]), (&json!(0), &json!("completed")));
            assert_eq!(order["statusMessage"], "Order completed: 2 eSIMs assigned");
            let page = world.get(&format!("{shown_in}/orders"), &org.key).await.json_of(200);
            let page = if shown_in < "/v2.2" { &page } else { &page["orders"] };
            assert_eq!(page[0]["orderReference"], reference, "{shown_in}");
            if shown_in == "/v2.5" {
                assert_eq!(
                    (&order["assigned"], &order["runningBalance"]),
                    (&json!(true), &json!("956.1"))
                );
            }
        }
        let (kind, data) = events(&world, &org).await.pop().expect("an event");
        assert_eq!(
            (kind.as_str(), &data["orderReference"]),
            ("order.completed", &json!(reference)),
            "{prefix}"
        );
    }
    let Has { balance: after, orders, .. } = has(&world, &org).await;
    assert_eq!((after, orders), (balance, 5));
    verify(&world);
}

async fn an_apply_of_an_early_version_is_in_no_list(home: Home) {
    let world = open(home, 20).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    stock_up(&world, &org, &[(PT, 20)]).await;
    let (before, told) = (listed(&world, &org, "").await, events(&world, &org).await);
    let answer = put_on(&world, &org, "/v2.1", &json!({"bundle": PT.name, "repeat": 7})).await;
    rows(&answer, "/v2.1", DONE, &[PT.name; 7]);
    for prefix in ["/v2", "/v2.0", "/v2.1"] {
        let request = apply_to_one(&org, prefix, &own, &json!({"name": PT.name}));
        world.node.send(&request).await.expect(200);
    }
    assert_eq!((listed(&world, &org, "").await, events(&world, &org).await), (before, told));
    for (_, prefix) in prefixes() {
        let target = format!("{prefix}/orders/{}", apply_reference(&answer));
        let refusal = world.get(&target, &org.key).await;
        assert_eq!(refusal.refused(400, "unknown-order"), "order not found", "{prefix}");
        let page = world.get(&format!("{prefix}/orders"), &org.key).await.text();
        assert!(!page.contains("bundleAssignment"), "{prefix}: {page}");
    }
    verify(&world);
}

async fn more_than_five_are_applied_later(home: Home) {
    let world = open(home, 60).await;
    for (_, prefix) in since("v2.2") {
        let org = reseller(&world, PLENTY).await;
        stock_up(&world, &org, &[(PT, 20), (FR, 20)]).await;
        hold(&world, &org, true).await;
        let five = put_on(&world, &org, prefix, &json!({"bundle": PT.name, "repeat": 5})).await;
        rows(&five, prefix, DONE, &[PT.name; 5]);
        let six = [PT.name, FR.name, FR.name, FR.name, FR.name, FR.name];
        let body = json!({"bundles": [PT.name, {"name": FR.name, "repeat": 5}]});
        let answer = put_on(&world, &org, prefix, &body).await;
        let fresh = rows(&answer, prefix, "Processing", &six);
        let reference = apply_reference(&answer);
        let order = listed(&world, &org, "?status=eq:processing").await;
        assert_eq!((order.len(), &order[0]["orderReference"]), (1, &json!(reference)));
        assert_eq!(order[0]["statusMessage"], "Order processing", "{prefix}");
        assert_eq!(crate::shop::iccids(&order[0]), fresh, "reserved at once");
        assert_eq!((left(&world, &org, PT).await, left(&world, &org, FR).await), (14, 15));
        for esim in &fresh {
            let all = states(&world, &org, esim).await;
            assert_eq!(all[0].1, "processing", "{prefix}");
            // It can be installed meanwhile.
            phone(&world, &org, esim, "install", &json!({})).await;
        }
        settle(&world, &org).await;
        assert_eq!(states(&world, &org, &fresh[0]).await[0].1, "processing", "it is held");
        hold(&world, &org, false).await;
        settle(&world, &org).await;
        for (n, esim) in fresh.iter().enumerate() {
            let all = on(&world, &org, esim).await;
            assert_eq!((all[0].0.as_str(), &all[0].1["bundleState"]), (six[n], &json!("queued")));
            assert_eq!(all[0].1["assignmentReference"], format!("{reference}-{n}"));
            assert_eq!(happened(&world, &org, esim).await, ["Bundle Applied"]);
        }
        let order = crate::shop::seen(&world, &org, &reference).await;
        assert_eq!(order["status"], "completed");
        assert_eq!(order["statusMessage"], "Order completed: 6 eSIMs assigned");
    }
    verify(&world);
}

async fn early_versions_finish_any_number_before_they_answer(home: Home) {
    let world = open(home, 12).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    stock_up(&world, &org, &[(PT, 60)]).await;
    hold(&world, &org, true).await;
    let answer = put_on(&world, &org, "/v2.1", &json!({"bundle": PT.name, "repeat": 10})).await;
    for esim in rows(&answer, "/v2.1", DONE, &[PT.name; 10]) {
        assert_eq!(states(&world, &org, &esim).await[0].1, "queued");
    }
    for (n, prefix) in ["/v2", "/v2.0", "/v2.1"].into_iter().enumerate() {
        let body = json!({"name": PT.name, "repeat": 8});
        let told = world.node.send(&apply_to_one(&org, prefix, &own, &body)).await.json_of(200);
        assert_eq!(told, json!({ "status": DONE }), "{prefix}");
        let all = states(&world, &org, &own).await;
        assert_eq!(all.len(), 1 + 8 * (n + 1));
        assert!(all.iter().all(|(_, state)| state == "queued"), "{all:?}");
    }
}

async fn what_is_not_done_in_ten_minutes_is_undone(home: Home) {
    let world = open(home, 20).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    stock_up(&world, &org, &[(PT, 20)]).await;
    let before = has(&world, &org).await;
    hold(&world, &org, true).await;
    let answer = put_on(&world, &org, "/v2.5", &json!({"bundle": PT.name, "repeat": 7})).await;
    let body = json!({"name": PT.name, "repeat": 6});
    let told = world.node.send(&apply_to_one(&org, "/v2.5", &own, &body)).await.json_of(200);
    assert_eq!(told, json!({"status": "Processing"}));
    assert_eq!(left(&world, &org, PT).await, 7);
    advance(&world, &org, 601).await;
    hold(&world, &org, false).await;
    settle(&world, &org).await;
    let failed = listed(&world, &org, "?status=eq:failed").await;
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert_eq!(failed[0]["statusMessage"], "Order processing failed");
    let after = has(&world, &org).await;
    assert_eq!(
        (after.inventory, after.stock, after.balance),
        (before.inventory, before.stock, before.balance)
    );
    let listed: Vec<_> = esims(&world, &org).await.iter().map(|one| text(&one["iccid"])).collect();
    assert_eq!(listed, std::slice::from_ref(&own));
    for esim in applied(&answer) {
        let refusal = world.get(&format!("/v2.5/esims/{esim}"), &org.key).await;
        refusal.refused(403, "not-your-esim");
    }
    let states = states(&world, &org, &own).await;
    let states: Vec<_> = states.iter().map(|(_, state)| state.as_str()).collect();
    assert_eq!(
        states,
        ["queued", "revoked", "revoked", "revoked", "revoked", "revoked", "revoked"]
    );
    verify(&world);
}

async fn the_old_apply_repeats_on_one_esim(home: Home) {
    let world = open(home, 10).await;
    for (version, prefix) in prefixes() {
        let org = reseller(&world, PLENTY).await;
        let own = esim(&world, &org).await;
        stock_up(&world, &org, &[(FR, 20)]).await;
        let before = has(&world, &org).await;
        let mut count = 1;
        for (body, more) in [
            (json!({"name": FR.name}), 1),
            (json!({"bundle": FR.name, "repeat": 0, "startTime": null}), 1),
            (json!({"NAME": FR.name, "bundle": FR.name, "repeat": 1}), 1),
            (json!({"name": FR.name, "repeat": 5}), 5),
        ] {
            let request = apply_to_one(&org, prefix, &own, &body);
            let answer = world.node.send(&request).await;
            assert_eq!(answer.header("deprecation").is_some(), version.name() >= "v2.1");
            assert_eq!(answer.json_of(200), json!({ "status": DONE }), "{prefix} {body}");
            count += more;
            assert_eq!(states(&world, &org, &own).await.len(), count, "{prefix} {body}");
        }
        let six = apply_to_one(&org, prefix, &own, &json!({"name": FR.name, "repeat": 6}));
        let status = if version.name() >= "v2.2" { "Processing" } else { DONE };
        let answer = world.node.send(&six).await.json_of(200);
        assert_eq!(answer, json!({ "status": status }), "{prefix}");
        settle(&world, &org).await;
        assert_eq!(states(&world, &org, &own).await.len(), count + 6);
        let after = has(&world, &org).await;
        let made = if version.name() >= "v2.2" { 5 } else { 0 };
        assert_eq!((after.orders, after.stock), (before.orders + made, before.stock), "{prefix}");
        assert_eq!(left(&world, &org, FR).await, 6, "{prefix}");
        if made > 0 {
            let order = listed(&world, &org, "?limit=1").await.remove(0);
            assert_eq!(order["order"].as_array().map(Vec::len), Some(6), "one item each");
            assert_eq!(crate::shop::iccids(&order), vec![own; 6]);
        }
    }
    verify(&world);
}

async fn a_bundle_that_does_not_fit_gets_a_new_esim_if_that_is_allowed(home: Home) {
    let world = open(home, 2).await;
    fill(&world, 101..120, OTHER_PROFILE).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    stock_up(&world, &org, &[(US, 20), (FR, 20)]).await;
    for (n, (_, prefix)) in since("v2.1").enumerate() {
        let body = json!({"iccid": own, "bundle": US.name, "allowReassign": true});
        let answer = put_on(&world, &org, prefix, &body).await;
        let other = rows(&answer, prefix, DONE, &[US.name]).remove(0);
        assert_eq!(other, iccid(101 + 2 * n), "{prefix}");
        // What fits stays where it is meant to be, whatever is allowed.
        let body = json!({"iccid": own, "bundle": FR.name, "AllowReassign": true});
        let answer = put_on(&world, &org, prefix, &body).await;
        assert_eq!(applied(&answer), std::slice::from_ref(&own), "{prefix}");
        // And onto the new one the bundle fits.
        let body = json!({"iccid": other, "bundle": US.name});
        assert_eq!(applied(&put_on(&world, &org, prefix, &body).await), [other], "{prefix}");
        if prefix >= "/v2.2" {
            let order = listed(&world, &org, "?limit=2").await.remove(1);
            assert_eq!(order["order"][0]["AllowReassign"], true, "{prefix}");
        }
        // New eSIMs are taken from the stock that fits.
        let both = json!({"bundles": [US.name], "allowReassign": true});
        let fresh = applied(&put_on(&world, &org, prefix, &both).await);
        assert_eq!(fresh, [iccid(102 + 2 * n)], "{prefix}");
    }
    verify(&world);
}

fn ms(value: &Value) -> i64 {
    Timestamp::parse(&text(value)).expect("a time").ms()
}

async fn a_bundle_starts_when_it_is_asked_to(home: Home) {
    let world = open(home, 40).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 40), (FR, 40)]).await;
    for (_, prefix) in since("v2.1") {
        let clock = now(&world, &org).await;
        let wanted = clock.plus_ms(3 * DAY * 1_000).ms() / 1_000 * 1_000;
        let later = Timestamp::from_ms(wanted).to_string();
        let past = clock.plus_ms(-DAY * 1_000).to_string();
        let apply = async |start: &str| {
            let body = json!({"bundle": PT.name, "startTime": start});
            applied(&put_on(&world, &org, prefix, &body).await).remove(0)
        };
        let (at_once, waiting, plain) = (apply(&past).await, apply(&later).await, apply("").await);
        let shown = latest(&world, &org, &at_once, PT).await;
        assert_eq!(shown["bundleState"], "active", "{prefix}");
        let started = ms(&shown["startTime"]);
        assert!((clock.ms()..clock.ms() + 60_000).contains(&started), "the past means now");
        assert_eq!(ms(&shown["endTime"]) - started, 7 * DAY * 1_000, "{prefix}");
        for esim in [&waiting, &plain] {
            let shown = latest(&world, &org, esim, PT).await;
            assert_eq!(
                (&shown["bundleState"], &shown["startTime"], &shown["endTime"]),
                (&json!("queued"), &Value::Null, &Value::Null),
                "{prefix}"
            );
        }
        // Behind one that is active it starts when that one ends.
        let body = json!({"name": FR.name, "startTime": later});
        world.node.send(&apply_to_one(&org, prefix, &at_once, &body)).await.expect(200);
        advance(&world, &org, 3 * DAY).await;
        let shown = latest(&world, &org, &waiting, PT).await;
        assert_eq!((&shown["bundleState"], ms(&shown["startTime"])), (&json!("active"), wanted));
        assert_eq!(latest(&world, &org, &plain, PT).await["bundleState"], "queued");
        assert_eq!(latest(&world, &org, &at_once, FR).await["bundleState"], "queued");
        advance(&world, &org, 4 * DAY).await;
        let shown = latest(&world, &org, &at_once, FR).await;
        assert_eq!(
            (&shown["bundleState"], ms(&shown["startTime"])),
            (&json!("active"), started + 7 * DAY * 1_000),
            "{prefix}"
        );
    }
    // Any zone, in v2.0 as well; only the instant counts.
    let own = esim(&world, &org).await;
    let zoned = json!({"name": FR.name, "startTime": "2999-05-04T10:15:00.25+02:00"});
    world.node.send(&apply_to_one(&org, "/v2.0", &own, &zoned)).await.expect(200);
    assert_eq!(latest(&world, &org, &own, FR).await["bundleState"], "queued");
}

async fn a_time_is_ignored_by_what_starts_by_itself(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(DE, 20)]).await;
    for (_, prefix) in since("v2.1") {
        let later = now(&world, &org).await.plus_ms(DAY * 1_000).to_string();
        let body = json!({"bundle": DE.name, "startTime": later});
        let own = applied(&put_on(&world, &org, prefix, &body).await).remove(0);
        assert_eq!(latest(&world, &org, &own, DE).await["bundleState"], "active", "{prefix}");
        let odd = json!({"bundle": DE.name, "startTime": "soon"});
        let refusal = world.node.send(&apply(&org, prefix, &odd)).await;
        assert_eq!(refusal.refused(400, "invalid-start-time"), "invalid startTime", "{prefix}");
    }
}

async fn the_time_at_the_top_is_the_default_of_the_elements(home: Home) {
    let world = open(home, 10).await;
    fill(&world, 101..110, OTHER_PROFILE).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 20)]).await;
    let past = now(&world, &org).await.plus_ms(-1_000).to_string();
    let later = now(&world, &org).await.plus_ms(DAY * 1_000).to_string();
    let body = json!({"startTime": past, "bundles": [
        PT.name, {"name": PT.name}, {"name": PT.name, "startTime": later},
        {"name": PT.name, "startTime": ""},
    ]});
    let fresh = applied(&put_on(&world, &org, "/v2.5", &body).await);
    let mut found = Vec::new();
    for esim in &fresh {
        found.push(text(&latest(&world, &org, esim, PT).await["bundleState"]));
    }
    assert_eq!(found, ["active", "active", "queued", "active"]);
    let body = json!({"allowReassign": true, "bundles": [
        {"name": PT.name}, {"name": PT.name, "allowReassign": false},
    ]});
    put_on(&world, &org, "/v2.5", &body).await;
    let order = listed(&world, &org, "?limit=1").await.remove(0);
    let flags = [&order["order"][0]["AllowReassign"], &order["order"][1]["AllowReassign"]];
    assert_eq!(flags, [&json!(true), &json!(false)]);
}

async fn what_expires_first_is_used_first(home: Home) {
    let world = open(home, 30).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    grant(&world, &org, FR, 2).await;
    advance(&world, &org, DAY).await;
    stock_up(&world, &org, &[(FR, 3)]).await;
    advance(&world, &org, DAY).await;
    stock_up(&world, &org, &[(FR, 3)]).await;
    let remaining = async || {
        let lots = lots(&world, &org, FR).await;
        lots.iter().map(|lot| lot["remaining"].as_i64().expect("whole")).collect::<Vec<_>>()
    };
    assert_eq!(remaining().await, [2, 3, 3]);
    put_onto(&world, &org, &own, FR).await;
    assert_eq!(remaining().await, [1, 3, 3]);
    // Across lots within one request.
    put_on(&world, &org, "/v2.1", &json!({"bundle": FR.name, "repeat": 3})).await;
    assert_eq!(remaining().await, [1, 3], "what is used up is not listed");
    put_on(&world, &org, "/v2.3", &json!({"bundles": [FR.name, FR.name]})).await;
    assert_eq!(remaining().await, [2]);
    advance(&world, &org, 365 * DAY).await;
    assert!(inventory(&world, &org).await.is_empty());
    let refusal = world.node.send(&apply(&org, "/v2.5", &json!({"bundle": FR.name}))).await;
    refusal.refused(403, "no-bundles-left");
    verify(&world);
}

async fn what_lies_in_the_inventory_can_be_applied_though_it_is_not_for_sale(home: Home) {
    let world = open(home, 20).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 10)]).await;
    // Priced in another currency, and given; bought, and withdrawn since.
    grant(&world, &org, IE_IN_EUROS, 5).await;
    let mut withdrawn = catalogue()["bundles"][0].clone();
    withdrawn["withdrawn"] = json!(true);
    world.order("POST", "/catalogue", &json!({ "bundles": [withdrawn] })).await.expect(200);
    for (_, prefix) in since("v2.1") {
        for good in [IE_IN_EUROS, PT] {
            let answer = put_on(&world, &org, prefix, &json!({"bundle": good.name})).await;
            rows(&answer, prefix, DONE, &[good.name]);
        }
    }
    assert_eq!(left(&world, &org, PT).await, 5);
    put_on(&world, &org, "/v2.1", &json!({"bundle": PT.name, "repeat": 5})).await;
    for good in [PT, IE_IN_EUROS] {
        // Now it is neither here nor there.
        let refusal = world.node.send(&apply(&org, "/v2.5", &json!({"bundle": good.name}))).await;
        let text = refusal.refused(400, "unknown-bundle");
        assert_eq!(text, format!("bundle not found: {}", good.name));
    }
    verify(&world);
}
