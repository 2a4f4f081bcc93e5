//! The terms of an organisation: the list its prices come from, how long it may give bundles back,
//! and how it pays.

use serde_json::{Value, json};

use crate::harness::{Home, Org, Ran, World};
use crate::money::advance;
use crate::shop::{self, PT, buy, into_inventory, lot, refund};

crate::on_both! {
    terms_are_set_and_shown,
    terms_that_do_not_fit_are_refused,
    terms_take_effect_at_once,
    terms_are_set_at_the_command_line,
}

const NAMES: [&str; 3] = ["priceList", "refundDays", "billing"];

fn terms(organisation: &Value) -> Value {
    json!(NAMES.map(|name| organisation[name].clone()))
}

async fn shown(world: &World, org: &Org) -> Value {
    terms(&world.show(&format!("/organisations/{}", org.id)).await)
}

/// What the log says of the last change, and who made it.
async fn noted(world: &World) -> Value {
    let page = world.show("/audit?limit=1").await;
    let last = &page["entries"][0];
    let actor = last["actor"].as_str().expect("a text");
    let actor = actor.split(':').next().expect("a kind");
    json!([actor, last["action"], last["detail"]])
}

async fn terms_are_set_and_shown(home: Home) {
    let world = World::start(home).await;
    let plain = world.add_live("Plain").await;
    let standard = json!(["", 60, "prepaid"]);
    assert_eq!(shown(&world, &plain).await, standard);
    let fields = json!({
        "name": "Special", "currency": "USD", "priceList": "Partner", "refundDays": 0,
        "billing": "consumption",
    });
    let made = world.order("POST", "/organisations", &fields).await.json_of(201);
    let special = json!(["Partner", 0, "consumption"]);
    assert_eq!(terms(&made), special);
    world.is_secret(made["apiKey"].as_str().expect("a key"));
    let list = world.show("/organisations").await;
    let listed: Vec<_> =
        list["organisations"].as_array().expect("a list").iter().map(terms).collect();
    assert_eq!(json!(listed), json!([standard, special]));
    // Each by itself; what is not named stays.
    let odd = "\u{1f427} 'quoted' \"list\"; DROP TABLE prices";
    let long = "x".repeat(1_000);
    for (change, wanted) in [
        (json!({"priceList": odd}), json!([odd, 60, "prepaid"])),
        (json!({"REFUNDDAYS": 365}), json!([odd, 365, "prepaid"])),
        (json!({"billing": "consumption"}), json!([odd, 365, "consumption"])),
        (json!({"city": "Wick"}), json!([odd, 365, "consumption"])),
        (
            json!({"priceList": null, "refundDays": null, "billing": null}),
            json!([odd, 365, "consumption"]),
        ),
        (json!({"refundDays": 1, "billing": "prepaid"}), json!([odd, 1, "prepaid"])),
        (json!({ "priceList": long }), json!([long, 1, "prepaid"])),
        (json!({"priceList": "", "refundDays": 0}), json!(["", 0, "prepaid"])),
    ] {
        assert_eq!(terms(&world.change(&plain, &change).await), wanted, "{change}");
        assert_eq!(shown(&world, &plain).await, wanted, "{change}");
        let named = change.as_object().expect("an object").iter();
        let named = named.filter(|(_, value)| !value.is_null());
        let named: Vec<_> =
            named.map(|(name, _)| name.replace("REFUNDDAYS", "refundDays")).collect();
        let act = json!(["operator", "organisation.change", named.join(" ")]);
        assert_eq!(noted(&world).await, act, "what was changed, not to what");
    }
    // They are the operator's business, not the reseller's.
    let own = world.get("/v2.5/organisation", &plain.key).await.json_of(200);
    assert_eq!(terms(&own["organisations"][0]), json!([null, null, null]));
}

async fn terms_that_do_not_fit_are_refused(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Strict").await;
    world.change(&org, &json!({"priceList": "A", "refundDays": 5, "billing": "consumption"})).await;
    let before = world.home.dump().await;
    let line = "priceList must be one line of at most 1000 characters";
    let days = "refundDays must be 0 to 365";
    let billing = "billing must be prepaid or consumption";
    let path = format!("/organisations/{}", org.id);
    for (name, value, why) in [
        ("priceList", json!("x".repeat(1_001)), line),
        ("priceList", json!("two\nlines"), line),
        ("priceList", json!("a\tb"), line),
        ("refundDays", json!(-1), days),
        ("refundDays", json!(366), days),
        ("refundDays", json!(i64::MAX), days),
        ("billing", json!(""), billing),
        ("billing", json!("Prepaid"), billing),
        ("billing", json!("postpaid"), billing),
    ] {
        // A good field beside it is not taken either.
        let change = json!({"city": "Wick", (name): value});
        let refusal = world.order("PATCH", &path, &change).await;
        assert_eq!(refusal.refused(400, "invalid-field"), why, "{change}");
        let new = json!({"name": "New", "currency": "USD", (name): value});
        let refusal = world.order("POST", "/organisations", &new).await;
        assert_eq!(refusal.refused(400, "invalid-field"), why, "{new}");
    }
    for (name, values) in [
        ("priceList", [json!(5), json!(["A"]), json!("a\0b"), json!(true)]),
        ("refundDays", [json!("60"), json!(1.5), json!([1]), json!(60.0)]),
        ("billing", [json!(1), json!(false), json!({}), json!(["prepaid"])]),
    ] {
        for value in values {
            let refusal = world.order("PATCH", &path, &json!({ (name): value })).await;
            refusal.refused(400, "malformed-body");
            let new = json!({"name": "New", "currency": "USD", (name): value});
            world.order("POST", "/organisations", &new).await.refused(400, "malformed-body");
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn terms_take_effect_at_once(home: Home) {
    let world = shop::open(home, 0).await;
    let org = shop::reseller(&world, shop::PLENTY).await;
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 5)])).await;
    let lot = lot(&world, &org, PT).await;
    let give = json!({"usageId": lot, "quantity": 1});
    let one = async || world.node.send(&refund(&org, "/v2.5", &give)).await;
    one().await.expect(200);
    world.change(&org, &json!({"refundDays": 0})).await;
    one().await.refused(400, "not-refundable");
    world.change(&org, &json!({"refundDays": 2})).await;
    one().await.expect(200);
    advance(&world, &org, 3 * 24 * 3_600).await;
    one().await.refused(400, "not-refundable");
    world.change(&org, &json!({"refundDays": 4})).await;
    one().await.expect(200);
    // What was paid is given back, whatever list it is on by now.
    world.change(&org, &json!({"priceList": shop::PARTNER})).await;
    let before = shop::has(&world, &org).await.balance;
    one().await.expect(200);
    assert_eq!(shop::has(&world, &org).await.balance, before + PT.price);
    let bought = buy(&world, &org, "/v2.3", &into_inventory(&[(PT, 1)])).await;
    assert_eq!(bought["total"], shop::PT_FOR_PARTNERS);
    let prices = "/v2.5/catalogue/prices";
    world.get(prices, &org.key).await.refused(403, "prices-not-available");
    world.change(&org, &json!({"billing": "consumption"})).await;
    world.get(prices, &org.key).await.expect(200);
    shop::verify(&world);
}

async fn terms_are_set_at_the_command_line(home: Home) {
    let world = World::start(home).await;
    let cli = |args: &[&str]| world.home.tern_json(args);
    let add = ["org", "add", "Special", "--currency", "USD", "--sandbox"];
    let plain = cli(&add);
    world.is_secret(plain["apiKey"].as_str().expect("a key"));
    assert_eq!(terms(&plain), json!(["", 60, "prepaid"]));
    let set = ["--price-list", "Partner", "--refund-days", "30", "--billing", "consumption"];
    let special = cli(&[&add[..], &set[..]].concat());
    world.is_secret(special["apiKey"].as_str().expect("a key"));
    assert_eq!(terms(&special), json!(["Partner", 30, "consumption"]));
    let id = special["id"].as_str().expect("an id");
    let by_service = world.show(&format!("/organisations/{id}")).await;
    assert_eq!(terms(&by_service), terms(&special));
    for (args, wanted) in [
        (vec!["--price-list", ""], json!(["", 30, "consumption"])),
        (vec!["--refund-days", "0"], json!(["", 0, "consumption"])),
        (vec!["--billing", "prepaid", "--refund-days", "365"], json!(["", 365, "prepaid"])),
    ] {
        let args = [&["org", "set", id][..], &args[..]].concat();
        assert_eq!(terms(&cli(&args)), wanted, "{args:?}");
    }
    assert_eq!(cli(&["org", "show", id])["refundDays"], 365);
    assert_eq!(noted(&world).await, json!(["cli", "organisation.change", "refundDays billing"]));
    let people = Ran::new(&mut world.home.tern(&["org", "show", id]));
    assert!(people.stdout.lines().any(|line| line.starts_with("refundDays")), "{people:?}");
    let before = world.home.dump().await;
    let long = "x".repeat(1_001);
    for (args, why) in [
        (["--price-list", &long], "priceList must be one line of at most 1000 characters"),
        (["--price-list", "a\nb"], "priceList must be one line"),
        (["--refund-days", "366"], "refundDays must be 0 to 365"),
        (["--refund-days=-1", "--city=x"], "refundDays must be 0 to 365"),
        (["--billing", "later"], "billing must be prepaid or consumption"),
    ] {
        Ran::new(&mut world.home.tern(&[&["org", "set", id][..], &args[..]].concat()))
            .failed(1, why);
    }
    let odd = [&add[..], &["--billing", "later"]].concat();
    Ran::new(&mut world.home.tern(&odd)).failed(1, "billing must be prepaid or consumption");
    let odd = ["org", "set", id, "--refund-days", "x"];
    Ran::new(&mut world.home.tern(&odd)).failed(2, "--help");
    assert_eq!(world.home.dump().await, before);
}
