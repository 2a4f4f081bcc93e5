//! Power cuts in the middle of large orders: each key has one order, whole, and no eSIM twice.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use store::Rt;

use crate::harness::{Answer, Home, Node, Org, Request, World, http, wait};
use crate::money::{balance, essence, events, settle};
use crate::shop::{
    PROFILE, PT, at_once, iccids, into_inventory, inventory, listed, onto_new, open, order,
    reference, reseller, seen, stock, verify,
};

crate::on_both! {
    ten_power_cuts_among_large_orders_lose_none_and_double_none,
}

const CUTS: usize = 10;
const CLIENTS: usize = 4;
/// Orders, by turns onto new eSIMs and into the inventory.
const ORDERS: usize = 24;
const ESIMS: i64 = 500;
const BUNDLES: i64 = 1_000;

fn is_onto_esims(number: usize) -> bool {
    number.is_multiple_of(2)
}

fn request(org: &Org, number: usize) -> Request {
    let body = if is_onto_esims(number) {
        onto_new(&[(PT, ESIMS)])
    } else {
        into_inventory(&[(PT, BUNDLES)])
    };
    order(org, "/v2.5", &body).header("Idempotency-Key", format!("large-{number}"))
}

/// Sends these by many clients until all are through or the node is gone; what they heard. The
/// counter tells meanwhile how much that is.
async fn send(
    address: SocketAddr,
    org: &Org,
    numbers: &[usize],
    answered: &Arc<AtomicUsize>,
) -> BTreeMap<usize, Answer> {
    let next = Arc::new(AtomicUsize::new(0));
    let client = || {
        let (org, numbers) = (org.clone(), numbers.to_vec());
        let (next, answered) = (next.clone(), answered.clone());
        Rt::real().task(async move {
            let mut heard = Vec::new();
            while let Some(number) = numbers.get(next.fetch_add(1, Ordering::SeqCst)) {
                let bytes = request(&org, *number).bytes();
                let Ok(answer) = http::exchange(address, &bytes, false).await else { break };
                answered.fetch_add(1, Ordering::SeqCst);
                heard.push((*number, answer));
            }
            heard
        })
    };
    let clients: Vec<_> = (0..CLIENTS).map(|_| client()).collect();
    let mut all = BTreeMap::new();
    for client in clients {
        all.extend(client.await.expect("a client ends"));
    }
    all
}

/// Cuts the power again and again, each time at another moment; what was acknowledged meanwhile.
async fn cut_again_and_again(world: &mut World, org: &Org) -> BTreeMap<usize, Answer> {
    let mut acknowledged: BTreeMap<usize, Answer> = BTreeMap::new();
    for cut in 0..CUTS {
        // A few new ones in each life, beside those that were lost.
        let known = (2 * cut + 4).min(ORDERS);
        let numbers: Vec<_> = (0..known).filter(|n| !acknowledged.contains_key(n)).collect();
        let (address, answered) = (world.node.address, Arc::new(AtomicUsize::new(0)));
        let node = &mut world.node;
        let power = async {
            let enough = (cut % 3).min(numbers.len());
            wait::until("some are answered", Duration::from_secs(20), async || {
                (answered.load(Ordering::SeqCst) >= enough).then_some(())
            })
            .await;
            // The moment itself is the point: somewhere in the work on the others.
            let moment = u64::try_from(3 + cut * 5 % 17).expect("small");
            Rt::real().sleep(Duration::from_millis(moment)).await;
            node.kill();
        };
        let (heard, ()) = tokio::join!(send(address, org, &numbers, &answered), power);
        acknowledged.extend(heard.into_iter().filter(|(_, answer)| answer.status == 200));
        world.node = Node::serve(&world.home, &[]).await;
    }
    acknowledged
}

/// Repeats every request until all are answered.
async fn repeat_all(world: &World, org: &Org) -> BTreeMap<usize, Answer> {
    let all: Vec<_> = (0..ORDERS).collect();
    wait::until("all are answered", Duration::from_secs(30), async || {
        let heard = send(world.node.address, org, &all, &Arc::default()).await;
        assert_eq!(heard.len(), ORDERS);
        let refused = heard.values().filter(|answer| answer.status != 200);
        assert!(refused.into_iter().all(|answer| answer.status == 503), "only not yet");
        heard.values().all(|answer| answer.status == 200).then_some(heard)
    })
    .await
}

async fn ten_power_cuts_among_large_orders_lose_none_and_double_none(home: Home) {
    let half = i64::try_from(ORDERS / 2).expect("small");
    let mut world = open(home, usize::try_from(half * ESIMS).expect("small") + 5).await;
    let total = half * (ESIMS + BUNDLES) * PT.price;
    let org = reseller(&world, total + 7).await;
    let acknowledged = cut_again_and_again(&mut world, &org).await;
    let settled = repeat_all(&world, &org).await;
    for (number, answer) in &acknowledged {
        assert_eq!(essence(&settled[number]), essence(answer), "order {number} was acknowledged");
    }
    // What a life that was cut had begun is taken up by a later one.
    wait::until("all are done", Duration::from_secs(30), async || {
        settle(&world, &org).await;
        listed(&world, &org, "?status=processing").await.is_empty().then_some(())
    })
    .await;
    check(&world, &org, &settled).await;
    assert_eq!(balance(&world, &org).await, 7, "each was paid once");
    assert_eq!(stock(&world, PROFILE).await, 5);
    verify(&world);
}

/// Each key has one order, which has everything that was ordered.
async fn check(world: &World, org: &Org, settled: &BTreeMap<usize, Answer>) {
    let references: BTreeSet<_> =
        settled.values().map(|answer| reference(&answer.json())).collect();
    assert_eq!(references.len(), ORDERS, "no two are one");
    let all: BTreeSet<_> = listed(world, org, "?limit=10000").await.iter().map(reference).collect();
    assert_eq!(all, references, "and there is no other");
    let mut sold = Vec::new();
    for (number, answer) in settled {
        let order = seen(world, org, &reference(&answer.json())).await;
        assert_eq!(order["status"], "completed", "order {number}");
        assert_eq!(iccids(&order), iccids(&answer.json()), "order {number}");
        sold.extend(iccids(&order));
    }
    let distinct: BTreeSet<_> = sold.iter().collect();
    let half = i64::try_from(ORDERS / 2).expect("small");
    assert_eq!(i64::try_from(sold.len()), Ok(half * ESIMS));
    assert_eq!(distinct.len(), sold.len(), "no eSIM was sold twice");
    let held = inventory(world, org).await;
    let lots = held[0]["available"].as_array().expect("lots");
    let full = |lot: &Value| lot["total"] == BUNDLES && lot["remaining"] == BUNDLES;
    assert!(held.len() == 1 && lots.iter().all(full), "{held:?}");
    assert_eq!(lots.len(), ORDERS / 2);
    let told = events(world, org).await;
    let completed: Vec<_> = told.iter().filter(|(kind, _)| kind == "order.completed").collect();
    let named: BTreeSet<_> =
        completed.iter().map(|(_, data)| data["orderReference"].to_string()).collect();
    assert_eq!((completed.len(), named.len()), (ORDERS, ORDERS), "each was told once");
    let fates = references.len();
    let keys: Vec<_> = (0..ORDERS)
        .map(|n| Request::get(&format!("/idempotency/v1/large-{n}")).key(&org.key))
        .collect();
    let done = at_once(world, &keys).await;
    let done = done.into_iter().filter(|fate| fate.json()["state"] == json!("done")).count();
    assert_eq!(done, fates);
}
