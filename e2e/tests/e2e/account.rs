//! `GET /` and `GET /organisation`, in all versions.

use api::Surface;
use api::versions::Version;
use serde_json::{Value, json};

use crate::harness::{Home, Org, Request, World};

crate::on_both! {
    the_first_page_lists_the_operations_of_its_version,
    an_organisation_is_shown_in_full_in_every_version,
    money_is_in_the_unit_of_the_version,
    a_very_large_amount_keeps_its_cents,
    test_credit_that_has_expired_is_not_in_the_balance,
    an_organisation_never_sees_another_one,
    head_is_get_without_the_body,
    the_key_may_come_in_many_ways,
    paths_are_read_with_tolerance,
    unknown_versions_routes_and_methods_are_refused,
    a_browser_may_ask_first,
}

/// Every version with every prefix it has.
fn prefixes() -> Vec<(Version, &'static str)> {
    let of = |version: Version| version.prefixes().iter().map(move |prefix| (version, *prefix));
    Version::ALL.into_iter().flat_map(of).collect()
}

fn has_major_units(version: Version) -> bool {
    version.name() >= "v2.4"
}

async fn the_first_page_lists_the_operations_of_its_version(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Puffin").await;
    assert_eq!(prefixes().len(), 7);
    for (version, prefix) in prefixes() {
        let listed = world.get(prefix, &org.key).await.json_of(200);
        let operations = api::operations(Surface::Interface(version));
        let wanted: Vec<_> =
            operations.iter().map(|o| format!("{} {}", o.method, o.path)).collect();
        assert_eq!(listed, json!(wanted), "{prefix}");
        assert!(wanted.contains(&"GET /organisation".to_owned()), "{prefix}");
    }
}

fn all_fields() -> Value {
    json!({
        "name": "Puffin Travel", "currency": "USD", "sandbox": true, "taxLiable": "Yes",
        "addr1": "4 Harbour Lane", "addr2": "Second floor", "city": "Lerwick",
        "country": "United Kingdom", "postcode": "ZE1 0AA",
        "callbackUrl": "https://hooks.puffin.example/usage?a=1", "notes": "ünïcode \u{1f427} \"q\"",
        "groups": ["Standard Fixed", "Standard Long Duration"], "businessType": "Corporation",
        "website": "https://puffin.example", "productDescription": "Data plans for hikers",
    })
}

async fn add_user(world: &World, org: &Org, fields: &Value) {
    let path = format!("/organisations/{}/users", org.id);
    world.order("POST", &path, fields).await.expect(201);
}

async fn an_organisation_is_shown_in_full_in_every_version(home: Home) {
    let world = World::start(home).await;
    let org = world.add(&all_fields()).await;
    let ada = json!({
        "firstName": "Ada", "lastName": "Rowe", "role": "Admin", "phoneNumber": "+44 1595 0000",
        "emailAddress": "Ada@Puffin.EXAMPLE", "timeZone": "Europe/London",
    });
    add_user(&world, &org, &ada).await;
    let bo = json!({
        "firstName": "Bo", "lastName": "", "role": "Viewer", "emailAddress": "bo@puffin.example",
    });
    add_user(&world, &org, &bo).await;
    let mut wanted = all_fields();
    let fields = wanted.as_object_mut().expect("an object");
    fields.remove("sandbox");
    fields.insert("apiKey".into(), json!(org.key));
    fields.insert("balance".into(), json!(0));
    fields.insert("testCredit".into(), json!(0));
    fields.insert("testCreditExpiry".into(), Value::Null);
    let users = json!([
        {"firstName": "Ada", "lastName": "Rowe", "role": "Admin", "phoneNumber": "+44 1595 0000",
         "emailAddress": "ada@puffin.example", "timeZone": "Europe/London"},
        {"firstName": "Bo", "lastName": "", "role": "Viewer", "phoneNumber": "",
         "emailAddress": "bo@puffin.example", "timeZone": ""},
    ]);
    fields.insert("users".into(), users);
    for (_, prefix) in prefixes() {
        let shown = world.get(&format!("{prefix}/organisation"), &org.key).await.json_of(200);
        assert_eq!(shown, json!({ "organisations": [wanted] }), "{prefix}");
    }
    // One that has nothing shows every key all the same.
    let bare = world.add_live("Bare").await;
    for (_, prefix) in prefixes() {
        let shown = world.get(&format!("{prefix}/organisation"), &bare.key).await.json_of(200);
        let wanted = json!({"organisations": [{
            "name": "Bare", "apiKey": bare.key, "taxLiable": "", "addr1": "", "addr2": "",
            "city": "", "country": "", "postcode": "", "callbackUrl": "", "notes": "",
            "groups": [], "currency": "USD", "balance": 0, "testCredit": 0,
            "testCreditExpiry": null, "businessType": "", "website": "",
            "productDescription": "", "users": [],
        }]});
        assert_eq!(shown, wanted, "{prefix}");
    }
}

/// Gives an organisation money beside the service, since no operation does so yet.
async fn give(world: &World, org: &Org, balance: i64, credit: i64, expires_at_ms: i64) {
    let sql = format!(
        "UPDATE org_heads SET balance = {balance}, test_credit = {credit}, \
         test_credit_expires_at = {expires_at_ms} WHERE org_id = '{}'",
        org.id
    );
    world.home.run_sql(&sql).await;
}

/// 2100-01-01T00:00:00.25Z.
const FAR_MS: i64 = 4_102_444_800_250;

/// The text of a number in an answer, as it was written.
fn written(text: &str, name: &str) -> String {
    let (_, rest) = text.split_once(&format!("\"{name}\":")).expect("the field is there");
    rest.split([',', '}']).next().unwrap_or_default().to_owned()
}

async fn money_is_in_the_unit_of_the_version(home: Home) {
    let world = World::start(home).await;
    let usd = world.add_sandbox("Dollars").await;
    let yen = world.add(&json!({"name": "Yen", "currency": "JPY", "sandbox": true})).await;
    let dinar = world.add(&json!({"name": "Dinar", "currency": "KWD", "sandbox": true})).await;
    // Currency, what it has, and what is written before and from v2.4 on.
    for (org, balance, credit, old, new) in [
        (&usd, 184_250, 2_500, ["184250", "2500"], ["1867.5", "25"]),
        (&usd, 5, 0, ["5", "0"], ["0.05", "0"]),
        (&usd, 120_000, 0, ["120000", "0"], ["1200", "0"]),
        (&yen, 1_250, 5, ["1250", "5"], ["1255", "5"]),
        (&dinar, 1_250, 5, ["1250", "5"], ["1.255", "0.005"]),
    ] {
        give(&world, org, balance, credit, FAR_MS).await;
        for (version, prefix) in prefixes() {
            let answer = world.get(&format!("{prefix}/organisation"), &org.key).await.expect(200);
            let text = answer.text();
            let wanted = if has_major_units(version) { new } else { old };
            let shown = [written(&text, "balance"), written(&text, "testCredit")];
            assert_eq!(shown, wanted, "{prefix}");
            let expiry = &answer.json()["organisations"][0]["testCreditExpiry"];
            assert_eq!(expiry, "2100-01-01T00:00:00.25Z");
        }
        // The operator counts in minor units.
        let shown = world.show(&format!("/organisations/{}", org.id)).await;
        assert_eq!((&shown["balance"], &shown["testCredit"]), (&json!(balance), &json!(credit)));
    }
}

async fn a_very_large_amount_keeps_its_cents(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Rich").await;
    give(&world, &org, 100_000_000_000_000_007, 0, FAR_MS).await;
    for (version, prefix) in prefixes() {
        let text = world.get(&format!("{prefix}/organisation"), &org.key).await.expect(200).text();
        let major = has_major_units(version);
        let wanted = if major { "1000000000000000.07" } else { "100000000000000007" };
        assert_eq!(written(&text, "balance"), wanted, "{prefix}");
    }
}

async fn test_credit_that_has_expired_is_not_in_the_balance(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Late").await;
    give(&world, &org, 10_000, 2_500, 1_000_000_000_000).await;
    for (version, prefix) in prefixes() {
        let answer = world.get(&format!("{prefix}/organisation"), &org.key).await.expect(200);
        let wanted = if has_major_units(version) { "100" } else { "10000" };
        assert_eq!(written(&answer.text(), "balance"), wanted, "{prefix}");
    }
    // What a sandbox has expires by its own clock.
    give(&world, &org, 10_000, 2_500, FAR_MS).await;
    let century = json!({"seconds": 316_224_000});
    for _ in 0..10 {
        let advance = Request::post("/sandbox/v1/clock/advance").key(&org.key).json(&century);
        world.node.send(&advance).await.expect(200);
    }
    let answer = world.get("/v2.5/organisation", &org.key).await.expect(200);
    assert_eq!(written(&answer.text(), "balance"), "100");
}

async fn an_organisation_never_sees_another_one(home: Home) {
    let world = World::start(home).await;
    let (one, two) = (world.add_sandbox("One").await, world.add_live("Two").await);
    for (_, prefix) in prefixes() {
        for (org, name) in [(&one, "One"), (&two, "Two")] {
            let target = format!("{prefix}/organisation?organisation={}&id={}", one.id, two.id);
            let shown = world.get(&target, &org.key).await.json_of(200);
            let all = shown["organisations"].as_array().expect("a list");
            assert_eq!((all.len(), &all[0]["name"]), (1, &json!(name)));
        }
    }
}

async fn head_is_get_without_the_body(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Heads").await;
    for (_, prefix) in prefixes() {
        for path in ["", "/organisation"] {
            let target = format!("{prefix}{path}");
            let get = world.get(&target, &org.key).await.expect(200);
            let head = world.node.send(&Request::new("HEAD", &target).key(&org.key)).await;
            assert_eq!(head.fingerprint().0, 200);
            assert_eq!(head.fingerprint().1, get.fingerprint().1, "{target}");
            let by_query = Request::new("HEAD", &format!("{target}?api_key={}", org.key));
            world.node.send(&by_query).await.expect(200);
            let stranger = world.node.send(&Request::new("HEAD", &target)).await.expect(403);
            assert_eq!(stranger.header("x-error-code"), Some("bad-key"));
        }
    }
}

async fn the_key_may_come_in_many_ways(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Ways").await;
    let key = &org.key;
    for (_, prefix) in prefixes() {
        let get = |query: &str| Request::get(&format!("{prefix}/organisation{query}"));
        for good in [
            get("").header("x-api-key", key),
            get("").header("X-Api-Key", key),
            get("").header("X-API-KEY", key),
            get("").header("x-aPi-kEy", format!("  {key} ")),
            get(&format!("?api_key={key}")),
            get(&format!("?x=1&api_key={key}&y")),
            get(&format!("?api_key={}", key.replace('_', "%5F"))),
            get("?api_key=wrong").key(key),
            get("?api_key=%ff").key(key),
            get("?api_key=").key(key),
            get("").key(key).header("Authorization", "Bearer nonsense"),
            get("").key(key).header("X-Correlation-Id", "abc").header("Accept", "text/html"),
            get("").key(key).body("ignored"),
            // Of two the first counts.
            get("").key(key).key("wrong"),
            get(&format!("?api_key={key}&api_key=wrong")),
        ] {
            world.node.send(&good).await.expect(200);
        }
        for wrong in [
            get(&format!("?api_key={key}")).key("wrong"),
            get("").key("wrong").key(key),
            get(&format!("?api_key=wrong&api_key={key}")),
        ] {
            world.node.send(&wrong).await.refused(403, "bad-key");
        }
    }
}

async fn paths_are_read_with_tolerance(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Paths").await;
    for (_, prefix) in prefixes() {
        let plain = world.get(&format!("{prefix}/organisation"), &org.key).await.expect(200);
        for path in ["/organisation/", "/organisation//", "/organisation/?unknown=1&unknown=2"] {
            let answer = world.get(&format!("{prefix}{path}"), &org.key).await.expect(200);
            assert_eq!(answer.fingerprint(), plain.fingerprint(), "{prefix}{path}");
        }
        world.get(&format!("{prefix}/"), &org.key).await.expect(200);
        let by_query = format!("{prefix}/organisation/?api_key={}", org.key);
        world.node.send(&Request::get(&by_query)).await.expect(200);
        // But not as another route.
        for path in ["/Organisation", "/ORGANISATION", "//organisation", "/organisation/x"] {
            let answer = world.get(&format!("{prefix}{path}"), &org.key).await;
            answer.refused(404, "unknown-route");
        }
    }
}

async fn unknown_versions_routes_and_methods_are_refused(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Lost").await;
    for path in [
        "/v2.6/organisation",
        "/v2.6",
        "/v3/organisation",
        "/v1/organisation",
        "/v2.00/organisation",
        "/v2.5.1/organisation",
        "/V2.5/organisation",
        "/v2.x/",
        "/organisation",
        "/v2.5/nothing",
        "/v2.5/organisation/nothing",
        "/sandbox/v1",
        "/sandbox/v2/clock",
        "/operator/v1",
        "/operator/v2/organisations",
        "/operator/v1/organisations/a/b/c/d",
        "/nothing",
    ] {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "FOO"] {
            // With and without a key: the route is looked at first.
            let request = Request::new(method, path);
            for request in [request.clone(), request.key(&org.key)] {
                let answer = world.node.send(&request).await;
                assert_eq!(answer.refused(404, "unknown-route"), "no such route", "{path}");
            }
        }
    }
    for (_, prefix) in prefixes() {
        for path in ["", "/", "/organisation", "/organisation/"] {
            for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "FOO", "get"] {
                let request = Request::new(method, &format!("{prefix}{path}"));
                for request in [request.clone(), request.key(&org.key)] {
                    let answer = world.node.send(&request).await;
                    assert_eq!(answer.header("allow"), Some("GET,HEAD"), "{prefix}{path}");
                    let text = answer.refused(405, "method-not-allowed");
                    assert_eq!(text, "method not allowed", "{method}");
                }
            }
        }
    }
    for (path, allowed) in [
        ("/sandbox/v1/clock", "GET,HEAD"),
        ("/sandbox/v1/hold", "POST"),
        ("/operator/v1/organisations", "GET,HEAD,POST"),
        ("/operator/v1/organisations/x", "GET,HEAD,PATCH"),
        ("/operator/v1/organisations/x/keys/y", "DELETE"),
    ] {
        let answer = world.node.send(&Request::new("PUT", path)).await;
        assert_eq!(answer.header("allow"), Some(allowed), "{path}");
        answer.refused(405, "method-not-allowed");
    }
}

async fn a_browser_may_ask_first(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Browser").await;
    let exposed = ["x-request-id", "x-error-code", "retry-after", "x-ratelimit-remaining"];
    let of_versions = prefixes().into_iter().map(|(_, prefix)| format!("{prefix}/organisation"));
    let ours = ["/sandbox/v1/clock", "/operator/v1/organisations"].map(ToOwned::to_owned);
    for target in of_versions.chain(ours) {
        let preflight = Request::new("OPTIONS", &target)
            .header("Origin", "https://shop.example")
            .header("Access-Control-Request-Method", "GET")
            .header("Access-Control-Request-Headers", "x-api-key");
        for request in [preflight, Request::new("OPTIONS", &target)] {
            let answer = world.node.send(&request).await.expect(204);
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
            let header = |name| answer.header(name).unwrap_or_default().to_lowercase();
            for word in ["get", "post", "put", "patch", "delete"] {
                assert!(header("access-control-allow-methods").contains(word), "{word}");
            }
            for word in ["x-api-key", "authorization", "content-type", "idempotency-key"] {
                assert!(header("access-control-allow-headers").contains(word), "{word}");
            }
        }
        // Answers can be read by a page, refusals too.
        let origin = Request::get(&target).header("Origin", "https://shop.example");
        for request in [origin.clone().key(&org.key), origin] {
            let answer = world.node.send(&request).await;
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
            assert_eq!(answer.header("access-control-allow-credentials"), None);
            let header = answer.header("access-control-expose-headers").unwrap_or_default();
            for word in exposed {
                assert!(header.to_lowercase().contains(word), "{word}");
            }
        }
    }
}
