//! The rate limit: for live organisations from v2.4 on, and wherever the operator sets one.

use std::time::Duration;

use api::versions::Version;
use serde_json::{Value, json};

use crate::harness::http::Line;
use crate::harness::{Answer, Home, Request, World, wait};

crate::on_both! {
    a_live_organisation_is_limited_from_v2_4_on,
    old_versions_and_sandboxes_are_not_limited,
    the_operator_sets_a_limit_for_every_version,
    every_key_has_a_bucket_of_its_own,
}

/// Sends many requests at once on one connection and reads the answers, up to a first portion with
/// a refusal in it.
async fn burst(world: &World, target: &str, key: &str, count: usize) -> Vec<Answer> {
    let request = Request::get(target).key(key);
    let mut line = Line::to(world.node.address).await;
    let mut answers = Vec::new();
    // In portions, so that neither side waits for the other with full buffers.
    for portion in 0..count.div_ceil(100) {
        let size = (count - portion * 100).min(100);
        line.write(&request.bytes().repeat(size)).await;
        for _ in 0..size {
            let answer = line.read(false).await.expect("an answer");
            world.node.judge("GET", target, &answer);
            answers.push(answer);
        }
        if answers.iter().any(|answer| answer.status == 429) {
            break;
        }
    }
    answers
}

fn number(answer: &Answer, name: &str) -> u32 {
    let text = answer.header(name).unwrap_or_else(|| panic!("no {name}: {answer}"));
    text.parse().unwrap_or_else(|_| panic!("{name} is a number: {answer}"))
}

fn has_no_limit(answer: &Answer) {
    let named = answer.headers.iter().filter(|(name, _)| name.starts_with("x-ratelimit"));
    assert_eq!(named.count(), 0, "{answer}");
}

fn is_exceeded(answer: &Answer, limit: u32) {
    assert_eq!(answer.clone().refused(429, "rate-limited"), "Rate limit exceeded");
    assert!(number(answer, "retry-after") >= 1);
    assert_eq!(number(answer, "x-ratelimit-limit"), limit);
    assert_eq!(number(answer, "x-ratelimit-remaining"), 0);
}

async fn a_live_organisation_is_limited_from_v2_4_on(home: Home) {
    let world = World::start(home).await;
    for prefix in ["/v2.4", "/v2.5"] {
        let org = world.add_live(prefix).await;
        let target = format!("{prefix}/");
        let first = world.get(&target, &org.key).await.expect(200);
        assert_eq!(number(&first, "x-ratelimit-limit"), 100);
        assert_eq!(number(&first, "x-ratelimit-remaining"), 199);
        assert_eq!(number(&first, "x-ratelimit-cost"), 1);
        // The judge has checked that it is a time.
        assert!(first.header("x-ratelimit-reset").is_some(), "{first}");

        let answers = burst(&world, &target, &org.key, 700).await;
        let allowed = answers.iter().position(|answer| answer.status == 429);
        let allowed = allowed.expect("nobody may send seven hundred requests at once");
        assert!(allowed >= 199, "two hundred at once are allowed: {allowed}");
        is_exceeded(&answers[allowed], 100);
        assert!(answers[..allowed].iter().all(|answer| answer.status == 200));
        // What is refused there goes on elsewhere: old versions have no limit, nor have others.
        has_no_limit(&world.get("/v2.3/", &org.key).await.expect(200));
        let other = world.add_live("Other").await;
        world.get(&target, &other.key).await.expect(200);
        // And it comes back by itself.
        wait::until("the limit passes", Duration::from_secs(3), async || {
            (world.get(&target, &org.key).await.status == 200).then_some(())
        })
        .await;
    }
}

async fn old_versions_and_sandboxes_are_not_limited(home: Home) {
    let world = World::start(home).await;
    let (live, sandbox) = (world.add_live("Live").await, world.add_sandbox("Sandbox").await);
    // Far more than would be allowed at once, and a few of each.
    for (prefix, count) in [("/v2", 3), ("/v2.0", 3), ("/v2.1", 3), ("/v2.2", 3), ("/v2.3", 300)] {
        for answer in burst(&world, &format!("{prefix}/"), &live.key, count).await {
            has_no_limit(&answer.expect(200));
        }
    }
    for (target, count) in [("/v2.4/", 3), ("/v2.5/", 300), ("/sandbox/v1/clock", 3)] {
        for answer in burst(&world, target, &sandbox.key, count).await {
            has_no_limit(&answer.expect(200));
        }
    }
}

async fn the_operator_sets_a_limit_for_every_version(home: Home) {
    let world = World::start(home).await;
    for sandbox in [true, false] {
        for version in Version::ALL {
            let name = version.name();
            let new = json!({"name": name, "currency": "USD", "sandbox": sandbox, "rateLimit": 1});
            let org = world.add(&new).await;
            let answers = burst(&world, &format!("/{name}/"), &org.key, 3).await;
            let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
            assert_eq!(statuses, [200, 200, 429], "{name}");
            let left: Vec<_> = answers.iter().map(|a| number(a, "x-ratelimit-remaining")).collect();
            assert_eq!(left, [1, 0, 0], "{name}");
            is_exceeded(&answers[2], 1);
        }
    }
    // The same limit counts for the sandbox's own calls, and it can be taken away again.
    let org = world.add_sandbox("Limited").await;
    assert_eq!(world.change(&org, &json!({"rateLimit": 1})).await["rateLimit"], json!(1));
    let answers = burst(&world, "/sandbox/v1/clock", &org.key, 3).await;
    is_exceeded(&answers[2], 1);
    for off in [json!(null), json!(0)] {
        world.change(&org, &json!({"rateLimit": 1})).await;
        let shown = world.change(&org, &json!({ "rateLimit": off })).await;
        assert_eq!(shown["rateLimit"], Value::Null);
        has_no_limit(&world.get("/v2.5/", &org.key).await.expect(200));
    }
    // What is refused for its key or its address is not counted.
    world.change(&org, &json!({"rateLimit": 1, "ipAllowList": ["10.0.0.0/8"]})).await;
    for _ in 0..5 {
        let refusal = world.get("/v2.5/", &org.key).await;
        has_no_limit(&refusal);
        refusal.refused(403, "address-not-allowed");
    }
}

async fn every_key_has_a_bucket_of_its_own(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Buckets").await;
    world.change(&org, &json!({"rateLimit": 1})).await;
    let further = world.add_key(&org, &json!({})).await;
    let answers = burst(&world, "/v2.5/", &org.key, 4).await;
    is_exceeded(&answers[3], 1);
    let answers = burst(&world, "/v2.5/", &further.text, 2).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    // The bucket is the key's, not the version's.
    let answers = burst(&world, "/v2.0/", &further.text, 2).await;
    is_exceeded(&answers[1], 1);
}
