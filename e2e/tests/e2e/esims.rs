//! eSIMs as every version shows them: the list, one of them, the note on it and its history.

use std::collections::BTreeSet;

use domain::Timestamp;
use serde_json::{Value, json};

use crate::desk::{
    apply_reference, esim, esim_with, esims, happened, of, phone, put_on, since, stock_up, text,
};
use crate::esims_shapes::{self, Shapes};
use crate::harness::{Answer, Home, Org, Request, World};
use crate::money::{advance, prefixes};
use crate::shop::{FR, PLENTY, PT, US, iccid, matching_id, now, open, reseller};

crate::on_both! {
    every_version_tells_an_esim_in_its_own_form,
    install_addresses_are_told_when_asked_for,
    the_first_installation_is_remembered,
    the_list_is_read_page_by_page,
    the_list_is_filtered,
    early_versions_filter_by_number_only,
    the_list_is_sorted,
    a_page_a_filter_or_an_order_that_is_none_is_refused,
    a_note_is_put_on_an_esim_and_taken_off,
    a_note_that_does_not_fit_is_refused,
    the_history_is_whole_or_read_page_by_page,
    nobody_sees_the_esims_of_others,
}

const DAY: i64 = 86_400;

/// What varies gets a name, so that the rest can be compared.
struct Names {
    iccid: String,
    code: String,
    /// When the story began.
    since: Timestamp,
    reference: String,
}

impl Names {
    fn read(&self, answer: Answer) -> Value {
        let mut text = answer.expect(200).text();
        for (own, name) in [(&self.iccid, "ICCID"), (&self.code, "CODE"), (&self.reference, "REF")]
        {
            text = if own.is_empty() { text } else { text.replace(own.as_str(), name) };
        }
        let mut value = serde_json::from_str(&text.replace(PT.name, "PT")).expect("JSON");
        self.name(&mut value);
        value
    }

    fn name(&self, value: &mut Value) {
        match value {
            Value::Array(list) => list.iter_mut().for_each(|one| self.name(one)),
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    match (name.as_str(), &value) {
                        ("id" | "offerId", Value::String(id)) => {
                            assert!(id.bytes().all(|b| b.is_ascii_digit()), "{id}");
                            *value = json!("ID");
                        }
                        ("firstInstalledDateTime", Value::Number(ms)) => {
                            self.is_now(ms.as_i64().expect("whole"), 0);
                            *value = json!("MILLISECONDS");
                        }
                        ("endTime", Value::String(_)) => self.time(value, 7 * DAY),
                        ("applyReference", _) => *value = json!("REF"),
                        (name, Value::String(_)) if is_time(name) => self.time(value, 0),
                        _ => self.name(value),
                    }
                }
            }
            _ => {}
        }
    }

    fn time(&self, value: &mut Value, later: i64) {
        let time = Timestamp::parse(value.as_str().expect("a time")).expect("a time");
        self.is_now(time.ms(), later);
        *value = json!("TIME");
    }

    fn is_now(&self, ms: i64, later: i64) {
        let after = ms - self.since.ms() - later * 1_000;
        assert!((0..60_000).contains(&after), "{ms} is not now");
    }
}

fn is_time(name: &str) -> bool {
    name == "date" || name == "lastSeen" || ["Date", "Time"].iter().any(|end| name.ends_with(end))
}

async fn bring_network(world: &World) {
    let network = json!({"iso": "PT", "name": "Sagres Mobile", "brandName": "Sagres",
                         "mcc": "268", "mnc": "98", "tagid": "PRTXX", "speed": ["4G"]});
    world.order("POST", "/catalogue", &json!({ "networks": [network] })).await.expect(200);
}

/// A profile with everything a profile can have.
async fn bring_profile(world: &World, number: usize) {
    let profile = json!({
        "iccid": iccid(number), "matchingId": matching_id(number), "smdpAddress": "rsp.example",
        "pin": "4182", "puk": "90314477", "msisdn": "447700900123",
    });
    let body = json!({ "profiles": [profile] });
    world.order("POST", "/stock?mode=sandbox", &body).await.expect(200);
}

async fn every_version_tells_an_esim_in_its_own_form(home: Home) {
    let world = open(home, 0).await;
    bring_network(&world).await;
    let mut number = 0;
    for shapes in &esims_shapes::ALL {
        for prefix in shapes.prefixes {
            number += 1;
            bring_profile(&world, number).await;
            let org = reseller(&world, PLENTY).await;
            let mut names = Names {
                iccid: iccid(number),
                code: matching_id(number),
                since: now(&world, &org).await,
                reference: String::new(),
            };
            tell(&world, &org, (prefix, shapes), &mut names).await;
        }
    }
}

async fn tell(world: &World, org: &Org, (prefix, shapes): (&str, &Shapes), names: &mut Names) {
    let own = names.iccid.clone();
    let same = |names: &Names, what: &str, answer: Answer, wanted: &str| {
        if wanted.is_empty() {
            answer.refused(404, "unknown-route");
            return;
        }
        let wanted: Value = serde_json::from_str(wanted).expect("JSON");
        assert_eq!(names.read(answer), wanted, "{what}: {prefix}");
    };
    let send = async |request: Request| world.node.send(&request.key(&org.key)).await;
    let get = async |path: &str| send(Request::get(&format!("{prefix}/esims{path}"))).await;

    stock_up(world, org, &[(PT, 1)]).await;
    let body = json!({"bundle": PT.name});
    let apply = Request::post(&format!("{prefix}/esims/apply")).json(&body);
    let answer = send(apply).await;
    if shapes.applied.is_empty() {
        same(names, "applied", answer, "");
        names.reference = apply_reference(&put_on(world, org, "/v2.1", &body).await);
    } else {
        names.reference = apply_reference(&answer.json());
        same(names, "applied", answer, shapes.applied);
    }
    let note = json!({"iccid": own, "customerRef": "booking 5512"});
    let put = |prefix: &str| Request::new("PUT", &format!("{prefix}/esims")).json(&note);
    let answer = send(put(prefix)).await;
    same(names, "noted", answer, shapes.said[0]);
    if shapes.said[0].is_empty() {
        send(put("/v2.1")).await.expect(200);
    }
    phone(world, org, &own, "attach", &json!({"country": "PT"})).await;
    phone(world, org, &own, "use", &json!({"bytes": 258_000_000})).await;

    same(names, "listed", get("").await, shapes.listed);
    same(names, "detail", get(&format!("/{own}")).await, shapes.detail);
    same(names, "history", get(&format!("/{own}/history")).await, shapes.history);
    same(names, "bundles", get(&format!("/{own}/bundles")).await, shapes.bundles);
    let bundle = get(&format!("/{own}/bundles/{}", PT.name)).await;
    same(names, "bundle", bundle, shapes.bundle);
    same(names, "location", get(&format!("/{own}/location")).await, shapes.location);
    for (bundle, wanted) in [FR.name, US.name].iter().zip(shapes.compatible) {
        let answer = get(&format!("/{own}/compatible/{bundle}")).await;
        same(names, "compatible", answer, wanted);
    }
    let target = format!("{prefix}/esims/assignments?reference={}", names.reference);
    let install = send(Request::get(&target).header("Accept", "application/json")).await;
    same(names, "install", install, shapes.install);
    let sms = Request::post(&format!("{prefix}/esims/{own}/sms"));
    let sms = send(sms.json(&json!({"message": "Welcome"}))).await;
    same(names, "sms", sms, shapes.said[2]);
    same(names, "refreshed", get(&format!("/{own}/refresh")).await, shapes.said[1]);
}

async fn install_addresses_are_told_when_asked_for(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let code = format!("LPA:1$rsp.example${}", matching_id(1));
    let url =
        |who: &str| format!("https://esimsetup.{who}.com/esim_qrcode_provisioning?carddata={code}");
    let apple = ("appleInstallUrl", url("apple"));
    let android = ("androidInstallUrl", url("android"));
    for (version, prefix) in prefixes() {
        for (query, has_apple, has_android) in [
            ("", false, false),
            ("?additionalFields=appleInstallUrl", true, false),
            ("?additionalFields=installUrl", true, true),
            ("?additionalFields=appleInstallUrl,installUrl", true, true),
            ("?additionalFields=appleInstallUrl&additionalFields=installUrl", true, true),
            ("?additionalFields=nothing,appleInstallUrl", true, false),
            ("?additionalFields=nothing", false, false),
            ("?additionalFields=", false, false),
        ] {
            let always = version.name() >= "v2.5";
            let shown = world.get(&format!("{prefix}/esims/{own}{query}"), &org.key).await;
            let shown = shown.json_of(200);
            for ((name, url), has_it) in [(&apple, has_apple), (&android, has_android)] {
                let wanted = if has_it || always { json!(url) } else { Value::Null };
                assert_eq!(shown[*name], wanted, "{prefix}{query}");
            }
        }
    }
}

async fn the_first_installation_is_remembered(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let shown = async |prefix: &str| {
        let shown = world.get(&format!("{prefix}/esims/{own}"), &org.key).await.json_of(200);
        (text(&shown["profileStatus"]), shown["firstInstalledDateTime"].clone())
    };
    for (_, prefix) in prefixes() {
        assert_eq!(shown(prefix).await, ("Released".into(), Value::Null), "{prefix}");
    }
    advance(&world, &org, DAY).await;
    let before = now(&world, &org).await.ms();
    phone(&world, &org, &own, "install", &json!({})).await;
    let first = shown("/v2.5").await.1.as_i64().expect("milliseconds");
    assert!((before..=now(&world, &org).await.ms()).contains(&first), "{first}");
    for status in ["Installed", "Released", "Installed"] {
        for (version, prefix) in prefixes() {
            let (own, at) = shown(prefix).await;
            let at = match at {
                Value::String(text) if version.name() < "v2.4" => {
                    Timestamp::parse(&text).map(Timestamp::ms).ok()
                }
                Value::Number(ms) if version.name() >= "v2.4" => ms.as_i64(),
                other => panic!("{prefix}: {other}"),
            };
            assert_eq!((own.as_str(), at), (status, Some(first)), "{prefix}");
        }
        advance(&world, &org, DAY).await;
        let act = if status == "Installed" { "remove" } else { "install" };
        phone(&world, &org, &own, act, &json!({})).await;
    }
}

fn numbers(page: &Value) -> Vec<String> {
    page["esims"].as_array().expect("a list").iter().map(|one| text(&one["iccid"])).collect()
}

async fn the_list_is_read_page_by_page(home: Home) {
    let world = open(home, 12).await;
    let org = reseller(&world, PLENTY).await;
    for prefix in ["/v2", "/v2.5"] {
        let page = world.get(&format!("{prefix}/esims"), &org.key).await.json_of(200);
        assert_eq!(page["esims"], json!([]), "{prefix}");
    }
    let items = crate::shop::onto_new(&[(PT, 12)]);
    crate::shop::buy(&world, &org, "/v2.1", &items).await;
    let mut all: Vec<_> = (1..13).map(iccid).collect();
    all.sort();
    for (version, prefix) in prefixes() {
        for (query, range, size) in [
            ("", 0..10, 10),
            ("?page=2", 10..12, 10),
            ("?page=3", 12..12, 10),
            ("?page=9223372036854775807", 12..12, 10),
            ("?perPage=5", 0..5, 5),
            ("?limit=5&page=2", 5..10, 5),
            ("?perPage=5&page=3", 10..12, 5),
            ("?perPage=1&page=12", 11..12, 1),
            ("?limit=12", 0..12, 12),
            ("?perPage=10000", 0..12, 10_000),
        ] {
            let page = world.get(&format!("{prefix}/esims{query}"), &org.key).await.json_of(200);
            assert_eq!(numbers(&page), all[range], "{prefix}{query}");
            let count = 12_i32.div_euclid(size) + i32::from(12 % size > 0);
            let paging = json!([page["rows"], page["pageCount"], page["pageSize"]]);
            let wanted = match version.name() {
                "v2.0" | "v2.1" => json!([null, null, null]),
                _ => json!([12, count, size]),
            };
            assert_eq!(paging, wanted, "{prefix}{query}");
        }
    }
}

/// Four eSIMs, a day apart: noted, noted, refreshed, as it came.
async fn four(world: &World, org: &Org) -> (Vec<String>, Vec<String>) {
    let mut own = Vec::new();
    for good in [PT, FR, PT, FR] {
        own.push(esim_with(world, org, good).await);
        advance(world, org, DAY).await;
    }
    for (esim, note) in own.iter().zip(["Booking 5512", "my booking 77"]) {
        let body = json!({"iccid": esim, "customerRef": note});
        let put = Request::new("PUT", "/v2.5/esims").key(&org.key).json(&body);
        world.node.send(&put).await.expect(200);
        advance(world, org, DAY).await;
    }
    world.get(&format!("/v2.5/esims/{}/refresh", own[2]), &org.key).await.expect(200);
    let listed = esims(world, org).await;
    let date = |esim: &String| {
        let found = listed.iter().find(|one| one["iccid"] == **esim).expect("listed");
        text(&found["assignedDate"])
    };
    let dates = own.iter().map(date).collect();
    (own, dates)
}

/// The places of the eSIMs that a query finds, among those four.
async fn found(world: &World, org: &Org, target: &str, own: &[String]) -> Vec<usize> {
    let page = world.get(target, &org.key).await.json_of(200);
    let place = |number: &String| own.iter().position(|one| one == number).expect("of the four");
    numbers(&page).iter().map(place).collect()
}

async fn the_list_is_filtered(home: Home) {
    let world = open(home, 4).await;
    let org = reseller(&world, PLENTY).await;
    let (own, dates) = four(&world, &org).await;
    let end = own[1][12..].to_owned();
    let day = |n: usize| dates[n].split('T').next().expect("a date").to_owned();
    let acted = esims(&world, &org).await;
    let acted = acted.iter().find(|one| one["iccid"] == own[2]).expect("listed");
    let acted = text(&acted["actionDate"]);
    let cases = [
        (format!("iccid=eq:{}", own[1]), vec![1]),
        (format!("iccid={end}"), vec![1]),
        (format!("iccid=eq:{end}"), vec![]),
        ("iccid=8943001".into(), vec![0, 1, 2, 3]),
        ("customerRef=BOOKING".into(), vec![0, 1]),
        ("customerRef=eq:Booking%205512".into(), vec![0]),
        ("customerRef=eq:booking%205512".into(), vec![]),
        ("customerRef=book&customerRef=77".into(), vec![1]),
        ("lastAction=updated".into(), vec![0, 1]),
        ("lastAction=eq:eSIM+Refreshed".into(), vec![2]),
        ("lastAction=eq:Bundle%20Applied".into(), vec![3]),
        (format!("assignedDate=gte:{}", dates[2]), vec![2, 3]),
        (format!("assignedDate=gt:{}", dates[2]), vec![3]),
        (format!("assignedDate=lt:{}", dates[1]), vec![0]),
        (format!("assignedDate=lte:{}", dates[1]), vec![0, 1]),
        (format!("assignedDate={}", dates[1]), vec![1]),
        (format!("assignedDate=eq:{}", dates[1]), vec![1]),
        (format!("assignedDate=gte:{}&assignedDate=lt:{}", dates[1], dates[3]), vec![1, 2]),
        (format!("assignedDate=gte:{},lt:{}", dates[1], dates[3]), vec![1, 2]),
        (format!("assignedDate=gte:{}", day(3)), vec![3]),
        (format!("actionDate=gte:{acted}"), vec![2]),
        (format!("actionDate=lt:{acted}&customerRef=booking"), vec![0, 1]),
        (format!("filterBy=iccid&filter=eq:{}", own[3]), vec![3]),
        ("filterBy=customerRef&filter=77".into(), vec![1]),
        ("filterBy=lastAction&filter=eq:eSIM%20Updated".into(), vec![0, 1]),
        (format!("filterBy=assignedDate&filter=gte:{},lt:{}", dates[1], dates[3]), vec![1, 2]),
        (format!("filterBy=actionDate&filter=gte:{acted}"), vec![2]),
        (format!("filterBy=customerRef&filter=book&assignedDate=gt:{}", dates[0]), vec![1]),
        ("unknown=1&msisdn=5".into(), vec![0, 1, 2, 3]),
        ("customerRef=".into(), vec![0, 1, 2, 3]),
    ];
    for (_, prefix) in since("v2.2") {
        for (query, wanted) in &cases {
            let target = format!("{prefix}/esims?{query}");
            let mut places = found(&world, &org, &target, &own).await;
            places.sort_unstable();
            assert_eq!(&places, wanted, "{target}");
            let page = world.get(&format!("{target}&limit=1"), &org.key).await.json_of(200);
            assert_eq!(
                (&page["rows"], &page["pageCount"]),
                (&json!(wanted.len()), &json!(wanted.len())),
                "{target}"
            );
        }
    }
}

async fn early_versions_filter_by_number_only(home: Home) {
    let world = open(home, 4).await;
    let org = reseller(&world, PLENTY).await;
    let (own, dates) = four(&world, &org).await;
    let end = own[1][12..].to_owned();
    let last = dates[3].clone();
    for (_, prefix) in prefixes().into_iter().filter(|(version, _)| version.name() < "v2.2") {
        for (query, wanted) in [
            (format!("filterBy=iccid&filter={end}"), vec![1]),
            (format!("filterBy=iccid&filter={}", own[2]), vec![2]),
            ("filterBy=iccid&filter=8943001".into(), vec![0, 1, 2, 3]),
            ("filterBy=iccid&filter=999999".into(), vec![]),
            ("filterBy=customerRef&filter=77".into(), vec![0, 1, 2, 3]),
            ("filterBy=nothing&filter=77".into(), vec![0, 1, 2, 3]),
            ("customerRef=77&lastAction=gte:5".into(), vec![0, 1, 2, 3]),
            (format!("iccid={end}"), vec![0, 1, 2, 3]),
            (format!("assignedDate=gte:{last}"), vec![0, 1, 2, 3]),
            ("actionDate=yesterday".into(), vec![0, 1, 2, 3]),
            ("orderBy=iccid&direction=desc".into(), vec![3, 2, 1, 0]),
            ("orderBy=iccid".into(), vec![0, 1, 2, 3]),
            ("direction=desc".into(), vec![3, 2, 1, 0]),
        ] {
            let target = format!("{prefix}/esims?{query}");
            assert_eq!(found(&world, &org, &target, &own).await, wanted, "{target}");
        }
    }
}

async fn the_list_is_sorted(home: Home) {
    let world = open(home, 4).await;
    let org = reseller(&world, PLENTY).await;
    let (own, _) = four(&world, &org).await;
    for (_, prefix) in since("v2.2") {
        for (query, wanted) in [
            ("", vec![0, 1, 2, 3]),
            ("?direction=desc", vec![3, 2, 1, 0]),
            ("?orderBy=iccid&direction=desc", vec![3, 2, 1, 0]),
            ("?orderBy=iccid", vec![0, 1, 2, 3]),
            ("?orderBy=assignedDate", vec![0, 1, 2, 3]),
            ("?orderBy=assignedDate&direction=desc", vec![3, 2, 1, 0]),
            ("?orderBy=actionDate", vec![3, 0, 1, 2]),
            ("?orderBy=actionDate&direction=desc", vec![2, 1, 0, 3]),
            ("?orderBy=actionDate&direction=desc&limit=2&page=2", vec![0, 3]),
            ("?orderBy=customerRef&direction=desc&limit=2", vec![1, 0]),
            ("?orderBy=lastAction&direction=asc&limit=1", vec![3]),
            ("?orderBy=customerRef&direction=asc&customerRef=booking", vec![0, 1]),
        ] {
            let target = format!("{prefix}/esims{query}");
            let places = found(&world, &org, &target, &own).await;
            assert_eq!(places, wanted, "{target}");
        }
    }
}

async fn a_page_a_filter_or_an_order_that_is_none_is_refused(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    esim(&world, &org).await;
    let everywhere = [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=1.5", "page"),
        ("page=x", "page"),
        ("page=9223372036854775808", "page"),
        ("perPage=0", "perPage"),
        ("perPage=10001", "perPage"),
        ("limit=0", "limit"),
        ("limit=10001", "limit"),
        ("limit=%2B5", "limit"),
        ("direction=up", "direction"),
    ];
    let newer = [
        ("orderBy=msisdn", "orderBy"),
        ("orderBy=ICCID", "orderBy"),
        ("actionDate=yesterday", "actionDate"),
        ("actionDate=gte:", "actionDate"),
        ("actionDate=zz:2026-05-04", "actionDate"),
        ("assignedDate=gte:2026-13-01", "assignedDate"),
        ("assignedDate=2026-05-04,", "assignedDate"),
        ("iccid=gte:1", "iccid"),
        ("customerRef=lt:x", "customerRef"),
        ("lastAction=eq:", "lastAction"),
        ("filterBy=msisdn&filter=5", "filterBy"),
        ("filterBy=assignedDate&filter=soon", "assignedDate"),
    ];
    for (version, prefix) in prefixes() {
        let newer = newer.iter().filter(|_| version.name() >= "v2.2");
        for (query, name) in everywhere.iter().chain(newer) {
            let answer = world.get(&format!("{prefix}/esims?{query}"), &org.key).await;
            let text = answer.refused(400, "invalid-parameter");
            assert_eq!(text, format!("invalid {name}"), "{prefix} {query}");
        }
        let odd = world.get(&format!("{prefix}/esims?filterBy=iccid&filter=%ff"), &org.key).await;
        odd.refused(400, "invalid-parameter");
    }
}

/// `PUT /esims` with a query and a body.
fn put(org: &Org, prefix: &str, query: &str, body: &Value) -> Request {
    let request = Request::new("PUT", &format!("{prefix}/esims{query}")).key(&org.key);
    if body.is_null() { request } else { request.json(body) }
}

async fn a_note_is_put_on_an_esim_and_taken_off(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    let (most, penguins) = ("x".repeat(255), "\u{1f427}".repeat(255));
    for (version, prefix) in since("v2.1") {
        let name = if version.name() >= "v2.4" { "status" } else { "message" };
        let in_query = format!("?iccid={own}&customerRef=from%20the%20query");
        for (query, body, note) in [
            (String::new(), json!({"iccid": own, "customerRef": "in the body"}), "in the body"),
            (in_query.clone(), Value::Null, "from the query"),
            (in_query.clone(), json!({"customerRef": "of the body"}), "of the body"),
            (in_query.clone(), json!({"CUSTOMERREF": "in capitals"}), "in capitals"),
            (format!("?iccid={own}"), json!({"customerRef": "both"}), "both"),
            ("?customerRef=either".into(), json!({"iccid": own}), "either"),
            (
                "?iccid=8943001999999999993".into(),
                json!({"iccid": own, "customerRef": "body counts"}),
                "body counts",
            ),
            (in_query.clone(), json!({"iccid": "", "customerRef": null}), "from the query"),
            (String::new(), json!({"iccid": format!("{own}F"), "customerRef": most}), &most),
            (String::new(), json!({"iccid": own, "customerRef": penguins}), &penguins),
            (String::new(), json!({"iccid": own, "customerRef": "'; --"}), "'; --"),
            (String::new(), json!({"iccid": own, "customerRef": ""}), ""),
            (in_query.clone(), Value::Null, "from the query"),
            (format!("?iccid={own}&customerRef="), Value::Null, ""),
        ] {
            let before = happened(&world, &org, &own).await;
            advance(&world, &org, 60).await;
            let since = now(&world, &org).await.ms();
            let answer = world.node.send(&put(&org, prefix, &query, &body)).await.json_of(200);
            assert_eq!(answer, json!({ name: "success" }), "{prefix}{query} {body}");
            assert_eq!(of(&world, &org, &own, "").await["customerRef"], note, "{prefix}{query}");
            let listed = esims(&world, &org).await.remove(0);
            assert_eq!(listed["customerRef"], note);
            assert_eq!(listed["lastAction"], "eSIM Updated");
            let at = Timestamp::parse(&text(&listed["actionDate"])).expect("a time").ms();
            assert!((since..since + 60_000).contains(&at), "{listed}");
            let after = happened(&world, &org, &own).await;
            assert_eq!((after[0].as_str(), &after[1..]), ("eSIM Updated", &before[..]));
        }
    }
}

async fn a_note_that_does_not_fit_is_refused(home: Home) {
    let world = open(home, 3).await;
    let (org, other) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let (own, foreign) = (esim(&world, &org).await, esim(&world, &other).await);
    let before = world.home.dump().await;
    let (long, penguins) = ("x".repeat(256), "\u{1f427}".repeat(256));
    let too_long = ("customer-ref-too-long", "customerRef must be at most 255 characters");
    let unreadable = ("malformed-body", "failed to parse request body");
    for (_, prefix) in since("v2.1") {
        for (query, body, (code, text)) in [
            ("", json!({"iccid": own, "customerRef": long}), too_long),
            ("", json!({"iccid": own, "customerRef": penguins}), too_long),
            (&format!("?iccid={own}&customerRef={long}"), Value::Null, too_long),
            ("", json!({"customerRef": "x"}), ("missing-parameter", "iccid is required")),
            (
                "",
                json!({"iccid": "", "customerRef": "x"}),
                ("missing-parameter", "iccid is required"),
            ),
            ("", json!({"iccid": own}), ("missing-parameter", "customerRef is required")),
            (
                "",
                json!({"iccid": own, "customerRef": null}),
                ("missing-parameter", "customerRef is required"),
            ),
            ("", Value::Null, ("missing-parameter", "iccid is required")),
            ("", json!({"iccid": "123", "customerRef": "x"}), ("invalid-iccid", "invalid iccid")),
            ("?iccid=none", json!({"customerRef": "x"}), ("invalid-iccid", "invalid iccid")),
            ("", json!({"iccid": own, "customerRef": 5}), unreadable),
            ("", json!({"iccid": 8_943_001_u64, "customerRef": "x"}), unreadable),
            ("", json!({"iccid": own, "customerRef": "a\0b"}), unreadable),
            ("", json!([]), unreadable),
        ] {
            let answer = world.node.send(&put(&org, prefix, query, &body)).await;
            let print = answer.to_string();
            assert_eq!(answer.refused(400, code), text, "{prefix}{query} {body}: {print}");
        }
        let mut prints = BTreeSet::new();
        for iccid in [foreign.clone(), "8943001999999999993".into(), iccid(3)] {
            let body = json!({"iccid": iccid, "customerRef": "x"});
            let answer = world.node.send(&put(&org, prefix, "", &body)).await;
            prints.insert(answer.fingerprint());
            assert_eq!(answer.refused(403, "not-your-esim"), "access denied", "{prefix}");
        }
        assert_eq!(prints.len(), 1, "{prints:?}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn the_history_is_whole_or_read_page_by_page(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = esim(&world, &org).await;
    for n in 0..21 {
        let body = json!({"iccid": own, "customerRef": n.to_string()});
        world.node.send(&put(&org, "/v2.5", "", &body)).await.expect(200);
    }
    world.get(&format!("/v2.5/esims/{own}/refresh"), &org.key).await.expect(200);
    for (version, prefix) in since("v2.1") {
        for (query, first, count, paging) in [
            ("", "eSIM Refreshed", 23, [23, 1, 23]),
            ("?perPage=5", "eSIM Refreshed", 5, [23, 5, 5]),
            ("?page=5&perPage=5", "eSIM Updated", 3, [23, 5, 5]),
            ("?page=23&limit=1", "Bundle Applied", 1, [23, 23, 1]),
            ("?page=24&limit=1", "", 0, [23, 23, 1]),
            ("?limit=10000", "eSIM Refreshed", 23, [23, 1, 10_000]),
        ] {
            let target = format!("{prefix}/esims/{own}/history{query}");
            let shown = world.get(&target, &org.key).await.json_of(200);
            let is_new = version.name() >= "v2.4";
            let entries = if is_new { &shown["actions"] } else { &shown };
            let entries = entries.as_array().expect("a list");
            assert_eq!(entries.len(), count, "{target}");
            assert_eq!(entries.first().map_or("", |one| one["name"].as_str().expect("x")), first);
            let dates = entries.iter().map(|one| Timestamp::parse(&text(&one["date"])));
            assert!(dates.collect::<Vec<_>>().is_sorted_by(|a, b| match (a, b) {
                (Ok(a), Ok(b)) => a.ms() >= b.ms(),
                _ => false,
            }));
            if is_new {
                let told = json!([shown["rows"], shown["pageCount"], shown["pageSize"]]);
                assert_eq!(told, json!(paging), "{target}");
            }
        }
        for query in ["?page=0", "?limit=0", "?perPage=10001", "?limit=x"] {
            let target = format!("{prefix}/esims/{own}/history{query}");
            world.get(&target, &org.key).await.refused(400, "invalid-parameter");
        }
    }
}

async fn nobody_sees_the_esims_of_others(home: Home) {
    let world = open(home, 3).await;
    let (mine, theirs) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let own = esim(&world, &mine).await;
    let foreign = [esim(&world, &theirs).await, esim(&world, &theirs).await];
    for (_, prefix) in prefixes() {
        for query in ["", "?filterBy=iccid&filter=8943001", "?limit=10000"] {
            let target = format!("{prefix}/esims{query}");
            let seen = world.get(&target, &mine.key).await.json_of(200);
            assert_eq!(numbers(&seen), std::slice::from_ref(&own), "{target}");
            let seen = world.get(&target, &theirs.key).await.json_of(200);
            assert_eq!(numbers(&seen), foreign, "{target}");
        }
    }
}
