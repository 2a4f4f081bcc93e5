//! `/operator/v1/stock`: profiles line by line, each with a verdict, sealed, and never of the wrong
//! mode.

use serde_json::{Value, json};

use crate::harness::{Answer, Home, Org, Request, World};
use crate::sealed::{spellings, stolen};
use crate::shop::{self, PT, at_once, credit, iccid, onto_new, order};

crate::on_both! {
    every_line_gets_a_verdict,
    a_table_of_profiles_is_read_line_by_line,
    the_same_lines_again_do_no_harm,
    the_same_lines_at_the_same_time_are_added_once,
    a_request_has_bounds,
    sandbox_and_live_profiles_never_mix,
    what_is_free_is_counted,
    what_only_the_owner_may_know_is_sealed,
    only_the_operator_brings_profiles_and_it_is_noted,
}

/// A profile of that number with nothing but what it needs.
pub(crate) fn profile(number: usize) -> Value {
    let matching_id = format!("K2-{number}");
    json!({"iccid": iccid(number), "matchingId": matching_id, "smdpAddress": "rsp.example"})
}

fn with(mut profile: Value, field: &str, value: &str) -> Value {
    profile[field] = json!(value);
    profile
}

async fn bring(world: &World, mode: &str, profiles: &[Value]) -> Value {
    let target = format!("/stock?mode={mode}");
    world.order("POST", &target, &json!({ "profiles": profiles })).await.json_of(200)
}

/// A request with a table in it.
fn table(world: &World, mode: &str, text: impl Into<Vec<u8>>) -> Request {
    let request = world.operator("POST", &format!("/stock?mode={mode}"));
    request.header("Content-Type", "text/csv").body(text)
}

/// How many were added, known and rejected.
pub(crate) fn tally(told: &Value) -> [i64; 3] {
    ["added", "known", "rejected"].map(|name| told[name].as_i64().expect("a number"))
}

/// The stock as `(mode, profile, free)`.
pub(crate) async fn free(world: &World) -> Vec<(String, String, i64)> {
    let shown = world.show("/stock").await;
    let kind = |kind: &Value| {
        let text = |name: &str| kind[name].as_str().expect("a text").to_owned();
        (text("mode"), text("profileName"), kind["free"].as_i64().expect("a number"))
    };
    shown["stock"].as_array().expect("a list").iter().map(kind).collect()
}

fn of(mode: &str, profile: &str, count: i64) -> (String, String, i64) {
    (mode.to_owned(), profile.to_owned(), count)
}

/// Lines with something wrong, and what.
fn bad_lines() -> Vec<(Value, &'static str)> {
    let wrong_digit = {
        let good = iccid(1);
        let last: u32 = good[18..].parse().expect("a digit");
        format!("{}{}", &good[..18], (last + 1) % 10)
    };
    let digits = "iccid must be 18 to 20 digits";
    let host = "smdpAddress must be a host name without a scheme";
    let code = "matchingId must be 1 to 255 letters, digits, '-' or '.'";
    let long = "m".repeat(256);
    let mut lines = vec![
        (with(profile(1), "iccid", &wrong_digit), "iccid has a wrong check digit"),
        (with(profile(1), "iccid", ""), digits),
        (with(profile(1), "iccid", "8943"), digits),
        (with(profile(1), "iccid", "894300100000000001x"), digits),
        (with(profile(1), "iccid", &format!("{}123", iccid(1))), digits),
        (with(profile(1), "smdpAddress", ""), host),
        (with(profile(1), "smdpAddress", "https://rsp.example"), host),
        (with(profile(1), "smdpAddress", "rsp..example"), host),
        (with(profile(1), "smdpAddress", &"h".repeat(64)), host),
        (with(profile(1), "matchingId", ""), code),
        (with(profile(1), "matchingId", "A$B"), code),
        (with(profile(1), "matchingId", &long), code),
        (
            with(profile(1), "profileName", &"p".repeat(101)),
            "profileName must have at most 100 characters",
        ),
    ];
    for (field, values, why) in [
        ("pin", ["123", "123456789", "12a4"], "pin must be 4 to 8 digits"),
        ("puk", ["1234567", "123456789", "1234567x"], "puk must be 8 digits"),
        ("imsi", ["12345", "1234567890123456", "12345x"], "imsi must be 6 to 15 digits"),
        ("msisdn", ["123456", "1234567890123456", "07700900123"], "msisdn must be 7 to 15 digits"),
    ] {
        lines.extend(values.map(|value| (with(profile(1), field, value), why)));
    }
    lines
}

async fn every_line_gets_a_verdict(home: Home) {
    let world = World::start(home).await;
    let bad = bad_lines();
    for mode in ["sandbox", "live"] {
        let before = world.home.dump().await;
        let lines: Vec<_> = bad.iter().map(|(line, _)| line.clone()).collect();
        let told = bring(&world, mode, &lines).await;
        assert_eq!(tally(&told), [0, 0, 25], "{told}");
        for (n, (line, why)) in bad.iter().enumerate() {
            let wanted =
                json!({"line": n + 1, "iccid": line["iccid"], "verdict": "rejected", "why": why});
            assert_eq!(told["results"][n], wanted);
        }
        assert_eq!(world.home.dump().await, before, "not even an entry in the log");
    }
    // Good lines are taken, whatever stands around them.
    let full = json!({
        "ICCID": format!("{}F", iccid(2)), "matchingid": "K2QPA-7RMXD.W4TZN", "pin": "1234",
        "smdpAddress": "a.b-c.example", "puk": "12345678", "msisdn": "+447700900123",
        "imsi": "234109876543210", "profileName": " Profile 2 ", "unknown": [1],
    });
    let null = json!({"iccid": iccid(3), "matchingId": "m", "smdpAddress": "h", "pin": null});
    let lines = [bad[0].0.clone(), full, null, profile(2), bad[3].0.clone()];
    let told = bring(&world, "live", &lines).await;
    let verdicts = json!([
        {"line": 1, "iccid": bad[0].0["iccid"], "verdict": "rejected", "why": bad[0].1},
        {"line": 2, "iccid": iccid(2), "verdict": "added"},
        {"line": 3, "iccid": iccid(3), "verdict": "added"},
        {"line": 4, "iccid": iccid(2), "verdict": "rejected", "why": "iccid stands twice"},
        {"line": 5, "iccid": bad[3].0["iccid"], "verdict": "rejected", "why": bad[3].1},
    ]);
    assert_eq!(told, json!({"added": 2, "known": 0, "rejected": 3, "results": verdicts}));
    assert_eq!(free(&world).await, [of("live", "Profile 1", 1), of("live", "Profile 2", 1)]);
}

async fn a_table_of_profiles_is_read_line_by_line(home: Home) {
    let world = World::start(home).await;
    let (a, b, c) = (iccid(1), iccid(2), iccid(3));
    let text = format!(
        "\u{feff}iccid,matchingId,smdpAddress,pin,puk,msisdn,imsi,profileName\r\n\
         {a},K-1,rsp.example,1234,12345678,447700900123,234109876543210,\"Profile, 2\"\r\n\
         \r\n\
         {b},K-2\r\n\
         {c}F, K-3 ,rsp.example,,,,,\r\n\
         {a},K-4,rsp.example,,,,,\r\n\
         {b},K-5,rsp.example,12,,,,\r\n"
    );
    let told = world.node.send(&table(&world, "sandbox", text)).await.json_of(200);
    let width = "must have as many fields as there are columns";
    let verdicts = json!([
        {"line": 2, "iccid": a, "verdict": "added"},
        {"line": 4, "iccid": "", "verdict": "rejected", "why": width},
        {"line": 5, "iccid": c, "verdict": "added"},
        {"line": 6, "iccid": a, "verdict": "rejected", "why": "iccid stands twice"},
        {"line": 7, "iccid": b, "verdict": "rejected", "why": "pin must be 4 to 8 digits"},
    ]);
    assert_eq!(told, json!({"added": 2, "known": 0, "rejected": 3, "results": verdicts}));
    assert_eq!(free(&world).await, [of("sandbox", "Profile 1", 1), of("sandbox", "Profile, 2", 1)]);
    // Columns in another order and case, some left out, some unknown.
    let text = format!("SMDPADDRESS,x,Iccid,MATCHINGID\nrsp.example,,{b},K-2\n");
    let told = world.node.send(&table(&world, "sandbox", text)).await.json_of(200);
    assert_eq!(tally(&told), [1, 0, 0]);
    let only_names = table(&world, "sandbox", "iccid,matchingId,smdpAddress\n");
    assert_eq!(tally(&world.node.send(&only_names).await.json_of(200)), [0, 0, 0]);
    let before = world.home.dump().await;
    for text in [
        "",
        "iccid,pin\n",
        "iccid;matchingId;smdpAddress\n",
        "iccid,iccid,matchingId,smdpAddress\n",
        "{\"profiles\":[]}",
    ] {
        let refusal = world.node.send(&table(&world, "sandbox", text)).await;
        assert_eq!(
            refusal.refused(400, "malformed-body"),
            "failed to parse request body",
            "{text}"
        );
    }
    let odd = b"iccid,matchingId,smdpAddress\n\xff,a,b\n1,\0,b\n".to_vec();
    let told = world.node.send(&table(&world, "sandbox", odd)).await.json_of(200);
    assert_eq!(tally(&told), [0, 0, 2], "{told}");
    assert_eq!(world.home.dump().await, before);
}

/// What an order for one new eSIM gives.
async fn install(world: &World, org: &Org) -> Value {
    let bought = shop::buy(world, org, "/v2.5", &onto_new(&[(PT, 1)])).await;
    bought["order"][0]["esims"][0].clone()
}

async fn the_same_lines_again_do_no_harm(home: Home) {
    let world = shop::open(home, 0).await;
    let org = shop::reseller(&world, shop::PLENTY).await;
    let lines: Vec<_> = (1..=5).map(profile).collect();
    assert_eq!(tally(&bring(&world, "sandbox", &lines).await), [5, 0, 0]);
    let before = world.home.dump().await;
    let told = bring(&world, "sandbox", &lines).await;
    assert_eq!(tally(&told), [0, 5, 0]);
    assert_eq!(told["results"][0], json!({"line": 1, "iccid": iccid(1), "verdict": "known"}));
    // Known ones stay as they are, whatever the line says now.
    let other = with(with(profile(1), "matchingId", "OTHER"), "profileName", "Profile 9");
    assert_eq!(tally(&bring(&world, "sandbox", std::slice::from_ref(&other)).await), [0, 1, 0]);
    // In the other mode they are not taken either.
    let told = bring(&world, "live", &lines[..1]).await;
    assert_eq!(tally(&told), [0, 0, 1]);
    assert_eq!(told["results"][0]["why"], "iccid is known as a sandbox profile");
    assert_eq!(world.home.dump().await, before);
    let esim = install(&world, &org).await;
    let wanted = json!({"iccid": iccid(1), "matchingId": "K2-1", "smdpAddress": "rsp.example"});
    assert_eq!(esim, wanted);
    // One that somebody has is known too, and does not come back into the stock.
    let before = world.home.dump().await;
    assert_eq!(tally(&bring(&world, "sandbox", &[other]).await), [0, 1, 0]);
    assert_eq!(world.home.dump().await, before);
    // Old and new lines together.
    let more: Vec<_> = (4..=8).map(profile).collect();
    assert_eq!(tally(&bring(&world, "sandbox", &more).await), [3, 2, 0]);
    assert_eq!(shop::stock(&world, "Profile 1").await, 7);
    assert_eq!(tally(&bring(&world, "live", &[profile(9)]).await), [1, 0, 0]);
    let told = bring(&world, "sandbox", &[profile(9)]).await;
    assert_eq!(told["results"][0]["why"], "iccid is known as a live profile");
}

async fn the_same_lines_at_the_same_time_are_added_once(home: Home) {
    let world = World::start(home).await;
    let lines: Vec<_> = (0..200).map(profile).collect();
    let body = json!({ "profiles": lines });
    let request = world.operator("POST", "/stock?mode=sandbox").json(&body);
    let mut sums = [0; 3];
    for answer in at_once(&world, &vec![request; 5]).await {
        let told = tally(&answer.json_of(200));
        sums = [sums[0] + told[0], sums[1] + told[1], sums[2] + told[2]];
    }
    assert_eq!(sums, [200, 800, 0]);
    assert_eq!(free(&world).await, [of("sandbox", "Profile 1", 200)]);
}

async fn a_request_has_bounds(home: Home) {
    let world = World::start(home).await;
    let before = world.home.dump().await;
    let lines: Vec<_> = (0..1_001).map(profile).collect();
    let text = |count: usize| {
        let line = |n: usize| format!("{},K-{n},rsp.example\n", iccid(n));
        let lines: String = (0..count).map(line).collect();
        format!("iccid,matchingId,smdpAddress\n{lines}")
    };
    let all = world.order("POST", "/stock?mode=sandbox", &json!({ "profiles": lines })).await;
    let is_refused = |answer: Answer| {
        let text = answer.refused(400, "too-many-lines");
        assert_eq!(text, "at most 1000 lines can be imported at once");
    };
    is_refused(all);
    is_refused(world.node.send(&table(&world, "sandbox", text(1_001))).await);
    // Lines that are no good count as well.
    let bad = format!("iccid,matchingId,smdpAddress\n{}", "x\n".repeat(1_001));
    is_refused(world.node.send(&table(&world, "sandbox", bad)).await);
    for (query, code, why) in [
        ("", "missing-parameter", "mode is required"),
        ("?mode=", "missing-parameter", "mode is required"),
        ("?Mode=live", "missing-parameter", "mode is required"),
        ("?mode=test", "invalid-parameter", "invalid mode"),
        ("?mode=LIVE", "invalid-parameter", "invalid mode"),
        ("?mode=sandbox,live", "invalid-parameter", "invalid mode"),
    ] {
        let body = json!({"profiles": [profile(1)]});
        let answer = world.order("POST", &format!("/stock{query}"), &body).await;
        assert_eq!(answer.refused(400, code), why, "{query}");
    }
    for body in [
        "",
        "{}",
        "[]",
        "{\"profiles\":null}",
        "{\"profiles\":{}}",
        "{\"profiles\":[1]}",
        "{\"profiles\":[{\"iccid\":1}]}",
        "{\"profiles\":[{\"pin\":1234}]}",
        "{\"profiles\":[",
        "iccid,matchingId,smdpAddress\n",
    ] {
        let request = world.operator("POST", "/stock?mode=live").body(body);
        world.node.send(&request).await.refused(400, "malformed-body");
    }
    let padded = format!("{{\"profiles\":[]}}{}", " ".repeat(1_000_000));
    let large = world.operator("POST", "/stock?mode=live").body(padded);
    world.node.send(&large).await.refused(413, "body-too-large");
    assert_eq!(world.home.dump().await, before);
    // A thousand fit, either way.
    assert_eq!(tally(&bring(&world, "sandbox", &lines[..1_000]).await), [1_000, 0, 0]);
    let told = world.node.send(&table(&world, "sandbox", text(1_000))).await.json_of(200);
    assert_eq!(tally(&told), [0, 1_000, 0]);
    assert_eq!(tally(&bring(&world, "sandbox", &[]).await), [0, 0, 0]);
}

async fn sandbox_and_live_profiles_never_mix(home: Home) {
    let world = shop::open(home, 0).await;
    let (sandbox, live) = (world.add_sandbox("Sandbox").await, world.add_live("Live").await);
    for org in [&sandbox, &live] {
        credit(&world, org, shop::PLENTY).await;
    }
    for (own, other, mode, numbers) in
        [(&sandbox, &live, "sandbox", 1..=3), (&live, &sandbox, "live", 11..=13)]
    {
        let lines: Vec<_> = numbers.clone().map(profile).collect();
        assert_eq!(tally(&bring(&world, mode, &lines).await), [3, 0, 0]);
        let before = world.home.dump().await;
        for prefix in ["/v2.0", "/v2.3", "/v2.5"] {
            let answer = world.node.send(&order(other, prefix, &onto_new(&[(PT, 1)]))).await;
            let text = answer.refused(503, "out-of-stock");
            assert_eq!(text, "no esim available, try again later", "{mode} {prefix}");
        }
        assert_eq!(world.home.dump().await, before, "nothing was taken");
        for number in numbers {
            assert_eq!(install(&world, own).await["iccid"], iccid(number), "{mode}");
        }
        // Now they are gone, and the other's were never touched.
        let answer = world.node.send(&order(own, "/v2.5", &onto_new(&[(PT, 1)]))).await;
        answer.refused(503, "out-of-stock");
    }
    assert_eq!(free(&world).await, []);
    shop::verify(&world);
}

async fn what_is_free_is_counted(home: Home) {
    let world = shop::open(home, 0).await;
    assert_eq!(world.show("/stock").await, json!({"stock": []}));
    let org = shop::reseller(&world, shop::PLENTY).await;
    let second = |number| with(profile(number), "profileName", "Profile 2");
    let lines = [profile(1), profile(2), profile(3), second(4), second(5)];
    bring(&world, "sandbox", &lines).await;
    bring(&world, "live", &[profile(6), second(7)]).await;
    let all = [
        of("live", "Profile 1", 1),
        of("live", "Profile 2", 1),
        of("sandbox", "Profile 1", 3),
        of("sandbox", "Profile 2", 2),
    ];
    assert_eq!(free(&world).await, all);
    install(&world, &org).await;
    let by_us = onto_new(&[(shop::US, 2)]);
    shop::buy(&world, &org, "/v2.5", &by_us).await;
    let left = [all[0].clone(), all[1].clone(), of("sandbox", "Profile 1", 2)];
    assert_eq!(free(&world).await, left, "a bundle takes the profile it fits");
}

async fn what_only_the_owner_may_know_is_sealed(home: Home) {
    let world = World::with(home, &[("TERN_LOG_LEVEL", "debug")]).await;
    world.order("POST", "/catalogue", &shop::catalogue()).await.expect(200);
    let org = shop::reseller(&world, shop::PLENTY).await;
    let mut secrets = Vec::new();
    let mut lines = Vec::new();
    for n in 1..=4 {
        let own = [
            format!("QWXZ{n}-7RMXD-W4TZN-90HLC"),
            format!("8091726{n}"),
            format!("7364518{n}"),
            format!("23410987654321{n}"),
        ];
        let [matching_id, pin, puk, imsi] = &own;
        let line = with(with(profile(n), "matchingId", matching_id), "pin", pin);
        lines.push(with(with(line, "puk", puk), "imsi", imsi));
        secrets.extend(own);
    }
    bring(&world, "sandbox", &lines[..2]).await;
    let cells = |line: &Value| {
        let names = ["iccid", "matchingId", "smdpAddress", "pin", "puk", "imsi"];
        names.map(|name| line[name].as_str().expect("a text")).join(",")
    };
    let rows: Vec<_> = lines[2..].iter().map(cells).collect();
    let text = format!("iccid,matchingId,smdpAddress,pin,puk,imsi\n{}\n", rows.join("\n"));
    world.node.send(&table(&world, "sandbox", text)).await.expect(200);
    // Sent again, in the wrong mode, and in lines that are refused: still nowhere.
    bring(&world, "sandbox", &lines).await;
    bring(&world, "live", &lines).await;
    for (n, secret) in secrets.iter().enumerate() {
        let field = ["pin", "puk", "imsi", "profileName", "msisdn", "smdpAddress"][n % 6];
        let line = with(lines[0].clone(), field, &format!("{secret}$"));
        let told = bring(&world, "sandbox", &[line]).await.to_string();
        assert!(!told.contains(secret), "{told}");
        let cut = format!("{{\"profiles\":[{{\"pin\":\"{secret}\",");
        let cut = world.operator("POST", "/stock?mode=sandbox").body(cut);
        world.node.send(&cut).await.refused(400, "malformed-body");
    }
    // One is somebody's now, who may see what installs it.
    assert_eq!(install(&world, &org).await["matchingId"], secrets[0]);
    let stolen = stolen(&world.home).await;
    let found = |text: &str| stolen.iter().any(|(_, all)| all.contains(text));
    assert!(found(&iccid(1)) && found("rsp.example"), "what is no secret is found");
    for secret in &secrets {
        world.is_secret(secret);
        for spelling in spellings(secret) {
            assert!(!found(&spelling), "{secret} stands there as {spelling}");
        }
    }
    let audit = world.show("/audit?limit=1000").await.to_string();
    assert!(secrets.iter().all(|secret| !audit.contains(secret)), "{audit}");
}

async fn only_the_operator_brings_profiles_and_it_is_noted(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Reseller").await;
    let body = json!({"profiles": [profile(1), profile(2), profile(2)]});
    for key in ["wrong", "", &org.key] {
        for method in ["POST", "GET"] {
            let request = Request::new(method, "/operator/v1/stock?mode=sandbox").bearer(key);
            let refusal = world.node.send(&request.json(&body)).await;
            assert_eq!(refusal.refused(401, "bad-operator-key"), "access denied");
        }
    }
    world.order("POST", "/stock?mode=sandbox", &body).await.expect(200);
    world.order("POST", "/stock?mode=sandbox", &body).await.expect(200);
    world.order("POST", "/stock?mode=live", &json!({"profiles": [profile(3)]})).await.expect(200);
    world.order("POST", "/stock?mode=live", &body).await.expect(200);
    let page = world.show("/audit?limit=1000").await;
    let entries = page["entries"].as_array().expect("a list").iter();
    let acts: Vec<_> = entries
        .filter(|entry| entry["action"] == "stock.import")
        .map(|entry| {
            assert!(entry["actor"].as_str().is_some_and(|who| who.starts_with("operator:")));
            json!([entry["organisation"], entry["target"], entry["detail"]])
        })
        .collect();
    let wanted = json!([[null, "live", "1 profiles"], [null, "sandbox", "2 profiles"]]);
    assert_eq!(json!(acts), wanted, "only what was added is noted");
}
