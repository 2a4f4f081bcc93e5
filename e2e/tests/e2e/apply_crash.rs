//! Power cuts in the middle of an apply of a thousand eSIMs, and one that is not done in time: all
//! of it or nothing, and no eSIM twice.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use store::Rt;

use crate::desk::{
    applied, apply, apply_reference, apply_to_one, esim, esims, on, put_on, stock_up,
};
use crate::harness::{Home, Node, Org, Request, World, http, wait};
use crate::money::{advance, events, settle};
use crate::shop::{
    FR, Has, PLENTY, PROFILE, PT, has, hold, lots, open, reseller, seen, stock, verify,
};

crate::on_both! {
    power_cuts_amid_a_large_apply_lose_none_and_double_none,
    an_apply_that_takes_too_long_gives_everything_back,
}

const ESIMS: usize = 1_000;
/// When the power goes, in milliseconds after the request was sent or after its answer.
const CUTS: [(bool, u64); 5] = [(false, 2), (false, 60), (false, 250), (true, 0), (true, 40)];

fn request(org: &Org, number: usize) -> Request {
    let body = json!({"bundle": PT.name, "repeat": ESIMS});
    apply(org, "/v2.2", &body).header("Idempotency-Key", format!("thousand-{number}"))
}

async fn held(world: &World, org: &Org) -> i64 {
    let lots = lots(world, org, PT).await;
    lots.iter().filter_map(|lot| lot["remaining"].as_i64()).sum()
}

/// Sends an apply, cuts the power at that moment and starts again.
async fn cut(world: &mut World, org: &Org, number: usize, (is_answered, ms): (bool, u64)) {
    let (address, bytes) = (world.node.address, request(org, number).bytes());
    let client = Rt::real().task(async move { http::exchange(address, &bytes, false).await });
    // The moment itself is the point: somewhere in the work.
    if is_answered {
        client.await.expect("a client ends").expect("an answer");
        Rt::real().sleep(Duration::from_millis(ms)).await;
        world.node.kill();
    } else {
        Rt::real().sleep(Duration::from_millis(ms)).await;
        world.node.kill();
        // It may have heard the answer, or nothing.
        let _unheard = client.await.expect("a client ends");
    }
    world.node = Node::serve(&world.home, &[]).await;
}

async fn power_cuts_amid_a_large_apply_lose_none_and_double_none(home: Home) {
    let mut world = open(home, CUTS.len() * ESIMS + 3).await;
    let all = i64::try_from(CUTS.len() * ESIMS).expect("small");
    let org = reseller(&world, (all + 7) * PT.price).await;
    for _ in &CUTS {
        stock_up(&world, &org, &[(PT, 1_000)]).await;
    }
    stock_up(&world, &org, &[(PT, 7)]).await;
    let mut issued = BTreeSet::new();
    let mut references = BTreeSet::new();
    for (number, moment) in CUTS.into_iter().enumerate() {
        let before = held(&world, &org).await;
        cut(&mut world, &org, number, moment).await;
        // Whether it was lost or not: the same request again makes it whole.
        let answer = world.node.send(&request(&org, number)).await.json_of(200);
        let reference = apply_reference(&answer);
        let done = wait::until("it is done", Duration::from_secs(30), async || {
            settle(&world, &org).await;
            let order = seen(&world, &org, &reference).await;
            (order["status"] != "processing").then_some(order)
        })
        .await;
        assert_eq!(done["status"], "completed", "{number}");
        assert_eq!(done["statusMessage"], "Order completed: 1000 eSIMs assigned");
        let new: BTreeSet<_> = applied(&answer).into_iter().collect();
        assert_eq!(new.len(), ESIMS, "{number}: distinct");
        assert!(new.is_disjoint(&issued), "{number}: none was issued before");
        let items = done["order"].as_array().expect("items");
        let listed: BTreeSet<_> = items.iter().flat_map(iccids_of).collect();
        assert_eq!(listed, new, "{number}: the order has the same");
        assert_eq!(held(&world, &org).await, before - 1_000, "{number}");
        issued.extend(new);
        assert!(references.insert(reference), "{number}: another one");
        verify(&world);
    }
    let known: BTreeSet<_> =
        esims(&world, &org).await.iter().map(|one| crate::desk::text(&one["iccid"])).collect();
    assert_eq!(known, issued, "those and no others");
    assert_eq!((held(&world, &org).await, stock(&world, PROFILE).await), (7, 3));
    let told = events(&world, &org).await;
    let named = |(kind, data): &(String, Value)| {
        (kind == "order.completed").then(|| crate::desk::text(&data["orderReference"]))
    };
    let named: Vec<_> =
        told.iter().filter_map(named).filter(|name| references.contains(name)).collect();
    assert_eq!(named.len(), references.len(), "each is told once");
}

fn iccids_of(item: &Value) -> Vec<String> {
    item["iccids"].as_array().expect("a list").iter().map(crate::desk::text).collect()
}

async fn an_apply_that_takes_too_long_gives_everything_back(home: Home) {
    let world = open(home, 1_005).await;
    let org = reseller(&world, 5 * PLENTY).await;
    let own = esim(&world, &org).await;
    // From two lots, and of each only a part is left afterwards.
    stock_up(&world, &org, &[(PT, 600)]).await;
    advance(&world, &org, 5).await;
    stock_up(&world, &org, &[(PT, 500), (FR, 9)]).await;
    let before = has(&world, &org).await;
    hold(&world, &org, true).await;
    let body = json!({"bundle": PT.name, "repeat": 1_000});
    let large = put_on(&world, &org, "/v2.2", &body).await;
    let named = apply_to_one(&org, "/v2.4", &own, &json!({"name": FR.name, "repeat": 6}));
    let told = world.node.send(&named).await.json_of(200);
    assert_eq!(told, json!({"status": "Processing"}));
    let states = async || -> Vec<String> {
        let all = on(&world, &org, &own).await.into_iter();
        all.map(|(_, one)| crate::desk::text(&one["bundleState"])).collect()
    };
    assert_eq!(states().await[..6], ["processing"; 6]);
    assert_eq!((held(&world, &org).await, stock(&world, PROFILE).await), (100, 4));
    advance(&world, &org, 601).await;
    let reference = apply_reference(&large);
    assert_eq!(seen(&world, &org, &reference).await["status"], "processing", "work is held");
    hold(&world, &org, false).await;
    settle(&world, &org).await;
    let order = seen(&world, &org, &reference).await;
    assert_eq!(order["status"], "failed");
    assert_eq!(order["statusMessage"], "Order processing failed");
    assert_eq!(order["order"].as_array().map(Vec::len), Some(1_000), "it stays to be seen");
    let Has { balance, entries, stock, inventory, .. } = has(&world, &org).await;
    assert_eq!((balance, entries), (before.balance, before.entries));
    assert_eq!((stock, inventory), (before.stock, before.inventory), "lots and stock");
    let known: Vec<_> =
        esims(&world, &org).await.iter().map(|one| crate::desk::text(&one["iccid"])).collect();
    assert_eq!(known, std::slice::from_ref(&own));
    assert_eq!(
        states().await,
        ["revoked", "revoked", "revoked", "revoked", "revoked", "revoked", "queued"]
    );
    let told = events(&world, &org).await;
    let failed = told.iter().filter(|(kind, _)| kind == "order.failed").count();
    assert_eq!(failed, 2);
    // Everything can be used again, and the eSIMs are nobody's any more.
    let gone = &applied(&large)[0];
    world.get(&format!("/v2.5/esims/{gone}"), &org.key).await.refused(403, "not-your-esim");
    let again = put_on(&world, &org, "/v2.2", &body).await;
    settle(&world, &org).await;
    assert_eq!(seen(&world, &org, &apply_reference(&again)).await["status"], "completed");
    verify(&world);
}
