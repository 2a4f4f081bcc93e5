//! Bodies that cannot be read or do not fit: a clear 400, and nothing has changed.

use serde_json::{Value, json};

use crate::harness::{Home, Org, Request, World};

crate::on_both! {
    a_body_that_is_no_json_object_is_refused,
    a_body_that_nests_too_deep_is_refused,
    a_value_of_the_wrong_type_is_refused,
    a_number_that_is_not_whole_is_refused,
    a_missing_field_is_named,
    text_that_one_of_the_databases_cannot_hold_is_refused,
    any_other_text_comes_back_as_it_was_sent,
    neither_bodies_nor_queries_reach_the_log,
}

/// What stands in bodies and queries, and so must not stand in a log.
const MARKER: &str = "marker-7f3a";

async fn start(home: Home) -> (World, Org) {
    let world = World::with(home, &[("TERN_LOG_LEVEL", "debug")]).await;
    let org = world.add_sandbox("Bad").await;
    (world, org)
}

/// Three operations that read a body, with the keys they need.
fn readers(world: &World, org: &Org) -> [Request; 3] {
    [
        world.operator("POST", "/organisations"),
        world.operator("PATCH", &format!("/organisations/{}", org.id)),
        Request::post("/sandbox/v1/clock/advance").key(&org.key),
    ]
}

/// Sends each body to each reader, by length and in chunks, and sees that nothing changes.
async fn all_are_malformed(world: &World, org: &Org, bodies: &[Vec<u8>]) {
    let before = world.home.dump().await;
    for body in bodies {
        for reader in readers(world, org) {
            for request in [reader.clone().body(body.clone()), reader.chunked(body.clone())] {
                let refusal = world.node.send(&request).await;
                let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
                assert_eq!(refusal.status, 400, "{shown}: {refusal}");
                let text = refusal.refused(400, "malformed-body");
                assert_eq!(text, "failed to parse request body", "{shown}");
            }
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_body_that_is_no_json_object_is_refused(home: Home) {
    let (world, org) = start(home).await;
    let good = format!(r#"{{"name":"{MARKER}","currency":"USD","seconds":5}}"#);
    let mut bodies: Vec<Vec<u8>> = [
        "{",
        "}",
        "[]",
        "null",
        "true",
        "7",
        "\"text\"",
        "[{}]",
        "nonsense",
        "name=a&currency=USD",
        "<org/>",
        "{} {}",
        "{},",
        "{\"name\":\"a\",}",
        "{\"name\" \"a\"}",
        "{'name':'a'}",
        "{name:1}",
        "{\"seconds\":05}",
        "{\"seconds\":+5}",
        "{\"seconds\":0x10}",
        "{\"seconds\":NaN}",
        "{\"seconds\":1e400}",
        "{\"name\":\"a\nb\"}",
        "{\"name\":\"\\ud800\"}",
        "{\"name\":\"\\q\"}",
        "{\"name\":\"a\"} // comment",
        "{\"name\":\"a\",\"name\":\"b\"}",
        "{\"name\":\"a\",\"Name\":\"b\"}",
        "{\"seconds\":5,\"SECONDS\":5}",
        "{\"unknown\":{\"a\":1,\"A\":2}}",
        "{\"unknown\":[{\"a\":1,\"a\":1}]}",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    // Every beginning of a good body, and bytes that are no text.
    bodies.extend((1..good.len()).step_by(7).map(|length| good.as_bytes()[..length].to_vec()));
    bodies.push(b"{\"name\":\"\xff\"}".to_vec());
    bodies.push(b"{\"name\":\"\xc3\"}".to_vec());
    bodies.push(b"{\"name\":\"\xed\xa0\x80\"}".to_vec());
    bodies.push(b"\xef\xbb\xbf{\"name\":\"a\"}".to_vec());
    bodies.push(b"\xff\xfe{\0\"\0".to_vec());
    bodies.push(vec![0; 64]);
    all_are_malformed(&world, &org, &bodies).await;
    assert!(!world.node.log().contains(MARKER));
}

async fn a_body_that_nests_too_deep_is_refused(home: Home) {
    let (world, org) = start(home).await;
    let maps = |n: usize| format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n)).into_bytes();
    let lists =
        |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n - 1), "]".repeat(n - 1)).into_bytes();
    let endless = |text: &str| format!("{{\"a\":{}", text.repeat(100_000)).into_bytes();
    let bodies = [
        maps(33),
        lists(33),
        maps(100_000),
        lists(100_000),
        endless("["),
        endless("{\"a\":"),
        "[".repeat(1_000_000).into_bytes(),
    ];
    all_are_malformed(&world, &org, &bodies).await;
    // The deepest that is read; what is not known is ignored.
    for body in [maps(32), lists(32)] {
        let [_, change, _] = readers(&world, &org);
        world.node.send(&change.body(body)).await.expect(200);
    }
}

/// Values of every kind but the good one.
fn odd(good: fn(&Value) -> bool) -> impl Iterator<Item = Value> {
    let all = [
        json!("text"),
        json!(""),
        json!(5),
        json!(-1),
        json!(1.5),
        json!(1000.0),
        json!(true),
        json!([]),
        json!(["x"]),
        json!([1]),
        json!([null]),
        json!([["x"]]),
        json!({}),
        json!({"a": 1}),
    ];
    all.into_iter().filter(move |value| !good(value))
}

const TEXTS: [&str; 14] = [
    "name",
    "taxLiable",
    "addr1",
    "addr2",
    "city",
    "country",
    "postcode",
    "notes",
    "businessType",
    "website",
    "productDescription",
    "callbackUrl",
    "callbackVersion",
    "usageEvents",
];

async fn a_value_of_the_wrong_type_is_refused(home: Home) {
    let (world, org) = start(home).await;
    let mut fields: Vec<(&str, Value)> = Vec::new();
    for name in TEXTS {
        fields.extend(odd(Value::is_string).map(|value| (name, value)));
    }
    for name in ["groups", "senders", "ipAllowList"] {
        let fits = |value: &Value| *value == json!([]) || *value == json!(["x"]);
        fields.extend(odd(fits).map(|value| (name, value)));
    }
    fields.extend(odd(Value::is_i64).map(|value| ("rateLimit", value)));
    let before = world.home.dump().await;
    let [add, change, _] = readers(&world, &org);
    for (name, value) in fields {
        let body = json!({ (name.to_uppercase()): value });
        world.node.send(&change.clone().json(&body)).await.refused(400, "malformed-body");
        let body = json!({"currency": "USD", (name): value});
        world.node.send(&add.clone().json(&body)).await.refused(400, "malformed-body");
    }
    for value in odd(Value::is_string) {
        let body = json!({"name": "A", "currency": value});
        world.node.send(&add.clone().json(&body)).await.refused(400, "malformed-body");
    }
    for value in odd(Value::is_boolean) {
        let body = json!({"name": "A", "currency": "USD", "sandbox": value});
        world.node.send(&add.clone().json(&body)).await.refused(400, "malformed-body");
        let hold = Request::post("/sandbox/v1/hold").key(&org.key);
        world.node.send(&hold.json(&json!({ "on": value }))).await.refused(400, "malformed-body");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_number_that_is_not_whole_is_refused(home: Home) {
    let (world, org) = start(home).await;
    let before = world.home.dump().await;
    let [_, change, advance] = readers(&world, &org);
    for number in ["1.5", "1e3", "1000.0", "1E0", "-0.0", "99999999999999999999", "1e99"] {
        let body = format!("{{\"seconds\":{number}}}");
        world.node.send(&advance.clone().body(body)).await.refused(400, "malformed-body");
        let body = format!("{{\"rateLimit\":{number}}}");
        world.node.send(&change.clone().body(body)).await.refused(400, "malformed-body");
    }
    for value in odd(Value::is_i64) {
        let body = json!({ "seconds": value });
        world.node.send(&advance.clone().json(&body)).await.refused(400, "malformed-body");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_missing_field_is_named(home: Home) {
    let (world, org) = start(home).await;
    let before = world.home.dump().await;
    let users = format!("/organisations/{}/users", org.id);
    let user = json!({
        "firstName": "A", "lastName": "B", "role": "Owner", "emailAddress": "a@b.example",
    });
    let mut cases = vec![
        (world.operator("POST", "/organisations"), json!({}), "currency"),
        (world.operator("POST", "/organisations"), json!({"name": "A"}), "currency"),
        (world.operator("POST", "/organisations"), json!({"currency": "USD"}), "name"),
        (
            world.operator("POST", "/organisations"),
            json!({"currency": "USD", "name": null}),
            "name",
        ),
        (Request::post("/sandbox/v1/clock/advance").key(&org.key), json!({}), "seconds"),
        (
            Request::post("/sandbox/v1/clock/advance").key(&org.key),
            json!({"seconds": null}),
            "seconds",
        ),
        (Request::post("/sandbox/v1/hold").key(&org.key), json!({}), "on"),
    ];
    for name in ["firstName", "lastName", "role", "emailAddress"] {
        let mut body = user.clone();
        body[name] = Value::Null;
        cases.push((world.operator("POST", &users), body, name));
    }
    for (request, body, name) in cases {
        let refusal = world.node.send(&request.json(&body)).await;
        assert_eq!(refusal.refused(400, "missing-parameter"), format!("{name} is required"));
    }
    // No body at all says the same.
    for body in ["", " \r\n\t"] {
        let [add, _, advance] = readers(&world, &org);
        let refusal = world.node.send(&add.body(body)).await;
        assert_eq!(refusal.refused(400, "missing-parameter"), "currency is required");
        let refusal = world.node.send(&advance.clone().body(body)).await;
        assert_eq!(refusal.refused(400, "missing-parameter"), "seconds is required");
        world.node.send(&advance.chunked(body)).await.refused(400, "missing-parameter");
    }
    assert_eq!(world.home.dump().await, before);
}

/// Every text field of every operation, with the one character PostgreSQL cannot store.
async fn text_that_one_of_the_databases_cannot_hold_is_refused(home: Home) {
    let (world, org) = start(home).await;
    let before = world.home.dump().await;
    let id = &org.id;
    let user = |name: &str| {
        let mut body = json!({
            "firstName": "A", "lastName": "B", "role": "Owner", "emailAddress": "a@b.example",
            "phoneNumber": "", "timeZone": "",
        });
        body[name] = json!("a\0b");
        body
    };
    let mut cases: Vec<(&str, String, Value)> = Vec::new();
    for name in ["name", "taxLiable", "city", "notes", "website", "callbackUrl"] {
        cases.push(("PATCH", format!("/organisations/{id}"), json!({ (name): "a\0b" })));
    }
    for name in ["groups", "senders", "ipAllowList"] {
        cases.push(("PATCH", format!("/organisations/{id}"), json!({ (name): ["a\0b"] })));
    }
    let new = json!({"name": "a\0b", "currency": "USD"});
    cases.push(("POST", "/organisations".into(), new));
    cases.push(("POST", "/organisations".into(), json!({"name": "a", "currency": "U\0D"})));
    cases.push(("POST", format!("/organisations/{id}/keys"), json!({"label": "a\0b"})));
    for name in ["firstName", "lastName", "role", "emailAddress", "phoneNumber", "timeZone"] {
        cases.push(("POST", format!("/organisations/{id}/users"), user(name)));
    }
    for (method, path, body) in cases {
        let refusal = world.order(method, &path, &body).await;
        assert_eq!(refusal.status, 400, "{method} {path} {body}: {refusal}");
    }
    for target in ["/operator/v1/organisations?after=%00", "/operator/v1/organisations/%00"] {
        let refusal = world.node.send(&Request::get(target).bearer(&world.operator_key)).await;
        assert!([400, 404].contains(&refusal.status), "{refusal}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn any_other_text_comes_back_as_it_was_sent(home: Home) {
    let (world, org) = start(home).await;
    for text in [
        "ünïcödé",
        "日本語",
        "\u{1f1f5}\u{1f1f9}\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "العربية",
        "\u{202e}right to left\u{202c}",
        "e\u{301} is not é",
        "quotes ' \" ` and \\ slashes /",
        "'; DROP TABLE keys; --",
        "<script>alert(1)</script>",
        "line\nbreak\ttab",
        "$1 ? :name %s {}",
        "null",
        " blanks ",
        "\u{feff}\u{fffd}\u{10ffff}\u{7f}\u{80}",
        &"x".repeat(1_000),
        &"\u{1f427}".repeat(1_000),
    ] {
        let shown = world.change(&org, &json!({"name": text, "notes": text})).await;
        assert_eq!((&shown["name"], &shown["notes"]), (&json!(text), &json!(text)));
        let seen = world.get("/v2.5/organisation", &org.key).await.json_of(200);
        assert_eq!(seen["organisations"][0]["name"], text);
    }
    for text in ["x".repeat(1_001), "\u{1f427}".repeat(1_001)] {
        let path = format!("/organisations/{}", org.id);
        let refusal = world.order("PATCH", &path, &json!({"notes": text})).await;
        assert_eq!(refusal.refused(400, "invalid-field"), "notes must be at most 1000 characters");
    }
}

async fn neither_bodies_nor_queries_reach_the_log(home: Home) {
    let (world, org) = start(home).await;
    let secret = format!("tern_test_{MARKER}");
    let id = &org.id;
    let requests = [
        Request::get(&format!("/v2.5/organisation?api_key={secret}")),
        Request::get(&format!("/v2.5/organisation?api_key={}", org.key)),
        Request::get(&format!("/v2.5/organisation?note={MARKER}")).key(&org.key),
        Request::get(&format!("/v2.5/organisation?note={MARKER}")),
        Request::post(&format!("/sandbox/v1/hold?api_key={MARKER}")).body(MARKER),
        Request::get(&format!("/operator/v1/audit?note={MARKER}")),
        Request::get(&format!("/{MARKER}?x={MARKER}")),
        Request::get(&format!("/v2.5/{MARKER}")).key(&secret),
        Request::get(&format!("/operator/v1/organisations/{MARKER}")).bearer(&secret),
        Request::get(&format!("/docs/{MARKER}")),
        Request::new(MARKER, "/v2.5/organisation"),
        Request::get("/v2.5/").header(MARKER, MARKER).header("Cookie", MARKER),
        Request::get("/v2.5/").header("User-Agent", MARKER).header("Referer", MARKER),
        Request::post("/sandbox/v1/hold").key(&org.key).body(format!("{{\"on\":\"{MARKER}\"}}")),
        Request::post("/sandbox/v1/hold").key(&org.key).body(format!("{{\"{MARKER}\":1,\"a\":")),
        world.operator("GET", &format!("/organisations?after={MARKER}&limit={MARKER}")),
        world.operator("POST", "/organisations").json(&json!({"name": MARKER})),
        world
            .operator("POST", "/organisations")
            .json(&json!({"name": MARKER, "currency": "USD", "notes": MARKER})),
        world
            .operator("PATCH", &format!("/organisations/{id}"))
            .json(&json!({"notes": MARKER, "callbackUrl": format!("https://{MARKER}.example/")})),
        world
            .operator("PATCH", &format!("/organisations/{id}"))
            .json(&json!({"callbackUrl": MARKER})),
        world
            .operator("POST", &format!("/organisations/{id}/keys"))
            .json(&json!({"label": MARKER})),
        world.operator("POST", &format!("/organisations/{id}/users")).json(&json!({
            "firstName": MARKER, "lastName": MARKER, "role": "Owner",
            "emailAddress": format!("{MARKER}@x.example"),
        })),
        // Twice: the second meets a unique key, whose driver may like to tell the value.
        world.operator("POST", &format!("/organisations/{id}/users")).json(&json!({
            "firstName": MARKER, "lastName": MARKER, "role": "Owner",
            "emailAddress": format!("{MARKER}@x.example"),
        })),
        Request::get("/v2.5/").header("X-Filler", MARKER.repeat(2_000)),
        Request::get(&format!("/v2.5/?x={}", MARKER.repeat(1_000))),
    ];
    let lines = world.node.log().lines().count();
    for request in &requests {
        world.node.send(request).await;
    }
    let log = world.node.log();
    assert!(log.lines().count() >= lines + requests.len(), "every request has its line");
    assert!(!log.contains(MARKER), "the log repeats what was sent:\n{log}");
    assert!(!log.contains("api_key"), "the log repeats a query:\n{log}");
}
