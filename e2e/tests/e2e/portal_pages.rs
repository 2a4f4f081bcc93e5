//! Every kind of page of the portal with something on it: small, quiet, within the window, and
//! open to everybody, whatever they see or hear with.

use serde_json::json;

use crate::callbacks::listen;
use crate::desk::{consume, number, phone, stock_up};
use crate::harness::browser::WIDE;
use crate::harness::{Home, Org, Receiver, Request, World};
use crate::portal::add_person;
use crate::portal_window::Window;
use crate::shop::{self, FR, PLENTY, PT, US};

/// An organisation that has a bit of everything; an eSIM and an order.
async fn busy(world: &World, receiver: &Receiver) -> (Org, String, String) {
    let networks = json!({"networks": [{"iso": "PT", "name": "Sagres Mobile", "mcc": "268",
        "brandName": "Sagres", "mnc": "98", "tagid": "PRTXX", "speed": ["4G"]}]});
    world.order("POST", "/catalogue", &networks).await.expect(200);
    let org = shop::reseller(world, PLENTY).await;
    listen(world, &org, receiver).await;
    stock_up(world, &org, &[(PT, 3), (FR, 2), (US, 1)]).await;
    let order = shop::buy(world, &org, "/v2.5", &shop::onto_new(&[(PT, 3)])).await;
    let iccid = shop::iccids(&order).remove(0);
    phone(world, &org, &iccid, "install", &json!({})).await;
    phone(world, &org, &iccid, "attach", &json!({"country": "PT"})).await;
    consume(world, &org, &iccid, 258_000_000).await;
    number(world, &org, &iccid, &json!("447700900123")).await;
    let sms = Request::post(&format!("/v2.5/esims/{iccid}/sms")).key(&org.key);
    world.node.send(&sms.json(&json!({"message": "Welcome to Portugal"}))).await.expect(200);
    world.get("/v2.5/esims/8943001000000026411", &org.key).await.expect(403);
    add_person(world, &org, "Viewer");
    receiver.wait_for(1).await;
    (org, iccid, shop::reference(&order))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_well() {
    let world = shop::open(Home::sqlite(), 10).await;
    let receiver = Receiver::start().await;
    let (org, iccid, reference) = busy(&world, &receiver).await;
    let window = Window::open(&world, WIDE).await;
    for path in ["/portal/sign-in", "/portal/forgot", "/portal/code"] {
        window.visit(path).await;
        window.assert_well().await;
    }
    window.sign_in(&add_person(&world, &org, "Owner")).await;
    goods(&window, &iccid, &reference).await;
    offices(&window, &iccid).await;

    window.visit(&format!("/portal/esims/{iccid}")).await;
    let share = json!([["csrf", window.csrf().await], ["days", "7"], ["once", "x"]]);
    window.post(&format!("/portal/esims/{iccid}/share"), &share).await;
    window.visit(&format!("/portal/esims/{iccid}")).await;
    let link = window.script("return document.querySelector('a[href*=\"/share/\"]').href").await;
    let link = link.as_str().expect("a link").to_owned();
    world.is_secret(link.rsplit('/').next().expect("a token"));
    window.assert_well().await;
    window.go(&link).await;
    window.assert_well().await;
    for path in ["/portal/nowhere", "/portal/esims/8943001000000026411", "/share/nothing"] {
        window.visit(path).await;
        // The browser itself calls a 404 an error.
        assert_eq!(window.console_errors().await.len(), 1, "{path}");
        window.assert_well().await;
    }
    in_the_dark(&window, &[&format!("/portal/esims/{iccid}"), "/portal", "/portal/catalogue"])
        .await;
}

/// What is bought, and where it is then.
async fn goods(window: &Window, iccid: &str, reference: &str) {
    let of_order = format!("/portal/orders/{reference}");
    for path in [
        "/portal",
        "/portal/catalogue",
        "/portal/catalogue?q=portugal&data=s",
        "/portal/catalogue?q=nowhere",
        "/portal/esims",
        "/portal/esims?q=nobody",
        &format!("/portal/esims/{iccid}?step=hour"),
        "/portal/orders",
        &of_order,
        &format!("{of_order}/print?per=6"),
        &format!("{of_order}/print?per=12"),
        "/portal/inventory",
        &format!("/portal/inventory/{}", PT.name),
        "/portal/billing",
        "/portal/billing/card",
        &format!("/portal/catalogue/{}", PT.name),
    ] {
        window.visit(path).await;
        window.assert_well().await;
    }
    window.submit("form[action='/portal/catalogue/buy/check']").await;
    window.wait_for("form[action='/portal/catalogue/buy']").await;
    window.assert_well().await;
}

/// What developers and owners look after.
async fn offices(window: &Window, iccid: &str) {
    for path in [
        "/portal/developers",
        "/portal/developers/callbacks",
        "/portal/developers/events",
        "/portal/developers/requests",
        "/portal/developers/sandbox",
        "/portal/team",
        "/portal/team/organisation",
        "/portal/team/audit",
        &format!("/portal/team/erasure?who={iccid}"),
        "/portal/account",
        "/portal/developers/deliveries",
    ] {
        window.visit(path).await;
        window.assert_well().await;
    }
    window.follow("a.row[href^='/portal/developers/deliveries/']").await;
    window.assert_well().await;
    window.visit("/portal/developers").await;
    window.follow("a.row[href^='/portal/developers/keys/']").await;
    window.assert_well().await;
}

async fn in_the_dark(window: &Window, paths: &[&str]) {
    window.dark().await;
    for path in paths {
        window.visit(path).await;
        window.assert_accessible().await;
    }
    window.light().await;
    window.assert_quiet().await;
}
