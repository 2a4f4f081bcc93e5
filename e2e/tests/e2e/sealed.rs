//! What is stolen with the database alone is worthless: no key and no password stands in it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::json;

use crate::harness::{Home, Ran, Request, World};

crate::on_both! {
    no_key_and_no_password_stands_in_the_database,
    a_key_that_was_moved_to_another_organisation_does_not_open,
}

/// The ways a secret could be written.
pub(crate) fn spellings(secret: &str) -> Vec<String> {
    let heads = ["tern_live_", "tern_test_", "tern_op_"];
    let tail = heads.iter().find_map(|head| secret.strip_prefix(head)).unwrap_or(secret);
    let mut all = Vec::new();
    // With and without what comes before the random part.
    for text in [secret, tail] {
        let hex = domain::hex(text.as_bytes());
        let coded = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
        all.extend(coded.map(|code| code.encode(text)));
        all.extend([text.to_owned(), text.chars().rev().collect(), hex.to_uppercase(), hex]);
    }
    // The random bytes that the text stands for.
    if let Ok(bytes) = URL_SAFE_NO_PAD.decode(tail) {
        all.push(domain::hex(&bytes));
        all.push(STANDARD.encode(&bytes));
    }
    all
}

/// All that a thief of the database would have: its files, or every row of every table.
pub(crate) async fn stolen(home: &Home) -> Vec<(String, String)> {
    let dump = home.everything().await.into_iter().map(|(table, rows)| (table, rows.join("\n")));
    let mut all: Vec<_> = dump.collect();
    if home.is_sqlite() {
        for entry in std::fs::read_dir(home.data()).expect("the data folder") {
            let path = entry.expect("readable").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if name.starts_with("tern.db") {
                // What is not text becomes a mark; what we look for is text.
                let bytes = std::fs::read(path).expect("a file");
                all.push((name, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    all
}

async fn no_key_and_no_password_stands_in_the_database(home: Home) {
    let world = World::start(home).await;
    let label = "label-that-is-no-secret";
    for n in 0..3 {
        let sandbox = json!({"name": format!("Org {n}"), "currency": "USD", "sandbox": n != 1});
        let org = world.add(&sandbox).await;
        let kept = world.add_key(&org, &json!({ "label": label })).await;
        let gone = world.add_key(&org, &json!({"primary": true})).await;
        world.add_key(&org, &json!({"primary": true})).await;
        world.revoke(&org, &gone).await.expect(200);
        // Used keys are kept nowhere else either.
        world.get("/v2.5/organisation", &kept.text).await.expect(200);
        let by_query = format!("/v2.5/organisation?api_key={}", org.key);
        world.node.send(&Request::get(&by_query)).await.expect(200);
        let email = format!("user{n}@org.example");
        let made = world.home.tern_json(&["user", "add", &email, "--org", &org.id]);
        world.is_secret(made["password"].as_str().expect("a password"));
        let again = world.home.tern_json(&["user", "password", &email]);
        world.is_secret(again["password"].as_str().expect("a password"));
    }
    let made = world.home.tern_json(&["key", "operator"]);
    world.is_secret(made["operatorKey"].as_str().expect("a key"));
    let chosen = "correct horse battery staple";
    let mut add = world.home.tern(&["user", "add", "staff@tern.example", "--password-stdin"]);
    assert_eq!(Ran::with_input(&mut add, &format!("{chosen}\n")).code, Some(0));
    world.is_secret(chosen);

    let secrets = world.secrets();
    assert_eq!(secrets.len(), 2 + 3 * (1 + 3 + 2) + 2, "everything that was given out");
    let stolen = stolen(&world.home).await;
    let found = |text: &str| {
        let at = stolen.iter().filter(|(_, all)| all.contains(text)).map(|(name, _)| name);
        at.cloned().collect::<Vec<_>>()
    };
    // What is no secret is found, so the search itself works: in the rows, and in the files.
    assert!(found(label).contains(&"keys".to_owned()), "{:?}", found(label));
    if world.home.is_sqlite() {
        assert!(found(label).iter().any(|name| name.starts_with("tern.db")));
        assert!(
            stolen.iter().any(|(name, _)| name == "tern.db-wal"),
            "its journal is searched too"
        );
    }
    for secret in secrets {
        for spelling in spellings(&secret) {
            assert_eq!(found(&spelling), [""; 0], "{secret} stands there as {spelling}");
        }
    }
}

/// Whoever can write to the database can move a row, but the seal names its owner.
async fn a_key_that_was_moved_to_another_organisation_does_not_open(home: Home) {
    let world = World::start(home).await;
    let (rich, thief) = (world.add_sandbox("Rich").await, world.add_sandbox("Thief").await);
    let key = world.add_key(&thief, &json!({})).await;
    // The thief's second key stays, and shows whatever key is the primary one.
    let swap = format!(
        "UPDATE keys SET primary_at = NULL WHERE org_id = '{}'; \
         UPDATE keys SET org_id = '{}' WHERE org_id = '{}'",
        thief.id, thief.id, rich.id
    );
    world.home.run_sql(&swap).await;
    let answer = world.get("/v2.5/organisation", &key.text).await;
    assert!(!answer.text().contains(&rich.key), "{answer}");
    assert_eq!(answer.refused(500, "internal"), "internal server error");
}
