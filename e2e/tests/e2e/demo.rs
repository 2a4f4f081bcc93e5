//! `tern demo`: the first thing anybody sees.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, Node, Ran, Request, World, binary, node};

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
    demo.send(&Request::get("/v2.5/organisation").key(key)).await.expect(200);
    let bodies: Vec<_> = told.lines().filter_map(|line| line.split("-d '").nth(1)).collect();
    let bodies: Vec<_> = bodies.iter().filter_map(|rest| rest.split('\'').next()).collect();
    assert_eq!(bodies.len(), 2, "{told}");
    let form = "application/x-www-form-urlencoded";
    let advance = Request::post("/sandbox/v1/clock/advance").key(key).header("Content-Type", form);
    demo.send(&advance.body(bodies[0])).await.expect(200);
    let add = Request::post("/operator/v1/organisations").bearer(operator);
    demo.send(&add.header("Content-Type", form).body(bodies[1])).await.expect(201);
    // Requests scroll by, without secrets.
    let log = demo.log();
    assert!(log.contains("/sandbox/v1/clock/advance") && log.contains("201"), "{log}");
    assert!(!log.contains(key) && !log.contains(operator), "{log}");
}
