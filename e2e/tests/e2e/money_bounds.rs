//! What an organisation may charge, and what is charged by itself.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::harness::{Home, Org, World};
use crate::money::{
    advance, balance, charges, events, prefixes, set_card, settle, topup, unit, with_card,
};

crate::on_both! {
    a_minimum_holds_in_every_version,
    a_daily_maximum_ends_with_the_day_of_the_organisation,
    a_declined_charge_does_not_count,
    bounds_that_do_not_fit_are_refused,
    a_low_balance_is_topped_up_by_itself,
    what_happens_by_itself_keeps_to_the_bounds,
    a_declined_card_is_not_asked_over_and_over,
}

async fn a_minimum_holds_in_every_version(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let shown = world.change(&org, &json!({"topupMinimum": 500})).await;
    assert_eq!(shown["topupMinimum"], 500);
    let mut wanted = 0;
    for (version, prefix) in prefixes() {
        let (least, below) = (500 / unit(version), 500 / unit(version) - 1);
        let before = world.home.dump().await;
        let refusal = world.node.send(&topup(&org, prefix, &below.to_string())).await;
        let text = refusal.refused(400, "amount-below-minimum");
        assert_eq!(text, "amount is below the minimum", "{prefix}");
        assert_eq!(world.home.dump().await, before);
        world.node.send(&topup(&org, prefix, &least.to_string())).await.expect(200);
        wanted += 500;
    }
    assert_eq!(balance(&world, &org).await, wanted);
    for unset in [json!(0), Value::Null] {
        world.change(&org, &json!({"topupMinimum": 500})).await;
        let shown = world.change(&org, &json!({ "topupMinimum": unset })).await;
        assert_eq!(shown["topupMinimum"], Value::Null);
        world.node.send(&topup(&org, "/v2.3", "1")).await.expect(200);
    }
}

/// Moves the organisation's clock to the first hour of its next day (UTC).
async fn to_the_next_morning(world: &World, org: &Org) {
    const DAY_MS: i64 = 86_400_000;
    let clock = world.get("/sandbox/v1/clock", &org.key).await.json_of(200);
    let now = Timestamp::parse(clock["now"].as_str().expect("a time")).expect("a time").ms();
    let left = DAY_MS - now.rem_euclid(DAY_MS) + 3_600_000;
    advance(world, org, left / 1_000).await;
}

async fn a_daily_maximum_ends_with_the_day_of_the_organisation(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    world.change(&org, &json!({"topupDailyMaximum": 1_000})).await;
    to_the_next_morning(&world, &org).await;
    let too_much = async |amount: &str| {
        let refusal = world.node.send(&topup(&org, "/v2.3", amount)).await;
        let text = refusal.refused(400, "daily-limit-reached");
        assert_eq!(text, "amount is above the daily maximum");
    };
    too_much("1001").await;
    world.node.send(&topup(&org, "/v2.3", "600")).await.expect(200);
    too_much("401").await;
    world.node.send(&topup(&org, "/v2.5", "4")).await.expect(200);
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        let refusal = world.node.send(&topup(&org, prefix, "1")).await;
        refusal.refused(400, "daily-limit-reached");
    }
    assert_eq!(world.home.dump().await, before);
    // From one in the morning to eleven in the evening is still the same day.
    advance(&world, &org, 22 * 3_600).await;
    too_much("1").await;
    advance(&world, &org, 3_700).await;
    world.node.send(&topup(&org, "/v2.3", "1000")).await.expect(200);
    too_much("1").await;
    assert_eq!(balance(&world, &org).await, 2_000);
}

async fn a_declined_charge_does_not_count(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "declines").await;
    to_the_next_morning(&world, &org).await;
    world.change(&org, &json!({"topupDailyMaximum": 1_000})).await;
    for _ in 0..3 {
        world.node.send(&topup(&org, "/v2.3", "900")).await.refused(400, "card-declined");
    }
    set_card(&world, &org, &json!("pays")).await;
    world.node.send(&topup(&org, "/v2.3", "1000")).await.expect(200);
}

async fn bounds_that_do_not_fit_are_refused(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let before = world.home.dump().await;
    let path = format!("/organisations/{}", org.id);
    let names = ["topupMinimum", "topupDailyMaximum", "autoTopupThreshold", "autoTopupAmount"];
    for name in names {
        let negative = world.order("PATCH", &path, &json!({ name: -1 })).await;
        negative.refused(400, "invalid-field");
        for odd in [json!(1.5), json!("5"), json!(true), json!([5])] {
            let refusal = world.order("PATCH", &path, &json!({ name: odd })).await;
            refusal.refused(400, "malformed-body");
        }
    }
    for lonely in ["autoTopupThreshold", "autoTopupAmount"] {
        let refusal = world.order("PATCH", &path, &json!({ lonely: 5 })).await;
        assert!(refusal.refused(400, "invalid-field").contains("set together"), "{lonely}");
    }
    assert_eq!(world.home.dump().await, before);
}

fn kinds(events: Vec<(String, Value)>) -> Vec<String> {
    events.into_iter().map(|(kind, _)| kind).collect()
}

async fn credit(world: &World, org: &Org, amount: i64) {
    let path = format!("/organisations/{}/credit", org.id);
    let body = json!({"amount": amount, "reason": "correction"});
    world.order("POST", &path, &body).await.expect(200);
}

async fn a_low_balance_is_topped_up_by_itself(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    settle(&world, &org).await;
    assert_eq!(balance(&world, &org).await, 0, "off by default");
    let on = json!({"autoTopupThreshold": 1_000, "autoTopupAmount": 5_000});
    let shown = world.change(&org, &on).await;
    assert_eq!(shown["autoTopupThreshold"], 1_000);
    assert_eq!(shown["autoTopupAmount"], 5_000);
    settle(&world, &org).await;
    assert_eq!(balance(&world, &org).await, 5_000);
    // Setting the same again, with enough there, does nothing.
    world.change(&org, &on).await;
    settle(&world, &org).await;
    assert_eq!(kinds(events(&world, &org).await), ["AutoTopup"]);
    let (_, data) = events(&world, &org).await.remove(0);
    let wanted = json!({"alertType": "AutoTopup", "bundle": {"oldAmount": 0, "newAmount": 50}});
    assert_eq!(data, wanted);
    // Exactly the threshold is not below it.
    credit(&world, &org, -4_000).await;
    settle(&world, &org).await;
    assert_eq!(balance(&world, &org).await, 1_000);
    credit(&world, &org, -1).await;
    settle(&world, &org).await;
    assert_eq!(balance(&world, &org).await, 5_999);
    let seen = kinds(events(&world, &org).await);
    assert_eq!(seen, ["AutoTopup", "Credit", "LowBalance", "Credit", "AutoTopup"]);
    for charge in charges(&world, &org).await {
        assert_eq!((&charge["kind"], &charge["state"]), (&json!("autoTopup"), &json!("paid")));
    }
    world.change(&org, &json!({"autoTopupThreshold": null, "autoTopupAmount": null})).await;
    credit(&world, &org, -5_999).await;
    settle(&world, &org).await;
    assert_eq!(balance(&world, &org).await, 0);
}

async fn what_happens_by_itself_keeps_to_the_bounds(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    to_the_next_morning(&world, &org).await;
    world.change(&org, &json!({"topupDailyMaximum": 7_000})).await;
    world.change(&org, &json!({"autoTopupThreshold": 1_000, "autoTopupAmount": 5_000})).await;
    settle(&world, &org).await;
    credit(&world, &org, -5_000).await;
    settle(&world, &org).await;
    assert_eq!(balance(&world, &org).await, 0, "a second one would be too much for a day");
    let refusal = world.node.send(&topup(&org, "/v2.3", "2001")).await;
    refusal.refused(400, "daily-limit-reached");
    world.node.send(&topup(&org, "/v2.3", "2000")).await.expect(200);
    // Without a card nothing is tried.
    let bare = world.add_sandbox("Bare").await;
    world.change(&bare, &json!({"autoTopupThreshold": 1_000, "autoTopupAmount": 5_000})).await;
    settle(&world, &bare).await;
    assert_eq!(charges(&world, &bare).await, [Value::Null; 0]);
}

async fn a_declined_card_is_not_asked_over_and_over(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "declines").await;
    world.change(&org, &json!({"autoTopupThreshold": 1_000, "autoTopupAmount": 5_000})).await;
    settle(&world, &org).await;
    advance(&world, &org, 86_400).await;
    assert_eq!(charges(&world, &org).await.len(), 1);
    assert_eq!(events(&world, &org).await, []);
    assert_eq!(balance(&world, &org).await, 0);
}
