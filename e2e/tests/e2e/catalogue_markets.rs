//! Who sees what of the catalogue, at what price, and how soon after a change.

use std::time::Duration;

use api::versions::Version;
use serde_json::{Value, json};

use crate::catalogue::{PREFIXES, bring, bundles, names};
use crate::harness::{Home, Node, Org, Ran, Request, World, wait};
use crate::money::{prefixes, written};
use crate::shop::{
    self, ES_UNLIMITED, FIXED, FR, FR_DAY, Good, IE_IN_EUROS, PARTNER, PT, PT_FOR_PARTNERS,
    PT_YEAR, UNLIMITED,
};

crate::on_both! {
    an_organisation_sees_what_it_can_buy_at_its_price,
    a_bundle_that_is_withdrawn_vanishes_and_can_come_back,
    a_change_of_an_organisation_is_seen_at_once,
    a_change_of_the_catalogue_is_seen_at_once_and_elsewhere_within_a_second,
    a_change_at_the_command_line_is_seen_within_a_second,
}

/// A change elsewhere is known within a second; a busy machine is given some more.
const SECOND: Duration = Duration::from_secs(5);

/// Names and prices as a version prints them.
async fn offers(world: &World, org: &Org, prefix: &str) -> Vec<(String, String)> {
    let answer = world.get(&format!("{prefix}/catalogue"), &org.key).await;
    let offer = |bundle: &Value| {
        let name = bundle["name"].as_str().expect("a name").to_owned();
        (name, bundle["price"].to_string())
    };
    bundles(prefix, answer).iter().map(offer).collect()
}

async fn an_organisation_sees_what_it_can_buy_at_its_price(home: Home) {
    let world = shop::open(home, 0).await;
    // On one list only; on another list cheaper in one currency only.
    let secret = json!({"name": "esim_secret", "description": "For partners", "countries": ["PT"],
                        "dataAmount": 1, "duration": 1});
    let on = |list: &str, bundle: &str, currency: &str, price: i64| {
        json!({
            "list": list, "bundle": bundle, "currency": currency, "price": price,
        })
    };
    let prices = [on(PARTNER, "esim_secret", "USD", 5), on("Other", PT.name, "EUR", 111)];
    bring(&world, &json!({"bundles": [secret], "prices": prices})).await;
    let at = |good: Good, price: i64| (good.name, price);
    let in_euros = vec![at(IE_IN_EUROS, 205), at(PT, 220)];
    let endless = |good: Good| at(good, good.price);
    let unlimited = vec![endless(PT_YEAR), endless(FR_DAY), endless(ES_UNLIMITED)];
    let of = |currency: &str, groups: Value, list: &str| {
        json!({
            "name": "Market", "currency": currency, "groups": groups, "priceList": list,
        })
    };
    let partners = vec![endless(PT_YEAR), endless(FR_DAY), endless(ES_UNLIMITED)];
    for (fields, wanted) in [
        (of("EUR", json!([]), ""), in_euros.clone()),
        (of("EUR", json!([]), PARTNER), in_euros.clone()),
        (of("EUR", json!([]), "Other"), vec![at(IE_IN_EUROS, 205), at(PT, 111)]),
        (of("EUR", json!([FIXED]), ""), in_euros),
        (of("JPY", json!([]), ""), vec![]),
        (of("USD", json!([UNLIMITED]), ""), unlimited),
        (of("USD", json!([UNLIMITED, "Nothing"]), PARTNER), partners),
        (of("USD", json!(["Nothing"]), ""), vec![]),
    ] {
        let org = world.add(&fields).await;
        for (version, prefix) in prefixes().into_iter().filter(|(v, _)| *v != Version::V2_0) {
            let printed =
                |(name, price): &(&str, i64)| ((*name).to_owned(), written(*price, version));
            let wanted: Vec<_> = wanted.iter().map(printed).collect();
            assert_eq!(offers(&world, &org, prefix).await, wanted, "{prefix} {fields}");
        }
    }
    // Everything: its own list first, then the standard one.
    for (list, price, count) in [("", PT.price, 12), (PARTNER, PT_FOR_PARTNERS, 13), ("X", 240, 12)]
    {
        let org = world.add(&of("USD", json!([]), list)).await;
        let found = offers(&world, &org, "/v2.3").await;
        assert_eq!(found.len(), count, "{list}");
        let priced = |name: &str, price: i64| (name.to_owned(), price.to_string());
        assert!(found.contains(&priced(PT.name, price)), "{list}: {found:?}");
        assert!(found.contains(&priced(FR.name, FR.price)), "{list}: {found:?}");
        assert_eq!(found.contains(&priced("esim_secret", 5)), list == PARTNER, "{found:?}");
    }
}

async fn a_bundle_that_is_withdrawn_vanishes_and_can_come_back(home: Home) {
    let world = shop::open(home, 0).await;
    let org = shop::reseller(&world, shop::PLENTY).await;
    shop::buy(&world, &org, "/v2.5", &shop::into_inventory(&[(PT, 2)])).await;
    let mut withdrawn = shop::catalogue()["bundles"][0].clone();
    assert_eq!(withdrawn["name"], PT.name);
    withdrawn["withdrawn"] = json!(true);
    let told = bring(&world, &json!({ "bundles": [withdrawn] })).await;
    assert_eq!(told["examples"], json!([format!("bundle {} is no longer sold", PT.name)]));
    for prefix in PREFIXES {
        let left = names(&world, &org, prefix, "").await;
        assert!(left.len() == 11 && !left.contains(&PT.name.to_owned()), "{prefix}: {left:?}");
        let target = format!("{prefix}/catalogue/bundle/{}", PT.name);
        world.get(&target, &org.key).await.refused(400, "unknown-bundle");
    }
    let more = shop::order(&org, "/v2.5", &shop::into_inventory(&[(PT, 1)]));
    world.node.send(&more).await.refused(400, "unknown-bundle");
    // Who holds it keeps it.
    assert_eq!(shop::lots(&world, &org, PT).await[0]["remaining"], 2);
    withdrawn["withdrawn"] = json!(false);
    let told = bring(&world, &json!({ "bundles": [withdrawn] })).await;
    let example = told["examples"][0].as_str().expect("a sentence");
    assert!(example.contains("it is sold again"), "{told}");
    assert_eq!(names(&world, &org, "/v2.1", "").await.len(), 12);
    // Its price was not forgotten.
    shop::buy(&world, &org, "/v2.5", &shop::into_inventory(&[(PT, 1)])).await;
    shop::verify(&world);
}

async fn a_change_of_an_organisation_is_seen_at_once(home: Home) {
    let world = shop::open(home, 0).await;
    let org = world.add_sandbox("Changing").await;
    let price = async || {
        let target = format!("/v2.3/catalogue/bundle/{}", PT.name);
        let alone = world.get(&target, &org.key).await.json_of(200)["price"].clone();
        let target = format!("/v2.3/catalogue?name=eq:{}", PT.name);
        let listed = world.get(&target, &org.key).await.json_of(200);
        assert_eq!(listed["bundles"][0]["price"], alone);
        alone
    };
    for _ in 0..5 {
        for (list, wanted) in [(PARTNER, PT_FOR_PARTNERS), ("", PT.price), ("Nothing", PT.price)] {
            world.change(&org, &json!({ "priceList": list })).await;
            assert_eq!(price().await, wanted, "{list}");
        }
        for (groups, count) in [(json!([UNLIMITED]), 3), (json!(["Nothing"]), 0), (json!([]), 12)] {
            world.change(&org, &json!({ "groups": groups })).await;
            for prefix in PREFIXES {
                assert_eq!(names(&world, &org, prefix, "").await.len(), count, "{prefix} {groups}");
            }
        }
    }
    // By way of the command line it takes a second at most.
    Ran::new(world.home.tern(&["org", "set", &org.id, "--price-list", PARTNER]).arg("--json"))
        .json();
    // Asked one by one: between two questions the organisation may have been read anew.
    wait::until("the new list is known", SECOND, async || {
        let target = format!("/v2.3/catalogue/bundle/{}", PT.name);
        let alone = world.get(&target, &org.key).await.json_of(200);
        (alone["price"] == PT_FOR_PARTNERS).then_some(())
    })
    .await;
    assert_eq!(price().await, PT_FOR_PARTNERS);
    Ran::new(world.home.tern(&["org", "set", &org.id, "--group", UNLIMITED]).arg("--json")).json();
    wait::until("the new groups are known", SECOND, async || {
        (names(&world, &org, "/v2.5", "").await.len() == 3).then_some(())
    })
    .await;
}

/// The price of a bundle on a node, in cents; none where it is not sold.
async fn price_on(node: &Node, org: &Org, good: Good) -> Option<i64> {
    let listed = Request::get(&format!("/v2.3/catalogue?name=eq:{}", good.name)).key(&org.key);
    let listed = node.send(&listed).await.json_of(200);
    let alone = Request::get(&format!("/v2.3/catalogue/bundle/{}", good.name)).key(&org.key);
    let alone = node.send(&alone).await;
    let price = listed["bundles"][0]["price"].as_i64();
    // Between the two questions the catalogue may have been read anew.
    if alone.status == 200 {
        alone.json()["price"].as_i64().filter(|_| price.is_some())
    } else {
        None
    }
}

async fn becomes(node: &Node, org: &Org, price: Option<i64>) {
    wait::until("the change is known elsewhere", SECOND, async || {
        (price_on(node, org, PT).await == price).then_some(())
    })
    .await;
}

async fn a_change_of_the_catalogue_is_seen_at_once_and_elsewhere_within_a_second(home: Home) {
    let world = shop::open(home, 0).await;
    let second = Node::beside(&world.home, &[]).await;
    let org = world.add_sandbox("Watching").await;
    let price = |price: i64| json!({"bundle": PT.name, "currency": "USD", "price": price});
    for (node, other) in [(&world.node, &second), (&second, &world.node)] {
        for minor in [300, 301] {
            assert!(price_on(node, &org, PT).await.is_some());
            assert!(price_on(other, &org, PT).await.is_some());
            let draft =
                world.operator("POST", "/catalogue").json(&json!({"prices": [price(minor)]}));
            node.send(&draft).await.expect(200);
            assert_eq!(price_on(node, &org, PT).await, Some(minor), "not a moment later");
            becomes(other, &org, Some(minor)).await;
        }
        // Sold no more, and again.
        let draft = json!({"bundles": [shop::catalogue()["bundles"][1]]});
        let draft = world.operator("POST", "/catalogue?withdrawOthers=true").json(&draft);
        node.send(&draft).await.expect(200);
        assert_eq!(price_on(node, &org, PT).await, None, "not a moment later");
        becomes(other, &org, None).await;
        node.send(&world.operator("POST", "/catalogue").json(&shop::catalogue())).await.expect(200);
        assert_eq!(price_on(node, &org, PT).await, Some(PT.price), "not a moment later");
        becomes(other, &org, Some(PT.price)).await;
    }
}

async fn a_change_at_the_command_line_is_seen_within_a_second(home: Home) {
    let world = shop::open(home, 0).await;
    let second = Node::beside(&world.home, &[]).await;
    let org = world.add_sandbox("Watching").await;
    let file = world.home.folder().join("prices.csv");
    for minor in [310, 311] {
        assert!(price_on(&world.node, &org, PT).await.is_some());
        assert!(price_on(&second, &org, PT).await.is_some());
        let rows = format!("bundle,currency,price\n{},USD,{minor}\n", PT.name);
        std::fs::write(&file, rows).expect("written");
        world.home.tern_json(&["catalogue", "import", &file.display().to_string()]);
        tokio::join!(becomes(&world.node, &org, Some(minor)), becomes(&second, &org, Some(minor)),);
    }
}
