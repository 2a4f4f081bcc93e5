//! What the operator does with organisations and their people.

use serde_json::{Value, json};

use crate::harness::{Home, Org, World};

crate::on_both! {
    an_organisation_is_made_with_every_field,
    a_change_leaves_what_it_does_not_name,
    what_is_fixed_cannot_be_changed,
    a_field_that_does_not_fit_is_named,
    a_list_of_organisations_is_read_page_by_page,
    the_last_page_says_that_it_is_the_last,
    people_belong_to_one_organisation,
    an_email_address_is_used_once,
    a_person_that_does_not_fit_is_refused,
}

fn every_field() -> Value {
    json!({
        "name": "Puffin Travel", "currency": "EUR", "sandbox": true, "taxLiable": "Yes",
        "addr1": "4 Harbour Lane", "addr2": "Second floor", "city": "Lerwick",
        "country": "United Kingdom", "postcode": "ZE1 0AA",
        "callbackUrl": "https://hooks.puffin.example/usage", "notes": "Pays late",
        "groups": ["Standard Fixed", "Standard Unlimited Lite"], "businessType": "Corporation",
        "website": "https://puffin.example", "productDescription": "Data plans for hikers",
        "callbackVersion": "V3", "usageEvents": "steps", "senders": ["Puffin", "PUFFIN2"],
        "ipAllowList": ["127.0.0.0/8", "2001:db8::/32"], "rateLimit": 100_000,
        "priceList": "Partners", "refundDays": 365, "billing": "consumption",
    })
}

/// Checks that an object holds these fields with these values.
#[track_caller]
fn holds(shown: &Value, wanted: &Value) {
    for (name, value) in wanted.as_object().expect("an object") {
        assert_eq!(&shown[name], value, "{name}");
    }
}

async fn an_organisation_is_made_with_every_field(home: Home) {
    let world = World::start(home).await;
    let made = world.order("POST", "/organisations", &every_field()).await.json_of(201);
    world.is_secret(made["apiKey"].as_str().expect("a key"));
    holds(&made, &every_field());
    holds(&made, &json!({"balance": 0, "testCredit": 0, "testCreditExpiry": null}));
    let path = format!("/organisations/{}", made["id"].as_str().expect("an id"));
    let shown = world.show(&path).await;
    let mut wanted = made.clone();
    wanted.as_object_mut().expect("an object").remove("apiKey");
    assert_eq!(shown, wanted, "the key is not shown again");
    // One that names nothing has the defaults.
    let bare =
        world.order("POST", "/organisations", &json!({"name": "B", "currency": "USD"})).await;
    let bare = bare.json_of(201);
    world.is_secret(bare["apiKey"].as_str().expect("a key"));
    let defaults = json!({
        "sandbox": false, "callbackUrl": "", "callbackVersion": "V2", "usageEvents": "every",
        "senders": [], "ipAllowList": [], "rateLimit": null, "groups": [], "notes": "",
        "priceList": "", "refundDays": 60, "billing": "prepaid",
    });
    holds(&bare, &defaults);
    // Two of the same name are two.
    let twin =
        world.order("POST", "/organisations", &json!({"name": "B", "currency": "USD"})).await;
    let twin = twin.json_of(201);
    world.is_secret(twin["apiKey"].as_str().expect("a key"));
    assert_ne!((&twin["id"], &twin["apiKey"]), (&bare["id"], &bare["apiKey"]));
}

async fn a_change_leaves_what_it_does_not_name(home: Home) {
    let world = World::start(home).await;
    let org = world.add(&every_field()).await;
    let path = format!("/organisations/{}", org.id);
    let mut wanted = world.show(&path).await;
    assert_eq!(world.change(&org, &json!({})).await, wanted);
    for (name, value) in [
        ("name", json!("Razorbill")),
        ("taxLiable", json!("")),
        ("addr1", json!("x")),
        ("addr2", json!("")),
        ("city", json!("Wick")),
        ("country", json!("Scotland")),
        ("postcode", json!("KW1")),
        ("callbackUrl", json!("")),
        ("notes", json!("Pays early")),
        ("groups", json!([])),
        ("businessType", json!("Sole trader")),
        ("website", json!("")),
        ("productDescription", json!("x")),
        ("callbackVersion", json!("V2")),
        ("usageEvents", json!("every")),
        ("senders", json!(["Other"])),
        ("ipAllowList", json!([])),
        ("rateLimit", json!(7)),
        ("priceList", json!("")),
        ("refundDays", json!(0)),
        ("billing", json!("prepaid")),
    ] {
        let changed = world.change(&org, &json!({ (name): value })).await;
        wanted[name] = value;
        assert_eq!(changed, wanted, "{name}");
        assert_eq!(world.show(&path).await, wanted, "{name}");
    }
    // Absent is absent: only the limit is taken away by null.
    let nothing = json!({
        "name": null, "city": null, "groups": null, "callbackVersion": null, "senders": null,
        "currency": null, "sandbox": null,
    });
    assert_eq!(world.change(&org, &nothing).await, wanted);
    wanted["rateLimit"] = Value::Null;
    assert_eq!(world.change(&org, &json!({"rateLimit": null})).await, wanted);
    // Networks are kept in one spelling.
    let networks = json!(["192.0.2.7", "192.0.2.7/24", "2001:DB8::1"]);
    let changed = world.change(&org, &json!({ "ipAllowList": networks })).await;
    let spelt = json!(["192.0.2.7/32", "192.0.2.0/24", "2001:db8::1/128"]);
    assert_eq!(changed["ipAllowList"], spelt);
}

async fn what_is_fixed_cannot_be_changed(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Fixed").await;
    let before = world.home.dump().await;
    for (name, value) in [
        ("sandbox", json!(false)),
        ("sandbox", json!(true)),
        ("currency", json!("EUR")),
        ("currency", json!("USD")),
        ("SANDBOX", json!(false)),
    ] {
        let body = json!({ (name): value, "city": "Elsewhere" });
        let refusal = world.order("PATCH", &format!("/organisations/{}", org.id), &body).await;
        let text = refusal.refused(400, "fixed-field");
        assert!(text.starts_with(&name.to_lowercase()), "{text}");
    }
    assert_eq!(world.home.dump().await, before);
    // What an organisation has is moved by its own operations only.
    let stubborn = json!({"balance": 5, "testCredit": 5, "id": "x", "apiKey": "y", "createdAt": 1});
    world.change(&org, &stubborn).await;
    let shown = world.show(&format!("/organisations/{}", org.id)).await;
    holds(&shown, &json!({"balance": 0, "testCredit": 0, "id": org.id}));
    world.get("/v2.5/", &org.key).await.expect(200);
}

async fn a_field_that_does_not_fit_is_named(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Unfit").await;
    let before = world.home.dump().await;
    let long = "x".repeat(1_001);
    let many = vec!["x"; 101];
    for (name, value) in [
        ("name", json!("")),
        ("name", json!(long)),
        ("city", json!(long)),
        ("productDescription", json!(long)),
        ("callbackUrl", json!("ftp://shop.example")),
        ("callbackUrl", json!("shop.example")),
        ("callbackUrl", json!("https://")),
        ("callbackUrl", json!("https://user:password@shop.example")),
        ("callbackUrl", json!("https://shop.example/a b")),
        ("callbackUrl", json!("javascript:alert(1)")),
        ("callbackUrl", json!(format!("https://shop.example/{}", "x".repeat(2_000)))),
        ("callbackVersion", json!("V1")),
        ("callbackVersion", json!("")),
        ("callbackVersion", json!("v2")),
        ("usageEvents", json!("Every")),
        ("usageEvents", json!("")),
        ("ipAllowList", json!(["nonsense"])),
        ("ipAllowList", json!(["10.0.0.0/33"])),
        ("ipAllowList", json!(["10.0.0.0/8", ""])),
        ("ipAllowList", json!(["10.0.0"])),
        ("ipAllowList", json!(["10.0.0.1 "])),
        ("groups", json!([""])),
        ("groups", json!(["a\nb"])),
        ("groups", json!(many)),
        ("senders", json!([long])),
        ("senders", json!(many)),
        ("rateLimit", json!(-1)),
        ("rateLimit", json!(100_001)),
        ("rateLimit", json!(i64::MAX)),
        ("priceList", json!(long)),
        ("refundDays", json!(-1)),
        ("refundDays", json!(366)),
        ("billing", json!("Prepaid")),
        ("billing", json!("")),
    ] {
        let body = json!({ (name): value, "addr1": "Elsewhere" });
        let refusal = world.order("PATCH", &format!("/organisations/{}", org.id), &body).await;
        let text = refusal.refused(400, "invalid-field");
        assert!(text.starts_with(&format!("{name} ")), "{name}: {text}");
        let mut new = json!({"name": "New", "currency": "USD"});
        new[name] = value;
        let text = world.order("POST", "/organisations", &new).await.refused(400, "invalid-field");
        assert!(text.starts_with(&format!("{name} ")), "{name}: {text}");
    }
    for currency in ["", "usd", "US", "USDX", "U1D", "ÜSD", "€"] {
        let new = json!({"name": "New", "currency": currency});
        let text = world.order("POST", "/organisations", &new).await.refused(400, "invalid-field");
        assert!(text.starts_with("currency "), "{currency}: {text}");
    }
    assert_eq!(world.home.dump().await, before);
}

fn names(page: &Value) -> Vec<String> {
    let all = page["organisations"].as_array().expect("a list").iter();
    all.map(|org| org["name"].as_str().expect("a name").to_owned()).collect()
}

/// Reads on until there is no next page.
async fn pages(world: &World, limit: usize) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut after = String::new();
    loop {
        let page = world.show(&format!("/organisations?limit={limit}{after}")).await;
        all.push(names(&page));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return all,
        }
        assert!(all.len() < 20, "it ends: {all:?}");
    }
}

async fn a_list_of_organisations_is_read_page_by_page(home: Home) {
    let world = World::start(home).await;
    let empty = world.show("/organisations").await;
    assert_eq!(empty, json!({"organisations": [], "next": null}), "the house is none of them");
    let mut made = Vec::new();
    for n in 0..7 {
        made.push(format!("Org {n}"));
        world.add_sandbox(&made[n]).await;
    }
    let whole = world.show("/organisations").await;
    assert_eq!((names(&whole), &whole["next"]), (made.clone(), &Value::Null));
    for limit in [1, 2, 3, 7, 8, 1_000] {
        let pages = pages(&world, limit).await;
        assert_eq!(pages.concat(), made, "each once and in order, by {limit}");
        assert!(pages.iter().all(|page| page.len() <= limit));
    }
    // What is made while somebody reads is found at the end.
    let first = world.show("/organisations?limit=3").await;
    world.add_sandbox("Late").await;
    let next = first["next"].as_str().expect("there is more");
    let rest = world.show(&format!("/organisations?limit=1000&after={next}")).await;
    assert_eq!(names(&rest), ["Org 3", "Org 4", "Org 5", "Org 6", "Late"]);
    for query in [
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=1.0",
        "limit=x",
        "limit=%2B5",
        "limit=5%20",
        "limit=99999999999999999999",
        "after=x",
        "after=1",
        "limit=5&after=%27",
    ] {
        let request = world.operator("GET", &format!("/organisations?{query}"));
        let text = world.node.send(&request).await.refused(400, "invalid-parameter");
        let name = if query.contains("after") { "after" } else { "limit" };
        assert_eq!(text, format!("invalid {name}"), "{query}");
        let request = world.operator("GET", &format!("/audit?{query}"));
        world.node.send(&request).await.refused(400, "invalid-parameter");
    }
    // An empty parameter is an absent one, an unknown one is ignored.
    let plain = world.show("/organisations?limit=&after=&page=7&x").await;
    assert_eq!(names(&plain).len(), 8);
    // After nobody in particular is after that point.
    let nobody = "ffffffff-ffff-7fff-bfff-ffffffffffff";
    let none = world.show(&format!("/organisations?after={nobody}")).await;
    assert_eq!(none, json!({"organisations": [], "next": null}));
}

async fn the_last_page_says_that_it_is_the_last(home: Home) {
    let world = World::start(home).await;
    for n in 0..4 {
        world.add_sandbox(&format!("Org {n}")).await;
    }
    for (limit, wanted) in [(1, 4), (2, 2), (4, 1), (3, 2), (5, 1)] {
        let pages = pages(&world, limit).await;
        assert_eq!(pages.len(), wanted, "by {limit}: {pages:?}");
    }
    let entries = world.show("/audit?limit=1000").await["entries"].as_array().map(Vec::len);
    let whole = world.show(&format!("/audit?limit={}", entries.expect("a list"))).await;
    assert_eq!(whole["next"], Value::Null, "the audit log too");
}

fn person(email: &str) -> Value {
    json!({
        "firstName": "Ada", "lastName": "Rowe", "role": "Owner", "emailAddress": email,
        "phoneNumber": "+44", "timeZone": "Europe/London",
    })
}

fn users(org: &Org) -> String {
    format!("/organisations/{}/users", org.id)
}

async fn people_belong_to_one_organisation(home: Home) {
    let world = World::start(home).await;
    let (one, two) = (world.add_sandbox("One").await, world.add_sandbox("Two").await);
    for role in ["Owner", "Admin", "Developer", "Support", "Viewer"] {
        let email = format!("{}@one.example", role.to_lowercase());
        let mut new = person(&email);
        new["role"] = json!(role);
        let made = world.order("POST", &users(&one), &new).await.json_of(201);
        holds(&made, &new);
    }
    let listed = world.show(&users(&one)).await;
    let listed = listed["users"].as_array().expect("a list");
    let roles: Vec<_> = listed.iter().map(|user| user["role"].as_str().expect("text")).collect();
    assert_eq!(roles, ["Owner", "Admin", "Developer", "Support", "Viewer"]);
    assert_eq!(world.show(&users(&two)).await, json!({"users": []}));
    let shown = world.get("/v2.0/organisation", &one.key).await.json_of(200);
    let seen = shown["organisations"][0]["users"].as_array().expect("a list").clone();
    let bare = listed.iter().cloned().map(|mut user| {
        user.as_object_mut().expect("an object").remove("id");
        user
    });
    assert_eq!(seen, bare.collect::<Vec<_>>());
}

async fn an_email_address_is_used_once(home: Home) {
    let world = World::start(home).await;
    let (one, two) = (world.add_sandbox("One").await, world.add_sandbox("Two").await);
    world.order("POST", &users(&one), &person("ada@one.example")).await.expect(201);
    let before = world.home.dump().await;
    for (org, email) in [
        (&one, "ada@one.example"),
        (&one, "ADA@ONE.example"),
        (&two, "ada@one.example"),
        (&two, "admin@localhost"),
    ] {
        let refusal = world.order("POST", &users(org), &person(email)).await;
        assert_eq!(refusal.refused(400, "email-taken"), "emailAddress is in use already");
    }
    assert_eq!(world.home.dump().await, before);
    // Two at once: one of them gets it.
    let (path, new) = (users(&two), person("both@two.example"));
    let both = tokio::join!(
        world.order("POST", &path, &new),
        world.order("POST", &path, &new),
        world.order("POST", &path, &new),
    );
    let mut statuses = [both.0.status, both.1.status, both.2.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 400, 400]);
}

async fn a_person_that_does_not_fit_is_refused(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("People").await;
    let before = world.home.dump().await;
    let long = "x".repeat(1_001);
    let far = format!("{}@one.example", "x".repeat(250));
    for (name, value) in [
        ("role", "owner"),
        ("role", ""),
        ("role", "Root"),
        ("emailAddress", ""),
        ("emailAddress", "ada"),
        ("emailAddress", "@one.example"),
        ("emailAddress", "ada@"),
        ("emailAddress", "a b@one.example"),
        ("emailAddress", "a@b@c"),
        ("emailAddress", &far),
        ("firstName", &long),
        ("lastName", &long),
        ("phoneNumber", &long),
        ("timeZone", &long),
    ] {
        let mut new = person("ada@one.example");
        new[name] = json!(value);
        let text = world.order("POST", &users(&org), &new).await.refused(400, "invalid-field");
        assert!(text.starts_with(&format!("{name} ")), "{text}");
        new[name] = json!(5);
        world.order("POST", &users(&org), &new).await.refused(400, "malformed-body");
    }
    // A password is not set this way, and so is ignored rather than kept.
    let mut new = person("ada@one.example");
    new["password"] = json!("correct horse battery");
    let made = world.order("POST", &users(&org), &new).await.json_of(201);
    assert!(!made.to_string().contains("horse"));
    assert_ne!(world.home.dump().await, before);
    assert!(!format!("{:?}", world.home.dump().await).contains("horse"));
}
