//! What stories about callbacks ask again and again.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::harness::{Call, Org, Receiver, Request, World};
use crate::life_bundles::time;
use crate::shop::{self, PLENTY, PT};

/// A reseller whose callbacks go to a receiver, and so many eSIMs with a bundle each.
pub(crate) async fn told(world: &World, receiver: &Receiver, esims: i64) -> (Org, Vec<String>) {
    let org = shop::reseller(world, PLENTY).await;
    let iccids = many(world, &org, esims).await;
    listen(world, &org, receiver).await;
    (org, iccids)
}

/// Sends the callbacks of an organisation to a receiver.
pub(crate) async fn listen(world: &World, org: &Org, receiver: &Receiver) {
    world.change(org, &json!({"callbackUrl": receiver.url()})).await;
}

/// New eSIMs with a bundle each.
pub(crate) async fn many(world: &World, org: &Org, count: i64) -> Vec<String> {
    let bought = shop::buy(world, org, "/v2.5", &shop::onto_new(&[(PT, count)])).await;
    shop::iccids(&bought)
}

/// A record of data used.
pub(crate) fn used(id: &str, iccid: &str, at: Timestamp, bytes: i64) -> Value {
    json!({"specversion": "1.0", "id": id, "source": "https://cdr.example/node-3",
        "type": "tern.usage.data", "time": at.to_string(),
        "data": {"iccid": iccid, "bytes": bytes}})
}

/// Reports records, each of which must count.
pub(crate) async fn report(world: &World, records: &[Value]) {
    let told = world.order("POST", "/usage", &json!(records)).await.json_of(200);
    let results = told["results"].as_array().expect("a list");
    assert!(results.iter().all(|result| result["verdict"] == "accepted"), "{told}");
}

/// What became of callbacks: the rows of a page, newest first. The query starts with `?`.
pub(crate) async fn deliveries(world: &World, org: &Org, query: &str) -> Vec<Value> {
    let page = world.show(&format!("/organisations/{}/deliveries{query}", org.id)).await;
    page["deliveries"].as_array().expect("a list").clone()
}

/// One delivery with every attempt.
pub(crate) async fn delivery(world: &World, org: &Org, cursor: &Value) -> Value {
    let cursor = cursor.as_str().expect("a cursor");
    world.show(&format!("/organisations/{}/deliveries/{cursor}", org.id)).await
}

/// How the callbacks of an organisation do.
pub(crate) async fn health(world: &World, org: &Org) -> Value {
    world.show(&format!("/organisations/{}/callbacks", org.id)).await
}

/// Sends deliveries again; how many.
pub(crate) async fn replay(world: &World, org: &Org, what: &Value) -> i64 {
    let path = format!("/organisations/{}/deliveries/replay", org.id);
    let told = world.order("POST", &path, what).await.json_of(200);
    told["replayed"].as_i64().expect("whole")
}

/// A call of the sandbox without a body.
pub(crate) fn of_sandbox(org: &Org, path: &str) -> Request {
    Request::post(&format!("/sandbox/v1/{path}")).key(&org.key)
}

/// A moment of the interface as callbacks have it: in whole seconds.
pub(crate) fn seconds(value: &Value) -> String {
    let ms = time(value).ms();
    Timestamp::from_ms(ms - ms % 1_000).to_string()
}

/// What the bundles of an eSIM had left, callback by callback.
pub(crate) fn remaining_of(calls: &[Call], iccid: &str) -> Vec<i64> {
    calls.iter().filter(|call| call.iccid() == iccid).map(Call::remaining).collect()
}
