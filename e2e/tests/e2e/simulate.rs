//! `tern simulate`: travellers who are not real, against a service that is.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, Node, Ran, Request, World, binary, node, wait};
use crate::shop::{open, verify};

crate::on_both! {
    travellers_use_data_and_are_found_again,
    what_keeps_travellers_at_home_is_explained,
}

fn simulate(world: &World, args: &[&str]) -> Command {
    let mut command = binary::command();
    command.args(["simulate", "--url", &format!("http://{}", world.node.address)]);
    command.args(args).env("TERN_OPERATOR_KEY", &world.operator_key);
    command
}

fn count(told: &Value, name: &str) -> u64 {
    told[name].as_u64().unwrap_or_else(|| panic!("{name} is a number: {told}"))
}

/// The organisation they live in, once it is there.
fn own(page: &Value) -> Option<&Value> {
    let all = page["organisations"].as_array().expect("a list");
    let mut own = all.iter().filter(|org| org["name"] == "Simulated Travellers");
    let first = own.next();
    assert!(own.next().is_none(), "there is one only: {page}");
    first
}

async fn travellers_use_data_and_are_found_again(home: Home) {
    let world = open(home, 20).await;
    let args = ["--esims", "7", "--rate", "100", "--seconds", "3"];
    let told = Ran::new(simulate(&world, &args).arg("--json")).json();
    let sent = count(&told, "sent");
    assert!((100..=300).contains(&sent), "{told}");
    assert_eq!((count(&told, "accepted"), count(&told, "esims")), (sent, 7), "{told}");
    assert!(count(&told, "bytes") > 0, "{told}");
    // They are found again, whatever they have left.
    let ran = Ran::new(&mut simulate(&world, &args));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("rejected             0\n"), "{ran:?}");
    let orgs = world.show("/organisations?limit=1000").await;
    let org = own(&orgs).expect("it is there");
    assert_eq!((&org["sandbox"], &org["callbackUrl"]), (&json!(true), &json!("")));
    let stock = world.show("/stock").await;
    assert_eq!(stock["stock"][0]["free"], 20 - 7, "{stock}");
    let keys =
        world.show(&format!("/organisations/{}/keys", org["id"].as_str().expect("id"))).await;
    let keys = keys["keys"].as_array().expect("a list");
    let open = keys.iter().filter(|key| key["revokedAt"].is_null()).count();
    assert_eq!((keys.len(), open), (3, 1), "{keys:?}");
    verify(&world);
}

async fn what_keeps_travellers_at_home_is_explained(home: Home) {
    let world = World::start(home).await;
    let (address, nowhere) = (format!("http://{}", world.node.address), "http://127.0.0.1:1");
    let few = &["--esims", "5", "--seconds", "1"];
    Ran::new(&mut simulate(&world, few)).failed(1, "next: tern catalogue import FILE");
    crate::shop::open_in(&world, 3).await;
    let why = "5 eSIMs are wanted, and 3 are in the sandbox stock";
    Ran::new(&mut simulate(&world, few)).failed(1, why);
    let before = world.show("/stock").await;
    assert_eq!(before["stock"][0]["free"], 3, "nothing was bought");
    let mut command = binary::command();
    command.args(["simulate", "--url", nowhere, "--operator-key", "k"]);
    Ran::new(&mut command).failed(1, "next: is a service at http://127.0.0.1:1?");
    let mut command = binary::command();
    command.args(["simulate", "--url", &address, "--operator-key", "wrong"]);
    Ran::new(&mut command).failed(1, "next: --operator-key KEY or TERN_OPERATOR_KEY");
    Ran::new(binary::command().arg("simulate")).failed(1, "an operator key is needed");
    for odd in [["--rate", "fast"], ["--esims", "0"], ["--seconds", "-1"]] {
        Ran::new(&mut simulate(&world, &odd)).failed(2, "--help");
    }
}

/// Who tries the demo has company, unless it is a program.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_has_a_few_travellers() {
    let home = Home::sqlite();
    let mut command = binary::command();
    command.args(["demo", "--listen", "127.0.0.1:0", "--data"]).arg(home.data());
    let demo = Node::start(&home, command, |stdout, _| {
        stdout.lines().find(|line| line.contains("Ctrl-C"))?;
        let url = stdout.split_whitespace().find(|word| word.starts_with("http://"))?;
        node::address(url)
    })
    .await;
    let told = demo.stdout();
    let operator = told.split([' ', '\'', '\n']).find(|word| word.starts_with("tern_op_"));
    let operator = operator.expect("a key").to_owned();
    let list = Request::get("/operator/v1/organisations").bearer(&operator);
    wait::until("travellers have an organisation", Duration::from_secs(20), async || {
        let page = demo.send(&list).await.json_of(200);
        own(&page).map(drop)
    })
    .await;
    wait::until("they do something", Duration::from_secs(30), async || {
        Some(()).filter(|()| demo.log().contains("POST /operator/v1/usage 200"))
    })
    .await;
    assert!(!demo.log().contains("stay at home"), "{}", demo.log());
}
