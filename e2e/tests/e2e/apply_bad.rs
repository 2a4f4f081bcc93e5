//! An apply that cannot be: refused by name, and nothing is taken from anywhere.

use serde_json::{Value, json};

use crate::desk::{alike, apply, apply_to_one, deactivate, esim, put_on, since, stock_up};
use crate::harness::{Answer, Home, Org, Request, World};
use crate::money::{events, prefixes};
use crate::shop::{
    ES, FR, IE_IN_EUROS, OTHER_PROFILE, PLENTY, PROFILE, PT, US, fill, iccid, open, reseller,
    stock, verify,
};

crate::on_both! {
    an_apply_that_breaks_a_rule_is_refused_by_name,
    an_old_apply_that_breaks_a_rule_is_refused_by_name,
    a_body_that_cannot_be_read_is_refused,
    what_is_not_in_the_inventory_cannot_be_applied,
    an_esim_of_somebody_else_looks_like_none,
    an_esim_that_is_dead_or_does_not_fit_takes_nothing,
    an_empty_stock_takes_nothing,
    a_stranger_applies_nothing,
}

/// An eSIM, and three bundles of one kind.
async fn start(home: Home, profiles: usize) -> (World, Org, String) {
    let world = open(home, profiles).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    stock_up(&world, &org, &[(FR, 3)]).await;
    (world, org, own)
}

/// A body, and the code and the text of its refusal.
type Case = (Value, &'static str, String);

fn cases(code: &'static str, text: &str, bodies: Vec<Value>) -> Vec<Case> {
    bodies.into_iter().map(|body| (body, code, text.to_owned())).collect()
}

/// Fields that do not go together.
fn mixed_up(own: &str) -> Vec<Case> {
    let fr = FR.name;
    let mut all = Vec::new();
    all.extend(cases(
        "bundle-choice",
        "either bundle or bundles must be provided",
        vec![
            json!({}),
            json!({"bundle": ""}),
            json!({"bundle": null, "bundles": null}),
            json!({"bundles": []}),
            json!({"iccid": own}),
            json!({"iccid": own, "repeat": 2}),
            json!({"bundle": fr, "bundles": [fr]}),
            json!({"name": fr, "bundles": [{"name": fr}]}),
            json!({"iccid": own, "bundle": fr, "bundles": [fr], "repeat": 2}),
        ],
    ));
    all.extend(cases(
        "iccid-with-repeat",
        "iccid cannot be used with repeat",
        vec![
            json!({"iccid": own, "bundle": fr, "repeat": 1}),
            json!({"iccid": own, "bundle": fr, "repeat": 2}),
            json!({"iccid": own, "name": fr, "repeat": 1_000}),
        ],
    ));
    all.extend(cases(
        "iccid-with-bundles",
        "iccid cannot be used with bundles",
        vec![
            json!({"iccid": own, "bundles": [fr]}),
            json!({"iccid": own, "bundles": [{"name": fr}]}),
            json!({"bundles": [fr, {"name": fr, "iccid": own}]}),
            json!({"bundles": [{"name": fr, "ICCID": "x"}]}),
        ],
    ));
    all.extend(cases(
        "repeat-with-bundles",
        "repeat cannot be used with bundles",
        vec![
            json!({"bundles": [fr], "repeat": 1}),
            json!({"bundles": [{"name": fr, "repeat": 2}], "repeat": 2}),
        ],
    ));
    all
}

/// Repeats and numbers of bundles that are too many, too few or none.
fn miscounted() -> Vec<Case> {
    let fr = FR.name;
    let mut all = Vec::new();
    let odd = [json!(-1), json!(1_001), json!(1.5), json!(1e30), json!(i64::MIN), json!(i64::MAX)];
    let top = odd.iter().map(|repeat| json!({"bundle": fr, "repeat": repeat}));
    let inside = odd.iter().map(|repeat| json!({"bundles": [fr, {"name": fr, "repeat": repeat}]}));
    all.extend(cases(
        "repeat-out-of-range",
        "repeat must be between 1 and 1000",
        top.chain(inside).collect(),
    ));
    all.extend(cases(
        "too-many-bundles",
        "at most 1000 bundles can be applied in one request",
        vec![
            json!({"bundles": vec![fr; 1_001]}),
            json!({"bundles": [{"name": fr, "repeat": 1_000}, fr]}),
            json!({"bundles": [{"name": fr, "repeat": 600}, {"name": fr, "repeat": 401}]}),
            json!({"bundles": vec![json!({"name": fr, "repeat": 1_000}); 100]}),
        ],
    ));
    all
}

/// Names and times that are none.
fn misnamed(own: &str) -> Vec<Case> {
    let fr = FR.name;
    let mut all = Vec::new();
    all.extend(cases(
        "invalid-iccid",
        "invalid iccid",
        vec![
            json!({"iccid": "x", "bundle": fr}),
            json!({"iccid": " ", "bundle": fr}),
            json!({"iccid": &own[..17], "bundle": fr}),
            json!({"iccid": format!("{own}FF"), "bundle": fr}),
            json!({"iccid": format!("{own}00"), "bundle": fr}),
        ],
    ));
    let times = ["soon", "2026-05-04", "2026-05-04T08:15:00", "2026-05-04T25:15:00Z", " ", "0"];
    let mut late: Vec<_> =
        times.iter().map(|time| json!({"bundle": fr, "startTime": time})).collect();
    late.push(json!({"bundles": [fr, {"name": fr, "startTime": "soon"}]}));
    // It is looked at first, whatever the bundle.
    late.push(json!({"bundle": "esim_x", "startTime": "soon"}));
    late.push(json!({"iccid": own, "bundle": fr, "startTime": "soon", "repeat": 1}));
    all.extend(cases("invalid-start-time", "invalid startTime", late));
    all.extend(cases(
        "missing-parameter",
        "name is required",
        vec![
            json!({"bundles": [fr, {}]}),
            json!({"bundles": [{"name": "", "repeat": 2}]}),
            json!({"bundles": [""]}),
        ],
    ));
    all.extend(cases(
        "invalid-parameter",
        "invalid bundle",
        vec![
            json!({"bundle": fr, "name": ES.name}),
            json!({"bundles": [{"bundle": fr, "name": fr.to_uppercase()}]}),
        ],
    ));
    for name in ["esim_x", "ESIM_1GB_7D_FR_V2", "esim_1GB_7D_FR_V2 ", " ", IE_IN_EUROS.name] {
        let text = format!("bundle not found: {name}");
        all.push((json!({"bundle": name}), "unknown-bundle", text.clone()));
        all.push((json!({"bundles": [fr, name]}), "unknown-bundle", text.clone()));
        all.push((json!({"iccid": own, "bundle": name}), "unknown-bundle", text));
    }
    all
}

async fn an_apply_that_breaks_a_rule_is_refused_by_name(home: Home) {
    let (world, org, own) = start(home, 5).await;
    let (before, told) = (world.home.dump().await, events(&world, &org).await);
    for (_, prefix) in since("v2.1") {
        for (body, code, text) in [mixed_up(&own), miscounted(), misnamed(&own)].concat() {
            let refusal = world.node.send(&apply(&org, prefix, &body)).await;
            let print =
                format!("{prefix} {}", body.to_string().chars().take(200).collect::<String>());
            assert_eq!(refusal.header("x-error-code"), Some(code), "{print}: {refusal}");
            assert_eq!(refusal.refused(400, code), text, "{print}");
        }
    }
    assert_eq!(world.home.dump().await, before);
    assert_eq!(events(&world, &org).await, told);
}

async fn an_old_apply_that_breaks_a_rule_is_refused_by_name(home: Home) {
    let (world, org, own) = start(home, 5).await;
    let before = world.home.dump().await;
    let fr = FR.name;
    let range = "repeat must be between 1 and 1000";
    for (_, prefix) in prefixes() {
        for (body, status, code, text) in [
            (json!({}), 400, "missing-parameter", "name is required"),
            (json!({"name": ""}), 400, "missing-parameter", "name is required"),
            (json!({"name": null, "bundle": null}), 400, "missing-parameter", "name is required"),
            (json!({"name": fr, "bundle": PT.name}), 400, "invalid-parameter", "invalid bundle"),
            (json!({"name": fr, "repeat": -1}), 400, "repeat-out-of-range", range),
            (json!({"name": fr, "repeat": 1_001}), 400, "repeat-out-of-range", range),
            (json!({"name": fr, "repeat": 1.5}), 400, "repeat-out-of-range", range),
            (
                json!({"name": fr, "startTime": "soon"}),
                400,
                "invalid-start-time",
                "invalid startTime",
            ),
            (
                json!({"name": "esim_x", "startTime": "soon"}),
                400,
                "invalid-start-time",
                "invalid startTime",
            ),
            (json!({"name": "esim_x"}), 400, "unknown-bundle", "bundle not found: esim_x"),
            (
                json!({"name": fr, "repeat": 4}),
                403,
                "no-bundles-left",
                "no bundles available: esim_1GB_7D_FR_V2",
            ),
            (
                json!({"name": fr, "repeat": 1_000}),
                403,
                "no-bundles-left",
                "no bundles available: esim_1GB_7D_FR_V2",
            ),
            (
                json!({"name": ES.name}),
                403,
                "no-bundles-left",
                "no bundles available: esim_1GB_7D_ES_V2",
            ),
            (json!({"name": 5}), 400, "malformed-body", "failed to parse request body"),
            (
                json!({"name": fr, "repeat": "2"}),
                400,
                "malformed-body",
                "failed to parse request body",
            ),
            (json!([]), 400, "malformed-body", "failed to parse request body"),
        ] {
            let refusal = world.node.send(&apply_to_one(&org, prefix, &own, &body)).await;
            let print = refusal.to_string();
            assert_eq!(refusal.refused(status, code), text, "{prefix} {body}: {print}");
        }
        let refusal = world.node.send(&apply_to_one(&org, prefix, "x", &json!({"name": fr}))).await;
        assert_eq!(refusal.refused(400, "invalid-iccid"), "invalid iccid", "{prefix}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_body_that_cannot_be_read_is_refused(home: Home) {
    let (world, org, own) = start(home, 5).await;
    let before = world.home.dump().await;
    let fr = FR.name;
    let mut bodies: Vec<_> = [
        json!([]),
        json!("x"),
        json!({"bundle": 5}),
        json!({"bundle": [fr]}),
        json!({"name": true}),
        json!({"bundles": fr}),
        json!({"bundles": {"name": fr}}),
        json!({"bundles": [5]}),
        json!({"bundles": [null]}),
        json!({"bundles": [[fr]]}),
        json!({"bundles": [{"name": 5}]}),
        json!({"bundles": [{"name": fr, "iccid": 5}]}),
        json!({"bundles": [{"name": fr, "repeat": "2"}]}),
        json!({"bundles": [{"name": fr, "allowReassign": "true"}]}),
        json!({"bundles": [{"name": fr, "startTime": 5}]}),
        json!({"bundle": fr, "repeat": "2"}),
        json!({"bundle": fr, "repeat": true}),
        json!({"bundle": fr, "allowReassign": "false"}),
        json!({"bundle": fr, "allowReassign": 0}),
        json!({"bundle": fr, "startTime": 1_777_882_442}),
        json!({"bundle": fr, "iccid": 8_943_001_000_000_026_411_u64}),
        json!({"bundle": "a\0b"}),
    ]
    .iter()
    .map(ToString::to_string)
    .collect();
    bodies.push(format!("{{\"bundle\":\"{fr}\",\"Bundle\":\"{fr}\"}}"));
    bodies.push(format!("{{\"bundle\":\"{fr}\",\"iccid\":\"{own}\""));
    for (_, prefix) in since("v2.1") {
        for body in &bodies {
            let request = Request::post(&format!("{prefix}/esims/apply")).key(&org.key);
            let refusal = world.node.send(&request.body(body.clone())).await;
            let print = refusal.to_string();
            let text = refusal.refused(400, "malformed-body");
            assert_eq!(text, "failed to parse request body", "{prefix} {body}: {print}");
        }
        let large = Request::post(&format!("{prefix}/esims/apply")).key(&org.key);
        world.node.send(&large.body(" ".repeat(1_000_001))).await.refused(413, "body-too-large");
        let empty = Request::post(&format!("{prefix}/esims/apply")).key(&org.key);
        world.node.send(&empty).await.refused(400, "bundle-choice");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn what_is_not_in_the_inventory_cannot_be_applied(home: Home) {
    // No profile is left, and nobody hears of that first.
    let (world, org, own) = start(home, 1).await;
    let other = reseller(&world, PLENTY).await;
    stock_up(&world, &other, &[(ES, 50), (FR, 50)]).await;
    assert_eq!(stock(&world, PROFILE).await, 0);
    let (before, told) = (world.home.dump().await, events(&world, &org).await);
    for (_, prefix) in since("v2.1") {
        for (body, name) in [
            (json!({"bundle": ES.name}), ES.name),
            (json!({"iccid": own, "bundle": ES.name}), ES.name),
            (json!({"bundle": FR.name, "repeat": 4}), FR.name),
            (json!({"bundle": FR.name, "repeat": 1_000}), FR.name),
            (json!({"bundles": vec![FR.name; 4]}), FR.name),
            (json!({"bundles": [FR.name, {"name": FR.name, "repeat": 3}]}), FR.name),
            (json!({"bundles": [FR.name, ES.name]}), ES.name),
            (json!({"bundles": [US.name, FR.name]}), US.name),
        ] {
            let refusal = world.node.send(&apply(&org, prefix, &body)).await;
            let text = refusal.refused(403, "no-bundles-left");
            assert_eq!(text, format!("no bundles available: {name}"), "{prefix} {body}");
        }
    }
    assert_eq!(world.home.dump().await, before);
    assert_eq!(events(&world, &org).await, told);
    // Exactly what there is can be had.
    fill(&world, 2..5, PROFILE).await;
    put_on(&world, &org, "/v2.5", &json!({"bundle": FR.name, "repeat": 3})).await;
    verify(&world);
}

async fn an_esim_of_somebody_else_looks_like_none(home: Home) {
    let (world, org, own) = start(home, 4).await;
    let other = reseller(&world, PLENTY).await;
    let foreign = esim(&world, &other).await;
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        let send = async |esim: &str, misfit: bool| {
            let bundle = if misfit { US.name } else { FR.name };
            if prefix < "/v2.1" {
                let body = json!({ "name": FR.name });
                return world.node.send(&apply_to_one(&org, prefix, esim, &body)).await;
            }
            let body = json!({"iccid": esim, "bundle": bundle, "allowReassign": !misfit});
            world.node.send(&apply(&org, prefix, &body)).await
        };
        let mut answers: Vec<Answer> = Vec::new();
        for esim in [&foreign, "8943001999999999993", &iccid(3), &"8".repeat(18), &"9".repeat(20)] {
            answers.push(send(esim, false).await);
        }
        assert_eq!(alike(answers, 403, "not-your-esim"), "access denied", "{prefix}");
        assert_ne!(own, foreign);
    }
    assert_eq!(world.home.dump().await, before);
}

async fn an_esim_that_is_dead_or_does_not_fit_takes_nothing(home: Home) {
    let (world, org, own) = start(home, 3).await;
    fill(&world, 101..103, OTHER_PROFILE).await;
    stock_up(&world, &org, &[(US, 3)]).await;
    let dead = esim(&world, &org).await;
    deactivate(&world, &dead).await;
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        for (esim, bundle, code, text) in [
            (&own, US.name, "bundle-not-compatible", "bundle not compatible with esim"),
            (&dead, FR.name, "esim-deactivated", "esim is deactivated"),
            (&dead, US.name, "esim-deactivated", "esim is deactivated"),
        ] {
            let body = json!({ "name": bundle });
            let refusal = world.node.send(&apply_to_one(&org, prefix, esim, &body)).await;
            assert_eq!(refusal.refused(400, code), text, "{prefix}");
            if prefix < "/v2.1" {
                continue;
            }
            for reassign in [json!(false), Value::Null] {
                let body = json!({"iccid": esim, "bundle": bundle, "allowReassign": reassign});
                let refusal = world.node.send(&apply(&org, prefix, &body)).await;
                assert_eq!(refusal.refused(400, code), text, "{prefix} {body}");
            }
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn an_empty_stock_takes_nothing(home: Home) {
    let (world, org, own) = start(home, 3).await;
    stock_up(&world, &org, &[(FR, 40), (US, 3)]).await;
    let (before, told) = (world.home.dump().await, events(&world, &org).await);
    for (_, prefix) in since("v2.1") {
        for body in [
            json!({"bundle": FR.name, "repeat": 3}),
            json!({"bundle": FR.name, "repeat": 40}),
            json!({"bundle": US.name}),
            json!({"bundles": [FR.name, US.name]}),
            json!({"bundles": [FR.name, FR.name, FR.name]}),
            json!({"iccid": own, "bundle": US.name, "allowReassign": true}),
        ] {
            let refusal = world.node.send(&apply(&org, prefix, &body)).await;
            let seconds = refusal.header("retry-after").and_then(|text| text.parse::<u32>().ok());
            assert!(seconds.is_some_and(|seconds| seconds > 0), "{refusal}");
            let text = refusal.refused(503, "out-of-stock");
            assert_eq!(text, "no esim available, try again later", "{prefix} {body}");
        }
    }
    assert_eq!(world.home.dump().await, before);
    assert_eq!(events(&world, &org).await, told);
    // Onto an eSIM one has there is always room.
    put_on(&world, &org, "/v2.5", &json!({"iccid": own, "bundle": FR.name})).await;
    put_on(&world, &org, "/v2.5", &json!({"bundle": FR.name, "repeat": 2})).await;
    verify(&world);
}

async fn a_stranger_applies_nothing(home: Home) {
    let (world, org, own) = start(home, 3).await;
    let before = world.home.dump().await;
    let body = json!({"iccid": own, "bundle": FR.name});
    for (_, prefix) in prefixes() {
        let target = format!("{prefix}/esims/{own}/bundles?api_key={}", org.key);
        let by_query = Request::post(&target).json(&json!({"name": FR.name}));
        assert_eq!(world.node.send(&by_query).await.refused(403, "bad-key"), "access denied");
        if prefix >= "/v2.1" {
            let target = format!("{prefix}/esims/apply?api_key={}", org.key);
            world.node.send(&Request::post(&target).json(&body)).await.refused(403, "bad-key");
        }
    }
    assert_eq!(world.home.dump().await, before);
}
