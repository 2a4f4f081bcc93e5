//! `tern demo`: the first thing anybody sees.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, Node, Ran, Request, World, binary, node};
use crate::portal::Visitor;

fn greeting(node: &Node) -> Value {
    let stdout = node.stdout();
    assert_eq!(stdout.lines().count(), 1, "one line: {stdout}");
    serde_json::from_str(&stdout).expect("JSON")
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is a text: {value}")).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_greeting_has_the_documented_fields_and_they_work() {
    let home = Home::sqlite();
    let node = Node::demo(&home).await;
    let told = greeting(&node);
    let names: Vec<_> = told.as_object().expect("an object").keys().map(String::as_str).collect();
    let wanted = [
        "api",
        "portal",
        "console",
        "organisation",
        "apiKey",
        "operatorKey",
        "portalEmail",
        "portalPassword",
        "consoleEmail",
        "consolePassword",
        "bundles",
        "iccids",
    ];
    assert_eq!(names, wanted);
    assert_eq!(text(&told, "api"), format!("http://{}", node.address));
    assert_eq!(text(&told, "portal"), format!("http://{}/portal", node.address));
    let mut person = Visitor::new(&node);
    let (email, password) = (text(&told, "portalEmail"), text(&told, "portalPassword"));
    person.sign_in(&email, &password).await.expect(303);
    person.get("/portal").await.expect(200);
    for name in ["organisation", "apiKey", "operatorKey", "portalEmail", "portalPassword"] {
        assert!(!text(&told, name).is_empty(), "{name}");
    }
    assert!(text(&told, "consolePassword").len() >= 12);
    for list in ["bundles", "iccids"] {
        assert!(told[list].is_array(), "{list}");
    }
    let (key, operator) = (text(&told, "apiKey"), text(&told, "operatorKey"));
    let shown = node.send(&Request::get("/v2.5/organisation").key(&key)).await.json_of(200);
    let shown = &shown["organisations"][0];
    assert_eq!((&shown["apiKey"], &shown["testCredit"]), (&json!(key), &json!(0)));
    assert_eq!(shown["users"][0]["emailAddress"], told["portalEmail"]);
    node.send(&Request::get("/sandbox/v1/clock").key(&key)).await.expect(200);
    let listed = Request::get("/operator/v1/organisations").bearer(&operator);
    let listed = node.send(&listed).await.json_of(200);
    assert_eq!(listed["organisations"][0]["id"], told["organisation"]);
    assert_eq!(listed["organisations"][0]["sandbox"], json!(true));
    // On this listener the metrics are open.
    let metrics = node.send(&Request::get("/metrics")).await.expect(200).text();
    assert!(metrics.contains("tern_http_requests_total"));
    node.send(&Request::get("/readyz")).await.expect(200);
    node.send(&Request::get("/docs")).await.expect(200);
    assert!(home.data().join("tern.db").exists());
    assert_eq!(node.log(), "", "a program that asks for JSON is left in peace");
}

/// A list of texts, all of them different.
fn texts(value: &Value, name: &str) -> Vec<String> {
    let list = value[name].as_array().unwrap_or_else(|| panic!("{name} is a list: {value}"));
    let texts: Vec<_> = list.iter().map(|one| one.as_str().expect("a text").to_owned()).collect();
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), texts.len(), "{name}: {texts:?}");
    texts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_something_to_sell_and_something_sold() {
    let home = Home::sqlite();
    let node = Node::demo(&home).await;
    let told = greeting(&node);
    let (key, operator) = (text(&told, "apiKey"), text(&told, "operatorKey"));
    let get = async |target: &str| node.send(&Request::get(target).key(&key)).await.json_of(200);
    let bundles = texts(&told, "bundles");
    assert_eq!(bundles.len(), 10);
    let held = get("/v2.3/inventory").await;
    let mut dearest = 0;
    for name in &bundles {
        let bundle = get(&format!("/v2.3/catalogue/bundle/{name}")).await;
        dearest = dearest.max(bundle["price"].as_i64().expect("cents"));
        assert_eq!((&bundle["unlimited"], &bundle["autostart"]), (&json!(false), &json!(false)));
        assert!(bundle["dataAmount"].as_i64().is_some_and(|mb| mb > 0), "{bundle}");
        let unit = held["bundles"].as_array().expect("a list").iter();
        let own = unit.into_iter().find(|one| one["name"] == json!(name)).expect("it is held");
        assert!(own["duration"].as_i64().is_some_and(|days| days <= 30), "{own}");
        assert_eq!(own["durationUnit"], "day");
        let lots = own["available"].as_array().expect("lots");
        let count: i64 = lots.iter().filter_map(|lot| lot["remaining"].as_i64()).sum();
        assert!((50..=200).contains(&count), "{name}: {count}");
        // They were bought, so they can be given back.
        let back = json!({"usageId": lots[0]["id"], "quantity": 1});
        let back = Request::post("/v2.3/inventory/refund").key(&key).json(&back);
        node.send(&back).await.expect(200);
    }
    let own = get("/v2.3/organisation").await;
    let own = &own["organisations"][0];
    let balance = own["balance"].as_i64().expect("cents");
    assert!(balance >= 1_000 * dearest && dearest > 0, "{balance} and {dearest}");
    assert_eq!((&own["testCredit"], &own["testCreditExpiry"]), (&json!(0), &Value::Null));
    let topup = Request::post("/v2.3/organisation/balance?amount=100").key(&key);
    node.send(&topup).await.expect(200);
    let catalogue = get("/v2.3/catalogue?perPage=1").await;
    assert!(catalogue["rows"].as_i64().is_some_and(|rows| rows >= 2_000), "{catalogue}");
    let stock = Request::get("/operator/v1/stock").bearer(&operator);
    let stock = node.send(&stock).await.json_of(200);
    let free = stock["stock"].as_array().expect("a list").iter();
    let free: i64 = free.filter_map(|kind| kind["free"].as_i64()).sum();
    assert!(free >= 1_000, "{stock}");
    its_esims(&home, &node, &told).await;
    let report = home.tern_json(&["verify"]);
    assert_eq!((&report["ok"], &report["faults"]), (&json!(true), &json!([])), "{report}");
}

/// They are the organisation's own, and two of them have a number.
async fn its_esims(home: &Home, node: &Node, told: &Value) {
    let iccids = texts(told, "iccids");
    assert_eq!(iccids.len(), 5);
    let (key, bundle) = (text(told, "apiKey"), &texts(told, "bundles")[0]);
    let item = json!({"item": bundle, "quantity": 5, "iccids": iccids});
    let body = json!({"type": "transaction", "assign": true, "order": [item]});
    let order = Request::post("/v2.3/orders").key(&key).json(&body);
    let order = node.send(&order).await.json_of(200);
    assert_eq!(order["iccids"], json!(iccids));
    // No operation shows the numbers yet.
    let rows = home.dump().await["esims"].clone();
    let own = rows.iter().map(|row| row.split(',').collect::<Vec<_>>());
    let own = own.filter(|fields| iccids.iter().any(|iccid| iccid == fields[0]));
    let numbers: Vec<_> = own.map(|fields| fields[4].to_owned()).collect();
    assert_eq!(numbers.len(), 5);
    assert_eq!(numbers.iter().filter(|number| !number.is_empty()).count(), 2, "{numbers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_run_keeps_the_data_and_says_the_same() {
    let home = Home::sqlite();
    let mut node = Node::demo(&home).await;
    let mut first = greeting(&node);
    let key = text(&first, "apiKey");
    let advance = Request::post("/sandbox/v1/clock/advance").key(&key);
    node.send(&advance.json(&json!({"seconds": 1_000_000}))).await.expect(200);
    let operator = text(&first, "operatorKey");
    let add = Request::post("/operator/v1/organisations").bearer(&operator);
    node.send(&add.json(&json!({"name": "Another", "currency": "EUR"}))).await.expect(201);
    let before = home.dump().await;
    for hard in [false, true] {
        if hard {
            node.kill();
        } else {
            node.signal("TERM");
            assert!(node.ended(Duration::from_secs(10)).await.success());
        }
        node = Node::demo(&home).await;
        let mut again = greeting(&node);
        for told in [&mut first, &mut again] {
            told["api"] = Value::Null;
            told["portal"] = Value::Null;
        }
        assert_eq!(again, first);
        assert_eq!(home.dump().await, before, "a start changes nothing");
    }
    let clock = node.send(&Request::get("/sandbox/v1/clock").key(&key)).await.json_of(200);
    let now = domain::Timestamp::parse(&text(&clock, "now")).expect("a time");
    assert!(now.ms() - store::Rt::real().now().ms() > 999_000_000);
}

/// Whoever tries the demo on real data is stopped before anything is added to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_leaves_a_real_database_alone() {
    let mut world = World::start(Home::sqlite()).await;
    world.node.kill();
    let before = world.home.dump().await;
    let mut command = world.home.tern(&["demo", "--json", "--listen", "127.0.0.1:0"]);
    Ran::new(&mut command).failed(1, "was not made by the demo");
    assert_eq!(world.home.dump().await, before);
}

/// The demo is embedded, whatever else is set for the service.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_uses_its_own_folder_whatever_is_set() {
    let home = Home::sqlite();
    let mut command = binary::command();
    command.args(["demo", "--json", "--data"]).arg(home.data());
    command.args(["--database", "postgres://nobody@127.0.0.1:1/nothing"]);
    command.env("TERN_LISTEN", "127.0.0.1:0").env("TERN_VAULT", "/nowhere/vault.toml");
    command.env("TERN_TLS_CERTIFICATE", "/nowhere/certificate.pem");
    let demo = Node::start(&home, command, |stdout, _| {
        let (line, _) = stdout.split_once('\n')?;
        let told: Value = serde_json::from_str(line).expect("JSON");
        node::address(&text(&told, "api"))
    })
    .await;
    demo.send(&Request::get("/readyz")).await.expect(200);
    assert!(home.data().join("tern.db").exists() && home.vault().exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_told_where_things_are_and_what_to_try() {
    let home = Home::sqlite();
    let mut command = binary::command();
    command.args(["demo", "--listen", "127.0.0.1:0", "--data"]).arg(home.data());
    let demo = Node::start(&home, command, |stdout, _| {
        // The last line of the greeting.
        stdout.lines().find(|line| line.contains("Ctrl-C"))?;
        let url = stdout.split_whitespace().find(|word| word.starts_with("http://"))?;
        node::address(url)
    })
    .await;
    let told = demo.stdout();
    let word = |start: &str| {
        let mut words = told.split([' ', '\'', '\n']);
        words.find(|word| word.starts_with(start)).unwrap_or_else(|| panic!("{start}: {told}"))
    };
    let (key, operator) = (word("tern_test_"), word("tern_op_"));
    for path in ["/v2.5", "/docs", "/readyz", "/metrics"] {
        let url = format!("http://{}{path}", demo.address);
        assert!(told.contains(&url), "{url}: {told}");
    }
    assert!(told.lines().all(|line| line.chars().count() <= 120), "{told}");
    assert!(!told.contains('\u{1b}'), "no colours into a file");
    // What it says to try works as it stands there.
    assert!(told.contains(&format!("curl -H 'X-API-Key: {key}'")), "{told}");
    let tries = tries(&told, &format!("http://{}", demo.address));
    assert!(tries.len() >= 5, "{told}");
    for request in tries {
        let answer = demo.send(&request).await;
        assert!((200..300).contains(&answer.status), "{}: {answer}", request.target);
    }
    // Requests scroll by, without secrets.
    let log = demo.log();
    assert!(log.contains("/sandbox/v1/clock/advance") && log.contains("201"), "{log}");
    assert!(!log.contains(key) && !log.contains(operator), "{log}");
}

/// The calls of `curl` that a person is told to try, as `curl` would send them.
fn tries(told: &str, base: &str) -> Vec<Request> {
    let text = told.split("Try it").nth(1).expect("there is something to try");
    let text = text.split("Ctrl-C").next().expect("it ends").replace("\\\n", " ");
    let (mut words, mut is_quoted) = (vec![String::new()], false);
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        for c in line.chars().chain(['\n']) {
            match c {
                '\'' => is_quoted = !is_quoted,
                c if c.is_whitespace() && !is_quoted => words.push(String::new()),
                c => words.last_mut().expect("a word").push(c),
            }
        }
    }
    words.retain(|word| !word.is_empty());
    let calls = words.split(|word| word == "curl").filter(|call| !call.is_empty());
    calls.map(|call| of_curl(call, base)).collect()
}

fn of_curl(words: &[String], base: &str) -> Request {
    let (mut headers, mut body, mut target) = (Vec::new(), None, String::new());
    let (mut method, mut words) = (None, words.iter());
    while let Some(word) = words.next() {
        match word.as_str() {
            "-H" => headers.extend(words.next().and_then(|header| header.split_once(": "))),
            "-d" => body = words.next().cloned(),
            "-X" => method = words.next().cloned(),
            // Where the answer goes is no part of the request.
            "-o" => drop(words.next()),
            url => url.strip_prefix(base).expect("an address of ours").clone_into(&mut target),
        }
    }
    let usual = if body.is_some() { "POST" } else { "GET" };
    let mut request = Request::new(method.as_deref().unwrap_or(usual), &target);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match body {
        None => request,
        Some(body) => {
            request.header("Content-Type", "application/x-www-form-urlencoded").body(body)
        }
    }
}
