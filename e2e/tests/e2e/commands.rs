//! `tern org`, `tern key` and `tern user`, beside a running service and without one.

use serde_json::{Value, json};

use crate::harness::{Home, Ran, Request, World, binary};

crate::on_both! {
    organisations_are_managed_at_the_command_line,
    keys_are_managed_at_the_command_line,
    people_are_managed_at_the_command_line,
    what_the_command_line_prints_is_for_people_too,
    mistakes_at_the_command_line_are_explained,
    the_command_line_works_before_the_first_start,
    commands_that_only_look_make_nothing,
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is a text: {value}")).to_owned()
}

async fn organisations_are_managed_at_the_command_line(home: Home) {
    let world = World::start(home).await;
    let cli = |args: &[&str]| world.home.tern_json(args);
    assert_eq!(cli(&["org", "list"]), json!({"organisations": []}));
    let made = cli(&[
        "org",
        "add",
        "Puffin Travel",
        "--currency",
        "EUR",
        "--sandbox",
        "--city",
        "Lerwick",
        "--group",
        "A",
        "--group",
        "B b",
        "--allow-ip",
        "127.0.0.1",
        "--rate-limit",
        "50",
        "--callback-url",
        "https://hooks.example/x",
        "--sender",
        "Puffin",
    ]);
    for (name, value) in [
        ("name", json!("Puffin Travel")),
        ("currency", json!("EUR")),
        ("sandbox", json!(true)),
        ("groups", json!(["A", "B b"])),
        ("ipAllowList", json!(["127.0.0.1/32"])),
        ("rateLimit", json!(50)),
        ("callbackUrl", json!("https://hooks.example/x")),
        ("senders", json!(["Puffin"])),
        ("balance", json!(0)),
    ] {
        assert_eq!(made[name], value, "{name}");
    }
    let (id, key) = (text(&made, "id"), text(&made, "apiKey"));
    world.is_secret(&key);
    // The service knows it at once, by the same rules.
    let seen = world.get("/v2.5/organisation", &key).await.json_of(200);
    assert_eq!(seen["organisations"][0]["city"], "Lerwick");
    let mut shown = made.clone();
    shown.as_object_mut().expect("an object").remove("apiKey");
    assert_eq!(cli(&["org", "show", &id]), shown);
    assert_eq!(cli(&["org", "list"]), json!({ "organisations": [shown] }));
    let changed = cli(&["org", "set", &id, "--name", "Razorbill", "--rate-limit", "0"]);
    shown["name"] = json!("Razorbill");
    shown["rateLimit"] = Value::Null;
    assert_eq!(changed, shown);
    assert_eq!(world.show(&format!("/organisations/{id}")).await["city"], "Lerwick");
    // What the service made, the command line sees.
    let live = world.add_live("Live").await;
    assert_eq!(cli(&["org", "show", &live.id])["sandbox"], json!(false));
}

async fn keys_are_managed_at_the_command_line(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Keys").await;
    let cli = |args: &[&str]| world.home.tern_json(args);
    let made = cli(&["key", "add", &org.id, "--label", "shop"]);
    assert_eq!((&made["label"], &made["primary"]), (&json!("shop"), &json!(false)));
    let further = text(&made, "apiKey");
    world.get("/v2.5/", &further).await.expect(200);
    let primary = cli(&["key", "add", &org.id, "--primary"]);
    assert_eq!(primary["primary"], json!(true));
    let seen = world.get("/v2.5/organisation", &further).await.json_of(200);
    assert_eq!(seen["organisations"][0]["apiKey"], primary["apiKey"]);
    let listed = cli(&["key", "list", &org.id]);
    let by_service = world.show(&format!("/organisations/{}/keys", org.id)).await;
    assert_eq!(listed, by_service);
    assert_eq!(listed["keys"].as_array().map(Vec::len), Some(3));

    let operator = cli(&["key", "operator", "--label", "night"]);
    let key = text(&operator, "operatorKey");
    let request = Request::get("/operator/v1/organisations").bearer(&key);
    world.node.send(&request).await.expect(200);
    let listed = cli(&["key", "list"]);
    let labels: Vec<_> = listed["keys"].as_array().expect("a list").iter().collect();
    assert_eq!(labels.len(), 2);
    assert_eq!(labels[1]["label"], "night");
    assert!(!listed.to_string().contains("tern_op_"), "a list holds no key");
    // The operator's keys are not an organisation's.
    let mut wrong = world.home.tern(&["key", "revoke", &text(&operator, "id"), "--org", &org.id]);
    Ran::new(&mut wrong).failed(1, "key not found");
    let mut wrong = world.home.tern(&["key", "revoke", &text(&made, "id")]);
    Ran::new(&mut wrong).failed(1, "key not found");
    world.node.send(&request).await.expect(200);
    world.get("/v2.5/", &further).await.expect(200);
}

async fn people_are_managed_at_the_command_line(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("People").await;
    let cli = |args: &[&str]| world.home.tern_json(args);
    let made = cli(&[
        "user",
        "add",
        "Ada@One.example",
        "--org",
        &org.id,
        "--role",
        "Developer",
        "--first-name",
        "Ada",
        "--last-name",
        "Rowe",
        "--phone",
        "+44",
        "--time-zone",
        "Europe/London",
    ]);
    assert!(text(&made, "password").len() >= 12);
    let mut shown = made.clone();
    shown.as_object_mut().expect("an object").remove("password");
    let wanted = json!({
        "id": made["id"], "emailAddress": "ada@one.example", "role": "Developer",
        "firstName": "Ada", "lastName": "Rowe", "phoneNumber": "+44",
        "timeZone": "Europe/London",
    });
    assert_eq!(shown, wanted);
    assert_eq!(cli(&["user", "list", &org.id]), json!({ "users": [shown] }));
    assert_eq!(world.show(&format!("/organisations/{}/users", org.id)).await["users"][0], wanted);
    let staff = cli(&["user", "list"]);
    assert_eq!(staff["users"][0]["emailAddress"], "admin@localhost");
    let again = cli(&["user", "password", "ADA@one.example"]);
    assert_ne!(again["password"], made["password"]);
    // A chosen password is read from stdin and not told again.
    let mut chosen = world.home.tern(&["user", "add", "bo@one.example", "--password-stdin"]);
    let ran = Ran::with_input(chosen.arg("--json"), "correct horse battery\n");
    assert!(ran.json().get("password").is_none());
    let before = world.home.dump().await;
    for (input, why) in
        [("short\n", "12 to 256"), ("", "12 to 256"), (&*"x".repeat(257), "12 to 256")]
    {
        let mut add = world.home.tern(&["user", "add", "cy@one.example", "--password-stdin"]);
        Ran::with_input(&mut add, input).failed(1, why);
        let mut set = world.home.tern(&["user", "password", "bo@one.example", "--password-stdin"]);
        Ran::with_input(&mut set, input).failed(1, why);
    }
    for (args, why) in [
        (vec!["user", "add", "ada@one.example"], "in use already"),
        (vec!["user", "add", "nonsense"], "emailAddress"),
        (vec!["user", "add", "dee@one.example", "--role", "King"], "role must be"),
        (vec!["user", "password", "nobody@one.example"], "no user has that e-mail address"),
        (vec!["user", "list", &world.operator_key], "is no organisation id"),
    ] {
        Ran::new(&mut world.home.tern(&args)).failed(1, why);
    }
    assert_eq!(world.home.dump().await, before);
}

async fn what_the_command_line_prints_is_for_people_too(home: Home) {
    let world = World::start(home).await;
    let run = |args: &[&str]| {
        let ran = Ran::new(&mut world.home.tern(args));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
        assert!(!ran.stdout.contains('\u{1b}'), "no colours into a pipe: {ran:?}");
        ran.stdout
    };
    assert!(run(&["org", "list"]).contains("no organisations yet"));
    let added = run(&["org", "add", "Puffin", "--currency", "USD"]);
    let line = added.lines().find(|line| line.starts_with("apiKey")).expect("the key is shown");
    world.get("/v2.3/", line.split_whitespace().last().expect("a key")).await.expect(200);
    let listed = run(&["org", "list"]);
    assert_eq!(listed.lines().count(), 2);
    assert!(listed.starts_with("ID") && listed.contains("live") && listed.contains("0 USD"));
    let id = listed.lines().nth(1).and_then(|line| line.split_whitespace().next());
    let id = id.expect("an id");
    assert!(run(&["org", "show", id]).contains("Puffin"));
    assert!(run(&["key", "add", id]).contains("shown this once"));
    assert!(run(&["key", "list", id]).contains("primary"));
    assert!(run(&["key", "operator"]).contains("tern_op_"));
    assert!(run(&["user", "add", "ada@one.example", "--org", id]).contains("shown this once"));
    assert!(run(&["user", "list", id]).contains("ada@one.example"));
}

async fn mistakes_at_the_command_line_are_explained(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Known").await;
    let before = world.home.dump().await;
    let unknown = "01890000-0000-7000-8000-000000000000";
    for (args, why) in [
        (vec!["org", "show", unknown], "organisation not found"),
        (vec!["org", "show", "nonsense"], "`tern org list`"),
        (vec!["org", "show", "00000000-0000-0000-0000-000000000000"], "is no organisation id"),
        (vec!["org", "set", unknown, "--city", "x"], "organisation not found"),
        (vec!["org", "set", &org.id, "--name", ""], "name must not be empty"),
        (vec!["org", "set", &org.id, "--callback-url", "nonsense"], "callbackUrl"),
        (vec!["org", "set", &org.id, "--allow-ip", "nonsense"], "ipAllowList"),
        (vec!["org", "set", &org.id, "--rate-limit", "100001"], "rateLimit"),
        (vec!["org", "add", "A", "--currency", "dollars"], "currency"),
        (vec!["org", "add", "", "--currency", "USD"], "name"),
        (vec!["key", "add", unknown], "organisation not found"),
        (vec!["key", "list", unknown], "organisation not found"),
        (vec!["key", "revoke", "nonsense"], "`tern key list`"),
        (vec!["key", "revoke", unknown, "--org", &org.id], "key not found"),
        (vec!["key", "primary", unknown, "--org", &org.id], "key not found"),
        (vec!["user", "add", "a@b.example", "--org", unknown], "organisation not found"),
        (vec!["user", "list", unknown], "organisation not found"),
    ] {
        Ran::new(&mut world.home.tern(&args)).failed(1, why);
        // The same with --json, which prints nothing that could be taken for a result.
        Ran::new(world.home.tern(&args).arg("--json")).failed(1, why);
    }
    for args in [
        vec!["org"],
        vec!["org", "add", "A"],
        vec!["org", "fly"],
        vec!["key", "add"],
        vec!["nonsense"],
        vec!["org", "list", "--nonsense"],
        vec!["org", "set", &org.id, "--rate-limit", "x"],
    ] {
        Ran::new(&mut world.home.tern(&args)).failed(2, "--help");
    }
    assert_eq!(world.home.dump().await, before);
    let mut nowhere = binary::command();
    nowhere.args(["org", "list", "--data"]).arg(world.home.folder().join("elsewhere"));
    nowhere.args(["--database", "postgres://nobody@127.0.0.1:1/nothing"]);
    let ran = Ran::new(&mut nowhere);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    let mut odd = world.home.tern(&["org", "list"]);
    Ran::new(odd.env("TERN_LOG_LEVEL", "loud")).failed(1, "loud");
    let file = world.home.folder().join("tern.toml");
    std::fs::write(&file, "lisen = \"127.0.0.1:1\"").expect("written");
    let mut odd = world.home.tern(&["org", "list"]);
    Ran::new(odd.arg("--config").arg(&file)).failed(1, "lisen");
    // Others may use the prefix for things of their own.
    let mut odd = world.home.tern(&["org", "list", "--json"]);
    Ran::new(odd.env("TERN_PORT", "tcp://10.0.0.1:80")).json();
}

async fn commands_that_only_look_make_nothing(home: Home) {
    let id = "01890000-0000-7000-8000-000000000000";
    for args in [
        vec!["org", "list"],
        vec!["org", "show", id],
        vec!["org", "set", id, "--city", "x"],
        vec!["key", "list"],
        vec!["key", "add", id],
        vec!["key", "revoke", id],
        vec!["user", "list"],
        vec!["user", "password", "a@b.example"],
    ] {
        Ran::new(&mut home.tern(&args)).failed(1, "there is no database here yet");
    }
    assert!(!home.data().exists());
    let report = home.tern_json(&["doctor"]);
    let database = report["checks"]
        .as_array()
        .and_then(|checks| checks.iter().find(|check| check["check"] == "database"));
    assert_eq!(database.expect("it is checked")["text"], "empty", "no table was made");
}

/// Nothing needs a running service: what is made before its first start is there after it.
async fn the_command_line_works_before_the_first_start(home: Home) {
    let made = home.tern_json(&["org", "add", "Early", "--currency", "USD", "--sandbox"]);
    let staff = home.tern_json(&["key", "operator"]);
    let node = crate::harness::Node::serve(&home, &[]).await;
    let get = Request::get("/v2.5/organisation").key(&text(&made, "apiKey"));
    node.send(&get).await.expect(200);
    let list = Request::get("/operator/v1/organisations").bearer(&text(&staff, "operatorKey"));
    let listed = node.send(&list).await.json_of(200);
    assert_eq!(listed["organisations"][0]["name"], "Early");
}
