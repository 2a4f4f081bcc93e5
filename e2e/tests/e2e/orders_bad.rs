//! Orders that break a rule: each is refused by its name, and nothing changes.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::harness::{Home, Request, World};
use crate::money::{balance, events, prefixes};
use crate::shop::{
    ES, FR, Good, IE_IN_EUROS, OTHER_PROFILE, PLENTY, PT, US, buy, checked, credit, fill, has,
    iccid, iccids, into_inventory, onto, onto_new, open, order, reseller, stock, verify,
};

crate::on_both! {
    an_order_that_breaks_a_rule_is_refused_by_name,
    a_body_that_cannot_be_read_is_refused,
    a_type_or_a_list_that_is_missing_is_named,
    a_flag_is_read_by_the_version_that_has_it,
    a_branding_profile_is_known_to_the_newest_version_only,
    an_esim_of_somebody_else_looks_like_none,
    a_dead_esim_takes_no_bundle,
    too_little_money_buys_nothing,
    an_empty_stock_sells_nothing,
    sandboxes_and_live_organisations_have_their_own_stock,
    a_stranger_buys_nothing,
}

/// A broken rule: the items, whether they go onto eSIMs, the code and the text.
type Broken = (Value, bool, &'static str, String);

const RANGE: &str = "quantity must be between 1 and 1000";

fn bundle(quantity: &Value) -> Value {
    json!([{"item": PT.name, "quantity": quantity}])
}

fn unknown(name: &str) -> Broken {
    let items = json!([{"item": name, "quantity": 1}]);
    (items, false, "unknown-bundle", format!("bundle not found: {name}"))
}

/// Rules about names and numbers.
fn broken() -> Vec<Broken> {
    let rule = |items: Value, code, text: &str| (items, false, code, text.to_owned());
    let range = |quantity: Value| rule(bundle(&quantity), "quantity-out-of-range", RANGE);
    let missing =
        |items: Value, name: &str| rule(items, "missing-parameter", &format!("{name} is required"));
    let large: Vec<_> = (0..10).map(|_| json!({"item": PT.name, "quantity": 1_000})).collect();
    let large = [large, vec![json!({"item": FR.name, "quantity": 1})]].concat();
    let mixed = |second: Value| json!([{"item": PT.name, "quantity": 1}, second]);
    let too_large = "an order can hold at most 10000 bundles";
    vec![
        unknown(&PT.name.to_lowercase()),
        unknown(&PT.name.to_uppercase()),
        unknown("esim_1GB_7D_XX_V2"),
        unknown("a name with spaces"),
        unknown(IE_IN_EUROS.name),
        unknown("'; DROP TABLE orders; --"),
        range(json!(0)),
        range(json!(-1)),
        range(json!(1.5)),
        range(json!(1e30)),
        range(json!(1_001)),
        range(json!(i64::MIN)),
        range(json!(u64::MAX)),
        rule(json!(large), "order-too-large", too_large),
        missing(json!([{"item": PT.name}]), "quantity"),
        missing(json!([{"item": PT.name, "quantity": null}]), "quantity"),
        missing(json!([{"quantity": 1}]), "item"),
        missing(json!([{"item": "", "quantity": 1}]), "item"),
        missing(json!([{}]), "item"),
        rule(mixed(json!({"item": FR.name, "quantity": 0})), "quantity-out-of-range", RANGE),
        (
            mixed(json!({"item": "esim_nothing", "quantity": 1})),
            false,
            "unknown-bundle",
            "bundle not found: esim_nothing".to_owned(),
        ),
        rule(
            mixed(json!({"type": "topup", "item": FR.name, "quantity": 1})),
            "invalid-order-type",
            "Invalid Order type",
        ),
        rule(
            json!([{"type": "", "item": PT.name, "quantity": 1}]),
            "invalid-order-type",
            "Invalid Order type",
        ),
    ]
}

/// Rules about eSIMs; the first one is the caller's.
fn broken_esims(own: &[String]) -> Vec<Broken> {
    let one = &own[0];
    let named = |iccids: Value, quantity: i64| {
        let item = json!({"item": PT.name, "quantity": quantity, "iccids": iccids});
        json!([item])
    };
    let onto = |items, code, text: &str| (items, true, code, text.to_owned());
    let mismatch =
        |items| onto(items, "iccids-mismatch", "quantity must match the number of iccids");
    let malformed = |text: Value| onto(named(json!([text]), 1), "invalid-iccid", "invalid iccid");
    let foreign = |items| onto(items, "not-your-esim", "access denied");
    let without = "iccids can only be specified when assign is true";
    let misfit = json!({"item": US.name, "quantity": 1, "iccids": [one]});
    let misfits = "bundle not compatible with esim";
    vec![
        (named(json!([one]), 1), false, "iccids-without-assign", without.to_owned()),
        mismatch(named(json!([one]), 2)),
        mismatch(named(json!([one, one]), 1)),
        mismatch(named(json!([one, ""]), 2)),
        malformed(json!("8943001")),
        malformed(json!("89430010000000264x1")),
        malformed(json!(format!("{one}FF"))),
        malformed(json!(format!(" {one}"))),
        malformed(json!("894300100000002641111")),
        foreign(named(json!([iccid(9_000)]), 1)),
        foreign(named(json!([one, iccid(9_000)]), 2)),
        // In stock, but nobody's yet.
        foreign(named(json!([iccid(2)]), 1)),
        onto(json!([misfit]), "bundle-not-compatible", misfits),
        onto(json!([{"item": PT.name, "quantity": 1}, misfit]), "bundle-not-compatible", misfits),
    ]
}

async fn an_order_that_breaks_a_rule_is_refused_by_name(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let own = iccids(&buy(&world, &org, "/v2.3", &onto_new(&[(PT, 1)])).await);
    let all = [broken(), broken_esims(&own)].concat();
    let told = events(&world, &org).await;
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        for (items, assign, code, text) in &all {
            for kind in ["transaction", "validate"] {
                let body = json!({"type": kind, "assign": assign, "order": items});
                let refusal = world.node.send(&order(&org, prefix, &body)).await;
                let status = if *code == "not-your-esim" { 403 } else { 400 };
                let print = refusal.to_string();
                assert_eq!(refusal.refused(status, code), *text, "{prefix}: {body}\n{print}");
            }
        }
    }
    assert_eq!(world.home.dump().await, before);
    assert_eq!(events(&world, &org).await, told);
    verify(&world);
}

async fn a_body_that_cannot_be_read_is_refused(home: Home) {
    let world = open(home, 2).await;
    let org = reseller(&world, PLENTY).await;
    let before = world.home.dump().await;
    let with = |items: Value| json!({"type": "transaction", "assign": true, "order": items});
    let of = |fields: Value| {
        let mut item = json!({"item": PT.name, "quantity": 1});
        item.as_object_mut().expect("an item").extend(fields.as_object().expect("x").clone());
        with(json!([item])).to_string()
    };
    let bodies = [
        "not { JSON".to_owned(),
        "[]".to_owned(),
        "\"transaction\"".to_owned(),
        "null".to_owned(),
        "{\"type\":\"transaction\",".to_owned(),
        format!(
            "{{\"type\":\"transaction\",\"type\":\"validate\",\"order\":{}}}",
            bundle(&json!(1))
        ),
        with(json!({"item": PT.name, "quantity": 1})).to_string(),
        with(json!("esim")).to_string(),
        with(json!([PT.name])).to_string(),
        with(json!([[]])).to_string(),
        of(json!({"quantity": "2"})),
        of(json!({"quantity": true})),
        of(json!({"quantity": [1]})),
        of(json!({"item": 7})),
        of(json!({"type": 7})),
        of(json!({"iccids": iccid(1)})),
        of(json!({"iccids": [8_943_001_000_000_026_411_u64]})),
        of(json!({"iccids": [null]})),
        of(json!({"allowReassign": "true"})),
        of(json!({"allowReassign": 1})),
        json!({"type": 1, "order": bundle(&json!(1))}).to_string(),
        json!({"type": "transaction", "assign": 1, "order": bundle(&json!(1))}).to_string(),
        json!({"type": "transaction", "assign": "yes", "order": bundle(&json!(1))}).to_string(),
        json!({"type": "transaction", "assign": "", "order": bundle(&json!(1))}).to_string(),
    ];
    for (_, prefix) in prefixes() {
        for body in &bodies {
            let request = Request::post(&format!("{prefix}/orders")).key(&org.key);
            let refusal = world.node.send(&request.body(body.clone())).await;
            let print = refusal.to_string();
            let text = refusal.refused(400, "malformed-body");
            assert_eq!(text, "failed to parse request body", "{prefix}: {body}\n{print}");
        }
        let large = Request::post(&format!("{prefix}/orders")).key(&org.key);
        world.node.send(&large.body(" ".repeat(1_000_001))).await.refused(413, "body-too-large");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_type_or_a_list_that_is_missing_is_named(home: Home) {
    let world = open(home, 2).await;
    let org = reseller(&world, PLENTY).await;
    let before = world.home.dump().await;
    let items = bundle(&json!(1));
    for (_, prefix) in prefixes() {
        for body in [
            json!({}),
            json!({ "order": items }),
            json!({"type": null, "order": items}),
            json!({"type": "", "order": items}),
            json!({"type": "Transaction", "order": items}),
            json!({"type": "transaction ", "order": items}),
            json!({"type": "bundle", "order": items}),
        ] {
            let refusal = world.node.send(&order(&org, prefix, &body)).await;
            assert_eq!(refusal.refused(400, "invalid-order-type"), "Invalid Order type", "{body}");
        }
        for body in [
            json!({"type": "transaction"}),
            json!({"type": "validate", "order": []}),
            json!({"type": "transaction", "order": null}),
            // An item at the top level does not count.
            json!({"type": "transaction", "item": PT.name, "quantity": 1}),
            json!({"type": "transaction", "items": items}),
        ] {
            let refusal = world.node.send(&order(&org, prefix, &body)).await;
            let text = refusal.refused(400, "no-order-items");
            assert_eq!(text, "Order must contain Order Items", "{prefix}: {body}");
        }
        let empty = Request::post(&format!("{prefix}/orders")).key(&org.key);
        world.node.send(&empty).await.refused(400, "invalid-order-type");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_flag_is_read_by_the_version_that_has_it(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let placed = buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 1)])).await;
    let one = format!("/orders/{}", crate::shop::reference(&placed));
    for (_, prefix) in prefixes() {
        let target = |path: &str| format!("{prefix}{path}?includeIccids=maybe");
        let body = checked(into_inventory(&[(PT, 1)]));
        for request in [
            Request::post(&target("/orders")).key(&org.key).json(&body),
            Request::get(&target("/orders")).key(&org.key),
            Request::get(&target(&one)).key(&org.key),
        ] {
            let answer = world.node.send(&request).await;
            if prefix == "/v2.2" {
                let text = answer.refused(400, "invalid-parameter");
                assert_eq!(text, "invalid includeIccids", "{}", request.target);
            } else {
                answer.expect(200);
            }
        }
    }
}

async fn a_branding_profile_is_known_to_the_newest_version_only(home: Home) {
    let world = open(home, 20).await;
    let org = reseller(&world, PLENTY).await;
    for (version, prefix) in prefixes() {
        for (body, code, text) in [
            (
                into_inventory(&[(PT, 1)]),
                "profile-without-assign",
                "profileID can only be specified when assign is true",
            ),
            (onto_new(&[(PT, 1)]), "unknown-profile", "profileID not found"),
        ] {
            for mut body in [body.clone(), checked(body)] {
                let before = has(&world, &org).await;
                body["profileID"] = json!("8f1c6b1e-3ad3-4f0a-9d57-5c7f3f9d2b11");
                let answer = world.node.send(&order(&org, prefix, &body)).await;
                if version.name() < "v2.5" {
                    answer.expect(200);
                    continue;
                }
                assert_eq!(answer.refused(400, code), text, "{body}");
                assert_eq!(has(&world, &org).await, before);
            }
        }
    }
}

async fn an_esim_of_somebody_else_looks_like_none(home: Home) {
    let world = open(home, 5).await;
    let (mine, theirs) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let own = iccids(&buy(&world, &mine, "/v2.3", &onto_new(&[(PT, 1)])).await);
    let foreign = iccids(&buy(&world, &theirs, "/v2.3", &onto_new(&[(PT, 1)])).await);
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        let mut prints = HashSet::new();
        for good in [PT, US] {
            for iccid in
                [foreign[0].clone(), iccid(9_000), iccid(3), "8".repeat(18), "9".repeat(20)]
            {
                let refusal = world.node.send(&order(&mine, prefix, &onto(good, &[iccid]))).await;
                prints.insert(refusal.fingerprint());
                assert_eq!(refusal.refused(403, "not-your-esim"), "access denied", "{prefix}");
            }
        }
        let both = [own[0].clone(), foreign[0].clone()];
        let refusal = world.node.send(&order(&mine, prefix, &onto(PT, &both))).await;
        prints.insert(refusal.fingerprint());
        assert_eq!(prints.len(), 1, "{prefix}: {prints:?}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_dead_esim_takes_no_bundle(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let own = iccids(&buy(&world, &org, "/v2.3", &onto_new(&[(PT, 2)])).await);
    crate::desk::deactivate(&world, &own[0]).await;
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        for good in [PT, US] {
            let refusal = world.node.send(&order(&org, prefix, &onto(good, &own))).await;
            let text = refusal.refused(400, "esim-deactivated");
            assert_eq!(text, "esim is deactivated", "{prefix}");
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn too_little_money_buys_nothing(home: Home) {
    let world = open(home, 60).await;
    let org = reseller(&world, 2 * PT.price - 1).await;
    let (before, had) = (world.home.dump().await, has(&world, &org).await);
    for (_, prefix) in prefixes() {
        for body in [
            into_inventory(&[(PT, 2)]),
            onto_new(&[(PT, 2)]),
            into_inventory(&[(PT, 1), (FR, 2)]),
            // Worked on later, but paid at once.
            onto_new(&[(PT, 6)]),
            into_inventory(&[(PT, 1_000)]),
        ] {
            let refusal = world.node.send(&order(&org, prefix, &body)).await;
            let text = refusal.refused(400, "balance-too-low");
            assert_eq!(text, "Failed to process Order. No payment taken.", "{prefix}: {body}");
            let told = buy(&world, &org, prefix, &checked(body)).await;
            assert_eq!(told["valid"], false, "{prefix}");
        }
        assert_eq!(has(&world, &org).await, had, "{prefix}");
    }
    let mut after = world.home.dump().await;
    // That it was refused for want of money may be told; nothing else may change.
    for table in ["events", "org_heads"] {
        after.insert(table.to_owned(), before[table].clone());
    }
    assert_eq!(after, before);
    // One cent more is enough.
    credit(&world, &org, 1).await;
    for (_, prefix) in prefixes() {
        let body = onto_new(&[(PT, 2)]);
        assert_eq!(buy(&world, &org, prefix, &checked(body.clone())).await["valid"], true);
        buy(&world, &org, prefix, &body).await;
        assert_eq!(balance(&world, &org).await, 0, "{prefix}");
        let more = world.node.send(&order(&org, prefix, &into_inventory(&[(ES, 1)]))).await;
        more.refused(400, "balance-too-low");
        credit(&world, &org, 2 * PT.price).await;
    }
    verify(&world);
}

async fn an_empty_stock_sells_nothing(home: Home) {
    let world = open(home, 3).await;
    fill(&world, 101..102, OTHER_PROFILE).await;
    let org = reseller(&world, 10 * PLENTY).await;
    let (before, had) = (world.home.dump().await, has(&world, &org).await);
    for (_, prefix) in prefixes() {
        for body in [
            onto_new(&[(PT, 4)]),
            onto_new(&[(PT, 1_000)]),
            onto_new(&[(US, 2)]),
            // The first item could be had, the second could not.
            onto_new(&[(PT, 3), (US, 2)]),
            onto_new(&[(US, 1), (PT, 2), (FR, 2)]),
        ] {
            for body in [body.clone(), checked(body)] {
                let refusal = world.node.send(&order(&org, prefix, &body)).await;
                let seconds = refusal.header("retry-after").and_then(|text| text.parse().ok());
                assert!(seconds.is_some_and(|seconds: u32| seconds > 0), "{refusal}");
                let text = refusal.refused(503, "out-of-stock");
                assert_eq!(text, "no esim available, try again later", "{prefix}: {body}");
            }
        }
    }
    assert_eq!(world.home.dump().await, before);
    assert_eq!(has(&world, &org).await, had);
    // Into the inventory there is always room, and onto eSIMs one has.
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 5), (US, 1)])).await;
    let own = iccids(&buy(&world, &org, "/v2.5", &onto_new(&[(PT, 3), (US, 1)])).await);
    assert_eq!((stock(&world, "Profile 1").await, stock(&world, OTHER_PROFILE).await), (0, 0));
    buy(&world, &org, "/v2.5", &onto(FR, &own[..3])).await;
    // One that would have to be replaced needs stock as well.
    let mut misfit = onto(US, &own[..1]);
    misfit["order"][0]["allowReassign"] = json!(true);
    let before = has(&world, &org).await;
    let refusal = world.node.send(&order(&org, "/v2.5", &misfit)).await;
    refusal.refused(503, "out-of-stock");
    assert_eq!(has(&world, &org).await, before);
    verify(&world);
}

async fn sandboxes_and_live_organisations_have_their_own_stock(home: Home) {
    let world = open(home, 2).await;
    let (live, sandbox) = (world.add_live("Live").await, reseller(&world, PLENTY).await);
    credit(&world, &live, PLENTY).await;
    let send = async |org, good: Good| {
        world.node.send(&order(org, "/v2.3", &onto_new(&[(good, 1)]))).await
    };
    send(&live, PT).await.refused(503, "out-of-stock");
    let code = crate::shop::matching_id(501);
    let profile = json!({"iccid": iccid(501), "matchingId": code, "smdpAddress": "rsp.example"});
    let profile = json!({ "profiles": [profile] });
    world.order("POST", "/stock?mode=live", &profile).await.expect(200);
    assert_eq!(iccids(&send(&sandbox, PT).await.json_of(200)), [iccid(1)]);
    assert_eq!(iccids(&send(&live, PT).await.json_of(200)), [iccid(501)]);
    send(&live, PT).await.refused(503, "out-of-stock");
    assert_eq!(iccids(&send(&sandbox, PT).await.json_of(200)), [iccid(2)]);
    send(&sandbox, PT).await.refused(503, "out-of-stock");
    verify(&world);
}

async fn a_stranger_buys_nothing(home: Home) {
    let world: World = open(home, 3).await;
    let org = reseller(&world, PLENTY).await;
    let before = world.home.dump().await;
    let body = into_inventory(&[(PT, 1)]);
    for (_, prefix) in prefixes() {
        let target = format!("{prefix}/orders?api_key={}", org.key);
        let by_query = Request::post(&target).json(&body);
        assert_eq!(world.node.send(&by_query).await.refused(403, "bad-key"), "access denied");
        for method in ["PUT", "PATCH", "DELETE"] {
            let wrong = Request::new(method, &format!("{prefix}/orders")).key(&org.key);
            world.node.send(&wrong.json(&body)).await.refused(405, "method-not-allowed");
        }
    }
    assert_eq!(world.home.dump().await, before);
}
