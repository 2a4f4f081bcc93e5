//! A catalogue with faults: each is named with its place and its field, and nothing is changed.

use serde_json::{Value, json};

use crate::catalogue_import::{all_counts, bundle, counts};
use crate::harness::{Answer, Home, World};
use crate::shop::{self, PT};

crate::on_both! {
    every_fault_is_named_and_nothing_is_changed,
    a_row_that_cannot_be_read_is_named,
    a_fault_in_a_table_is_named_by_its_line,
    a_header_that_fits_no_table_is_explained,
    what_is_no_catalogue_is_refused,
}

/// The faults of a refusal, as `place: why`, after seeing that the message names the first.
fn faults(refusal: Answer) -> Vec<String> {
    let body = refusal.json();
    let message = refusal.refused(400, "invalid-catalogue");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let told: Vec<_> = body["faults"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|fault| format!("{}: {}", text(&fault["at"]), text(&fault["why"])))
        .collect();
    let wanted = match told.len() {
        1 => told[0].clone(),
        count => format!("{} (and {} more)", told[0], count - 1),
    };
    assert_eq!(message, wanted);
    told
}

/// A bundle with one field otherwise.
fn with(name: &str, field: &str, value: Value) -> Value {
    let mut bundle = bundle(name);
    bundle[field] = value;
    bundle
}

/// Everything that can be wrong with rows that can be read, once or more.
fn faulty() -> Value {
    let network =
        |iso: &str, mcc: &str, mnc: &str| json!({"iso": iso, "name": "N", "mcc": mcc, "mnc": mnc});
    let price =
        |bundle: &str, price: i64| json!({"bundle": bundle, "currency": "USD", "price": price});
    let rate =
        |country: &str, price: &str| json!({"country": country, "currency": "USD", "price": price});
    let odd = json!([{"type": "TALK", "service": "ROAMING", "description": "x", "unit": "MB"}]);
    let endless = json!({"name": "i", "description": "x", "countries": ["PT"], "duration": 1,
                         "unlimited": true, "dailyAllowance": 0});
    json!({
        "countries": [
            {"iso": "PT", "name": "Portugal", "region": "Europa"},
            {"iso": "XX", "name": "X", "region": "Asia"},
            {"iso": "XX", "name": "Y", "region": "Asia"},
        ],
        "networks": [network("ZZ", "268", "01"), network("PT", "26", "01"),
                     network("PT", "268", "1"), network("PT", "268", "03"),
                     network("PT", "268", "03")],
        "groups": [{"name": "G"}, {"name": "G"}],
        "bundles": [
            bundle("good"),
            with("a", "countries", json!(["PT", "ZZ"])),
            with("b", "roamingEnabled", json!(["YY"])),
            with("c", "duration", json!(0)),
            with("d", "duration", json!(3_651)),
            with("e", "dataAmount", json!(0)),
            with("f", "dataAmount", json!(1_000_000_001)),
            bundle("good"),
            with("h", "countries", json!([])),
            endless,
            with("j", "allowances", odd),
            with("k", "prices", json!({"USD": 100_000_001})),
            with("l", "prices", json!({"EUR": -1})),
            with("m", "speed", json!([""])),
        ],
        "prices": [price("nothing", 1), price("a", 100), price("good2", 100_000_001)],
        "rates": [rate("ZZ", "1"), rate("PT", "1,5"), rate("XX", "1"), rate("XX", "2"),
                  rate("DE", "0.0000000001")],
    })
}

/// What is said of it.
const SAID: [&str; 29] = [
    "countries[0]: region must be one of Africa, Antarctica, Asia, Europe, Global, LATAM, \
         Middle East, North America, Oceania, South America",
    "countries[2]: country XX stands twice",
    "networks[0]: unknown country: ZZ",
    "networks[1]: mcc must be 3 digits",
    "networks[2]: mnc must be 2 or 3 digits",
    "networks[4]: network PT 268 03 stands twice",
    "groups[1]: group G stands twice",
    "bundles[1]: unknown country: ZZ",
    "bundles[2]: unknown country: YY",
    "bundles[3]: duration must be 1 to 3650",
    "bundles[4]: duration must be 1 to 3650",
    "bundles[5]: dataAmount out of range",
    "bundles[6]: dataAmount out of range",
    "bundles[7]: bundle good stands twice",
    "bundles[7]: price good USD stands twice",
    "bundles[8]: countries must name one country at least",
    "bundles[9]: dailyAllowance and throttle out of range",
    "bundles[10]: allowance must have type DATA, VOICE or SMS, service STANDARD or ROAMING, \
         unit MB, MINS or SMS and an amount from 0",
    "bundles[11]: price must be 0 to 100000000 minor units",
    "bundles[12]: price must be 0 to 100000000 minor units",
    "bundles[13]: speed must be one line of 1 to 1000 characters",
    "prices[0]: price of a bundle that does not exist: nothing",
    "prices[1]: price a USD stands twice",
    "prices[2]: price of a bundle that does not exist: good2",
    "prices[2]: price must be 0 to 100000000 minor units",
    "rates[0]: unknown country: ZZ",
    "rates[1]: price per MB must be a decimal such as 0.0021",
    "rates[3]: rate XX Profile 1 USD stands twice",
    "rates[4]: price per MB must be a decimal such as 0.0021",
];

async fn every_fault_is_named_and_nothing_is_changed(home: Home) {
    let world = shop::open(home, 0).await;
    let before = world.home.dump().await;
    let (draft, mut wanted) = (faulty(), SAID);
    wanted.sort_unstable();
    for query in ["", "?preview=true", "?withdrawOthers=true"] {
        let refusal = world.order("POST", &format!("/catalogue{query}"), &draft).await;
        let mut told = faults(refusal);
        told.sort_unstable();
        assert_eq!(told, wanted, "{query}");
    }
    // One fault among many good rows is enough.
    let mut good = shop::catalogue();
    good["bundles"][7]["duration"] = json!(-1);
    good["bundles"][0]["duration"] = json!(99);
    let refusal = world.order("POST", "/catalogue?withdrawOthers=true", &good).await;
    assert_eq!(faults(refusal), ["bundles[7]: duration must be 1 to 3650"]);
    assert_eq!(world.home.dump().await, before);
}

async fn a_row_that_cannot_be_read_is_named(home: Home) {
    let world = shop::open(home, 0).await;
    let before = world.home.dump().await;
    let long = "x".repeat(1_001);
    let draft = json!({
        "bundles": [
            5,
            {},
            with("a b", "prices", json!({"USD": 2.4})),
            with("a", "duration", json!("7")),
            with("b", "dataAmount", json!(1.5)),
            with("c", "autostart", json!("true")),
            with("d", "countries", json!("PT")),
            with("e", "description", json!(long)),
            with("f", "durationUnit", json!("week")),
            with("g", "unlimited", json!(true)),
            with("h", "prices", json!({"DOLLAR": 1})),
            with("i", "groups", json!(["two\nlines"])),
            with("k", "dataAmount", Value::Null),
        ],
        "prices": [{"bundle": PT.name, "currency": "usd", "price": "1"}],
        "rates": [{"country": "PT", "currency": "USD", "price": 0.1}],
        "countries": [{"iso": "PT"}],
        "networks": {},
        "groups": [{"name": "", "desc": 5}],
    });
    let told = faults(world.order("POST", "/catalogue", &draft).await);
    let name = "name: a bundle name is 1 to 100 letters, digits, '_', '-', '.' or '+'";
    let minor = "must be a whole number of minor units, such as 240 for 2.40";
    for wanted in [
        "bundles[0]: is not an object",
        "bundles[1]: name is missing",
        "bundles[1]: description is missing",
        "bundles[1]: duration is missing",
        &format!("bundles[2]: {name}"),
        &format!("bundles[2]: price:USD {minor}"),
        "bundles[3]: duration must be a whole number",
        "bundles[4]: dataAmount must be a whole number",
        "bundles[5]: autostart is not true or false",
        "bundles[6]: countries is not a list",
        "bundles[7]: description must be at most 1000 characters",
        "bundles[8]: durationUnit must be day or month",
        "bundles[9]: dataAmount must be -1 or left out where unlimited is true",
        "bundles[10]: DOLLAR is no code of a currency",
        "bundles[11]: groups must hold texts of one line each",
        "bundles[12]: dataAmount is missing; -1 means unlimited",
        "prices[0]: currency must be three capital letters such as USD",
        &format!("prices[0]: price {minor}"),
        "rates[0]: price is not text",
        "countries[0]: name is missing",
        "countries[0]: region is missing",
        "networks: is not a list",
        "groups[0]: name is missing",
        "groups[0]: desc is not text",
    ] {
        assert!(told.iter().any(|fault| fault == wanted), "{wanted}: {told:#?}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn table(world: &World, text: &str) -> Answer {
    let request = world.operator("POST", "/catalogue").header("Content-Type", "text/csv");
    world.node.send(&request.body(text)).await
}

async fn a_fault_in_a_table_is_named_by_its_line(home: Home) {
    let world = shop::open(home, 0).await;
    let before = world.home.dump().await;
    let text = "name,description,countries,dataAmount,duration,autostart,price:USD\r\n\
        good,\"over\r\ntwo lines\",PT,1,1,,1\r\n\
        \r\n\
        a,x,PT,1.5,1,yes,2.40\r\n\
        b,x\r\n\
        ,x,PT,1,1,,\r\n\
        c,x,PT,,1,,\r\n";
    let minor = "must be a whole number of minor units, such as 240 for 2.40";
    let wanted = [
        "line 5: dataAmount must be a whole number",
        "line 5: autostart must be true or false",
        &format!("line 5: price:USD {minor}"),
        "line 6: has 2 fields, but there are 7 columns",
        "line 7: name is missing",
        "line 8: dataAmount is missing; -1 means unlimited",
    ];
    let mut told = faults(table(&world, text).await);
    told.sort_unstable();
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    assert_eq!(told, wanted);
    for (text, wanted) in [
        (
            "name,description,countries,dataAmount,duration,price:USD\na,x,ZZ,1,1,\n\
             b,x,PT,1,9999,1\n\
             b,x,PT,1,1,100000001\n",
            &[
                "line 2: unknown country: ZZ",
                "line 3: duration must be 1 to 3650",
                "line 4: bundle b stands twice",
                "line 4: price b USD stands twice",
                "line 4: price must be 0 to 100000000 minor units",
            ][..],
        ),
        ("iso,name,region\nPT,P,Mars\n", &["line 2: region must be one of"][..]),
        (
            "iso,name,mcc,mnc\nZZ,N,268,1\n",
            &["line 2: unknown country: ZZ", "line 2: mnc must"][..],
        ),
        ("name,desc\nA,\n\nA,x\n", &["line 4: group A stands twice"][..]),
        ("bundle,currency,price\nx,USD,1\n", &["line 2: price of a bundle that does not"][..]),
        ("country,currency,price\nPT,USD,-1\n", &["line 2: price per MB must be a decimal"][..]),
        ("name,desc\n\"A,x\n", &["line 2: has 1 fields, but there are 2 columns"][..]),
    ] {
        let told = faults(table(&world, text).await);
        assert_eq!(told.len(), wanted.len(), "{told:?}");
        for (fault, wanted) in told.iter().zip(wanted) {
            assert!(fault.starts_with(wanted), "{wanted}: {told:?}");
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_header_that_fits_no_table_is_explained(home: Home) {
    let world = shop::open(home, 0).await;
    for (text, wanted) in [
        ("", "line 1: the first line must name the columns"),
        ("\n\n", "line 1: the first line must name the columns"),
        ("name;desc\nA;x\n", "line 1: the columns must be separated by commas"),
        ("name,desc,Name\n", "line 1: the column name stands twice"),
        ("one,two\n1,2\n", "line 1: the columns are of no kind that is known"),
        (
            "list,bundle,price\n",
            "line 1: the columns look like those of prices, but there is no currency",
        ),
        ("{\"bundles\":[]}", "line 1: "),
    ] {
        let told = faults(table(&world, text).await);
        assert!(told.len() == 1 && told[0].starts_with(wanted), "{wanted}: {told:?}");
    }
    // Columns stand in any order and in any case, and a table may be empty.
    for text in ["REGION,iso,Name\nEurope,PT,Portugal\n", "name,desc\n", "desc,x,name\nd,,n\n"] {
        table(&world, text).await.expect(200);
    }
    let request = world.operator("POST", "/catalogue").header("Content-Type", "text/csv");
    let refusal = world.node.send(&request.body(&b"name,desc\n\xff,x\n"[..])).await;
    assert_eq!(faults(refusal), ["line 2: name is not UTF-8"]);
}

async fn what_is_no_catalogue_is_refused(home: Home) {
    let world = shop::open(home, 0).await;
    let before = world.home.dump().await;
    for body in [
        "[]",
        "null",
        "7",
        "{",
        "{\"bundles\":[",
        "{\"bundles\":[{]}",
        "{\"bundles\":[],\"BUNDLES\":[]}",
        "{} {}",
        "nonsense",
        "name,desc\nA,B\n",
        "{\"bundles\":[]}trailing",
    ] {
        let refusal = world.node.send(&world.operator("POST", "/catalogue").body(body)).await;
        assert_eq!(refusal.status, 400, "{body}: {refusal}");
        let text = refusal.refused(400, "malformed-body");
        assert_eq!(text, "failed to parse request body", "{body}");
    }
    let bytes = &b"{\"groups\":[{\"name\":\"\xff\"}]}"[..];
    let refusal = world.node.send(&world.operator("POST", "/catalogue").body(bytes)).await;
    refusal.refused(400, "malformed-body");
    for (query, name) in [
        ("?preview=yes", "preview"),
        ("?preview=1", "preview"),
        ("?withdrawOthers=TRUE", "withdrawOthers"),
        ("?preview=true&withdrawOthers=x", "withdrawOthers"),
    ] {
        let refusal = world.order("POST", &format!("/catalogue{query}"), &json!({})).await;
        assert_eq!(refusal.refused(400, "invalid-parameter"), format!("invalid {name}"));
    }
    world.node.send(&world.operator("GET", "/catalogue")).await.refused(405, "method-not-allowed");
    assert_eq!(world.home.dump().await, before);
    // Whatever the content type says, what is not said to be CSV is JSON.
    let form = "application/x-www-form-urlencoded";
    let request = world.operator("POST", "/catalogue").header("Content-Type", form);
    let told = world.node.send(&request.body("{\"groups\":[{\"name\":\"A\"}]}")).await.json_of(200);
    assert_eq!(counts(&told, "groups"), [1, 0, 0, 0]);
}

/// Whatever the database is: it is not asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_rows_and_no_more_faults_are_told_than_are_allowed() {
    let world = World::start(Home::sqlite()).await;
    let before = world.home.dump().await;
    let wrong = format!("iso,name,region\n{}", "X,x,y\n".repeat(1_500));
    let refusal = table(&world, &wrong).await;
    let body = refusal.json();
    let listed = body["faults"].as_array().expect("a list");
    assert_eq!(listed.len(), 1_000);
    let text = refusal.refused(400, "invalid-catalogue");
    assert!(text.starts_with("line 2: region must be one of"), "{text}");
    let many = format!("bundle,currency,price\n{}", "a,USD,1\n".repeat(200_001));
    let told = faults(table(&world, &many).await);
    assert_eq!(told, ["the whole: a catalogue can have at most 200000 rows"]);
    assert_eq!(world.home.dump().await, before);
    let told = table(&world, "bundle,currency,price\n").await.json_of(200);
    assert_eq!(all_counts(&told), [[0; 4]; 6]);
}
