//! The contract and the route table are the same thing, and every operation of it works.

use std::collections::BTreeSet;

use crate::harness::contract::{self, Seen};
use crate::harness::http::Answer;
use crate::harness::{Home, Org, Request, World};
use crate::{desk, money, money_jobs, shop};
use api::{Operation, Surface};
use serde_json::{Value, json};

crate::on_both! {
    every_operation_succeeds_under_every_prefix,
    the_documents_are_served_as_they_are_written,
}

#[test]
fn every_document_lists_exactly_the_operations_of_its_surface() {
    for surface in Surface::all() {
        let document = contract::document(surface);
        let paths = document["paths"].as_object().expect("paths");
        let methods = |(path, item): (&String, &Value)| {
            let verbs = item.as_object().expect("a path item").keys().cloned();
            let verbs = verbs.filter(|verb| verb != "parameters").map(|verb| verb.to_uppercase());
            verbs.map(|method| Operation { method, path: path.clone() }).collect::<Vec<_>>()
        };
        let written: BTreeSet<_> = paths.iter().flat_map(methods).collect();
        let routed: BTreeSet<_> = api::operations(surface).into_iter().collect();
        assert_eq!(written, routed, "{}", surface.name());
        assert_eq!(routed.len(), api::operations(surface).len(), "{}: none twice", surface.name());
        let server = document["servers"][0]["url"].as_str().expect("a server");
        let prefix = server.trim_end_matches('/');
        assert!(surface.prefixes().contains(&prefix), "{server}");
    }
}

#[test]
fn every_file_of_the_contract_belongs_to_a_surface() {
    let names = std::fs::read_dir(contract::folder()).expect("the contract is there");
    let names: BTreeSet<_> = names
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .collect();
    let known: BTreeSet<_> =
        Surface::all().into_iter().map(|surface| format!("{}.json", surface.name())).collect();
    assert_eq!(names, known);
}

async fn the_documents_are_served_as_they_are_written(home: Home) {
    let world = World::start(home).await;
    for surface in Surface::all() {
        let target = format!("/openapi/{}.json", surface.name());
        let served = world.node.send(&Request::get(&target)).await.json_of(200);
        assert_eq!(&served, contract::document(surface));
    }
}

/// Walks the whole route table with calls that must succeed. An operation without a call here
/// stops the walk, and one that was not reached is found at its end.
async fn every_operation_succeeds_under_every_prefix(home: Home) {
    let world = shop::open(home, 300).await;
    let org = shop::reseller(&world, 10 * shop::PLENTY).await;
    let mut wanted = BTreeSet::new();
    for surface in Surface::all() {
        for &prefix in surface.prefixes() {
            for operation in api::operations(surface) {
                let request = good_call(&world, &org, prefix, &operation).await;
                let answer = world.node.send(&request).await;
                assert!((200..300).contains(&answer.status), "{prefix} {operation:?}: {answer}");
                wanted.insert(Seen { prefix, operation });
            }
        }
    }
    assert_eq!(world.node.seen(), wanted);
}

async fn good_call(world: &World, org: &Org, prefix: &str, operation: &Operation) -> Request {
    let path = operation.path.replace("{id}", &org.id);
    let target = |path: &str| format!("{prefix}{path}");
    let request = |path: &str| Request::new(&operation.method, &target(path));
    let ours = |path: &str| request(path).bearer(&world.operator_key);
    let user = json!({
        "firstName": "Ada", "lastName": "Rowe", "role": "Admin", "emailAddress": "ada@walk.example",
    });
    match (prefix, operation.method.as_str(), operation.path.as_str()) {
        (_, "GET", "/" | "/organisation" | "/clock" | "/events/v1" | "/usage/v1/organisation")
        | (_, "POST", "/settle") => request(&path).key(&org.key),
        (_, _, path) if is_of_callbacks(path) => of_callbacks(world, org, prefix, operation).await,
        ("/operator/v1", _, "/catalogue" | "/stock" | "/organisations/{id}/grants") => {
            let body = shop_body(&path).unwrap_or_default();
            ours(&path.replace("/stock", "/stock?mode=sandbox")).json(&body)
        }
        (_, _, path) if path.starts_with("/esims") => on_esims(world, org, prefix, operation).await,
        (_, "POST", "/usage") => {
            let data = json!({"iccid": desk::esim(world, org).await, "bytes": 5});
            ours(&path).json(&json!([{
                "specversion": "1.0", "id": "walk", "source": "walk", "type": "tern.usage.data",
                "time": "2026-05-04T08:15:00Z", "data": data,
            }]))
        }
        (_, _, path) if is_of_the_shop(path) => in_the_shop(world, org, prefix, operation).await,
        (_, "GET", "/idempotency/v1/{key}") => request("/idempotency/v1/walk").key(&org.key),
        (_, "POST", "/organisation/balance") => {
            money::set_card(world, org, &json!("pays")).await;
            request("/organisation/balance?amount=5").key(&org.key)
        }
        (_, "POST", "/card") => request(&path).key(&org.key).json(&json!({"card": "pays"})),
        (_, "POST", "/organisations/{id}/credit") => {
            ours(&path).json(&json!({"amount": 5, "reason": "walk"}))
        }
        (_, "POST", "/organisations/{id}/test-credit") => {
            let end = "2100-01-01T00:00:00Z";
            ours(&path).json(&json!({"amount": 5, "reason": "walk", "expiresAt": end}))
        }
        (_, "POST", "/jobs/{id}/retry") => {
            let job = money_jobs::given_up(world).await;
            ours(&operation.path.replace("{id}", &job))
        }
        (_, "POST", "/clock/advance") => request(&path).key(&org.key).json(&json!({"seconds": 1})),
        (_, "POST", "/hold") => request(&path).key(&org.key).json(&json!({"on": false})),
        ("/operator/v1", "GET", _) | (_, "POST", "/organisations/{id}/keys") => ours(&path),
        (_, "POST", "/organisations") => ours(&path).json(&json!({"name": "B", "currency": "EUR"})),
        (_, "PATCH", "/organisations/{id}") => ours(&path).json(&json!({"city": "Lerwick"})),
        (_, "DELETE", "/organisations/{id}/keys/{keyId}") => {
            let key = world.add_key(org, &json!({})).await;
            ours(&path.replace("{keyId}", &key.id))
        }
        (_, "POST", "/organisations/{id}/users") => ours(&path).json(&user),
        (_, "POST", "/organisations/{id}/users/{userId}/link") => {
            let person = json!({"firstName": "", "lastName": "", "role": "Viewer",
                "emailAddress": "linked@reseller.example"});
            let people = format!("/organisations/{}/users", org.id);
            let person = world.order("POST", &people, &person).await.json_of(201);
            ours(&path.replace("{userId}", person["id"].as_str().expect("an id")))
        }
        _ => panic!("{operation:?} is new: give it a call that succeeds"),
    }
}

fn is_of_callbacks(path: &str) -> bool {
    let words =
        ["callbacks", "deliveries", "webhook-secret", "/usage/v1/esims", "/faults", "/reset"];
    words.iter().any(|word| path.contains(word))
}

/// A call about what is sent, what was used, and what a sandbox plays with.
async fn of_callbacks(world: &World, org: &Org, prefix: &str, operation: &Operation) -> Request {
    let path = format!("{prefix}{}", operation.path.replace("{id}", &org.id));
    let request = |path: &str| Request::new(&operation.method, path);
    let ours = |path: &str| request(path).bearer(&world.operator_key);
    match operation.path.as_str() {
        "/usage/v1/esims/{iccid}" => {
            request(&path.replace("{iccid}", &desk::esim(world, org).await)).key(&org.key)
        }
        "/faults" => {
            let fault = json!({"route": "GET /networks", "fault": "drop", "times": 0});
            request(&path).key(&org.key).json(&fault)
        }
        "/reset" => request(&path).key(&world.add_sandbox("Afresh").await.key),
        "/callbacks/test" => {
            world.change(org, &json!({"callbackUrl": "https://hooks.example/"})).await;
            request(&path).key(&org.key)
        }
        "/organisations/{id}/callbacks/pause" => ours(&path).json(&json!({"on": false})),
        "/organisations/{id}/deliveries/{cursor}" => {
            ours(&path.replace("{cursor}", &a_delivery(world, org).await))
        }
        "/organisations/{id}/deliveries/replay" => {
            ours(&path).json(&json!({"cursor": a_delivery(world, org).await}))
        }
        "/organisations/{id}/callbacks/test" => {
            world.change(org, &json!({"callbackUrl": "https://hooks.example/"})).await;
            ours(&path)
        }
        _ => ours(&path),
    }
}

/// The cursor of something that is on its way to nobody.
async fn a_delivery(world: &World, org: &Org) -> String {
    world.change(org, &json!({"callbackUrl": "https://hooks.example/"})).await;
    let of = |what: &str| format!("/operator/v1/organisations/{}/{what}", org.id);
    let test = Request::new("POST", &of("callbacks/test")).bearer(&world.operator_key);
    world.node.send(&test).await.json_of(200);
    let list = Request::get(&of("deliveries")).bearer(&world.operator_key);
    let list = world.node.send(&list).await.json_of(200);
    list["deliveries"][0]["cursor"].as_str().expect("a cursor").to_owned()
}

fn is_of_the_shop(path: &str) -> bool {
    let places = ["/catalogue", "/networks", "/orders", "/inventory", "/organisation/groups"];
    places.iter().any(|place| path.starts_with(place))
}

/// What an operator brings.
fn shop_body(path: &str) -> Option<Value> {
    match path.rsplit('/').next()? {
        "catalogue" => Some(shop::catalogue()),
        "stock" => Some(json!({"profiles": []})),
        _ => Some(json!({"bundle": shop::PT.name, "quantity": 5, "reason": "walk"})),
    }
}

/// A call of the interface about bundles and orders.
async fn in_the_shop(world: &World, org: &Org, prefix: &str, operation: &Operation) -> Request {
    let request = |path: &str| Request::new(&operation.method, &format!("{prefix}{path}"));
    let body = shop::into_inventory(&[(shop::PT, 1)]);
    match (operation.method.as_str(), operation.path.as_str()) {
        ("POST", "/orders") => shop::order(org, prefix, &body),
        ("GET", "/orders/{orderReference}") => {
            let order = shop::buy(world, org, prefix, &body).await;
            request(&format!("/orders/{}", shop::reference(&order))).key(&org.key)
        }
        ("POST", "/inventory/refund") => {
            shop::buy(world, org, prefix, &body).await;
            let lots = shop::lots(world, org, shop::PT).await;
            shop::refund(org, prefix, &json!({"usageId": lots[0]["id"], "quantity": 1}))
        }
        ("GET", "/catalogue/bundle/{name}") => {
            request(&format!("/catalogue/bundle/{}", shop::PT.name)).key(&org.key)
        }
        ("GET", "/catalogue/prices") => {
            let fields = json!({"name": "C", "currency": "USD", "billing": "consumption"});
            request("/catalogue/prices").key(&world.add(&fields).await.key)
        }
        ("GET", "/networks") => request("/networks?returnAll=true").key(&org.key),
        ("GET", "/catalogue" | "/orders" | "/inventory" | "/organisation/groups") => {
            request(&operation.path).key(&org.key)
        }
        _ => panic!("{operation:?} is new: give it a call that succeeds"),
    }
}

/// A call about an eSIM, which is a new one with a bundle on it.
async fn on_esims(world: &World, org: &Org, prefix: &str, operation: &Operation) -> Request {
    let esim = desk::esim(world, org).await;
    let id = desk::text(&desk::latest(world, org, &esim, shop::PT).await["id"]);
    let bought = &shop::listed(world, org, "?limit=1").await[0];
    let path = operation.path.replace("{iccid}", &esim).replace("{name}", shop::PT.name);
    let path = path.replace("{bundle}", shop::PT.name).replace("{offerId}", &id);
    let path = path.replace("{assignmentId}", &id);
    let path = path.replace("{reference}", &shop::reference(bought));
    let request = Request::new(&operation.method, &format!("{prefix}{path}"));
    if prefix == "/operator/v1" {
        let body = json!({"suspend": true, "reason": "walk"});
        return request.bearer(&world.operator_key).json(&body);
    }
    let request = request.key(&org.key);
    let body = match operation.path.as_str() {
        "/esims/assignments" => {
            return Request::get(&format!("{prefix}{path}?reference={}", shop::reference(bought)))
                .key(&org.key);
        }
        "/esims/apply" | "/esims/{iccid}/bundles" => {
            desk::grant(world, org, shop::FR, 1).await;
            json!({"bundle": shop::FR.name})
        }
        "/esims" => json!({"iccid": esim, "customerRef": "walk"}),
        "/esims/{iccid}/sms" => {
            desk::number(world, org, &esim, &json!("447700900123")).await;
            json!({"message": "walk"})
        }
        "/esims/{iccid}/suspend" => json!({"suspend": true}),
        "/esims/{iccid}/attach" => json!({"country": "PT"}),
        "/esims/{iccid}/use" => json!({"bytes": 1}),
        "/esims/{iccid}/msisdn" => json!({"msisdn": null}),
        _ => return request,
    };
    if operation.method == "GET" { request } else { request.json(&body) }
}

fn answer(status: u16, headers: &[(&str, &str)], body: &Value) -> Answer {
    let own = [("x-request-id", "1"), ("content-type", "application/json")];
    let pairs = own.iter().chain(headers);
    Answer {
        status,
        headers: pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: body.to_string().into_bytes(),
    }
}

fn fault(method: &str, target: &str, answer: &Answer) -> String {
    contract::check(method, target, answer).expect_err("the judge refuses it")
}

#[test]
fn the_judge_lets_a_right_answer_pass_and_knows_where_it_came_from() {
    let good = answer(200, &[], &json!({"now": "2026-05-04T08:15:00Z"}));
    let seen = contract::check("GET", "/sandbox/v1/clock/?x=1", &good).expect("it fits");
    let operation = Operation { method: "GET".into(), path: "/clock".into() };
    assert_eq!(seen, Some(Seen { prefix: "/sandbox/v1", operation }));
    let elsewhere = contract::check("GET", "/healthz", &answer(200, &[], &json!({})));
    assert_eq!(elsewhere, Ok(None));
}

#[test]
fn the_judge_refuses_a_wrong_body() {
    let (get, clock) = ("GET", "/sandbox/v1/clock");
    for body in [
        json!({}),
        json!({"now": 5}),
        json!({"now": "yesterday"}),
        json!({"now": "2026-05-04"}),
        json!({"now": "2026-05-04T08:15:00Z", "more": 1}),
        json!([]),
    ] {
        let text = fault(get, clock, &answer(200, &[], &body));
        assert!(text.contains(" at "), "{body}: {text}");
    }
    let other = fault(get, clock, &answer(202, &[], &json!({"now": "2026-05-04T08:15:00Z"})));
    assert!(other.contains("undocumented"), "{other}");
    let mut page = answer(200, &[], &json!({"now": "2026-05-04T08:15:00Z"}));
    page.headers[1].1 = "text/html".into();
    assert!(fault(get, clock, &page).contains("content type"));
    let mut nameless = answer(200, &[], &json!({"now": "2026-05-04T08:15:00Z"}));
    nameless.headers.remove(0);
    assert!(fault(get, clock, &nameless).contains("X-Request-Id"));
}

#[test]
fn the_judge_knows_that_old_versions_print_whole_numbers() {
    let list = |version: &str| {
        let surface = Surface::all().into_iter().find(|surface| surface.name() == version);
        let document = contract::document(surface.expect("a version"));
        let operation = &document["paths"]["/organisation"]["get"];
        operation["responses"]["200"]["content"]["application/json"]["example"].clone()
    };
    for version in ["v2.0", "v2.1", "v2.2", "v2.3", "v2.4", "v2.5"] {
        let target = format!("/{version}/organisation");
        let mut body = list(version);
        assert!(contract::check("GET", &target, &answer(200, &[], &body)).is_ok(), "{version}");
        body["organisations"][0]["balance"] = json!(18.5);
        let fits = contract::check("GET", &target, &answer(200, &[], &body)).is_ok();
        assert_eq!(fits, version >= "v2.4", "{version}");
        body["organisations"][0]["balance"] = json!("18");
        fault("GET", &target, &answer(200, &[], &body));
    }
}

#[test]
fn the_judge_refuses_a_wrong_refusal() {
    let code = ("x-error-code", "bad-key");
    let good = json!({"message": "access denied"});
    let any = "/nowhere";
    assert_eq!(contract::check("GET", any, &answer(403, &[code], &good)), Ok(None));
    for (headers, body) in [
        (vec![], good.clone()),
        (vec![("x-error-code", "BadKey")], good.clone()),
        (vec![("x-error-code", "bad--key")], good.clone()),
        (vec![code], json!({"message": "access denied", "more": 1})),
        (vec![code], json!({"message": ""})),
        (vec![code], json!({"error": "access denied"})),
        (vec![code], json!("access denied")),
    ] {
        fault("GET", any, &answer(403, &headers, &body));
    }
    // One refusal of one call says more, and that one must.
    let (post, catalogue) = ("POST", "/operator/v1/catalogue");
    let code = ("x-error-code", "invalid-catalogue");
    let faults = json!([{"at": "bundles[6]", "why": "unknown country: ZZ"}]);
    let full = json!({"message": "bundles[6]: unknown country: ZZ", "faults": faults});
    let seen = contract::check(post, catalogue, &answer(400, &[code], &full));
    assert!(seen.is_ok_and(|seen| seen.is_some()));
    fault(post, "/operator/v1/stock", &answer(400, &[code], &full));
    fault("GET", catalogue, &answer(400, &[code], &full));
    fault(post, catalogue, &answer(400, &[("x-error-code", "malformed-body")], &full));
    for faults in [json!([]), json!(null), json!([{"at": "x"}]), json!("x")] {
        let body = json!({"message": "x", "faults": faults});
        fault(post, catalogue, &answer(400, &[code], &body));
    }
    fault(post, catalogue, &answer(400, &[code], &json!({"message": "x"})));
}

#[test]
fn the_judge_wants_to_hear_when_to_come_again() {
    let (any, code) = ("/nowhere", ("x-error-code", "bad-key"));
    let good = json!({"message": "access denied"});
    for status in [429, 503] {
        assert!(fault("GET", any, &answer(status, &[code], &good)).contains("Retry-After"));
        let soon = [code, ("retry-after", "soon")];
        assert!(fault("GET", any, &answer(status, &soon, &good)).contains("Retry-After"));
        let fine = [code, ("retry-after", "1")];
        assert_eq!(contract::check("GET", any, &answer(status, &fine, &good)), Ok(None));
    }
    let early = [code, ("retry-after", "0")];
    let text = fault("GET", "/v2.5/organisation", &answer(503, &early, &good));
    assert!(text.contains("Retry-After does not fit"), "{text}");
}
