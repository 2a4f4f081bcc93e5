//! The database goes away and comes back: refusals are honest, and everything heals by itself.

use std::time::Duration;

use serde_json::json;
use store::Rt;

use crate::harness::home::server;
use crate::harness::line::Line;
use crate::harness::{Answer, Home, Node, Org, Ran, Request, World, wait};

async fn start() -> (World, Line, Org) {
    let url = server("TERN_TEST_POSTGRES");
    let line = Line::to(&url).await;
    let world = World::start(Home::on_server(&line.redirected(&url)).await).await;
    let org = world.add_sandbox("Cut off").await;
    (world, line, org)
}

/// A key that no node has met, and so none can remember as wrong.
fn unheard_of() -> String {
    domain::hex(&Rt::real().random::<16>())
}

/// One call of each kind that needs the database.
fn calls(world: &World, org: &Org) -> Vec<Request> {
    vec![
        Request::get("/v2.0/organisation").key(&org.key),
        Request::get("/v2.5/organisation").key(&org.key),
        Request::get("/v2.5/organisation").key(&unheard_of()),
        Request::get("/sandbox/v1/clock").key(&org.key),
        Request::post("/sandbox/v1/clock/advance").key(&org.key).json(&json!({"seconds": 1})),
        world.operator("GET", "/organisations"),
        world.operator("POST", "/organisations").json(&json!({"name": "A", "currency": "USD"})),
        world.operator("GET", "/audit"),
    ]
}

fn is_unavailable(answer: Answer) {
    // The judge has seen Retry-After.
    assert_eq!(answer.refused(503, "unavailable"), "service unavailable");
}

/// Whether everything that only reads gets its answer.
async fn all_work(world: &World, org: &Org) -> bool {
    for call in calls(world, org).iter().filter(|call| call.method == "GET") {
        let answer = world.node.send(call).await;
        assert!([200, 403, 503].contains(&answer.status), "{answer}");
        if answer.status == 503 {
            return false;
        }
    }
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_database_is_away_requests_are_told_to_come_back() {
    let (world, line, org) = start().await;
    let before = world.home.dump().await;
    for _ in 0..2 {
        world.get("/v2.5/organisation", &org.key).await.expect(200);
        world.node.send(&Request::get("/readyz")).await.expect(200);
        line.away(true);
        // Longer than a node trusts what it remembers of keys.
        let rt = Rt::real();
        while rt.monotonic() < Duration::from_millis(1_100) {
            for call in calls(&world, &org) {
                is_unavailable(world.node.send(&call).await);
            }
            is_unavailable(world.node.send(&Request::get("/readyz")).await);
            rt.sleep(Duration::from_millis(100)).await;
        }
        // It lives, and what needs no database works.
        world.node.send(&Request::get("/healthz")).await.expect(200);
        world.node.send(&Request::get("/docs")).await.expect(200);
        world.node.send(&Request::get("/nothing")).await.refused(404, "unknown-route");
        world.node.send(&Request::post("/v2.5/")).await.refused(405, "method-not-allowed");
        world.node.send(&Request::get("/v2.5/")).await.refused(403, "bad-key");
        line.away(false);
        // Each of a node's connections comes back in its own time.
        wait::until("everything works again", Duration::from_secs(5), async || {
            all_work(&world, &org).await.then_some(())
        })
        .await;
        for _ in 0..10 {
            assert!(all_work(&world, &org).await, "and it stays so");
        }
        world.node.send(&Request::get("/readyz")).await.expect(200);
    }
    assert_eq!(world.home.dump().await, before, "what was refused has not happened");
}

/// Connections that die between two requests are replaced without anybody noticing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_between_two_requests_is_not_noticed() {
    let (world, line, org) = start().await;
    let mut unnoticed = 0;
    // Nodes ask questions of their own now and then; a cut that hits one of those is no cut between
    // two requests, so there are more cuts than have to go unnoticed.
    for _ in 0..8 {
        line.away(true);
        line.away(false);
        let mut all_work = true;
        for _ in 0..5 {
            let asked = Request::get("/v2.5/organisation").key(&org.key);
            let told = world.operator("GET", "/organisations");
            for request in [asked, told] {
                let answer = world.node.send(&request).await;
                assert!([200, 503].contains(&answer.status), "{answer}");
                all_work &= answer.status == 200;
            }
        }
        unnoticed += usize::from(all_work);
        if unnoticed == 2 {
            return;
        }
        Rt::real().sleep(Duration::from_millis(700)).await;
    }
    panic!("of eight cuts only {unnoticed} went unnoticed");
}

/// However often the line is cut: what was answered has happened, and nothing happens twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_under_a_failing_line_happens_once_or_not_at_all() {
    let (world, line, org) = start().await;
    let advance = Request::post("/sandbox/v1/clock/advance").key(&org.key);
    let advance = advance.json(&json!({"seconds": 1_000_000}));
    let (mut done, mut open) = (0, 0);
    let writing = async {
        loop {
            let answer = world.node.send(&advance).await;
            match answer.status {
                200 => done += 1,
                503 => open += 1,
                _ => panic!("neither done nor unavailable: {answer}"),
            }
            Rt::real().sleep(Duration::from_millis(1)).await;
        }
    };
    let cutting = async {
        for _ in 0..8 {
            Rt::real().sleep(Duration::from_millis(200)).await;
            line.away(true);
            Rt::real().sleep(Duration::from_millis(30)).await;
            line.away(false);
        }
    };
    tokio::select! {
        () = writing => {}
        () = cutting => {}
    }
    // One more may have been on its way when the test stopped looking.
    open += 1;
    wait::until("everything works again", Duration::from_secs(10), async || {
        all_work(&world, &org).await.then_some(())
    })
    .await;
    let clock = world.get("/sandbox/v1/clock", &org.key).await.json_of(200);
    let now = domain::Timestamp::parse(clock["now"].as_str().expect("a time")).expect("a time");
    let steps = (now.ms() - Rt::real().now().ms() + 500_000_000) / 1_000_000_000;
    assert!((done..=done + open).contains(&steps), "{done} done, {open} open, {steps} steps");
    assert!(done > 0 && open > 1, "some got through, some did not: {done}, {open}");
}

/// A pulled cable: nothing is refused, nothing comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_hangs_makes_a_node_unready_and_no_worse() {
    let (world, line, org) = start().await;
    line.freeze(true);
    let ready = Request::get("/readyz");
    let asked = world.node.send(&ready);
    let answer = wait::within("an honest answer", Duration::from_secs(4), asked).await;
    is_unavailable(answer);
    let (health, time) = wait::timed(world.node.send(&Request::get("/healthz"))).await;
    health.expect(200);
    assert!(time < Duration::from_secs(1), "{time:?}");
    let get = Request::get("/v2.5/organisation").key(&org.key);
    let (answer, ()) = tokio::join!(world.node.send(&get), async {
        Rt::real().sleep(Duration::from_millis(500)).await;
        line.freeze(false);
    });
    assert!([200, 503].contains(&answer.status), "{answer}");
    wait::until("everything works again", Duration::from_secs(10), async || {
        all_work(&world, &org).await.then_some(())
    })
    .await;
    world.node.send(&Request::get("/readyz")).await.expect(200);
}

/// A node that is told to stop while the database is away does stop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_its_database_stops_in_good_order() {
    let (mut world, line, org) = start().await;
    line.away(true);
    is_unavailable(world.get("/v2.5/organisation", &org.key).await);
    world.node.signal("TERM");
    let status = world.node.ended(Duration::from_secs(10)).await;
    assert_eq!(status.code(), Some(0));
    let ran = Ran::new(&mut world.home.tern(&["serve", "--listen", "127.0.0.1:0"]));
    ran.failed(1, "database unavailable");
    line.away(false);
    world.node = Node::serve(&world.home, &[]).await;
    world.get("/v2.5/organisation", &org.key).await.expect(200);
}

/// The other ways to a server: a socket in the file system, and TLS.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_reaches_its_database_by_socket_and_by_tls() {
    for variable in ["TERN_TEST_POSTGRES_SOCKET", "TERN_TEST_POSTGRES_TLS"] {
        let world = World::start(Home::on_server(&server(variable)).await).await;
        let org = world.add_sandbox("Way").await;
        world.get("/v2.5/organisation", &org.key).await.expect(200);
        assert_eq!(world.home.tern_json(&["org", "show", &org.id])["name"], json!("Way"));
        let doctor = world.home.tern_json(&["doctor"]);
        assert_eq!(doctor["ok"], json!(true), "{doctor}");
    }
}
