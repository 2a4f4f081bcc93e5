//! The log: one line per request, with all that helps and nothing that harms.

use serde_json::{Value, json};

use crate::harness::http::Line;
use crate::harness::{Answer, Home, Node, Request, World, node};

crate::on_both! {
    every_request_has_one_line_of_json,
    every_answer_has_a_name_of_its_own,
}

/// The lines of all requests so far.
fn requests(node: &Node) -> Vec<Value> {
    let log = node.log();
    let lines = log.lines().map(|line| {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    });
    lines.filter(|line| line["message"] == "request").collect()
}

fn id(answer: &Answer) -> String {
    answer.header("x-request-id").expect("every answer has one").to_owned()
}

async fn every_request_has_one_line_of_json(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Logged").await;
    let path = format!("/operator/v1/organisations/{}", org.id);
    let before = requests(&world.node).len();
    let by_org = Some(org.id.as_str());
    let cases = [
        (Request::get("/v2/organisation").key(&org.key), "/v2/organisation", 200, by_org, None),
        (Request::get("/v2.3/").key(&org.key), "/v2.3", 200, by_org, None),
        (Request::new("HEAD", "/v2.5/").key(&org.key), "/v2.5", 200, by_org, None),
        (Request::get("/v2.5/").key("x"), "/v2.5", 403, None, Some("bad-key")),
        (Request::get("/nothing/here"), "-", 404, None, Some("unknown-route")),
        (Request::post("/v2.5/"), "/v2.5", 405, None, Some("method-not-allowed")),
        (
            Request::post("/sandbox/v1/hold").key(&org.key).body("{"),
            "/sandbox/v1/hold",
            400,
            by_org,
            Some("malformed-body"),
        ),
        (
            Request::get(&path).bearer(&world.operator_key),
            "/operator/v1/organisations/{id}",
            200,
            None,
            None,
        ),
        (
            Request::get(&path),
            "/operator/v1/organisations/{id}",
            401,
            None,
            Some("bad-operator-key"),
        ),
        (Request::get("/readyz"), "/readyz", 200, None, None),
        (Request::get("/docs/v2.5"), "/docs/v2.5", 200, None, None),
        (Request::get("/openapi/v2.5.json"), "/openapi/v2.5.json", 200, None, None),
    ];
    let mut answers = Vec::new();
    for (request, ..) in &cases {
        answers.push(world.node.send(request).await);
    }
    let lines = requests(&world.node).split_off(before);
    assert_eq!(lines.len(), cases.len(), "one line each");
    for ((line, answer), (request, route, status, organisation, code)) in
        lines.iter().zip(&answers).zip(&cases)
    {
        let wanted = [
            ("request.id", json!(id(answer))),
            ("method", json!(request.method)),
            ("route", json!(route)),
            ("version", json!(route.split('/').nth(1).unwrap_or_default())),
            ("status", json!(status)),
            ("client", json!("127.0.0.1")),
            ("org.id", json!(organisation)),
            ("code", json!(code)),
            ("level", json!("INFO")),
        ];
        for (name, value) in wanted {
            assert_eq!(line.get(name).unwrap_or(&Value::Null), &value, "{name}: {line}");
        }
        let us = line["us"].as_u64().expect("how long it took, in microseconds");
        assert!((1..30_000_000).contains(&us), "{line}");
        assert!(line["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')), "{line}");
    }
    // Why a body was refused helps whoever reads the log; where, not what.
    let refused = lines.iter().find(|line| line["code"] == "malformed-body").expect("a line");
    assert!(refused["cause"].as_str().is_some_and(|cause| cause.contains("column")), "{refused}");
}

async fn every_answer_has_a_name_of_its_own(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Named").await;
    let get = Request::get("/v2.5/").key(&org.key).header("X-Request-Id", "chosen-by-a-stranger");
    let mut line = Line::to(world.node.address).await;
    let mut names = std::collections::HashSet::new();
    for _ in 0..100 {
        line.write(&get.bytes()).await;
        let answer = line.read(false).await.expect("an answer").expect(200);
        assert!(names.insert(id(&answer)), "{answer}");
    }
    assert!(!names.contains("chosen-by-a-stranger"));
    let logged = requests(&world.node);
    let logged: Vec<_> = logged.iter().filter_map(|line| line["request.id"].as_str()).collect();
    for name in names {
        assert_eq!(logged.iter().filter(|own| **own == name).count(), 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_can_read_the_log_too() {
    let home = Home::sqlite();
    let mut command = home.tern(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("TERN_LOG_FORMAT", "human");
    let serving = Node::start(&home, command, |_, log| {
        node::address(log.split("listen=").nth(1)?.split_whitespace().next()?)
    })
    .await;
    let answer = serving.send(&Request::get("/v2.5/?api_key=marker-7f3a")).await.expect(403);
    let log = serving.log();
    let line = log.lines().find(|line| line.contains(&id(&answer))).expect("its line");
    for word in ["INFO", "/v2.5", "403", "bad-key", "GET"] {
        assert!(line.contains(word), "{word}: {line}");
    }
    assert!(!log.contains("marker-7f3a") && !log.contains('\u{1b}'), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quiet_log_says_only_what_is_wrong() {
    let home = Home::sqlite();
    let address = crate::harness::binary::free_address();
    let mut command = home.tern(&["serve", "--listen", &address]);
    command.env("TERN_LOG_LEVEL", "error");
    let address = address.parse().expect("an address");
    let serving = Node::start(&home, command, |_, _| {
        std::net::TcpStream::connect(address).is_ok().then_some(address)
    })
    .await;
    serving.send(&Request::get("/v2.5/")).await.expect(403);
    assert_eq!(serving.log(), "");
}
