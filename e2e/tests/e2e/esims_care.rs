//! What an owner asks of one eSIM: to register again, where it is, what fits it, to stop it for a
//! while or for ever; and how somebody else's looks.

use serde_json::{Value, json};

use crate::desk::{
    alike, deactivate, esim, esims, happened, number, of, on, phone, police, put_onto, since,
    stock_up, take_off, text,
};
use crate::harness::{Answer, Home, Org, Request, World};
use crate::money::{advance, events, prefixes};
use crate::shop::{
    FR, IE_IN_EUROS, OTHER_PROFILE, PLENTY, PT, US, credit, fill, has, iccid, iccids, onto_new,
    open, order, reseller, verify,
};

crate::on_both! {
    a_refresh_is_noted_and_changes_nothing_else,
    a_live_organisation_without_a_network_cannot_refresh,
    a_bundle_fits_the_esims_of_its_profile,
    an_esim_that_was_never_seen_is_nowhere,
    an_owner_suspends_and_lifts,
    a_suspension_by_policy_is_not_the_owners_to_lift,
    a_suspended_esim_keeps_its_bundles_and_takes_more,
    a_dead_esim_refuses_what_the_contract_says,
    a_deleted_esim_is_unknown_for_ever,
    an_esim_of_somebody_else_looks_like_none,
    a_number_that_is_none_is_refused_everywhere,
    an_operation_that_a_version_lacks_is_unknown_there,
    the_operator_must_say_why_and_about_what,
}

const NOBODY: &str = "8943001999999999993";

async fn a_refresh_is_noted_and_changes_nothing_else(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    for (version, prefix) in since("v2.1") {
        advance(&world, &org, 60).await;
        let before = (of(&world, &org, &own, "").await, on(&world, &org, &own).await);
        let told = happened(&world, &org, &own).await.len();
        let target = format!("{prefix}/esims/{own}/refresh");
        let answer = world.get(&target, &org.key).await.json_of(200);
        let name = if version.name() >= "v2.4" { "status" } else { "message" };
        assert_eq!(answer, json!({ name: "Successfully refreshed SIM" }), "{prefix}");
        assert_eq!((of(&world, &org, &own, "").await, on(&world, &org, &own).await), before);
        let history = happened(&world, &org, &own).await;
        assert_eq!((history.len(), history[0].as_str()), (told + 1, "eSIM Refreshed"), "{prefix}");
        assert_eq!(esims(&world, &org).await[0]["lastAction"], "eSIM Refreshed", "{prefix}");
        // It has an effect each time, and a key in the query is enough for a GET.
        let target = format!("{target}?api_key={}", org.key);
        world.node.send(&Request::get(&target)).await.expect(200);
        assert_eq!(happened(&world, &org, &own).await.len(), told + 2, "{prefix}");
    }
}

async fn a_live_organisation_without_a_network_cannot_refresh(home: Home) {
    let world = open(home, 0).await;
    let live = world.add_live("Live").await;
    credit(&world, &live, PLENTY).await;
    let profile = json!({"iccid": iccid(1), "matchingId": crate::shop::matching_id(1),
                         "smdpAddress": "rsp.example"});
    let body = json!({ "profiles": [profile] });
    world.order("POST", "/stock?mode=live", &body).await.expect(200);
    world.node.send(&order(&live, "/v2.5", &onto_new(&[(PT, 1)]))).await.expect(200);
    let before = world.home.dump().await;
    for (_, prefix) in since("v2.1") {
        let answer = world.get(&format!("{prefix}/esims/{}/refresh", iccid(1)), &live.key).await;
        assert_eq!(answer.refused(503, "unavailable"), "service unavailable", "{prefix}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_bundle_fits_the_esims_of_its_profile(home: Home) {
    let world = open(home, 1).await;
    fill(&world, 101..102, OTHER_PROFILE).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let other = crate::desk::esim_with(&world, &org, US).await;
    let before = world.home.dump().await;
    for (version, prefix) in since("v2.2") {
        for (esim, bundle, fits) in [
            (&own, PT.name, true),
            (&own, FR.name, true),
            (&own, US.name, false),
            (&other, PT.name, false),
            (&other, US.name, true),
            (&own, IE_IN_EUROS.name, true),
            (&own, "esim_1GB_7D_XX_V2", false),
            (&own, "ESIM_1GB_7D_PT_V2", false),
            (&own, "%20", false),
            (&own, "%00", false),
        ] {
            let target = format!("{prefix}/esims/{esim}/compatible/{bundle}");
            let told = world.get(&target, &org.key).await.json_of(200);
            let message = if fits {
                "bundle is compatible with esim"
            } else {
                "bundle not compatible with esim"
            };
            let wanted = if version.name() >= "v2.4" {
                json!({ "compatible": fits })
            } else {
                json!({"compatible": fits, "message": message})
            };
            assert_eq!(told, wanted, "{target}");
        }
        let odd = world.get(&format!("{prefix}/esims/{own}/compatible/%ff"), &org.key).await;
        odd.expect(400);
    }
    assert_eq!(world.home.dump().await, before);
}

async fn an_esim_that_was_never_seen_is_nowhere(home: Home) {
    let world = open(home, 1).await;
    let network = |name: &str, code: &str, mnc: &str| {
        json!({"iso": "PT", "name": name, "brandName": "Sagres", "mcc": "268", "mnc": mnc,
               "tagid": code, "speed": ["4G"]})
    };
    let body =
        json!({"networks": [network("Alfa", "PRTAA", "97"), network("Beta", "PRTBB", "98")]});
    world.order("POST", "/catalogue", &body).await.expect(200);
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let place = async |prefix: &str| {
        world.get(&format!("{prefix}/esims/{own}/location"), &org.key).await.json_of(200)
    };
    let wanted = |prefix: &str, [code, name, brand, country]: [&str; 4], seen: Value| {
        let mut all = json!({"mobileNetworkCode": code, "networkName": name, "country": country,
                             "lastSeen": seen});
        if prefix >= "/v2.4" {
            all["networkBrandName"] = json!(brand);
        }
        all
    };
    for (_, prefix) in since("v2.1") {
        assert_eq!(place(prefix).await, wanted(prefix, [""; 4], Value::Null), "{prefix}");
    }
    for (body, told) in [
        (json!({"country": "PT", "network": "PRTBB"}), ["PRTBB", "Beta", "Sagres", "PT"]),
        (json!({"country": "PT", "network": "PRTAA"}), ["PRTAA", "Alfa", "Sagres", "PT"]),
        // A country of which no network is known.
        (json!({"country": "FR"}), ["", "", "", "FR"]),
    ] {
        advance(&world, &org, 3_600).await;
        let before = crate::shop::now(&world, &org).await.ms();
        phone(&world, &org, &own, "attach", &body).await;
        let seen = place("/v2.5").await["lastSeen"].clone();
        let at = domain::Timestamp::parse(&text(&seen)).expect("a time").ms();
        assert!((before..before + 60_000).contains(&at), "{seen}");
        for (_, prefix) in since("v2.1") {
            assert_eq!(place(prefix).await, wanted(prefix, told, seen.clone()), "{prefix}");
        }
    }
    let visited = world.get(&format!("/v2.5/esims/{own}/refresh"), &org.key).await;
    visited.expect(200);
    assert_eq!(place("/v2.5").await["country"], "FR", "it was last seen where it was");
}

fn suspend(org: &Org, esim: &str, body: &Value) -> Request {
    Request::post(&format!("/v2.5/esims/{esim}/suspend")).key(&org.key).json(body)
}

async fn is_suspended(world: &World, org: &Org, esim: &str) -> bool {
    let told = of(world, org, esim, "/suspend").await;
    let state = of(world, org, esim, "").await["state"].clone();
    assert_eq!(esims(world, org).await[0]["state"], state);
    let suspended = told["suspended"].as_bool().expect("a flag");
    assert_eq!(told, json!({ "suspended": suspended }));
    assert_eq!(state, if suspended { "suspended" } else { "active" });
    suspended
}

async fn an_owner_suspends_and_lifts(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let send = async |body: Value| world.node.send(&suspend(&org, &own, &body)).await;
    assert!(!is_suspended(&world, &org, &own).await);
    for _ in 0..2 {
        let text = send(json!({"suspend": false})).await.refused(400, "not-suspended");
        assert_eq!(text, "esim is not suspended");
        let told = send(json!({"suspend": true})).await.json_of(201);
        assert_eq!(told, json!({"status": "eSIM suspended successfully"}));
        assert!(is_suspended(&world, &org, &own).await);
        let text = send(json!({"suspend": true})).await.refused(400, "already-suspended");
        assert_eq!(text, "esim is already suspended");
        let told = send(json!({"Suspend": false})).await.json_of(201);
        assert_eq!(told, json!({"status": "eSIM unsuspended successfully"}));
        assert!(!is_suspended(&world, &org, &own).await);
    }
    let before = world.home.dump().await;
    for (body, code) in [
        (json!({}), "missing-parameter"),
        (json!({"suspend": null}), "missing-parameter"),
        (json!({"suspend": "true"}), "malformed-body"),
        (json!({"suspend": 1}), "malformed-body"),
        (json!([]), "malformed-body"),
    ] {
        send(body).await.refused(400, code);
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_suspension_by_policy_is_not_the_owners_to_lift(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let send =
        async |on: bool| world.node.send(&suspend(&org, &own, &json!({ "suspend": on }))).await;
    for first_own in [false, true] {
        if first_own {
            send(true).await.expect(201);
        }
        assert_eq!(police(&world, &own, true).await, "suspended");
        assert_eq!(police(&world, &own, true).await, "suspended", "once more changes nothing");
        assert!(is_suspended(&world, &org, &own).await);
        let text = send(false).await.refused(403, "suspension-locked");
        assert_eq!(text, "suspension cannot be lifted");
        send(true).await.refused(400, "already-suspended");
        assert!(is_suspended(&world, &org, &own).await);
        // The owner's own outlasts the operator's.
        let state = if first_own { "suspended" } else { "active" };
        assert_eq!(police(&world, &own, false).await, state);
        assert_eq!(is_suspended(&world, &org, &own).await, first_own);
        if first_own {
            send(false).await.expect(201);
        }
    }
    // What the owner has set, the owner lifts; the operator's word is not about that.
    send(true).await.expect(201);
    assert_eq!(police(&world, &own, false).await, "suspended");
    send(false).await.expect(201);
    let log = world.show("/audit?limit=1000").await.to_string();
    assert!(log.contains("esim.suspend") && log.contains("abuse"), "{log}");
}

async fn a_suspended_esim_keeps_its_bundles_and_takes_more(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    crate::desk::consume(&world, &org, &own, 5_000).await;
    let before = on(&world, &org, &own).await;
    world.node.send(&suspend(&org, &own, &json!({"suspend": true}))).await.expect(201);
    assert_eq!(on(&world, &org, &own).await, before);
    stock_up(&world, &org, &[(FR, 1)]).await;
    put_onto(&world, &org, &own, FR).await;
    let target = format!("/sandbox/v1/esims/{own}/use");
    let used = Request::post(&target).key(&org.key).json(&json!({"bytes": 5}));
    let text = world.node.send(&used).await.refused(400, "esim-suspended");
    assert_eq!(text, "esim is suspended");
    // The clock of the bundle runs on.
    advance(&world, &org, 7 * 86_400).await;
    let states = crate::desk::states(&world, &org, &own).await;
    let states: Vec<_> = states.iter().map(|(_, state)| state.as_str()).collect();
    assert_eq!(states, ["expired", "queued"]);
}

async fn a_dead_esim_refuses_what_the_contract_says(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    stock_up(&world, &org, &[(FR, 2)]).await;
    number(&world, &org, &own, &json!("447700900123")).await;
    police(&world, &own, true).await;
    deactivate(&world, &own).await;
    deactivate(&world, &own).await;
    let seen = of(&world, &org, &own, "").await;
    assert_eq!(
        (&seen["state"], &seen["profileStatus"]),
        (&json!("deactivated"), &json!("Deactivated"))
    );
    assert_eq!(esims(&world, &org).await[0]["state"], "deactivated");
    let before = world.home.dump().await;
    for (version, prefix) in prefixes() {
        let at = |path: &str| format!("{prefix}/esims{path}");
        let post = |path: &str, body: Value| Request::post(&at(path)).json(&body);
        let mut refused = vec![
            (post(&format!("/{own}/bundles"), json!({"name": FR.name})), 400),
            (post(&format!("/{own}/sms"), json!({"message": "x"})), 400),
            (Request::get(&at(&format!("/{own}/qr"))), 410),
        ];
        if version.name() >= "v2.1" {
            refused.push((post("/apply", json!({"iccid": own, "bundle": FR.name})), 400));
            refused.push((Request::get(&at(&format!("/{own}/refresh"))), 400));
        }
        for (request, status) in refused {
            let request = request.key(&org.key);
            let text = world.node.send(&request).await.refused(status, "esim-deactivated");
            assert_eq!(text, "esim is deactivated", "{}", request.target);
        }
        // It can still be looked at.
        for path in ["", "/bundles", "/history", "/location"] {
            if version.name() >= "v2.1" || ["", "/bundles"].contains(&path) {
                world.get(&at(&format!("/{own}{path}")), &org.key).await.expect(200);
            }
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_deleted_esim_is_unknown_for_ever(home: Home) {
    let world = open(home, 3).await;
    let org = reseller(&world, PLENTY).await;
    let (own, other) = (esim(&world, &org).await, esim(&world, &org).await);
    stock_up(&world, &org, &[(FR, 3)]).await;
    for good in [FR, FR] {
        put_onto(&world, &org, &own, good).await;
    }
    crate::desk::consume(&world, &org, &own, 5_000).await;
    let had = has(&world, &org).await;
    let delete = Request::new("DELETE", &format!("/v2.5/esims/{own}")).key(&org.key);
    let told = world.node.send(&delete).await.json_of(200);
    assert_eq!(told, json!({"status": "eSIM deleted successfully"}));
    assert_eq!(has(&world, &org).await, had, "nothing comes back");
    let told = events(&world, &org).await;
    let gone: Vec<_> = told.iter().filter(|(kind, _)| kind == "esim.deleted").collect();
    assert_eq!(gone.len(), 1, "{told:?}");
    assert!(gone[0].1.to_string().contains(&own), "{gone:?}");
    let listed: Vec<_> = esims(&world, &org).await;
    assert_eq!(
        listed.iter().map(|one| text(&one["iccid"])).collect::<Vec<_>>(),
        std::slice::from_ref(&other)
    );
    world.node.send(&delete).await.refused(403, "not-your-esim");
    for (version, prefix) in prefixes() {
        for (request, status) in foreign_calls(version.name(), prefix, &own) {
            let request = request.key(&org.key);
            let gone = world.node.send(&request).await;
            let unknown = request.clone().replaced(&own, NOBODY);
            let unknown = world.node.send(&unknown).await;
            alike(vec![gone, unknown], status, "not-your-esim");
        }
    }
    // Nor can the operator find it, and nobody gets it again.
    let body = json!({"suspend": true, "reason": "x"});
    let refusal = world.order("POST", &format!("/esims/{own}/suspend"), &body).await;
    assert_eq!(refusal.refused(404, "unknown-esim"), "esim not found");
    assert_ne!(esim(&world, &org).await, own);
    // The rest of the organisation is untouched.
    assert_eq!(crate::desk::states(&world, &org, &other).await.len(), 1);
    verify(&world);
}

/// Every call that names one eSIM, with the status for one that is not the caller's.
fn foreign_calls(version: &str, prefix: &str, esim: &str) -> Vec<(Request, u16)> {
    let at = |path: &str| format!("{prefix}/esims{path}").replace("{}", esim);
    let get = |path: &str| Request::get(&at(path));
    let post = |path: &str, body: Value| Request::post(&at(path)).json(&body);
    let delete = |path: &str| Request::new("DELETE", &at(path));
    let pt = PT.name;
    let open = if version >= "v2.4" { 403 } else { 400 };
    let mut all = vec![
        (get("/{}"), open),
        (get("/{}/bundles"), 403),
        (get(&format!("/{{}}/bundles/{pt}")), 403),
        (get("/{}/qr"), 403),
        (post("/{}/sms", json!({"message": "x"})), 403),
        (post("/{}/bundles", json!({"name": FR.name})), 403),
        (delete(&format!("/{{}}/bundles/{pt}")), 403),
        (delete(&format!("/{{}}/bundles/{pt}?type=validate")), 403),
    ];
    if version == "v2.0" {
        all.push((delete(&format!("/{{}}/bundles/{pt}/offers/1")), 403));
        return all;
    }
    all.push((get("/{}/history"), open));
    all.push((get("/{}/refresh"), open));
    all.push((get("/{}/location"), 403));
    all.push((delete(&format!("/{{}}/bundles/{pt}/applications/1")), 403));
    all.push((post("/apply", json!({"iccid": esim, "bundle": FR.name})), 403));
    let note = json!({"iccid": esim, "customerRef": "x"});
    all.push((Request::new("PUT", &at("")).json(&note), 403));
    if version >= "v2.2" {
        all.push((get(&format!("/{{}}/compatible/{pt}")), open));
        all.push((delete(&format!("/{{}}/bundles/{pt}/assignments/1")), 403));
    }
    if version >= "v2.5" {
        all.push((delete("/{}"), 403));
        all.push((get("/{}/suspend"), 403));
        all.push((post("/{}/suspend", json!({"suspend": true})), 403));
    }
    all
}

async fn an_esim_of_somebody_else_looks_like_none(home: Home) {
    let world = open(home, 3).await;
    let (mine, theirs) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    esim(&world, &mine).await;
    stock_up(&world, &mine, &[(FR, 1)]).await;
    let foreign = esim(&world, &theirs).await;
    let before = world.home.dump().await;
    for (version, prefix) in prefixes() {
        for (request, status) in foreign_calls(version.name(), prefix, &foreign) {
            let request = request.key(&mine.key);
            let mut answers: Vec<Answer> = vec![world.node.send(&request).await];
            // Nobody's, one that waits in the stock, the shortest and the longest.
            for other in [NOBODY, &iccid(3), &"8".repeat(18), &"9".repeat(20)] {
                answers.push(world.node.send(&request.clone().replaced(&foreign, other)).await);
            }
            let text = alike(answers, status, "not-your-esim");
            let wanted = if status == 403 { "access denied" } else { "iccid not found" };
            assert_eq!(text, wanted, "{} {}", request.method, request.target);
        }
    }
    let phone = ["install", "remove", "attach", "use", "msisdn"].map(|act| {
        let target = format!("/sandbox/v1/esims/{foreign}/{act}");
        Request::post(&target).json(&json!({"country": "PT", "bytes": 5, "msisdn": null}))
    });
    let messages = Request::get(&format!("/sandbox/v1/esims/{foreign}/messages"));
    for request in phone.into_iter().chain([messages]) {
        let request = request.key(&mine.key);
        let theirs = world.node.send(&request).await;
        let nobodys = world.node.send(&request.clone().replaced(&foreign, NOBODY)).await;
        alike(vec![theirs, nobodys], 403, "not-your-esim");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_number_that_is_none_is_refused_everywhere(home: Home) {
    let world = open(home, 2).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    stock_up(&world, &org, &[(FR, 1)]).await;
    let before = world.home.dump().await;
    let short = own[..17].to_owned();
    for (version, prefix) in prefixes() {
        for (request, _) in foreign_calls(version.name(), prefix, &own) {
            let request = request.key(&org.key);
            for odd in [&short, "8943001-0000-0000-11", "iccid", "89430010000000000000F1"] {
                let refusal = world.node.send(&request.clone().replaced(&own, odd)).await;
                let text = refusal.refused(400, "invalid-iccid");
                assert_eq!(text, "invalid iccid", "{} {odd}", request.target);
            }
        }
        for odd in ["%20", "%00", "%ff", "8943001%2f0"] {
            let answer = world.get(&format!("{prefix}/esims/{odd}/bundles"), &org.key).await;
            answer.refused(400, "invalid-iccid");
        }
    }
    assert_eq!(world.home.dump().await, before);
    // One trailing filler is cut off, and never comes back.
    for (_, prefix) in prefixes() {
        for end in ["F", "f"] {
            let shown = world.get(&format!("{prefix}/esims/{own}{end}"), &org.key).await;
            assert_eq!(shown.json_of(200)["iccid"], own, "{prefix}");
        }
        let twice = world.get(&format!("{prefix}/esims/{own}FF"), &org.key).await;
        twice.refused(400, "invalid-iccid");
    }
}

async fn an_operation_that_a_version_lacks_is_unknown_there(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let pt = PT.name;
    let lacking = [
        ("PUT", "/esims".to_owned(), "v2.1"),
        ("POST", "/esims/apply".into(), "v2.1"),
        ("GET", format!("/esims/{own}/history"), "v2.1"),
        ("GET", format!("/esims/{own}/refresh"), "v2.1"),
        ("GET", format!("/esims/{own}/location"), "v2.1"),
        ("GET", "/esims/qr/x".into(), "v2.1"),
        ("GET", "/esims/csv/x".into(), "v2.1"),
        ("DELETE", format!("/esims/{own}/bundles/{pt}/applications/1"), "v2.1"),
        ("GET", "/esims/assignments".into(), "v2.2"),
        ("GET", format!("/esims/{own}/compatible/{pt}"), "v2.2"),
        ("DELETE", format!("/esims/{own}/bundles/{pt}/assignments/1"), "v2.2"),
        ("DELETE", format!("/esims/{own}"), "v2.5"),
        ("GET", format!("/esims/{own}/suspend"), "v2.5"),
        ("POST", format!("/esims/{own}/suspend"), "v2.5"),
    ];
    let before = world.home.dump().await;
    for (version, prefix) in prefixes() {
        for (method, path, first) in &lacking {
            if version.name() >= *first {
                continue;
            }
            let target = format!("{prefix}{path}");
            for request in [
                Request::new(method, &target).key(&org.key),
                Request::new(method, &target),
                Request::new(method, &target).key(&org.key).json(&json!({"bundle": pt})),
            ] {
                let text = world.node.send(&request).await.refused(404, "unknown-route");
                assert_eq!(text, "no such route", "{method} {target}");
            }
        }
        if version.name() >= "v2.1" {
            let offers = take_off(&org, prefix, &own, &format!("{pt}/offers/1"));
            world.node.send(&offers).await.refused(404, "unknown-route");
        }
        // Methods that no version knows there.
        for (method, path) in [
            ("PATCH", "/esims".to_owned()),
            ("DELETE", "/esims/apply".into()),
            ("PUT", format!("/esims/{own}")),
            ("PUT", format!("/esims/{own}/bundles/{pt}")),
            ("DELETE", format!("/esims/{own}/sms")),
        ] {
            let answer = world.node.send(&Request::new(method, &format!("{prefix}{path}"))).await;
            let is_there = version.name() >= "v2.1" || path != "/esims/apply";
            if is_there {
                answer.refused(405, "method-not-allowed");
            } else {
                answer.refused(404, "unknown-route");
            }
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn the_operator_must_say_why_and_about_what(home: Home) {
    let world = open(home, 2).await;
    let org = reseller(&world, PLENTY).await;
    let own = iccids(&crate::shop::buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await);
    let before = world.home.dump().await;
    for act in ["suspend", "deactivate"] {
        let path = |esim: &str| format!("/esims/{esim}/{act}");
        let body = |reason: Value| json!({"suspend": true, "reason": reason});
        for esim in [NOBODY, &iccid(2)] {
            let refusal = world.order("POST", &path(esim), &body(json!("x"))).await;
            assert_eq!(refusal.refused(404, "unknown-esim"), "esim not found", "{act} {esim}");
        }
        for (esim, reason, code) in [
            (own[0].as_str(), json!(""), "invalid-field"),
            (&own[0], json!("x".repeat(1_001)), "invalid-field"),
            (&own[0], Value::Null, "missing-parameter"),
            (&own[0], json!(5), "malformed-body"),
            ("none", json!("x"), "invalid-iccid"),
        ] {
            world.order("POST", &path(esim), &body(reason)).await.refused(400, code);
        }
    }
    let no_flag = json!({"reason": "x"});
    let refusal = world.order("POST", &format!("/esims/{}/suspend", own[0]), &no_flag).await;
    assert_eq!(refusal.refused(400, "missing-parameter"), "suspend is required");
    assert_eq!(world.home.dump().await, before);
}
