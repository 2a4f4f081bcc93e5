//! What is for sale, as every version tells it: bundles, groups, networks, prices per megabyte.

use api::versions::Version;
use serde_json::{Value, json};

use crate::harness::http::Line;
use crate::harness::{Answer, Home, Org, Request, World};
use crate::money::prefixes;
use crate::shop::{
    self, ES_UNLIMITED, FIXED, FR, FR_DAY, IE_IN_EUROS, PT, PT_YEAR, TRIAL, UNLIMITED, US,
};

crate::on_both! {
    every_version_tells_a_bundle_in_its_own_form,
    a_bundle_is_told_with_what_it_left_out,
    the_first_version_has_no_catalogue,
    a_bundle_is_found_by_its_exact_name,
    prices_per_megabyte_are_for_those_who_pay_by_the_megabyte,
    a_price_per_megabyte_comes_from_the_own_list_first,
    networks_are_found_by_the_names_and_codes_of_countries,
    groups_are_those_one_may_buy_from,
    long_lists_cost_five,
}

/// The prefixes under which there is a catalogue.
pub(crate) const PREFIXES: [&str; 5] = ["/v2.1", "/v2.2", "/v2.3", "/v2.4", "/v2.5"];

/// Brings a catalogue, which must fit.
pub(crate) async fn bring(world: &World, draft: &Value) -> Value {
    let told = world.order("POST", "/catalogue", draft).await.json_of(200);
    assert_eq!(told["applied"], json!(true), "{told}");
    told
}

/// The bundles of an answer of any version.
pub(crate) fn bundles(prefix: &str, answer: Answer) -> Vec<Value> {
    let body = answer.json_of(200);
    let list = if prefix == "/v2.1" { &body } else { &body["bundles"] };
    list.as_array().unwrap_or_else(|| panic!("{prefix}: {body}")).clone()
}

/// The names in the answer to a question about the catalogue; the query starts with `?`.
pub(crate) async fn names(world: &World, org: &Org, prefix: &str, query: &str) -> Vec<String> {
    let answer = world.get(&format!("{prefix}/catalogue{query}"), &org.key).await;
    let name = |bundle: &Value| bundle["name"].as_str().expect("a name").to_owned();
    bundles(prefix, answer).iter().map(name).collect()
}

const FULL: &str = "esim_12GB_30D_REUP_V2";

/// A bundle with something in every field.
fn full() -> Value {
    json!({
        "name": FULL, "description": "eSIM, 12GB, 30 Days, Europe+, V2", "countries": ["Europe+"],
        "roamingEnabled": ["PT", "ES", "CI"], "dataAmount": 12_000, "duration": 30,
        "speed": ["3G", "4G", "5G"], "autostart": true, "groups": [FIXED, UNLIMITED],
        "profileName": "Profile 2", "imageUrl": "https://img.example/eu.png",
        "allowances": [
            {"type": "DATA", "service": "STANDARD", "description": "12GB of data",
             "amount": 12_000, "unit": "MB"},
            {"type": "SMS", "service": "ROAMING", "description": "All texts",
             "unit": "SMS", "unlimited": true},
        ],
        "prices": {"USD": 1_250},
    })
}

/// What each version says of it, side by side.
const TOLD: [(&str, &str); 5] = [
    (
        "/v2.1",
        r#"{"name":"esim_12GB_30D_REUP_V2","description":"eSIM, 12GB, 30 Days, Europe+, V2",
        "countries":[{"name":"Europe+","region":"Europe","iso":"Europe+"}],
        "dataAmount":12000,"duration":30,"speed":["3G","4G","5G"],"autostart":true,
        "roamingEnabled":[{"name":"Portugal","region":"Europe","iso":"PT"},
          {"name":"Spain","region":"Europe","iso":"ES"},
          {"name":"Côte d'Ivoire","region":"Africa","iso":"CI"}],
        "price":1250}"#,
    ),
    (
        "/v2.2",
        r#"{"name":"esim_12GB_30D_REUP_V2","description":"eSIM, 12GB, 30 Days, Europe+, V2",
        "countries":[{"name":"Europe+","region":"Europe","iso":"Europe+"}],
        "dataAmount":12000,"duration":30,"speed":["3G","4G","5G"],"autostart":true,
        "roamingEnabled":[{"name":"Portugal","region":"Europe","iso":"PT"},
          {"name":"Spain","region":"Europe","iso":"ES"},
          {"name":"Côte d'Ivoire","region":"Africa","iso":"CI"}],
        "price":1250}"#,
    ),
    (
        "/v2.3",
        r#"{"name":"esim_12GB_30D_REUP_V2","description":"eSIM, 12GB, 30 Days, Europe+, V2",
        "countries":[{"name":"Europe+","region":"Europe","iso":"Europe+"}],
        "dataAmount":12000,"duration":30,"speed":["3G","4G","5G"],"autostart":true,
        "roamingEnabled":[{"name":"Portugal","region":"Europe","iso":"PT"},
          {"name":"Spain","region":"Europe","iso":"ES"},
          {"name":"Côte d'Ivoire","region":"Africa","iso":"CI"}],
        "price":1250,"groups":["Standard Fixed","Standard Unlimited Lite"],"unlimited":false,
        "imageUrl":"https://img.example/eu.png"}"#,
    ),
    (
        "/v2.4",
        r#"{"name":"esim_12GB_30D_REUP_V2","description":"eSIM, 12GB, 30 Days, Europe+, V2",
        "countries":[{"name":"Europe+","region":"Europe","iso":"Europe+"}],
        "dataAmount":12000,"duration":30,"speed":["3G","4G","5G"],"autostart":true,
        "roamingEnabled":[{"name":"Portugal","region":"Europe","iso":"PT"},
          {"name":"Spain","region":"Europe","iso":"ES"},
          {"name":"Côte d'Ivoire","region":"Africa","iso":"CI"}],
        "price":12.5,"groups":["Standard Fixed","Standard Unlimited Lite"],"unlimited":false,
        "imageUrl":"https://img.example/eu.png","billingType":"FixedCost"}"#,
    ),
    (
        "/v2.5",
        r#"{"name":"esim_12GB_30D_REUP_V2","description":"eSIM, 12GB, 30 Days, Europe+, V2",
        "countries":[{"name":"Europe+","region":"Europe","iso":"Europe+"}],
        "dataAmount":12000,"duration":30,"speed":["3G","4G","5G"],"autostart":true,
        "roamingEnabled":[{"name":"Portugal","region":"Europe","iso":"PT"},
          {"name":"Spain","region":"Europe","iso":"ES"},
          {"name":"Côte d'Ivoire","region":"Africa","iso":"CI"}],
        "price":12.5,"groups":["Standard Fixed","Standard Unlimited Lite"],"unlimited":false,
        "imageUrl":"https://img.example/eu.png","billingType":"FixedCost",
        "profileName":"Profile 2","allowances":[
          {"type":"DATA","service":"STANDARD","description":"12GB of data","amount":12000,
           "unit":"MB","unlimited":false},
          {"type":"SMS","service":"ROAMING","description":"All texts","amount":0,
           "unit":"SMS","unlimited":true}]}"#,
    ),
];

/// The same of a bundle that is asked for alone.
fn alone(mut told: Value) -> Value {
    let fields = told.as_object_mut().expect("an object");
    if let Some(groups) = fields.remove("groups") {
        fields.insert("group".to_owned(), groups);
    }
    told
}

async fn shop_with_full(home: Home) -> (World, Org) {
    let world = shop::open(home, 0).await;
    bring(&world, &json!({ "bundles": [full()] })).await;
    let org = world.add_sandbox("Reseller").await;
    (world, org)
}

async fn every_version_tells_a_bundle_in_its_own_form(home: Home) {
    let (world, org) = shop_with_full(home).await;
    for (prefix, told) in TOLD {
        let told: Value = serde_json::from_str(told).expect("JSON");
        let query = match prefix {
            "/v2.1" => format!("filterBy=bundleName&filter={FULL}"),
            _ => format!("name=eq:{FULL}"),
        };
        let list = world.get(&format!("{prefix}/catalogue?{query}"), &org.key).await.json_of(200);
        let wanted = match prefix {
            "/v2.1" => json!([told]),
            _ => json!({"bundles": [told], "pageCount": 1, "rows": 1, "pageSize": 50}),
        };
        assert_eq!(list, wanted, "{prefix}");
        let target = format!("{prefix}/catalogue/bundle/{FULL}");
        let shown = world.get(&target, &org.key).await.json_of(200);
        assert_eq!(shown, alone(told), "{prefix}");
        // A slash more, a key in the query, and only the head: the same.
        let slash = world.get(&format!("{target}/"), &org.key).await.json_of(200);
        assert_eq!(slash, shown, "{prefix}");
        let by_query = Request::get(&format!("{target}?api_key={}", org.key));
        assert_eq!(world.node.send(&by_query).await.json_of(200), shown, "{prefix}");
        let head = Request::new("HEAD", &target).key(&org.key);
        world.node.send(&head).await.expect(200);
    }
}

/// The fields of the newest version for bundles that say little, and for those without an end.
async fn a_bundle_is_told_with_what_it_left_out(home: Home) {
    let (world, org) = shop_with_full(home).await;
    let data = |description: &str, amount: i64, unlimited: bool| {
        json!([{"type": "DATA", "service": "ROAMING", "description": description,
                "amount": amount, "unit": "MB", "unlimited": unlimited}])
    };
    let wanted = [
        // A month counts as 30 days.
        (PT_YEAR, json!([12_000, 360, false, false, 49.99]), data("12GB of data", 12_000, false)),
        (TRIAL, json!([50, 1, false, false, 0]), data("50MB of data", 50, false)),
        (ES_UNLIMITED, json!([-1, 7, false, true, 19.9]), data("Unlimited data", 0, true)),
        (FR_DAY, json!([-1, 1, true, true, 3.5]), data("Unlimited data", 0, true)),
        (US, json!([1_000, 7, false, false, 3.1]), data("1GB of data", 1_000, false)),
    ];
    for (good, facts, allowances) in wanted {
        let target = format!("/v2.5/catalogue/bundle/{}", good.name);
        let shown = world.get(&target, &org.key).await.json_of(200);
        let names = ["dataAmount", "duration", "autostart", "unlimited", "price"];
        assert_eq!(json!(names.map(|name| &shown[name])), facts, "{}", good.name);
        assert_eq!(shown["allowances"], allowances, "{}", good.name);
        assert_eq!((&shown["roamingEnabled"], &shown["imageUrl"]), (&json!([]), &json!("")));
        let speed = if good.name == FR_DAY.name { json!([]) } else { json!(["4G", "5G"]) };
        assert_eq!(shown["speed"], speed, "{}", good.name);
        let profile = if good.name == US.name { "Profile 2" } else { "Profile 1" };
        assert_eq!(shown["profileName"], profile, "{}", good.name);
        // Older versions print the price in cents.
        let target = format!("/v2.3/catalogue/bundle/{}", good.name);
        let shown = world.get(&target, &org.key).await.json_of(200);
        assert_eq!(shown["price"], good.price, "{}", good.name);
    }
}

async fn the_first_version_has_no_catalogue(home: Home) {
    let (world, org) = shop_with_full(home).await;
    for (version, prefix) in prefixes() {
        let has_it = version != Version::V2_0;
        assert_eq!(has_it, PREFIXES.contains(&prefix), "{prefix}");
        for path in ["/catalogue", "/networks?returnAll=true", "/organisation/groups"] {
            let answer = world.get(&format!("{prefix}{path}"), &org.key).await;
            if has_it {
                answer.expect(200);
            } else {
                assert_eq!(answer.refused(404, "unknown-route"), "no such route", "{path}");
            }
        }
        let answer = world.get(&format!("{prefix}/catalogue/bundle/{FULL}"), &org.key).await;
        assert_eq!(answer.status, if has_it { 200 } else { 404 }, "{prefix}: {answer}");
        let answer = world.get(&format!("{prefix}/catalogue/prices"), &org.key).await;
        let wanted = if version == Version::V2_5 { 403 } else { 404 };
        assert_eq!(answer.status, wanted, "{prefix}: {answer}");
    }
}

async fn a_bundle_is_found_by_its_exact_name(home: Home) {
    let (world, org) = shop_with_full(home).await;
    let limited = json!({"name": "Limited", "currency": "USD", "groups": [UNLIMITED]});
    let limited = world.add(&limited).await;
    let in_euros = world.add(&json!({"name": "Euros", "currency": "EUR"})).await;
    let odd = "x".repeat(120);
    for prefix in PREFIXES {
        for (org, name) in [
            (&org, PT.name.to_lowercase()),
            (&org, PT.name.to_uppercase()),
            (&org, "esim_1GB_7D".to_owned()),
            (&org, "nothing".to_owned()),
            (&org, odd.clone()),
            // Not in dollars; not in the group; not in euros.
            (&org, IE_IN_EUROS.name.to_owned()),
            (&limited, PT.name.to_owned()),
            (&in_euros, FR.name.to_owned()),
        ] {
            let answer = world.get(&format!("{prefix}/catalogue/bundle/{name}"), &org.key).await;
            let text = answer.refused(400, "unknown-bundle");
            // What is far too long for a name is not said back whole.
            let said = name.get(..100).unwrap_or(&name);
            assert_eq!(text, format!("bundle not found: {said}"), "{prefix}");
        }
        for (org, name) in [(&org, PT), (&limited, ES_UNLIMITED), (&in_euros, IE_IN_EUROS)] {
            let target = format!("{prefix}/catalogue/bundle/{}", name.name);
            world.get(&target, &org.key).await.expect(200);
        }
        // Written otherwise it is the same name.
        let target = format!("{prefix}/catalogue/bundle/{}", PT.name.replace('_', "%5F"));
        assert_eq!(world.get(&target, &org.key).await.json_of(200)["name"], PT.name);
        for name in ["a%00b", "%ff", "%20", "..%2F..", "'%20OR%201=1%20--"] {
            let answer = world.get(&format!("{prefix}/catalogue/bundle/{name}"), &org.key).await;
            answer.refused(400, "unknown-bundle");
        }
    }
    // What cannot be read names nothing, wherever a name stands in a path.
    for name in ["%ff", "a%00b"] {
        let fate = world.get(&format!("/idempotency/v1/{name}"), &org.key).await.json_of(200);
        assert_eq!(fate["state"], "unknown");
        let job = world.operator("POST", &format!("/jobs/{name}/retry"));
        world.node.send(&job).await.refused(404, "unknown-job");
    }
}

/// The prices in an answer: country, profile and price.
fn rates(answer: &Value) -> Vec<[&str; 3]> {
    let mut all = Vec::new();
    for country in answer["prices"].as_array().expect("a list") {
        for rate in country["prices"].as_array().expect("a list") {
            assert_eq!(rate["country"], country["country"]["iso"], "{answer}");
            let fields = ["country", "profile", "price"];
            all.push(fields.map(|name| rate[name].as_str().expect("a text")));
        }
    }
    all
}

async fn consumer(world: &World, currency: &str, list: &str) -> Org {
    let fields = json!({
        "name": "By the MB", "currency": currency, "billing": "consumption", "priceList": list,
    });
    world.add(&fields).await
}

fn rate(country: &str, price: &str) -> Value {
    json!({"country": country, "currency": "USD", "price": price})
}

async fn prices_per_megabyte_are_for_those_who_pay_by_the_megabyte(home: Home) {
    let world = shop::open(home, 0).await;
    let org = consumer(&world, "USD", "").await;
    let prepaid = world.add_sandbox("Prepaid").await;
    let get = async |org: &Org| world.get("/v2.5/catalogue/prices", &org.key).await;
    let empty = get(&org).await.json_of(200);
    assert_eq!(empty["prices"], json!([]));
    assert_eq!(get(&prepaid).await.refused(403, "prices-not-available"), "access denied");

    let mut second = rate("PT", "0.5");
    second["profileName"] = json!("Profile 2");
    bring(&world, &json!({"rates": [rate("PT", "0.0021"), second, rate("CI", "12")]})).await;
    let shown = get(&org).await.json_of(200);
    let wanted =
        [["CI", "Profile 1", "12"], ["PT", "Profile 1", "0.0021"], ["PT", "Profile 2", "0.5"]];
    assert_eq!(rates(&shown), wanted);
    let country = json!({"iso": "CI", "name": "Côte d'Ivoire"});
    assert_eq!(shown["prices"][0]["country"], country, "{shown}");
    assert_eq!(shown["prices"][0]["prices"][0]["currency"], "USD");
    assert_ne!(shown["hash"], empty["hash"]);
    // Asked again it is the same, and so it is after an import that changes no price.
    bring(&world, &json!({"rates": [rate("PT", "0.0021")], "groups": [{"name": "New"}]})).await;
    assert_eq!(get(&org).await.json_of(200), shown);
    bring(&world, &json!({"rates": [rate("PT", "0.0022")]})).await;
    let changed = get(&org).await.json_of(200);
    assert_ne!(changed["hash"], shown["hash"]);
    let id = |answer: &Value| answer["prices"][1]["prices"][0]["id"].clone();
    assert_eq!(id(&changed), id(&shown), "a price keeps its id");
    bring(&world, &json!({"rates": [rate("PT", "0.0021")]})).await;
    assert_eq!(get(&org).await.json_of(200)["hash"], shown["hash"]);
    // Who pays otherwise from now on is told otherwise at once.
    world.change(&org, &json!({"billing": "prepaid"})).await;
    get(&org).await.refused(403, "prices-not-available");
    world.change(&prepaid, &json!({"billing": "consumption"})).await;
    assert_eq!(rates(&get(&prepaid).await.json_of(200)), wanted);
}

async fn a_price_per_megabyte_comes_from_the_own_list_first(home: Home) {
    let world = shop::open(home, 0).await;
    let on = |list: &str, currency: &str, mut rate: Value| {
        rate["list"] = json!(list);
        rate["currency"] = json!(currency);
        rate
    };
    let draft = json!({"rates": [
        rate("PT", "0.3"), rate("ES", "0.4"), on("Partner", "USD", rate("PT", "0.2")),
        on("Partner", "USD", rate("FR", "0.1")), on("Other", "USD", rate("ES", "0.9")),
        on("", "EUR", rate("PT", "0.7")), on("Partner", "EUR", rate("IT", "0.8")),
    ]});
    bring(&world, &draft).await;
    let partner = [["ES", "0.4"], ["FR", "0.1"], ["PT", "0.2"]];
    let standard = [["ES", "0.4"], ["PT", "0.3"]];
    for (currency, list, wanted) in [
        ("USD", "", &standard[..]),
        ("USD", "Partner", &partner[..]),
        ("USD", "Nobody's", &standard[..]),
        ("EUR", "", &[["PT", "0.7"]][..]),
        ("EUR", "Partner", &[["IT", "0.8"], ["PT", "0.7"]][..]),
        ("GBP", "Partner", &[][..]),
    ] {
        let org = consumer(&world, currency, list).await;
        let shown = world.get("/v2.5/catalogue/prices", &org.key).await.json_of(200);
        let found: Vec<_> = rates(&shown).iter().map(|rate| [rate[0], rate[2]]).collect();
        assert_eq!(found, wanted, "{currency} {list}");
    }
    let org = consumer(&world, "USD", "").await;
    world.change(&org, &json!({"priceList": "Partner"})).await;
    let shown = world.get("/v2.5/catalogue/prices", &org.key).await.json_of(200);
    assert_eq!(rates(&shown).len(), 3, "seen at once");
}

fn network(iso: &str, name: &str, mnc: &str) -> Value {
    json!({"iso": iso, "name": name, "brandName": format!("{name}!"), "mcc": "268", "mnc": mnc,
           "tagid": "PRTXX", "speed": ["4G", "5G"]})
}

async fn networks_are_found_by_the_names_and_codes_of_countries(home: Home) {
    let world = shop::open(home, 0).await;
    let org = world.add_sandbox("Reseller").await;
    let bare = json!({"iso": "CI", "name": "Lagune", "mcc": "612", "mnc": "001"});
    let draft = [network("PT", "Sagres", "98"), network("PT", "Alfa", "97"), bare];
    bring(
        &world,
        &json!({"networks": draft, "countries": [
            {"iso": "US-HI", "name": "Hawaii", "region": "Oceania"},
        ]}),
    )
    .await;
    bring(&world, &json!({"networks": [network("US-HI", "Aloha", "01")]})).await;
    for prefix in PREFIXES {
        let get = async |query: &str| {
            let answer = world.get(&format!("{prefix}/networks{query}"), &org.key).await;
            answer.json_of(200)["countryNetworks"].as_array().expect("a list").clone()
        };
        let whole = get("?returnAll=true").await;
        let wire = |mut network: Value| {
            network.as_object_mut().expect("an object").remove("iso");
            network
        };
        let ours =
            |networks: &[Value]| json!(networks.iter().cloned().map(wire).collect::<Vec<_>>());
        let portugal =
            json!({"name": "Portugal", "networks": ours(&[draft[1].clone(), draft[0].clone()])});
        let ivory = json!({"name": "Côte d'Ivoire", "networks": [{
            "name": "Lagune", "brandName": "", "mcc": "612", "mnc": "001", "tagid": "", "speed": [],
        }]});
        let hawaii = json!({"name": "Hawaii", "networks": ours(&[network("", "Aloha", "01")])});
        let [portugal, ivory, hawaii] = [&portugal, &ivory, &hawaii];
        assert_eq!(json!(whole), json!([ivory, hawaii, portugal]), "{prefix}");
        for (query, wanted) in [
            ("?isos=PT", vec![portugal]),
            ("?isos=pt,US-HI", vec![hawaii, portugal]),
            ("?isos=PT,PT&isos=CI", vec![ivory, portugal]),
            ("?isos=ZZ", vec![]),
            ("?isos=ES", vec![]),
            ("?isos=ZZ,PT", vec![portugal]),
            ("?countries=Portugal", vec![portugal]),
            ("?countries=pOrTuGaL,HAWAII", vec![hawaii, portugal]),
            ("?countries=C%C3%94TE%20D%27ivoire", vec![ivory]),
            ("?countries=Port", vec![]),
            ("?countries=PT", vec![]),
            ("?countries=Portugal&isos=CI", vec![ivory, portugal]),
            ("?countries=Atlantis&isos=ZZ", vec![]),
            ("?isos=%20PT%20,", vec![portugal]),
            ("?isos=CI&returnAll=true", vec![ivory, hawaii, portugal]),
            ("?isos=CI&returnAll=false", vec![ivory]),
            ("?isos=CI&page=9&else=x", vec![ivory]),
        ] {
            assert_eq!(json!(get(query).await), json!(wanted), "{prefix}{query}");
        }
        for query in ["", "?returnAll=false", "?isos=", "?countries=&isos=,", "?page=1"] {
            let answer = world.get(&format!("{prefix}/networks{query}"), &org.key).await;
            let text = answer.refused(400, "missing-parameter");
            assert_eq!(text, "countries, isos or returnAll is required", "{query}");
        }
        for query in ["?returnAll=yes", "?returnAll=TRUE&isos=PT", "?returnAll=1"] {
            let answer = world.get(&format!("{prefix}/networks{query}"), &org.key).await;
            assert_eq!(answer.refused(400, "invalid-parameter"), "invalid returnAll");
        }
    }
}

async fn groups_are_those_one_may_buy_from(home: Home) {
    let world = shop::open(home, 0).await;
    let org = world.add_sandbox("Reseller").await;
    let third = json!({"name": "Extra", "desc": "d", "priceListUrl": "https://p.example/l",
                       "icon": "https://p.example/i.png"});
    bring(&world, &json!({ "groups": [third] })).await;
    let fixed = json!({"name": FIXED, "desc": "A fixed amount of data", "priceListUrl": "",
                       "icon": ""});
    let endless = json!({"name": UNLIMITED, "desc": "As much as you like", "priceListUrl": "",
                         "icon": ""});
    let all = [&third, &fixed, &endless];
    for prefix in PREFIXES {
        let target = format!("{prefix}/organisation/groups");
        for (query, wanted) in [
            ("", &all[..]),
            ("?page=1&perPage=2", &all[..2]),
            ("?page=2&perPage=2", &all[2..]),
            ("?page=2&limit=1", &all[1..2]),
            ("?page=3&perPage=10000", &[]),
            ("?perPage=1", &all[..1]),
            ("?page=1", &all[..]),
        ] {
            let shown = world.get(&format!("{target}{query}"), &org.key).await.json_of(200);
            assert_eq!(shown, json!({ "groups": wanted }), "{prefix}{query}");
        }
        for (query, name) in [
            ("?page=0", "page"),
            ("?page=x", "page"),
            ("?perPage=0", "perPage"),
            ("?limit=10001", "limit"),
            ("?page=1&perPage=-1", "perPage"),
        ] {
            let answer = world.get(&format!("{target}{query}"), &org.key).await;
            assert_eq!(answer.refused(400, "invalid-parameter"), format!("invalid {name}"));
        }
        // One that nobody has brought is none.
        for (groups, wanted) in [
            (json!([UNLIMITED]), &all[2..]),
            (json!([UNLIMITED, "Nothing", "Extra"]), &[&third, &endless][..]),
            (json!(["Nothing"]), &[]),
            (json!([FIXED.to_lowercase()]), &[]),
            (json!([]), &all[..]),
        ] {
            world.change(&org, &json!({ "groups": groups })).await;
            let shown = world.get(&target, &org.key).await.json_of(200);
            assert_eq!(shown, json!({ "groups": wanted }), "{prefix} {groups}");
        }
    }
}

async fn long_lists_cost_five(home: Home) {
    let world = shop::open(home, 0).await;
    let limited = json!({"name": "Limited", "currency": "USD", "rateLimit": 3});
    for prefix in PREFIXES {
        // Six at once: a long list and a short call; a second long one is too much.
        for long in ["/catalogue", "/networks?returnAll=true"] {
            let org = world.add(&limited).await;
            let targets =
                [long, "/organisation/groups", long].map(|path| format!("{prefix}{path}"));
            let requests = targets.each_ref().map(|target| Request::get(target).key(&org.key));
            let mut line = Line::to(world.node.address).await;
            // In one piece, so that the bucket has no time to fill again.
            line.write(&requests.each_ref().map(Request::bytes).concat()).await;
            for (target, wanted) in
                targets.iter().zip([(200, "5", "1"), (200, "1", "0"), (429, "5", "0")])
            {
                let answer = line.read(false).await.expect("an answer");
                world.node.judge("GET", target, &answer);
                let header = |name: &str| answer.header(name).expect("a header");
                let told =
                    (answer.status, header("x-ratelimit-cost"), header("x-ratelimit-remaining"));
                assert_eq!(told, wanted, "{target}");
            }
        }
    }
    // Without a limit nothing is counted, whatever it costs.
    let org = world.add_live("Free").await;
    let free = world.get("/v2.3/catalogue", &org.key).await.expect(200);
    assert_eq!(free.header("x-ratelimit-cost"), None);
    let counted = world.get("/v2.4/catalogue", &org.key).await.expect(200);
    assert_eq!(counted.header("x-ratelimit-remaining"), Some("195"));
}
