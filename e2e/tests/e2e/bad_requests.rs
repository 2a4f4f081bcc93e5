//! Requests that are odd before anybody reads their body: sizes, headers, addresses, methods.

use serde_json::json;

use crate::harness::http::Line;
use crate::harness::{Home, Org, Request, World};

crate::on_both! {
    a_body_may_have_a_million_bytes_and_no_more,
    a_large_body_does_not_hide_a_refusal,
    the_route_and_the_key_are_looked_at_before_the_body,
    an_unreadable_query_is_no_better_reason_than_a_missing_key,
    a_flood_of_headers_is_refused,
    a_long_address_is_refused,
    an_address_that_cannot_be_decoded_is_refused,
    an_odd_method_is_refused,
    what_is_no_http_is_refused_and_the_node_lives_on,
    a_body_is_read_whatever_it_says_it_is,
}

const MILLION: usize = 1_000_000;

/// A good body of exactly so many bytes.
fn padded(body: &str, size: usize) -> String {
    format!("{body}{}", " ".repeat(size - body.len()))
}

async fn start(home: Home) -> (World, Org) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Odd").await;
    (world, org)
}

async fn a_body_may_have_a_million_bytes_and_no_more(home: Home) {
    let (world, org) = start(home).await;
    let advance = || Request::post("/sandbox/v1/clock/advance").key(&org.key);
    let change = || world.operator("PATCH", &format!("/organisations/{}", org.id));
    let body = r#"{"seconds":0,"city":"Here"}"#;
    for reader in [advance(), change()] {
        let fits = padded(body, MILLION);
        world.node.send(&reader.clone().body(fits.clone())).await.expect(200);
        world.node.send(&reader.chunked(fits)).await.expect(200);
    }
    let before = world.home.dump().await;
    let body = r#"{"seconds":1000,"city":"Gone"}"#;
    for (reader, sizes) in [
        (advance(), vec![MILLION + 1, 3 * MILLION, 20 * MILLION]),
        (change(), vec![MILLION + 1]),
        (world.operator("POST", "/organisations"), vec![MILLION + 1]),
    ] {
        for size in sizes {
            let large = padded(body, size);
            for request in [reader.clone().body(large.clone()), reader.clone().chunked(large)] {
                let refusal = world.node.send(&request).await;
                let text = refusal.refused(413, "body-too-large");
                assert_eq!(text, "request body too large", "{size}");
            }
        }
    }
    assert_eq!(world.home.dump().await, before);
}

/// A client that asks first hears that its body is too large, whether it sends it or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_body_that_is_announced_politely_is_refused() {
    let (world, org) = start(Home::sqlite()).await;
    let polite = Request::post("/sandbox/v1/hold").key(&org.key).header("Expect", "100-continue");
    let silent = polite.clone().header("Content-Length", "1000001");
    world.node.send(&silent).await.refused(413, "body-too-large");
    let large = polite.clone().body(padded("{}", MILLION + 1));
    world.node.send(&large).await.refused(413, "body-too-large");
    world.node.send(&polite.body("{\"on\":true}")).await.expect(200);
}

/// The answer must arrive although nobody reads what follows the headers.
async fn a_large_body_does_not_hide_a_refusal(home: Home) {
    let (world, org) = start(home).await;
    let large = padded("{}", 900_000);
    for (request, status, code) in [
        (Request::post("/sandbox/v1/hold"), 403, "bad-key"),
        (Request::post("/operator/v1/organisations"), 401, "bad-operator-key"),
        (Request::post("/nothing"), 404, "unknown-route"),
        (Request::post("/v2.5/organisation").key(&org.key), 405, "method-not-allowed"),
        (Request::post("/sandbox/v1/hold").key(&org.key), 400, "missing-parameter"),
    ] {
        world.node.send(&request.clone().body(large.clone())).await.refused(status, code);
        world.node.send(&request.chunked(large.clone())).await.refused(status, code);
    }
    let settle = Request::post("/sandbox/v1/settle").key(&org.key);
    world.node.send(&settle.body(large)).await.expect(200);
}

/// The contract's order of checks: route, method, key, then the size of the body.
async fn the_route_and_the_key_are_looked_at_before_the_body(home: Home) {
    let (world, _) = start(home).await;
    let large = padded("{}", MILLION + 1);
    for (request, status, code) in [
        (Request::post("/nothing"), 404, "unknown-route"),
        (Request::post("/v2.5/organisation"), 405, "method-not-allowed"),
        (Request::post("/sandbox/v1/hold"), 403, "bad-key"),
        (Request::post("/operator/v1/organisations"), 401, "bad-operator-key"),
    ] {
        world.node.send(&request.clone().chunked(large.clone())).await.refused(status, code);
        world.node.send(&request.body(large.clone())).await.refused(status, code);
    }
    for body in ["{", "[]", "{\"on\":5}"] {
        world
            .node
            .send(&Request::post("/sandbox/v1/hold").body(body))
            .await
            .refused(403, "bad-key");
        let add = Request::post("/operator/v1/organisations").body(body);
        world.node.send(&add).await.refused(401, "bad-operator-key");
    }
}

async fn an_unreadable_query_is_no_better_reason_than_a_missing_key(home: Home) {
    let (world, _) = start(home).await;
    for query in ["api_key=%ff", "x=%ff", "limit=x"] {
        let target = format!("/v2.5/organisation?{query}");
        world.node.send(&Request::get(&target)).await.refused(403, "bad-key");
        let target = format!("/operator/v1/organisations?{query}");
        world.node.send(&Request::get(&target)).await.refused(401, "bad-operator-key");
    }
}

async fn a_flood_of_headers_is_refused(home: Home) {
    let (world, org) = start(home).await;
    let flooded = |count: usize| {
        let request = Request::get("/v2.5/organisation").key(&org.key);
        (0..count).fold(request, |request, n| request.header(&format!("X-Flood-{n}"), "1"))
    };
    // Host and the key make a hundred.
    world.node.send(&flooded(98)).await.expect(200);
    for count in [99, 110, 120] {
        let text = world.node.send(&flooded(count)).await.refused(400, "headers-too-large");
        assert_eq!(text, "too many or too large headers");
    }
    let long = |bytes: usize| {
        Request::get("/v2.5/organisation").key(&org.key).header("X-Long", "x".repeat(bytes))
    };
    world.node.send(&long(15_000)).await.expect(200);
    for bytes in [17_000, 20_000, 50_000] {
        world.node.send(&long(bytes)).await.refused(400, "headers-too-large");
    }
    // Beyond that the HTTP library itself refuses: room for more would cost every request.
    for request in [flooded(200), flooded(5_000), long(1_000_000)] {
        let status = world.node.try_send(&request).await.map(|answer| answer.status);
        assert!(matches!(status, Ok(400 | 431) | Err(_)), "{status:?}");
    }
    world.node.send(&flooded(0)).await.expect(200);
}

async fn a_long_address_is_refused(home: Home) {
    let (world, org) = start(home).await;
    let long = |bytes: usize| "x".repeat(bytes);
    let asked = |target: &str| Request::get(target).key(&org.key);
    world.node.send(&asked(&format!("/v2.5/organisation?x={}", long(8_000)))).await.expect(200);
    for target in [
        format!("/v2.5/organisation?x={}", long(9_000)),
        format!("/v2.5/{}", long(9_000)),
        format!("/{}", long(30_000)),
        format!("/v2.5/organisation{}", "/".repeat(9_000)),
    ] {
        let text = world.node.send(&asked(&target)).await.refused(400, "uri-too-long");
        assert_eq!(text, "path or query too long");
    }
    world.node.send(&asked(&format!("/v2.5/{}", "a/".repeat(3_000)))).await.expect(404);
    let status = world.node.try_send(&asked(&format!("/{}", long(200_000)))).await;
    let status = status.map(|answer| answer.status);
    assert!(matches!(status, Ok(400 | 414 | 431) | Err(_)), "{status:?}");
    world.node.send(&asked("/v2.5/")).await.expect(200);
}

async fn an_address_that_cannot_be_decoded_is_refused(home: Home) {
    let (world, org) = start(home).await;
    for path in
        ["/v2.5/%zz", "/v2.5/%ff", "/v2.5/%", "/v2.5/%00", "/%2e%2e/v2.5", "/v2.5/..", "/a%2"]
    {
        let request = Request::get(path).key(&org.key);
        world.node.send(&request).await.refused(404, "unknown-route");
    }
    for query in ["limit=%ff", "after=%c3%28", "%ff=1", "limit=%ed%a0%80"] {
        let request = world.operator("GET", &format!("/organisations?{query}"));
        world.node.send(&request).await.refused(400, "invalid-parameter");
    }
    // Unknown and unreadable is still unknown.
    for id in ["%ff", "%", "%zz", "%00"] {
        let request = world.operator("GET", &format!("/organisations/{id}"));
        world.node.send(&request).await.refused(404, "unknown-organisation");
    }
}

async fn an_odd_method_is_refused(home: Home) {
    let (world, org) = start(home).await;
    for method in ["TRACE", "FOO", "PROPFIND", "get", "Post", "M-SEARCH", &"X".repeat(300)] {
        for (path, known) in [("/v2.5/organisation", true), ("/nothing", false)] {
            let answer = world.node.send(&Request::new(method, path).key(&org.key)).await;
            if known {
                answer.refused(405, "method-not-allowed");
            } else {
                answer.refused(404, "unknown-route");
            }
        }
    }
    let connect = Request::new("CONNECT", "example.com:443");
    let answer = world.node.try_send(&connect).await.expect("an answer");
    assert!((400..500).contains(&answer.status), "{answer}");
}

async fn what_is_no_http_is_refused_and_the_node_lives_on(home: Home) {
    let (world, org) = start(home).await;
    let good = Request::get("/v2.5/").key(&org.key);
    for bytes in [
        &b"\r\n\r\n"[..],
        b"nonsense\r\n\r\n",
        b"GET /v2.5/\r\n\r\n",
        b"GET /v2.5/ HTTP/9.9\r\n\r\n",
        b"GET /v2.5/ HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /v2.5/ HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
        b"GET /v2 .5/ HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"POST /sandbox/v1/hold HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST /sandbox/v1/hold HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /sandbox/v1/hold HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /sandbox/v1/hold HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST /sandbox/v1/hold HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ] {
        let mut line = Line::to(world.node.address).await;
        line.write(bytes).await;
        line.finish().await;
        let said = line.read_to_end().await;
        let said = String::from_utf8_lossy(&said);
        assert!(!said.starts_with("HTTP/1.1 2"), "{bytes:?}: {said}");
        assert!(!said.starts_with("HTTP/1.1 5"), "{bytes:?}: {said}");
    }
    // A broken chunk belongs to a request that is known: it gets a proper refusal.
    let head = format!(
        "POST /sandbox/v1/hold HTTP/1.1\r\nHost: a\r\nX-API-Key: {}\r\n\
         Transfer-Encoding: chunked\r\n\r\nzz\r\n{{}}",
        org.key
    );
    let mut line = Line::to(world.node.address).await;
    line.write(head.as_bytes()).await;
    let answer = line.read(false).await.expect("an answer");
    world.node.judge("POST", "/sandbox/v1/hold", &answer);
    answer.refused(400, "malformed-body");
    // So does a body that breaks off, and one connection carries several requests.
    let mut line = Line::to(world.node.address).await;
    let head =
        head.replace("Transfer-Encoding: chunked\r\n\r\nzz\r\n{}", "Content-Length: 50\r\n\r\n{");
    line.write(head.as_bytes()).await;
    line.finish().await;
    let said = String::from_utf8_lossy(&line.read_to_end().await).into_owned();
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 400"), "{said}");
    let mut line = Line::to(world.node.address).await;
    for _ in 0..3 {
        line.write(&good.bytes()).await;
        world.node.judge("GET", "/v2.5/", &line.read(false).await.expect("an answer").expect(200));
    }
}

async fn a_body_is_read_whatever_it_says_it_is(home: Home) {
    let (world, org) = start(home).await;
    let hold = || Request::post("/sandbox/v1/hold").key(&org.key);
    let body = r#"{"ON":true,"unknown":[1,{"x":null}],"other":1.5}"#;
    for kind in [
        "application/json",
        "application/json; charset=utf-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain",
        "application/xml",
        "nonsense",
        "",
    ] {
        let request = hold().header("Content-Type", kind);
        let by_length = world.node.send(&request.clone().body(body)).await.json_of(200);
        let in_chunks = world.node.send(&request.chunked(body)).await.json_of(200);
        assert_eq!([by_length, in_chunks], [json!({"on": true}), json!({"on": true})], "{kind}");
    }
    assert_eq!(world.node.send(&hold().body(body)).await.json_of(200), json!({"on": true}));
    assert_eq!(world.node.send(&hold().chunked(body)).await.json_of(200), json!({"on": true}));
    // Nothing with a form's content type is nothing.
    for body in ["", "  "] {
        let form = |request: Request| {
            request.header("Content-Type", "application/x-www-form-urlencoded").body(body)
        };
        world.node.send(&form(Request::post("/sandbox/v1/settle").key(&org.key))).await.expect(200);
        let keys = world.operator("POST", &format!("/organisations/{}/keys", org.id));
        let made = world.node.send(&form(keys)).await.json_of(201);
        world.is_secret(made["apiKey"].as_str().expect("a key"));
    }
    // Names in any case, null as absent, unknown fields ignored; values keep their case.
    let odd = json!({
        "NAME": "Tolerant", "CurrencY": "EUR", "SANDBOX": true, "taxliable": "Yes",
        "callbackurl": null, "GROUPS": ["Std"], "ratelimit": null, "surprise": {"a": [1, 2]},
    });
    let made = world.add(&odd).await;
    let shown = world.show(&format!("/organisations/{}", made.id)).await;
    for (name, value) in [
        ("name", json!("Tolerant")),
        ("currency", json!("EUR")),
        ("sandbox", json!(true)),
        ("taxLiable", json!("Yes")),
        ("callbackUrl", json!("")),
        ("groups", json!(["Std"])),
        ("rateLimit", json!(null)),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    let wrong = json!({"callbackVersion": "v3"});
    let path = format!("/organisations/{}", made.id);
    world.order("PATCH", &path, &wrong).await.refused(400, "invalid-field");
}
