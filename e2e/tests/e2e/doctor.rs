//! `tern doctor`: finds what is wrong, says how to mend it, and changes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Home, Ran, World};

crate::on_both! {
    a_good_set_up_is_called_good,
    a_vault_that_others_can_read_is_found,
    a_vault_of_another_database_is_found,
    a_lost_vault_is_found,
    a_fresh_set_up_is_only_looked_at,
}

fn doctor(home: &Home, settings: &[(&str, &str)]) -> Ran {
    let mut command = home.tern(&["doctor", "--json"]);
    Ran::new(command.envs(settings.iter().copied()).env("TERN_LISTEN", "127.0.0.1:0"))
}

fn state(report: &Value, check: &str) -> String {
    let checks = report["checks"].as_array().expect("a list of checks");
    let found = checks.iter().find(|entry| entry["check"] == check);
    found.unwrap_or_else(|| panic!("{check} is checked: {report}"))["state"]
        .as_str()
        .expect("a state")
        .to_owned()
}

/// A failing report in which every complaint comes with advice.
#[track_caller]
fn complains(ran: &Ran, check: &str) -> String {
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let report = ran.json_of_any();
    assert_eq!(report["ok"], json!(false));
    assert_eq!(state(&report, check), "bad", "{report}");
    for entry in report["checks"].as_array().expect("a list of checks") {
        let quiet = entry["next"].as_str().is_some_and(str::is_empty);
        assert_eq!(quiet, entry["state"] == "good", "{entry}");
    }
    report.to_string()
}

async fn started(home: Home) -> World {
    let world = World::start(home).await;
    fs::remove_file(world.home.data().join("first-start.txt")).expect("the note can be deleted");
    world
}

async fn a_good_set_up_is_called_good(home: Home) {
    let world = started(home).await;
    let before = world.home.dump().await;
    let ran = doctor(&world.home, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let report = ran.json();
    assert_eq!(report["ok"], json!(true));
    for check in ["data folder", "vault file", "database", "vault fits", "tls", "leftovers"] {
        assert_eq!(state(&report, check), "good", "{report}");
    }
    assert_eq!(world.home.dump().await, before);
    // The same for a person.
    let ran = Ran::new(&mut world.home.tern(&["doctor"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.lines().any(|line| line.starts_with("good  database")), "{ran:?}");
}

async fn a_vault_that_others_can_read_is_found(home: Home) {
    let mut world = started(home).await;
    fs::set_permissions(world.home.vault(), fs::Permissions::from_mode(0o644)).expect("changed");
    let report = complains(&doctor(&world.home, &[]), "vault file");
    assert!(report.contains("chmod 600"), "{report}");
    // Nor does the service start with it.
    world.node.kill();
    let mut serve = world.home.tern(&["serve", "--listen", "127.0.0.1:0"]);
    Ran::new(&mut serve).failed(1, "chmod 600");
}

async fn a_vault_of_another_database_is_found(home: Home) {
    let mut world = started(home).await;
    let other = started(Home::sqlite()).await;
    let right = fs::read(world.home.vault()).expect("the vault");
    fs::copy(other.home.vault(), world.home.vault()).expect("copied");
    let before = world.home.dump().await;
    complains(&doctor(&world.home, &[]), "vault fits");
    world.node.kill();
    let mut serve = world.home.tern(&["serve", "--listen", "127.0.0.1:0"]);
    Ran::new(&mut serve).failed(1, "not the one this database was made with");
    Ran::new(&mut world.home.tern(&["key", "operator"])).failed(1, "not the one this database");
    assert_eq!(world.home.dump().await, before, "nothing is sealed with a wrong vault");
    for broken in ["", "not toml at all", "lookup = \"x\"\n"] {
        fs::write(world.home.vault(), broken).expect("written");
        complains(&doctor(&world.home, &[]), "vault file");
    }
    fs::write(world.home.vault(), right).expect("put back");
    assert_eq!(doctor(&world.home, &[]).code, Some(0));
}

async fn a_lost_vault_is_found(home: Home) {
    let mut world = started(home).await;
    world.node.kill();
    fs::remove_file(world.home.vault()).expect("lost");
    // Without it no key opens, so a service that made a new one would lock everybody out.
    let mut serve = world.home.tern(&["serve", "--listen", "127.0.0.1:0"]);
    Ran::new(&mut serve).failed(1, "vault");
    assert!(!world.home.vault().exists(), "none is made beside an old database");
    let ran = doctor(&world.home, &[]);
    assert_eq!(ran.code, Some(1), "a set-up that cannot start is not well: {ran:?}");
}

fn everything_below(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("there").path());
    let mut names: Vec<_> = entries.map(|path| path.display().to_string()).collect();
    names.sort();
    names
}

async fn a_fresh_set_up_is_only_looked_at(home: Home) {
    let ran = doctor(&home, &[]);
    let report = ran.json();
    assert_eq!(state(&report, "data folder"), "warn");
    assert_eq!(state(&report, "database"), "warn");
    assert_eq!(everything_below(home.folder()), [""; 0], "it makes nothing");
    // And it does not stand in the way of the first start.
    let world = World::start(home).await;
    let report = doctor(&world.home, &[]).json();
    assert_eq!(state(&report, "leftovers"), "warn", "the first key still lies about");
}

#[test]
fn a_database_that_cannot_be_reached_is_found() {
    let home = Home::sqlite();
    let nowhere = [("TERN_DATABASE", "postgres://nobody@127.0.0.1:1/nothing")];
    complains(&doctor(&home, &nowhere), "database");
    complains(&doctor(&home, &[("TERN_DATABASE", "postgres://")]), "database");
    let odd = [("TERN_DATABASE", "mysql://nobody@127.0.0.1/nothing")];
    complains(&doctor(&home, &odd), "database");
    assert_eq!(everything_below(home.folder()), [""; 0], "it makes nothing");
    fs::create_dir(home.data()).expect("a folder");
    fs::write(home.data().join("tern.db"), "this is no database, it is a letter").expect("written");
    complains(&doctor(&home, &[]), "database");
    let left = fs::read_to_string(home.data().join("tern.db")).expect("still there");
    assert_eq!(left, "this is no database, it is a letter");
}

#[test]
fn a_database_of_a_newer_tern_is_found() {
    let home = Home::sqlite();
    home.tern_json(&["org", "add", "Any", "--currency", "USD"]);
    let file = rusqlite::Connection::open(home.data().join("tern.db")).expect("the database");
    let newer = "INSERT INTO schema_migrations (number, name, digest, applied_at) \
                 VALUES (9999, 'later', 'x', 0)";
    file.execute_batch(newer).expect("written");
    let report = complains(&doctor(&home, &[]), "database");
    assert!(report.contains("newer"), "{report}");
    Ran::new(&mut home.tern(&["org", "list"])).failed(1, "9999");
    Ran::new(&mut home.tern(&["serve", "--listen", "127.0.0.1:0"])).failed(1, "newer");
}

#[test]
fn wrong_tls_files_and_an_open_door_are_found() {
    let home = Home::sqlite();
    home.tern_json(&["org", "add", "Any", "--currency", "USD"]);
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("another");
    let write = |name: &str, text: String| {
        let path = home.folder().join(name);
        fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let certificate = write("certificate.pem", made.cert.pem());
    let key = write("key.pem", made.signing_key.serialize_pem());
    let wrong = write("other.pem", other.signing_key.serialize_pem());
    let with = |certificate: &str, key: &str| {
        doctor(&home, &[("TERN_TLS_CERTIFICATE", certificate), ("TERN_TLS_KEY", key)])
    };
    assert_eq!(with(&certificate, &key).code, Some(0));
    complains(&with(&certificate, &wrong), "tls");
    complains(&with(&certificate, ""), "tls");
    complains(&with("", &key), "tls");
    complains(&with("/nowhere/certificate.pem", &key), "tls");
    let mut open = home.tern(&["doctor", "--json"]);
    let report = Ran::new(open.env("TERN_LISTEN", "0.0.0.0:0")).json();
    assert_eq!(state(&report, "exposure"), "warn");
}
