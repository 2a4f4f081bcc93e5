//! `POST /esims/{iccid}/sms`: what can be sent, as whom, and what the sandbox keeps of it.

use serde_json::{Value, json};

use crate::desk::{deactivate, esim, number, text};
use crate::harness::{Answer, Home, Org, Request, World};
use crate::money::{advance, prefixes};
use crate::shop::{PLENTY, PT, credit, iccid, matching_id, onto_new, open, order, reseller};

crate::on_both! {
    a_message_has_one_to_a_hundred_and_sixty_characters,
    a_sender_must_have_been_given,
    an_esim_without_a_number_gets_no_message,
    a_body_that_is_no_message_is_refused,
    messages_are_kept_newest_first_and_for_their_owner,
    a_live_organisation_without_a_centre_cannot_send,
}

fn sms(org: &Org, prefix: &str, esim: &str, body: &Value) -> Request {
    Request::post(&format!("{prefix}/esims/{esim}/sms")).key(&org.key).json(body)
}

/// What the message centre of the sandbox keeps: sender and text.
async fn kept(world: &World, org: &Org, esim: &str) -> Vec<(String, String)> {
    let target = format!("/sandbox/v1/esims/{esim}/messages");
    let shown = world.get(&target, &org.key).await.json_of(200);
    let messages = shown["messages"].as_array().expect("a list");
    messages.iter().map(|one| (text(&one["from"]), text(&one["message"]))).collect()
}

#[track_caller]
fn is_sent(answer: Answer, prefix: &str) {
    let wanted = if prefix >= "/v2.4" {
        json!({"status": "sent"})
    } else {
        json!({"message": "Message sent"})
    };
    assert_eq!(answer.json_of(200), wanted, "{prefix}");
}

async fn with_number(world: &World, org: &Org) -> String {
    let own = esim(world, org).await;
    number(world, org, &own, &json!("447700900123")).await;
    own
}

async fn a_message_has_one_to_a_hundred_and_sixty_characters(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    for (_, prefix) in prefixes() {
        let own = with_number(&world, &org).await;
        let mut wanted = Vec::new();
        for message in [
            "x".to_owned(),
            "x".repeat(160),
            "é".repeat(160),
            "\u{1f427}".repeat(160),
            " ".into(),
            "line\nbreak \"quoted\" 'and' \\".into(),
        ] {
            let answer =
                world.node.send(&sms(&org, prefix, &own, &json!({"message": message}))).await;
            is_sent(answer, prefix);
            wanted.insert(0, ("eSIM".to_owned(), message));
            assert_eq!(kept(&world, &org, &own).await, wanted, "{prefix}");
        }
        let before = world.home.dump().await;
        for body in [
            json!({}),
            json!({"message": null}),
            json!({"message": ""}),
            json!({"message": "x".repeat(161)}),
            json!({"message": "é".repeat(161)}),
            json!({"message": "\u{1f427}".repeat(161)}),
            json!({"message": "x".repeat(10_000)}),
        ] {
            let refusal = world.node.send(&sms(&org, prefix, &own, &body)).await;
            let text = refusal.refused(400, "message-length");
            assert_eq!(text, "message must be between 1 and 160 characters", "{prefix}");
        }
        assert_eq!(world.home.dump().await, before);
    }
}

async fn a_sender_must_have_been_given(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = with_number(&world, &org).await;
    let with = |from: Value| json!({"message": "x", "from": from});
    for (_, prefix) in prefixes() {
        world.change(&org, &json!({"senders": []})).await;
        for from in [Value::Null, json!(""), json!("eSIM")] {
            is_sent(world.node.send(&sms(&org, prefix, &own, &with(from))).await, prefix);
            assert_eq!(kept(&world, &org, &own).await[0].0, "eSIM", "{prefix}");
        }
        let count = kept(&world, &org, &own).await.len();
        for from in ["Puffin", "esim", "ESIM", "447700900123"] {
            let refusal = world.node.send(&sms(&org, prefix, &own, &with(json!(from)))).await;
            let text = refusal.refused(400, "sender-not-allowed");
            assert_eq!(text, "sender not allowed", "{prefix} {from}");
        }
        world.change(&org, &json!({"senders": ["Puffin", "Tours"]})).await;
        for from in ["Puffin", "Tours", "eSIM"] {
            is_sent(world.node.send(&sms(&org, prefix, &own, &with(json!(from)))).await, prefix);
            assert_eq!(kept(&world, &org, &own).await[0].0, from, "{prefix}");
        }
        let other = sms(&org, prefix, &own, &with(json!("puffin")));
        world.node.send(&other).await.refused(400, "sender-not-allowed");
        assert_eq!(kept(&world, &org, &own).await.len(), count + 3, "{prefix}");
    }
}

async fn an_esim_without_a_number_gets_no_message(home: Home) {
    let world = open(home, 2).await;
    let org = reseller(&world, PLENTY).await;
    let (own, dead) = (esim(&world, &org).await, with_number(&world, &org).await);
    deactivate(&world, &dead).await;
    let body = json!({"message": "x"});
    for (_, prefix) in prefixes() {
        number(&world, &org, &own, &Value::Null).await;
        let refusal = world.node.send(&sms(&org, prefix, &own, &body)).await;
        assert_eq!(refusal.refused(400, "no-msisdn"), "esim has no msisdn", "{prefix}");
        let refusal = world.node.send(&sms(&org, prefix, &dead, &body)).await;
        let text = refusal.refused(400, "esim-deactivated");
        assert_eq!(text, "esim is deactivated", "{prefix}");
        let count = kept(&world, &org, &own).await.len();
        number(&world, &org, &own, &json!("+447700900124")).await;
        is_sent(world.node.send(&sms(&org, prefix, &own, &body)).await, prefix);
        assert_eq!(kept(&world, &org, &own).await.len(), count + 1, "{prefix}");
    }
    assert!(kept(&world, &org, &dead).await.is_empty());
}

async fn a_body_that_is_no_message_is_refused(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = with_number(&world, &org).await;
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        for body in [
            json!({"message": 5}),
            json!({"message": ["x"]}),
            json!({"message": "a\0b"}),
            json!({"message": "x", "from": 5}),
            json!({"message": "x", "from": "a\0b"}),
            json!([]),
            json!("x"),
        ] {
            let refusal = world.node.send(&sms(&org, prefix, &own, &body)).await;
            let text = refusal.refused(400, "malformed-body");
            assert_eq!(text, "failed to parse request body", "{prefix} {body}");
        }
        let by_query = format!("{prefix}/esims/{own}/sms?api_key={}", org.key);
        let by_query = Request::post(&by_query).json(&json!({"message": "x"}));
        world.node.send(&by_query).await.refused(403, "bad-key");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn messages_are_kept_newest_first_and_for_their_owner(home: Home) {
    let world = open(home, 3).await;
    let (org, other) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let (one, two) = (with_number(&world, &org).await, with_number(&world, &org).await);
    let foreign = with_number(&world, &other).await;
    let marker = "a message for one pair of eyes 4711";
    for (esim, message) in [(&one, "first"), (&two, "other"), (&one, marker)] {
        let body = json!({ "message": message });
        world.node.send(&sms(&org, "/v2.5", esim, &body)).await.expect(200);
        advance(&world, &org, 60).await;
    }
    let sent = |text: &str| ("eSIM".to_owned(), text.to_owned());
    assert_eq!(kept(&world, &org, &one).await, [sent(marker), sent("first")]);
    assert_eq!(kept(&world, &org, &two).await, [sent("other")]);
    assert_eq!(kept(&world, &other, &foreign).await, []);
    let target = format!("/sandbox/v1/esims/{one}/messages");
    let shown = world.get(&target, &org.key).await.json_of(200);
    let at = |n: usize| domain::Timestamp::parse(&text(&shown["messages"][n]["time"]));
    let [later, earlier] = [at(0), at(1)].map(|at| at.expect("a time").ms());
    assert!((120_000..180_000).contains(&(later - earlier)), "{shown}");
    world.get(&target, &other.key).await.refused(403, "not-your-esim");
    // What people write to one another is nobody's business.
    assert!(!world.node.log().contains(marker));
}

async fn a_live_organisation_without_a_centre_cannot_send(home: Home) {
    let world = open(home, 0).await;
    let live = world.add_live("Live").await;
    credit(&world, &live, PLENTY).await;
    let profile = |number: usize, msisdn: &str| {
        json!({"iccid": iccid(number), "matchingId": matching_id(number),
               "smdpAddress": "rsp.example", "msisdn": msisdn})
    };
    let body = json!({"profiles": [profile(1, "447700900123"), profile(2, "")]});
    world.order("POST", "/stock?mode=live", &body).await.expect(200);
    world.node.send(&order(&live, "/v2.3", &onto_new(&[(PT, 2)]))).await.expect(200);
    let before = world.home.dump().await;
    let body = json!({"message": "x"});
    for (_, prefix) in prefixes() {
        let refusal = world.node.send(&sms(&live, prefix, &iccid(1), &body)).await;
        let seconds = refusal.header("retry-after").and_then(|text| text.parse::<u32>().ok());
        assert!(seconds.is_some_and(|seconds| seconds > 0), "{refusal}");
        let text = refusal.refused(503, "sms-unavailable");
        assert_eq!(text, "sms cannot be sent now, try again later", "{prefix}");
        // What is wrong with the message itself is said first.
        world.node.send(&sms(&live, prefix, &iccid(2), &body)).await.refused(400, "no-msisdn");
        let empty = sms(&live, prefix, &iccid(1), &json!({"message": ""}));
        world.node.send(&empty).await.refused(400, "message-length");
    }
    assert_eq!(world.home.dump().await, before);
}
