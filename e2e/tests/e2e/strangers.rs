//! The whole route table, seen by those who may not: no operation tells them apart from one
//! another, tells them anything, or does anything for them.

use api::versions::Version;
use api::{Operation, Surface};
use serde_json::json;

use crate::harness::{Answer, Home, Key, Org, Request, World};
use crate::{desk, shop};

crate::on_both! {
    a_stranger_gets_the_same_refusal_from_every_operation,
    an_unknown_organisation_is_unknown_to_every_operation,
    a_foreign_key_and_one_that_never_was_look_alike,
    only_the_open_routes_answer_without_a_key,
    everything_the_reference_links_to_is_on_the_list,
    an_open_route_refuses_another_method_like_any_other,
}

/// Ids that an operation may be asked about.
struct Ids<'i> {
    org: &'i str,
    key: &'i str,
    esim: &'i str,
}

fn target(prefix: &str, operation: &Operation, ids: &Ids<'_>) -> String {
    let path = operation.path.replace("{id}", ids.org).replace("{keyId}", ids.key);
    let path = path.replace("{key}", ids.key).replace("{orderReference}", ids.key);
    let path = path.replace("{iccid}", ids.esim).replace("{reference}", ids.key);
    let path = path.replace("{bundle}", shop::PT.name).replace("{offerId}", "1");
    let path = path.replace("{assignmentId}", "1");
    format!("{prefix}{}", path.replace("{name}", shop::PT.name))
}

struct Keys {
    org: Org,
    key: Key,
    revoked: String,
    revoked_operator: String,
}

async fn keys(world: &World) -> Keys {
    let org = shop::reseller(world, shop::PLENTY).await;
    let key = world.add_key(&org, &json!({})).await;
    let lost = world.add_key(&org, &json!({})).await;
    world.revoke(&org, &lost).await.expect(200);
    let operator = world.home.tern_json(&["key", "operator"]);
    let text = |name: &str| operator[name].as_str().expect("a text").to_owned();
    world.home.tern_json(&["key", "revoke", &text("id")]);
    Keys { org, key, revoked: lost.text, revoked_operator: text("operatorKey") }
}

/// Every way to come without a reseller's good key.
fn without_key(request: &Request, world: &World, keys: &Keys) -> Vec<Request> {
    let asked = |query: &str| {
        let mut request = request.clone();
        request.target = format!("{}?{query}", request.target);
        request
    };
    let mut all = vec![
        request.clone(),
        request.clone().key(""),
        request.clone().key("   "),
        request.clone().key("tern_test_garbage"),
        request.clone().key(&"x".repeat(5_000)),
        request.clone().header("X-API-Key", b"\xff\xfe"),
        request.clone().key(&keys.revoked),
        request.clone().key(&world.operator_key),
        request.clone().bearer(&world.operator_key),
        request.clone().bearer(&keys.org.key),
        request.clone().header("Cookie", format!("api_key={}", keys.org.key)),
        // A wrong header is not saved by a good query.
        asked(&format!("api_key={}", keys.org.key)).key("wrong"),
        asked(&format!("api_key={}", keys.org.key)).key(""),
        asked("api_key="),
        asked("api_key=garbage"),
        asked(&format!("api_key={}", keys.revoked)),
        asked(&format!("api_key={}", world.operator_key)),
        asked(&format!("API_KEY={}", keys.org.key)),
        asked(&format!("api_key=garbage&api_key={}", keys.org.key)),
    ];
    if request.method != "GET" {
        all.push(asked(&format!("api_key={}", keys.org.key)));
    }
    all
}

/// Every way to come without an operator's good key.
fn without_bearer(request: &Request, world: &World, keys: &Keys) -> Vec<Request> {
    let with = |value: String| request.clone().header("Authorization", value);
    let mut asked = request.clone();
    asked.target = format!("{}?api_key={}", request.target, world.operator_key);
    vec![
        request.clone(),
        with(String::new()),
        with("Bearer".into()),
        with("Bearer ".into()),
        with("Bearer garbage".into()),
        with(format!("Bearer {}", keys.org.key)),
        with(format!("Bearer {}", keys.revoked_operator)),
        with(format!("Basic {}", world.operator_key)),
        with(world.operator_key.clone()),
        request.clone().header("Authorization", b"Bearer \xff"),
        request.clone().key(&world.operator_key),
        request.clone().key(&keys.org.key),
        asked,
    ]
}

/// One way in so many is tried on an operation of an old version.
const OLD_STEP: usize = 7;

async fn a_stranger_gets_the_same_refusal_from_every_operation(home: Home) {
    let world = shop::open(home, 1).await;
    let keys = keys(&world).await;
    let esim = desk::esim(&world, &keys.org).await;
    let done = world.node.seen();
    let before = world.home.dump().await;
    let unknown = "01890000-0000-7000-8000-000000000000";
    let mut turn = 0;
    for surface in Surface::all() {
        let mut refusals: Vec<Answer> = Vec::new();
        for &prefix in surface.prefixes() {
            for operation in api::operations(surface) {
                let known = Ids { org: &keys.org.id, key: &keys.key.id, esim: &esim };
                let unknown = Ids { org: unknown, key: unknown, esim: "8943001999999999993" };
                let has_ids = operation.path.contains('{');
                for ids in [known, unknown].into_iter().take(1 + usize::from(has_ids)) {
                    let target = target(prefix, &operation, &ids);
                    let body = json!({
                        "seconds": 5, "on": true, "name": "Never", "currency": "USD",
                        "suspend": true, "reason": "no", "message": "no", "iccid": esim,
                        "customerRef": "no", "bytes": 5, "country": "PT", "msisdn": null,
                    });
                    let request = Request::new(&operation.method, &target).json(&body);
                    let ways = match surface {
                        Surface::Operator => without_bearer(&request, &world, &keys),
                        _ => without_key(&request, &world, &keys),
                    };
                    // All of them in the newest version; in the older ones some, in turn.
                    let is_old =
                        matches!(surface, Surface::Interface(old) if old != Version::NEWEST);
                    let step = if is_old { OLD_STEP } else { 1 };
                    turn += 1;
                    for way in ways.into_iter().skip(turn % step).step_by(step) {
                        let mut refusal = world.node.send(&way).await;
                        // What is deprecated says so to everybody; the judge looks after that.
                        refusal.headers.retain(|(name, _)| name != "deprecation");
                        refusals.push(refusal);
                    }
                }
            }
        }
        let (status, code) = match surface {
            Surface::Operator => (401, "bad-operator-key"),
            _ => (403, "bad-key"),
        };
        let first = refusals[0].fingerprint();
        for refusal in refusals {
            assert_eq!(refusal.fingerprint(), first, "{}", surface.name());
            assert_eq!(refusal.refused(status, code), "access denied");
        }
    }
    assert_eq!(world.home.dump().await, before, "a stranger changes nothing");
    assert_eq!(world.node.seen(), done, "only what the test itself did succeeded");
}

async fn an_unknown_organisation_is_unknown_to_every_operation(home: Home) {
    let world = shop::open(home, 1).await;
    let org = world.add_sandbox("Known").await;
    let key = world.add_key(&org, &json!({})).await;
    let before = world.home.dump().await;
    let nobody = [
        "01890000-0000-7000-8000-000000000000",
        "00000000-0000-0000-0000-000000000000",
        &org.id[..35],
        &key.id,
        "x",
        "%20",
        "%ff",
        "..%2f..",
        "'%20OR%201=1--",
    ];
    let body = json!({
        "name": "X", "firstName": "A", "lastName": "B", "role": "Viewer",
        "emailAddress": "a@b.example", "amount": 5, "reason": "why",
        "expiresAt": "2100-01-01T00:00:00Z", "bundle": shop::PT.name, "quantity": 5,
    });
    for operation in api::operations(Surface::Operator) {
        if !operation.path.contains("/organisations/{id}") {
            continue;
        }
        let mut prints = std::collections::HashSet::new();
        for id in nobody {
            let ids = Ids { org: id, key: &key.id, esim: "8943001999999999993" };
            let target = target("/operator/v1", &operation, &ids);
            let request = Request::new(&operation.method, &target);
            let refusal = world.node.send(&request.bearer(&world.operator_key).json(&body)).await;
            prints.insert(refusal.fingerprint());
            let text = refusal.refused(404, "unknown-organisation");
            assert_eq!(text, "organisation not found", "{operation:?} {id}");
        }
        assert_eq!(prints.len(), 1, "{operation:?}: {prints:?}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_foreign_key_and_one_that_never_was_look_alike(home: Home) {
    let world = World::start(home).await;
    let (mine, other) = (world.add_sandbox("Mine").await, world.add_sandbox("Other").await);
    let (own, foreign) =
        (world.add_key(&mine, &json!({})).await, world.add_key(&other, &json!({})).await);
    world.revoke(&mine, &own).await.expect(200);
    let before = world.home.dump().await;
    let mut prints = std::collections::HashSet::new();
    for key in [foreign.id.as_str(), &own.id, "01890000-0000-7000-8000-000000000000", "x", "%20"] {
        let path = format!("/organisations/{}/keys/{key}", mine.id);
        let refusal = world.node.send(&world.operator("DELETE", &path)).await;
        prints.insert(refusal.fingerprint());
        assert_eq!(refusal.refused(404, "unknown-key"), "key not found");
    }
    assert_eq!(prints.len(), 1, "{prints:?}");
    world.get("/v2.5/", &foreign.text).await.expect(200);
    assert_eq!(world.home.dump().await, before);
}

/// Everything that is open to all, and nothing else may be. A new open route is added here.
const OPEN: [&str; 26] = [
    "/healthz",
    "/readyz",
    "/docs",
    "/docs/changelog",
    "/docs/style.css",
    "/docs/docs.js",
    "/docs/mark.svg",
    "/docs/v2.0",
    "/docs/v2.1",
    "/docs/v2.2",
    "/docs/v2.3",
    "/docs/v2.4",
    "/docs/v2.5",
    "/docs/operator",
    "/docs/reseller",
    "/docs/sandbox",
    "/receipts/style.css",
    "/openapi/v2.0.json",
    "/openapi/v2.1.json",
    "/openapi/v2.2.json",
    "/openapi/v2.3.json",
    "/openapi/v2.4.json",
    "/openapi/v2.5.json",
    "/openapi/operator.json",
    "/openapi/reseller.json",
    "/openapi/sandbox.json",
];

async fn only_the_open_routes_answer_without_a_key(home: Home) {
    let world = World::start(home).await;
    let secrets = [world.operator_key.clone(), world.console_password.clone()];
    for path in OPEN {
        for target in [path.to_owned(), format!("{path}/"), format!("{path}?x=1")] {
            let answer = world.node.send(&Request::get(&target)).await.expect(200);
            let text = answer.text();
            assert!(!text.is_empty(), "{target}");
            assert!(!secrets.iter().any(|secret| text.contains(secret)), "{target}");
            let head = world.node.send(&Request::new("HEAD", &target)).await.expect(200);
            assert_eq!(head.header("content-length"), answer.header("content-length"), "{target}");
        }
    }
    // What is not there is not there for anybody.
    for path in ["/", "/openapi", "/openapi/v2.6.json", "/openapi/..%2fv2.5.json", "/favicon.ico"] {
        world.node.send(&Request::get(path)).await.refused(404, "unknown-route");
    }
    for path in ["/docs/nothing", "/receipts", "/receipts/x", "/receipts/x/y", "/receipts/x/y/z"] {
        let page = world.node.send(&Request::get(path)).await.expect(404);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
    }
    // The metrics of a service are the operator's.
    world.node.send(&Request::get("/metrics")).await.refused(401, "bad-operator-key");
}

/// Whatever is linked from the reference is open and there, so nothing hides beside the list.
async fn everything_the_reference_links_to_is_on_the_list(home: Home) {
    let world = World::start(home).await;
    let page = world.node.send(&Request::get("/docs")).await.expect(200).text();
    let links = page.split(['"', '\'']).filter(|part| part.starts_with('/'));
    let links: std::collections::BTreeSet<_> =
        links.map(|link| link.split('#').next().unwrap_or(link)).collect();
    assert!(links.contains("/docs/v2.0"), "{links:?}");
    for link in links {
        assert!(OPEN.contains(&link), "{link} is linked and not on the list");
    }
}

async fn an_open_route_refuses_another_method_like_any_other(home: Home) {
    let world = World::start(home).await;
    for path in OPEN {
        let answer = world.node.send(&Request::post(path)).await;
        assert_eq!(answer.header("allow"), Some("GET,HEAD"), "{path}");
        assert_eq!(answer.refused(405, "method-not-allowed"), "method not allowed", "{path}");
    }
}
