//! Which events are sent, and which are only in the feed.

use serde_json::{Value, json};

use crate::callbacks::{deliveries, listen, many, report, told, used};
use crate::desk::{consume, esim_with, phone, put_onto, stock_up};
use crate::harness::{Call, Home, Org, Receiver, World};
use crate::money::{advance, events, set_card, settle, topup};
use crate::shop::{
    ES_UNLIMITED, FR, PLENTY, PT, buy, credit, into_inventory, now, onto_new, open, order, reseller,
};

crate::on_both! {
    usage_is_always_sent_and_other_kinds_when_they_are_switched_on,
    kinds_that_nobody_knows_are_refused,
    steps_come_once_each_and_lowest_first,
    steps_can_be_ones_own,
    unlimited_bundles_have_no_steps,
    without_an_address_nothing_is_sent,
    a_low_balance_is_told_of_at_four_marks,
    a_lack_of_money_is_told_of_ten_times,
}

fn kinds(calls: &[Call]) -> Vec<String> {
    calls.iter().map(Call::kind).collect()
}

/// The kinds of all events in the feed.
async fn fed(world: &World, org: &Org) -> Vec<String> {
    events(world, org).await.into_iter().map(|(kind, _)| kind).collect()
}

async fn usage_is_always_sent_and_other_kinds_when_they_are_switched_on(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 2).await;
    stock_up(&world, &org, &[(FR, 1)]).await;
    put_onto(&world, &org, &iccids[0], FR).await;
    phone(&world, &org, &iccids[0], "attach", &json!({"country": "PT"})).await;
    // Over the end of one bundle into the next: one event for each.
    consume(&world, &org, &iccids[0], 1_000_000_500).await;
    credit(&world, &org, 500).await;
    settle(&world, &org).await;
    assert_eq!(kinds(&receiver.calls()), ["Utilisation"; 2]);
    let names: Vec<_> =
        receiver.calls().iter().map(|call| call.json()["bundle"]["name"].clone()).collect();
    assert_eq!(names, [PT.name, FR.name]);
    // Beyond all bundles nothing is told.
    consume(&world, &org, &iccids[0], 2_000_000_000).await;
    consume(&world, &org, &iccids[0], 1_000).await;
    settle(&world, &org).await;
    assert_eq!(receiver.count(), 3, "what no bundle covers");
    let all = [
        "FirstUse",
        "FirstAttachment",
        "CountryChange",
        "Credit",
        "Topup",
        "SMSFailed",
        "AutoTopup",
        "LowBalance",
        "InsufficientBalance",
        "esim.deletion_scheduled",
        "esim.deleted",
    ];
    let changed = world.change(&org, &json!({ "callbackEvents": all })).await;
    assert_eq!(changed["callbackEvents"].as_array().map(Vec::len), Some(all.len()));
    settle(&world, &org).await;
    assert_eq!(receiver.count(), 3, "nothing of what was");
    set_card(&world, &org, &json!("pays")).await;
    phone(&world, &org, &iccids[1], "attach", &json!({"country": "FR"})).await;
    consume(&world, &org, &iccids[1], 1_000).await;
    credit(&world, &org, 500).await;
    world.node.send(&topup(&org, "/v2.5", "50")).await.expect(200);
    buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 1)])).await;
    settle(&world, &org).await;
    let of_esim: Vec<_> =
        receiver.calls()[3..].iter().filter(|c| !c.iccid().is_empty()).cloned().collect();
    let wanted = ["FirstAttachment", "CountryChange", "FirstUse", "Utilisation"];
    assert_eq!(kinds(&of_esim), wanted);
    let others: Vec<_> =
        receiver.calls()[3..].iter().filter(|c| c.iccid().is_empty()).cloned().collect();
    assert_eq!(kinds(&others), ["Credit", "Topup"]);
    assert_eq!(others[0].text().matches("oldAmount").count(), 1);
    // Orders are told in the feed and nowhere else.
    assert!(fed(&world, &org).await.contains(&"order.completed".to_owned()));
    world.change(&org, &json!({"callbackEvents": []})).await;
    let before = receiver.count();
    credit(&world, &org, 500).await;
    settle(&world, &org).await;
    assert_eq!(receiver.count(), before);
}

async fn kinds_that_nobody_knows_are_refused(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let path = format!("/organisations/{}", org.id);
    for fields in [
        json!({"callbackEvents": ["Utilisation"]}),
        json!({"callbackEvents": ["order.completed"]}),
        json!({"callbackEvents": ["firstuse"]}),
        json!({"callbackEvents": ["FirstUse", ""]}),
        json!({"callbackVersion": "V1"}),
        json!({"callbackVersion": "v3"}),
        json!({"usageEvents": "never"}),
        json!({"usageSteps": [0]}),
        json!({"usageSteps": [101]}),
        json!({"usageSteps": [-5]}),
        json!({"usageSteps": (1..=21).collect::<Vec<_>>()}),
        json!({"lowBalance": -1}),
    ] {
        let refusal = world.order("PATCH", &path, &fields).await;
        let code = refusal.header("x-error-code").unwrap_or_default().to_owned();
        assert_eq!((refusal.status, code.as_str()), (400, "invalid-field"), "{fields}");
    }
    let changed = json!({"usageSteps": [80, 10, 80], "lowBalance": 260_000});
    let changed = world.change(&org, &changed).await;
    assert_eq!(
        (&changed["usageSteps"], &changed["lowBalance"]),
        (&json!([10, 80]), &json!(260_000))
    );
    let changed = world.change(&org, &json!({"usageSteps": [], "lowBalance": null})).await;
    assert_eq!(changed["usageSteps"], json!([1, 50, 80, 100]));
    assert_eq!(changed["lowBalance"], 10_000);
}

/// What was left at each usage event in the feed and at each that came, which must be the same.
async fn left(world: &World, org: &Org, receiver: &Receiver) -> Vec<i64> {
    settle(world, org).await;
    let came: Vec<_> = receiver.calls().iter().map(Call::remaining).collect();
    let fed = events(world, org).await.into_iter().filter(|(kind, _)| kind == "Utilisation");
    let fed: Vec<_> =
        fed.map(|(_, data)| data["bundle"]["remainingQuantity"].as_i64().expect("whole")).collect();
    assert_eq!(came, fed);
    came
}

async fn steps_come_once_each_and_lowest_first(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    world.change(&org, &json!({"usageEvents": "steps", "callbackVersion": "V3"})).await;
    let mb = 1_000_000;
    // Each use, and how many steps it passes.
    let mut wanted = Vec::new();
    let mut used = 0;
    for (bytes, steps) in [
        (9 * mb, 0),
        (mb - 1, 0),
        (1, 1),
        (200 * mb, 0),
        (300 * mb, 1),
        (10 * mb, 0),
        (480 * mb, 2),
        (5 * mb, 0),
    ] {
        consume(&world, &org, &iccids[0], bytes).await;
        used = (used + bytes).min(1_000 * mb);
        wanted.extend(std::iter::repeat_n(1_000 * mb - used, steps));
    }
    assert_eq!(left(&world, &org, &receiver).await, wanted);
    let ids: Vec<_> =
        receiver.calls().iter().map(|c| c.header("webhook-id").map(str::to_owned)).collect();
    assert_ne!(ids[2], ids[3], "each step is an event of its own");
    // All at once, on a second bundle of the same kind: each assignment has its own steps.
    stock_up(&world, &org, &[(PT, 1)]).await;
    put_onto(&world, &org, &iccids[0], PT).await;
    consume(&world, &org, &iccids[0], 5_000 * mb).await;
    wanted.extend([0; 4]);
    assert_eq!(left(&world, &org, &receiver).await, wanted);
}

async fn steps_can_be_ones_own(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    world.change(&org, &json!({"usageEvents": "steps", "usageSteps": [30, 7]})).await;
    for bytes in [69_999_999, 1, 229_999_999, 1, 700_000_000] {
        consume(&world, &org, &iccids[0], bytes).await;
    }
    assert_eq!(left(&world, &org, &receiver).await, [930_000_000, 700_000_000]);
    // Back to every record.
    world.change(&org, &json!({"usageEvents": "every"})).await;
    stock_up(&world, &org, &[(PT, 1)]).await;
    put_onto(&world, &org, &iccids[0], PT).await;
    for _ in 0..2 {
        consume(&world, &org, &iccids[0], 1_000).await;
    }
    assert_eq!(left(&world, &org, &receiver).await[2..], [999_999_000, 999_998_000]);
}

async fn unlimited_bundles_have_no_steps(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let org = reseller(&world, PLENTY).await;
    listen(&world, &org, &receiver).await;
    world.change(&org, &json!({"usageEvents": "steps", "callbackVersion": "V3"})).await;
    let iccid = esim_with(&world, &org, ES_UNLIMITED).await;
    for _ in 0..3 {
        consume(&world, &org, &iccid, 400_000_000).await;
    }
    settle(&world, &org).await;
    assert_eq!(receiver.count(), 0);
    world.change(&org, &json!({"usageEvents": "every"})).await;
    consume(&world, &org, &iccid, 1_000).await;
    let call = receiver.wait_for(1).await.remove(0);
    assert_eq!(call.json()["bundle"]["unlimited"], true);
}

async fn without_an_address_nothing_is_sent(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let org = reseller(&world, PLENTY).await;
    let iccids = many(&world, &org, 1).await;
    for _ in 0..3 {
        consume(&world, &org, &iccids[0], 1_000).await;
    }
    settle(&world, &org).await;
    assert_eq!(deliveries(&world, &org, "").await, [] as [Value; 0]);
    let of_usage = async || {
        let all = fed(&world, &org).await;
        all.iter().filter(|kind| *kind == "Utilisation").count()
    };
    assert_eq!(of_usage().await, 3);
    // An address that comes later gets what comes later.
    listen(&world, &org, &receiver).await;
    consume(&world, &org, &iccids[0], 1_000).await;
    settle(&world, &org).await;
    advance(&world, &org, 86_400).await;
    let calls = receiver.calls();
    assert_eq!(calls.iter().map(Call::remaining).collect::<Vec<_>>(), [999_996_000]);
    // Taken away, what happens then is in the feed only.
    world.change(&org, &json!({"callbackUrl": ""})).await;
    let at = now(&world, &org).await;
    report(&world, &[used("r-1", &iccids[0], at, 1_000)]).await;
    settle(&world, &org).await;
    assert_eq!((receiver.count(), of_usage().await), (1, 5));
    assert_eq!(crate::callbacks::health(&world, &org).await["state"], "none");
}

/// The events of a kind that came: balance and percentage of each.
fn short(calls: &[Call], kind: &str) -> Vec<(f64, f64)> {
    let number = |info: &Value, name: &str| info[name].as_f64().expect("a number");
    let of_kind = calls.iter().filter(|call| call.kind() == kind);
    let each = of_kind.map(|call| {
        let info = call.json()["balanceInfo"].take();
        assert_eq!(info["threshold"], 100);
        (number(&info, "balance"), number(&info, "thresholdPercentRemaining"))
    });
    each.collect()
}

async fn a_low_balance_is_told_of_at_four_marks(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    // 240 each, and the threshold is 10,000.
    let org = reseller(&world, 10_000 + 2 * PT.price).await;
    listen(&world, &org, &receiver).await;
    world.change(&org, &json!({"callbackEvents": ["LowBalance"]})).await;
    let spend = async |count: i64| {
        buy(&world, &org, "/v2.5", &into_inventory(&[(PT, count)])).await;
        settle(&world, &org).await;
        short(&receiver.calls(), "LowBalance")
    };
    assert_eq!(spend(1).await, [], "10,240 is more");
    assert_eq!(spend(1).await, [(100.0, 100.0)], "falls to it");
    assert_eq!(spend(10).await.len(), 1, "7,600");
    assert_eq!(spend(1).await[1..], [(73.6, 73.6)]);
    assert_eq!(spend(20).await[2..], [(25.6, 25.6)], "two marks at once are told once");
    assert_eq!(spend(7).await[3..], [(8.8, 8.8)]);
    assert_eq!(spend(1).await.len(), 4);
    // It rises, and falls again.
    credit(&world, &org, 9_000).await;
    assert_eq!(spend(10).await[4..], [(72.4, 72.4)]);
    assert!(fed(&world, &org).await.iter().filter(|kind| *kind == "LowBalance").count() == 5);
}

async fn a_lack_of_money_is_told_of_ten_times(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let org = reseller(&world, 100).await;
    listen(&world, &org, &receiver).await;
    world.change(&org, &json!({"callbackEvents": ["InsufficientBalance"]})).await;
    let fail = async |count: usize| {
        for n in 0..count {
            let body = if n % 2 == 0 { into_inventory(&[(PT, 1)]) } else { onto_new(&[(PT, 1)]) };
            let refusal = world.node.send(&order(&org, "/v2.5", &body)).await;
            assert!(refusal.status >= 400, "{refusal}");
        }
        settle(&world, &org).await;
        short(&receiver.calls(), "InsufficientBalance")
    };
    assert_eq!(fail(1).await, [(1.0, 1.0)]);
    assert_eq!(fail(13).await.len(), 10);
    credit(&world, &org, 50).await;
    assert_eq!(fail(2).await[10..], [(1.5, 1.5); 2]);
    let of_kind = fed(&world, &org).await.into_iter().filter(|kind| kind == "InsufficientBalance");
    assert_eq!(of_kind.count(), 12);
}
