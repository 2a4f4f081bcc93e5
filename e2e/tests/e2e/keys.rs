//! Keys: made, shown, revoked here and everywhere, and bound to addresses.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, Key, Node, Org, Ran, Request, World, wait};

crate::on_both! {
    further_keys_work_and_the_primary_one_is_shown,
    the_primary_key_cannot_be_revoked,
    a_revoked_key_is_refused_here_at_once_and_elsewhere_within_a_second,
    a_key_revoked_at_the_command_line_is_refused_within_a_second,
    an_operator_key_revoked_at_the_command_line_is_refused_within_a_second,
    a_changed_setting_is_known_elsewhere_within_a_second,
    keys_have_labels_and_an_end,
    a_key_works_only_from_where_it_may,
    a_trusted_proxy_tells_where_a_client_is,
    a_stranger_who_claims_an_address_is_not_believed,
}

const SECOND: Duration = Duration::from_secs(1);

async fn shown_key(world: &World, key: &str) -> Value {
    let shown = world.get("/v2.5/organisation", key).await.json_of(200);
    shown["organisations"][0]["apiKey"].clone()
}

async fn keys_of(world: &World, org: &Org) -> Vec<Value> {
    let shown = world.show(&format!("/organisations/{}/keys", org.id)).await;
    assert!(!shown.to_string().contains("tern_test_"), "a list of keys holds no key");
    shown["keys"].as_array().expect("a list").clone()
}

async fn further_keys_work_and_the_primary_one_is_shown(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Keys").await;
    let further = world.add_key(&org, &json!({"label": "shop"})).await;
    assert_ne!(further.text, org.key);
    for key in [&org.key, &further.text] {
        assert_eq!(shown_key(&world, key).await, json!(org.key));
    }
    let rotated = world.add_key(&org, &json!({"label": "new", "primary": true})).await;
    for key in [&org.key, &further.text, &rotated.text] {
        assert_eq!(shown_key(&world, key).await, json!(rotated.text));
    }
    let listed = keys_of(&world, &org).await;
    let facts: Vec<_> =
        listed.iter().map(|key| (key["label"].clone(), key["primary"].clone())).collect();
    let wanted = [("first key", false), ("shop", false), ("new", true)];
    assert_eq!(facts, wanted.map(|(label, primary)| (json!(label), json!(primary))));
    assert!(listed.iter().all(|key| key["revokedAt"].is_null()));

    // The one that is no longer primary can go now.
    let first = Key { id: listed[0]["id"].as_str().expect("an id").into(), text: org.key.clone() };
    assert_eq!(world.revoke(&org, &first).await.json_of(200), json!({"status": "revoked"}));
    world.get("/v2.5/organisation", &org.key).await.refused(403, "bad-key");
    assert_eq!(shown_key(&world, &further.text).await, json!(rotated.text));
    assert!(!keys_of(&world, &org).await[0]["revokedAt"].is_null());
    world.revoke(&org, &first).await.refused(404, "unknown-key");
}

async fn the_primary_key_cannot_be_revoked(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Primary").await;
    let id = keys_of(&world, &org).await[0]["id"].as_str().expect("an id").to_owned();
    let first = Key { id, text: org.key.clone() };
    let rotated = world.add_key(&org, &json!({"primary": true})).await;
    let before = world.home.dump().await;
    let text = world.revoke(&org, &rotated).await.refused(400, "primary-key");
    assert_eq!(text, "the primary key cannot be revoked; make another key primary first");
    assert_eq!(world.home.dump().await, before);
    world.get("/v2.5/", &rotated.text).await.expect(200);
    // The command line can give the honour back, and then it can be revoked.
    world.home.tern_json(&["key", "primary", &first.id, "--org", &org.id]);
    assert_eq!(shown_key(&world, &rotated.text).await, json!(org.key));
    world.revoke(&org, &rotated).await.expect(200);
    world.revoke(&org, &first).await.refused(400, "primary-key");
}

/// Asks until the key is refused, which must be soon, while another one goes on working.
async fn refused_within_a_second(node: &Node, gone: &Request, stays: &Request) {
    let asking = wait::until("a revoked key is refused", SECOND * 10, async || {
        node.send(stays).await.expect(200);
        let answer = node.send(gone).await;
        (answer.status != 200).then(|| assert!([401, 403].contains(&answer.status), "{answer}"))
    });
    let ((), time) = wait::timed(asking).await;
    assert!(time < SECOND, "refused after {time:?}");
    // And never again.
    for _ in 0..20 {
        assert_ne!(node.send(gone).await.status, 200);
    }
}

/// Makes a node remember what a key opens.
async fn remember(nodes: &[&Node], requests: &[&Request]) {
    for node in nodes {
        for request in requests {
            node.send(request).await.expect(200);
            node.send(request).await.expect(200);
        }
    }
}

async fn a_revoked_key_is_refused_here_at_once_and_elsewhere_within_a_second(home: Home) {
    let world = World::start(home).await;
    let second = Node::beside(&world.home, &[]).await;
    let org = world.add_sandbox("Revoked").await;
    for _ in 0..3 {
        let key = world.add_key(&org, &json!({})).await;
        let gone = Request::get("/v2.5/organisation").key(&key.text);
        let stays = Request::get("/v2.5/organisation").key(&org.key);
        remember(&[&world.node, &second], &[&gone, &stays]).await;
        world.revoke(&org, &key).await.expect(200);
        // Not a moment later on the node that revoked it.
        world.node.send(&gone).await.refused(403, "bad-key");
        refused_within_a_second(&second, &gone, &stays).await;
    }
}

async fn a_key_revoked_at_the_command_line_is_refused_within_a_second(home: Home) {
    let world = World::start(home).await;
    let second = Node::beside(&world.home, &[]).await;
    let org = world.add_sandbox("Revoked").await;
    let key = world.add_key(&org, &json!({})).await;
    let gone = Request::get("/v2.5/organisation").key(&key.text);
    let stays = Request::get("/v2.5/organisation").key(&org.key);
    remember(&[&world.node, &second], &[&gone, &stays]).await;
    let done = world.home.tern_json(&["key", "revoke", &key.id, "--org", &org.id]);
    assert_eq!(done, json!({"status": "revoked"}));
    tokio::join!(
        refused_within_a_second(&world.node, &gone, &stays),
        refused_within_a_second(&second, &gone, &stays),
    );
}

async fn an_operator_key_revoked_at_the_command_line_is_refused_within_a_second(home: Home) {
    let world = World::start(home).await;
    let second = Node::beside(&world.home, &[]).await;
    let made = world.home.tern_json(&["key", "operator", "--label", "night shift"]);
    let text = |name: &str| made[name].as_str().expect("a text").to_owned();
    world.is_secret(&text("operatorKey"));
    let gone = Request::get("/operator/v1/organisations").bearer(&text("operatorKey"));
    let stays = Request::get("/operator/v1/organisations").bearer(&world.operator_key);
    remember(&[&world.node, &second], &[&gone, &stays]).await;
    world.home.tern_json(&["key", "revoke", &text("id")]);
    tokio::join!(
        refused_within_a_second(&world.node, &gone, &stays),
        refused_within_a_second(&second, &gone, &stays),
    );
}

async fn a_changed_setting_is_known_elsewhere_within_a_second(home: Home) {
    let world = World::start(home).await;
    let second = Node::beside(&world.home, &[]).await;
    let org = world.add_sandbox("Settings").await;
    let get = Request::get("/v2.5/organisation").key(&org.key);
    remember(&[&world.node, &second], &[&get]).await;
    world.change(&org, &json!({"ipAllowList": ["10.0.0.0/8"]})).await;
    world.node.send(&get).await.refused(403, "address-not-allowed");
    let other = world.add_sandbox("Other").await;
    let stays = Request::get("/v2.5/organisation").key(&other.key);
    refused_within_a_second(&second, &get, &stays).await;
    world.change(&org, &json!({"ipAllowList": []})).await;
    world.node.send(&get).await.expect(200);
    wait::until("the key works again", SECOND, async || {
        (second.send(&get).await.status == 200).then_some(())
    })
    .await;
}

async fn keys_have_labels_and_an_end(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Many").await;
    let path = format!("/organisations/{}/keys", org.id);
    for label in ["x".repeat(1_001), "two\nlines".into()] {
        let refusal = world.order("POST", &path, &json!({ "label": label })).await;
        let text = refusal.refused(400, "invalid-field");
        assert!(text.starts_with("label "), "{text}");
    }
    let mut last = None;
    for n in 1..100 {
        let label = format!("{n} \u{1f511} 'quoted'");
        last = Some(world.add_key(&org, &json!({ "label": label })).await);
    }
    let before = world.home.dump().await;
    let refusal = world.order("POST", &path, &json!({})).await;
    assert_eq!(refusal.refused(400, "too-many-keys"), "too many keys; revoke one first");
    assert_eq!(world.home.dump().await, before);
    let listed = keys_of(&world, &org).await;
    assert_eq!((listed.len(), &listed[99]["label"]), (100, &json!("99 \u{1f511} 'quoted'")));
    world.revoke(&org, &last.expect("some were made")).await.expect(200);
    world.add_key(&org, &json!({})).await;
}

async fn a_key_works_only_from_where_it_may(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Bound").await;
    let further = world.add_key(&org, &json!({})).await;
    for (list, allowed) in [
        (json!(["127.0.0.0/8"]), true),
        (json!(["10.0.0.0/8"]), false),
        (json!(["10.0.0.0/8", "127.0.0.1"]), true),
        (json!(["127.0.0.2"]), false),
        (json!(["::1", "2001:db8::/32"]), false),
        (json!(["0.0.0.0/0"]), true),
        (json!(["::/0"]), false),
        (json!([]), true),
    ] {
        world.change(&org, &json!({ "ipAllowList": list })).await;
        for key in [&org.key, &further.text] {
            for target in ["/v2/", "/v2.5/organisation", "/sandbox/v1/clock"] {
                let answer = world.get(target, key).await;
                if allowed {
                    answer.expect(200);
                } else {
                    assert_eq!(answer.refused(403, "address-not-allowed"), "access denied");
                }
            }
        }
    }
    // A wrong key says nothing about addresses.
    world.change(&org, &json!({"ipAllowList": ["10.0.0.0/8"]})).await;
    world.get("/v2.5/", "wrong").await.refused(403, "bad-key");
    // The operator is not bound by it.
    world.show(&format!("/organisations/{}", org.id)).await;
}

fn forwarded(org: &Org, hops: &[&str]) -> Request {
    let request = Request::get("/v2.5/organisation").key(&org.key);
    hops.iter().fold(request, |request, hop| request.header("X-Forwarded-For", hop))
}

async fn a_trusted_proxy_tells_where_a_client_is(home: Home) {
    let trusted = [("TERN_TRUSTED_PROXIES", "127.0.0.1, 10.9.0.0/16")];
    let world = World::with(home, &trusted).await;
    let org = world.add_sandbox("Proxied").await;
    world.change(&org, &json!({"ipAllowList": ["203.0.113.0/24"]})).await;
    for (hops, allowed) in [
        (vec!["203.0.113.9"], true),
        (vec!["203.0.113.9:4711"], true),
        (vec!["198.51.100.1, 203.0.113.9"], true),
        (vec!["198.51.100.1", "203.0.113.9"], true),
        (vec!["203.0.113.9, 10.9.1.1"], true),
        (vec!["203.0.113.9, 198.51.100.1"], false),
        (vec!["203.0.113.9", "198.51.100.1"], false),
        (vec!["203.0.113.9, nonsense"], false),
        (vec!["198.51.100.1"], false),
        (vec!["127.0.0.1"], false),
        (vec![""], false),
        (vec![], false),
    ] {
        let answer = world.node.send(&forwarded(&org, &hops)).await;
        let status = if allowed { 200 } else { 403 };
        assert_eq!(answer.status, status, "{hops:?}: {answer}");
    }
    let log = world.node.log();
    assert!(log.contains("\"client\":\"203.0.113.9\""), "the log knows the client");
}

async fn a_stranger_who_claims_an_address_is_not_believed(home: Home) {
    let world = World::with(home, &[("TERN_TRUSTED_PROXIES", "10.0.0.0/8")]).await;
    let org = world.add_sandbox("Claims").await;
    world.change(&org, &json!({"ipAllowList": ["203.0.113.0/24"]})).await;
    let claims = forwarded(&org, &["203.0.113.9"]).header("X-Real-Ip", "203.0.113.9");
    let claims = claims.header("Forwarded", "for=203.0.113.9");
    world.node.send(&claims).await.refused(403, "address-not-allowed");
    world.change(&org, &json!({"ipAllowList": ["127.0.0.1"]})).await;
    world.node.send(&claims).await.expect(200);
    assert!(!world.node.log().contains("203.0.113.9"), "nor is it logged");
}

#[test]
fn a_wrong_list_of_proxies_stops_the_start() {
    let home = Home::sqlite();
    let mut command = home.tern(&["serve", "--listen", "127.0.0.1:0"]);
    let ran = Ran::new(command.env("TERN_TRUSTED_PROXIES", "10.0.0.0/8,nonsense"));
    ran.failed(1, "nonsense");
}
