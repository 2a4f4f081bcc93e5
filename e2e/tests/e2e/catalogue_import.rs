//! `POST /operator/v1/catalogue`: brought as a whole or not at all, counted, and said in words.

use serde_json::{Value, json};

use crate::catalogue::{bring, names};
use crate::harness::{Home, Org, Request, World};
use crate::shop::{self, FIXED, FR, PT, at_once};

crate::on_both! {
    a_preview_tells_what_would_be_and_changes_nothing,
    what_changes_is_counted_and_said,
    a_table_says_the_same_as_json,
    a_bundle_is_written_as_a_whole_and_keeps_its_prices,
    networks_of_a_country_are_replaced_together,
    bundles_that_are_not_mentioned_can_be_withdrawn,
    rows_may_refer_to_one_another,
    the_largest_that_fits_is_taken,
    a_large_catalogue_is_read_and_a_larger_one_is_not,
    every_import_is_in_the_audit_log,
    imports_at_the_same_time_come_one_after_the_other,
}

/// How many rows of a part were added, changed, left and withdrawn.
pub(crate) fn counts(told: &Value, part: &str) -> [i64; 4] {
    ["added", "changed", "unchanged", "withdrawn"]
        .map(|name| told["changes"][part][name].as_i64().unwrap_or_else(|| panic!("{told}")))
}

const PARTS: [&str; 6] = ["bundles", "countries", "networks", "groups", "prices", "rates"];

/// All parts, in that order.
pub(crate) fn all_counts(told: &Value) -> [[i64; 4]; 6] {
    PARTS.map(|part| counts(told, part))
}

/// A request with a table in it.
fn table(world: &World, query: &str, text: &str) -> Request {
    let request = world.operator("POST", &format!("/catalogue{query}"));
    request.header("Content-Type", "text/csv").body(text)
}

async fn preview(world: &World, draft: &Value) -> Value {
    let told = world.order("POST", "/catalogue?preview=true", draft).await.json_of(200);
    assert_eq!(told["applied"], json!(false), "{told}");
    told
}

pub(crate) fn bundle(name: &str) -> Value {
    json!({"name": name, "description": "A bundle", "countries": ["PT"], "dataAmount": 1_000,
           "duration": 7, "groups": [FIXED], "prices": {"USD": 100}})
}

async fn a_preview_tells_what_would_be_and_changes_nothing(home: Home) {
    let world = World::start(home).await;
    let empty = world.home.dump().await;
    let told = preview(&world, &shop::catalogue()).await;
    // Six countries of the world come by themselves.
    let new = [[13, 0, 0, 0], [7, 0, 0, 0], [0; 4], [2, 0, 0, 0], [15, 0, 0, 0], [0; 4]];
    assert_eq!(all_counts(&told), new, "{told}");
    assert_eq!(told["examples"][0], format!("bundle {} is new", PT.name));
    assert_eq!(world.home.dump().await, empty);
    let done = bring(&world, &shop::catalogue()).await;
    assert_eq!(all_counts(&done), new);
    assert_eq!(done["examples"], told["examples"]);
    // Brought again it changes nothing: not a row, not an entry in the log.
    let full = world.home.dump().await;
    let same = [[0, 0, 13, 0], [0, 0, 1, 0], [0; 4], [0, 0, 2, 0], [0, 0, 15, 0], [0; 4]];
    for told in [bring(&world, &shop::catalogue()).await, preview(&world, &shop::catalogue()).await]
    {
        assert_eq!(all_counts(&told), same, "{told}");
        assert_eq!(told["examples"], json!([]));
    }
    let told = world.node.send(&world.operator("POST", "/catalogue").body("{}")).await.json_of(200);
    assert_eq!(all_counts(&told), [[0; 4]; 6]);
    // Nor does a preview of other things.
    let mut other = shop::catalogue();
    other["bundles"][0]["duration"] = json!(10);
    other["groups"][0]["desc"] = json!("Otherwise");
    other["bundles"][1]["name"] = json!("esim_new");
    let told = world.order("POST", "/catalogue?preview=true&withdrawOthers=true", &other).await;
    let told = told.json_of(200);
    assert_eq!(counts(&told, "bundles"), [1, 1, 11, 1], "{told}");
    assert_eq!(counts(&told, "groups"), [0, 1, 1, 0]);
    assert_eq!(counts(&told, "prices"), [1, 0, 14, 0]);
    assert_eq!(world.home.dump().await, full);
    let org = world.add_sandbox("Reseller").await;
    assert_eq!(names(&world, &org, "/v2.5", "").await.len(), 12);
}

async fn what_changes_is_counted_and_said(home: Home) {
    let world = shop::open(home, 0).await;
    let rate = |price: &str| json!({"country": "PT", "currency": "USD", "price": price});
    let network = json!({"iso": "PT", "name": "Sagres", "mcc": "268", "mnc": "98"});
    bring(&world, &json!({"rates": [rate("0.1")], "networks": [network]})).await;
    let mut first = shop::catalogue()["bundles"][0].clone();
    first["duration"] = json!(10);
    first["prices"]["USD"] = json!(260);
    let mut other = network.clone();
    other["name"] = json!("Sagres Mobile");
    let draft = json!({
        "bundles": [first, bundle("esim_new")],
        "countries": [{"iso": "PT", "name": "Portugal", "region": "Europe"},
                      {"iso": "Europe+", "name": "Europe and more", "region": "Europe"}],
        "groups": [{"name": FIXED, "desc": "New words"}, {"name": "Third"}],
        "networks": [other],
        "rates": [rate("0.2")],
    });
    let wanted = [
        [1, 1, 0, 0],
        [0, 1, 1, 0],
        [0, 1, 0, 0],
        [1, 1, 0, 0],
        // A price in euros stands in the bundle too.
        [1, 1, 1, 0],
        [0, 1, 0, 0],
    ];
    let told = preview(&world, &draft).await;
    assert_eq!(all_counts(&told), wanted, "{told}");
    let done = bring(&world, &draft).await;
    assert_eq!(all_counts(&done), wanted);
    let examples = done["examples"].to_string();
    for example in [
        "bundle esim_1GB_7D_PT_V2 changes: duration 7 → 10",
        "bundle esim_new is new",
        "price of esim_1GB_7D_PT_V2: 240 → 260 USD",
    ] {
        assert!(examples.contains(example), "{example}: {examples}");
    }
    let org = world.add_sandbox("Reseller").await;
    let shown = world.get(&format!("/v2.5/catalogue/bundle/{}", PT.name), &org.key).await;
    let shown = shown.json_of(200);
    assert_eq!((&shown["duration"], &shown["price"]), (&json!(10), &json!(2.6)));
    let found = names(&world, &org, "/v2.5", "?name=esim_new").await;
    assert_eq!(found, ["esim_new"]);
}

async fn a_table_says_the_same_as_json(home: Home) {
    let world = World::start(home).await;
    let countries =
        "\u{feff}iso,name,region\r\nEurope+,Europe and more,Europe\r\nXX,\"X, Y\",Asia\r\n";
    let networks = "iso,name,brandName,mcc,mnc,tagid,speed\nXX,Xtel,,999,01,XXXXX,4G; 5G\n\n\
                    XX,\"The \"\"other\"\"\",Other,999,002,,\n";
    let groups = "name,desc,priceListUrl,icon\nOne,\"two\nlines\",https://p.example/,\n\nTwo,,,\n";
    let bundles = "name,description,countries,roamingEnabled,dataAmount,duration,durationUnit,\
        speed,autostart,unlimited,dailyAllowance,throttle,groups,profileName,imageUrl,withdrawn,\
        price:USD,price:EUR,unknown\n\
        esim_a,First,XX;PT,,1000,7,,4G;5G,,,,,One;Two,,,,240,,x\n\
        esim_b,Second,Europe+,PT;XX,-1,2,month,,true,true,500,128,,Profile 2,https://i.example/,,\
        5,6,\n\
        esim_c,Third,PT,,,1,day,,false,TRUE,,,One,,,true,,0,\n";
    let prices = "list,bundle,currency,price\nPartner,esim_a,USD,200\n,esim_a,JPY,9\n";
    let rates =
        "list,country,profileName,currency,price\n,XX,,USD,0.0021\nPartner,PT,Profile 2,EUR,1\n";
    let wanted = [
        (countries, [[0; 4], [2, 0, 0, 0], [0; 4], [0; 4], [0; 4], [0; 4]]),
        (networks, [[0; 4], [0; 4], [2, 0, 0, 0], [0; 4], [0; 4], [0; 4]]),
        (groups, [[0; 4], [0; 4], [0; 4], [2, 0, 0, 0], [0; 4], [0; 4]]),
        (bundles, [[3, 0, 0, 0], [1, 0, 0, 0], [0; 4], [0; 4], [4, 0, 0, 0], [0; 4]]),
        (prices, [[0; 4], [0; 4], [0; 4], [0; 4], [2, 0, 0, 0], [0; 4]]),
        (rates, [[0; 4], [0; 4], [0; 4], [0; 4], [0; 4], [2, 0, 0, 0]]),
    ];
    for (text, new) in wanted {
        for query in ["?preview=true", ""] {
            let told = world.node.send(&table(&world, query, text)).await.json_of(200);
            assert_eq!(all_counts(&told), new, "{query} {text}");
        }
    }
    let request =
        world.operator("POST", "/catalogue").header("Content-Type", "Text/CSV; charset=utf-8");
    world.node.send(&request.chunked(rates)).await.expect(200);
    let draft = json!({
        "countries": [{"iso": "Europe+", "name": "Europe and more", "region": "Europe"},
                      {"iso": "XX", "name": "X, Y", "region": "Asia"}],
        "networks": [
            {"iso": "XX", "name": "Xtel", "mcc": "999", "mnc": "01", "tagid": "XXXXX",
             "speed": ["4G", "5G"]},
            {"iso": "XX", "name": "The \"other\"", "brandName": "Other", "mcc": "999",
             "mnc": "002"},
        ],
        "groups": [{"name": "One", "desc": "two\nlines", "priceListUrl": "https://p.example/"},
                   {"name": "Two"}],
        "bundles": [
            {"name": "esim_a", "description": "First", "countries": ["XX", "PT"],
             "dataAmount": 1_000, "duration": 7, "speed": ["4G", "5G"], "groups": ["One", "Two"],
             "prices": {"USD": 240}},
            {"name": "esim_b", "description": "Second", "countries": ["Europe+"],
             "roamingEnabled": ["PT", "XX"], "unlimited": true, "dailyAllowance": 500,
             "throttle": 128, "duration": 2, "durationUnit": "month", "autostart": true,
             "profileName": "Profile 2", "imageUrl": "https://i.example/",
             "prices": {"USD": 5, "EUR": 6}},
            {"name": "esim_c", "description": "Third", "countries": ["PT"], "dataAmount": -1,
             "duration": 1, "groups": ["One"], "withdrawn": true, "prices": {"EUR": 0}},
        ],
        "prices": [{"list": "Partner", "bundle": "esim_a", "currency": "USD", "price": 200},
                   {"bundle": "esim_a", "currency": "JPY", "price": 9}],
        "rates": [{"country": "XX", "currency": "USD", "price": "0.0021"},
                  {"list": "Partner", "country": "PT", "profileName": "Profile 2",
                   "currency": "EUR", "price": "1"}],
    });
    let told = bring(&world, &draft).await;
    let same = [3, 2, 2, 2, 6, 2].map(|count| [0, 0, count, 0]);
    assert_eq!(all_counts(&told), same, "{told}");
}

async fn one(world: &World, org: &Org, name: &str) -> Value {
    world.get(&format!("/v2.5/catalogue/bundle/{name}"), &org.key).await.json_of(200)
}

async fn a_bundle_is_written_as_a_whole_and_keeps_its_prices(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Dollars").await;
    let other = world.add(&json!({"name": "Euros", "currency": "EUR"})).await;
    let rich = json!({
        "name": "esim_a", "description": "Rich", "countries": ["PT", "ES"],
        "roamingEnabled": ["FR"], "unlimited": true, "duration": 2, "durationUnit": "month",
        "speed": ["5G"], "autostart": true, "groups": ["One"], "profileName": "Profile 9",
        "imageUrl": "https://i.example/", "prices": {"USD": 500, "EUR": 450},
        "allowances": [{"type": "VOICE", "service": "STANDARD", "description": "5 minutes",
                        "amount": 5, "unit": "MINS"}],
    });
    bring(&world, &json!({ "bundles": [rich] })).await;
    assert_eq!(one(&world, &org, "esim_a").await["allowances"][0]["unit"], "MINS");
    let poor = json!({"name": "esim_a", "description": "Poor", "countries": ["PT"],
                      "dataAmount": 500, "duration": 2, "prices": {"USD": 600}});
    let told = bring(&world, &json!({ "bundles": [poor] })).await;
    assert_eq!(counts(&told, "prices"), [0, 1, 0, 0]);
    let shown = one(&world, &org, "esim_a").await;
    let wanted = json!({
        "name": "esim_a", "description": "Poor",
        "countries": [{"name": "Portugal", "region": "Europe", "iso": "PT"}],
        "dataAmount": 500, "duration": 2, "speed": [], "autostart": false, "roamingEnabled": [],
        "price": 6, "group": [], "unlimited": false, "imageUrl": "", "billingType": "FixedCost",
        "profileName": "Profile 1", "allowances": [{
            "type": "DATA", "service": "ROAMING", "description": "500MB of data", "amount": 500,
            "unit": "MB", "unlimited": false,
        }],
    });
    assert_eq!(shown, wanted);
    assert_eq!(one(&world, &other, "esim_a").await["price"], json!(4.5), "kept");
    // Prices alone leave the bundle alone; a null and an unknown field are nothing.
    let price = json!({"list": null, "bundle": "esim_a", "currency": "EUR", "price": 0, "x": [1]});
    let told = bring(&world, &json!({"PRICES": [price], "bundles": null, "unknown": {}})).await;
    assert_eq!((counts(&told, "bundles"), counts(&told, "prices")), ([0; 4], [0, 1, 0, 0]));
    assert_eq!(one(&world, &other, "esim_a").await["price"], json!(0));
    assert_eq!(one(&world, &org, "esim_a").await, wanted);
}

async fn networks_of_a_country_are_replaced_together(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Reseller").await;
    let network = |iso: &str, name: &str, mnc: &str| {
        json!({
            "iso": iso, "name": name, "mcc": "268", "mnc": mnc,
        })
    };
    let draft = [network("PT", "A", "01"), network("PT", "B", "02"), network("ES", "C", "01")];
    let told = bring(&world, &json!({ "networks": draft })).await;
    assert_eq!(counts(&told, "networks"), [3, 0, 0, 0]);
    assert_eq!(counts(&told, "countries"), [2, 0, 0, 0]);
    let shown = async || {
        let shown = world.get("/v2.5/networks?returnAll=true", &org.key).await.json_of(200);
        let countries = shown["countryNetworks"].as_array().expect("a list").iter();
        let networks = countries.flat_map(|one| one["networks"].as_array().expect("a list"));
        let name = |network: &Value| network["name"].as_str().expect("a name").to_owned();
        networks.map(name).collect::<Vec<_>>()
    };
    assert_eq!(shown().await, ["A", "B", "C"]);
    // One stays, one is new, one goes; Spain is not mentioned.
    let draft = json!({"networks": [network("PT", "A", "01"), network("PT", "D", "03")]});
    for told in [preview(&world, &draft).await, bring(&world, &draft).await] {
        assert_eq!(counts(&told, "networks"), [1, 0, 1, 1], "{told}");
    }
    assert_eq!(shown().await, ["A", "D", "C"]);
    let told = bring(&world, &draft).await;
    assert_eq!(counts(&told, "networks"), [0, 0, 2, 0]);
}

async fn bundles_that_are_not_mentioned_can_be_withdrawn(home: Home) {
    let world = shop::open(home, 0).await;
    let org = world.add_sandbox("Reseller").await;
    let two = json!({"bundles": [shop::catalogue()["bundles"][0], bundle("esim_new")]});
    let others = async |draft: &Value| {
        let target = "/catalogue?withdrawOthers=true";
        world.order("POST", target, draft).await.json_of(200)
    };
    let told = others(&two).await;
    assert_eq!(counts(&told, "bundles"), [1, 0, 1, 12], "{told}");
    let text = told["examples"].to_string();
    assert!(text.contains(&format!("bundle {} is no longer sold", FR.name)), "{text}");
    assert_eq!(names(&world, &org, "/v2.5", "").await, [PT.name, "esim_new"]);
    // Those are gone already.
    let told = others(&two).await;
    assert_eq!(counts(&told, "bundles"), [0, 0, 2, 0]);
    // Mentioned again they are sold again, and the rest is not.
    let told = others(&json!({"bundles": [shop::catalogue()["bundles"][2]]})).await;
    assert_eq!(counts(&told, "bundles"), [0, 1, 0, 2], "{told}");
    assert_eq!(names(&world, &org, "/v2.5", "").await, [FR.name]);
    let told = others(&json!({})).await;
    assert_eq!(counts(&told, "bundles"), [0, 0, 0, 1]);
    assert_eq!(names(&world, &org, "/v2.5", "").await, [""; 0]);
    // Without the wish everything stays as it is.
    for target in ["/catalogue", "/catalogue?withdrawOthers=false"] {
        world.order("POST", target, &shop::catalogue()).await.expect(200);
        world.order("POST", target, &json!({"bundles": [bundle("esim_x")]})).await.expect(200);
        assert_eq!(names(&world, &org, "/v2.5", "").await.len(), 13, "{target}");
    }
}

async fn rows_may_refer_to_one_another(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Reseller").await;
    // In any order, and to what is there already.
    let mut first = bundle("esim_a");
    first["countries"] = json!(["Moon"]);
    first["roamingEnabled"] = json!(["JP"]);
    let draft = json!({
        "prices": [{"list": "L", "bundle": "esim_a", "currency": "USD", "price": 1}],
        "rates": [{"country": "Moon", "currency": "USD", "price": "1"}],
        "bundles": [first],
        "networks": [{"iso": "Moon", "name": "Luna", "mcc": "001", "mnc": "01"}],
        "countries": [{"iso": "Moon", "name": "The Moon", "region": "Global"}],
    });
    let told = bring(&world, &draft).await;
    assert_eq!(counts(&told, "countries"), [2, 0, 0, 0], "{told}");
    assert_eq!(counts(&told, "groups"), [1, 0, 0, 0], "a group that a bundle names is made");
    let shown = one(&world, &org, "esim_a").await;
    assert_eq!(
        shown["countries"],
        json!([{"name": "The Moon", "region": "Global", "iso": "Moon"}])
    );
    assert_eq!(shown["roamingEnabled"][0]["name"], "Japan");
    let groups = world.get("/v2.5/organisation/groups", &org.key).await.json_of(200);
    let made = json!({"name": FIXED, "desc": "", "priceListUrl": "", "icon": ""});
    assert_eq!(groups, json!({"groups": [made]}));
    let mut second = bundle("esim_b");
    second["countries"] = json!(["Moon"]);
    let draft = json!({
        "bundles": [second],
        "prices": [{"bundle": "esim_a", "currency": "EUR", "price": 1}],
    });
    let told = bring(&world, &draft).await;
    assert_eq!((counts(&told, "countries"), counts(&told, "groups")), ([0; 4], [0; 4]));
    // What was brought is not made poorer by who only names it.
    bring(
        &world,
        &json!({"groups": [{"name": FIXED, "desc": "Words"}],
                          "countries": [{"iso": "PT", "name": "Lusitania", "region": "Global"}]}),
    )
    .await;
    bring(&world, &json!({"bundles": [bundle("esim_c")]})).await;
    let groups = world.get("/v2.5/organisation/groups", &org.key).await.json_of(200);
    assert_eq!(groups["groups"][0]["desc"], "Words");
    assert_eq!(one(&world, &org, "esim_c").await["countries"][0]["name"], "Lusitania");
}

async fn the_largest_that_fits_is_taken(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Reseller").await;
    let mut largest = bundle(&"x".repeat(100));
    for (name, value) in [
        ("description", json!("\u{1f427}".repeat(1_000))),
        ("dataAmount", json!(1_000_000_000)),
        ("duration", json!(3_650)),
        ("groups", json!(["g".repeat(1_000)])),
        ("prices", json!({"USD": 100_000_000, "JPY": 100_000_000})),
        ("imageUrl", json!(format!("https://i.example/{}", "x".repeat(1_982)))),
    ] {
        largest[name] = value;
    }
    let mut endless = bundle("A-z_0.9+");
    endless["dataAmount"] = json!(-1);
    endless["dailyAllowance"] = json!(1_000_000_000);
    endless["throttle"] = json!(10_000_000);
    let rates = ["999999999.999999999", "0", "0.000000001"].map(
        |price| json!({"country": "PT", "profileName": price, "currency": "USD", "price": price}),
    );
    bring(&world, &json!({"bundles": [largest, endless], "rates": rates})).await;
    let shown = one(&world, &org, &"x".repeat(100)).await;
    assert_eq!((&shown["price"], &shown["duration"]), (&json!(1_000_000), &json!(3_650)));
    assert_eq!(shown["description"], "\u{1f427}".repeat(1_000));
    assert_eq!(shown["imageUrl"].as_str().map(str::len), Some(2_000));
    assert_eq!(one(&world, &org, "A-z_0.9+").await["dataAmount"], -1);
    world.change(&org, &json!({"billing": "consumption"})).await;
    let prices = world.get("/v2.5/catalogue/prices", &org.key).await.json_of(200);
    let shown = prices["prices"][0]["prices"].as_array().expect("a list");
    assert!(shown.iter().all(|rate| rate["price"] == rate["profile"]), "{prices}");
    assert_eq!(shown.len(), 3);
}

async fn a_large_catalogue_is_read_and_a_larger_one_is_not(home: Home) {
    let world = World::start(home).await;
    // More than any other body may have.
    let draft = json!({"bundles": [bundle("esim_a")]}).to_string();
    let padded = |size: usize| format!("{draft}{}", " ".repeat(size - draft.len()));
    let post = || world.operator("POST", "/catalogue?preview=true");
    for request in [post().body(padded(1_000_001)), post().chunked(padded(3_000_000))] {
        let told = world.node.send(&request).await.json_of(200);
        assert_eq!(counts(&told, "bundles"), [1, 0, 0, 0]);
    }
    let before = world.home.dump().await;
    // One byte too many is refused as soon as it is announced.
    let announced = world.operator("POST", "/catalogue").header("Content-Length", "64000001");
    let announced = announced.header("Expect", "100-continue");
    let text = world.node.send(&announced).await.refused(413, "body-too-large");
    assert_eq!(text, "request body too large");
    // A wrong key is the better reason, whatever follows.
    let stranger = Request::post("/operator/v1/catalogue").bearer("wrong").body(padded(1_500_000));
    world.node.send(&stranger).await.refused(401, "bad-operator-key");
    assert_eq!(world.home.dump().await, before);
}

async fn imports(world: &World) -> Vec<Value> {
    let page = world.show("/audit?limit=1000").await;
    let entries = page["entries"].as_array().expect("a list").iter();
    entries.filter(|entry| entry["action"] == "catalogue.import").cloned().collect()
}

async fn every_import_is_in_the_audit_log(home: Home) {
    let world = World::start(home).await;
    let draft = json!({"bundles": [bundle("esim_a")]});
    let post = |key: &str| Request::post("/operator/v1/catalogue").bearer(key).json(&draft);
    let org = world.add_sandbox("Reseller").await;
    for key in ["wrong", "", &org.key] {
        let text = world.node.send(&post(key)).await.refused(401, "bad-operator-key");
        assert_eq!(text, "access denied");
    }
    let with_key = Request::post("/operator/v1/catalogue").key(&world.operator_key).json(&draft);
    world.node.send(&with_key).await.refused(401, "bad-operator-key");
    preview(&world, &draft).await;
    world.order("POST", "/catalogue", &json!({"bundles": [{}]})).await.expect(400);
    assert_eq!(imports(&world).await, [Value::Null; 0], "nothing was done so far");
    bring(&world, &draft).await;
    bring(&world, &draft).await;
    let mut other = draft.clone();
    other["bundles"][0]["duration"] = json!(8);
    let by_table = "name,desc\nX,Y\n";
    world.node.send(&table(&world, "", by_table)).await.expect(200);
    bring(&world, &other).await;
    let target = "/catalogue?withdrawOthers=true";
    world.order("POST", target, &json!({})).await.expect(200);
    let entries = imports(&world).await;
    let details: Vec<_> = entries.iter().rev().map(|entry| entry["detail"].clone()).collect();
    let part = |bundles: &str, others: [&str; 3]| {
        let [countries, groups, prices] = others;
        json!(format!(
            "bundles {bundles}, countries {countries}, networks +0 ~0 -0, groups {groups}, \
             prices {prices}, rates +0 ~0 -0"
        ))
    };
    let (none, new) = ("+0 ~0 -0", "+1 ~0 -0");
    let wanted = [
        part(new, [new, new, new]),
        part(none, [none, new, none]),
        part("+0 ~1 -0", [none, none, none]),
        part("+0 ~0 -1", [none, none, none]),
    ];
    assert_eq!(details, wanted, "one that changes nothing is no act");
    for entry in entries {
        assert!(entry["actor"].as_str().is_some_and(|who| who.starts_with("operator:")), "{entry}");
        assert_eq!((&entry["organisation"], &entry["target"]), (&Value::Null, &json!("catalogue")));
    }
}

/// Both are done, and the outcome is that of one order or the other: nothing of both is mixed.
async fn imports_at_the_same_time_come_one_after_the_other(home: Home) {
    let world = shop::open(home, 0).await;
    let org = world.add_sandbox("Reseller").await;
    for round in 0..12 {
        let (group, iso) = (format!("Group {round}"), format!("I{round}"));
        let draft = |who: &str, price: i64| {
            let mut own = bundle(&format!("esim_{round}_{who}"));
            own["groups"] = json!([group]);
            let price = |bundle: &str| json!({"bundle": bundle, "currency": "USD", "price": price});
            json!({"bundles": [own], "prices": [price(PT.name), price(FR.name)]})
        };
        let (cheap, mut dear) = (draft("cheap", 100 + round), draft("dear", 900 + round));
        // The one only names the group; the other says what it is. Either way it is said.
        dear["groups"] = json!([{"name": group, "desc": "said"}]);
        dear["countries"] = json!([{"iso": iso, "name": "Island", "region": "Oceania"}]);
        let post = |draft: &Value| world.operator("POST", "/catalogue").json(draft);
        let requests = [post(&cheap), post(&dear), post(&cheap), post(&dear)];
        let count = if round % 2 == 0 { 2 } else { 4 };
        for answer in at_once(&world, &requests[..count]).await {
            assert_eq!(answer.json_of(200)["applied"], json!(true));
        }
        let prices = [one(&world, &org, PT.name).await, one(&world, &org, FR.name).await];
        assert_eq!(prices[0]["price"], prices[1]["price"], "round {round}");
        let found = names(&world, &org, "/v2.5", &format!("?name=esim_{round}_")).await;
        let ours = ["cheap", "dear"].map(|who| format!("esim_{round}_{who}"));
        assert_eq!(found, ours, "round {round}");
        let groups = world.get("/v2.5/organisation/groups", &org.key).await.json_of(200);
        let groups = groups["groups"].as_array().expect("a list").clone();
        let made = groups.iter().find(|one| one["name"] == *group).expect("made");
        assert_eq!(made["desc"], "said", "round {round}");
    }
}
