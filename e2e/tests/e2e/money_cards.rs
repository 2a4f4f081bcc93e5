//! Cards that do not simply pay: nothing is charged twice or credited without a charge.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, Node, Request, World, wait};
use crate::money::{
    advance, balance, charges, events, fate, keyed, prefixes, set_card, settle, statement, topup,
    unit, with_card,
};

crate::on_both! {
    a_declined_card_leaves_only_the_charge,
    without_a_card_nothing_is_charged,
    a_live_organisation_has_no_card,
    a_card_has_a_known_name,
    a_silent_processor_is_waited_for_and_settled_later,
    a_late_processor_is_credited_once,
    an_undecided_charge_survives_a_power_cut,
    a_card_that_is_taken_away_does_not_lose_an_undecided_charge,
}

const UNDECIDED: &str = "payment is being processed, try again later";

async fn a_declined_card_leaves_only_the_charge(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "declines").await;
    let mut before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        let refusal = world.node.send(&topup(&org, prefix, "5")).await;
        assert_eq!(refusal.refused(400, "card-declined"), "card declined", "{prefix}");
    }
    let mut after = world.home.dump().await;
    assert_ne!(after.remove("charges"), before.remove("charges"));
    assert_eq!(after, before);
    assert_eq!(balance(&world, &org).await, 0);
    assert_eq!(events(&world, &org).await, []);
    let charges = charges(&world, &org).await;
    assert_eq!(charges.len(), prefixes().len());
    for (charge, (version, _)) in charges.iter().zip(prefixes()) {
        let wanted = (&json!("declined"), &json!(5 * unit(version)));
        assert_eq!((&charge["state"], &charge["amount"]), wanted);
    }
    // A better card pays at once.
    set_card(&world, &org, &json!("pays")).await;
    world.node.send(&topup(&org, "/v2.3", "5")).await.expect(200);
    assert_eq!(balance(&world, &org).await, 5);
}

async fn without_a_card_nothing_is_charged(home: Home) {
    let world = World::start(home).await;
    let fresh = world.add_sandbox("Fresh").await;
    let bare = with_card(&world, "pays").await;
    set_card(&world, &bare, &Value::Null).await;
    set_card(&world, &bare, &Value::Null).await;
    let before = world.home.dump().await;
    for org in [&fresh, &bare] {
        for (_, prefix) in prefixes() {
            let refusal = world.node.send(&topup(org, prefix, "5")).await;
            assert_eq!(refusal.refused(400, "no-stored-card"), "no saved payment method");
        }
    }
    assert_eq!(world.home.dump().await, before);
}

async fn a_live_organisation_has_no_card(home: Home) {
    let world = World::start(home).await;
    let org = world.add_live("Live").await;
    let before = world.home.dump().await;
    for (_, prefix) in prefixes() {
        world.node.send(&topup(&org, prefix, "5")).await.refused(400, "no-stored-card");
    }
    let card = Request::post("/sandbox/v1/card").key(&org.key).json(&json!({"card": "pays"}));
    world.node.send(&card).await.refused(403, "live-organisation");
    assert_eq!(world.home.dump().await, before);
}

async fn a_card_has_a_known_name(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    let before = world.home.dump().await;
    let card = |body: &Value| Request::post("/sandbox/v1/card").key(&org.key).json(body);
    for name in ["", "Pays", "gold", "pays "] {
        let refusal = world.node.send(&card(&json!({ "card": name }))).await;
        refusal.refused(400, "invalid-parameter");
    }
    for odd in [json!(5), json!(true), json!(["pays"])] {
        world.node.send(&card(&json!({ "card": odd }))).await.refused(400, "malformed-body");
    }
    world.node.send(&card(&json!({}))).await.refused(400, "missing-parameter");
    assert_eq!(world.home.dump().await, before);
}

async fn a_silent_processor_is_waited_for_and_settled_later(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "silent").await;
    let with_key = keyed(&org, "700", "quiet-1");
    let first = topup(&org, "/v2.5", "3");
    let waiting = async {
        let looking =
            async || (fate(&world, &org, "quiet-1").await["state"] == "running").then_some(());
        wait::until("the request is known", Duration::from_secs(4), looking).await;
    };
    let ((plain, took), keyed, ()) =
        tokio::join!(wait::timed(world.node.send(&first)), world.node.send(&with_key), waiting);
    assert!((4..10).contains(&took.as_secs()), "about five seconds: {took:?}");
    assert_eq!(plain.refused(503, "payment-undecided"), UNDECIDED);
    assert_eq!(keyed.refused(503, "payment-undecided"), UNDECIDED);
    // Without a key another one is not even begun.
    for (_, prefix) in prefixes() {
        let (refusal, took) = wait::timed(world.node.send(&topup(&org, prefix, "9"))).await;
        assert_eq!(refusal.refused(503, "payment-undecided"), UNDECIDED);
        assert!(took < Duration::from_secs(4), "at once: {took:?}");
    }
    let running = json!({"state": "running", "status": null, "body": null});
    assert_eq!(fate(&world, &org, "quiet-1").await, running);
    assert_eq!(balance(&world, &org).await, 0);
    assert_eq!(events(&world, &org).await, []);
    let states: Vec<_> =
        charges(&world, &org).await.iter().map(|charge| charge["state"].clone()).collect();
    assert_eq!(states, ["undecided", "undecided"]);

    advance(&world, &org, 600).await;
    settle(&world, &org).await;
    let done = fate(&world, &org, "quiet-1").await;
    assert_eq!((&done["state"], &done["status"]), (&json!("done"), &json!(200)));
    let again = world.node.send(&with_key).await.expect(200);
    assert_eq!(again.json(), done["body"]);
    assert_eq!(again.json()["amount"], 700);
    assert_eq!(world.node.send(&with_key).await.text(), again.text());
    assert_eq!(balance(&world, &org).await, 1_000);
    let kinds: Vec<_> = events(&world, &org).await.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["Topup", "Topup"]);
    assert_eq!(statement(&world, &org, "").await["ledgerEntries"], 2);
    assert_eq!(charges(&world, &org).await.len(), 2);
    // The way is free again.
    set_card(&world, &org, &json!("pays")).await;
    world.node.send(&topup(&org, "/v2.3", "1")).await.expect(200);
}

async fn a_late_processor_is_credited_once(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "late").await;
    let with_key = keyed(&org, "700", "late-1");
    let plain = topup(&org, "/v2.3", "30");
    let (one, two) = tokio::join!(world.node.send(&with_key), world.node.send(&plain));
    one.refused(503, "payment-undecided");
    two.refused(503, "payment-undecided");
    assert_eq!(balance(&world, &org).await, 0);
    // The same request goes on waiting, and hears it.
    let again = world.node.send(&with_key).await.json_of(200);
    assert_eq!(again["amount"], 700);
    wait::until("both are credited", Duration::from_secs(15), async || {
        (balance(&world, &org).await == 730).then_some(())
    })
    .await;
    settle(&world, &org).await;
    assert_eq!(world.node.send(&with_key).await.json_of(200), again);
    assert_eq!(balance(&world, &org).await, 730);
    assert_eq!(charges(&world, &org).await.len(), 2);
    assert_eq!(statement(&world, &org, "").await["ledgerEntries"], 2);
}

async fn an_undecided_charge_survives_a_power_cut(home: Home) {
    let mut world = World::start(home).await;
    let org = with_card(&world, "silent").await;
    let request = keyed(&org, "700", "cut-1");
    world.node.send(&request).await.refused(503, "payment-undecided");
    world.node.kill();
    world.node = Node::serve(&world.home, &[]).await;
    assert_eq!(fate(&world, &org, "cut-1").await["state"], "running");
    advance(&world, &org, 600).await;
    // Work that the dead node had in its hands is taken over within its silence.
    wait::until("it is settled", Duration::from_secs(30), async || {
        advance(&world, &org, 60).await;
        (fate(&world, &org, "cut-1").await["state"] == "done").then_some(())
    })
    .await;
    assert_eq!(world.node.send(&request).await.json_of(200)["balance"], 700);
    assert_eq!(balance(&world, &org).await, 700);
    assert_eq!(charges(&world, &org).await.len(), 1);
}

/// The card may have been charged: what is undecided stays so until somebody knows.
async fn a_card_that_is_taken_away_does_not_lose_an_undecided_charge(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "silent").await;
    let request = keyed(&org, "700", "gone-1");
    world.node.send(&request).await.refused(503, "payment-undecided");
    // It goes on with the card it began with, and no other card ever pays for it.
    set_card(&world, &org, &Value::Null).await;
    advance(&world, &org, 7_200).await;
    assert_eq!(fate(&world, &org, "gone-1").await["state"], "done");
    set_card(&world, &org, &json!("pays")).await;
    advance(&world, &org, 7_200).await;
    assert_eq!(world.node.send(&request).await.json_of(200)["balance"], 700);
    assert_eq!(balance(&world, &org).await, 700);
}
