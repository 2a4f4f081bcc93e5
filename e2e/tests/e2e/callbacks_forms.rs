//! What a receiver gets, byte by byte, and how it can tell that it is from us.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::{Value, json};

use crate::callbacks::{deliveries, delivery, of_sandbox, seconds};
use crate::desk::{consume, latest, text};
use crate::harness::{Call, Home, Org, Ran, Receiver, Request, World, python};
use crate::money::settle;
use crate::shop::{PLENTY, PT, buy, iccids, onto_new, open, reference, reseller};

crate::on_both! {
    the_shorter_form_is_that_of_the_contract,
    the_fuller_form_is_that_of_the_contract_and_signed,
    a_new_primary_key_signs_from_then_on,
    a_library_of_others_verifies_what_we_sign,
    both_secrets_sign_while_one_follows_the_other,
    an_event_to_try_things_out_looks_like_one,
}

/// A reseller with one eSIM, what it was bought with, and a receiver.
async fn start(home: Home, fields: Value) -> (World, Org, Receiver, String, String) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let org = reseller(&world, PLENTY).await;
    let bought = buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await;
    let iccid = iccids(&bought).remove(0);
    let mut fields = fields;
    fields["callbackUrl"] = json!(receiver.url());
    world.change(&org, &fields).await;
    (world, org, receiver, iccid, reference(&bought))
}

async fn the_shorter_form_is_that_of_the_contract(home: Home) {
    let (world, org, receiver, iccid, _) = start(home, json!({})).await;
    consume(&world, &org, &iccid, 258_000_000).await;
    let call = receiver.wait_for(1).await.remove(0);
    let one = latest(&world, &org, &iccid, PT).await;
    let wanted = format!(
        "{{\"iccid\":\"{iccid}\",\"alertType\":\"Utilisation\",\"bundle\":{{\"id\":\"{}\",\
         \"name\":\"{}\",\"initialQuantity\":1000000000,\"remainingQuantity\":742000000,\
         \"startTime\":\"{}\",\"endTime\":\"{}\"}}}}",
        text(&one["id"]),
        PT.name,
        seconds(&one["startTime"]),
        seconds(&one["endTime"]),
    );
    assert_eq!(call.text(), wanted);
    assert_eq!((call.method.as_str(), call.path.as_str()), ("POST", "/hook"));
    assert_eq!(call.header("content-type"), Some("application/json"));
    assert_eq!(call.header("content-length"), Some(&*wanted.len().to_string()));
    assert_eq!(call.header("host"), Some(&*format!("127.0.0.1:{}", receiver.port())));
    for name in ["x-signature-sha256", "webhook-id", "webhook-timestamp", "webhook-signature"] {
        assert_eq!(call.header(name), None, "the shorter form is not signed");
    }
    // The bytes of an event are made with it, whatever is chosen afterwards.
    world.change(&org, &json!({"callbackVersion": "V3"})).await;
    let cursor = deliveries(&world, &org, "").await[0]["cursor"].clone();
    let shown = delivery(&world, &org, &cursor).await;
    assert_eq!((&shown["version"], &shown["data"]), (&json!("V2"), &call.json()));
    crate::callbacks::replay(&world, &org, &json!({ "cursor": cursor })).await;
    let again = receiver.wait_for(2).await.remove(1);
    assert_eq!(again.text(), wanted);
    assert_eq!(again.header("webhook-id"), None);
}

/// The value of `X-Signature-SHA256`, computed here.
fn by_key(key: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    STANDARD.encode(hmac::sign(&key, body))
}

#[track_caller]
pub(crate) fn is_signed_by(call: &Call, key: &str) {
    let signature = call.header("x-signature-sha256").expect("a signature");
    assert_eq!(signature, by_key(key, &call.body));
    assert_eq!(signature.len(), 44);
}

async fn the_fuller_form_is_that_of_the_contract_and_signed(home: Home) {
    let fuller = json!({"callbackVersion": "V3"});
    let (world, org, receiver, iccid, reference) = start(home, fuller).await;
    consume(&world, &org, &iccid, 258_000_000).await;
    let call = receiver.wait_for(1).await.remove(0);
    let one = latest(&world, &org, &iccid, PT).await;
    let wanted = format!(
        "{{\"iccid\":\"{iccid}\",\"alertType\":\"Utilisation\",\"bundle\":{{\"id\":\"{}\",\
         \"reference\":\"{reference}-0\",\"name\":\"{}\",\
         \"description\":\"eSIM, 1GB, 7 Days, Portugal, V2\",\
         \"initialQuantity\":1000000000,\"remainingQuantity\":742000000,\
         \"startTime\":\"{}\",\"endTime\":\"{}\",\"unlimited\":false}}}}",
        text(&one["id"]),
        PT.name,
        seconds(&one["startTime"]),
        seconds(&one["endTime"]),
    );
    assert_eq!(call.text(), wanted);
    assert_eq!(call.header("content-type"), Some("application/json"));
    is_signed_by(&call, &org.key);
    // The reference is good for what the interface takes it for.
    let target = format!("/v2.5/esims/assignments?reference={reference}-0");
    let found = Request::get(&target).key(&org.key).header("Accept", "application/json");
    let found = world.node.send(&found).await.json_of(200);
    assert!(found.to_string().contains(&iccid), "{found}");
    // The feed has the same event under the same id.
    let feed = world.get("/events/v1?limit=10000", &org.key).await.json_of(200);
    let events = feed["events"].as_array().expect("a list");
    let id = call.header("webhook-id").expect("an id");
    let event = events.iter().find(|event| event["id"] == id).expect("it is there");
    assert_eq!((&event["type"], &event["data"]), (&json!("Utilisation"), &call.json()));
    let sent: i64 = call.header("webhook-timestamp").expect("a time").parse().expect("seconds");
    assert!((sent - call.at.ms() / 1_000).abs() <= 2, "{sent} is not about {}", call.at);
}

async fn a_new_primary_key_signs_from_then_on(home: Home) {
    let fuller = json!({"callbackVersion": "V3"});
    let (world, org, receiver, iccid, _) = start(home, fuller).await;
    let other = world.add_key(&org, &json!({"label": "not primary"})).await;
    consume(&world, &org, &iccid, 1_000).await;
    is_signed_by(&receiver.wait_for(1).await[0], &org.key);
    let new = world.add_key(&org, &json!({"primary": true})).await;
    consume(&world, &org, &iccid, 1_000).await;
    is_signed_by(&receiver.wait_for(2).await[1], &new.text);
    // Whatever became of the others.
    world.revoke(&org, &other).await.expect(200);
    consume(&world, &org, &iccid, 1_000).await;
    is_signed_by(&receiver.wait_for(3).await[2], &new.text);
}

const LIBRARY: &str = "standardwebhooks==1.1.0";

/// Verifies as a receiver in Python does: with the published library, the raw body, the headers.
const VERIFY: &str = "import json, sys\n\
    from standardwebhooks.webhooks import Webhook, WebhookVerificationError\n\
    for line in sys.stdin:\n\
    \x20   told = json.loads(line)\n\
    \x20   try:\n\
    \x20       data = Webhook(told['secret']).verify(told['body'], told['headers'])\n\
    \x20       print(json.dumps(data['iccid']))\n\
    \x20   except WebhookVerificationError as error:\n\
    \x20       print(json.dumps('refused: ' + str(error)))\n";

/// What the library says of each call by each secret.
async fn verified(asked: &[(&Call, &str)]) -> Vec<String> {
    let line = |(call, secret): &(&Call, &str)| {
        let mut headers = serde_json::Map::new();
        for (name, value) in &call.headers {
            headers.insert(name.clone(), json!(value));
        }
        json!({"secret": secret, "body": call.text(), "headers": headers}).to_string() + "\n"
    };
    let lines: String = asked.iter().map(line).collect();
    let mut python = Command::new("python3");
    python.args(["-c", VERIFY]).env("PYTHONPATH", python::package(LIBRARY).await);
    let ran = Ran::with_input(&mut python, &lines);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout.lines().map(|line| text(&serde_json::from_str(line).expect("JSON"))).collect()
}

/// The webhook secret; with POST a new one.
async fn secret(world: &World, org: &Org, method: &str) -> String {
    let path = format!("/organisations/{}/webhook-secret", org.id);
    let told = world.node.send(&world.operator(method, &path)).await.json_of(200);
    let secret = text(&told["secret"]);
    world.is_secret(&secret);
    secret
}

async fn a_library_of_others_verifies_what_we_sign(home: Home) {
    let fuller = json!({"callbackVersion": "V3", "callbackEvents": ["Credit", "FirstUse"]});
    let (world, org, receiver, iccid, _) = start(home, fuller).await;
    consume(&world, &org, &iccid, 1_000).await;
    let calls = receiver.wait_for(2).await;
    let kinds: Vec<_> = calls.iter().map(Call::kind).collect();
    assert_eq!(kinds, ["FirstUse", "Utilisation"]);
    // The first secret is made when it is needed, and stays.
    let own = secret(&world, &org, "GET").await;
    assert_eq!(secret(&world, &org, "GET").await, own);
    assert!(own.starts_with("whsec_"), "a prefix tells what it is");
    assert_eq!(STANDARD.decode(&own[6..]).expect("base64").len(), 32);
    let mut forged = calls[1].clone();
    forged.body = forged.text().replace("999999000", "999999001").into_bytes();
    assert_ne!(forged.body, calls[1].body);
    let mut moved = calls[1].clone();
    moved.headers = calls[0].headers.clone();
    let stranger = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let asked = [
        (&calls[0], &*own),
        (&calls[1], &*own),
        (&forged, &*own),
        (&moved, &*own),
        (&calls[0], stranger),
    ];
    let told = verified(&asked).await;
    assert_eq!(told[..2], [iccid.clone(), iccid]);
    assert!(told[2..].iter().all(|text| text.starts_with("refused: ")), "{told:?}");
    is_signed_by(&calls[0], &org.key);
}

async fn both_secrets_sign_while_one_follows_the_other(home: Home) {
    let fuller = json!({"callbackVersion": "V3"});
    let (world, org, receiver, iccid, _) = start(home, fuller).await;
    let old = secret(&world, &org, "GET").await;
    consume(&world, &org, &iccid, 1_000).await;
    receiver.wait_for(1).await;
    let new = secret(&world, &org, "POST").await;
    assert_ne!(new, old);
    assert_eq!(secret(&world, &org, "GET").await, new);
    consume(&world, &org, &iccid, 1_000).await;
    let calls = receiver.wait_for(2).await;
    let signatures = |call: &Call| {
        let all = call.header("webhook-signature").expect("signed").split(' ');
        all.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(signatures(&calls[0]).len(), 1);
    assert_eq!(signatures(&calls[1]).len(), 2);
    let asked = [(&calls[0], &*old), (&calls[0], &*new), (&calls[1], &*old), (&calls[1], &*new)];
    let told = verified(&asked).await;
    assert_eq!([&told[0], &told[2], &told[3]], [&iccid; 3]);
    assert!(told[1].starts_with("refused: "), "{told:?}");
    // It is noted who did it, and never what it is.
    let audit = world.show("/audit?limit=1000").await.to_string();
    assert!(audit.contains("webhook-secret.rotate"), "{audit}");
    assert!(!audit.contains(&new) && !audit.contains(&old));
}

async fn an_event_to_try_things_out_looks_like_one(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let org = reseller(&world, PLENTY).await;
    let by_operator = format!("/organisations/{}/callbacks/test", org.id);
    let nowhere = "no callback address is set";
    let refusal = world.node.send(&of_sandbox(&org, "callbacks/test")).await;
    assert_eq!(refusal.refused(400, "no-callback-url"), nowhere);
    let refusal = world.node.send(&world.operator("POST", &by_operator)).await;
    assert_eq!(refusal.refused(400, "no-callback-url"), nowhere);
    let url = receiver.url();
    world.change(&org, &json!({"callbackUrl": url, "callbackVersion": "V3"})).await;
    let by_reseller = world.node.send(&of_sandbox(&org, "callbacks/test")).await.json_of(200);
    settle(&world, &org).await;
    let told = world.node.send(&world.operator("POST", &by_operator)).await.json_of(200);
    settle(&world, &org).await;
    let calls = receiver.calls();
    assert_eq!(calls.len(), 2);
    for (call, told) in calls.iter().zip([&by_reseller, &told]) {
        assert_eq!(call.header("webhook-id"), told["event"].as_str());
        is_signed_by(call, &org.key);
        let json = call.json();
        assert_eq!((call.kind().as_str(), &json["bundle"]["id"]), ("Utilisation", &json!("0")));
        assert!(json["bundle"]["description"].as_str().is_some_and(|d| d.contains("Test")));
    }
    let unknown = "/organisations/00000000-0000-4000-8000-000000000000/callbacks/test";
    let refusal = world.node.send(&world.operator("POST", unknown)).await;
    refusal.refused(404, "unknown-organisation");
    let live = world.add_live("Live").await;
    let refusal = world.node.send(&of_sandbox(&live, "callbacks/test")).await;
    refusal.refused(403, "live-organisation");
}
