//! What the operator gives and takes, and the statement of it all.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::harness::{Answer, Home, Org, World};
use crate::money::{advance, balance, events, prefixes, settle, statement, topup, with_card};

crate::on_both! {
    credit_is_given_and_taken_with_a_reason,
    a_credit_that_does_not_fit_is_refused,
    test_credit_is_seen_until_it_expires,
    test_credit_is_one_pot_with_the_later_end,
    a_test_credit_that_does_not_fit_is_refused,
    a_statement_shows_every_entry_and_its_chain,
    a_statement_covers_the_period_asked_for,
    a_statement_is_a_harmless_spreadsheet,
}

async fn give(world: &World, org: &Org, what: &str, body: &Value) -> Answer {
    world.order("POST", &format!("/organisations/{}/{what}", org.id), body).await
}

async fn credit(world: &World, org: &Org, amount: i64, reason: &str) -> Answer {
    give(world, org, "credit", &json!({"amount": amount, "reason": reason})).await
}

/// The organisation's own time, and so many seconds more.
async fn later(world: &World, org: &Org, seconds: i64) -> String {
    let clock = world.get("/sandbox/v1/clock", &org.key).await.json_of(200);
    let now = Timestamp::parse(clock["now"].as_str().expect("a time")).expect("a time");
    now.plus_ms(seconds * 1_000).to_string()
}

async fn credit_is_given_and_taken_with_a_reason(home: Home) {
    let world = World::start(home).await;
    let (sandbox, live) = (world.add_sandbox("Sandbox").await, world.add_live("Live").await);
    for org in [&sandbox, &live] {
        let given = credit(&world, org, 5_000, "goodwill").await.json_of(200);
        let wanted = json!({"balance": 5_000, "testCredit": 0, "testCreditExpiry": null});
        assert_eq!(given, wanted);
        let taken = credit(&world, org, -2_000, "a mistake").await.json_of(200);
        assert_eq!(taken["balance"], 3_000);
        let before = world.home.dump().await;
        let text = credit(&world, org, -3_001, "too much").await.refused(400, "balance-too-low");
        assert_eq!(text, "the balance would fall below zero");
        assert_eq!(world.home.dump().await, before);
        assert_eq!(credit(&world, org, -3_000, "all").await.json_of(200)["balance"], 0);
        credit(&world, org, 1, &"é".repeat(1_000)).await.expect(200);
        let seen = events(&world, org).await;
        let kinds: Vec<_> = seen.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["Credit", "Credit", "Credit", "LowBalance", "Credit"]);
        assert_eq!(seen[1].1["bundle"], json!({"oldAmount": 50, "newAmount": 30}));
        let statement = statement(&world, org, "").await;
        let reasons: Vec<_> = statement["entries"].as_array().expect("a list").iter().collect();
        assert_eq!(reasons[1]["reason"], "a mistake");
        assert_eq!(reasons[1]["kind"], "credit");
        let log = world.show("/audit?limit=1000").await.to_string();
        assert!(log.contains("a mistake") && log.contains("credit.give"), "{log}");
    }
}

/// Bodies that no kind of credit takes.
fn bad_bodies() -> Vec<(Value, &'static str)> {
    let reason = "why";
    vec![
        (json!({ "reason": reason }), "missing-parameter"),
        (json!({"amount": null, "reason": reason}), "missing-parameter"),
        (json!({"amount": 5}), "missing-parameter"),
        (json!({"amount": 5, "reason": null}), "missing-parameter"),
        (json!({"amount": 0, "reason": reason}), "invalid-field"),
        (json!({"amount": i64::MAX, "reason": reason}), "invalid-field"),
        (json!({"amount": i64::MIN, "reason": reason}), "invalid-field"),
        (json!({"amount": 5, "reason": ""}), "invalid-field"),
        (json!({"amount": 5, "reason": "x".repeat(1_001)}), "invalid-field"),
        (json!({"amount": 1.5, "reason": reason}), "malformed-body"),
        (json!({"amount": "5", "reason": reason}), "malformed-body"),
        (json!({"amount": u64::MAX, "reason": reason}), "malformed-body"),
        (json!({"amount": 5, "reason": 7}), "malformed-body"),
        (json!({"amount": 5, "reason": ["x"]}), "malformed-body"),
        (json!([]), "malformed-body"),
    ]
}

async fn a_credit_that_does_not_fit_is_refused(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Strict").await;
    credit(&world, &org, 5_000, "first").await.expect(200);
    let before = world.home.dump().await;
    for (body, code) in bad_bodies() {
        let answer = give(&world, &org, "credit", &body).await;
        assert_eq!(answer.header("x-error-code"), Some(code), "{body}: {answer}");
        answer.refused(400, code);
    }
    assert_eq!(world.home.dump().await, before);
}

async fn test_credit_is_seen_until_it_expires(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    world.node.send(&topup(&org, "/v2.3", "1000")).await.expect(200);
    let end = later(&world, &org, 3_600).await;
    let body = json!({"amount": 250, "reason": "promotion", "expiresAt": end});
    let given = give(&world, &org, "test-credit", &body).await.json_of(200);
    let wanted = json!({"balance": 1_000, "testCredit": 250, "testCreditExpiry": end});
    assert_eq!(given, wanted);
    let seen = async |prefix: &str| {
        let answer = world.get(&format!("{prefix}/organisation"), &org.key).await.json_of(200);
        let own = &answer["organisations"][0];
        ["balance", "testCredit", "testCreditExpiry"].map(|name| own[name].clone())
    };
    for (version, prefix) in prefixes() {
        let wanted = if version.name() >= "v2.4" {
            [json!(12.5), json!(2.5), json!(end)]
        } else {
            [json!(1_000), json!(250), json!(end)]
        };
        assert_eq!(seen(prefix).await, wanted, "{prefix}");
    }
    // A top-up says the same balance.
    let old = world.node.send(&topup(&org, "/v2.3", "100")).await.json_of(200);
    let new = world.node.send(&topup(&org, "/v2.4", "1")).await.json_of(200);
    assert_eq!((&old["balance"], &new["balance"]), (&json!(1_100), &json!(14.5)));
    assert_eq!(balance(&world, &org).await, 1_200);

    advance(&world, &org, 3_601).await;
    for (version, prefix) in prefixes() {
        let balance = if version.name() >= "v2.4" { json!(12) } else { json!(1_200) };
        assert_eq!(seen(prefix).await, [balance, json!(0), Value::Null], "{prefix}");
    }
    let statement = statement(&world, &org, "").await;
    let last = statement["entries"].as_array().and_then(|all| all.last()).expect("entries");
    assert_eq!(last["kind"], "testCreditExpiry");
    let ms = |text: &str| Timestamp::parse(text).expect("a time").ms();
    let after = ms(last["time"].as_str().expect("a time")) - ms(&end);
    assert!((0..500).contains(&after), "at its own time, not {after} ms later");
    let mut postings = last["postings"].as_array().expect("a list").clone();
    postings.sort_by_key(|posting| posting["account"].to_string());
    let wanted = [
        json!({"account": "breakage", "amount": 250}),
        json!({"account": "testCredit", "amount": -250}),
    ];
    assert_eq!(postings, wanted);
    let new = world.node.send(&topup(&org, "/v2.5", "1")).await.json_of(200);
    assert_eq!(new["balance"], json!(13));
}

async fn test_credit_is_one_pot_with_the_later_end(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Pot").await;
    let ends = [
        later(&world, &org, 7_200).await,
        later(&world, &org, 3_600).await,
        later(&world, &org, 10_800).await,
    ];
    for (end, shown) in [(0, 0), (1, 0), (2, 2)] {
        let body = json!({"amount": 100, "reason": "more", "expiresAt": ends[end]});
        let given = give(&world, &org, "test-credit", &body).await.json_of(200);
        assert_eq!(given["testCreditExpiry"], json!(ends[shown]));
    }
    let credit = async || {
        let shown = world.show(&format!("/organisations/{}", org.id)).await;
        shown["testCredit"].clone()
    };
    advance(&world, &org, 7_300).await;
    assert_eq!(credit().await, 300);
    advance(&world, &org, 3_600).await;
    assert_eq!(credit().await, 0);
    // A new pot after the end of the old one.
    let end = later(&world, &org, 60).await;
    let body = json!({"amount": 40, "reason": "again", "expiresAt": end});
    let given = give(&world, &org, "test-credit", &body).await.json_of(200);
    assert_eq!((&given["testCredit"], &given["testCreditExpiry"]), (&json!(40), &json!(end)));
    advance(&world, &org, 61).await;
    settle(&world, &org).await;
    let statement = statement(&world, &org, "").await;
    let entries = statement["entries"].as_array().expect("a list");
    let ended = entries.iter().filter(|entry| entry["kind"] == "testCreditExpiry");
    assert_eq!(ended.count(), 2);
}

async fn a_test_credit_that_does_not_fit_is_refused(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Strict").await;
    let before = world.home.dump().await;
    let end = "2100-01-01T00:00:00Z";
    for (mut body, code) in bad_bodies() {
        if body.is_object() {
            body["expiresAt"] = json!(end);
        }
        let answer = give(&world, &org, "test-credit", &body).await;
        assert_eq!(answer.header("x-error-code"), Some(code), "{body}: {answer}");
        answer.refused(400, code);
    }
    let with_end = |end: Value| json!({"amount": 5, "reason": "why", "expiresAt": end});
    for end in ["2020-01-01T00:00:00Z", "1970-01-01T00:00:00Z"] {
        give(&world, &org, "test-credit", &with_end(json!(end)))
            .await
            .refused(400, "invalid-field");
    }
    for end in ["", "tomorrow", "2100-01-01", "2100-13-01T00:00:00Z"] {
        let refusal = give(&world, &org, "test-credit", &with_end(json!(end))).await;
        refusal.refused(400, "invalid-parameter");
    }
    let negative = json!({"amount": -5, "reason": "why", "expiresAt": end});
    give(&world, &org, "test-credit", &negative).await.refused(400, "invalid-field");
    let endless = json!({"amount": 5, "reason": "why"});
    give(&world, &org, "test-credit", &endless).await.refused(400, "missing-parameter");
    assert_eq!(world.home.dump().await, before);
}

async fn a_statement_shows_every_entry_and_its_chain(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let empty = statement(&world, &org, "").await;
    assert_eq!((&empty["entries"], &empty["ledgerEntries"]), (&json!([]), &json!(0)));
    for amount in ["10", "20", "30"] {
        world.node.send(&topup(&org, "/v2.3", amount)).await.expect(200);
    }
    credit(&world, &org, -15, "a fee").await.expect(200);
    let whole = statement(&world, &org, "").await;
    assert_eq!((&whole["organisation"], &whole["currency"]), (&json!(org.id), &json!("USD")));
    let entries = whole["entries"].as_array().expect("a list");
    let numbers: Vec<_> = entries.iter().map(|entry| entry["seq"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(whole["ledgerEntries"], 4);
    assert_eq!(whole["headHash"], entries[3]["hash"]);
    let mut hashes: Vec<_> = entries.iter().map(|entry| entry["hash"].to_string()).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
    let mut available = 0;
    for entry in entries {
        let postings = entry["postings"].as_array().expect("a list");
        let amount = |posting: &Value| posting["amount"].as_i64().expect("whole");
        assert_eq!(postings.iter().map(amount).sum::<i64>(), 0, "{entry}");
        let own = postings.iter().filter(|posting| posting["account"] == "available");
        available += own.map(amount).sum::<i64>();
    }
    assert_eq!(available, balance(&world, &org).await);
    let unchanged = statement(&world, &org, "?format=json").await;
    assert_eq!(unchanged["entries"], whole["entries"]);
}

async fn a_statement_covers_the_period_asked_for(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    for amount in ["10", "20", "30"] {
        world.node.send(&topup(&org, "/v2.3", amount)).await.expect(200);
        advance(&world, &org, 86_400).await;
    }
    let whole = statement(&world, &org, "").await;
    let times: Vec<_> =
        (0..3).map(|n| whole["entries"][n]["time"].as_str().expect("a time").to_owned()).collect();
    let numbers = async |query: String| {
        let part = statement(&world, &org, &query).await;
        assert_eq!(part["headHash"], whole["headHash"], "of the whole ledger: {query}");
        assert_eq!(part["ledgerEntries"], 3, "{query}");
        let entries = part["entries"].as_array().expect("a list").clone();
        entries.iter().map(|entry| entry["seq"].as_i64().expect("whole")).collect::<Vec<_>>()
    };
    let [first, second, third] = [&times[0], &times[1], &times[2]];
    assert_eq!(numbers(format!("?from={second}")).await, [2, 3], "from is included");
    assert_eq!(numbers(format!("?to={second}")).await, [1], "to is not");
    assert_eq!(numbers(format!("?from={first}&to={third}")).await, [1, 2]);
    assert_eq!(numbers(format!("?from={second}&to={second}")).await, [0; 0]);
    assert_eq!(numbers("?from=2100-01-01T00:00:00Z".into()).await, [0; 0]);
    assert_eq!(numbers("?to=2000-01-01T00:00:00%2B02:00".into()).await, [0; 0]);
    for query in ["?from=yesterday", "?to=x", "?format=pdf", "?format=CSV"] {
        let path = format!("/organisations/{}/statement{query}", org.id);
        let refusal = world.node.send(&world.operator("GET", &path)).await;
        refusal.refused(400, "invalid-parameter");
    }
}

async fn a_statement_is_a_harmless_spreadsheet(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Sheet").await;
    let reasons = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "a,b", "say \"no\"", "two\nlines", "é"];
    for reason in reasons {
        credit(&world, &org, 5, reason).await.expect(200);
    }
    let path = format!("/organisations/{}/statement?format=csv", org.id);
    let answer = world.node.send(&world.operator("GET", &path)).await.expect(200);
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    let text = answer.text();
    assert!(text.starts_with("Seq,Time,Kind,Reference,Reason,Account,Amount,Hash\n"), "{text}");
    for cell in [
        r#","'=1+1","#,
        r#","'+1","#,
        r#","'-1","#,
        r#","'@SUM(A1)","#,
        ",\"'\t=1\",",
        r#","a,b","#,
        r#","say ""no""","#,
        ",\"two\nlines\",",
        ",é,",
    ] {
        // One line for each of the two accounts.
        assert_eq!(text.matches(cell).count(), 2, "{cell}: {text}");
    }
    let whole = statement(&world, &org, "").await;
    let head = format!("9,,head,,,,,{}\n", whole["headHash"].as_str().expect("a hash"));
    assert!(text.ends_with(&head), "{text}");
    assert_eq!(whole["entries"][0]["reason"], "=1+1", "only the sheet is guarded");
}
