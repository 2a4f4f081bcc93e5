//! The life of an eSIM itself: what the feed tells of it, how long it stays, what is left of it
//! when it has gone or is dead.

use serde_json::{Value, json};

use crate::callbacks::seconds;
use crate::desk::{
    apply, apply_to_one, consume, deactivate, esim, esim_with, esims, latest, number, of, phone,
    put_on, put_onto, since, stock_up, take_off, text,
};
use crate::harness::{Answer, Home, Org, Request, World};
use crate::life_bundles::{DAY, about, time};
use crate::money::{advance, events, prefixes};
use crate::shop::{
    FR, PLENTY, PT, TRIAL, buy, hold, iccid, iccids, now, onto, onto_new, open, order, reference,
    reseller, verify,
};

crate::on_both! {
    an_esim_leaves_a_year_after_its_last_bundle_ended,
    an_esim_leaves_a_year_after_its_last_bundle_was_taken_off,
    an_esim_whose_bundle_lapsed_leaves_a_year_later,
    a_new_bundle_renews_an_esim,
    what_has_left_is_unknown_everywhere,
    the_feed_tells_of_an_esim_in_the_right_order,
    a_country_is_told_once_a_day,
    a_dead_esim_refuses_what_it_cannot_do,
    the_install_data_of_a_dead_esim_is_gone,
}

/// What the feed tells of an eSIM's leaving.
async fn farewells(world: &World, org: &Org) -> Vec<(String, Value)> {
    let all = events(world, org).await.into_iter();
    all.filter(|(kind, _)| kind.starts_with("esim.")).collect()
}

async fn is_there(world: &World, org: &Org, iccid: &str) -> bool {
    esims(world, org).await.iter().any(|one| one["iccid"] == iccid)
}

/// Announced and gone, each at its own time: counted from the moment it became idle.
async fn leaves_in_time(world: &World, org: &Org, iccid: &str) {
    let idle_at = now(world, org).await;
    let before = farewells(world, org).await.len();
    advance(world, org, 358 * DAY - 60).await;
    assert_eq!(farewells(world, org).await.len(), before, "not yet");
    advance(world, org, 120).await;
    let told = farewells(world, org).await;
    assert_eq!(told.len(), before + 1, "announced once: {told:?}");
    let (kind, data) = &told[before];
    assert_eq!(kind, "esim.deletion_scheduled");
    let date = data["date"].clone();
    assert_eq!(*data, json!({"date": date, "event": kind, "iccid": iccid}));
    about(&date, idle_at.plus_ms(358 * DAY * 1_000));
    advance(world, org, 7 * DAY - 180).await;
    assert!(is_there(world, org, iccid).await, "it was only announced");
    advance(world, org, 120).await;
    assert!(!is_there(world, org, iccid).await);
    let told = farewells(world, org).await;
    assert_eq!(told.len(), before + 2, "{told:?}");
    let (kind, data) = &told[before + 1];
    assert_eq!((kind.as_str(), &data["iccid"]), ("esim.deleted", &json!(iccid)));
    about(&data["date"], idle_at.plus_ms(365 * DAY * 1_000));
    advance(world, org, 400 * DAY).await;
    assert_eq!(farewells(world, org).await.len(), before + 2, "and never again");
}

async fn an_esim_leaves_a_year_after_its_last_bundle_ended(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    consume(&world, &org, &iccid, 1_000_000_000).await;
    // Used up is not over: that is when its time is.
    advance(&world, &org, 7 * DAY).await;
    assert_eq!(latest(&world, &org, &iccid, PT).await["bundleState"], "expired");
    leaves_in_time(&world, &org, &iccid).await;
    verify(&world);
}

async fn an_esim_leaves_a_year_after_its_last_bundle_was_taken_off(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    advance(&world, &org, 30 * DAY).await;
    world.node.send(&take_off(&org, "/v2.5", &iccid, PT.name)).await.expect(200);
    leaves_in_time(&world, &org, &iccid).await;
    verify(&world);
}

async fn an_esim_whose_bundle_lapsed_leaves_a_year_later(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    advance(&world, &org, 365 * DAY).await;
    assert_eq!(latest(&world, &org, &iccid, PT).await["bundleState"], "lapsed");
    leaves_in_time(&world, &org, &iccid).await;
}

async fn a_new_bundle_renews_an_esim(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(FR, 1)]).await;
    let iccid = esim_with(&world, &org, TRIAL).await;
    consume(&world, &org, &iccid, 1).await;
    advance(&world, &org, DAY + 360 * DAY).await;
    assert_eq!(farewells(&world, &org).await.len(), 1, "announced");
    put_onto(&world, &org, &iccid, FR).await;
    advance(&world, &org, 30 * DAY).await;
    assert!(is_there(&world, &org, &iccid).await, "renewed");
    assert_eq!(farewells(&world, &org).await.len(), 1);
    consume(&world, &org, &iccid, 1).await;
    advance(&world, &org, 7 * DAY).await;
    assert_eq!(latest(&world, &org, &iccid, FR).await["bundleState"], "expired");
    leaves_in_time(&world, &org, &iccid).await;
    // Work that waits does not make it stay for ever.
    let other = esim_with(&world, &org, TRIAL).await;
    consume(&world, &org, &other, 1).await;
    hold(&world, &org, true).await;
    advance(&world, &org, 400 * DAY).await;
    assert!(is_there(&world, &org, &other).await);
    hold(&world, &org, false).await;
    advance(&world, &org, 1).await;
    assert!(!is_there(&world, &org, &other).await);
    verify(&world);
}

/// Everything that can be asked about an eSIM, under one prefix.
fn questions(org: &Org, prefix: &str, iccid: &str) -> Vec<Request> {
    let get = |path: &str| Request::get(&format!("{prefix}/esims/{iccid}{path}"));
    let mut all = vec![
        get(""),
        get("/history"),
        get("/refresh"),
        get(&format!("/compatible/{}", PT.name)),
        get("/bundles"),
        get(&format!("/bundles/{}", PT.name)),
        get("/qr"),
        get("/location"),
        get("/suspend"),
        Request::new("PUT", &format!("{prefix}/esims"))
            .json(&json!({"iccid": iccid, "customerRef": "mine"})),
        Request::post(&format!("{prefix}/esims/{iccid}/sms")).json(&json!({"message": "hello"})),
        Request::post(&format!("{prefix}/esims/{iccid}/suspend")).json(&json!({"suspend": true})),
        Request::new("DELETE", &format!("{prefix}/esims/{iccid}")),
    ];
    for one in &mut all {
        *one = one.clone().key(&org.key);
    }
    all.push(apply_to_one(org, prefix, iccid, &json!({"name": PT.name})));
    all.push(apply(org, prefix, &json!({"iccid": iccid, "bundle": PT.name})));
    all.push(take_off(org, prefix, iccid, PT.name));
    all.push(order(org, prefix, &onto(PT, &[iccid.to_owned()])));
    all
}

async fn what_has_left_is_unknown_everywhere(home: Home) {
    let world = open(home, 9).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 5)]).await;
    let [left, deleted] = [esim(&world, &org).await, esim(&world, &org).await];
    number(&world, &org, &left, &json!("447700900123")).await;
    consume(&world, &org, &left, 5).await;
    let delete = Request::new("DELETE", &format!("/v2.5/esims/{deleted}")).key(&org.key);
    let told = world.node.send(&delete).await.json_of(200);
    assert_eq!(told, json!({"status": "eSIM deleted successfully"}));
    assert_eq!(farewells(&world, &org).await.len(), 1, "told at once");
    advance(&world, &org, (7 + 365) * DAY + 60).await;
    stock_up(&world, &org, &[(PT, 5)]).await;
    assert!(esims(&world, &org).await.is_empty());
    let unknown = iccid(77_777);
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        let all = [&left, &deleted, &unknown].map(|iccid| questions(&org, prefix, iccid));
        let [lefts, deleteds, unknowns] = all;
        for ((one, two), three) in lefts.iter().zip(&deleteds).zip(&unknowns) {
            let prints = [
                world.node.send(one).await.fingerprint(),
                world.node.send(two).await.fingerprint(),
                world.node.send(three).await.fingerprint(),
            ];
            let what = format!("{} {}", three.method, three.target);
            assert!([400, 403, 404, 405].contains(&prints[2].0), "{what}: {:?}", prints[2]);
            assert!(prefix != "/v2.5" || prints[2].0 == 403, "{what}: {:?}", prints[2]);
            assert_eq!(prints[0], prints[2], "{what}");
            assert_eq!(prints[1], prints[2], "{what}");
        }
    }
    for gone in [&left, &deleted] {
        for act in ["install", "remove", "attach", "use", "msisdn"] {
            let target = format!("/sandbox/v1/esims/{gone}/{act}");
            let body = json!({"country": "PT", "bytes": 5, "msisdn": null});
            let refusal = world.node.send(&Request::post(&target).key(&org.key).json(&body)).await;
            refusal.refused(403, "not-your-esim");
        }
        let body = json!({"reason": "why not"});
        let path = format!("/esims/{gone}/deactivate");
        world.order("POST", &path, &body).await.refused(404, "unknown-esim");
    }
    assert_eq!(world.home.dump().await, before, "and nothing happened");
    verify(&world);
}

/// The events since so many.
async fn since_then(world: &World, org: &Org, before: usize) -> Vec<(String, Value)> {
    events(world, org).await.split_off(before)
}

async fn the_feed_tells_of_an_esim_in_the_right_order(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let bought = buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await;
    let iccid = iccids(&bought).remove(0);
    let before = events(&world, &org).await.len();
    consume(&world, &org, &iccid, 258_000_000).await;
    let one = latest(&world, &org, &iccid, PT).await;
    let (start, end) = (seconds(&one["startTime"]), seconds(&one["endTime"]));
    let used = json!({
        "name": PT.name, "initialQuantity": 1_000_000_000, "remainingQuantity": 742_000_000,
        "startTime": start, "endTime": end,
    });
    let mut full = used.clone();
    full["id"] = one["id"].clone();
    full["reference"] = json!(format!("{}-0", reference(&bought)));
    full["description"] = json!("eSIM, 1GB, 7 Days, Portugal, V2");
    full["unlimited"] = json!(false);
    let told = |kind: &str, mut data: Value| {
        data["iccid"] = json!(iccid);
        data["alertType"] = json!(kind);
        (kind.to_owned(), data)
    };
    let country = json!({"country": {"code": "PT", "name": "Portugal"}});
    let wanted = [
        told("FirstAttachment", json!({})),
        told("CountryChange", country),
        told("FirstUse", json!({ "bundle": used })),
        told("Utilisation", json!({ "bundle": full })),
    ];
    assert_eq!(since_then(&world, &org, before).await, wanted);
    // After that each use is one event for each bundle that it touches.
    let before = before + wanted.len();
    consume(&world, &org, &iccid, 2_000_000).await;
    full["remainingQuantity"] = json!(740_000_000);
    let wanted = [told("Utilisation", json!({ "bundle": full }))];
    assert_eq!(since_then(&world, &org, before).await, wanted);
    // The bytes are those that receivers sign.
    let feed = world.get("/events/v1?limit=10000", &org.key).await.expect(200).text();
    let exact = format!(
        r#"{{"iccid":"{iccid}","alertType":"Utilisation","bundle":{{"id":{},"reference":"#,
        one["id"]
    );
    assert!(feed.contains(&exact), "{exact} in {feed}");
}

async fn a_country_is_told_once_a_day(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let mut before = events(&world, &org).await.len();
    let mut seen = async |country: &str| -> Vec<String> {
        phone(&world, &org, &iccid, "attach", &json!({ "country": country })).await;
        let told = since_then(&world, &org, before).await;
        before += told.len();
        let code = |(kind, data): &(String, Value)| match kind.as_str() {
            "CountryChange" => text(&data["country"]["code"]),
            kind => kind.to_owned(),
        };
        told.iter().map(code).collect()
    };
    assert_eq!(seen("PT").await, ["FirstAttachment", "PT"]);
    assert_eq!(seen("PT").await, [""; 0], "it is known");
    assert_eq!(seen("FR").await, ["FR"]);
    assert_eq!(seen("PT").await, [""; 0], "it was there within a day");
    advance(&world, &org, DAY - 60).await;
    assert_eq!(seen("PT").await, [""; 0]);
    advance(&world, &org, 120).await;
    assert_eq!(seen("PT").await, ["PT"], "again after a day");
    assert_eq!(seen("FR").await, ["FR"]);
    assert_eq!(seen("FR").await, [""; 0]);
}

#[track_caller]
fn is_dead(answer: Answer, status: u16) {
    assert_eq!(answer.refused(status, "esim-deactivated"), "esim is deactivated");
}

async fn a_dead_esim_refuses_what_it_cannot_do(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 9)]).await;
    let iccid = esim(&world, &org).await;
    number(&world, &org, &iccid, &json!("447700900123")).await;
    deactivate(&world, &iccid).await;
    deactivate(&world, &iccid).await;
    let before = world.home.dump().await;
    for (version, prefix) in prefixes() {
        let sms = Request::post(&format!("{prefix}/esims/{iccid}/sms")).key(&org.key);
        is_dead(world.node.send(&sms.json(&json!({"message": "hello"}))).await, 400);
        let old = apply_to_one(&org, prefix, &iccid, &json!({"name": PT.name}));
        is_dead(world.node.send(&old).await, 400);
        is_dead(
            world.node.send(&order(&org, prefix, &onto(PT, std::slice::from_ref(&iccid)))).await,
            400,
        );
        is_dead(world.get(&format!("{prefix}/esims/{iccid}/qr"), &org.key).await, 410);
        if version.name() >= "v2.1" {
            let new = apply(&org, prefix, &json!({"iccid": iccid, "bundle": PT.name}));
            is_dead(world.node.send(&new).await, 400);
            is_dead(world.get(&format!("{prefix}/esims/{iccid}/refresh"), &org.key).await, 400);
        }
        // What can be read of it stays readable.
        let detail = world.get(&format!("{prefix}/esims/{iccid}"), &org.key).await.json_of(200);
        assert_eq!(detail["profileStatus"], "Deactivated", "{prefix}");
        assert!(version.name() < "v2.5" || detail["state"] == "deactivated", "{detail}");
        world.get(&format!("{prefix}/esims/{iccid}/bundles"), &org.key).await.expect(200);
    }
    for act in ["install", "remove", "attach", "use", "msisdn"] {
        let target = format!("/sandbox/v1/esims/{iccid}/{act}");
        let body = json!({"country": "PT", "bytes": 5, "msisdn": null});
        is_dead(world.node.send(&Request::post(&target).key(&org.key).json(&body)).await, 400);
    }
    assert_eq!(world.home.dump().await, before, "nothing happened");
    // Its owner can still take things off it, note something, and give it up.
    let put = Request::new("PUT", "/v2.5/esims").key(&org.key);
    world.node.send(&put.json(&json!({"iccid": iccid, "customerRef": "dead"}))).await.expect(200);
    let told = world.node.send(&take_off(&org, "/v2.5", &iccid, PT.name)).await.json_of(200);
    assert!(text(&told["status"]).ends_with("to inventory"), "{told}");
    let delete = Request::new("DELETE", &format!("/v2.5/esims/{iccid}")).key(&org.key);
    world.node.send(&delete).await.expect(200);
    verify(&world);
}

async fn the_install_data_of_a_dead_esim_is_gone(home: Home) {
    let world = open(home, 9).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 3)]).await;
    let two = put_on(&world, &org, "/v2.5", &json!({"bundle": PT.name, "repeat": 2})).await;
    let (name, dead) = (text(&two["applyReference"]), text(&two["esims"][0]["iccid"]));
    let alive = text(&two["esims"][1]["iccid"]);
    deactivate(&world, &dead).await;
    let csv = |prefix: &str, reference: &str| {
        let target = format!("{prefix}/esims/assignments?reference={reference}");
        Request::get(&target).key(&org.key).header("Accept", "text/csv")
    };
    for (version, prefix) in since("v2.1") {
        let mut all = vec![Request::get(&format!("{prefix}/esims/csv/{name}")).key(&org.key)];
        if version.name() >= "v2.2" {
            all.push(csv(prefix, &name));
            is_dead(world.node.send(&csv(prefix, &format!("{name}-0"))).await, 410);
            world.node.send(&csv(prefix, &format!("{name}-1"))).await.expect(200);
        }
        for request in all {
            let table = world.node.send(&request).await.expect(200).text();
            assert!(table.contains(&alive) && !table.contains(&dead), "{table}");
        }
        world.get(&format!("{prefix}/esims/qr/{name}"), &org.key).await.expect(200);
    }
    deactivate(&world, &alive).await;
    for (version, prefix) in since("v2.1") {
        is_dead(world.get(&format!("{prefix}/esims/csv/{name}"), &org.key).await, 410);
        is_dead(world.get(&format!("{prefix}/esims/qr/{name}"), &org.key).await, 410);
        if version.name() >= "v2.2" {
            is_dead(world.node.send(&csv(prefix, &name)).await, 410);
        }
    }
    let shown = of(&world, &org, &dead, "").await;
    assert_eq!(
        (&shown["profileStatus"], &shown["state"]),
        (&json!("Deactivated"), &json!("deactivated"))
    );
    // It leaves like any other.
    let bundle = latest(&world, &org, &dead, PT).await;
    assert!(time(&bundle["assignmentDateTime"]).ms() > 0);
    advance(&world, &org, 2 * 365 * DAY + 60).await;
    assert!(esims(&world, &org).await.is_empty());
}
