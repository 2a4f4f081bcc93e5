//! Requests that failed are kept for those who sent them: who, when, what, and never a secret.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Home, Request, World, wait};

crate::on_both! {
    what_failed_is_kept_and_nothing_else,
    a_service_that_stops_keeps_what_failed_last,
}

/// The rows there are, once there are so many.
async fn kept(world: &World, count: usize) -> Vec<String> {
    let enough = async || {
        let rows = world.home.everything().await.remove("failures").expect("a table");
        (rows.len() >= count).then_some(rows)
    };
    let rows = wait::until("failed requests are written", Duration::from_secs(20), enough).await;
    assert_eq!(rows.len(), count, "{rows:?}");
    rows
}

async fn what_failed_is_kept_and_nothing_else(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Clumsy").await;
    world.get("/v2.5/organisation", &org.key).await.expect(200);
    world.get("/v2.5/organisation", "tern_test_wrong").await.expect(403);
    world.node.send(&Request::get("/v2.5/nowhere").key(&org.key)).await.expect(404);
    let path = "/v2.5/esims/8943001000000026411?secret=hunter2";
    let foreign = world.get(path, &org.key).await;
    let id = foreign.header("x-request-id").expect("a name").to_owned();
    foreign.expect(403);
    let topup = Request::post("/v2.5/organisation/balance?amount=100").key(&org.key);
    world.node.send(&topup).await.expect(400);
    let rows = kept(&world, 2).await;
    let has = |row: &str, parts: &[&str]| parts.iter().all(|part| row.contains(part));
    let told = ["GET", "/v2.5/esims/", "403", "not-your-esim", "access denied", &id, &org.id];
    assert!(has(&rows[0], &told), "{rows:?}");
    let told = ["POST", "/v2.5/organisation/balance", "400", "no-stored-card", "no saved payment"];
    assert!(has(&rows[1], &told), "{rows:?}");
    for secret in ["hunter2", "8943001000000026411", "amount", &org.key] {
        assert!(!rows.iter().any(|row| row.contains(secret)), "{secret}: {rows:?}");
    }
    world.change(&org, &json!({"rateLimit": 1})).await;
    for _ in 0..3 {
        world.get("/v2.5/organisation", &org.key).await;
    }
    let rows = kept(&world, 3).await;
    assert!(has(&rows[2], &["429", "rate-limited", "Rate limit exceeded"]), "{rows:?}");
}

async fn a_service_that_stops_keeps_what_failed_last(home: Home) {
    let mut world = World::start(home).await;
    let org = world.add_sandbox("Clumsy").await;
    world.get("/v2.5/esims/8943001000000026411", &org.key).await.expect(403);
    world.node.signal("TERM");
    assert!(world.node.ended(Duration::from_secs(20)).await.success());
    let rows = world.home.everything().await.remove("failures").expect("a table");
    assert_eq!(rows.len(), 1, "{rows:?}");
}
