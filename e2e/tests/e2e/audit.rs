//! The audit log: an entry for every act, with the one who did it, and never a secret.

use serde_json::{Value, json};

use crate::harness::{Home, World};

crate::on_both! {
    every_act_is_in_the_log_with_who_did_it,
    what_was_refused_is_not_in_the_log,
    the_log_is_read_backwards_page_by_page,
}

async fn entries(world: &World) -> Vec<Value> {
    let page = world.show("/audit?limit=1000").await;
    let mut entries = page["entries"].as_array().expect("a list").clone();
    entries.reverse();
    entries
}

/// Who did what to which organisation and to what, oldest first.
fn acts(entries: &[Value]) -> Vec<(String, String, Option<String>, String)> {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let word = |value: &Value| text(value).expect("a text");
    let act = |entry: &Value| {
        let (actor, action) = (word(&entry["actor"]), word(&entry["action"]));
        (actor, action, text(&entry["organisation"]), word(&entry["target"]))
    };
    entries.iter().map(act).collect()
}

async fn every_act_is_in_the_log_with_who_did_it(home: Home) {
    let world = World::start(home).await;
    let started = entries(&world).await;
    // Both were made in the same moment, so their order says nothing.
    let mut names: Vec<_> = acts(&started).into_iter().map(|(who, what, ..)| (who, what)).collect();
    names.sort();
    let by_service = |what: &str| ("service".to_owned(), what.to_owned());
    assert_eq!(names, [by_service("key.add"), by_service("user.add")]);
    let first = started.iter().find(|entry| entry["action"] == "key.add").expect("listed");
    let operator_key = first["target"].as_str().expect("the id of the first key").to_owned();

    let org = world.add_sandbox("Audited").await;
    world.change(&org, &json!({"city": "Wick", "rateLimit": 5})).await;
    let key = world.add_key(&org, &json!({"label": "shop"})).await;
    world.revoke(&org, &key).await.expect(200);
    let person = json!({
        "firstName": "A", "lastName": "B", "role": "Viewer", "emailAddress": "a@b.example",
    });
    let path = format!("/organisations/{}/users", org.id);
    let user = world.order("POST", &path, &person).await.json_of(201);
    let user = user["id"].as_str().expect("an id");

    let cli = |args: &[&str]| world.home.tern_json(args);
    let id = |made: &Value| made["id"].as_str().expect("an id").to_owned();
    let second = id(&cli(&["org", "add", "Second", "--currency", "EUR"]));
    cli(&["org", "set", &second, "--city", "Wick"]);
    let more = id(&cli(&["key", "add", &second, "--label", "more"]));
    cli(&["key", "primary", &more, "--org", &second]);
    let first_keys = cli(&["key", "list", &second]);
    let old = first_keys["keys"][0]["id"].as_str().expect("an id").to_owned();
    cli(&["key", "revoke", &old, "--org", &second]);
    let further = id(&cli(&["key", "operator"]));
    cli(&["key", "revoke", &further]);
    let staff = id(&cli(&["user", "add", "staff@b.example"]));
    cli(&["user", "password", "staff@b.example"]);

    let operator = format!("operator:{operator_key}");
    let act = |who: &str, what: &str, of: Option<&str>, target: &str| {
        (who.to_owned(), what.to_owned(), of.map(ToOwned::to_owned), target.to_owned())
    };
    let (one, two) = (Some(org.id.as_str()), Some(second.as_str()));
    let wanted = [
        act(&operator, "organisation.add", one, &org.id),
        act(&operator, "organisation.change", one, &org.id),
        act(&operator, "key.add", one, &key.id),
        act(&operator, "key.revoke", one, &key.id),
        act(&operator, "user.add", one, user),
        act("cli", "organisation.add", two, &second),
        act("cli", "organisation.change", two, &second),
        act("cli", "key.add", two, &more),
        act("cli", "key.primary", two, &more),
        act("cli", "key.revoke", two, &old),
        act("cli", "key.add", None, &further),
        act("cli", "key.revoke", None, &further),
        act("cli", "user.add", None, &staff),
        act("cli", "user.password", None, "staff@b.example"),
    ];
    let after = entries(&world).await;
    assert_eq!(acts(&after[2..]), wanted);
    assert_eq!(after[3]["detail"], "city rateLimit", "what was changed, not to what");
    let log = json!(after).to_string();
    for secret in world.secrets() {
        assert!(!log.contains(&secret), "{secret}");
    }
    assert!(!log.contains("tern_"), "nothing that looks like a key: {log}");
    // Reading is no act.
    world.show("/organisations").await;
    assert_eq!(entries(&world).await.len(), after.len());
}

async fn what_was_refused_is_not_in_the_log(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Refused").await;
    let before = entries(&world).await;
    let path = format!("/organisations/{}", org.id);
    world.order("PATCH", &path, &json!({"name": ""})).await.expect(400);
    world.order("PATCH", &path, &json!({"sandbox": false})).await.expect(400);
    world.order("POST", "/organisations", &json!({"name": "A", "currency": "x"})).await.expect(400);
    world.order("POST", &format!("{path}/users"), &json!({"role": "x"})).await.expect(400);
    let own = world.show(&format!("{path}/keys")).await["keys"][0]["id"].clone();
    let own = own.as_str().expect("an id");
    let primary = world.operator("DELETE", &format!("{path}/keys/{own}"));
    world.node.send(&primary).await.expect(400);
    let unknown = world.operator("DELETE", &format!("{path}/keys/{}", org.id));
    world.node.send(&unknown).await.expect(404);
    assert_eq!(entries(&world).await, before);
}

fn ms(time: &Value) -> i64 {
    domain::Timestamp::parse(time.as_str().expect("a time")).expect("a time").ms()
}

async fn the_log_is_read_backwards_page_by_page(home: Home) {
    let world = World::start(home).await;
    for n in 0..5 {
        world.add_sandbox(&format!("Org {n}")).await;
    }
    let mut whole = entries(&world).await;
    whole.reverse();
    assert_eq!(whole.len(), 7);
    let times: Vec<_> = whole.iter().map(|entry| ms(&entry["time"])).collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older), "newest first: {times:?}");
    for limit in [1, 2, 3] {
        let mut read = Vec::new();
        let mut after = String::new();
        loop {
            let page = world.show(&format!("/audit?limit={limit}{after}")).await;
            read.extend(page["entries"].as_array().expect("a list").clone());
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
            assert!(read.len() < 20, "it ends");
        }
        assert_eq!(read, whole, "each once and in order, by {limit}");
    }
}
