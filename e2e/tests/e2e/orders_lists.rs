//! `GET /orders`: pages, conditions and order; and whose orders one sees.

use std::collections::{BTreeSet, HashSet};

use api::versions::Version;
use domain::Timestamp;
use serde_json::{Value, json};

use crate::harness::{Home, Org, Request, World};
use crate::money::{advance, prefixes, written};
use crate::shop::{
    ES, FR_MORE, PLENTY, PT, TRIAL, at_once, buy, hold, into_inventory, listed, onto_new, open,
    order, reference, reseller, seen,
};

crate::on_both! {
    conditions_narrow_a_list,
    a_condition_that_makes_no_sense_is_refused,
    a_list_is_sorted_by_every_field_both_ways,
    a_walk_through_the_pages_sees_each_order_once,
    a_page_past_the_end_is_empty,
    old_versions_list_the_newest_thousand,
    nobody_sees_the_orders_of_others,
}

/// Six orders, a day apart: 1.85, 2.40, 4.80, 11.05, 1.85 and 14.40, the last one processing.
struct Six {
    org: Org,
    /// Newest first.
    references: Vec<String>,
    times: Vec<Timestamp>,
}

async fn six(world: &World) -> Six {
    let org = reseller(world, PLENTY).await;
    let mut made = Vec::new();
    for items in [[(ES, 1)], [(PT, 1)], [(PT, 2)], [(FR_MORE, 1)], [(ES, 1)]] {
        made.push(buy(world, &org, "/v2.5", &into_inventory(&items)).await);
        advance(world, &org, 86_400).await;
    }
    hold(world, &org, true).await;
    made.push(buy(world, &org, "/v2.5", &onto_new(&[(PT, 6)])).await);
    made.reverse();
    let time = |order: &Value| order["createdDate"].as_str().and_then(|t| Timestamp::parse(t).ok());
    let times = made.iter().map(|order| time(order).expect("a time")).collect();
    Six { org, references: made.iter().map(reference).collect(), times }
}

/// Versions whose lists take conditions.
fn newer() -> impl Iterator<Item = (Version, &'static str)> {
    prefixes().into_iter().filter(|(version, _)| version.name() >= "v2.2")
}

/// The references a question is answered with.
async fn asked(world: &World, org: &Org, target: &str) -> Vec<String> {
    let answer = world.get(target, &org.key).await.json_of(200);
    let orders = answer.get("orders").unwrap_or(&answer);
    orders.as_array().expect("a list").iter().map(reference).collect()
}

/// Questions, and the numbers of the orders that answer them: 1 is the oldest.
fn questions(six: &Six, version: Version) -> Vec<(String, Vec<usize>)> {
    let at = |number: usize| six.times[6 - number];
    let day = |number: usize| at(number).to_string()[..10].to_owned();
    let amount = |minor: i64| written(minor, version);
    let cents = [185, 240, 480, 1_105, 1_440].map(amount);
    let [es, pt, two, fr, six_of] = &cents;
    let (third, fourth) = (at(3), at(4));
    let offset = Timestamp::from_ms(third.ms() + 7_200_000).to_string().replace('Z', "%2B02:00");
    let bare = offset.replace("%2B", "+");
    let own = &six.references[3];
    let part = own[..13].to_uppercase();
    let question = |query: String, numbers: &[usize]| (query, numbers.to_vec());
    let all = [6, 5, 4, 3, 2, 1];
    vec![
        question(format!("total={es}"), &[5, 1]),
        question(format!("total=eq:{pt}"), &[2]),
        question(format!("total=gt:{two}"), &[6, 4]),
        question(format!("total=gte:{two}"), &[6, 4, 3]),
        question(format!("total=lt:{pt}"), &[5, 1]),
        question(format!("total=lte:{pt}"), &[5, 2, 1]),
        question(format!("total=gt:{six_of}"), &[]),
        question(format!("total=gte:{pt}&total=lt:{fr}"), &[3, 2]),
        question(format!("total=gte:{pt},lt:{fr}"), &[3, 2]),
        question(format!("total=gte:{pt},lt:{fr}&total=lt:{two}"), &[2]),
        question(format!("createdAt={third}"), &[3]),
        question(format!("createdAt=gt:{third}"), &[6, 5, 4]),
        question(format!("createdAt=gte:{third}"), &[6, 5, 4, 3]),
        question(format!("createdAt=lt:{third}"), &[2, 1]),
        question(format!("createdAt=lte:{third}"), &[3, 2, 1]),
        question(format!("createdAt=gte:{third},lt:{fourth}"), &[3]),
        question(format!("createdAt=gte:{}&createdAt=lt:{}", day(2), day(4)), &[3, 2]),
        question(format!("createdAt=gte:{}", day(6)), &[6]),
        question(format!("createdAt=eq:{offset}"), &[3]),
        question(format!("createdAt=lt:{bare}"), &[2, 1]),
        question("status=processing".into(), &[6]),
        question("status=eq:processing".into(), &[6]),
        question("status=COMP".into(), &[5, 4, 3, 2, 1]),
        question("status=eq:COMPLETED".into(), &[]),
        question("status=eq:completed".into(), &[5, 4, 3, 2, 1]),
        question("status=e&status=proc".into(), &[6]),
        question("status=failed".into(), &[]),
        question("status=%25".into(), &[]),
        question("currency=us".into(), &all),
        question("currency=eq:USD".into(), &all),
        question("currency=eq:usd".into(), &[]),
        question("currency=EUR".into(), &[]),
        question(format!("orderReference={part}"), &[3]),
        question(format!("orderReference=eq:{own}"), &[3]),
        question(format!("orderReference=eq:{part}"), &[]),
        question(format!("total={es}&createdAt=gte:{third}"), &[5]),
        question(format!("total={es}&status=processing"), &[]),
        question("status=".into(), &all),
        question("unknown=1&STATUS=processing".into(), &all),
        question("direction=asc".into(), &[1, 2, 3, 4, 5, 6]),
        question("direction=desc".into(), &all),
        question("orderBy=createdAt".into(), &[1, 2, 3, 4, 5, 6]),
        question("orderBy=createdAt&direction=desc".into(), &all),
        question(format!("orderBy=total&direction=desc&total=gte:{pt}"), &[6, 4, 3, 2]),
        question(format!("orderBy=total&total=gte:{pt}&limit=2&page=2"), &[4, 6]),
    ]
}

async fn conditions_narrow_a_list(home: Home) {
    let world = open(home, 10).await;
    let six = six(&world).await;
    for (version, prefix) in newer() {
        for (query, numbers) in questions(&six, version) {
            let wanted: Vec<_> =
                numbers.iter().map(|number| six.references[6 - number].clone()).collect();
            let found = asked(&world, &six.org, &format!("{prefix}/orders?{query}")).await;
            assert_eq!(found, wanted, "{prefix} {query}: {numbers:?}");
        }
        let target = format!("{prefix}/orders?status=completed&limit=2");
        let page = world.get(&target, &six.org.key).await.json_of(200);
        let numbers = ["pageCount", "rows", "pageSize"].map(|name| page[name].clone());
        assert_eq!(numbers, [3, 5, 2], "what matches is counted, on all pages");
    }
    // Versions before that know no conditions, only pages.
    for prefix in ["/v2", "/v2.0", "/v2.1"] {
        for query in ["status=processing", "total=gte:99999999", "orderBy=zz", "total=zz:1"] {
            let found = asked(&world, &six.org, &format!("{prefix}/orders?{query}")).await;
            assert_eq!(found, six.references, "{prefix} {query}");
        }
    }
}

async fn a_condition_that_makes_no_sense_is_refused(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 1)])).await;
    let pages = [
        ("page", "0"),
        ("page", "-1"),
        ("page", "1.5"),
        ("page", "x"),
        ("page", "99999999999999999999"),
        ("limit", "0"),
        ("limit", "-1"),
        ("limit", "10001"),
        ("limit", "1e3"),
        ("perPage", "10001"),
        ("perPage", "0"),
        ("perPage", "%2B5"),
    ];
    for (_, prefix) in prefixes() {
        for (name, value) in pages {
            let refusal = world.get(&format!("{prefix}/orders?{name}={value}"), &org.key).await;
            let text = refusal.refused(400, "invalid-parameter");
            assert_eq!(text, format!("invalid {name}"), "{prefix} {value}");
        }
    }
    for (_, prefix) in newer() {
        for (name, value) in [
            ("total", "gte:"),
            ("total", "zz:1"),
            ("total", "gte:abc"),
            ("total", "abc"),
            ("total", "gte:1,"),
            ("total", "gte:1,lt:"),
            ("total", "1e3"),
            ("total", "gte:gte:1"),
            ("total", "99999999999999999999"),
            ("createdAt", "gte:"),
            ("createdAt", "zz:2026-05-01"),
            ("createdAt", "gte:abc"),
            ("createdAt", "yesterday"),
            ("createdAt", "2026-13-01"),
            ("createdAt", "gte:2026-05-01T08:00:00"),
            ("createdAt", "gte:2026-05-01,lt:x"),
            ("status", "gte:1"),
            ("status", "zz:1"),
            ("status", "eq:"),
            ("currency", "lt:USD"),
            ("currency", "eq:"),
            ("orderReference", "gt:a"),
            ("orderBy", "zz"),
            ("orderBy", "Total"),
            ("orderBy", "id;DROP"),
            ("direction", "up"),
            ("direction", "ASC"),
        ] {
            for query in [format!("{name}={value}"), format!("limit=5&{name}={value}")] {
                let refusal = world.get(&format!("{prefix}/orders?{query}"), &org.key).await;
                let text = refusal.refused(400, "invalid-parameter");
                assert_eq!(text, format!("invalid {name}"), "{prefix} {value}");
            }
        }
    }
}

/// What an order is sorted by.
fn sort_key(order: &Value, field: &str) -> String {
    match field {
        "createdAt" => order["createdDate"].as_str().expect("a time").to_owned(),
        "total" => format!("{:012.2}", order["total"].as_f64().expect("a number")),
        field => order[field].as_str().expect("a text").to_owned(),
    }
}

async fn a_list_is_sorted_by_every_field_both_ways(home: Home) {
    let world = open(home, 10).await;
    let six = six(&world).await;
    let all: BTreeSet<_> = six.references.iter().cloned().collect();
    for field in ["status", "createdAt", "total", "currency", "orderReference"] {
        for (query, is_descending) in
            [("", false), ("&direction=asc", false), ("&direction=desc", true)]
        {
            let query = format!("?orderBy={field}{query}");
            let orders = listed(&world, &six.org, &query).await;
            let keys: Vec<_> = orders.iter().map(|order| sort_key(order, field)).collect();
            let mut sorted = keys.clone();
            sorted.sort();
            if is_descending {
                sorted.reverse();
            }
            assert_eq!(keys, sorted, "{query}");
            let found: Vec<_> = orders.iter().map(reference).collect();
            assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), all, "{query}");
            // Every version sorts alike, and so do pages, however many are equal.
            for (_, prefix) in newer() {
                let target = format!("{prefix}/orders{query}");
                assert_eq!(asked(&world, &six.org, &target).await, found, "{target}");
                let mut walked = Vec::new();
                for page in 1..=3 {
                    let target = format!("{target}&limit=2&page={page}");
                    walked.extend(asked(&world, &six.org, &target).await);
                }
                assert_eq!(walked, found, "{target}");
            }
        }
    }
}

async fn a_walk_through_the_pages_sees_each_order_once(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let requests: Vec<_> =
        (0..23).map(|_| order(&org, "/v2.5", &into_inventory(&[(TRIAL, 1)]))).collect();
    let made: BTreeSet<_> =
        at_once(&world, &requests).await.into_iter().map(|a| reference(&a.json_of(200))).collect();
    assert_eq!(made.len(), 23);
    for (version, prefix) in prefixes() {
        for (name, size, pages) in [("limit", 10, 3), ("perPage", 7, 4), ("limit", 23, 1)] {
            let mut walked = Vec::new();
            for page in 1..=pages {
                let target = format!("{prefix}/orders?page={page}&{name}={size}");
                let answer = world.get(&target, &org.key).await.json_of(200);
                if version.name() >= "v2.2" {
                    let numbers = ["pageCount", "rows", "pageSize"].map(|n| answer[n].clone());
                    assert_eq!(numbers, [pages, 23, size], "{target}");
                }
                walked.extend(asked(&world, &org, &target).await);
            }
            assert_eq!(walked.len(), 23, "{prefix} {size}: each once");
            assert_eq!(walked.into_iter().collect::<BTreeSet<_>>(), made, "{prefix} {size}");
        }
        let default = asked(&world, &org, &format!("{prefix}/orders")).await.len();
        assert_eq!(default, if version.name() >= "v2.2" { 10 } else { 23 }, "{prefix}");
        let whole = asked(&world, &org, &format!("{prefix}/orders?limit=10000")).await;
        let second = asked(&world, &org, &format!("{prefix}/orders?page=2&limit=10")).await;
        assert_eq!(second, whole[10..20], "{prefix}");
    }
}

async fn a_page_past_the_end_is_empty(home: Home) {
    let world = open(home, 1).await;
    let (org, new) = (reseller(&world, PLENTY).await, reseller(&world, 0).await);
    for _ in 0..3 {
        buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 1)])).await;
    }
    for (version, prefix) in prefixes() {
        for (org, rows, page) in [
            (&org, 3, "page=4&limit=1"),
            (&org, 3, "page=2&limit=3"),
            (&org, 3, "page=9223372036854775807&limit=10000"),
            (&org, 3, "page=2&limit=5&total=gte:1"),
            (&new, 0, "page=1"),
            (&new, 0, "page=7&limit=2&orderBy=total"),
        ] {
            let target = format!("{prefix}/orders?{page}");
            let answer = world.get(&target, &org.key).await.json_of(200);
            if version.name() >= "v2.2" {
                assert_eq!((&answer["orders"], &answer["rows"]), (&json!([]), &json!(rows)));
            } else if !page.contains("total=") {
                assert_eq!(answer, json!([]), "{target}");
            }
        }
        if version.name() >= "v2.2" {
            let none = world.get(&format!("{prefix}/orders"), &new.key).await.json_of(200);
            let wanted = json!({"orders": [], "pageCount": 0, "rows": 0, "pageSize": 10});
            assert_eq!(none, wanted, "{prefix}");
        }
    }
}

async fn old_versions_list_the_newest_thousand(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let oldest = buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 1)])).await;
    let bulk = order(&org, "/v2.5", &into_inventory(&[(TRIAL, 1)]));
    for _ in 0..20 {
        for answer in at_once(&world, &vec![bulk.clone(); 50]).await {
            answer.expect(200);
        }
    }
    let newest = buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 2)])).await;
    let whole = asked(&world, &org, "/v2.3/orders?limit=2000").await;
    assert_eq!((whole.len(), &whole[1_001]), (1_002, &reference(&oldest)));
    let distinct: HashSet<_> = whole.iter().collect();
    assert_eq!(distinct.len(), whole.len());
    for (version, prefix) in prefixes() {
        let found = asked(&world, &org, &format!("{prefix}/orders")).await;
        assert_eq!(found[0], reference(&newest), "{prefix}");
        assert_eq!(found.len(), if version.name() >= "v2.2" { 10 } else { 1_000 }, "{prefix}");
        assert_eq!(whole[..found.len()], found, "{prefix}");
    }
    let rest = asked(&world, &org, "/v2.0/orders?page=2").await;
    assert_eq!(rest.len(), 2);
}

async fn nobody_sees_the_orders_of_others(home: Home) {
    let world = open(home, 5).await;
    let (mine, theirs) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let own = reference(&buy(&world, &mine, "/v2.5", &into_inventory(&[(PT, 1)])).await);
    let foreign = reference(&buy(&world, &theirs, "/v2.5", &onto_new(&[(PT, 2)])).await);
    let capital = own.to_uppercase();
    for (version, prefix) in prefixes() {
        let found = asked(&world, &mine, &format!("{prefix}/orders")).await;
        assert_eq!(found, std::slice::from_ref(&own), "{prefix}");
        if version.name() >= "v2.2" {
            let target = format!("{prefix}/orders?orderReference=eq:{foreign}");
            assert_eq!(asked(&world, &mine, &target).await, [""; 0], "{prefix}");
        }
        let mut prints = HashSet::new();
        for reference in [
            foreign.as_str(),
            "01890000-0000-4000-8000-000000000000",
            &foreign[..35],
            &capital,
            "x",
            "%20",
            "%ff",
            "%00",
            "1",
            "'%20OR%201=1--",
            "..%2f..",
        ] {
            let refusal = world.get(&format!("{prefix}/orders/{reference}"), &mine.key).await;
            prints.insert(refusal.fingerprint());
            assert_eq!(refusal.refused(400, "unknown-order"), "order not found", "{reference}");
        }
        assert_eq!(prints.len(), 1, "{prefix}: {prints:?}");
        world.get(&format!("{prefix}/orders/{foreign}"), &theirs.key).await.expect(200);
        let slashed = format!("{prefix}/orders/{own}/?unknown=1");
        world.get(&slashed, &mine.key).await.expect(200);
        let head = Request::new("HEAD", &format!("{prefix}/orders")).key(&mine.key);
        world.node.send(&head).await.expect(200);
    }
    assert_eq!(seen(&world, &mine, &own).await["orderReference"], json!(own));
}
