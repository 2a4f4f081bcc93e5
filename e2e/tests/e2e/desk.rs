//! An eSIM at hand, and what stories about eSIMs and their bundles ask again and again.

use api::versions::Version;
use serde_json::{Value, json};

use crate::harness::{Answer, Org, Request, World};
use crate::money::prefixes;
use crate::shop::{self, Good, PT};

/// Every prefix of the versions from that one on.
pub(crate) fn since(name: &'static str) -> impl Iterator<Item = (Version, &'static str)> {
    prefixes().into_iter().filter(move |(version, _)| version.name() >= name)
}

/// A new eSIM with one bundle on it, bought for it.
pub(crate) async fn esim(world: &World, org: &Org) -> String {
    esim_with(world, org, PT).await
}

/// The same with another bundle.
pub(crate) async fn esim_with(world: &World, org: &Org, good: Good) -> String {
    let bought = shop::buy(world, org, "/v2.5", &shop::onto_new(&[(good, 1)])).await;
    shop::iccids(&bought).remove(0)
}

/// Buys bundles into the inventory.
pub(crate) async fn stock_up(world: &World, org: &Org, items: &[(Good, i64)]) {
    shop::buy(world, org, "/v2.1", &shop::into_inventory(items)).await;
}

/// The operator gives a bundle for nothing.
pub(crate) async fn grant(world: &World, org: &Org, good: Good, quantity: i64) {
    let body = json!({"bundle": good.name, "quantity": quantity, "reason": "why not"});
    world.order("POST", &format!("/organisations/{}/grants", org.id), &body).await.expect(200);
}

/// `POST /esims/apply` under that prefix.
pub(crate) fn apply(org: &Org, prefix: &str, body: &Value) -> Request {
    Request::post(&format!("{prefix}/esims/apply")).key(&org.key).json(body)
}

/// Applies, which must succeed.
pub(crate) async fn put_on(world: &World, org: &Org, prefix: &str, body: &Value) -> Value {
    world.node.send(&apply(org, prefix, body)).await.json_of(200)
}

/// Puts a bundle of the inventory on an eSIM; the number of the assignment.
pub(crate) async fn put_onto(world: &World, org: &Org, iccid: &str, good: Good) -> String {
    put_on(world, org, "/v2.5", &json!({"iccid": iccid, "bundle": good.name})).await;
    text(&latest(world, org, iccid, good).await["id"])
}

/// `POST /esims/{iccid}/bundles` under that prefix.
pub(crate) fn apply_to_one(org: &Org, prefix: &str, iccid: &str, body: &Value) -> Request {
    Request::post(&format!("{prefix}/esims/{iccid}/bundles")).key(&org.key).json(body)
}

/// A text of an answer.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

/// The ICCIDs of the answer to an apply.
pub(crate) fn applied(answer: &Value) -> Vec<String> {
    answer["esims"].as_array().expect("rows").iter().map(|row| text(&row["iccid"])).collect()
}

/// The reference of the answer to an apply.
pub(crate) fn apply_reference(answer: &Value) -> String {
    text(&answer["applyReference"])
}

/// Something that is read of an eSIM in the newest version.
pub(crate) async fn of(world: &World, org: &Org, iccid: &str, what: &str) -> Value {
    world.get(&format!("/v2.5/esims/{iccid}{what}"), &org.key).await.json_of(200)
}

/// The latest application of a bundle on an eSIM.
pub(crate) async fn latest(world: &World, org: &Org, iccid: &str, good: Good) -> Value {
    let shown = of(world, org, iccid, &format!("/bundles/{}", good.name)).await;
    shown["assignments"][0].clone()
}

/// All that is and was on an eSIM, newest first: each bundle with its name.
pub(crate) async fn on(world: &World, org: &Org, iccid: &str) -> Vec<(String, Value)> {
    let shown = of(world, org, iccid, "/bundles?includeUsed=true&limit=10000").await;
    let bundles = shown["bundles"].as_array().expect("a list").clone();
    let each = |bundle: Value| {
        let all = bundle["assignments"].as_array().expect("a list").clone();
        all.into_iter().map(move |one| (text(&bundle["name"]), one))
    };
    bundles.into_iter().flat_map(each).collect()
}

/// The number and the state of each, oldest first.
pub(crate) async fn states(world: &World, org: &Org, iccid: &str) -> Vec<(String, String)> {
    let all = on(world, org, iccid).await.into_iter();
    let mut all: Vec<_> =
        all.map(|(_, one)| (text(&one["id"]), text(&one["bundleState"]))).collect();
    all.sort_by_key(|(id, _)| id.parse::<i64>().expect("a number"));
    all
}

/// What happened to an eSIM, newest first: the names.
pub(crate) async fn happened(world: &World, org: &Org, iccid: &str) -> Vec<String> {
    let shown = of(world, org, iccid, "/history").await;
    let actions = shown["actions"].as_array().expect("a list");
    actions.iter().map(|action| text(&action["name"])).collect()
}

/// `DELETE` of something on an eSIM.
pub(crate) fn take_off(org: &Org, prefix: &str, iccid: &str, rest: &str) -> Request {
    Request::new("DELETE", &format!("{prefix}/esims/{iccid}/bundles/{rest}")).key(&org.key)
}

/// Something done with the phone of a sandbox.
pub(crate) async fn phone(world: &World, org: &Org, iccid: &str, act: &str, body: &Value) -> Value {
    let target = format!("/sandbox/v1/esims/{iccid}/{act}");
    world.node.send(&Request::post(&target).key(&org.key).json(body)).await.json_of(200)
}

/// Uses data.
pub(crate) async fn consume(world: &World, org: &Org, iccid: &str, bytes: i64) {
    phone(world, org, iccid, "use", &json!({ "bytes": bytes })).await;
}

/// Gives an eSIM a number, or takes it away.
pub(crate) async fn number(world: &World, org: &Org, iccid: &str, number: &Value) {
    phone(world, org, iccid, "msisdn", &json!({ "msisdn": number })).await;
}

/// The operator ends an eSIM for good.
pub(crate) async fn deactivate(world: &World, iccid: &str) {
    let body = json!({"reason": "stolen"});
    let told = world.order("POST", &format!("/esims/{iccid}/deactivate"), &body).await;
    assert_eq!(told.json_of(200), json!({"iccid": iccid, "state": "deactivated"}));
}

/// The operator suspends an eSIM, or lifts that; in which state it is then.
pub(crate) async fn police(world: &World, iccid: &str, on: bool) -> String {
    let body = json!({"suspend": on, "reason": "abuse"});
    let told = world.order("POST", &format!("/esims/{iccid}/suspend"), &body).await.json_of(200);
    text(&told["state"])
}

/// The whole list of eSIMs in the newest version.
pub(crate) async fn esims(world: &World, org: &Org) -> Vec<Value> {
    let shown = world.get("/v2.5/esims?limit=10000", &org.key).await.json_of(200);
    shown["esims"].as_array().expect("a list").clone()
}

/// The same refusal of an ICCID that is nobody's, one in stock and one of somebody else; its text.
#[track_caller]
pub(crate) fn alike(answers: Vec<Answer>, status: u16, code: &str) -> String {
    let prints: Vec<_> = answers.iter().map(Answer::fingerprint).collect();
    assert!(prints.windows(2).all(|pair| pair[0] == pair[1]), "{prints:?}");
    let texts: Vec<_> = answers.into_iter().map(|answer| answer.refused(status, code)).collect();
    texts.into_iter().next().expect("an answer")
}
