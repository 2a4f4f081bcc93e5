//! `POST /organisation/balance`: what is charged is credited, in the unit of every version.

use api::versions::Version;
use serde_json::{Value, json};

use crate::harness::{Answer, Home, Org, Request, World};

crate::on_both! {
    a_topup_raises_the_balance_by_exactly_the_amount,
    an_amount_is_in_the_unit_of_its_currency,
    an_amount_that_is_none_is_refused_and_changes_nothing,
    a_body_is_ignored,
    a_key_in_the_query_does_not_charge,
    events_are_read_page_by_page_without_a_gap,
    charges_are_read_page_by_page,
}

/// Every version with every prefix it has.
pub(crate) fn prefixes() -> Vec<(Version, &'static str)> {
    let of = |version: Version| version.prefixes().iter().map(move |prefix| (version, *prefix));
    Version::ALL.into_iter().flat_map(of).collect()
}

/// How many minor units (of two decimals) one unit on the wire is.
pub(crate) fn unit(version: Version) -> i64 {
    if version.name() >= "v2.4" { 100 } else { 1 }
}

/// Minor units of two decimals as a version writes them.
pub(crate) fn written(minor: i64, version: Version) -> String {
    if unit(version) == 1 {
        return minor.to_string();
    }
    let (whole, rest) = (minor / 100, format!("{:02}", minor % 100));
    match rest.trim_end_matches('0') {
        "" => whole.to_string(),
        rest => format!("{whole}.{rest}"),
    }
}

/// A top-up that carries no idempotency key.
pub(crate) fn topup(org: &Org, prefix: &str, amount: &str) -> Request {
    Request::post(&format!("{prefix}/organisation/balance?amount={amount}")).key(&org.key)
}

/// One that does, in v2.3.
pub(crate) fn keyed(org: &Org, amount: &str, key: &str) -> Request {
    topup(org, "/v2.3", amount).header("Idempotency-Key", key)
}

pub(crate) async fn set_card(world: &World, org: &Org, card: &Value) {
    let request = Request::post("/sandbox/v1/card").key(&org.key).json(&json!({ "card": card }));
    assert_eq!(world.node.send(&request).await.json_of(200), json!({ "card": card }));
}

/// A sandbox organisation with a card that does that.
pub(crate) async fn with_card(world: &World, card: &str) -> Org {
    let org = world.add_sandbox(&format!("Card that {card}")).await;
    set_card(world, &org, &json!(card)).await;
    org
}

/// The balance in minor units, as the operator sees it.
pub(crate) async fn balance(world: &World, org: &Org) -> i64 {
    let shown = world.show(&format!("/organisations/{}", org.id)).await;
    shown["balance"].as_i64().expect("whole minor units")
}

/// All charges, page by page.
pub(crate) async fn charges(world: &World, org: &Org) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/organisations/{}/charges?limit=700{after}", org.id);
        let page = world.show(&path).await;
        all.extend(page["charges"].as_array().expect("a list").clone());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return all,
        }
    }
}

/// The statement as JSON; the query starts with `?`, or is empty.
pub(crate) async fn statement(world: &World, org: &Org, query: &str) -> Value {
    world.show(&format!("/organisations/{}/statement{query}", org.id)).await
}

/// Kind and data of every event.
pub(crate) async fn events(world: &World, org: &Org) -> Vec<(String, Value)> {
    let feed = world.get("/events/v1?limit=10000", &org.key).await.json_of(200);
    let event =
        |event: &Value| (event["type"].as_str().expect("a kind").to_owned(), event["data"].clone());
    feed["events"].as_array().expect("a list").iter().map(event).collect()
}

pub(crate) async fn advance(world: &World, org: &Org, seconds: i64) {
    let request = Request::post("/sandbox/v1/clock/advance").key(&org.key);
    world.node.send(&request.json(&json!({ "seconds": seconds }))).await.expect(200);
}

pub(crate) async fn settle(world: &World, org: &Org) {
    world.node.send(&Request::post("/sandbox/v1/settle").key(&org.key)).await.expect(200);
}

/// What a key says about its request.
pub(crate) async fn fate(world: &World, org: &Org, key: &str) -> Value {
    world.get(&format!("/idempotency/v1/{key}"), &org.key).await.json_of(200)
}

/// All that must be the same when an answer is given again.
pub(crate) fn essence(answer: &Answer) -> (u16, Option<String>, Option<String>, String) {
    let header = |name| answer.header(name).map(ToOwned::to_owned);
    (answer.status, header("x-error-code"), header("content-type"), answer.text())
}

async fn a_topup_raises_the_balance_by_exactly_the_amount(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let (mut wanted, mut refs) = (0, Vec::new());
    for (version, prefix) in prefixes() {
        let before = wanted;
        wanted += 25 * unit(version);
        let answer = world.node.send(&topup(&org, prefix, "25")).await.expect(200);
        let number = answer.json()["ref"].as_i64().expect("a number");
        let (amount, after) = ("25", written(wanted, version));
        let text = format!(r#"{{"amount":{amount},"balance":{after},"ref":{number}}}"#);
        assert_eq!(answer.text(), text, "{prefix}");
        refs.push(number);
        for (shown_in, other) in prefixes() {
            let seen = world.get(&format!("{other}/organisation"), &org.key).await.expect(200);
            let balance = format!(r#""balance":{},"#, written(wanted, shown_in));
            assert!(seen.text().contains(&balance), "{balance} in {other}: {seen}");
        }
        assert_eq!(balance(&world, &org).await, wanted);

        let (kind, data) = events(&world, &org).await.pop().expect("an event");
        assert_eq!(kind, "Topup");
        let [old, new] =
            [before, wanted].map(|minor| written(minor, Version::NEWEST).parse::<f64>());
        assert_eq!(data["alertType"], "Topup");
        assert_eq!(data["bundle"]["oldAmount"].as_f64(), old.ok());
        assert_eq!(data["bundle"]["newAmount"].as_f64(), new.ok());

        let statement = statement(&world, &org, "").await;
        let entry = statement["entries"].as_array().and_then(|all| all.last()).cloned();
        let entry = entry.expect("an entry");
        assert_eq!(
            (&entry["kind"], &entry["reference"]),
            (&json!("topup"), &json!(text_of(number)))
        );
        let mut postings = entry["postings"].as_array().expect("a list").clone();
        postings.sort_by_key(|posting| posting["account"].to_string());
        let minor = 25 * unit(version);
        let card = json!({"account": "card", "amount": -minor});
        assert_eq!(postings, [json!({"account": "available", "amount": minor}), card]);

        let charge = charges(&world, &org).await.pop().expect("a charge");
        for (name, value) in [
            ("ref", json!(number)),
            ("kind", json!("apiTopup")),
            ("amount", json!(minor)),
            ("state", json!("paid")),
        ] {
            assert_eq!(charge[name], value, "{name}");
        }
        assert!(charge["decidedAt"].is_string(), "{charge}");
    }
    refs.sort_unstable();
    refs.dedup();
    assert_eq!(refs.len(), 7, "a number names one top-up: {refs:?}");
    assert_eq!(events(&world, &org).await.len(), 7);
    assert_eq!(statement(&world, &org, "").await["ledgerEntries"], 7);
    assert_eq!(charges(&world, &org).await.len(), 7);
    let dump = world.home.dump().await;
    let (orders, items) = (&dump["orders"], &dump["order_items"]);
    assert_eq!((orders.len(), items.len()), (7, 7), "each is an order");
    assert!(items.iter().all(|item| item.contains("apiTopup")), "{items:?}");
}

fn text_of(number: i64) -> String {
    number.to_string()
}

async fn an_amount_is_in_the_unit_of_its_currency(home: Home) {
    let world = World::start(home).await;
    for (currency, minor) in [("USD", 700), ("JPY", 7), ("KWD", 7_000)] {
        let fields = json!({"name": currency, "currency": currency, "sandbox": true});
        let org = world.add(&fields).await;
        set_card(&world, &org, &json!("pays")).await;
        let answer = world.node.send(&topup(&org, "/v2.5", "7")).await.json_of(200);
        assert_eq!((&answer["amount"], &answer["balance"]), (&json!(7), &json!(7)), "{currency}");
        assert_eq!(balance(&world, &org).await, minor, "{currency}");
        let answer = world.node.send(&topup(&org, "/v2.3", "7")).await.json_of(200);
        assert_eq!(answer["balance"], json!(minor + 7), "{currency}");
    }
}

async fn an_amount_that_is_none_is_refused_and_changes_nothing(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    world.node.send(&topup(&org, "/v2.3", "5")).await.expect(200);
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        for query in [
            "",
            "?",
            "?amount",
            "?amount=",
            "?amount=0",
            "?amount=000",
            "?amount=-5",
            "?amount=-0",
            "?amount=1.5",
            "?amount=1.0",
            "?amount=5.",
            "?amount=.5",
            "?amount=1,5",
            "?amount=1_000",
            "?amount=abc",
            "?amount=5abc",
            "?amount=1e3",
            "?amount=0x10",
            "?amount=%205",
            "?amount=5%20",
            "?amount=+5",
            "?amount=%2B5",
            "?amount=%D9%A5",
            "?amount=null",
            "?amount=NaN",
            "?amount=9223372036854775808",
            "?amount=9223372036854775807",
            "?amount=18446744073709551621",
            "?amount=99999999999999999999",
            "?Amount=5",
        ] {
            let target = format!("{prefix}/organisation/balance{query}");
            let refusal = world.node.send(&Request::post(&target).key(&org.key)).await;
            let text = refusal.refused(400, "invalid-amount");
            assert_eq!(text, "amount must be a positive integer", "{target}");
        }
        // What is no text at all is refused before anybody looks for an amount.
        for amount in ["%ff", "%00", "5%00"] {
            world.node.send(&topup(&org, prefix, amount)).await.refused(400, "invalid-parameter");
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_body_is_ignored(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let mut wanted = 0;
    for (version, prefix) in prefixes() {
        let plain = topup(&org, prefix, "3");
        for request in [
            plain.clone().json(&json!({"amount": 900})),
            plain.clone().body("not { JSON"),
            plain.clone().chunked("amount=900"),
            plain.header("Content-Type", "application/x-www-form-urlencoded").body("amount=900"),
        ] {
            wanted += 3 * unit(version);
            let answer = world.node.send(&request).await.json_of(200);
            assert_eq!(answer["amount"], 3, "{prefix}");
        }
        let target = format!("{prefix}/organisation/balance");
        let only_body = Request::post(&target).key(&org.key).json(&json!({"amount": 5}));
        world.node.send(&only_body).await.refused(400, "invalid-amount");
    }
    assert_eq!(balance(&world, &org).await, wanted);
}

async fn a_key_in_the_query_does_not_charge(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        let target = format!("{prefix}/organisation/balance?amount=5&api_key={}", org.key);
        world.node.send(&Request::post(&target)).await.refused(403, "bad-key");
        world.node.send(&Request::post(&target).key("wrong")).await.refused(403, "bad-key");
        for method in ["GET", "PUT", "DELETE", "PATCH"] {
            let wrong = Request::new(method, &target).key(&org.key);
            world.node.send(&wrong).await.refused(405, "method-not-allowed");
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn events_are_read_page_by_page_without_a_gap(home: Home) {
    let world = World::start(home).await;
    let (org, other) = (with_card(&world, "pays").await, with_card(&world, "pays").await);
    let nothing = world.get("/events/v1", &org.key).await.json_of(200);
    assert_eq!(nothing, json!({"events": [], "next": null}));
    for amount in ["1", "2", "3", "4", "5"] {
        world.node.send(&topup(&org, "/v2.3", amount)).await.expect(200);
        world.node.send(&topup(&other, "/v2.3", amount)).await.expect(200);
    }
    let all = world.get("/events/v1", &org.key).await.json_of(200);
    let all = all["events"].as_array().expect("a list");
    assert_eq!(all.len(), 5, "its own, and only those");
    let (mut read, mut after) = (Vec::new(), String::new());
    loop {
        let page = world.get(&format!("/events/v1?limit=2{after}"), &org.key).await.json_of(200);
        let next = page["next"].as_str().expect("a cursor").to_owned();
        let events = page["events"].as_array().expect("a list");
        let Some(last) = events.last() else {
            assert_eq!(after, format!("&after={next}"), "an empty page repeats the cursor");
            break;
        };
        assert_eq!(last["cursor"], json!(next));
        read.extend(events.clone());
        after = format!("&after={next}");
    }
    assert_eq!(&read, all);
    for query in ["limit=0", "limit=10001", "limit=x", "after=x", "after=-1", "limit=1.5"] {
        let refusal = world.get(&format!("/events/v1?{query}"), &org.key).await;
        refusal.refused(400, "invalid-parameter");
    }
}

async fn charges_are_read_page_by_page(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    for amount in ["1", "2", "3"] {
        world.node.send(&topup(&org, "/v2.3", amount)).await.expect(200);
    }
    let path = format!("/organisations/{}/charges", org.id);
    let whole = world.show(&path).await;
    assert_eq!(whole["next"], Value::Null);
    let first = world.show(&format!("{path}?limit=2")).await;
    let next = first["next"].as_str().expect("more").to_owned();
    let second = world.show(&format!("{path}?limit=2&after={next}")).await;
    let list = |page: &Value| page["charges"].as_array().expect("a list").clone();
    assert_eq!([list(&first), list(&second)].concat(), list(&whole));
    assert_eq!((list(&whole).len(), &second["next"]), (3, &Value::Null));
}
