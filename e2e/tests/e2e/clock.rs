//! The clock of a sandbox organisation: its own, and only ever onwards.

use domain::Timestamp;
use serde_json::{Value, json};
use store::Rt;

use crate::harness::{Answer, Home, Node, Org, Request, World};

crate::on_both! {
    a_clock_runs_with_the_real_one_until_it_is_advanced,
    a_clock_never_goes_back,
    two_clocks_are_independent,
    a_clock_survives_a_restart_and_a_power_cut,
    a_live_organisation_has_no_clock,
    work_is_held_and_settled,
}

/// A machine that is busy may take this long to answer.
const SLACK_MS: i64 = 5_000;

fn ms(body: &Value) -> i64 {
    let text = body["now"].as_str().expect("a time");
    assert!(text.ends_with('Z'), "{text}");
    Timestamp::parse(text).expect("a time").ms()
}

async fn now(world: &World, org: &Org) -> i64 {
    ms(&world.get("/sandbox/v1/clock", &org.key).await.json_of(200))
}

async fn advance(world: &World, org: &Org, seconds: &Value) -> Answer {
    let request = Request::post("/sandbox/v1/clock/advance").key(&org.key);
    world.node.send(&request.json(&json!({ "seconds": seconds }))).await
}

/// How far a clock runs ahead of ours.
async fn ahead(world: &World, org: &Org) -> i64 {
    let before = Rt::real().now().ms();
    let ahead = now(world, org).await - before;
    assert!(ahead >= 0, "a clock is never behind");
    ahead
}

#[track_caller]
fn about(found: i64, wanted: i64) {
    assert!((wanted..wanted + SLACK_MS).contains(&found), "{found} is not about {wanted}");
}

async fn a_clock_runs_with_the_real_one_until_it_is_advanced(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Clock").await;
    about(ahead(&world, &org).await, 0);
    let mut wanted = 0;
    for seconds in [0, 1, 3_600, 86_400, 316_224_000] {
        let before = now(&world, &org).await;
        let told = ms(&advance(&world, &org, &json!(seconds)).await.json_of(200));
        wanted += seconds * 1_000;
        about(told - before, seconds * 1_000);
        about(ahead(&world, &org).await, wanted);
    }
    // A hundred years and more, and dates are still written the same way.
    for _ in 0..10 {
        advance(&world, &org, &json!(316_224_000)).await.expect(200);
    }
    about(ahead(&world, &org).await, wanted + 10 * 316_224_000_000);
}

async fn a_clock_never_goes_back(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Onwards").await;
    advance(&world, &org, &json!(1_000)).await.expect(200);
    let before = world.home.dump().await;
    for seconds in [json!(-1), json!(-86_400), json!(i64::MIN), json!(316_224_001), json!(i64::MAX)]
    {
        advance(&world, &org, &seconds).await.refused(400, "invalid-parameter");
    }
    for seconds in [json!(1.5), json!("5"), json!(1e3), json!(true), json!([]), json!(u64::MAX)] {
        advance(&world, &org, &seconds).await.refused(400, "malformed-body");
    }
    assert_eq!(world.home.dump().await, before);
    about(ahead(&world, &org).await, 1_000_000);
    // Asked by many at once, each step counts once and time only grows.
    let mut last = now(&world, &org).await;
    let one = json!(10);
    let steps = tokio::join!(
        advance(&world, &org, &one),
        advance(&world, &org, &one),
        advance(&world, &org, &one),
        advance(&world, &org, &one),
    );
    for answer in [steps.0, steps.1, steps.2, steps.3] {
        answer.expect(200);
    }
    about(ahead(&world, &org).await, 1_040_000);
    for _ in 0..20 {
        let next = now(&world, &org).await;
        assert!(next >= last);
        last = next;
    }
    // The end of time is not reached by many steps either.
    let mut refusal = None;
    for _ in 0..200 {
        let answer = advance(&world, &org, &json!(316_224_000)).await;
        if answer.status != 200 {
            refusal = Some(answer);
            break;
        }
    }
    refusal.expect("dates have an end").refused(400, "invalid-parameter");
}

async fn two_clocks_are_independent(home: Home) {
    let world = World::start(home).await;
    let (one, two) = (world.add_sandbox("One").await, world.add_sandbox("Two").await);
    advance(&world, &one, &json!(5_000)).await.expect(200);
    about(ahead(&world, &one).await, 5_000_000);
    about(ahead(&world, &two).await, 0);
    advance(&world, &two, &json!(70)).await.expect(200);
    about(ahead(&world, &one).await, 5_000_000);
    about(ahead(&world, &two).await, 70_000);
    // The service itself stays in its own time.
    let made = world.add_sandbox("Three").await;
    let shown = world.show(&format!("/organisations/{}", made.id)).await;
    let made_at = Timestamp::parse(shown["createdAt"].as_str().expect("a time")).expect("a time");
    assert!((Rt::real().now().ms() - made_at.ms()).abs() < SLACK_MS);
}

async fn a_clock_survives_a_restart_and_a_power_cut(home: Home) {
    let mut world = World::start(home).await;
    let org = world.add_sandbox("Lasting").await;
    advance(&world, &org, &json!(12_345)).await.expect(200);
    world.restart(&[]).await;
    about(ahead(&world, &org).await, 12_345_000);
    advance(&world, &org, &json!(5)).await.expect(200);
    world.node.kill();
    world.node = Node::serve(&world.home, &[]).await;
    about(ahead(&world, &org).await, 12_350_000);
    let second = Node::beside(&world.home, &[]).await;
    let request = Request::get("/sandbox/v1/clock").key(&org.key);
    let elsewhere = ms(&second.send(&request).await.json_of(200));
    about(elsewhere - Rt::real().now().ms() + SLACK_MS / 2, 12_350_000);
}

async fn a_live_organisation_has_no_clock(home: Home) {
    let world = World::start(home).await;
    let org = world.add_live("Live").await;
    let before = world.home.dump().await;
    for operation in api::operations(api::Surface::Sandbox) {
        let target = format!("/sandbox/v1{}", operation.path);
        let request = Request::new(&operation.method, &target).key(&org.key);
        let body = json!({"seconds": 5, "on": true, "card": "pays"});
        let refusal = world.node.send(&request.json(&body)).await;
        assert_eq!(refusal.refused(403, "live-organisation"), "access denied", "{target}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn work_is_held_and_settled(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Held").await;
    let hold = |on: Value| {
        let request = Request::post("/sandbox/v1/hold").key(&org.key);
        request.json(&json!({ "on": on }))
    };
    let heads = async || world.home.dump().await["org_heads"].clone();
    let free = heads().await;
    assert_eq!(world.node.send(&hold(json!(true))).await.json_of(200), json!({"on": true}));
    assert_ne!(heads().await, free, "it is noted");
    assert_eq!(world.node.send(&hold(json!(true))).await.json_of(200), json!({"on": true}));
    let settle = Request::post("/sandbox/v1/settle").key(&org.key);
    about(ms(&world.node.send(&settle).await.json_of(200)) + 1_000, Rt::real().now().ms());
    assert_eq!(world.node.send(&hold(json!(false))).await.json_of(200), json!({"on": false}));
    assert_eq!(heads().await, free);
    advance(&world, &org, &json!(100)).await.expect(200);
    let settled = ms(&world.node.send(&settle).await.json_of(200));
    about(settled - Rt::real().now().ms() + 1_000, 100_000);
}
