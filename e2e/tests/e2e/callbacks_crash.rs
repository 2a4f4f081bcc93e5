//! Callbacks when power is cut: each arrives, in order, and hardly any twice.

use std::collections::{BTreeMap, HashSet};
use std::net::SocketAddr;
use std::time::Duration;

use domain::Timestamp;
use serde_json::{Value, json};
use store::Rt;

use crate::callbacks::{remaining_of, report, told, used};
use crate::harness::home::server;
use crate::harness::line::Line;
use crate::harness::{Call, Home, Node, Reaction, Receiver, Request, World, http, wait};
use crate::shop::{now, open, verify};

crate::on_both! {
    power_cuts_lose_no_callback_and_double_few,
}

const ESIMS: usize = 250;
const RECORDS: usize = 10_000;
const PER_BATCH: usize = 500;
/// What may be under way at a moment, and a little more.
const DOUBLED_PER_CUT: usize = 64 + 16;

/// All records in batches, each about the next eSIM.
fn batches(iccids: &[String], at: Timestamp) -> Vec<Value> {
    let record = |n: usize| used(&format!("r-{n}"), &iccids[n % iccids.len()], at, 1_000);
    let all: Vec<_> = (0..RECORDS).map(record).collect();
    all.chunks(PER_BATCH).map(|batch| json!(batch)).collect()
}

/// Reports batches one after the other until one is not heard; how many were.
async fn feed(address: SocketAddr, requests: Vec<Request>) -> usize {
    let mut heard = 0;
    for request in requests {
        let Ok(answer) = http::exchange(address, &request.bytes(), false).await else { break };
        let results = answer.json_of(200)["results"].take();
        let fine = |one: &Value| one["verdict"] == "accepted" || one["verdict"] == "duplicate";
        assert!(results.as_array().expect("a list").iter().all(fine), "{results}");
        heard += 1;
    }
    heard
}

fn requests(world: &World, batches: &[Value]) -> Vec<Request> {
    batches.iter().map(|batch| world.operator("POST", "/usage").json(batch)).collect()
}

/// Waits until as many different callbacks came as there are records.
async fn all_came(receiver: &Receiver, at_most: Duration) -> Vec<Call> {
    let calls = wait::until("all callbacks came", at_most, async || {
        let calls = Some(receiver.calls()).filter(|calls| calls.len() >= RECORDS)?;
        let different: HashSet<_> = calls.iter().map(|call| &call.body).collect();
        (different.len() >= RECORDS).then_some(calls)
    });
    calls.await
}

/// Every eSIM's callbacks came in order; those that came twice did so at once. How many did.
fn doubled(calls: &[Call], iccids: &[String]) -> usize {
    let mut by_esim: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for call in calls {
        by_esim.entry(call.iccid()).or_default().push(call.remaining());
    }
    assert_eq!(by_esim.len(), iccids.len());
    let each = i64::try_from(RECORDS / ESIMS).expect("small");
    let wanted: Vec<_> = (1..=each).map(|n| 1_000_000_000 - n * 1_000).collect();
    let mut doubled = 0;
    for (iccid, mut left) in by_esim {
        let all = left.len();
        left.dedup();
        assert_eq!(left, wanted, "{iccid}: in order, and nothing again later");
        doubled += all - left.len();
    }
    doubled
}

async fn power_cuts_lose_no_callback_and_double_few(home: Home) {
    let mut world = open(home, ESIMS).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, i64::try_from(ESIMS).expect("small")).await;
    let batches = batches(&iccids, now(&world, &org).await);
    let mut heard = 0;
    for cut in 1..=3 {
        let work = feed(world.node.address, requests(&world, &batches[heard..]));
        let feeding = Rt::real().task(work);
        let some = cut * RECORDS * 3 / 10;
        wait::until("some callbacks came", Duration::from_secs(30), async || {
            (receiver.count() >= some).then_some(())
        })
        .await;
        world.node.kill();
        heard += feeding.await.expect("the feeder ends");
        world.node = Node::serve(&world.home, &[]).await;
    }
    feed(world.node.address, requests(&world, &batches[heard..])).await;
    // Within fifteen seconds where nothing else runs; here it matters that nothing is stuck.
    let calls = all_came(&receiver, Duration::from_mins(1)).await;
    let doubled = doubled(&calls, &iccids);
    assert!(doubled <= 3 * DOUBLED_PER_CUT, "{doubled} came twice");
    // Told once more, nothing counts and nothing comes.
    feed(world.node.address, requests(&world, &batches)).await;
    crate::money::settle(&world, &org).await;
    assert_eq!(receiver.count(), calls.len());
    verify(&world);
}

/// The rest is for the other node: it takes over what the dead one was sending.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_callbacks_of_a_node_that_died_are_sent_by_another() {
    let mut world = open(Home::postgres().await, ESIMS).await;
    let other = Node::beside(&world.home, &[]).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, i64::try_from(ESIMS).expect("small")).await;
    let batches = batches(&iccids, now(&world, &org).await);
    // Both take records and both send.
    let (first, second) = batches.split_at(batches.len() / 2);
    let beside = Rt::real().task(feed(other.address, requests(&world, second)));
    let feeding = Rt::real().task(feed(world.node.address, requests(&world, first)));
    wait::until("some callbacks came", Duration::from_secs(30), async || {
        (receiver.count() >= RECORDS / 5).then_some(())
    })
    .await;
    world.node.kill();
    let heard = feeding.await.expect("the feeder ends");
    assert_eq!(beside.await.expect("the feeder ends"), second.len());
    feed(other.address, requests(&world, &first[heard..])).await;
    let calls = all_came(&receiver, Duration::from_mins(1)).await;
    let doubled = doubled(&calls, &iccids);
    assert!(doubled <= DOUBLED_PER_CUT, "{doubled} came twice");
    world.node = other;
    verify(&world);
}

/// The database goes away in between, again and again: what was sent may come twice, nothing is
/// lost, and the order stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_comes_and_goes_loses_no_callback() {
    const EACH: usize = 20;
    let url = server("TERN_TEST_POSTGRES");
    let line = Line::to(&url).await;
    let world = open(Home::on_server(&line.redirected(&url)).await, 20).await;
    let receiver = Receiver::that(Reaction::Late(Duration::from_millis(20))).await;
    let (org, iccids) = told(&world, &receiver, 20).await;
    let at = now(&world, &org).await;
    let one = |n: usize| used(&format!("d-{n}"), &iccids[n % 20], at, 1_000);
    report(&world, &(0..20 * EACH).map(one).collect::<Vec<_>>()).await;
    for cut in 1..=4 {
        let some = cut * 60;
        wait::until("some callbacks came", Duration::from_secs(30), async || {
            (receiver.count() >= some).then_some(())
        })
        .await;
        line.away(true);
        Rt::real().sleep(Duration::from_millis(300)).await;
        line.away(false);
    }
    let calls = wait::until("all callbacks came", Duration::from_mins(1), async || {
        let calls = receiver.calls();
        let different: HashSet<_> = calls.iter().map(|call| &call.body).collect();
        (different.len() >= 20 * EACH).then_some(calls)
    })
    .await;
    let wanted: Vec<_> = (1..=20).map(|n| 1_000_000_000 - n * 1_000).collect();
    for iccid in &iccids {
        let mut left = remaining_of(&calls, iccid);
        left.dedup();
        assert_eq!(left, wanted, "{iccid}");
    }
    assert!(calls.len() <= 20 * EACH + 4 * 20, "{} came", calls.len());
    wait::until("all are noted", Duration::from_secs(30), async || {
        let told = crate::callbacks::health(&world, &org).await;
        (told["waiting"] == 0 && told["state"] == "well").then_some(())
    })
    .await;
}
