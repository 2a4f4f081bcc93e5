//! `Idempotency-Key`: the same request has one effect and one answer, for ever.

use serde_json::{Value, json};
use store::Rt;

use crate::harness::{Home, Node, Request, World, http};
use crate::money::{
    balance, charges, essence, events, fate, keyed, prefixes, set_card, statement, topup, unit,
    with_card,
};
use crate::sealed::{spellings, stolen};

crate::on_both! {
    the_same_request_gets_the_same_answer_in_every_version,
    a_refusal_is_kept_as_well,
    an_answer_outlives_the_process,
    the_same_key_with_another_request_is_refused,
    keys_belong_to_their_organisation,
    a_key_has_a_length,
    many_clients_with_one_key_have_one_effect,
    a_key_nobody_used_is_unknown,
    no_key_and_no_answer_stands_in_the_database,
}

async fn the_same_request_gets_the_same_answer_in_every_version(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let mut wanted = 0;
    for (n, (version, prefix)) in prefixes().into_iter().enumerate() {
        let key = format!("version-{n}");
        let request = topup(&org, prefix, "25").header("Idempotency-Key", &key);
        let first = world.node.send(&request).await.expect(200);
        wanted += 25 * unit(version);
        // In between the balance moves, but not in what was said.
        world.node.send(&topup(&org, "/v2.3", "1")).await.expect(200);
        wanted += 1;
        for _ in 0..3 {
            let again = world.node.send(&request).await;
            assert_eq!(essence(&again), essence(&first), "{prefix}");
        }
        let told = fate(&world, &org, &key).await;
        assert_eq!(told, json!({"state": "done", "status": 200, "body": first.json()}));
        assert_eq!(balance(&world, &org).await, wanted, "{prefix}");
    }
    assert_eq!(charges(&world, &org).await.len(), 2 * prefixes().len());
    assert_eq!(events(&world, &org).await.len(), 2 * prefixes().len());
}

async fn a_refusal_is_kept_as_well(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "declines").await;
    let mut kept = Vec::new();
    let declined = keyed(&org, "5", "declined");
    kept.push(("declined", world.node.send(&declined).await, declined));
    set_card(&world, &org, &Value::Null).await;
    let bare = keyed(&org, "5", "bare");
    kept.push(("bare", world.node.send(&bare).await, bare));
    set_card(&world, &org, &json!("pays")).await;
    world.change(&org, &json!({"topupMinimum": 100, "topupDailyMaximum": 1_000})).await;
    let small = keyed(&org, "99", "small");
    kept.push(("small", world.node.send(&small).await, small));
    let large = keyed(&org, "1001", "large");
    kept.push(("large", world.node.send(&large).await, large));
    world.change(&org, &json!({"topupMinimum": null, "topupDailyMaximum": 0})).await;
    let codes: Vec<_> =
        kept.iter().map(|(_, answer, _)| answer.header("x-error-code").unwrap_or("")).collect();
    let wanted = ["card-declined", "no-stored-card", "amount-below-minimum", "daily-limit-reached"];
    assert_eq!(codes, wanted);
    // Now everything would go well, but those requests have been decided.
    let before = world.home.dump().await;
    for (key, first, request) in &kept {
        assert_eq!(first.status, 400, "{key}");
        let again = world.node.send(request).await;
        assert_eq!(essence(&again), essence(first), "{key}");
        let told = fate(&world, &org, key).await;
        assert_eq!(told, json!({"state": "done", "status": 400, "body": first.json()}));
    }
    assert_eq!(world.home.dump().await, before);
    world.node.send(&keyed(&org, "5", "fresh")).await.expect(200);
}

async fn an_answer_outlives_the_process(home: Home) {
    let mut world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let request = keyed(&org, "25", "lasting");
    let first = world.node.send(&request).await.expect(200);
    world.node.kill();
    world.node = Node::serve(&world.home, &[]).await;
    assert_eq!(essence(&world.node.send(&request).await), essence(&first));
    let second = Node::beside(&world.home, &[]).await;
    assert_eq!(essence(&second.send(&request).await), essence(&first));
    assert_eq!(balance(&world, &org).await, 25);
}

async fn the_same_key_with_another_request_is_refused(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    world.node.send(&keyed(&org, "25", "once")).await.expect(200);
    let before = world.home.dump().await;
    let at = |target: &str| Request::post(target).key(&org.key);
    let mut others = vec![
        keyed(&org, "26", "once"),
        at("/v2.3/organisation/balance?amount=25&x=1").header("Idempotency-Key", "once"),
        at("/v2.3/organisation/balance?amount=025").header("Idempotency-Key", "once"),
        keyed(&org, "25", "once").body("other"),
    ];
    let versions = prefixes().into_iter().filter(|(_, prefix)| *prefix != "/v2.3");
    others.extend(
        versions.map(|(_, prefix)| topup(&org, prefix, "25").header("Idempotency-Key", "once")),
    );
    for other in others {
        let text = world.node.send(&other).await.refused(400, "idempotency-mismatch");
        assert_eq!(text, "idempotency key was used for another request", "{}", other.target);
    }
    assert_eq!(world.home.dump().await, before);
    world.node.send(&keyed(&org, "25", "once")).await.expect(200);
    // Another spelling is another key.
    world.node.send(&keyed(&org, "25", "Once")).await.expect(200);
    assert_eq!(balance(&world, &org).await, 50);
}

async fn keys_belong_to_their_organisation(home: Home) {
    let world = World::start(home).await;
    let (one, two) = (with_card(&world, "pays").await, with_card(&world, "pays").await);
    let unknown = json!({"state": "unknown", "status": null, "body": null});
    let first = world.node.send(&keyed(&one, "25", "shared")).await.json_of(200);
    assert_eq!(fate(&world, &two, "shared").await, unknown);
    let second = world.node.send(&keyed(&two, "30", "shared")).await.json_of(200);
    assert_ne!(first["ref"], second["ref"]);
    assert_eq!((balance(&world, &one).await, balance(&world, &two).await), (25, 30));
    assert_eq!(fate(&world, &one, "shared").await["body"], first);
    assert_eq!(fate(&world, &two, "shared").await["body"], second);
    // All keys of one organisation speak for it.
    let further = world.add_key(&one, &json!({})).await;
    let request = Request::post("/v2.3/organisation/balance?amount=25").key(&further.text);
    let again = world.node.send(&request.header("Idempotency-Key", "shared")).await;
    assert_eq!(again.json_of(200), first);
}

async fn a_key_has_a_length(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        for key in ["x".repeat(256), "x".repeat(1_000), String::new()] {
            let request = topup(&org, prefix, "5").header("Idempotency-Key", &key);
            let text = world.node.send(&request).await.refused(400, "invalid-idempotency-key");
            assert_eq!(text, "invalid Idempotency-Key", "{prefix}");
        }
    }
    assert_eq!(world.home.dump().await, before);
    let longest = "x".repeat(255);
    let first = world.node.send(&keyed(&org, "5", &longest)).await.expect(200);
    assert_eq!(essence(&world.node.send(&keyed(&org, "5", &longest)).await), essence(&first));
    assert_eq!(fate(&world, &org, &longest).await["state"], "done");
    // A key is looked up as it was sent, whatever is in it.
    world.node.send(&keyed(&org, "5", "a b/c?d%e")).await.expect(200);
    assert_eq!(fate(&world, &org, "a%20b%2Fc%3Fd%25e").await["state"], "done");
    assert_eq!(balance(&world, &org).await, 10);
}

async fn many_clients_with_one_key_have_one_effect(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    for round in 0..5 {
        let request = keyed(&org, "25", &format!("crowd-{round}"));
        let (address, bytes) = (world.node.address, request.bytes());
        let client = || {
            let bytes = bytes.clone();
            Rt::real().task(async move { http::exchange(address, &bytes, false).await })
        };
        let clients: Vec<_> = (0..32).map(|_| client()).collect();
        let mut answers = Vec::new();
        for client in clients {
            let answer = client.await.expect("a client ends").expect("an answer");
            world.node.judge(&request.method, &request.target, &answer);
            answers.push(essence(&answer.expect(200)));
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert_eq!(balance(&world, &org).await, 25 * (round + 1));
    }
    assert_eq!(charges(&world, &org).await.len(), 5);
    assert_eq!(events(&world, &org).await.len(), 5);
    assert_eq!(statement(&world, &org, "").await["ledgerEntries"], 5);
}

async fn a_key_nobody_used_is_unknown(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let unknown = json!({"state": "unknown", "status": null, "body": null});
    let before = world.home.dump().await;
    for key in ["never", "x", "%20", "a%2Fb", "..", &"x".repeat(300)] {
        assert_eq!(fate(&world, &org, key).await, unknown, "{key}");
    }
    assert_eq!(world.home.dump().await, before, "looking leaves nothing");
    world.get("/idempotency/v1", &org.key).await.refused(404, "unknown-route");
    let stranger = Request::get("/idempotency/v1/never");
    world.node.send(&stranger).await.refused(403, "bad-key");
    // What was not decided is not kept.
    world.node.send(&keyed(&org, "0", "zero")).await.refused(400, "invalid-amount");
    assert_eq!(fate(&world, &org, "zero").await["state"], "unknown");
}

async fn no_key_and_no_answer_stands_in_the_database(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let key = "the-key-of-a-request-8731";
    let paid = world.node.send(&keyed(&org, "7319", key)).await.expect(200).text();
    set_card(&world, &org, &json!("declines")).await;
    let refusing = "the-key-of-a-refusal-8732";
    let declined = world.node.send(&keyed(&org, "7319", refusing)).await.expect(400).text();
    let stolen = stolen(&world.home).await;
    assert!(stolen.iter().any(|(_, all)| all.contains("7319")), "the charge itself is found");
    for secret in [key, refusing, &paid, &declined] {
        for spelling in spellings(secret) {
            let found = stolen.iter().find(|(_, all)| all.contains(&spelling));
            let place = found.map(|(name, _)| name);
            assert_eq!(place, None, "{secret} stands there as {spelling}");
        }
    }
    assert!(!world.home.logs().contains("the-key-of"), "nor in the log");
}
