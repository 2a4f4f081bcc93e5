//! Buying bundles, and what becomes of an order in every version.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::harness::{Answer, Home, Org, Request, World, http};
use crate::money::{events, prefixes, set_card, topup, written};
use crate::orders_shapes::{self, Shapes};
use crate::shop::{
    DE, ES, ES_UNLIMITED, EUROPE, FIXED, FR, FR_DAY, FR_MORE, Good, Has, IE_IN_EUROS,
    OTHER_PROFILE, PARTNER, PLENTY, PT, PT_FOR_PARTNERS, PT_MORE, PT_YEAR, TRIAL, UNLIMITED, US,
    buy, checked, entries, fill, has, iccid, iccids, into_inventory, inventory, listed, lots,
    matching_id, moved, moves, now, onto, onto_new, open, order, reference, reseller, seen, verify,
};

crate::on_both! {
    every_version_tells_an_order_in_its_own_form,
    a_check_changes_nothing,
    everything_in_the_catalogue_can_be_bought,
    what_is_for_sale_and_its_price_depend_on_who_asks,
    what_costs_nothing_moves_no_money,
    a_bundle_that_does_not_fit_gets_a_new_esim_if_that_is_allowed,
    an_esim_can_take_several_bundles_of_one_order,
    a_body_is_read_with_tolerance,
    an_order_in_another_currency_prints_its_unit,
    the_receipt_of_an_order_is_behind_its_link,
    the_feed_tells_of_every_order,
}

/// What varies gets a name, so that the rest can be compared.
struct Names {
    /// The profile before the first one of this story.
    before: usize,
    /// When the story began.
    since: Timestamp,
}

impl Names {
    fn read(&self, answer: Answer) -> Value {
        let mut text = answer.expect(200).text();
        for n in 1..=3 {
            text = text.replace(&iccid(self.before + n), &format!("ICCID-{n}"));
            text = text.replace(&matching_id(self.before + n), &format!("CODE-{n}"));
        }
        text = text.replace(PT.name, "PT").replace(FR.name, "FR");
        let mut value = serde_json::from_str(&text).expect("JSON");
        self.name(&mut value);
        value
    }

    fn name(&self, value: &mut Value) {
        match value {
            Value::Array(list) => list.iter_mut().for_each(|one| self.name(one)),
            Value::Object(fields) => {
                let is_topup = fields.get("type").is_some_and(|kind| kind == "apiTopup");
                for (name, value) in fields.iter_mut() {
                    match name.as_str() {
                        "createDate" | "createdDate" => self.time(value),
                        "orderReference" => *value = json!("REF"),
                        "invoiceLink" => *value = json!("LINK"),
                        "item" if is_topup => *value = json!("NUMBER"),
                        _ => self.name(value),
                    }
                }
            }
            _ => {}
        }
    }

    fn time(&self, value: &mut Value) {
        let time = Timestamp::parse(value.as_str().expect("a time")).expect("a time");
        let after = time.ms() - self.since.ms();
        assert!((0..60_000).contains(&after), "{value} is not now");
        *value = json!("TIME");
    }
}

/// An order that might be answered with another eSIM than the one it names.
fn or_another(mut body: Value) -> Value {
    body["order"][0]["allowReassign"] = json!(true);
    body
}

async fn every_version_tells_an_order_in_its_own_form(home: Home) {
    let world = open(home, 30).await;
    let mut before = 0;
    for shapes in &orders_shapes::ALL {
        for prefix in shapes.prefixes {
            let org = reseller(&world, PLENTY).await;
            let names = Names { before, since: now(&world, &org).await };
            tell(&world, &org, (prefix, shapes), &names).await;
            before += 3;
        }
    }
    verify(&world);
}

async fn tell(world: &World, org: &Org, (prefix, shapes): (&str, &Shapes), names: &Names) {
    let query = shapes.query;
    let parsed = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
    let post = async |body: &Value| {
        let request = Request::post(&format!("{prefix}/orders{query}")).key(&org.key);
        world.node.send(&request.json(body)).await
    };
    let three = checked(into_inventory(&[(PT, 3)]));
    let mut wanted = parsed(shapes.checked);
    assert_eq!(names.read(post(&three).await), wanted, "checked: {prefix}{query}");
    wanted["assigned"] = json!(true);
    let three = checked(onto_new(&[(PT, 3)]));
    assert_eq!(names.read(post(&three).await), wanted, "checked: {prefix}{query}");

    let (first, second) = (iccid(names.before + 1), iccid(names.before + 2));
    let mixed = json!({"type": "transaction", "assign": true, "order": [
        {"type": "bundle", "item": PT.name, "quantity": 1},
        {"item": FR.name, "quantity": 1, "iccids": [second]},
    ]});
    let mut told = Vec::new();
    for (what, body, wanted) in [
        ("stocked", into_inventory(&[(PT, 2), (FR, 1)]), shapes.stocked),
        ("fresh", onto_new(&[(PT, 2)]), shapes.fresh),
        ("named", or_another(onto(FR, &[first])), shapes.named),
        ("mixed", mixed, shapes.mixed),
    ] {
        let answer = post(&body).await;
        let place = format!("{prefix}/orders/{}{query}", reference(&answer.json()));
        let answer = names.read(answer);
        assert_eq!(answer, parsed(wanted), "{what}: {prefix}{query}");
        // Asked for later it is the same; only the list at the top belongs to the first answer.
        let mut wanted = parsed(wanted);
        wanted.as_object_mut().expect("an object").remove("iccids");
        let later = names.read(world.get(&place, &org.key).await);
        assert_eq!(later, wanted, "{what}, later: {prefix}{query}");
        told.insert(0, wanted);
    }
    set_card(world, org, &json!("pays")).await;
    world.node.send(&topup(org, "/v2.3", "25")).await.expect(200);
    told.insert(0, parsed(shapes.topup));
    let page = names.read(world.get(&format!("{prefix}/orders{query}"), &org.key).await);
    let wanted = if *prefix < *"/v2.2" {
        json!(told)
    } else {
        json!({"orders": told, "pageCount": 1, "rows": 5, "pageSize": 10})
    };
    assert_eq!(page, wanted, "listed: {prefix}{query}");
}

async fn a_check_changes_nothing(home: Home) {
    let world = open(home, 3).await;
    let (rich, poor) = (reseller(&world, PLENTY).await, reseller(&world, 239).await);
    let before = world.home.dump().await;
    for (version, prefix) in prefixes() {
        for body in [into_inventory(&[(PT, 1)]), onto_new(&[(PT, 1)]), onto_new(&[(PT, 3)])] {
            let body = checked(body);
            let total: i64 = body["order"][0]["quantity"].as_i64().expect("whole") * PT.price;
            for (org, valid) in [(&rich, true), (&poor, false)] {
                let answer = world.node.send(&order(org, prefix, &body)).await.expect(200);
                let text = format!(r#""total":{},"valid":{valid},"#, written(total, version));
                assert!(answer.text().contains(&text), "{prefix}: {answer}");
                assert_eq!(answer.json()["assigned"], body["assign"], "{prefix}");
            }
        }
        // Any number, and at exactly what there is.
        let many = checked(into_inventory(&[(PT, 416), (TRIAL, 1_000)]));
        assert_eq!(buy(&world, &rich, prefix, &many).await["valid"], true, "{prefix}");
        let more = checked(into_inventory(&[(PT, 417)]));
        assert_eq!(buy(&world, &rich, prefix, &more).await["valid"], false, "{prefix}");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn everything_in_the_catalogue_can_be_bought(home: Home) {
    let world = open(home, 20).await;
    fill(&world, 101..103, OTHER_PROFILE).await;
    let org = reseller(&world, PLENTY).await;
    let all = [PT, PT_MORE, FR, FR_MORE, ES, ES_UNLIMITED, FR_DAY, DE, EUROPE, US, PT_YEAR, TRIAL];
    let mut left = PLENTY;
    for good in all {
        let stocked = buy(&world, &org, "/v2.3", &into_inventory(&[(good, 1)])).await;
        let assigned = buy(&world, &org, "/v2.3", &onto_new(&[(good, 1)])).await;
        for answer in [&stocked, &assigned] {
            assert_eq!(answer["total"], good.price, "{}", good.name);
            assert_eq!(answer["order"][0]["pricePerUnit"], good.price, "{}", good.name);
        }
        let is_other = iccids(&assigned)[0] >= iccid(101);
        assert_eq!(is_other, good.name == US.name, "an eSIM it fits: {}", good.name);
        left -= 2 * good.price;
        assert_eq!(has(&world, &org).await.balance, left, "{}", good.name);
    }
    let held: Vec<_> = inventory(&world, &org).await;
    assert_eq!(held.len(), all.len());
    verify(&world);
}

async fn what_is_for_sale_and_its_price_depend_on_who_asks(home: Home) {
    let world = open(home, 5).await;
    let market = async |fields: Value| {
        let mut all = json!({"name": "Market", "currency": "USD", "sandbox": true});
        all.as_object_mut().expect("fields").extend(fields.as_object().expect("fields").clone());
        let org = world.add(&all).await;
        crate::shop::credit(&world, &org, PLENTY).await;
        org
    };
    let standard = market(json!({})).await;
    let partner = market(json!({"priceList": PARTNER})).await;
    let elsewhere = market(json!({"priceList": "No such list"})).await;
    let european = market(json!({"currency": "EUR"})).await;
    let fixed = market(json!({"groups": [FIXED]})).await;
    let unlimited = market(json!({"groups": [UNLIMITED, "Unheard of"]})).await;
    let none = market(json!({"groups": ["Unheard of"]})).await;
    let sold = |org: &Org, good: Good, price: i64| (org.clone(), good, Some(price));
    let unknown = |org: &Org, good: Good| (org.clone(), good, None);
    for (org, good, price) in [
        sold(&standard, PT, PT.price),
        sold(&standard, ES_UNLIMITED, ES_UNLIMITED.price),
        unknown(&standard, IE_IN_EUROS),
        sold(&partner, PT, PT_FOR_PARTNERS),
        sold(&partner, FR, FR.price),
        sold(&elsewhere, PT, PT.price),
        sold(&european, PT, 220),
        sold(&european, IE_IN_EUROS, IE_IN_EUROS.price),
        unknown(&european, FR),
        sold(&fixed, PT, PT.price),
        sold(&fixed, PT_YEAR, PT_YEAR.price),
        unknown(&fixed, ES_UNLIMITED),
        sold(&unlimited, ES_UNLIMITED, ES_UNLIMITED.price),
        sold(&unlimited, PT_YEAR, PT_YEAR.price),
        unknown(&unlimited, PT),
        unknown(&none, PT),
    ] {
        for (_, prefix) in prefixes() {
            for body in [into_inventory(&[(good, 2)]), checked(onto_new(&[(good, 2)]))] {
                let answer = world.node.send(&order(&org, prefix, &body)).await;
                let Some(price) = price else {
                    let text = answer.refused(400, "unknown-bundle");
                    assert_eq!(text, format!("bundle not found: {}", good.name), "{prefix}");
                    continue;
                };
                let unit = if prefix >= "/v2.4" { 100.0 } else { 1.0 };
                let total = answer.json_of(200)["total"].as_f64().map(|total| total * unit);
                assert!(total.is_some_and(|total| (total - f64_of(2 * price)).abs() < 1e-6));
            }
        }
    }
    // What is withdrawn is no longer sold, and stays with those who have it.
    let mut withdrawn = crate::shop::catalogue()["bundles"][0].clone();
    withdrawn["withdrawn"] = json!(true);
    world.order("POST", "/catalogue", &json!({"bundles": [withdrawn]})).await.expect(200);
    let refusal = world.node.send(&order(&standard, "/v2.5", &into_inventory(&[(PT, 1)]))).await;
    refusal.refused(400, "unknown-bundle");
    assert_eq!(lots(&world, &standard, PT).await.len(), prefixes().len());
    verify(&world);
}

fn f64_of(number: i64) -> f64 {
    i32::try_from(number).expect("small").into()
}

async fn what_costs_nothing_moves_no_money(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, 0).await;
    for (_, prefix) in prefixes() {
        let stocked = buy(&world, &org, prefix, &into_inventory(&[(TRIAL, 2)])).await;
        let assigned = buy(&world, &org, prefix, &onto_new(&[(TRIAL, 1)])).await;
        for answer in [stocked, assigned] {
            assert_eq!((&answer["total"], &answer["status"]), (&json!(0), &json!("completed")));
            let order = seen(&world, &org, &reference(&answer)).await;
            assert_eq!((&order["total"], &order["runningBalance"]), (&json!(0), &json!("0")));
        }
    }
    // Nor do many of them, which are worked on later.
    let many = buy(&world, &org, "/v2.5", &into_inventory(&[(TRIAL, 600)])).await;
    assert_eq!(many["status"], "processing");
    crate::money::settle(&world, &org).await;
    assert_eq!(seen(&world, &org, &reference(&many)).await["status"], "completed");
    assert_eq!(entries(&world, &org).await, [""; 0]);
    assert_eq!(lots(&world, &org, TRIAL).await.len(), prefixes().len() + 1);
    verify(&world);
}

async fn a_bundle_that_does_not_fit_gets_a_new_esim_if_that_is_allowed(home: Home) {
    let world = open(home, 20).await;
    fill(&world, 101..120, OTHER_PROFILE).await;
    let org = reseller(&world, PLENTY).await;
    let own = iccids(&buy(&world, &org, "/v2.3", &onto_new(&[(PT, 1)])).await);
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        let refusal = world.node.send(&order(&org, prefix, &onto(US, &own))).await;
        let text = refusal.refused(400, "bundle-not-compatible");
        assert_eq!(text, "bundle not compatible with esim", "{prefix}");
    }
    assert_eq!(world.home.dump().await, before);
    for (n, (_, prefix)) in prefixes().into_iter().enumerate() {
        let Has { stock, .. } = has(&world, &org).await;
        // One fits and stays where it is meant to be, the other goes onto a new eSIM.
        let body = json!({"type": "transaction", "assign": true, "order": [
            {"item": US.name, "quantity": 1, "iccids": own, "allowReassign": true},
            {"item": FR.name, "quantity": 1, "iccids": own, "ALLOWREASSIGN": true},
        ]});
        let answer = buy(&world, &org, prefix, &body).await;
        let order = seen(&world, &org, &reference(&answer)).await;
        assert_eq!(iccids(&order), [iccid(101 + n), own[0].clone()], "{prefix}");
        assert_eq!(order["order"][0]["AllowReassign"], true);
        assert_eq!(order["statusMessage"], "Order completed: 2 eSIMs assigned");
        let after = has(&world, &org).await.stock;
        assert_eq!([after[0], after[1] + 1], stock, "{prefix}");
        // The new one is the organisation's, and now it fits.
        let again = onto(US, &[iccid(101 + n)]);
        assert_eq!(buy(&world, &org, prefix, &again).await["status"], "completed");
    }
    verify(&world);
}

async fn an_esim_can_take_several_bundles_of_one_order(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let own = iccids(&buy(&world, &org, "/v2.3", &onto_new(&[(PT, 2)])).await);
    let twice = vec![own[0].clone(), own[1].clone(), own[0].clone()];
    for (_, prefix) in prefixes() {
        let answer = buy(&world, &org, prefix, &onto(FR, &twice)).await;
        assert_eq!(answer["order"][0]["quantity"], 3, "{prefix}");
        let order = seen(&world, &org, &reference(&answer)).await;
        assert_eq!(iccids(&order), twice, "{prefix}");
        let codes = order["order"][0]["esims"].as_array().expect("a list").clone();
        let shown: Vec<_> = codes.iter().map(|one| one["iccid"].as_str()).collect();
        assert!(twice.iter().all(|iccid| shown.contains(&Some(iccid.as_str()))), "{order}");
    }
    verify(&world);
}

async fn a_body_is_read_with_tolerance(home: Home) {
    let world = open(home, 80).await;
    let org = reseller(&world, PLENTY).await;
    let own = iccids(&buy(&world, &org, "/v2.3", &onto_new(&[(PT, 1)])).await);
    let item = json!({"item": ES.name, "quantity": 1});
    let one = &own[0];
    for (_, prefix) in prefixes() {
        for (body, onto) in [
            (json!({"type": "transaction", "order": [item]}), "inventory"),
            (json!({"Type": "transaction", "Order": [item], "Assign": false}), "inventory"),
            (json!({"TYPE": "transaction", "ORDER": [item], "assign": null}), "inventory"),
            (json!({"type": "transaction", "order": [item], "assign": "false"}), "inventory"),
            (json!({"type": "transaction", "order": [item], "assign": "true"}), "new"),
            (
                json!({"type": "transaction", "order": [item], "assign": true, "x": {"y": []}}),
                "new",
            ),
            (
                json!({"type": "transaction", "assign": false, "profileID": "", "order": [
                {"Item": ES.name, "Quantity": 1, "iccids": [""], "type": null}]}),
                "inventory",
            ),
            (
                json!({"type": "transaction", "assign": true, "profileID": null, "order": [
                {"item": ES.name, "quantity": 1, "iccids": ["", ""], "type": "bundle"}]}),
                "new",
            ),
            (
                json!({"type": "transaction", "assign": true, "order": [
                {"item": ES.name, "quantity": 1, "iccids": [], "allowReassign": null}]}),
                "new",
            ),
            (
                json!({"type": "transaction", "assign": true, "order": [
                {"item": ES.name, "quantity": 1, "ICCIDs": ["", format!("{one}F")]}]}),
                "named",
            ),
        ] {
            let answer = buy(&world, &org, prefix, &body).await;
            let order = seen(&world, &org, &reference(&answer)).await;
            let found = match iccids(&order).as_slice() {
                [] => "inventory",
                [iccid] if iccid == one => "named",
                _ => "new",
            };
            assert_eq!(found, onto, "{prefix}: {body}");
        }
        // However it is sent.
        let text = json!({"type": "transaction", "order": [item]}).to_string();
        let bare = Request::post(&format!("{prefix}/orders/?x=1")).key(&org.key);
        let form = "application/x-www-form-urlencoded";
        for request in [
            bare.clone().body(text.clone()),
            bare.clone().chunked(text.clone()),
            bare.header("Content-Type", form).body(format!("  {text}\n")),
        ] {
            world.node.send(&request).await.expect(200);
        }
    }
    verify(&world);
}

async fn an_order_in_another_currency_prints_its_unit(home: Home) {
    let world = open(home, 3).await;
    let mut bundle = crate::shop::catalogue()["bundles"][0].clone();
    bundle["prices"] = json!({"JPY": 350, "KWD": 1_750});
    world.order("POST", "/catalogue", &json!({"bundles": [bundle]})).await.expect(200);
    for (currency, whole, total) in [("JPY", 700, json!(700)), ("KWD", 3_500, json!(3.5))] {
        let fields = json!({"name": currency, "currency": currency, "sandbox": true});
        let org = world.add(&fields).await;
        crate::shop::credit(&world, &org, 10_000).await;
        let old = buy(&world, &org, "/v2.3", &into_inventory(&[(PT, 2)])).await;
        assert_eq!((&old["total"], &old["currency"]), (&json!(whole), &json!(currency)));
        let new = buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 2)])).await;
        assert_eq!(new["total"], total, "{currency}");
        let left = if currency == "JPY" { "8600" } else { "3" };
        assert_eq!(new["runningBalance"], left, "{currency}");
    }
}

async fn the_receipt_of_an_order_is_behind_its_link(home: Home) {
    let world = open(home, 3).await;
    let org = reseller(&world, PLENTY).await;
    set_card(&world, &org, &json!("pays")).await;
    world.node.send(&topup(&org, "/v2.3", "2500")).await.expect(200);
    let shown = listed(&world, &org, "").await.remove(0);
    let link = shown["order"][0]["invoiceLink"].as_str().expect("a link").to_owned();
    let base = format!("http://{}", world.node.address);
    let path = link.strip_prefix(&base).unwrap_or_else(|| panic!("{link} is not below {base}"));
    let seal = path.rsplit('/').next().expect("a seal");
    world.is_secret(seal);
    let wanted = format!("/receipts/{}/{seal}", reference(&shown));
    assert_eq!(path, wanted);
    for version in ["/v2.2", "/v2.3", "/v2.4", "/v2.5"] {
        let page = world.get(&format!("{version}/orders"), &org.key).await.json_of(200);
        assert_eq!(page["orders"][0]["order"][0]["invoiceLink"], json!(link), "{version}");
    }
    // Whoever has the address may read it, and nobody else.
    let page = world.node.send(&Request::get(path)).await.expect(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.text().contains(&reference(&shown)) && page.text().contains("25"), "{page}");
    let other = buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 1)])).await;
    let mut wrong = seal.to_owned();
    wrong.replace_range(0..1, if seal.starts_with('0') { "1" } else { "0" });
    let unknown = "01890000-0000-4000-8000-000000000000";
    let mut prints = std::collections::HashSet::new();
    for path in [
        format!("/receipts/{}/{wrong}", reference(&shown)),
        format!("/receipts/{}/{seal}", reference(&other)),
        format!("/receipts/{unknown}/{seal}"),
        format!("/receipts/{}/x", reference(&shown)),
    ] {
        prints.insert(world.node.send(&Request::get(&path)).await.expect(404).fingerprint());
    }
    assert_eq!(prints.len(), 1, "{prints:?}");
}

async fn the_feed_tells_of_every_order(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    for (body, message) in [
        (into_inventory(&[(PT, 2), (FR, 1)]), "Order completed"),
        (onto_new(&[(PT, 2), (FR, 1)]), "Order completed: 3 eSIMs assigned"),
    ] {
        for (_, prefix) in prefixes().into_iter().take(2) {
            let answer = buy(&world, &org, prefix, &body).await;
            let (kind, data) = events(&world, &org).await.pop().expect("an event");
            let order = seen(&world, &org, &reference(&answer)).await;
            let wanted = json!({
                "event": "order.completed", "orderReference": reference(&answer),
                "status": "completed", "statusMessage": message, "total": 6.79,
                "currency": "USD", "date": order["createdDate"],
            });
            assert_eq!((kind.as_str(), data), ("order.completed", wanted), "{prefix}");
            let paid = moves([("available", -679), ("sales", 679)]);
            assert_eq!(moved(&world, &org, "order").await, paid);
        }
    }
    // What is refused and what is only checked is not worth a word.
    let before = events(&world, &org).await;
    let refused = order(&org, "/v2.5", &into_inventory(&[(IE_IN_EUROS, 1)]));
    world.node.send(&refused).await.expect(400);
    buy(&world, &org, "/v2.5", &checked(into_inventory(&[(PT, 1)]))).await;
    assert_eq!(events(&world, &org).await, before);
    // The address an order came from is the client's, whoever it says it is.
    let forged = order(&org, "/v2.5", &into_inventory(&[(PT, 1)]));
    let forged = forged.header("X-Forwarded-For", "203.0.113.9");
    let answer = http::exchange(world.node.address, &forged.bytes(), false).await.expect("sent");
    assert_eq!(answer.json_of(200)["sourceIP"], "127.0.0.1");
    verify(&world);
}
