//! What the operator sees of callbacks: every delivery, every attempt, and how it does in all.

use serde_json::{Value, json};

use crate::callbacks::{deliveries, delivery, health, told};
use crate::desk::{consume, text};
use crate::harness::{Home, Reaction, Receiver, Request};
use crate::life_bundles::about;
use crate::money::{advance, settle};
use crate::shop::{now, open, reseller};

crate::on_both! {
    deliveries_are_listed_page_by_page,
    one_delivery_is_shown_with_every_attempt,
    how_callbacks_do_is_shown_and_measured,
}

async fn deliveries_are_listed_page_by_page(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 2).await;
    for _ in 0..7 {
        consume(&world, &org, &iccids[0], 1_000).await;
    }
    settle(&world, &org).await;
    receiver.always(Reaction::Status(500));
    for _ in 0..3 {
        consume(&world, &org, &iccids[1], 1_000).await;
    }
    settle(&world, &org).await;
    let all = deliveries(&world, &org, "").await;
    let numbers: Vec<i64> =
        all.iter().map(|row| text(&row["cursor"]).parse().expect("a number")).collect();
    assert_eq!(numbers.len(), 10);
    assert!(numbers.windows(2).all(|pair| pair[0] > pair[1]), "newest first: {numbers:?}");
    let (mut seen, mut query) = (Vec::new(), "?limit=3".to_owned());
    loop {
        let page = world.show(&format!("/organisations/{}/deliveries{query}", org.id)).await;
        seen.extend(page["deliveries"].as_array().expect("a list").clone());
        let Some(next) = page["next"].as_str() else { break };
        query = format!("?limit=3&before={next}");
    }
    assert_eq!(seen, all);
    for (state, count) in [("waiting", 3), ("delivered", 7), ("dead", 0)] {
        let rows = deliveries(&world, &org, &format!("?state={state}")).await;
        assert_eq!(rows.len(), count, "{state}");
        assert!(rows.iter().all(|row| row["state"] == state));
    }
    let path = format!("/organisations/{}/deliveries", org.id);
    for query in ["?state=lost", "?state=Dead", "?limit=0", "?limit=1001", "?limit=x", "?before=x"]
    {
        let refusal = world.node.send(&world.operator("GET", &format!("{path}{query}"))).await;
        refusal.refused(400, "invalid-parameter");
    }
    let nobody = "/organisations/00000000-0000-4000-8000-000000000000";
    for rest in ["/deliveries", "/deliveries/1", "/callbacks", "/webhook-secret"] {
        let refusal = world.node.send(&world.operator("GET", &format!("{nobody}{rest}"))).await;
        refusal.refused(404, "unknown-organisation");
    }
    // A reseller's key opens none of this.
    let request = Request::get(&format!("/operator/v1{path}")).bearer(&org.key);
    world.node.send(&request).await.refused(401, "bad-operator-key");
}

async fn one_delivery_is_shown_with_every_attempt(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    let other = reseller(&world, 0).await;
    let long = format!("not now\r\n{}", "é".repeat(400));
    receiver.then([Reaction::Says(503, long), Reaction::Close]);
    let began = now(&world, &org).await;
    consume(&world, &org, &iccids[0], 1_000).await;
    settle(&world, &org).await;
    advance(&world, &org, 5).await;
    advance(&world, &org, 300).await;
    let row = deliveries(&world, &org, "").await.remove(0);
    let whole = delivery(&world, &org, &row["cursor"]).await;
    for (name, value) in row.as_object().expect("fields") {
        assert_eq!(&whole[name], value, "{name}");
    }
    assert_eq!((&whole["state"], &whole["type"]), (&json!("delivered"), &json!("Utilisation")));
    assert_eq!((&whole["iccid"], &whole["version"]), (&json!(iccids[0]), &json!("V2")));
    about(&whole["time"], began);
    assert_eq!(whole["data"], receiver.calls()[0].json());
    let tried = whole["tried"].as_array().expect("attempts");
    let facts: Vec<_> = tried.iter().map(|one| one["status"].clone()).collect();
    assert_eq!(facts, [json!(503), Value::Null, json!(200)]);
    let first = text(&tried[0]["answer"]);
    assert!(first.starts_with("not now  éé") && first.len() <= 500, "{first}");
    assert_eq!(tried[1]["answer"], "the connection was closed before an answer");
    assert_eq!(tried[2]["answer"], "as told");
    assert!(tried.iter().all(|one| one["milliseconds"].as_i64().is_some_and(|ms| ms < 5_000)));
    let times: Vec<_> = tried.iter().map(|one| text(&one["time"])).collect();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    // Other people's, and such as there are none.
    let cursor = text(&row["cursor"]);
    for (org, cursor) in
        [(&other, &*cursor), (&org, "999999999"), (&org, "0"), (&org, "-1"), (&org, "x")]
    {
        let path = format!("/organisations/{}/deliveries/{cursor}", org.id);
        let refusal = world.node.send(&world.operator("GET", &path)).await;
        assert_eq!(refusal.refused(404, "unknown-delivery"), "delivery not found");
    }
}

/// What stands at the end of the line that begins so.
fn metric<'p>(page: &'p str, labels: &str) -> &'p str {
    let line = page.lines().find(|line| line.starts_with(&format!("{labels} ")));
    let number = line.and_then(|line| line.rsplit(' ').next());
    number.unwrap_or_else(|| panic!("no {labels} in\n{page}"))
}

async fn how_callbacks_do_is_shown_and_measured(home: Home) {
    let world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let (org, iccids) = told(&world, &receiver, 1).await;
    let nothing = health(&world, &org).await;
    let wanted = json!({"state": "well", "since": null, "why": "", "waiting": 0, "dead": 0,
        "p50Milliseconds": null, "p99Milliseconds": null});
    assert_eq!(nothing, wanted);
    for _ in 0..20 {
        consume(&world, &org, &iccids[0], 1_000).await;
        settle(&world, &org).await;
    }
    let well = health(&world, &org).await;
    let part = |name: &str| well[name].as_i64().unwrap_or_else(|| panic!("{well}"));
    let (p50, p99) = (part("p50Milliseconds"), part("p99Milliseconds"));
    assert!((0..=p99).contains(&p50) && p99 < 5_000, "{well}");
    receiver.always(Reaction::Status(500));
    consume(&world, &org, &iccids[0], 1_000).await;
    settle(&world, &org).await;
    let failing = health(&world, &org).await;
    assert_eq!((&failing["state"], &failing["waiting"]), (&json!("failing"), &json!(1)));
    about(&failing["since"], now(&world, &org).await);
    advance(&world, &org, 2 * 86_400).await;
    let request = Request::get("/metrics").bearer(&world.operator_key);
    let page = world.node.send(&request).await.expect(200).text();
    let total =
        |outcome: &str| metric(&page, &format!("tern_callbacks_total{{outcome=\"{outcome}\"}}"));
    assert_eq!([total("delivered"), total("failed"), total("dead")], ["20", "8", "1"]);
    assert_eq!(metric(&page, "tern_callback_delay_seconds_count"), "20");
    let sum: f64 = metric(&page, "tern_callback_delay_seconds_sum").parse().expect("a number");
    assert!(sum > 0.0 && sum < 20.0, "{sum}");
}
