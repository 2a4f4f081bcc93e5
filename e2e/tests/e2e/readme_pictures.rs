//! The pictures of the README: a demo with some days behind it, as a person sees it. `cargo xtask
//! pictures` says where they are kept; otherwise it is only tried that they can be made.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::browser::{NARROW, WIDE};
use crate::harness::{Browser, Home, Node, Request};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_of_the_readme() {
    let home = Home::sqlite();
    let kept = std::env::var_os("TERN_PICTURES").map(PathBuf::from);
    let folder = kept.unwrap_or_else(|| home.folder().join("pictures"));
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    let node = Node::demo(&home).await;
    let told: Value = serde_json::from_str(node.stdout().lines().next().expect("a greeting"))
        .expect("the greeting is JSON");
    let iccids: Vec<&str> =
        told["iccids"].as_array().expect("eSIMs").iter().filter_map(Value::as_str).collect();
    live_a_little(&node, &told, &iccids).await;

    let base = format!("http://{}", node.address);
    let browser = Browser::open(WIDE).await;
    browser.go(&format!("{base}/portal/sign-in")).await;
    browser.fill("input[name=email]", told["portalEmail"].as_str().expect("an address")).await;
    browser.fill("input[name=password]", told["portalPassword"].as_str().expect("one")).await;
    browser.submit("form").await;
    browser.wait_for("nav[aria-label=Portal]").await;
    let shared = share(&browser, &base, iccids[2]).await;
    for (name, path) in [
        ("overview", "/portal".to_owned()),
        ("catalogue", "/portal/catalogue?q=france".to_owned()),
        ("esim", format!("/portal/esims/{}", iccids[2])),
        ("callbacks", "/portal/developers/deliveries".to_owned()),
    ] {
        browser.go(&format!("{base}{path}")).await;
        browser.window_picture(&folder.join(format!("{name}.png"))).await;
    }
    browser.dark().await;
    browser.go(&format!("{base}/portal")).await;
    browser.window_picture(&folder.join("overview-dark.png")).await;
    browser.light().await;
    browser.resize(NARROW).await;
    browser.go(&shared).await;
    browser.window_picture(&folder.join("share.png")).await;
}

/// Some days pass: phones use data, bundles are bought, a receiver that is not there is called.
async fn live_a_little(node: &Node, told: &Value, iccids: &[&str]) {
    let key = told["apiKey"].as_str().expect("a key");
    let post = async |path: &str, body: Value| {
        node.send(&Request::post(path).key(key).json(&body)).await.expect(200)
    };
    for iccid in iccids {
        post(&format!("/sandbox/v1/esims/{iccid}/install"), json!({})).await;
        post(&format!("/sandbox/v1/esims/{iccid}/attach"), json!({"country": "FR"})).await;
    }
    for day in 1..=6_u64 {
        for (place, iccid) in (1..).zip(iccids) {
            let bytes = 23_000_000 * (day % 4 + place);
            post(&format!("/sandbox/v1/esims/{iccid}/use"), json!({ "bytes": bytes })).await;
        }
        let item = told["bundles"][usize::try_from(day).unwrap_or(0)].clone();
        let order = json!({"type": "bundle", "item": item, "quantity": day});
        let order = json!({"type": "transaction", "assign": day < 3, "order": [order]});
        post("/v2.1/orders", order).await;
        post("/sandbox/v1/clock/advance", json!({"seconds": 86_000})).await;
        if day == 4 {
            let organisation = told["organisation"].as_str().expect("an id");
            let operator = told["operatorKey"].as_str().expect("a key");
            let change =
                json!({"callbackUrl": "http://127.0.0.1:9009/tern", "callbackVersion": "V3"});
            let path = format!("/operator/v1/organisations/{organisation}");
            let change = Request::new("PATCH", &path).bearer(operator).json(&change);
            node.send(&change).await.expect(200);
        }
    }
}

/// Makes a share link as a person does; its address.
async fn share(browser: &Browser, base: &str, iccid: &str) -> String {
    browser.go(&format!("{base}/portal/esims/{iccid}")).await;
    browser.script("document.querySelectorAll('details').forEach(one => one.open = true)").await;
    browser.submit(&format!("form[action='/portal/esims/{iccid}/share']")).await;
    browser.wait_for("[data-copy*='/share/']").await;
    let found = browser
        .script("return document.querySelector(\"[data-copy*='/share/']\").dataset.copy")
        .await;
    found.as_str().expect("a link").to_owned()
}
