//! `POST /operator/v1/usage`: what networks and installation servers report counts once, for ever.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::desk::{consume, esim, latest, of, put_onto, stock_up, text};
use crate::harness::{Home, Node, Org, Request, World};
use crate::life_bundles::{DAY, about};
use crate::money::{advance, events};
use crate::shop::{DE, FR, PLENTY, PT, iccid as profile, now, open, reseller, verify};

crate::on_both! {
    data_that_was_used_is_charged,
    a_registration_is_told_once,
    an_installation_goes_on_step_by_step,
    a_record_counts_once_for_ever,
    a_bad_record_says_why_and_spoils_no_other,
    a_body_that_is_no_batch_is_refused,
    a_record_of_the_future_is_refused,
    a_late_record_is_overshoot,
    the_order_of_arrival_decides_who_pays,
    only_the_operator_reports,
    a_batch_has_a_limit_and_fits_it,
}

const GB: i64 = 1_000_000_000;

/// A record of a kind about an eSIM, told at a moment.
fn record(id: &str, kind: &str, at: Timestamp, data: &Value) -> Value {
    json!({"specversion": "1.0", "id": id, "source": "https://cdr.example/node-3", "type": kind,
        "time": at.to_string(), "data": data})
}

fn used(id: &str, iccid: &str, at: Timestamp, bytes: i64) -> Value {
    record(id, "tern.usage.data", at, &json!({"iccid": iccid, "bytes": bytes}))
}

/// Sends a batch; the verdict on each, with why if it was rejected.
async fn verdicts(world: &World, batch: &[Value]) -> Vec<String> {
    let told = world.order("POST", "/usage", &json!(batch)).await.json_of(200);
    let results = told["results"].as_array().expect("a list");
    assert_eq!(results.len(), batch.len(), "one for each");
    let verdict = |(result, sent): (&Value, &Value)| {
        let id = sent.get("id").and_then(Value::as_str).unwrap_or_default();
        assert_eq!(result["id"], id, "in their order");
        match result.get("why") {
            Some(why) => format!("{}: {}", text(&result["verdict"]), text(why)),
            None => text(&result["verdict"]),
        }
    };
    results.iter().zip(batch).map(verdict).collect()
}

async fn remaining(world: &World, org: &Org, iccid: &str) -> i64 {
    latest(world, org, iccid, PT).await["remainingQuantity"].as_i64().expect("whole")
}

async fn data_that_was_used_is_charged(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let before = events(&world, &org).await.len();
    let at = now(&world, &org).await.plus_ms(-3_600_000);
    // Without a place it tells nothing of a place.
    assert_eq!(verdicts(&world, &[used("r-1", &iccid, at, 258_000_000)]).await, ["accepted"]);
    assert_eq!(remaining(&world, &org, &iccid).await, 742_000_000);
    let kinds = |all: &[(String, Value)]| -> Vec<String> {
        all.iter().map(|(kind, _)| kind.clone()).collect()
    };
    let told = events(&world, &org).await;
    assert_eq!(kinds(&told[before..]), ["FirstUse", "Utilisation"]);
    assert_eq!(of(&world, &org, &iccid, "/location").await["country"], "");
    // With one it does. As a batch of its own type, too.
    let data = json!({"iccid": iccid, "bytes": 1_000, "country": "PT", "network": "PRTXX"});
    let batch = json!([record("r-2", "tern.usage.data", at, &data)]).to_string();
    let request = world.operator("POST", "/usage");
    let request = request.header("Content-Type", "application/cloudevents-batch+json").body(batch);
    let told = world.node.send(&request).await.json_of(200);
    assert_eq!(told, json!({"results": [{"id": "r-2", "verdict": "accepted"}]}));
    let told = events(&world, &org).await;
    let wanted = ["FirstAttachment", "CountryChange", "Utilisation"];
    assert_eq!(kinds(&told[before + 2..]), wanted);
    let seen = of(&world, &org, &iccid, "/location").await;
    assert_eq!((&seen["country"], &seen["mobileNetworkCode"]), (&json!("PT"), &json!("PRTXX")));
    about(&seen["lastSeen"], at);
    // The bundle starts when it is told of, not when it was.
    about(&latest(&world, &org, &iccid, PT).await["startTime"], now(&world, &org).await);
    assert_eq!(verdicts(&world, &[]).await, [""; 0]);
    verify(&world);
}

async fn a_registration_is_told_once(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let before = events(&world, &org).await.len();
    let at = now(&world, &org).await;
    let attach = |id: &str, at: Timestamp, country: &str| {
        let data = json!({"iccid": iccid, "country": country});
        record(id, "tern.network.attach", at, &data)
    };
    let hour = 3_600_000;
    let batch = [
        attach("a-1", at.plus_ms(-30 * hour), "PT"),
        attach("a-2", at.plus_ms(-29 * hour), "PT"),
        attach("a-3", at.plus_ms(-5 * hour), "PT"),
        attach("a-4", at.plus_ms(-8 * hour), "FR"),
    ];
    assert_eq!(verdicts(&world, &batch).await, ["accepted"; 4]);
    let told: Vec<_> = events(&world, &org).await.split_off(before);
    let code = |data: &Value| data["country"]["code"].clone();
    let told: Vec<_> = told.iter().map(|(kind, data)| (kind.as_str(), code(data))).collect();
    let change = |code: &str| ("CountryChange", json!(code));
    assert_eq!(told, [("FirstAttachment", Value::Null), change("PT"), change("PT"), change("FR")]);
    // The last one to arrive is not the latest one.
    let seen = of(&world, &org, &iccid, "/location").await;
    assert_eq!(seen["country"], "PT");
    about(&seen["lastSeen"], at.plus_ms(-5 * hour));
    assert_eq!(latest(&world, &org, &iccid, PT).await["bundleState"], "queued");
}

async fn an_installation_goes_on_step_by_step(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let at = now(&world, &org).await.plus_ms(-100_000);
    let shown = async || {
        let shown = world.get(&format!("/v2.3/esims/{iccid}"), &org.key).await.json_of(200);
        (text(&shown["profileStatus"]), shown["firstInstalledDateTime"].clone())
    };
    let mut number = 0;
    let mut tell = async |status: &str| {
        number += 1;
        let data = json!({"iccid": iccid, "status": status});
        let at = at.plus_ms(number * 1_000);
        let told = record(&number.to_string(), "tern.profile.progress", at, &data);
        assert_eq!(verdicts(&world, &[told]).await, ["accepted"], "{status}");
        shown().await
    };
    assert_eq!(tell("Downloaded").await, ("Downloaded".to_owned(), Value::Null));
    let first = json!(at.plus_ms(2_000).to_string());
    assert_eq!(tell("Installed").await, ("Installed".to_owned(), first.clone()));
    assert_eq!(tell("Downloaded").await, ("Installed".to_owned(), first.clone()), "never back");
    assert_eq!(tell("Released").await, ("Released".to_owned(), first.clone()));
    assert_eq!(tell("Installed").await, ("Installed".to_owned(), first.clone()));
    assert_eq!(tell("Unavailable").await, ("Unavailable".to_owned(), first.clone()));
    assert_eq!(tell("Installed").await, ("Unavailable".to_owned(), first), "for good");
}

async fn a_record_counts_once_for_ever(home: Home) {
    let mut world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let at = now(&world, &org).await;
    let one = used("r-1", &iccid, at, 1_000);
    // Twice in one batch, with other contents: the first one counts.
    let other = used("r-1", &iccid, at, 77_777);
    let batch = [one.clone(), other, used("r-2", &iccid, at, 10)];
    assert_eq!(verdicts(&world, &batch).await, ["accepted", "duplicate", "accepted"]);
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 1_010);
    assert_eq!(verdicts(&world, &batch).await, ["duplicate"; 3]);
    // As another kind, or about another eSIM, it is the same record.
    let elsewhere = esim(&world, &org).await;
    let data = json!({"iccid": iccid, "country": "PT"});
    let again = [record("r-1", "tern.network.attach", at, &data), used("r-1", &elsewhere, at, 5)];
    assert_eq!(verdicts(&world, &again).await, ["duplicate"; 2]);
    // Of another source it is another one.
    let mut foreign = one.clone();
    foreign["source"] = json!("https://cdr.example/node-4");
    assert_eq!(verdicts(&world, &[foreign]).await, ["accepted"]);
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 2_010);
    world.restart(&[]).await;
    assert_eq!(verdicts(&world, std::slice::from_ref(&one)).await, ["duplicate"]);
    world.node.kill();
    world.node = Node::serve(&world.home, &[]).await;
    advance(&world, &org, 300 * DAY).await;
    assert_eq!(verdicts(&world, &[one]).await, ["duplicate"]);
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 2_010);
    let told = events(&world, &org).await;
    assert_eq!(told.iter().filter(|(kind, _)| kind == "Utilisation").count(), 3);
    verify(&world);
}

/// Records that break one rule each, and the rule; the good one they come from.
fn bad_records(iccid: &str, at: Timestamp) -> (Value, Vec<(Value, &'static str)>) {
    let good = used("bad", iccid, at, 1_000);
    let with = |path: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(path).expect("a field") = value;
        bad
    };
    let without = |name: &str| {
        let mut bad = good.clone();
        bad.as_object_mut().expect("fields").remove(name);
        bad
    };
    let mut bad = vec![
        (with("/specversion", json!("0.3")), "specversion must be 1.0"),
        (without("specversion"), "specversion must be 1.0"),
        (with("/id", json!("")), "id must have 1 to 255 characters"),
        (with("/id", json!("x".repeat(256))), "id must have 1 to 255 characters"),
        (without("source"), "source must have 1 to 255 characters"),
        (with("/source", json!("x".repeat(256))), "source must have 1 to 255 characters"),
        (with("/source", json!(5)), "source must have 1 to 255 characters"),
        (with("/type", json!("tern.usage.voice")), "type is not known"),
        (without("type"), "type is not known"),
        (with("/time", json!("yesterday")), "time must be an RFC 3339 date-time"),
        (without("time"), "time must be an RFC 3339 date-time"),
        (with("/data", json!([])), "data must be an object"),
        (without("data"), "iccid must be 18 to 20 digits"),
        (with("/data/iccid", json!("12345")), "iccid must be 18 to 20 digits"),
        (with("/data/iccid", json!(profile(4))), "iccid is not known"),
        (with("/data/iccid", json!(profile(40_000))), "iccid is not known"),
        (json!({}), "specversion must be 1.0"),
        (json!("no record"), "specversion must be 1.0"),
    ];
    bad.extend(bad_data(iccid, at));
    (good, bad)
}

/// The same for what a record tells.
fn bad_data(iccid: &str, at: Timestamp) -> Vec<(Value, &'static str)> {
    let of_kind = |kind: &str, mut fields: Value| {
        fields["iccid"] = json!(iccid);
        record("bad", kind, at, &fields)
    };
    let bytes = |fields: Value| {
        let why = "bytes must be a whole number from 1 to 1000000000000000";
        (of_kind("tern.usage.data", fields), why)
    };
    let country =
        |fields: Value| (of_kind("tern.network.attach", fields), "country must be an ISO code");
    let network =
        |fields: Value| (of_kind("tern.network.attach", fields), "network must be a TADIG code");
    let status = |fields: Value| {
        let why = "status must be Downloaded, Installed, Released or Unavailable";
        (of_kind("tern.profile.progress", fields), why)
    };
    vec![
        bytes(json!({"bytes": 0})),
        bytes(json!({"bytes": -1})),
        bytes(json!({"bytes": 1.5})),
        bytes(json!({"bytes": "5"})),
        bytes(json!({"bytes": 1_000_000_000_000_001_i64})),
        bytes(json!({})),
        country(json!({})),
        country(json!({"country": ""})),
        country(json!({"country": 351})),
        country(json!({"country": "United Kingdom"})),
        network(json!({"country": "PT", "network": 7})),
        network(json!({"country": "PT", "network": "x".repeat(99)})),
        status(json!({"status": "Deactivated"})),
        status(json!({"status": "installed"})),
        status(json!({"status": null})),
    ]
}

async fn a_bad_record_says_why_and_spoils_no_other(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let at = now(&world, &org).await;
    let (good, bad) = bad_records(&iccid, at);
    let before = world.home.dump().await;
    let batch: Vec<_> = bad.iter().map(|(record, _)| record.clone()).collect();
    let wanted: Vec<_> = bad.iter().map(|(_, why)| format!("rejected: {why}")).collect();
    assert_eq!(verdicts(&world, &batch).await, wanted);
    // What is about nobody's eSIM is kept to be looked at.
    let mut after = world.home.dump().await;
    assert_eq!(after.insert("strays".to_owned(), Vec::new()).map(|kept| kept.len()), Some(1));
    assert_eq!(after, before, "nothing of it counts");
    // Among good ones each is judged alone.
    let mut mixed = vec![used("g-0", &iccid, at, 7)];
    for (n, (record, _)) in bad.iter().enumerate() {
        mixed.extend([record.clone(), used(&format!("g-{}", n + 1), &iccid, at, 7)]);
    }
    let told = verdicts(&world, &mixed).await;
    let accepted = told.iter().filter(|verdict| *verdict == "accepted").count();
    assert_eq!((accepted, told.len()), (bad.len() + 1, 2 * bad.len() + 1));
    let sent = 7 * i64::try_from(accepted).expect("a few");
    assert_eq!(remaining(&world, &org, &iccid).await, GB - sent);
    // What was rejected is not known, and can be sent again when it is good.
    assert_eq!(verdicts(&world, &[good]).await, ["accepted"]);
    verify(&world);
}

async fn a_body_that_is_no_batch_is_refused(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let one = used("r-1", &iccid, now(&world, &org).await, 5);
    let before = world.home.dump().await;
    for body in ["", "{}", "[", "null", "5", "[{]", &one.to_string()] {
        let request = world.operator("POST", "/usage").header("Content-Type", "application/json");
        world.node.send(&request.body(body)).await.refused(400, "malformed-body");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_record_of_the_future_is_refused(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let clock = now(&world, &org).await;
    let ahead = |id: &str, seconds: i64| used(id, &iccid, clock.plus_ms(seconds * 1_000), 5);
    let batch = [ahead("r-1", 290), ahead("r-2", 400), ahead("r-3", 40 * DAY)];
    let future = "rejected: time is in the future";
    assert_eq!(verdicts(&world, &batch).await, ["accepted", future, future]);
    // By the organisation's own clock, the day comes.
    advance(&world, &org, 5 * DAY).await;
    assert_eq!(verdicts(&world, &batch).await, ["duplicate", "accepted", future]);
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 10);
}

async fn a_late_record_is_overshoot(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(DE, 1)]).await;
    let iccid = esim(&world, &org).await;
    consume(&world, &org, &iccid, 5).await;
    let at = now(&world, &org).await;
    put_onto(&world, &org, &iccid, DE).await;
    advance(&world, &org, 7 * DAY + 60).await;
    assert_eq!(latest(&world, &org, &iccid, DE).await["bundleState"], "active");
    let before = events(&world, &org).await;
    // Used while the first one lasted, told of when it is over: nobody pays, nobody hears of it.
    assert_eq!(verdicts(&world, &[used("late", &iccid, at, 1_000)]).await, ["accepted"]);
    assert_eq!(latest(&world, &org, &iccid, DE).await["remainingQuantity"], 2 * GB);
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 5);
    assert_eq!(events(&world, &org).await, before);
    assert_eq!(verdicts(&world, &[used("late", &iccid, at, 1_000)]).await, ["duplicate"]);
    let clock = now(&world, &org).await;
    assert_eq!(verdicts(&world, &[used("new", &iccid, clock, 1_000)]).await, ["accepted"]);
    assert_eq!(latest(&world, &org, &iccid, DE).await["remainingQuantity"], 2 * GB - 1_000);
    verify(&world);
}

async fn the_order_of_arrival_decides_who_pays(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(FR, 1)]).await;
    let iccid = esim(&world, &org).await;
    put_onto(&world, &org, &iccid, FR).await;
    let at = now(&world, &org).await;
    // The later one arrives first and takes most of the first bundle.
    let batch = [
        used("later", &iccid, at, GB - 100),
        used("earlier", &iccid, at.plus_ms(-DAY * 1_000), 300),
        used("last", &iccid, at.plus_ms(-2 * DAY * 1_000), 2 * GB),
    ];
    assert_eq!(verdicts(&world, &batch).await, ["accepted"; 3]);
    let told = events(&world, &org).await;
    let told = told.iter().filter(|(kind, _)| kind == "Utilisation");
    let left = |(_, data): &(String, Value)| {
        (text(&data["bundle"]["name"]), data["bundle"]["remainingQuantity"].clone())
    };
    let told: Vec<_> = told.map(left).collect();
    let (first, second) = (PT.name.to_owned(), FR.name.to_owned());
    let wanted = [
        (first.clone(), json!(100)),
        (first, json!(0)),
        (second.clone(), json!(GB - 200)),
        (second, json!(0)),
    ];
    assert_eq!(told, wanted);
    verify(&world);
}

async fn only_the_operator_reports(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let batch = json!([used("r-1", &iccid, now(&world, &org).await, 5)]);
    let before = world.home.dump().await;
    let request = || Request::post("/operator/v1/usage").json(&batch);
    for request in [
        request(),
        request().bearer("nonsense"),
        request().bearer(&org.key),
        request().key(&org.key),
    ] {
        let refusal = world.node.send(&request).await;
        assert_eq!(refusal.refused(401, "bad-operator-key"), "access denied");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_batch_has_a_limit_and_fits_it(home: Home) {
    let world = open(home, 5).await;
    let (org, other) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let [mine, theirs] = [esim(&world, &org).await, esim(&world, &other).await];
    let at = now(&world, &org).await;
    // Most of them about nobody's, and with names as long as they may be.
    let unknown = profile(90_000);
    let one = |n: usize| {
        let iccid = match n % 25 {
            0 => &mine,
            1 => &theirs,
            _ => &unknown,
        };
        let mut one = used(&format!("{n:0>255}"), iccid, at, 10);
        one["source"] = json!("s".repeat(255));
        one["data"]["country"] = json!("PT");
        one["data"]["network"] = json!("PRTXX");
        one
    };
    let mut batch: Vec<_> = (0..10_001).map(one).collect();
    let before = world.home.dump().await;
    let refusal = world.order("POST", "/usage", &json!(batch)).await;
    let message = "at most 10000 records can be sent at once";
    assert_eq!(refusal.refused(400, "too-many-records"), message);
    assert_eq!(world.home.dump().await, before, "all or nothing here");
    batch.pop();
    let told = verdicts(&world, &batch).await;
    let accepted = told.iter().filter(|verdict| *verdict == "accepted").count();
    let rejected = told.iter().filter(|verdict| *verdict == "rejected: iccid is not known").count();
    assert_eq!((accepted, rejected), (800, 9_200));
    assert_eq!(remaining(&world, &org, &mine).await, GB - 4_000);
    assert_eq!(remaining(&world, &other, &theirs).await, GB - 4_000);
    verify(&world);
}
