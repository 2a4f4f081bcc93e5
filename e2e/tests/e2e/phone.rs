//! The phones of a sandbox: install, remove, attach, use and number, good and bad.

use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::{
    alike, consume, deactivate, esim, happened, latest, of, phone, police, put_onto, states,
    stock_up, text,
};
use crate::harness::{Answer, Home, Org, Request, World, wait};
use crate::life_bundles::{DAY, about, time};
use crate::money::{advance, events};
use crate::shop::{FR, PLENTY, PT, iccid, now, open, reseller, verify};

crate::on_both! {
    a_phone_installs_and_removes_a_profile,
    an_esim_is_seen_where_its_phone_is,
    a_place_must_exist,
    data_is_a_whole_number_of_bytes,
    an_esim_gets_a_number_and_loses_it,
    a_phone_needs_an_esim_of_its_own_sandbox,
    a_suspended_esim_is_off_the_air,
    what_cannot_be_installed_is_not,
    a_reseller_lives_through_a_year_in_a_moment,
}

fn act(org: &Org, iccid: &str, act: &str, body: &Value) -> Request {
    Request::post(&format!("/sandbox/v1/esims/{iccid}/{act}")).key(&org.key).json(body)
}

async fn try_to(world: &World, org: &Org, iccid: &str, what: (&str, &Value)) -> Answer {
    world.node.send(&act(org, iccid, what.0, what.1)).await
}

/// Networks for two countries.
async fn bring_networks(world: &World) {
    let network = |iso: &str, name: &str, tagid: &str| {
        let mnc = if tagid.ends_with('X') { "98" } else { "97" };
        json!({"iso": iso, "name": name, "brandName": format!("{name} brand"), "mcc": "268",
            "mnc": mnc, "tagid": tagid, "speed": ["4G"]})
    };
    let body = json!({"networks": [
        network("PT", "Sagres Mobile", "PRTXX"),
        network("PT", "Faro Mobile", "PRTYY"),
        network("FR", "Brest Mobile", "FRAXX"),
    ]});
    world.order("POST", "/catalogue", &body).await.expect(200);
}

async fn a_phone_installs_and_removes_a_profile(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let shown = async |version: &str| {
        let shown = world.get(&format!("/{version}/esims/{iccid}"), &org.key).await.json_of(200);
        (text(&shown["profileStatus"]), shown["firstInstalledDateTime"].clone())
    };
    assert_eq!(shown("v2.5").await, ("Released".to_owned(), Value::Null));
    assert_eq!(shown("v2.0").await, ("Released".to_owned(), Value::Null));
    let began = now(&world, &org).await;
    let told = phone(&world, &org, &iccid, "install", &json!({})).await;
    let wanted = json!({"iccid": iccid, "profileStatus": "Installed", "msisdn": "", "country": "",
        "network": ""});
    assert_eq!(told, wanted);
    let (status, first) = shown("v2.2").await;
    assert_eq!(status, "Installed");
    about(&first, began);
    assert_eq!(shown("v2.5").await.1, json!(time(&first).ms()), "the same, as a number");
    // Once more changes nothing; neither does removing it, nor installing it again.
    for (what, status) in [
        ("install", "Installed"),
        ("remove", "Released"),
        ("remove", "Released"),
        ("install", "Installed"),
    ] {
        advance(&world, &org, DAY).await;
        let told = phone(&world, &org, &iccid, what, &json!({})).await;
        assert_eq!(told["profileStatus"], status, "{what}");
        assert_eq!(shown("v2.3").await, (status.to_owned(), first.clone()), "{what}");
    }
    // What is on it stays on it.
    assert_eq!(latest(&world, &org, &iccid, PT).await["bundleState"], "queued");
}

async fn an_esim_is_seen_where_its_phone_is(home: Home) {
    let world = open(home, 5).await;
    bring_networks(&world).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let nowhere = of(&world, &org, &iccid, "/location").await;
    let wanted = json!({"mobileNetworkCode": "", "networkName": "", "networkBrandName": "",
        "country": "", "lastSeen": null});
    assert_eq!(nowhere, wanted);
    // It is installed first, and registers on some network where none is named.
    let began = now(&world, &org).await;
    let told = phone(&world, &org, &iccid, "attach", &json!({"country": "FR"})).await;
    let wanted = json!({"iccid": iccid, "profileStatus": "Installed", "msisdn": "",
        "country": "FR", "network": "FRAXX"});
    assert_eq!(told, wanted);
    let body = json!({"country": "PT", "network": "PRTYY"});
    let told = phone(&world, &org, &iccid, "attach", &body).await;
    assert_eq!((&told["country"], &told["network"]), (&json!("PT"), &json!("PRTYY")));
    let mut seen = of(&world, &org, &iccid, "/location").await;
    about(&seen["lastSeen"], began);
    seen["lastSeen"] = json!("then");
    let wanted = json!({"mobileNetworkCode": "PRTYY", "networkName": "Faro Mobile",
        "networkBrandName": "Faro Mobile brand", "country": "PT", "lastSeen": "then"});
    assert_eq!(seen, wanted);
    // Removed from the phone it is remembered there; using data installs it again.
    phone(&world, &org, &iccid, "remove", &json!({})).await;
    assert_eq!(of(&world, &org, &iccid, "/location").await["country"], "PT");
    consume(&world, &org, &iccid, 5).await;
    assert_eq!(of(&world, &org, &iccid, "").await["profileStatus"], "Installed");
    assert_eq!(of(&world, &org, &iccid, "/location").await["mobileNetworkCode"], "PRTYY");
    let names = happened(&world, &org, &iccid).await;
    assert_eq!(names, ["eSIM First Use", "eSIM First Attachment", "Bundle Applied"]);
}

async fn a_place_must_exist(home: Home) {
    let world = open(home, 5).await;
    bring_networks(&world).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let before = world.home.dump().await;
    for (body, code, message) in [
        (json!({"country": "ZZ"}), "invalid-parameter", "invalid country"),
        (json!({"country": "pt"}), "invalid-parameter", "invalid country"),
        (json!({"country": "Portugal"}), "invalid-parameter", "invalid country"),
        (json!({"country": ""}), "invalid-parameter", "invalid country"),
        (json!({"country": "PT", "network": "FRAXX"}), "invalid-parameter", "invalid network"),
        (json!({"country": "PT", "network": "prtxx"}), "invalid-parameter", "invalid network"),
        (json!({}), "missing-parameter", "country is required"),
        (json!({"network": "PRTXX"}), "missing-parameter", "country is required"),
    ] {
        let refusal = try_to(&world, &org, &iccid, ("attach", &body)).await;
        assert_eq!(refusal.refused(400, code), message, "{body}");
    }
    for body in [json!({"country": 351}), json!({"country": ["PT"]}), json!([])] {
        let refusal = try_to(&world, &org, &iccid, ("attach", &body)).await;
        refusal.refused(400, "malformed-body");
    }
    assert_eq!(world.home.dump().await, before);
    // A country of the world is one, whether or not anything is sold for it.
    let told = phone(&world, &org, &iccid, "attach", &json!({"country": "JP"})).await;
    assert_eq!((&told["country"], &told["network"]), (&json!("JP"), &json!("")));
    let (kind, data) = events(&world, &org).await.pop().expect("an event");
    assert_eq!((kind.as_str(), &data["country"]["name"]), ("CountryChange", &json!("Japan")));
}

async fn data_is_a_whole_number_of_bytes(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let before = world.home.dump().await;
    for bytes in [
        "0",
        "-1",
        "1.5",
        "1000000000000001",
        "9223372036854775807",
        "9223372036854775808",
        "1e30",
        "-9223372036854775808",
    ] {
        let request = Request::post(&format!("/sandbox/v1/esims/{iccid}/use")).key(&org.key);
        let body = format!("{{\"bytes\":{bytes}}}");
        let request = request.header("Content-Type", "application/json").body(body);
        let refusal = world.node.send(&request).await;
        assert_eq!(refusal.refused(400, "invalid-parameter"), "invalid bytes", "{bytes}");
    }
    for body in [json!({"bytes": "5"}), json!({"bytes": true}), json!({"bytes": [5]})] {
        try_to(&world, &org, &iccid, ("use", &body)).await.refused(400, "malformed-body");
    }
    let refusal = try_to(&world, &org, &iccid, ("use", &json!({}))).await;
    assert_eq!(refusal.refused(400, "missing-parameter"), "bytes is required");
    assert_eq!(world.home.dump().await, before);
    // The least and the most.
    let id = text(&latest(&world, &org, &iccid, PT).await["id"]);
    let used = phone(&world, &org, &iccid, "use", &json!({"bytes": 1})).await;
    let charged = json!([{"id": id, "bundle": PT.name, "bytes": 1}]);
    assert_eq!(used, json!({"iccid": iccid, "charged": charged, "overshoot": 0}));
    let most = 1_000_000_000_000_000_i64;
    let used = phone(&world, &org, &iccid, "use", &json!({ "bytes": most })).await;
    let charged = json!([{"id": id, "bundle": PT.name, "bytes": 999_999_999}]);
    let wanted = json!({"iccid": iccid, "charged": charged, "overshoot": most - 999_999_999});
    assert_eq!(used, wanted);
    verify(&world);
}

async fn an_esim_gets_a_number_and_loses_it(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    for (given, known) in [("447700900123", "447700900123"), ("+351912345678", "351912345678")] {
        let told = phone(&world, &org, &iccid, "msisdn", &json!({ "msisdn": given })).await;
        assert_eq!(told["msisdn"], known);
        assert_eq!(of(&world, &org, &iccid, "").await["msisdn"], known);
    }
    let before = world.home.dump().await;
    for bad in ["", "abc", "0123456789", "12345", "1234567890123456", "44 7700 900123", "++4477009"]
    {
        let refusal = try_to(&world, &org, &iccid, ("msisdn", &json!({ "msisdn": bad }))).await;
        assert_eq!(refusal.refused(400, "invalid-parameter"), "invalid msisdn", "{bad}");
    }
    let refusal = try_to(&world, &org, &iccid, ("msisdn", &json!({}))).await;
    assert_eq!(refusal.refused(400, "missing-parameter"), "msisdn is required");
    let refusal = try_to(&world, &org, &iccid, ("msisdn", &json!({"msisdn": 447_700}))).await;
    refusal.refused(400, "malformed-body");
    assert_eq!(world.home.dump().await, before);
    let told = phone(&world, &org, &iccid, "msisdn", &json!({"msisdn": null})).await;
    assert_eq!(told["msisdn"], "");
    let sms = Request::post(&format!("/v2.5/esims/{iccid}/sms")).key(&org.key);
    let sms = sms.json(&json!({"message": "hello"}));
    world.node.send(&sms).await.refused(400, "no-msisdn");
}

/// Everything a phone does, each good in itself.
fn acts() -> [(&'static str, Value); 5] {
    [
        ("install", json!({})),
        ("remove", json!({})),
        ("attach", json!({"country": "PT"})),
        ("use", json!({"bytes": 5})),
        ("msisdn", json!({"msisdn": "447700900123"})),
    ]
}

async fn a_phone_needs_an_esim_of_its_own_sandbox(home: Home) {
    let world = open(home, 5).await;
    let (org, other) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let live = world.add_live("Live").await;
    let mine = esim(&world, &org).await;
    let theirs = esim(&world, &other).await;
    let before = world.home.dump().await;
    for (what, body) in acts() {
        for iccid in [&mine, &theirs, &iccid(3)] {
            let refusal = try_to(&world, &live, iccid, (what, &body)).await;
            assert_eq!(refusal.refused(403, "live-organisation"), "access denied");
        }
        let refusals = vec![
            try_to(&world, &org, &theirs, (what, &body)).await,
            try_to(&world, &org, &iccid(3), (what, &body)).await,
            try_to(&world, &org, &iccid(99_999), (what, &body)).await,
        ];
        assert_eq!(alike(refusals, 403, "not-your-esim"), "access denied", "{what}");
        let refusal = try_to(&world, &org, "89430010000000264", (what, &body)).await;
        refusal.refused(400, "invalid-iccid");
        let nobody = Request::post(&format!("/sandbox/v1/esims/{mine}/{what}")).json(&body);
        world.node.send(&nobody).await.refused(403, "bad-key");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_suspended_esim_is_off_the_air(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim(&world, &org).await;
    let suspend = async |on: bool| {
        let request = Request::post(&format!("/v2.5/esims/{iccid}/suspend")).key(&org.key);
        world.node.send(&request.json(&json!({ "suspend": on }))).await.expect(201);
    };
    consume(&world, &org, &iccid, 5).await;
    for by_policy in [false, true] {
        if by_policy {
            assert_eq!(police(&world, &iccid, true).await, "suspended");
        } else {
            suspend(true).await;
        }
        let before = (latest(&world, &org, &iccid, PT).await, events(&world, &org).await);
        for (what, body) in acts() {
            let answer = try_to(&world, &org, &iccid, (what, &body)).await;
            if ["attach", "use"].contains(&what) {
                assert_eq!(answer.refused(400, "esim-suspended"), "esim is suspended");
            } else {
                answer.expect(200);
            }
        }
        let after = (latest(&world, &org, &iccid, PT).await, events(&world, &org).await);
        assert_eq!(after, before);
        if by_policy {
            assert_eq!(police(&world, &iccid, false).await, "active");
        } else {
            suspend(false).await;
        }
        consume(&world, &org, &iccid, 5).await;
    }
    // The clocks of its bundles keep running.
    suspend(true).await;
    advance(&world, &org, 7 * DAY).await;
    assert_eq!(latest(&world, &org, &iccid, PT).await["bundleState"], "expired");
}

async fn what_cannot_be_installed_is_not(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let [broken, dead] = [esim(&world, &org).await, esim(&world, &org).await];
    let at = now(&world, &org).await.to_string();
    let record = json!([{"specversion": "1.0", "id": "1", "source": "rsp", "time": at,
        "type": "tern.profile.progress", "data": {"iccid": broken, "status": "Unavailable"}}]);
    let told = world.order("POST", "/usage", &record).await.json_of(200);
    assert_eq!(told["results"][0]["verdict"], "accepted");
    deactivate(&world, &dead).await;
    let before = world.home.dump().await;
    for (what, body) in acts() {
        let answer = try_to(&world, &org, &dead, (what, &body)).await;
        assert_eq!(answer.refused(400, "esim-deactivated"), "esim is deactivated");
        if ["install", "attach", "use"].contains(&what) {
            let answer = try_to(&world, &org, &broken, (what, &body)).await;
            assert_eq!(answer.refused(400, "esim-unavailable"), "esim cannot be installed");
        }
    }
    assert_eq!(world.home.dump().await, before);
    assert_eq!(of(&world, &org, &broken, "").await["profileStatus"], "Unavailable");
    phone(&world, &org, &broken, "remove", &json!({})).await;
    assert_eq!(of(&world, &org, &broken, "").await["profileStatus"], "Unavailable", "for good");
}

/// What a reseller's own test does: a traveller's year, without waiting for it.
async fn a_reseller_lives_through_a_year_in_a_moment(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 12), (FR, 1)]).await;
    let iccid = esim(&world, &org).await;
    let year = async {
        for month in 0..12 {
            put_onto(&world, &org, &iccid, PT).await;
            let country = if month % 2 == 0 { "PT" } else { "FR" };
            phone(&world, &org, &iccid, "attach", &json!({ "country": country })).await;
            consume(&world, &org, &iccid, 1_000_000_000).await;
            advance(&world, &org, 30 * DAY).await;
        }
    };
    let ((), took) = wait::timed(year).await;
    assert!(took < Duration::from_secs(20), "a year takes {took:?}");
    put_onto(&world, &org, &iccid, FR).await;
    let all = states(&world, &org, &iccid).await;
    let over = all.iter().filter(|(_, state)| state == "expired").count();
    // One was there from the start, and each month used the oldest one that was left.
    assert_eq!((over, all.len()), (12, 14), "{all:?}");
    assert_eq!(all[12].1, "queued");
    let told = events(&world, &org).await;
    let count = |kind: &str| told.iter().filter(|(own, _)| own == kind).count();
    let counts = [count("FirstAttachment"), count("FirstUse"), count("CountryChange")];
    assert_eq!((counts, count("Utilisation")), ([1, 1, 12], 12));
    assert_eq!(count("esim.deletion_scheduled"), 0);
    advance(&world, &org, 2 * 366 * DAY).await;
    let told = events(&world, &org).await;
    let last: Vec<_> = told[told.len() - 2..].iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(last, ["esim.deletion_scheduled", "esim.deleted"]);
    verify(&world);
}
