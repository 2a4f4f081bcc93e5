//! The portal among bad people, in a real browser: markup stays text wherever it is shown, and
//! forms do nothing for those whom they are not for.

use serde_json::{Value, json};

use crate::callbacks::listen;
use crate::desk::{consume, esim, number, stock_up, text};
use crate::harness::browser::{NARROW, WIDE};
use crate::harness::{Home, Org, Ran, Reaction, Receiver, Request, World};
use crate::portal::{PASSWORD, add_person};
use crate::portal_window::Window;
use crate::shop::{self, FIXED, PLENTY, PT, has, onto_new, reseller};

/// Every way in that people try, and a mark that turns the line around.
const EVIL: &str = "<script>hacked=1</script>\"><img src=x onerror=hacked=2>\
    <a href=javascript:hacked=3>x</a>'\u{202e}evil";

/// A bundle whose description is not one, and an organisation, a person, a reference, a message, a
/// reason, a key and an answer of that kind.
async fn hostile(world: &World, receiver: &Receiver) -> (Org, String, String, String) {
    let bundle = json!({"bundles": [{"name": PT.name, "description": EVIL, "countries": ["PT"],
        "dataAmount": 1_000, "duration": 7, "speed": ["4G"], "groups": [FIXED],
        "prices": {"USD": PT.price}}]});
    world.order("POST", "/catalogue", &bundle).await.expect(200);
    let org = world.add(&json!({"name": EVIL, "currency": "USD", "sandbox": true})).await;
    let credit = json!({"amount": PLENTY, "reason": EVIL});
    let path = format!("/organisations/{}/credit", org.id);
    world.order("POST", &path, &credit).await.expect(200);
    world.add_key(&org, &json!({"label": EVIL})).await;
    listen(world, &org, receiver).await;
    stock_up(world, &org, &[(PT, 2)]).await;
    let order = shop::buy(world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await;
    let iccid = shop::iccids(&order).remove(0);
    consume(world, &org, &iccid, 1_000_000).await;
    number(world, &org, &iccid, &json!("447700900123")).await;
    let note = json!({"iccid": iccid, "customerRef": EVIL});
    let note = Request::new("PUT", "/v2.5/esims").key(&org.key).json(&note);
    world.node.send(&note).await.expect(200);
    let sms = Request::post(&format!("/v2.5/esims/{iccid}/sms")).key(&org.key);
    world.node.send(&sms.json(&json!({ "message": EVIL }))).await.expect(200);
    receiver.wait_for(1).await;
    let email = "evil@reseller.example";
    world.is_secret(PASSWORD);
    let args = ["user", "add", email, "--org", &org.id, "--role", "Owner", "--password-stdin"];
    let names = ["--first-name", EVIL, "--last-name", EVIL, "--json"];
    Ran::with_input(world.home.tern(&args).args(names), &format!("{PASSWORD}\n")).json();
    (org, iccid, shop::reference(&order), email.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn markup_stays_text_wherever_it_is_shown() {
    let world = shop::open(Home::sqlite(), 5).await;
    let receiver = Receiver::that(Reaction::Says(500, EVIL.to_owned())).await;
    let (_, iccid, reference, email) = hostile(&world, &receiver).await;
    let window = Window::open(&world, WIDE).await;
    window.sign_in(&email).await;
    let bundle = format!("/portal/catalogue/{}", PT.name);
    window.visit(&bundle).await;
    window.submit("form[action='/portal/catalogue/buy/check']").await;
    window.wait_for("form[action='/portal/catalogue/buy']").await;
    is_dead(&window, 2).await;
    for (path, times) in [
        ("/portal".to_owned(), 1),
        ("/portal/catalogue".to_owned(), 2),
        ("/portal/catalogue?q=%22%3E%3Cimg%20src%3Dx%20onerror%3Dhacked%3D4%3E".to_owned(), 1),
        (bundle, 2),
        ("/portal/esims".to_owned(), 3),
        (format!("/portal/esims/{iccid}"), 6),
        ("/portal/orders".to_owned(), 2),
        (format!("/portal/orders/{reference}"), 3),
        (format!("/portal/orders/{reference}/print"), 1),
        ("/portal/inventory".to_owned(), 2),
        (format!("/portal/inventory/{}", PT.name), 2),
        ("/portal/billing".to_owned(), 2),
        ("/portal/developers".to_owned(), 2),
        ("/portal/developers/events".to_owned(), 2),
        ("/portal/team".to_owned(), 2),
        ("/portal/team/organisation".to_owned(), 1),
        ("/portal/team/audit".to_owned(), 1),
        (format!("/portal/team/erasure?who={iccid}"), 2),
        ("/portal/account".to_owned(), 1),
        ("/portal/developers/deliveries".to_owned(), 1),
    ] {
        window.visit(&path).await;
        window.unfold().await;
        is_dead(&window, times).await;
    }
    window.follow("a.row[href^='/portal/developers/deliveries/']").await;
    is_dead(&window, 2).await;

    let own = format!("/portal/esims/{iccid}");
    window.visit(&own).await;
    let share = json!([["csrf", window.csrf().await], ["days", "7"], ["once", "x"]]);
    window.post(&format!("{own}/share"), &share).await;
    window.visit(&own).await;
    let link = window.script("return document.querySelector('a[href*=\"/share/\"]').href").await;
    world.is_secret(text(&link).rsplit('/').next().expect("a token"));
    window.go(&text(&link)).await;
    is_dead(&window, 2).await;
}

/// At least so many of them are read, none has done anything, and the page is whole.
async fn is_dead(window: &Window, times: usize) {
    let (shown, url) = (window.shown().await, window.url().await);
    let found = shown.matches("<script>hacked=1</script>\"><img").count();
    assert!(found >= times, "{found} instead of {times} at {url}:\n{shown}");
    let alive = "[...document.querySelectorAll('script:not([src]), img[src=x], [onerror]')].length";
    let links = "[...document.links].filter(one => one.protocol === 'javascript:').length";
    let told = window.script(&format!("return [{alive}, {links}, typeof hacked]")).await;
    assert_eq!(told, json!([0, 0, "undefined"]), "{url}");
    for width in [NARROW, WIDE] {
        window.resize(width).await;
        window.assert_fits().await;
    }
    window.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_is_more_than_what_is_shown() {
    let world = shop::open(Home::sqlite(), 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 2)]).await;
    let iccid = esim(&world, &org).await;
    let reference = shop::reference(&shop::listed(&world, &org, "").await[0]);
    let before = (has(&world, &org).await, states(&world, &org, &iccid).await);
    let viewer = Window::of_role(&world, &org, "Viewer").await;
    viewer.visit(&format!("/portal/esims/{iccid}")).await;
    assert_eq!(viewer.count("main form[method=post], figure.qr").await, 0, "nothing to send");
    let csrf = viewer.csrf().await;
    let buy = json!([
        ["csrf", csrf],
        ["once", "a"],
        ["bundle", PT.name],
        ["quantity", "1"],
        ["target", "new"]
    ]);
    let id = before.1[0].0.as_str();
    let revoke =
        json!([["csrf", csrf], ["once", "b"], ["bundle", PT.name], ["id", id], ["to", "balance"]]);
    let refund = json!([
        ["csrf", csrf],
        ["once", "c"],
        ["bundle", PT.name],
        ["quantity", "1"],
        ["lot", shop::lot(&world, &org, PT).await.to_string()]
    ]);
    for (path, form) in [
        ("/portal/catalogue/buy", &buy),
        (&*format!("/portal/esims/{iccid}/revoke"), &revoke),
        ("/portal/inventory/refund", &refund),
    ] {
        assert_eq!(viewer.post(path, form).await.0, 403, "{path}");
    }
    assert_eq!((has(&world, &org).await, states(&world, &org, &iccid).await), before);

    let support = viewer.another(WIDE).await;
    support.sign_in(&add_person(&world, &org, "Support")).await;
    for path in [
        "/portal",
        "/portal/orders",
        &format!("/portal/orders/{reference}"),
        "/portal/inventory",
        &format!("/portal/inventory/{}", PT.name),
        &format!("/portal/esims/{iccid}"),
    ] {
        support.visit(path).await;
        support.unfold().await;
        let shown = support.shown().await;
        assert!(!shown.contains("USD"), "{path} tells what was paid:\n{shown}");
    }
    assert_eq!(support.count("header.rail a[href='/portal/billing']").await, 0);
    support.assert_quiet().await;
    support.visit("/portal/billing").await;
    assert_eq!(support.text("h1").await, "Your role does not allow this");
}

async fn states(world: &World, org: &Org, iccid: &str) -> Vec<(String, String)> {
    crate::desk::states(world, org, iccid).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_somebody_else_changes_nothing() {
    let world = shop::open(Home::sqlite(), 5).await;
    let org = reseller(&world, PLENTY).await;
    let window = Window::of_role(&world, &org, "Owner").await;
    let before = (has(&world, &org).await, users(&world, &org).await);
    // The word of the very session has leaked, so the browser's own is all that is left.
    let csrf = window.csrf().await;
    let elsewhere = Receiver::start().await;
    for host in ["127.0.0.1", "localhost"] {
        for (action, fields) in [
            (
                "/portal/catalogue/buy",
                vec![("bundle", PT.name), ("quantity", "1"), ("target", "new"), ("once", "x")],
            ),
            ("/portal/team/invite", vec![("email", "mole@evil.example"), ("role", "Owner")]),
        ] {
            let action = format!("http://{}{action}", world.node.address);
            elsewhere.always(Reaction::Says(200, trap(&action, &csrf, &fields)));
            window.go(&format!("http://{host}:{}/trap", elsewhere.port())).await;
            let arrived = "This form is out of date";
            // From another site the cookie does not even come along.
            let arrived = if host == "localhost" { "Sign in" } else { arrived };
            window.wait_for_text(arrived).await;
        }
    }
    assert_eq!((has(&world, &org).await, users(&world, &org).await), before);
    window.visit("/portal").await;
    assert_eq!(window.text("h1").await, "Overview", "the session itself is as good as before");
}

async fn users(world: &World, org: &Org) -> Value {
    world.show(&format!("/organisations/{}/users", org.id)).await
}

/// A page that sends a form as soon as it is opened.
fn trap(action: &str, csrf: &str, fields: &[(&str, &str)]) -> String {
    let field = |(name, value): &(&str, &str)| format!("<input name={name} value={value}>");
    let fields: String = fields.iter().map(field).collect();
    format!(
        "<!doctype html><title>Win a phone</title><form method=post action={action}>\
         <input name=csrf value={csrf}>{fields}</form><script>document.forms[0].submit()</script>"
    )
}
