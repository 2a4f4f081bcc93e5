//! A shop to buy in: a small catalogue at fixed prices, profiles in stock, resellers with money,
//! and what stories about orders ask again and again.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use domain::Timestamp;
use serde_json::{Value, json};
use store::Rt;

use crate::harness::{Answer, Home, Org, Request, World, http};
use crate::money::statement;

/// A bundle of the catalogue below and what it costs on the standard list, in cents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Good {
    pub(crate) name: &'static str,
    pub(crate) price: i64,
}

const fn good(name: &'static str, price: i64) -> Good {
    Good { name, price }
}

pub(crate) const PT: Good = good("esim_1GB_7D_PT_V2", 240);
pub(crate) const PT_MORE: Good = good("esim_3GB_30D_PT_V2", 650);
pub(crate) const FR: Good = good("esim_1GB_7D_FR_V2", 199);
pub(crate) const FR_MORE: Good = good("esim_5GB_30D_FR_V2", 1_105);
pub(crate) const ES: Good = good("esim_1GB_7D_ES_V2", 185);
/// Unlimited, and in a group of its own.
pub(crate) const ES_UNLIMITED: Good = good("esim_UL_7D_ES_V2", 1_990);
/// Unlimited, and starts by itself.
pub(crate) const FR_DAY: Good = good("esim_UL_1D_FR_V2", 350);
/// Starts by itself.
pub(crate) const DE: Good = good("esim_2GB_15D_DE_V2", 480);
/// A region.
pub(crate) const EUROPE: Good = good("esim_5GB_30D_REUP_V2", 1_400);
/// Fits other eSIMs than the rest.
pub(crate) const US: Good = good("esim_1GB_7D_US_V2", 310);
/// Lasts months.
pub(crate) const PT_YEAR: Good = good("esim_12GB_12M_PT_V2", 4_999);
/// Costs nothing.
pub(crate) const TRIAL: Good = good("esim_50MB_1D_PT_V2", 0);
/// Priced in euros only.
pub(crate) const IE_IN_EUROS: Good = good("esim_1GB_7D_IE_V2", 205);

/// The two groups.
pub(crate) const FIXED: &str = "Standard Fixed";
pub(crate) const UNLIMITED: &str = "Standard Unlimited Lite";
/// A price list on which one bundle is cheaper.
pub(crate) const PARTNER: &str = "Partner";
pub(crate) const PT_FOR_PARTNERS: i64 = 200;

/// The profiles of eSIMs.
pub(crate) const PROFILE: &str = "Profile 1";
pub(crate) const OTHER_PROFILE: &str = "Profile 2";

/// What everybody in these stories begins with: 1,000.00.
pub(crate) const PLENTY: i64 = 100_000;

/// The catalogue, as an operator brings it.
pub(crate) fn catalogue() -> Value {
    let data = |good: Good, country: &str, text: &str, mb: i64, days: i64| {
        json!({
            "name": good.name, "description": text, "countries": [country], "dataAmount": mb,
            "duration": days, "speed": ["4G", "5G"], "groups": [FIXED],
            "prices": {"USD": good.price},
        })
    };
    let with = |mut bundle: Value, fields: Value| {
        let fields = fields.as_object().expect("fields").clone();
        bundle.as_object_mut().expect("a bundle").extend(fields);
        bundle
    };
    let unlimited = json!({"unlimited": true, "dataAmount": -1, "groups": [UNLIMITED]});
    let started = with(unlimited.clone(), json!({"autostart": true, "speed": []}));
    let months = json!({"durationUnit": "month", "groups": [FIXED, UNLIMITED]});
    let region = json!({"roamingEnabled": ["PT", "FR", "ES"]});
    let in_euros = json!({"prices": {"EUR": IE_IN_EUROS.price}});
    json!({
        "countries": [{"iso": "Europe+", "name": "Europe+", "region": "Europe"}],
        "groups": [
            {"name": FIXED, "desc": "A fixed amount of data"},
            {"name": UNLIMITED, "desc": "As much as you like"},
        ],
        "bundles": [
            with(data(PT, "PT", "eSIM, 1GB, 7 Days, Portugal, V2", 1_000, 7),
                 json!({"prices": {"USD": PT.price, "EUR": 220}})),
            data(PT_MORE, "PT", "eSIM, 3GB, 30 Days, Portugal, V2", 3_000, 30),
            data(FR, "FR", "eSIM, 1GB, 7 Days, France, V2", 1_000, 7),
            data(FR_MORE, "FR", "eSIM, 5GB, 30 Days, France, V2", 5_000, 30),
            data(ES, "ES", "eSIM, 1GB, 7 Days, Spain, V2", 1_000, 7),
            with(data(ES_UNLIMITED, "ES", "eSIM, UL, 7 Days, Spain, V2", -1, 7), unlimited),
            with(data(FR_DAY, "FR", "eSIM, UL, 1 Day, France, V2", -1, 1), started),
            with(data(DE, "DE", "eSIM, 2GB, 15 Days, Germany, V2", 2_000, 15),
                 json!({"autostart": true})),
            with(data(EUROPE, "Europe+", "eSIM, 5GB, 30 Days, Europe+, V2", 5_000, 30), region),
            with(data(US, "US", "eSIM, 1GB, 7 Days, United States, V2", 1_000, 7),
                 json!({"profileName": OTHER_PROFILE})),
            with(data(PT_YEAR, "PT", "eSIM, 12GB, 12 Months, Portugal, V2", 12_000, 12), months),
            data(TRIAL, "PT", "eSIM, 50MB, 1 Day, Portugal, V2", 50, 1),
            with(data(IE_IN_EUROS, "IE", "eSIM, 1GB, 7 Days, Ireland, V2", 1_000, 7), in_euros),
        ],
        "prices": [
            {"list": PARTNER, "bundle": PT.name, "currency": "USD", "price": PT_FOR_PARTNERS},
        ],
    })
}

/// A service with the catalogue, and so many profiles of the usual kind for sandboxes.
pub(crate) async fn open(home: Home, profiles: usize) -> World {
    let world = World::start(home).await;
    open_in(&world, profiles).await;
    world
}

/// The same in a service that runs already.
pub(crate) async fn open_in(world: &World, profiles: usize) {
    world.order("POST", "/catalogue", &catalogue()).await.expect(200);
    // Every code to install an eSIM has this in it, and none may ever stand in a log.
    world.is_secret(CODE);
    fill(world, 1..profiles + 1, PROFILE).await;
}

/// The profile of that number: its ICCID with the right check digit.
pub(crate) fn iccid(number: usize) -> String {
    let digits = format!("8943001{number:011}");
    let doubled = |(place, digit): (usize, u8)| match (place % 2, u32::from(digit - b'0')) {
        (0, digit) if digit > 4 => digit * 2 - 9,
        (0, digit) => digit * 2,
        (_, digit) => digit,
    };
    let sum: u32 = digits.bytes().rev().enumerate().map(doubled).sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

const CODE: &str = "-SHOP0-";

/// And what names it on the installation server.
pub(crate) fn matching_id(number: usize) -> String {
    format!("TERN0{CODE}{:05}-{:05}", number / 100_000, number % 100_000)
}

/// Brings profiles of those numbers into the sandbox stock.
pub(crate) async fn fill(world: &World, numbers: std::ops::Range<usize>, profile: &str) {
    let numbers: Vec<_> = numbers.collect();
    for chunk in numbers.chunks(1_000) {
        let one = |number: &usize| {
            json!({
                "iccid": iccid(*number), "matchingId": matching_id(*number),
                "smdpAddress": "rsp.example", "profileName": profile,
            })
        };
        let profiles: Vec<_> = chunk.iter().map(one).collect();
        let body = json!({ "profiles": profiles });
        let told = world.order("POST", "/stock?mode=sandbox", &body).await.json_of(200);
        assert_eq!(told["added"], chunk.len(), "{told}");
    }
}

/// How many profiles of a kind wait for sandboxes.
pub(crate) async fn stock(world: &World, profile: &str) -> i64 {
    let shown = world.show("/stock").await;
    let kinds = shown["stock"].as_array().expect("a list");
    let is_it = |kind: &&Value| kind["mode"] == "sandbox" && kind["profileName"] == profile;
    kinds.iter().find(is_it).map_or(0, |kind| kind["free"].as_i64().expect("whole"))
}

/// A sandbox organisation with so much money, in cents.
pub(crate) async fn reseller(world: &World, balance: i64) -> Org {
    let org = world.add_sandbox("Reseller").await;
    credit(world, &org, balance).await;
    org
}

/// Gives money, or takes it.
pub(crate) async fn credit(world: &World, org: &Org, amount: i64) {
    if amount != 0 {
        let body = json!({"amount": amount, "reason": "for the shop"});
        world.order("POST", &format!("/organisations/{}/credit", org.id), &body).await.expect(200);
    }
}

/// Gives test credit that ends so many seconds from now, by the organisation's clock.
pub(crate) async fn test_credit(world: &World, org: &Org, amount: i64, seconds: i64) {
    let end = now(world, org).await.plus_ms(seconds * 1_000).to_string();
    let body = json!({"amount": amount, "reason": "to try things", "expiresAt": end});
    world.order("POST", &format!("/organisations/{}/test-credit", org.id), &body).await.expect(200);
}

/// The time of an organisation.
pub(crate) async fn now(world: &World, org: &Org) -> Timestamp {
    let clock = world.get("/sandbox/v1/clock", &org.key).await.json_of(200);
    Timestamp::parse(clock["now"].as_str().expect("a time")).expect("a time")
}

/// Whether the organisation's asynchronous work waits.
pub(crate) async fn hold(world: &World, org: &Org, on: bool) {
    let request = Request::post("/sandbox/v1/hold").key(&org.key).json(&json!({ "on": on }));
    world.node.send(&request).await.expect(200);
}

/// The body of an order into the inventory.
pub(crate) fn into_inventory(items: &[(Good, i64)]) -> Value {
    let item = |(good, quantity): &(Good, i64)| json!({"item": good.name, "quantity": quantity});
    let items: Vec<_> = items.iter().map(item).collect();
    json!({"type": "transaction", "assign": false, "order": items})
}

/// The body of an order onto new eSIMs.
pub(crate) fn onto_new(items: &[(Good, i64)]) -> Value {
    let mut body = into_inventory(items);
    body["assign"] = json!(true);
    body
}

/// The body of an order onto these eSIMs.
pub(crate) fn onto(good: Good, iccids: &[String]) -> Value {
    let item = json!({"item": good.name, "quantity": iccids.len(), "iccids": iccids});
    json!({"type": "transaction", "assign": true, "order": [item]})
}

/// An order that is only checked.
pub(crate) fn checked(mut body: Value) -> Value {
    body["type"] = json!("validate");
    body
}

/// `POST /orders` under that prefix.
pub(crate) fn order(org: &Org, prefix: &str, body: &Value) -> Request {
    Request::post(&format!("{prefix}/orders")).key(&org.key).json(body)
}

/// Places an order, which must succeed.
pub(crate) async fn buy(world: &World, org: &Org, prefix: &str, body: &Value) -> Value {
    world.node.send(&order(org, prefix, body)).await.json_of(200)
}

/// The reference in an answer.
pub(crate) fn reference(order: &Value) -> String {
    order["orderReference"].as_str().expect("a reference").to_owned()
}

/// One order in the newest version.
pub(crate) async fn seen(world: &World, org: &Org, reference: &str) -> Value {
    world.get(&format!("/v2.5/orders/{reference}"), &org.key).await.json_of(200)
}

/// A page of orders in the newest version; the query starts with `?`, or is empty.
pub(crate) async fn listed(world: &World, org: &Org, query: &str) -> Vec<Value> {
    let page = world.get(&format!("/v2.5/orders{query}"), &org.key).await.json_of(200);
    page["orders"].as_array().expect("a list").clone()
}

/// The ICCIDs of all items of an order.
pub(crate) fn iccids(order: &Value) -> Vec<String> {
    let items = order["order"].as_array().expect("items");
    let lists = items.iter().flat_map(|item| item["iccids"].as_array().expect("a list"));
    lists.map(|iccid| iccid.as_str().expect("a text").to_owned()).collect()
}

/// The inventory in the newest version, whole.
pub(crate) async fn inventory(world: &World, org: &Org) -> Vec<Value> {
    let shown = world.get("/v2.5/inventory", &org.key).await.json_of(200);
    shown["bundles"].as_array().expect("a list").clone()
}

/// The lots of a bundle.
pub(crate) async fn lots(world: &World, org: &Org, good: Good) -> Vec<Value> {
    let held = inventory(world, org).await;
    let of_it = held.into_iter().find(|bundle| bundle["name"] == good.name);
    of_it.map_or_else(Vec::new, |bundle| bundle["available"].as_array().expect("lots").clone())
}

/// The number of the only lot of a bundle.
pub(crate) async fn lot(world: &World, org: &Org, good: Good) -> i64 {
    let lots = lots(world, org, good).await;
    assert_eq!(lots.len(), 1, "{lots:?}");
    lots[0]["id"].as_i64().expect("whole")
}

/// `POST /inventory/refund` under that prefix.
pub(crate) fn refund(org: &Org, prefix: &str, body: &Value) -> Request {
    Request::post(&format!("{prefix}/inventory/refund")).key(&org.key).json(body)
}

/// Gives bundles of a lot back, which must succeed.
pub(crate) async fn give_back(world: &World, org: &Org, lot: i64, quantity: i64) {
    let body = json!({"usageId": lot, "quantity": quantity});
    world.node.send(&refund(org, "/v2.5", &body)).await.expect(200);
}

/// All that an organisation has, as far as an order could take or give it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Has {
    pub(crate) balance: i64,
    pub(crate) test_credit: i64,
    pub(crate) entries: i64,
    pub(crate) orders: i64,
    pub(crate) stock: [i64; 2],
    pub(crate) inventory: Vec<Value>,
}

pub(crate) async fn has(world: &World, org: &Org) -> Has {
    let shown = world.show(&format!("/organisations/{}", org.id)).await;
    let whole = |value: &Value| value.as_i64().expect("whole");
    let page = world.get("/v2.5/orders?limit=1", &org.key).await.json_of(200);
    Has {
        balance: whole(&shown["balance"]),
        test_credit: whole(&shown["testCredit"]),
        entries: whole(&statement(world, org, "").await["ledgerEntries"]),
        orders: whole(&page["rows"]),
        stock: [stock(world, PROFILE).await, stock(world, OTHER_PROFILE).await],
        inventory: inventory(world, org).await,
    }
}

/// The accounts that the last entry of that kind moved, and by how much.
pub(crate) async fn moved(world: &World, org: &Org, kind: &str) -> BTreeMap<String, i64> {
    let all = statement(world, org, "").await;
    let entries = all["entries"].as_array().expect("a list");
    let entry = entries.iter().rfind(|entry| entry["kind"] == kind);
    let entry = entry.unwrap_or_else(|| panic!("no entry of kind {kind}: {all}"));
    let posting = |posting: &Value| {
        let account = posting["account"].as_str().expect("a text").to_owned();
        (account, posting["amount"].as_i64().expect("whole"))
    };
    entry["postings"].as_array().expect("a list").iter().map(posting).collect()
}

/// The same, written down.
pub(crate) fn moves<const N: usize>(wanted: [(&str, i64); N]) -> BTreeMap<String, i64> {
    wanted.into_iter().map(|(account, amount)| (account.to_owned(), amount)).collect()
}

/// The kinds of all entries, oldest first.
pub(crate) async fn entries(world: &World, org: &Org) -> Vec<String> {
    let all = statement(world, org, "").await;
    let entries = all["entries"].as_array().expect("a list");
    entries.iter().map(|entry| entry["kind"].as_str().expect("a text").to_owned()).collect()
}

/// The books of everybody add up.
pub(crate) fn verify(world: &World) {
    let report = world.home.tern_json(&["verify"]);
    assert_eq!((&report["ok"], &report["faults"]), (&json!(true), &json!([])), "{report}");
}

/// Sends all of them at once, each on a line of its own, and hands out the answers in order.
pub(crate) async fn at_once(world: &World, requests: &[Request]) -> Vec<Answer> {
    at_once_to(world, &[world.node.address], requests).await
}

/// The same to several nodes in turn.
pub(crate) async fn at_once_to(
    world: &World,
    addresses: &[SocketAddr],
    requests: &[Request],
) -> Vec<Answer> {
    let send = |(request, address): (&Request, &SocketAddr)| {
        let (bytes, address) = (request.bytes(), *address);
        Rt::real().task(async move { http::exchange(address, &bytes, false).await })
    };
    let clients: Vec<_> = requests.iter().zip(addresses.iter().cycle()).map(send).collect();
    let mut answers = Vec::new();
    for (client, request) in clients.into_iter().zip(requests) {
        let answer = client.await.expect("a client ends").expect("an answer");
        world.node.judge(&request.method, &request.target, &answer);
        answers.push(answer);
    }
    answers
}

/// Those who got what they wanted; everybody else must have been refused like that.
#[track_caller]
pub(crate) fn winners(answers: Vec<Answer>, status: u16, code: &str) -> Vec<Value> {
    let mut won = Vec::new();
    for answer in answers {
        if answer.status == 200 {
            won.push(answer.json());
        } else {
            answer.refused(status, code);
        }
    }
    won
}
