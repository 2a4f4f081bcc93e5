//! Listing the catalogue: pages, conditions and orders, and what is wrong with them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::catalogue::{PREFIXES, bundles, names};
use crate::harness::{Home, Org, Request, World};
use crate::shop::{
    self, DE, ES, ES_UNLIMITED, EUROPE, FR, FR_DAY, FR_MORE, Good, PT, PT_MORE, PT_YEAR, TRIAL, US,
};

crate::on_both! {
    pages_show_each_bundle_once,
    a_page_that_cannot_be_is_refused,
    conditions_choose_bundles,
    prices_are_compared_in_the_unit_of_the_version,
    a_condition_that_cannot_be_read_is_refused,
    bundles_are_sorted_by_whatever_is_asked_for,
    the_oldest_catalogue_knows_one_filter_and_five_orders,
    questions_that_look_alike_have_answers_of_their_own,
}

/// All that is sold in dollars, by name.
const ALL: [Good; 12] =
    [PT_YEAR, ES, FR, PT, US, DE, PT_MORE, TRIAL, FR_MORE, EUROPE, FR_DAY, ES_UNLIMITED];

/// The versions with conditions.
const NEWER: [&str; 4] = ["/v2.2", "/v2.3", "/v2.4", "/v2.5"];

async fn open(home: Home) -> (World, Org) {
    let world = shop::open(home, 0).await;
    let org = world.add_sandbox("Reseller").await;
    (world, org)
}

fn by_name(goods: &[Good]) -> Vec<&'static str> {
    let mut names: Vec<_> = goods.iter().map(|good| good.name).collect();
    names.sort_unstable();
    names
}

/// The names on a page, and the numbers beside it. Neither judged nor parsed: both take their time
/// with thousands of bundles.
async fn large(world: &World, org: &Org, prefix: &str, query: &str) -> (Vec<String>, Value) {
    let request = Request::get(&format!("{prefix}/catalogue{query}")).key(&org.key);
    let text = world.node.try_send(&request).await.expect("an answer").expect(200).text();
    let name = |part: &str| part.split('"').next().unwrap_or_default().to_owned();
    let names = text.split("{\"name\":\"esim_").skip(1).map(name).collect();
    let numbers = match text.rfind("\"pageCount\"") {
        Some(at) => serde_json::from_str(&format!("{{{}", &text[at..])).expect("numbers"),
        None => Value::Null,
    };
    (names, numbers)
}

/// Ten thousand bundles and fifty more. Whatever the database is, pages are cut in memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_has_as_many_bundles_as_are_asked_for() {
    let world = World::start(Home::sqlite()).await;
    let org = world.add_sandbox("Reseller").await;
    let mut csv = "name,description,countries,dataAmount,duration,price:USD\n".to_owned();
    for n in 0..10_050 {
        writeln!(csv, "esim_{n:05},Number {n},PT,{},7,{}", n + 1, n * 3).expect("a text");
    }
    let bring = world.operator("POST", "/catalogue").header("Content-Type", "text/csv");
    let told = world.node.send(&bring.body(csv)).await.json_of(200);
    assert_eq!(told["changes"]["bundles"]["added"], 10_050, "{told}");
    for prefix in PREFIXES {
        let largest = match prefix {
            "/v2.1" => Some(("?limit=10000", 10_000, 0..10_000)),
            "/v2.5" => Some(("?perPage=10000", 10_000, 0..10_000)),
            _ => None,
        };
        let questions = [
            ("", 50, 0..50),
            ("?perPage=1", 1, 0..1),
            ("?limit=7&perPage=3", 3, 0..3),
            ("?limit=4000&page=2", 4_000, 4_000..8_000),
            ("?perPage=10000&page=2", 10_000, 10_000..10_050),
            ("?page=201", 50, 10_000..10_050),
            ("?page=202", 50, 0..0),
            ("?perPage=10000&page=3", 10_000, 0..0),
            ("?perPage=10000&page=9223372036854775807", 10_000, 0..0),
        ];
        for (query, size, wanted) in questions.into_iter().chain(largest) {
            let (names, numbers) = large(&world, &org, prefix, query).await;
            let wanted: Vec<_> = wanted.map(|n| format!("{n:05}")).collect();
            assert_eq!(names, wanted, "{prefix}{query}");
            let pages = (10_050 + size - 1) / size;
            let wanted = match prefix {
                "/v2.1" => Value::Null,
                _ => json!({"rows": 10_050, "pageSize": size, "pageCount": pages}),
            };
            assert_eq!(numbers, wanted, "{prefix}{query}");
        }
    }
}

async fn pages_show_each_bundle_once(home: Home) {
    let (world, org) = open(home).await;
    let all = ALL.map(|good| good.name);
    for prefix in PREFIXES {
        assert_eq!(names(&world, &org, prefix, "").await, all, "{prefix}");
        for size in [1, 5, 12] {
            for sort in ["", "&orderBy=duration", "&orderBy=autostart&direction=desc"] {
                let mut walked = Vec::new();
                for page in 1.. {
                    let query = format!("?page={page}&perPage={size}{sort}");
                    let found = names(&world, &org, prefix, &query).await;
                    assert!(found.len() <= size, "{prefix}{query}");
                    walked.extend(found.iter().cloned());
                    if found.len() < size {
                        break;
                    }
                }
                let whole = names(&world, &org, prefix, &format!("?x=1{sort}")).await;
                assert_eq!(walked, whole, "{prefix} by {size}{sort}");
                let different: BTreeSet<_> = walked.iter().map(String::as_str).collect();
                assert_eq!(different, BTreeSet::from(all), "{prefix} by {size}{sort}");
            }
        }
    }
    // The numbers count what was chosen, not what there is.
    let target = "/v2.4/catalogue?dataAmount=1000&perPage=3&page=2";
    let page = world.get(target, &org.key).await.json_of(200);
    let numbers = ["rows", "pageSize", "pageCount"].map(|name| page[name].clone());
    assert_eq!(numbers, [4, 3, 2].map(Value::from), "{page}");
    assert_eq!(page["bundles"][0]["name"], US.name);
    let none = world.get("/v2.4/catalogue?region=Oceania", &org.key).await.json_of(200);
    assert_eq!((&none["rows"], &none["pageCount"]), (&Value::from(0), &Value::from(0)));
}

async fn a_page_that_cannot_be_is_refused(home: Home) {
    let (world, org) = open(home).await;
    let before = world.home.dump().await;
    for prefix in PREFIXES {
        for name in ["page", "perPage", "limit"] {
            for value in [
                "0",
                "-1",
                "x",
                "1.5",
                "1e2",
                "%2B1",
                "99999999999999999999",
                "%201",
                "1,2",
                "true",
            ] {
                let target = format!("{prefix}/catalogue?{name}={value}");
                let text = world.get(&target, &org.key).await.refused(400, "invalid-parameter");
                assert_eq!(text, format!("invalid {name}"), "{target}");
            }
        }
        for query in ["perPage=10001", "limit=10001", "perPage=5&limit=0", "limit=x&perPage=1"] {
            let answer = world.get(&format!("{prefix}/catalogue?{query}"), &org.key).await;
            answer.refused(400, "invalid-parameter");
        }
    }
    assert_eq!(world.home.dump().await, before);
}

/// Conditions and what they choose.
fn chosen() -> Vec<(&'static str, Vec<Good>)> {
    let portugal = vec![PT, PT_MORE, PT_YEAR, TRIAL];
    let others = vec![FR, FR_MORE, FR_DAY, ES, ES_UNLIMITED, DE, EUROPE];
    let europe = [portugal.clone(), others].concat();
    let one_gb = vec![PT, FR, ES, US];
    let at_least_one = vec![PT, FR, ES, US, DE];
    let limited = vec![PT, PT_MORE, PT_YEAR, TRIAL, FR, FR_MORE, ES, DE, EUROPE, US];
    vec![
        ("name=pt_v2", portugal.clone()),
        ("name=PT_V2&name=gb", vec![PT, PT_MORE, PT_YEAR]),
        ("name=eq:esim_1GB_7D_PT_V2", vec![PT]),
        ("name=eq:ESIM_1GB_7D_PT_V2", vec![]),
        ("name=eq:esim_1GB_7D_PT", vec![]),
        ("description=portugal", portugal.clone()),
        ("description=eq:eSIM,%201GB,%207+Days,%20Spain,%20V2", vec![ES]),
        ("description=eq:Spain", vec![]),
        ("group=unlimited", vec![ES_UNLIMITED, FR_DAY, PT_YEAR]),
        ("group=eq:Standard%20Fixed", limited.clone()),
        ("group=eq:Standard", vec![]),
        ("group=fixed&group=lite", vec![PT_YEAR]),
        ("group=nobody%27s", vec![]),
        ("countries=PT", portugal.clone()),
        ("countries=PT,US", [portugal.clone(), vec![US]].concat()),
        ("countries=%20PT%20,ZZ", portugal.clone()),
        ("countries=Europe%2B", vec![EUROPE]),
        ("countries=ZZ", vec![]),
        // No bundle has a base country in both.
        ("countries=PT&countries=US", vec![]),
        ("countries=PT,US&countries=US,DE", vec![US]),
        ("region=EUROPE", europe.clone()),
        ("region=eq:Europe", europe),
        ("region=eq:europe", vec![]),
        ("region=america", vec![US]),
        ("region=Atlantis", vec![]),
        ("dataAmount=1000", one_gb.clone()),
        ("dataAmount=eq:1000", one_gb.clone()),
        ("dataAmount=gte:5000", vec![FR_MORE, EUROPE, PT_YEAR]),
        ("dataAmount=gt:5000", vec![PT_YEAR]),
        ("dataAmount=lt:1000", vec![TRIAL, ES_UNLIMITED, FR_DAY]),
        ("dataAmount=lte:-1", vec![ES_UNLIMITED, FR_DAY]),
        ("dataAmount=gte:1000&dataAmount=lt:3000", at_least_one.clone()),
        ("dataAmount=gte:1000,lt:3000", at_least_one),
        ("dataAmount=1000,2000", vec![]),
        ("duration=lte:1", vec![TRIAL, FR_DAY]),
        ("duration=gt:30", vec![PT_YEAR]),
        ("duration=360", vec![PT_YEAR]),
        ("duration=gte:15,lt:30", vec![DE]),
        ("unlimited=true", vec![ES_UNLIMITED, FR_DAY]),
        ("unlimited=false", limited),
        ("autostart=true", vec![FR_DAY, DE]),
        ("autostart=true&unlimited=false", vec![DE]),
        ("countries=PT,FR&dataAmount=gte:3000&duration=30", vec![PT_MORE, FR_MORE]),
        ("price=0", vec![TRIAL]),
        ("unknown=1&profileName=x", ALL.to_vec()),
    ]
}

async fn conditions_choose_bundles(home: Home) {
    let (world, org) = open(home).await;
    for prefix in NEWER {
        for (query, goods) in chosen() {
            let found = names(&world, &org, prefix, &format!("?{query}")).await;
            assert_eq!(found, by_name(&goods), "{prefix}?{query}");
        }
    }
}

async fn prices_are_compared_in_the_unit_of_the_version(home: Home) {
    let (world, org) = open(home).await;
    for (conditions, goods) in [
        ([("", "1.99")], vec![FR]),
        ([("eq:", "2.4")], vec![PT]),
        ([("lt:", "1.99")], vec![ES, TRIAL]),
        ([("lte:", "1.99")], vec![ES, TRIAL, FR]),
        ([("gt:", "14")], vec![ES_UNLIMITED, PT_YEAR]),
        ([("gte:", "14")], vec![ES_UNLIMITED, PT_YEAR, EUROPE]),
        ([("lt:", "0")], vec![]),
    ]
    .map(|(conditions, goods)| (conditions.to_vec(), goods))
    .into_iter()
    .chain([(vec![("gte:", "3.1"), ("lt:", "4.8")], vec![US, FR_DAY])])
    {
        for prefix in NEWER {
            let in_cents = ["/v2.2", "/v2.3"].contains(&prefix);
            let cents = |major: &str| {
                let (whole, part) = major.split_once('.').unwrap_or((major, ""));
                format!("{whole}{part:0<2}").trim_start_matches('0').to_owned()
            };
            let value = |(operator, major): &(&str, &str)| match (in_cents, cents(major)) {
                (false, _) => format!("{operator}{major}"),
                (true, none) if none.is_empty() => format!("{operator}0"),
                (true, cents) => format!("{operator}{cents}"),
            };
            let values: Vec<_> = conditions.iter().map(value).collect();
            for query in [values.join("&price="), values.join(",")] {
                let found = names(&world, &org, prefix, &format!("?price={query}")).await;
                assert_eq!(found, by_name(&goods), "{prefix}?price={query}");
            }
        }
    }
}

async fn a_condition_that_cannot_be_read_is_refused(home: Home) {
    let (world, org) = open(home).await;
    let mut wrong: Vec<(String, &str)> = Vec::new();
    for name in ["dataAmount", "duration", "price"] {
        let values =
            ["gte:", "abc", "zz:1", "gte:lt:1", "1,", ",1", "gte%201", "1e3", "--1", "%2B1"];
        wrong.extend(values.map(|value| (format!("{name}={value}"), name)));
        wrong.push((format!("{name}=1&{name}=x"), name));
    }
    wrong.push(("dataAmount=1.5".to_owned(), "dataAmount"));
    for name in ["name", "description", "group", "region"] {
        wrong.extend(["gte:x", "zz:x", "eq:"].map(|value| (format!("{name}={value}"), name)));
    }
    for name in ["unlimited", "autostart"] {
        wrong
            .extend(["yes", "1", "TRUE", "eq:true"].map(|value| (format!("{name}={value}"), name)));
    }
    for value in ["nothing", "profileName", "Name", "name,price"] {
        wrong.push((format!("orderBy={value}"), "orderBy"));
    }
    for value in ["up", "ASC", "descending"] {
        wrong.push((format!("direction={value}"), "direction"));
        wrong.push((format!("orderBy=price&direction={value}"), "direction"));
    }
    for prefix in NEWER {
        let unit = if prefix < "/v2.4" { "price=1.5" } else { "price=1.234" };
        for (query, name) in wrong.iter().cloned().chain([(unit.to_owned(), "price")]) {
            let answer = world.get(&format!("{prefix}/catalogue?{query}"), &org.key).await;
            assert_eq!(answer.status, 400, "{prefix}?{query}: {answer}");
            let text = answer.refused(400, "invalid-parameter");
            assert_eq!(text, format!("invalid {name}"), "{prefix}?{query}");
        }
    }
}

/// What a bundle is sorted by, as text that sorts alike.
fn key(bundle: &Value, by: &str) -> String {
    let number = |value: &Value| format!("{:020.4}", value.as_f64().expect("a number") + 1e6);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    match by {
        "name" | "bundleName" => text(&bundle["name"]),
        "description" => text(&bundle["description"]),
        "group" => text(&bundle["groups"][0]),
        "countries" => text(&bundle["countries"][0]["name"]),
        "region" => text(&bundle["countries"][0]["region"]),
        "dataAmount" | "duration" | "price" => number(&bundle[by]),
        "unlimited" | "autostart" => bundle[by].to_string(),
        "roamingEnabled" => bundle[by].as_array().expect("a list").len().to_string(),
        _ => panic!("{by}"),
    }
}

async fn bundles_are_sorted_by_whatever_is_asked_for(home: Home) {
    let (world, org) = open(home).await;
    let orders = [
        "name",
        "bundleName",
        "description",
        "group",
        "countries",
        "region",
        "dataAmount",
        "duration",
        "price",
        "unlimited",
        "autostart",
        "roamingEnabled",
    ];
    let shown = bundles("/v2.5", world.get("/v2.5/catalogue", &org.key).await);
    for by in orders {
        let mut rising = shown.clone();
        // Stable: those that are equal stay by name, whichever way the list runs.
        rising.sort_by_key(|bundle| key(bundle, by));
        let mut falling = shown.clone();
        falling.sort_by_key(|bundle| Reverse(key(bundle, by)));
        assert_ne!(rising, falling, "{by}");
        for prefix in NEWER {
            for (direction, wanted) in
                [("", &rising), ("&direction=asc", &rising), ("&direction=desc", &falling)]
            {
                let query = format!("?orderBy={by}{direction}");
                let wanted: Vec<_> = wanted.iter().map(|bundle| key(bundle, "name")).collect();
                assert_eq!(names(&world, &org, prefix, &query).await, wanted, "{prefix}{query}");
            }
        }
    }
    // Without a name for the order, the direction is that of the list itself.
    let mut falling = by_name(&ALL);
    falling.reverse();
    for prefix in PREFIXES {
        assert_eq!(names(&world, &org, prefix, "?direction=desc").await, falling, "{prefix}");
        assert_eq!(names(&world, &org, prefix, "?direction=asc").await, by_name(&ALL), "{prefix}");
    }
}

async fn the_oldest_catalogue_knows_one_filter_and_five_orders(home: Home) {
    let (world, org) = open(home).await;
    let all = ALL.to_vec();
    for (query, goods) in [
        ("filterBy=bundleName&filter=pt_v2", vec![PT, PT_MORE, PT_YEAR, TRIAL]),
        ("filterBy=bundleName&filter=ESIM_UL", vec![ES_UNLIMITED, FR_DAY]),
        ("filterBy=bundleName&filter=nothing", vec![]),
        ("filterBy=bundleName&filter=portugal", vec![]),
        ("filterBy=bundleName", all.clone()),
        ("filter=pt_v2", all.clone()),
        ("filterBy=description&filter=portugal", all.clone()),
        // Names of later filters are unknown here, whatever they hold.
        ("name=eq:esim_1GB_7D_PT_V2&dataAmount=zz:1&unlimited=maybe&countries=ZZ", all.clone()),
        ("group=x&region=x&price=x&duration=x&autostart=x&description=x", all),
    ] {
        let found = names(&world, &org, "/v2.1", &format!("?{query}")).await;
        assert_eq!(found, by_name(&goods), "{query}");
    }
    let shown = bundles("/v2.1", world.get("/v2.1/catalogue", &org.key).await);
    for by in ["bundleName", "dataAmount", "duration", "autostart", "roamingEnabled"] {
        let mut rising = shown.clone();
        rising.sort_by_key(|bundle| key(bundle, by));
        let mut falling = shown.clone();
        falling.sort_by_key(|bundle| Reverse(key(bundle, by)));
        for (direction, wanted) in [("", &rising), ("&direction=desc", &falling)] {
            let wanted: Vec<_> = wanted.iter().map(|bundle| key(bundle, "name")).collect();
            let query = format!("?orderBy={by}{direction}");
            assert_eq!(names(&world, &org, "/v2.1", &query).await, wanted, "{query}");
        }
    }
    let both = "?filterBy=bundleName&filter=pt_v2&orderBy=dataAmount&direction=desc&perPage=2";
    let found = names(&world, &org, "/v2.1", both).await;
    assert_eq!(found, [PT_YEAR.name, PT_MORE.name]);
    for name in ["name", "description", "group", "countries", "region", "price", "unlimited", "x"] {
        let answer = world.get(&format!("/v2.1/catalogue?orderBy={name}"), &org.key).await;
        assert_eq!(answer.refused(400, "invalid-parameter"), "invalid orderBy", "{name}");
    }
    let answer = world.get("/v2.1/catalogue?direction=down", &org.key).await;
    assert_eq!(answer.refused(400, "invalid-parameter"), "invalid direction");
}

/// Answers are kept: what is kept for one question must not answer another.
async fn questions_that_look_alike_have_answers_of_their_own(home: Home) {
    let (world, org) = open(home).await;
    let target = |query: &str| format!("/v2.5/catalogue?{query}");
    for _ in 0..2 {
        let two = names(&world, &org, "/v2.5", "?name=pt&region=europe").await;
        assert_eq!(two, by_name(&[PT, PT_MORE, PT_YEAR, TRIAL]));
        let one = names(&world, &org, "/v2.5", "?name=pt%0Aregion%3Deurope").await;
        assert_eq!(one, [""; 0], "a name with a line break in it");
        let one = names(&world, &org, "/v2.5", "?name=pt%0Aregion=europe").await;
        assert_eq!(one, [""; 0], "a name with a line break in it");
        world.get(&target("perPage=1&page=2"), &org.key).await.expect(200);
        let odd = world.get(&target("perPage=1%0Apage%3D2"), &org.key).await;
        assert_eq!(odd.refused(400, "invalid-parameter"), "invalid perPage");
        world.get(&target(&format!("/{}", PT.name)), &org.key).await.expect(200);
        let alone = format!("/v2.5/catalogue/bundle/{}", PT.name);
        let alone = world.get(&alone, &org.key).await.json_of(200);
        assert_eq!(alone["name"], PT.name);
    }
    // The same key in the query or not makes no other question, and no key is kept with it.
    let by_query = Request::get(&target(&format!("name=pt&api_key={}", org.key)));
    let page = world.node.send(&by_query).await.json_of(200);
    let same = world.get(&target("name=pt"), &org.key).await.json_of(200);
    assert_eq!(page, same);
}
