//! A node's life: it drains when told, survives a power cut, and starts beside others.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::harness::http::Line;
use crate::harness::{Home, Node, Ran, Request, World, wait};

crate::on_both! {
    a_node_that_is_told_to_stop_answers_what_it_has_begun,
    a_second_signal_ends_it_at_once,
    what_was_answered_survives_a_power_cut,
    two_nodes_start_at_once_on_an_empty_database,
    two_nodes_that_start_at_once_make_one_vault_between_them,
    two_nodes_that_share_a_folder_keep_the_first_key,
    a_restart_makes_no_second_first_key,
}

/// A hold call whose body is still missing.
fn half(key: &str) -> String {
    format!(
        "POST /sandbox/v1/hold HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n\
         Content-Length: 11\r\n\r\n{{\"on\""
    )
}

/// A balancer that asks hears it before connections are refused.
async fn says_that_it_leaves(node: &Node) {
    let ready = Request::get("/readyz");
    wait::until("the node says that it leaves", Duration::from_secs(1), async || {
        let answer = node.send(&ready).await;
        (answer.status != 200).then(|| answer.refused(503, "unavailable"))
    })
    .await;
    node.send(&Request::get("/healthz")).await.expect(200);
}

/// Waits until nobody can connect any more.
async fn closed(node: &Node) {
    wait::until("new connections are refused", Duration::from_secs(3), async || {
        TcpStream::connect(node.address).await.is_err().then_some(())
    })
    .await;
}

async fn a_node_that_is_told_to_stop_answers_what_it_has_begun(home: Home) {
    let mut world = World::start(home).await;
    let org = world.add_sandbox("Draining").await;
    let free = world.home.dump().await["org_heads"].clone();
    let mut slow = Line::to(world.node.address).await;
    slow.write(half(&org.key).as_bytes()).await;
    // An idle connection, and one whose request is long over.
    let mut idle = Line::to(world.node.address).await;
    idle.write(&Request::get("/v2.5/").key(&org.key).bytes()).await;
    idle.read(false).await.expect("an answer").expect(200);
    let draining = wait::timed(async {
        world.node.signal("TERM");
        says_that_it_leaves(&world.node).await;
        closed(&world.node).await;
        assert_eq!(idle.read_to_end().await, b"", "an idle connection is closed");
        slow.write(b":true}").await;
        let answer = slow.read(false).await.expect("what was begun is answered");
        world.node.judge("POST", "/sandbox/v1/hold", &answer);
        assert_eq!(answer.json_of(200), json!({"on": true}));
        world.node.ended(Duration::from_secs(10)).await
    });
    let (status, time) = draining.await;
    assert_eq!(status.code(), Some(0));
    assert!(time < Duration::from_secs(9), "there is nothing left to wait for: {time:?}");
    assert!(world.node.log().contains("\"stopped\""), "{}", world.node.log());
    // And what it did is kept.
    world.node = Node::serve(&world.home, &[]).await;
    assert_ne!(world.home.dump().await["org_heads"], free, "it is held");
}

async fn a_second_signal_ends_it_at_once(home: Home) {
    let mut world = World::start(home).await;
    let org = world.add_sandbox("Hurried").await;
    let mut slow = Line::to(world.node.address).await;
    slow.write(half(&org.key).as_bytes()).await;
    world.node.signal("INT");
    closed(&world.node).await;
    world.node.signal("TERM");
    let status = world.node.ended(Duration::from_secs(3)).await;
    assert_eq!(status.code(), Some(0));
}

async fn what_was_answered_survives_a_power_cut(home: Home) {
    let mut world = World::start(home).await;
    for round in 0..3 {
        let org = world.add_sandbox("Kept").await;
        let key = world.add_key(&org, &json!({})).await;
        let gone = world.add_key(&org, &json!({})).await;
        world.revoke(&org, &gone).await.expect(200);
        world.change(&org, &json!({"notes": format!("round {round}")})).await;
        // With work in flight.
        let unknown = world.operator("POST", "/organisations");
        let unknown = unknown.json(&json!({"name": "Perhaps", "currency": "USD"}));
        let mut line = Line::to(world.node.address).await;
        line.write(&unknown.bytes()).await;
        world.node.kill();
        world.node = Node::serve(&world.home, &[]).await;
        let seen = world.get("/v2.5/organisation", &key.text).await.json_of(200);
        assert_eq!(seen["organisations"][0]["notes"], json!(format!("round {round}")));
        assert_eq!(seen["organisations"][0]["apiKey"], json!(org.key));
        world.get("/v2.5/", &gone.text).await.refused(403, "bad-key");
    }
    // Every organisation that is there is whole.
    let all = world.show("/organisations").await;
    for org in all["organisations"].as_array().expect("a list") {
        let id = org["id"].as_str().expect("an id");
        let keys = world.show(&format!("/organisations/{id}/keys")).await;
        assert_eq!(keys["keys"][0]["primary"], json!(true));
    }
}

/// The operator key that one of several first starts has noted.
fn first_key(home: &Home, nodes: usize) -> Vec<String> {
    let note = |n: usize| home.folder().join(format!("data-{n}")).join("first-start.txt");
    let notes = (0..nodes * 2).filter_map(|n| std::fs::read_to_string(note(n)).ok());
    let words =
        notes.flat_map(|text| text.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>());
    words.filter(|word| word.starts_with("tern_op_")).collect()
}

async fn both_serve_one_house(home: &Home, nodes: &[Node; 2]) {
    let keys = first_key(home, 2);
    assert_eq!(keys.len(), 1, "one of the two has made the first key: {keys:?}");
    for node in nodes {
        node.send(&Request::get("/readyz")).await.expect(200);
        let list = Request::get("/operator/v1/organisations").bearer(&keys[0]);
        node.send(&list).await.expect(200);
    }
    let dump = home.dump().await;
    assert_eq!((dump["keys"].len(), dump["users"].len()), (1, 1));
    assert_eq!(dump["audit"].len(), 2);
}

async fn two_nodes_start_at_once_on_an_empty_database(home: Home) {
    // The vault was handed to both by the one who installs them.
    let other = Home::sqlite();
    other.tern_json(&["org", "add", "Any", "--currency", "USD"]);
    std::fs::create_dir(home.data()).expect("a folder");
    std::fs::copy(other.vault(), home.vault()).expect("a vault");
    let nodes = tokio::join!(Node::beside(&home, &[]), Node::beside(&home, &[]));
    both_serve_one_house(&home, &[nodes.0, nodes.1]).await;
}

async fn two_nodes_that_start_at_once_make_one_vault_between_them(home: Home) {
    std::fs::create_dir(home.data()).expect("a folder");
    let nodes = tokio::join!(Node::beside(&home, &[]), Node::beside(&home, &[]));
    both_serve_one_house(&home, &[nodes.0, nodes.1]).await;
}

async fn two_nodes_that_share_a_folder_keep_the_first_key(home: Home) {
    let nodes = tokio::join!(Node::serve(&home, &[]), Node::serve(&home, &[]));
    let note = std::fs::read_to_string(home.data().join("first-start.txt"));
    let note = note.expect("the first key is noted");
    let key = note.split_whitespace().find(|word| word.starts_with("tern_op_"));
    let list = Request::get("/operator/v1/organisations").bearer(key.expect("a key"));
    for node in [nodes.0, nodes.1] {
        node.send(&list).await.expect(200);
    }
}

async fn a_restart_makes_no_second_first_key(home: Home) {
    let mut world = World::start(home).await;
    let before = world.home.dump().await;
    std::fs::remove_file(world.home.data().join("first-start.txt")).expect("read and deleted");
    world.restart(&[]).await;
    assert_eq!(world.home.dump().await, before);
    assert!(!world.home.data().join("first-start.txt").exists());
    let listed = world.show("/organisations").await;
    assert_eq!(listed["organisations"], Value::Array(Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_its_owner_can_read_what_a_node_writes() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::start(Home::sqlite()).await;
    let data = world.home.data();
    let mode = |path: &std::path::Path| {
        std::fs::metadata(path).expect("there").permissions().mode() & 0o777
    };
    assert_eq!(mode(&data), 0o700);
    for entry in std::fs::read_dir(&data).expect("readable") {
        let path = entry.expect("readable").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_start_says_why() {
    let world = World::start(Home::sqlite()).await;
    let home = Home::sqlite();
    let taken = world.node.address.to_string();
    for (settings, why) in [
        (vec![("TERN_LISTEN", taken.as_str())], "cannot listen on"),
        (vec![("TERN_LISTEN", "nonsense")], "cannot listen on nonsense"),
        (vec![("TERN_METRICS_LISTEN", taken.as_str())], "cannot listen on"),
        (vec![("TERN_DATABASE", "postgres://nobody@127.0.0.1:1/nothing")], "tern doctor"),
        (
            vec![("TERN_TLS_CERTIFICATE", "/nowhere/a.pem"), ("TERN_TLS_KEY", "/b")],
            "/nowhere/a.pem",
        ),
        (vec![("TERN_CONFIG", "/nowhere/tern.toml")], "/nowhere/tern.toml"),
        (vec![("TERN_LOG_FORMAT", "xml")], "xml"),
    ] {
        let mut serve = home.tern(&["serve"]);
        let listens = settings.iter().any(|(name, _)| *name == "TERN_LISTEN");
        if !listens {
            serve.args(["--listen", "127.0.0.1:0"]);
        }
        let ran = Ran::new(serve.envs(settings.iter().copied()));
        assert_eq!(ran.code, Some(1), "{settings:?}: {ran:?}");
        assert!(ran.stderr.contains(why), "{why}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    }
}

/// Settings come from a file, then the environment, then flags.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_come_from_a_file_the_environment_and_flags() {
    let home = Home::sqlite();
    let file = home.folder().join("tern.toml");
    let text = format!(
        "listen = \"127.0.0.1:1\"\ndata = {:?}\nconsole_email = \"boss@tern.example\"\n\
         log_format = \"human\"\ntrusted_proxies = [\"127.0.0.1\"]\n",
        home.data().display().to_string()
    );
    std::fs::write(&file, text).expect("written");
    let mut command = crate::harness::binary::command();
    command.args(["serve", "--config"]).arg(&file).args(["--listen", "127.0.0.1:0"]);
    command.env("TERN_LISTEN", "127.0.0.1:2").env("TERN_LOG_LEVEL", "info");
    let node = Node::start(&home, command, |_, log| {
        let url = log.split("listen=").nth(1)?;
        crate::harness::node::address(url.split_whitespace().next()?)
    })
    .await;
    node.send(&Request::get("/readyz").header("X-Forwarded-For", "203.0.113.9")).await.expect(200);
    assert!(node.log().contains("203.0.113.9"), "{}", node.log());
    let staff = home.tern_json(&["user", "list"]);
    assert_eq!(staff["users"][0]["emailAddress"], "boss@tern.example");
}
