//! A power cut in the middle of many top-ups: what was acknowledged is there, and nothing twice.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use store::Rt;

use crate::harness::{Answer, Home, Node, Org, World, http, wait};
use crate::money::{balance, charges, essence, events, keyed, statement, with_card};

crate::on_both! {
    a_power_cut_among_a_thousand_topups_loses_none_and_doubles_none,
}

const TOPUPS: usize = 1_000;
const CLIENTS: usize = 32;
const AMOUNT: i64 = 7;

/// Work that clients share: the numbers still to be sent, and how many were answered well.
#[derive(Default)]
struct Shared {
    next: AtomicUsize,
    paid: AtomicUsize,
}

/// Sends every top-up by many clients until all are through or the node is gone; what each heard.
async fn send_all(address: SocketAddr, org: &Org, shared: &Arc<Shared>) -> BTreeMap<usize, Answer> {
    let client = || {
        let (org, shared) = (org.clone(), shared.clone());
        Rt::real().task(async move {
            let mut heard = Vec::new();
            loop {
                let number = shared.next.fetch_add(1, Ordering::SeqCst);
                if number >= TOPUPS {
                    return heard;
                }
                let bytes = keyed(&org, &AMOUNT.to_string(), &format!("n-{number}")).bytes();
                let Ok(answer) = http::exchange(address, &bytes, false).await else {
                    return heard;
                };
                if answer.status == 200 {
                    shared.paid.fetch_add(1, Ordering::SeqCst);
                }
                heard.push((number, answer));
            }
        })
    };
    let clients: Vec<_> = (0..CLIENTS).map(|_| client()).collect();
    let mut all = BTreeMap::new();
    for client in clients {
        all.extend(client.await.expect("a client ends"));
    }
    all
}

fn number(answer: &Answer) -> i64 {
    answer.json()["ref"].as_i64().expect("a number")
}

/// The numbers of all charges that were paid; none stands there twice.
async fn paid(world: &World, org: &Org) -> BTreeSet<i64> {
    let all = charges(world, org).await;
    let paid = all.iter().filter(|charge| charge["state"] == "paid");
    let numbers: Vec<_> = paid.map(|charge| charge["ref"].as_i64().expect("a number")).collect();
    let distinct: BTreeSet<_> = numbers.iter().copied().collect();
    assert_eq!(distinct.len(), numbers.len());
    distinct
}

async fn a_power_cut_among_a_thousand_topups_loses_none_and_doubles_none(home: Home) {
    let mut world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let shared = Arc::new(Shared::default());
    let address = world.node.address;
    let cut = async {
        wait::until("some are answered", Duration::from_mins(1), async || {
            (shared.paid.load(Ordering::SeqCst) >= 300).then_some(())
        })
        .await;
        world.node.kill();
    };
    let (heard, ()) = tokio::join!(send_all(address, &org, &shared), cut);
    let acknowledged: BTreeMap<_, _> =
        heard.into_iter().filter(|(_, answer)| answer.status == 200).collect();
    assert!((300..TOPUPS).contains(&acknowledged.len()), "{} before", acknowledged.len());

    world.node = Node::serve(&world.home, &[]).await;
    let known = paid(&world, &org).await;
    for (n, answer) in &acknowledged {
        assert!(known.contains(&number(answer)), "top-up {n} was acknowledged and is gone");
    }
    let distinct: BTreeSet<_> = acknowledged.values().map(number).collect();
    assert_eq!(distinct.len(), acknowledged.len(), "no two are one");

    // Everybody repeats everything, until all have heard of theirs.
    let mut settled: BTreeMap<usize, Answer> = BTreeMap::new();
    wait::until("all are settled", Duration::from_mins(2), async || {
        let heard = send_all(world.node.address, &org, &Arc::default()).await;
        assert_eq!(heard.len(), TOPUPS);
        let refused = heard.values().filter(|answer| answer.status != 200);
        assert!(refused.into_iter().all(|answer| answer.status == 503), "only not yet");
        settled = heard.into_iter().filter(|(_, answer)| answer.status == 200).collect();
        (settled.len() == TOPUPS).then_some(())
    })
    .await;
    for (n, answer) in &acknowledged {
        assert_eq!(essence(&settled[n]), essence(answer), "top-up {n}");
    }
    let total = i64::try_from(TOPUPS).expect("fits") * AMOUNT;
    assert_eq!(balance(&world, &org).await, total);
    let numbers: BTreeSet<_> = settled.values().map(number).collect();
    assert_eq!(numbers.len(), TOPUPS);
    assert_eq!(paid(&world, &org).await, numbers);
    assert_eq!(charges(&world, &org).await.len(), TOPUPS, "and no other");
    assert_eq!(events(&world, &org).await.len(), TOPUPS);
    assert_eq!(statement(&world, &org, "").await["ledgerEntries"], json!(TOPUPS));
    // Each answer names the balance of its own moment.
    let balances: BTreeSet<_> =
        settled.values().map(|answer| answer.json()["balance"].as_i64()).collect();
    assert_eq!(balances.len(), TOPUPS);
    let report = world.home.tern_json(&["verify"]);
    assert_eq!(report, json!({"ok": true, "entries": TOPUPS, "faults": []}));
}
