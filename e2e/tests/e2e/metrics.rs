//! What monitoring reads: open where only monitoring can reach it, and never a name or an id.

use serde_json::json;

use crate::harness::http::exchange;
use crate::harness::{Answer, Home, Request, World, binary};

crate::on_both! {
    metrics_are_the_operators_or_on_a_listener_of_their_own,
    metrics_name_routes_and_never_what_was_in_them,
}

/// Asks the monitoring listener, and checks the answer like any other.
async fn ask(world: &World, address: &str, request: &Request) -> Answer {
    let address = address.parse().expect("an address");
    let answer = exchange(address, &request.bytes(), request.is_head()).await.expect("an answer");
    world.node.judge(&request.method, &request.target, &answer);
    answer
}

async fn metrics_are_the_operators_or_on_a_listener_of_their_own(home: Home) {
    let address = binary::free_address();
    let world = World::with(home, &[("TERN_METRICS_LISTEN", &address)]).await;
    let org = world.add_sandbox("Curious").await;
    let get = Request::get("/metrics");
    for wrong in [get.clone(), get.clone().key(&org.key), get.clone().bearer(&org.key)] {
        let text = world.node.send(&wrong).await.refused(401, "bad-operator-key");
        assert_eq!(text, "access denied");
    }
    let by_key = world.node.send(&get.clone().bearer(&world.operator_key)).await.expect(200);
    let open = ask(&world, &address, &get).await.expect(200);
    for page in [&by_key, &open] {
        let kind = page.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
        assert!(page.text().contains("# TYPE tern_http_requests_total counter"), "{page}");
    }
    for path in ["/healthz", "/readyz"] {
        ask(&world, &address, &Request::get(path)).await.expect(200);
    }
    // Nothing else is to be had there.
    for path in ["/v2.5/", "/v2.5/organisation", "/docs", "/operator/v1/organisations", "/"] {
        let request = Request::get(path).key(&org.key).bearer(&world.operator_key);
        let answer = exchange(address.parse().expect("an address"), &request.bytes(), false).await;
        answer.expect("an answer").refused(404, "unknown-route");
    }
}

/// The number at the end of the line that begins so.
fn count(page: &str, labels: &str) -> Option<f64> {
    let line = page.lines().find(|line| line.starts_with(&format!("{labels} ")))?;
    line.rsplit(' ').next()?.parse().ok()
}

async fn metrics_name_routes_and_never_what_was_in_them(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Counted").await;
    let key = world.add_key(&org, &json!({})).await;
    for _ in 0..3 {
        world.get("/v2.1/organisation", &org.key).await.expect(200);
    }
    world.get("/v2/organisation", "wrong").await.expect(403);
    world.show(&format!("/organisations/{}", org.id)).await;
    world.revoke(&org, &key).await.expect(200);
    for n in 0..50 {
        // Strangers choose paths and methods; none may become a label.
        world.node.send(&Request::get(&format!("/stranger-{n}"))).await.expect(404);
        world.node.send(&Request::get(&format!("/docs/stranger-{n}"))).await.expect(404);
        let method = format!("STRANGER{n}");
        world.node.send(&Request::new(&method, "/v2.5/")).await.expect(405);
    }
    let request = Request::get("/metrics").bearer(&world.operator_key);
    let page = world.node.send(&request).await.expect(200).text();
    let line = |version: &str, route: &str, method: &str, status: u16| {
        format!(
            "tern_http_requests_total{{method=\"{method}\",route=\"{route}\",\
             status=\"{status}\",version=\"{version}\"}}"
        )
    };
    for (labels, wanted) in [
        (line("v2.1", "/v2.1/organisation", "GET", 200), 3.0),
        (line("v2", "/v2/organisation", "GET", 403), 1.0),
        (line("operator", "/operator/v1/organisations", "POST", 201), 1.0),
        (line("operator", "/operator/v1/organisations/{id}", "GET", 200), 1.0),
        (line("operator", "/operator/v1/organisations/{id}/keys/{keyId}", "DELETE", 200), 1.0),
        (line("", "-", "GET", 404), 50.0),
        (line("v2.5", "/v2.5", "other", 405), 50.0),
    ] {
        assert_eq!(count(&page, &labels), Some(wanted), "{labels}\n{page}");
    }
    assert!(page.contains("tern_http_request_seconds_bucket"), "{page}");
    assert!(page.contains("tern_store_reads_total"), "{page}");
    let lower = page.to_lowercase();
    for name in [&*org.id, &*key.id, "stranger", "counted", &*org.key.to_lowercase()] {
        assert!(!lower.contains(name), "{name} stands in the metrics\n{page}");
    }
    assert!(page.lines().count() < 400, "strangers make no new lines: {}", page.lines().count());
}
