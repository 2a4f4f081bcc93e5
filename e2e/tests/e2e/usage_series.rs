//! `/usage/v1`: data used over time, and records of eSIMs that nobody has.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::callbacks::{many, report, used};
use crate::desk::{alike, consume};
use crate::harness::{Home, Org, World};
use crate::money::events;
use crate::shop::{PLENTY, PT, iccid as profile, now, onto_new, open, reseller};

crate::on_both! {
    usage_is_added_up_by_hour_and_day_and_country,
    usage_of_the_last_thirty_days_is_the_default,
    spans_that_are_none_are_refused,
    usage_of_others_is_denied,
    a_record_of_nobody_is_kept_and_counts_later,
}

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// A record of data used in a country.
fn used_in(id: &str, iccid: &str, at: Timestamp, bytes: i64, country: &str) -> Value {
    let mut record = used(id, iccid, at, bytes);
    record["data"]["country"] = json!(country);
    record
}

async fn series(world: &World, org: &Org, rest: &str) -> Value {
    world.get(&format!("/usage/v1/{rest}"), &org.key).await.json_of(200)
}

/// The beginning of the day before yesterday, by the organisation's clock.
async fn base(world: &World, org: &Org) -> Timestamp {
    let now = now(world, org).await.ms();
    Timestamp::from_ms(now - now % DAY - 2 * DAY)
}

/// A series as it must be, by times and countries.
fn wanted(steps: &[(Timestamp, i64)], countries: &[(&str, i64)]) -> Value {
    let entry = |(at, bytes): &(Timestamp, i64)| json!({"time": at.to_string(), "bytes": bytes});
    let country = |(code, bytes): &(&str, i64)| json!({"country": code, "bytes": bytes});
    let steps: Vec<_> = steps.iter().map(entry).collect();
    json!({"series": steps, "countries": countries.iter().map(country).collect::<Vec<_>>()})
}

async fn usage_is_added_up_by_hour_and_day_and_country(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccids = many(&world, &org, 2).await;
    let base = base(&world, &org).await;
    let at = |ms: i64| base.plus_ms(ms);
    let (one, two) = (&iccids[0], &iccids[1]);
    report(
        &world,
        &[
            used_in("1", one, at(10 * HOUR + 900_000), 100, "PT"),
            used_in("2", one, at(11 * HOUR - 1), 50, "PT"),
            used_in("3", one, at(11 * HOUR), 7, "FR"),
            used("4", one, at(DAY - 1), 1_000),
            used_in("5", one, at(DAY), 3, "PT"),
            used_in("6", two, at(11 * HOUR), 2_000, "FR"),
        ],
    )
    .await;
    let span = |to: i64| format!("from={}&to={}", at(0), at(to));
    let by_hour = series(&world, &org, &format!("esims/{one}?{}&step=hour", span(2 * DAY))).await;
    let hours = [(at(10 * HOUR), 150), (at(11 * HOUR), 7), (at(23 * HOUR), 1_000), (at(DAY), 3)];
    assert_eq!(by_hour, wanted(&hours, &[("PT", 153), ("FR", 7)]));
    let by_day = series(&world, &org, &format!("esims/{one}?{}", span(2 * DAY))).await;
    assert_eq!(by_day, wanted(&[(at(0), 1_157), (at(DAY), 3)], &[("PT", 153), ("FR", 7)]));
    let all = series(&world, &org, &format!("organisation?{}&step=day", span(DAY))).await;
    assert_eq!(all, wanted(&[(at(0), 3_157)], &[("FR", 2_007), ("PT", 150)]), "the end is out");
    let part = format!("from={}&to={}", at(11 * HOUR), at(12 * HOUR));
    let part = series(&world, &org, &format!("organisation?step=hour&{part}")).await;
    assert_eq!(part, wanted(&[(at(11 * HOUR), 2_007)], &[("FR", 2_007)]));
    // A record that counts once is added once.
    let again = json!([used_in("1", one, at(10 * HOUR), 100, "PT")]);
    world.order("POST", "/usage", &again).await.expect(200);
    let same = series(&world, &org, &format!("esims/{one}?{}", span(2 * DAY))).await;
    assert_eq!(same, by_day);
}

async fn usage_of_the_last_thirty_days_is_the_default(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccids = many(&world, &org, 1).await;
    assert_eq!(series(&world, &org, "organisation").await, wanted(&[], &[]));
    let clock = now(&world, &org).await;
    report(
        &world,
        &[
            used("old", &iccids[0], clock.plus_ms(-31 * DAY), 1),
            used("in", &iccids[0], clock.plus_ms(-29 * DAY), 20),
        ],
    )
    .await;
    // What a phone of the sandbox uses counts, too.
    consume(&world, &org, &iccids[0], 300).await;
    let shown = series(&world, &org, &format!("esims/{}", iccids[0])).await;
    let bytes = |shown: &Value| -> Vec<i64> {
        let steps = shown["series"].as_array().expect("a list");
        steps.iter().map(|step| step["bytes"].as_i64().expect("whole")).collect()
    };
    assert_eq!(bytes(&shown), [20, 300]);
    let from = clock.plus_ms(-40 * DAY);
    let shown = series(&world, &org, &format!("organisation?from={from}&step=hour")).await;
    assert_eq!(bytes(&shown), [1, 20, 300]);
    let to = clock.plus_ms(-20 * DAY);
    assert_eq!(bytes(&series(&world, &org, &format!("organisation?to={to}")).await), [1, 20]);
}

async fn spans_that_are_none_are_refused(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = many(&world, &org, 1).await.remove(0);
    let clock = now(&world, &org).await;
    let day = |days: i64| clock.plus_ms(days * DAY).to_string();
    for query in [
        "step=week".to_owned(),
        "step=Day".to_owned(),
        "from=yesterday".to_owned(),
        "to=2026-13-01T00:00:00Z".to_owned(),
        format!("from={}&to={}", day(-1), day(-2)),
        format!("from={}&to={}", day(-1), day(-1)),
        format!("from={}", day(1)),
        format!("from={}&step=hour", day(-401)),
        format!("from={}&step=day", day(-4_001)),
    ] {
        for rest in [format!("esims/{iccid}"), "organisation".to_owned()] {
            let refusal = world.get(&format!("/usage/v1/{rest}?{query}"), &org.key).await;
            assert_eq!(refusal.status, 400, "{query}: {refusal}");
            refusal.refused(400, "invalid-parameter");
        }
    }
    series(&world, &org, &format!("organisation?from={}&step=hour", day(-399))).await;
    series(&world, &org, &format!("organisation?from={}", day(-3_999))).await;
}

async fn usage_of_others_is_denied(home: Home) {
    let world = open(home, 5).await;
    let (org, other) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let mine = many(&world, &org, 1).await.remove(0);
    consume(&world, &org, &mine, 1_000).await;
    let mut refusals = Vec::new();
    for iccid in [&mine, &profile(4), &profile(44_444), "nonsense"] {
        refusals.push(world.get(&format!("/usage/v1/esims/{iccid}"), &other.key).await);
    }
    assert_eq!(alike(refusals, 403, "not-your-esim"), "access denied");
    assert_eq!(series(&world, &other, "organisation").await, wanted(&[], &[]));
    world.get("/usage/v1/organisation", "wrong").await.refused(403, "bad-key");
}

async fn a_record_of_nobody_is_kept_and_counts_later(home: Home) {
    let world = open(home, 3).await;
    let org = reseller(&world, PLENTY).await;
    let at = now(&world, &org).await.plus_ms(-HOUR);
    let strays = async || world.show("/usage/strays").await["records"].take();
    assert_eq!(strays().await, json!([]));
    let early = used("early", &profile(2), at, 500);
    let never = used("never", &profile(77_777), at, 700);
    let send = async |records: &[&Value]| -> Vec<Value> {
        let told = world.order("POST", "/usage", &json!(records)).await.json_of(200);
        let results = told["results"].as_array().expect("a list");
        results.iter().map(|one| one["verdict"].clone()).collect()
    };
    // Told twice, kept once.
    for _ in 0..2 {
        assert_eq!(send(&[&early, &never]).await, ["rejected"; 2]);
    }
    let kept = strays().await;
    assert_eq!(kept.as_array().map(Vec::len), Some(2), "{kept}");
    let one = kept.as_array().expect("a list").iter().find(|one| one["id"] == "early");
    let one = one.expect("it is there");
    assert_eq!((&one["iccid"], &one["bytes"]), (&json!(profile(2)), &json!(500)));
    assert_eq!((&one["time"], &one["source"]), (&json!(at.to_string()), &early["source"]));
    // Somebody gets the eSIM, and the network tells once more.
    crate::shop::buy(&world, &org, "/v2.5", &onto_new(&[(PT, 3)])).await;
    assert_eq!(send(&[&early, &never]).await, ["accepted", "rejected"]);
    assert_eq!(send(&[&early]).await, ["duplicate"]);
    let kept = strays().await;
    assert_eq!(kept.as_array().map(Vec::len), Some(1), "{kept}");
    assert_eq!(kept[0]["id"], "never");
    let told = events(&world, &org).await;
    assert_eq!(told.iter().filter(|(kind, _)| kind == "Utilisation").count(), 1);
    for query in ["?limit=0", "?limit=1001", "?limit=x"] {
        let request = world.operator("GET", &format!("/usage/strays{query}"));
        world.node.send(&request).await.refused(400, "invalid-parameter");
    }
}
