//! `GET /inventory`, what the operator grants, and how lots end.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::harness::{Answer, Home, Org, World};
use crate::money::{advance, events, prefixes, statement};
use crate::shop::{
    DE, ES_UNLIMITED, EUROPE, FR, Has, IE_IN_EUROS, PLENTY, PT, PT_YEAR, buy, credit, entries,
    give_back, has, into_inventory, inventory, lot, lots, moved, moves, now, open, refund,
    reseller, verify,
};

crate::on_both! {
    the_inventory_is_told_in_every_version,
    lots_come_with_the_earliest_expiry_first,
    conditions_narrow_the_inventory,
    the_inventory_is_read_page_by_page,
    a_lot_expires_after_a_year,
    every_lot_expires_at_its_own_time,
    a_grant_is_a_lot_that_cost_nothing,
    a_grant_that_does_not_fit_is_refused,
    nobody_sees_the_inventory_of_others,
}

const DAY: i64 = 86_400;

/// Versions that have an inventory.
fn newer() -> impl Iterator<Item = &'static str> {
    prefixes().into_iter().filter(|(version, _)| version.name() >= "v2.1").map(|(_, prefix)| prefix)
}

/// What a bundle holds, as the catalogue tells it.
async fn allowances(world: &World, org: &Org, name: &str) -> Value {
    let target = format!("/v2.5/catalogue/bundle/{name}");
    world.get(&target, &org.key).await.json_of(200)["allowances"].clone()
}

async fn the_inventory_is_told_in_every_version(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let goods = [(PT, 3), (EUROPE, 1), (ES_UNLIMITED, 2), (PT_YEAR, 1), (DE, 1)];
    buy(&world, &org, "/v2.0", &into_inventory(&goods)).await;
    let lot = lot(&world, &org, PT).await;
    give_back(&world, &org, lot, 1).await;
    let expiry = lots(&world, &org, PT).await[0]["expiry"].clone();
    let ends = Timestamp::parse(expiry.as_str().expect("a time")).expect("a time");
    let life = ends.ms() - now(&world, &org).await.ms();
    assert!((life - 365 * DAY * 1_000).abs() < 60_000, "{expiry}");
    let pt = allowances(&world, &org, PT.name).await;
    let wanted = json!([{"type": "DATA", "service": "ROAMING", "description": "1GB of data",
        "amount": 1000, "unit": "MB", "unlimited": false}]);
    assert_eq!(pt, wanted);
    // Per version: the bundle of the contract's example, letter by letter.
    let base = format!(
        r#"{{"name":"{}","desc":"eSIM, 1GB, 7 Days, Portugal, V2",
            "available":[{{"id":{lot},"total":3,"remaining":2,"expiry":{expiry}}}],
            "countries":["Portugal"],"data":1000,"duration":7,"durationUnit":"day",
            "autostart":false,"speed":["4G","5G"]"#,
        PT.name
    );
    let v2_3 = r#","unlimited":false"#;
    let v2_4 = format!(r#","unlimited":false,"useDms":false,"allowances":{pt}"#);
    for (prefix, more) in
        [("/v2.1", ""), ("/v2.2", ""), ("/v2.3", v2_3), ("/v2.4", &v2_4), ("/v2.5", &v2_4)]
    {
        let shown = world.get(&format!("{prefix}/inventory"), &org.key).await.json_of(200);
        let wanted: Value = serde_json::from_str(&format!("{base}{more}}}")).expect("JSON");
        let bundles = shown["bundles"].as_array().expect("a list");
        let own = bundles.iter().find(|bundle| bundle["name"] == PT.name).expect("it is there");
        assert_eq!(own, &wanted, "{prefix}");
        let numbers = ["pageCount", "rows", "pageSize"].map(|name| shown[name].clone());
        assert_eq!(numbers, [1, 5, 5], "{prefix}: given whole");
        let names: Vec<_> = bundles.iter().map(|bundle| bundle["name"].as_str()).collect();
        assert!(names.is_sorted(), "{prefix}: {names:?}");
    }
    for prefix in ["/v2", "/v2.0"] {
        let refusal = world.get(&format!("{prefix}/inventory"), &org.key).await;
        refusal.refused(404, "unknown-route");
    }
    odd_ones(&world, &org).await;
}

/// Bundles that are not like most.
async fn odd_ones(world: &World, org: &Org) {
    let all = inventory(world, org).await;
    let of = |name: &str| all.iter().find(|bundle| bundle["name"] == name).expect("it is there");
    let unlimited = of(ES_UNLIMITED.name);
    let facts = (&unlimited["data"], &unlimited["unlimited"], &unlimited["countries"]);
    assert_eq!(facts, (&json!(-1), &json!(true), &json!(["Spain"])));
    let told = allowances(world, org, ES_UNLIMITED.name).await;
    assert_eq!((&unlimited["allowances"], &told[0]["unlimited"]), (&told, &json!(true)));
    let year = of(PT_YEAR.name);
    assert_eq!((&year["duration"], &year["durationUnit"]), (&json!(12), &json!("month")));
    assert_eq!(of(EUROPE.name)["countries"], json!(["Europe+"]));
    assert_eq!(of(DE.name)["autostart"], true);
}

async fn lots_come_with_the_earliest_expiry_first(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let empty = world.get("/v2.5/inventory", &org.key).await.json_of(200);
    assert_eq!(empty, json!({"bundles": [], "pageCount": 0, "rows": 0, "pageSize": 0}));
    for quantity in [2, 3, 4] {
        buy(&world, &org, "/v2.3", &into_inventory(&[(PT, quantity), (FR, 1)])).await;
        advance(&world, &org, DAY).await;
    }
    let held = lots(&world, &org, PT).await;
    let totals: Vec<_> = held.iter().map(|lot| lot["total"].clone()).collect();
    assert_eq!(totals, [2, 3, 4]);
    let ends: Vec<_> = held.iter().map(|lot| lot["expiry"].as_str()).collect();
    assert!(ends.is_sorted(), "{ends:?}");
    let mut ids: Vec<_> = held.iter().map(|lot| lot["id"].as_i64()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    // What is used up is left out, and so is a bundle of which nothing is left.
    give_back(&world, &org, ids[1].expect("whole"), 3).await;
    let totals: Vec<_> = lots(&world, &org, PT).await.iter().map(|l| l["total"].clone()).collect();
    assert_eq!(totals, [2, 4]);
    for lot in lots(&world, &org, FR).await {
        give_back(&world, &org, lot["id"].as_i64().expect("whole"), 1).await;
    }
    assert_eq!(inventory(&world, &org).await.len(), 1);
    verify(&world);
}

async fn conditions_narrow_the_inventory(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let goods = [(PT, 1), (PT_YEAR, 1), (FR, 1), (EUROPE, 1), (ES_UNLIMITED, 1)];
    buy(&world, &org, "/v2.0", &into_inventory(&goods)).await;
    // By name: esim_12GB_12M_PT, esim_1GB_7D_FR, esim_1GB_7D_PT, esim_5GB_30D_REUP, esim_UL_7D_ES.
    let all = [PT_YEAR.name, FR.name, PT.name, EUROPE.name, ES_UNLIMITED.name];
    let names = async |target: &str| -> Vec<String> {
        let shown = world.get(target, &org.key).await.json_of(200);
        let bundles = shown["bundles"].as_array().expect("a list").clone();
        assert_eq!(shown["rows"], bundles.len(), "{target}");
        bundles.iter().map(|b| b["name"].as_str().expect("a text").to_owned()).collect()
    };
    for prefix in newer().filter(|prefix| *prefix >= "/v2.2") {
        for (query, places) in [
            ("name=_pt_", vec![0, 2]),
            ("name=1gb_7D", vec![1, 2]),
            ("name=1GB&name=FR", vec![1]),
            (&format!("name=eq:{}", PT.name), vec![2]),
            (&format!("name=eq:{}", PT.name.to_lowercase()), vec![]),
            ("countries=port", vec![0, 2]),
            ("countries=eq:Portugal", vec![0, 2]),
            ("countries=eq:portugal", vec![]),
            ("countries=PT", vec![]),
            ("countries=europe", vec![3]),
            ("countries=Portugal&name=12M", vec![0]),
            ("countries=Atlantis", vec![]),
            ("unknown=1", vec![0, 1, 2, 3, 4]),
            ("orderBy=name", vec![0, 1, 2, 3, 4]),
            ("direction=desc", vec![4, 3, 2, 1, 0]),
            ("orderBy=name&direction=desc", vec![4, 3, 2, 1, 0]),
        ] {
            let wanted: Vec<_> = places.iter().map(|place: &usize| all[*place]).collect();
            assert_eq!(names(&format!("{prefix}/inventory?{query}")).await, wanted, "{query}");
        }
        let sorted = names(&format!("{prefix}/inventory?orderBy=countries")).await;
        assert_eq!(sorted[..2], [EUROPE.name, FR.name], "{prefix}");
        assert_eq!(sorted[4], ES_UNLIMITED.name, "{prefix}");
        for (name, value) in [
            ("name", "gte:1"),
            ("name", "eq:"),
            ("countries", "zz:1"),
            ("orderBy", "price"),
            ("direction", "up"),
        ] {
            let refusal = world.get(&format!("{prefix}/inventory?{name}={value}"), &org.key).await;
            let text = refusal.refused(400, "invalid-parameter");
            assert_eq!(text, format!("invalid {name}"), "{prefix} {value}");
        }
    }
    for query in ["name=_pt_", "name=gte:1", "orderBy=price", "direction=up", "countries=x"] {
        assert_eq!(names(&format!("/v2.1/inventory?{query}")).await, all, "{query}");
    }
}

async fn the_inventory_is_read_page_by_page(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    // Two lots of each: bundles are counted, not lots.
    for _ in 0..2 {
        let goods = [(PT, 1), (PT_YEAR, 1), (FR, 1), (EUROPE, 1), (ES_UNLIMITED, 1)];
        buy(&world, &org, "/v2.0", &into_inventory(&goods)).await;
    }
    for prefix in newer() {
        let page = async |query: &str| {
            world.get(&format!("{prefix}/inventory?{query}"), &org.key).await.json_of(200)
        };
        let whole = page("").await;
        let bundles = whole["bundles"].as_array().expect("a list").clone();
        assert!(
            bundles
                .iter()
                .all(|bundle| bundle["available"].as_array().is_some_and(|l| l.len() == 2))
        );
        let mut walked = Vec::new();
        for number in 1..=3 {
            let one = page(&format!("page={number}&perPage=2")).await;
            let numbers = ["pageCount", "rows", "pageSize"].map(|name| one[name].clone());
            assert_eq!(numbers, [3, 5, 2], "{prefix}");
            walked.extend(one["bundles"].as_array().expect("a list").clone());
        }
        assert_eq!(walked, bundles, "{prefix}");
        let past = page("page=4&limit=2").await;
        assert_eq!((&past["bundles"], &past["rows"]), (&json!([]), &json!(5)), "{prefix}");
        for (name, value) in
            [("page", "0"), ("page", "-1"), ("perPage", "0"), ("perPage", "10001"), ("limit", "x")]
        {
            let target = format!("{prefix}/inventory?perPage=2&{name}={value}");
            let target = target.replace("perPage=2&perPage", "perPage");
            let text = world.get(&target, &org.key).await.refused(400, "invalid-parameter");
            assert_eq!(text, format!("invalid {name}"), "{prefix} {value}");
        }
    }
}

async fn a_lot_expires_after_a_year(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    buy(&world, &org, "/v2.3", &into_inventory(&[(PT, 5)])).await;
    let lot = lot(&world, &org, PT).await;
    give_back(&world, &org, lot, 2).await;
    advance(&world, &org, 365 * DAY - 60).await;
    assert_eq!(lots(&world, &org, PT).await[0]["remaining"], 3);
    let told = events(&world, &org).await;
    advance(&world, &org, 61).await;
    for prefix in newer() {
        let shown = world.get(&format!("{prefix}/inventory"), &org.key).await.json_of(200);
        assert_eq!((&shown["bundles"], &shown["rows"]), (&json!([]), &json!(0)), "{prefix}");
    }
    // Sold, and never used: the books say so, and nothing is given back.
    let worth = 3 * PT.price;
    let gone = moves([("sales", -worth), ("breakage", worth)]);
    assert_eq!(moved(&world, &org, "lotExpiry").await, gone);
    let all = statement(&world, &org, "").await;
    let last = all["entries"].as_array().and_then(|all| all.last()).expect("entries");
    let facts = (&last["kind"], &last["reference"]);
    assert_eq!(facts, (&json!("lotExpiry"), &json!(lot.to_string())));
    assert_eq!(has(&world, &org).await.balance, PLENTY - worth);
    assert_eq!(events(&world, &org).await, told);
    // Nor is it given back on demand, however long the period is.
    world.change(&org, &json!({"refundDays": 365})).await;
    let before = world.home.dump().await;
    for prefix in newer() {
        let request = refund(&org, prefix, &json!({"usageId": lot, "quantity": 1}));
        let text = world.node.send(&request).await.refused(400, "not-refundable");
        assert_eq!(text, "bundle is not eligible for refund", "{prefix}");
    }
    assert_eq!(world.home.dump().await, before);
    verify(&world);
}

async fn every_lot_expires_at_its_own_time(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let mut wanted = Vec::new();
    for (n, good) in [PT, FR, PT_YEAR, PT].into_iter().enumerate() {
        let quantity = i64::try_from(n).expect("small") + 1;
        buy(&world, &org, "/v2.0", &into_inventory(&[(good, quantity)])).await;
        let expiry = lots(&world, &org, good).await;
        let expiry = expiry.last().expect("a lot")["expiry"].as_str().expect("a time").to_owned();
        wanted.push((expiry, good.price * quantity));
        advance(&world, &org, 10 * DAY).await;
    }
    // One long step; each ends when it should.
    advance(&world, &org, 2 * 365 * DAY).await;
    assert!(inventory(&world, &org).await.is_empty());
    let all = statement(&world, &org, "").await;
    let all = all["entries"].as_array().expect("a list").iter();
    let ended: Vec<_> = all.filter(|entry| entry["kind"] == "lotExpiry").collect();
    assert_eq!(ended.len(), 4);
    let ms = |text: &str| Timestamp::parse(text).expect("a time").ms();
    for (entry, (expiry, worth)) in ended.into_iter().zip(wanted) {
        let late = ms(entry["time"].as_str().expect("a time")) - ms(&expiry);
        assert!((0..1_000).contains(&late), "{late} ms late: {entry}");
        let postings = entry["postings"].to_string();
        assert!(postings.contains(&format!(r#""breakage","amount":{worth}"#)), "{entry}");
    }
    verify(&world);
}

async fn grant(world: &World, org: &Org, body: &Value) -> Answer {
    world.order("POST", &format!("/organisations/{}/grants", org.id), body).await
}

async fn a_grant_is_a_lot_that_cost_nothing(home: Home) {
    let world = open(home, 1).await;
    let (org, live) = (reseller(&world, PLENTY).await, world.add_live("Live").await);
    let body = json!({"bundle": PT.name, "quantity": 5, "reason": "for the trade fair"});
    let given = grant(&world, &org, &body).await.json_of(200);
    let (had, id) = (has(&world, &org).await, given["usageId"].as_i64().expect("whole"));
    assert_eq!((&given["bundle"], &given["quantity"]), (&json!(PT.name), &json!(5)));
    let lot = &lots(&world, &org, PT).await[0];
    let wanted = json!({"id": id, "total": 5, "remaining": 5, "expiry": given["expiry"]});
    assert_eq!(lot, &wanted);
    let ends = Timestamp::parse(given["expiry"].as_str().expect("a time")).expect("a time");
    let life = ends.ms() - now(&world, &org).await.ms();
    assert!((life - 365 * DAY * 1_000).abs() < 60_000, "{given}");
    // It costs nothing, so it moves no money and is no order; but it is on record.
    assert_eq!((had.balance, had.orders, entries(&world, &org).await.len()), (PLENTY, 0, 1));
    let log = world.show("/audit?limit=1000").await.to_string();
    assert!(log.contains("for the trade fair") && log.contains("bundles.grant"), "{log}");
    let before = world.home.dump().await;
    for prefix in newer() {
        let request = refund(&org, prefix, &json!({"usageId": id, "quantity": 1}));
        world.node.send(&request).await.refused(400, "not-refundable");
    }
    assert_eq!(world.home.dump().await, before);
    // Next to bundles that were bought, which can be given back.
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 2)])).await;
    let held = lots(&world, &org, PT).await;
    assert_eq!(held.len(), 2);
    give_back(&world, &org, held[1]["id"].as_i64().expect("whole"), 2).await;
    // Also what they could not buy, and to a live organisation.
    for (org, name) in [(&org, IE_IN_EUROS.name), (&live, FR.name)] {
        let body = json!({"bundle": name, "quantity": 1_000, "reason": "x"});
        grant(&world, org, &body).await.expect(200);
        let all = inventory(&world, org).await;
        assert!(all.iter().any(|held| held["name"] == name), "{all:?}");
    }
    advance(&world, &org, 366 * DAY).await;
    assert!(inventory(&world, &org).await.is_empty());
    let kinds = entries(&world, &org).await;
    assert!(!kinds.contains(&"lotExpiry".to_owned()), "worth nothing: {kinds:?}");
    verify(&world);
}

async fn a_grant_that_does_not_fit_is_refused(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let before = world.home.dump().await;
    let with = |name: &str, value: Value| {
        let mut body = json!({"bundle": PT.name, "quantity": 5, "reason": "why"});
        body[name] = value;
        body
    };
    for (body, code) in [
        (with("bundle", json!(PT.name.to_uppercase())), "unknown-bundle"),
        (with("bundle", json!("no such bundle")), "unknown-bundle"),
        (with("quantity", json!(0)), "invalid-field"),
        (with("quantity", json!(-1)), "invalid-field"),
        (with("quantity", json!(1_001)), "invalid-field"),
        (with("quantity", json!("5")), "malformed-body"),
        (with("reason", json!("")), "invalid-field"),
        (with("reason", json!("x".repeat(1_001))), "invalid-field"),
        (with("reason", json!(7)), "malformed-body"),
        (with("bundle", Value::Null), "missing-parameter"),
        (with("quantity", Value::Null), "missing-parameter"),
        (with("reason", Value::Null), "missing-parameter"),
        (json!([]), "malformed-body"),
    ] {
        let answer = grant(&world, &org, &body).await;
        assert_eq!(answer.header("x-error-code"), Some(code), "{body}: {answer}");
        answer.refused(400, code);
    }
    let text = grant(&world, &org, &with("bundle", json!("esim_x"))).await;
    assert_eq!(text.refused(400, "unknown-bundle"), "bundle not found: esim_x");
    assert_eq!(world.home.dump().await, before);
}

async fn nobody_sees_the_inventory_of_others(home: Home) {
    let world = open(home, 1).await;
    let (mine, theirs) = (reseller(&world, PLENTY).await, reseller(&world, 0).await);
    buy(&world, &mine, "/v2.5", &into_inventory(&[(PT, 3)])).await;
    let lot = lot(&world, &mine, PT).await;
    for prefix in newer() {
        let shown = world.get(&format!("{prefix}/inventory"), &theirs.key).await.json_of(200);
        assert_eq!(shown["bundles"], json!([]), "{prefix}");
        let request = refund(&theirs, prefix, &json!({"usageId": lot, "quantity": 1}));
        world.node.send(&request).await.refused(400, "unknown-usage");
    }
    credit(&world, &theirs, PLENTY).await;
    buy(&world, &theirs, "/v2.5", &into_inventory(&[(PT, 1)])).await;
    let Has { inventory, .. } = has(&world, &theirs).await;
    assert_eq!(inventory[0]["available"].as_array().map(Vec::len), Some(1));
    assert_eq!(lots(&world, &mine, PT).await[0]["remaining"], 3);
}
