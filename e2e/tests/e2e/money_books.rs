//! `tern verify`: adds everything up again, and names the row that is wrong.

use serde_json::{Value, json};

use crate::harness::{Home, Org, Ran, World};
use crate::money::{statement, topup, with_card};

crate::on_both! {
    good_books_are_called_good,
    a_changed_row_is_named,
    where_there_is_no_database_none_is_made,
}

async fn three_entries(world: &World) -> Org {
    let org = with_card(world, "pays").await;
    for amount in ["10", "20"] {
        world.node.send(&topup(&org, "/v2.3", amount)).await.expect(200);
    }
    let path = format!("/organisations/{}/credit", org.id);
    world.order("POST", &path, &json!({"amount": -5, "reason": "a fee"})).await.expect(200);
    org
}

fn verified(home: &Home) -> (Option<i32>, Value) {
    let ran = Ran::new(home.tern(&["verify"]).arg("--json"));
    (ran.code, ran.json_of_any())
}

async fn good_books_are_called_good(home: Home) {
    let mut world = World::start(home).await;
    let nothing = json!({"ok": true, "entries": 0, "faults": []});
    assert_eq!(verified(&world.home), (Some(0), nothing));
    three_entries(&world).await;
    three_entries(&world).await;
    let before = world.home.dump().await;
    let six = json!({"ok": true, "entries": 6, "faults": []});
    assert_eq!(verified(&world.home), (Some(0), six.clone()));
    assert_eq!(world.home.dump().await, before, "it only looks");
    let ran = Ran::new(&mut world.home.tern(&["verify"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("6 ledger entries, 0 faults"), "{ran:?}");
    // Nor does it need a service, or the keys of one.
    world.node.kill();
    std::fs::remove_file(world.home.vault()).expect("the vault was there");
    assert_eq!(verified(&world.home), (Some(0), six));
}

async fn a_changed_row_is_named(home: Home) {
    let world = World::start(home).await;
    three_entries(&world).await;
    let org = three_entries(&world).await;
    let entry = |n: i64| format!("organisation {}, ledger entry {n}", org.id);
    let head = format!("organisation {}, head", org.id);
    let whole = statement(&world, &org, "").await;
    let time = whole["entries"][1]["time"].as_str().expect("a time");
    let at = domain::Timestamp::parse(time).expect("a time").ms();
    let row = |n: i64| format!("WHERE org_id = '{}' AND seq = {n}", org.id);
    let update = |n: i64, set: &str| format!("UPDATE ledger_entries SET {set} {}", row(n));
    let on_head = |set: &str| format!("UPDATE org_heads SET {set} WHERE org_id = '{}'", org.id);
    let fair = "available 20 card -20";
    // What is done to the books, what it is called, and how it is undone.
    for (wrong, named, right) in [
        (
            update(2, "postings = 'available 900 card -900'"),
            entry(2),
            update(2, &format!("postings = '{fair}'")),
        ),
        (
            update(2, "postings = 'available 21 card -20'"),
            entry(2),
            update(2, &format!("postings = '{fair}'")),
        ),
        (update(2, "postings = 'nonsense'"), entry(2), update(2, &format!("postings = '{fair}'"))),
        (update(3, "reason = 'a gift'"), entry(3), update(3, "reason = 'a fee'")),
        (update(2, "at = at + 1"), entry(2), update(2, &format!("at = {at}"))),
        (update(1, "kind = 'credit'"), entry(1), update(1, "kind = 'topup'")),
        (on_head("balance = balance + 1"), head.clone(), on_head("balance = balance - 1")),
        (on_head("ledger_seq = 4"), head.clone(), on_head("ledger_seq = 3")),
    ] {
        world.home.run_sql(&wrong).await;
        let (code, report) = verified(&world.home);
        assert_eq!((code, &report["ok"]), (Some(1), &json!(false)), "{wrong}: {report}");
        let faults = report["faults"].as_array().expect("a list");
        let first = faults[0].as_str().expect("a text");
        assert!(first.starts_with(&named), "{wrong}: {report}");
        let others = faults.iter().filter_map(Value::as_str);
        assert!(others.into_iter().all(|fault| fault.contains(&org.id)), "{wrong}: {report}");
        let ran = Ran::new(&mut world.home.tern(&["verify"]));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stdout.contains(&named), "{ran:?}");
        world.home.run_sql(&right).await;
        assert_eq!(verified(&world.home).0, Some(0), "{right}");
    }
    // A row that is gone is missed: the last one, or one in between.
    world.home.run_sql(&format!("DELETE FROM ledger_entries {}", row(3))).await;
    let (code, report) = verified(&world.home);
    assert_eq!(code, Some(1));
    assert!(report["faults"].to_string().contains(&head), "{report}");
    world.home.run_sql(&format!("DELETE FROM ledger_entries {}", row(1))).await;
    let (code, report) = verified(&world.home);
    assert_eq!(code, Some(1));
    assert!(report["faults"].to_string().contains(&entry(2)), "{report}");
}

async fn where_there_is_no_database_none_is_made(home: Home) {
    for extra in [&[][..], &["--json"]] {
        let ran = Ran::new(home.tern(&["verify"]).args(extra));
        ran.failed(1, "there is no database");
    }
    assert!(!home.data().exists());
    std::fs::create_dir(home.data()).expect("a folder");
    Ran::new(home.tern(&["verify"]).arg("--json")).failed(1, "there is no database");
    assert_eq!(std::fs::read_dir(home.data()).expect("a folder").count(), 0);
    let report = home.tern_json(&["doctor"]);
    let checks = report["checks"].as_array().expect("a list");
    let database = checks.iter().find(|check| check["check"] == "database");
    assert_eq!(database.expect("it is checked")["text"], "empty", "no table was made");
}
