//! Receipts: the page behind the link of a top-up, for whoever has the link and for nobody else.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::harness::{Answer, Home, Org, Request, World};
use crate::money::{prefixes, set_card, topup};
use crate::shop::{self, PT, buy, into_inventory, listed, onto_new, reference};

crate::on_both! {
    the_link_of_a_topup_opens_its_receipt,
    every_wrong_link_leads_to_the_same_page,
    a_link_begins_as_the_setting_says,
    what_people_wrote_stays_text,
}

/// Tops up and hands out reference and link, both as the newest version tells them.
async fn paid(world: &World, org: &Org, amount: &str) -> (String, String) {
    set_card(world, org, &json!("pays")).await;
    world.node.send(&topup(org, "/v2.3", amount)).await.expect(200);
    let order = listed(world, org, "?limit=1").await.remove(0);
    assert_eq!(order["order"][0]["type"], "apiTopup", "{order}");
    (reference(&order), link(&order))
}

fn link(order: &Value) -> String {
    let link = order["order"][0]["invoiceLink"].as_str().expect("a link").to_owned();
    assert!(!link.is_empty());
    link
}

/// The path of a link below the address the service has by itself.
fn path(world: &World, link: &str) -> String {
    let base = format!("http://{}", world.node.address);
    let path = link.strip_prefix(&base).unwrap_or_else(|| panic!("{link} is not below {base}"));
    // Whoever reads a log must not read receipts.
    world.is_secret(path.rsplit('/').next().expect("a seal"));
    path.to_owned()
}

async fn open(world: &World, path: &str) -> Answer {
    let page = world.node.send(&Request::get(path)).await;
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-robots-tag", "noindex"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(page.header(name), Some(value), "{path}: {page}");
    }
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'self';"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("script"), "{policy}");
    page
}

async fn the_link_of_a_topup_opens_its_receipt(home: Home) {
    let world = World::start(home).await;
    for (currency, amount, printed) in
        [("USD", "123456", "1,234.56"), ("JPY", "123456", "123,456"), ("KWD", "123456", "123.456")]
    {
        let fields = json!({
            "name": "Nordlicht Reisen", "currency": currency, "sandbox": true,
            "addr1": "4 Harbour Lane", "city": "Lerwick", "postcode": "ZE1 0AA",
            "country": "United Kingdom", "notes": "pays late",
        });
        let org = world.add(&fields).await;
        let (reference, first) = paid(&world, &org, amount).await;
        let path = path(&world, &first);
        assert!(path.starts_with(&format!("/receipts/{reference}/")), "{path}");
        let page = open(&world, &path).await.expect(200).text();
        for text in [printed, currency, "Nordlicht Reisen", "4 Harbour Lane", "Lerwick", &reference]
        {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{page}");
        assert!(page.contains("This is a test"), "a sandbox moves no money: {page}");
        for never in ["<script", "pays late", &org.key, &org.id, "127.0.0.1"] {
            assert!(!page.contains(never), "{never}: {page}");
        }
        // Every version that has links has the same, alone and in lists.
        for (version, prefix) in prefixes() {
            let list = world.get(&format!("{prefix}/orders"), &org.key).await.json_of(200);
            let alone = world.get(&format!("{prefix}/orders/{reference}"), &org.key).await;
            let in_list = if version.name() < "v2.2" { &list[0] } else { &list["orders"][0] };
            for order in [in_list, &alone.json_of(200)] {
                if version.name() < "v2.2" {
                    assert!(order["order"][0].get("invoiceLink").is_none(), "{prefix}: {order}");
                } else {
                    assert_eq!(link(order), first, "{prefix}");
                }
            }
        }
        // A key does not matter, and only the head is the same without the rest.
        let keyed = Request::get(&path).key("wrong").bearer("wrong");
        assert_eq!(world.node.send(&keyed).await.expect(200).text(), page);
        let head = Request::new("HEAD", &path);
        assert_eq!(world.node.send(&head).await.expect(200).body, b"");
        world.node.send(&Request::post(&path)).await.expect(405);
    }
    let style = world.node.send(&Request::get("/receipts/style.css")).await.expect(200);
    assert_eq!(style.header("content-type"), Some("text/css; charset=utf-8"));
}

async fn every_wrong_link_leads_to_the_same_page(home: Home) {
    let world = shop::open(home, 3).await;
    let one = shop::reseller(&world, shop::PLENTY).await;
    let two = shop::reseller(&world, shop::PLENTY).await;
    let bundles = reference(&buy(&world, &one, "/v2.5", &into_inventory(&[(PT, 1)])).await);
    let esims = reference(&buy(&world, &one, "/v2.5", &onto_new(&[(PT, 1)])).await);
    let (first, own) = paid(&world, &one, "2500").await;
    let (second, foreign) = paid(&world, &two, "2500").await;
    let (third, other) = paid(&world, &one, "2500").await;
    let seal = |link: &str| path(&world, link).rsplit('/').next().expect("a seal").to_owned();
    let [own_seal, foreign_seal, other_seal] = [&own, &foreign, &other].map(|link| seal(link));
    let mut bent = own_seal.clone();
    bent.replace_range(0..1, if own_seal.starts_with('0') { "1" } else { "0" });
    let unknown = "01890000-0000-4000-8000-000000000000";
    let mut prints = HashSet::new();
    for path in [
        format!("/receipts/{first}/{bent}"),
        format!("/receipts/{unknown}/{own_seal}"),
        // The seal of another order, of oneself and of others.
        format!("/receipts/{first}/{other_seal}"),
        format!("/receipts/{first}/{foreign_seal}"),
        format!("/receipts/{second}/{own_seal}"),
        format!("/receipts/{bundles}/{own_seal}"),
        format!("/receipts/{esims}/{own_seal}"),
        format!("/receipts/{first}/{}", own_seal.to_uppercase()),
        format!("/receipts/{}/{own_seal}", first.to_uppercase()),
        format!("/receipts/{first}/{}", &own_seal[1..]),
        format!("/receipts/{first}/{own_seal}0"),
        format!("/receipts/{first}/{own_seal}%00"),
        format!("/receipts/{first}/%ff"),
        format!("/receipts/%00/{own_seal}"),
        format!("/receipts/{first}/{own_seal}/more"),
        format!("/receipts/{first}"),
        format!("/receipts/{third}/x"),
        "/receipts/%3Cscript%3E/%3Cb%3E".to_owned(),
        "/receipts".to_owned(),
    ] {
        let page = open(&world, &path).await.expect(404);
        for never in [&first, &second, &bundles, "Reseller", "&lt;", "<b>"] {
            assert!(!page.text().contains(never), "{path}: {page}");
        }
        prints.insert(page.fingerprint());
    }
    assert_eq!(prints.len(), 1, "{prints:?}");
    for (link, name) in [(&own, &first), (&foreign, &second), (&other, &third)] {
        let page = open(&world, &path(&world, link)).await.expect(200);
        assert!(page.text().contains(name.as_str()), "{page}");
    }
}

async fn a_link_begins_as_the_setting_says(home: Home) {
    let at = |url: &'static str| [("TERN_PUBLIC_URL", url)];
    let mut world = World::with(home, &at("https://esim.example")).await;
    let org = world.add_sandbox("Linked").await;
    let (reference, link) = paid(&world, &org, "500").await;
    let below = |link: &str, base: &str| {
        let path = link.strip_prefix(base).unwrap_or_else(|| panic!("{link}: {base}")).to_owned();
        assert!(path.starts_with(&format!("/receipts/{reference}/")), "{link}");
        path
    };
    let path = below(&link, "https://esim.example");
    world.is_secret(path.rsplit('/').next().expect("a seal"));
    let page = open(&world, &path).await.expect(200).text();
    // Moved, the old order has a new address; what follows it is the same for ever.
    for (url, base) in [
        ("https://other.example:8443/esim/", "https://other.example:8443/esim"),
        ("http://localhost", "http://localhost"),
    ] {
        world.restart(&at(url)).await;
        let shown = shop::seen(&world, &org, &reference).await;
        let link = shown["order"][0]["invoiceLink"].as_str().expect("a link").to_owned();
        assert_eq!(below(&link, base), path);
        assert_eq!(open(&world, &path).await.expect(200).text(), page);
    }
    // Without the setting it is where the service listens.
    world.restart(&[]).await;
    let shown = shop::seen(&world, &org, &reference).await;
    let link = shown["order"][0]["invoiceLink"].as_str().expect("a link").to_owned();
    assert_eq!(below(&link, &format!("http://{}", world.node.address)), path);
}

async fn what_people_wrote_stays_text(home: Home) {
    let world = World::start(home).await;
    let harm = "<script>alert(1)</script><b onload='x' style=\"y\">&amp;\u{202e}\"'";
    let org = world.add(&json!({"name": harm, "currency": "USD", "sandbox": true})).await;
    let (_, link) = paid(&world, &org, "500").await;
    let path = path(&world, &link);
    for field in ["name", "addr1", "addr2", "city", "postcode", "country"] {
        world.change(&org, &json!({ (field): harm })).await;
    }
    let page = open(&world, &path).await.expect(200).text();
    assert!(!page.contains("<script") && !page.contains("<b "), "{page}");
    let defused = "&lt;script&gt;alert(1)&lt;/script&gt;&lt;b onload=";
    assert_eq!(page.matches(defused).count(), 6, "{page}");
    assert!(page.contains("&amp;amp;"), "what looks escaped is escaped too: {page}");
}
