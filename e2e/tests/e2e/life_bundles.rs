//! The life of bundles on an eSIM: when each starts, waits, pays and ends, as its owner sees it.

use domain::Timestamp;
use serde_json::{Value, json};

use crate::desk::{
    apply, consume, esim_with, happened, latest, of, on, phone, put_on, put_onto, states, stock_up,
    text,
};
use crate::harness::{Home, Org, World};
use crate::money::{advance, events, prefixes, settle};
use crate::shop::{
    DE, ES_UNLIMITED, FIXED, FR, FR_DAY, Good, PLENTY, PT, PT_MORE, PT_YEAR, TRIAL, buy, hold,
    iccids, now, onto, onto_new, open, reseller, verify,
};

crate::on_both! {
    the_first_use_starts_a_bundle_for_its_days,
    months_are_those_of_the_calendar,
    the_next_bundle_takes_over_when_the_first_one_ends,
    what_waits_for_use_waits_after_the_first_one_too,
    a_bundle_is_depleted_and_expired_when_its_time_is_over,
    what_is_never_used_lapses,
    some_bundles_start_by_themselves,
    a_start_time_is_kept,
    a_start_time_waits_for_the_bundle_in_use,
    a_start_time_of_what_starts_by_itself_is_ignored,
    an_unlimited_bundle_has_its_allowance_every_day,
    a_record_flows_into_the_next_bundle_and_beyond,
    states_are_right_before_any_work_is_done,
    the_history_tells_how_much_is_used,
    only_later_versions_show_states,
}

const GB: i64 = 1_000_000_000;
pub(crate) const DAY: i64 = 24 * 3_600;
/// A machine that is busy may take this long to answer.
const SLACK_MS: i64 = 20_000;

pub(crate) fn time(value: &Value) -> Timestamp {
    Timestamp::parse(value.as_str().unwrap_or_else(|| panic!("no time: {value}"))).expect("a time")
}

fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("not whole: {value}"))
}

/// A moment that is about another one.
#[track_caller]
pub(crate) fn about(found: &Value, wanted: Timestamp) {
    let off = time(found).ms() - wanted.ms();
    assert!((-SLACK_MS..SLACK_MS).contains(&off), "{found} is not about {wanted}");
}

/// State, start and end of the latest bundle of a kind.
async fn life(world: &World, org: &Org, iccid: &str, good: Good) -> (String, Value, Value) {
    let one = latest(world, org, iccid, good).await;
    (text(&one["bundleState"]), one["startTime"].clone(), one["endTime"].clone())
}

async fn state(world: &World, org: &Org, iccid: &str, good: Good) -> String {
    life(world, org, iccid, good).await.0
}

/// It waits, and nobody knows when it will start.
async fn waits(world: &World, org: &Org, iccid: &str, good: Good) {
    let found = life(world, org, iccid, good).await;
    assert_eq!(found, ("queued".to_owned(), Value::Null, Value::Null), "{}", good.name);
}

/// Applies a bundle of the inventory that is to start then.
async fn put_on_from(world: &World, org: &Org, iccid: &str, (good, start): (Good, Timestamp)) {
    let body = json!({"iccid": iccid, "bundle": good.name, "startTime": start.to_string()});
    put_on(world, org, "/v2.5", &body).await;
}

async fn the_first_use_starts_a_bundle_for_its_days(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    for (good, days) in [(PT, 7), (PT_MORE, 30), (TRIAL, 1)] {
        let iccid = esim_with(&world, &org, good).await;
        waits(&world, &org, &iccid, good).await;
        // Time alone starts nothing, and neither does a registration.
        advance(&world, &org, 40 * DAY).await;
        phone(&world, &org, &iccid, "attach", &json!({"country": "PT"})).await;
        waits(&world, &org, &iccid, good).await;
        let began = now(&world, &org).await;
        consume(&world, &org, &iccid, 1_000).await;
        let one = latest(&world, &org, &iccid, good).await;
        assert_eq!(one["bundleState"], "active");
        about(&one["startTime"], began);
        let lasts = time(&one["endTime"]).ms() - time(&one["startTime"]).ms();
        assert_eq!(lasts, days * DAY * 1_000, "{}", good.name);
        let used = whole(&one["initialQuantity"]) - whole(&one["remainingQuantity"]);
        assert_eq!(used, 1_000);
        // Later use changes neither.
        advance(&world, &org, days * DAY / 2).await;
        consume(&world, &org, &iccid, 5_000).await;
        let later = latest(&world, &org, &iccid, good).await;
        assert_eq!((&later["startTime"], &later["endTime"]), (&one["startTime"], &one["endTime"]));
        assert_eq!(whole(&later["remainingQuantity"]), whole(&one["remainingQuantity"]) - 5_000);
    }
    verify(&world);
}

async fn months_are_those_of_the_calendar(home: Home) {
    const MONTH: Good = Good { name: "esim_1GB_1M_PT_V2", price: 500 };
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let bundle = json!({
        "name": MONTH.name, "description": "A month", "countries": ["PT"], "dataAmount": 1_000,
        "duration": 1, "durationUnit": "month", "groups": [FIXED], "prices": {"USD": MONTH.price},
    });
    world.order("POST", "/catalogue", &json!({ "bundles": [bundle] })).await.expect(200);
    // The last day of a January, some time after its midnight.
    let year: i64 = now(&world, &org).await.to_string()[..4].parse().expect("a year");
    let wanted = Timestamp::parse(&format!("{}-01-31T09:30:00Z", year + 1)).expect("a time");
    let ahead = (wanted.ms() - now(&world, &org).await.ms()) / 1_000;
    advance(&world, &org, ahead).await;
    for (good, end) in
        [(MONTH, format!("{}-02-2", year + 1)), (PT_YEAR, format!("{}-01-31", year + 2))]
    {
        let iccid = esim_with(&world, &org, good).await;
        consume(&world, &org, &iccid, 1).await;
        let (state, start, ends) = life(&world, &org, &iccid, good).await;
        assert_eq!(state, "active");
        let (start, ends) = (text(&start), text(&ends));
        assert!(start.starts_with(&format!("{}-01-31T", year + 1)), "{start}");
        assert!(ends.starts_with(&end), "{start} to {ends}");
        assert_eq!(start[10..], ends[10..], "at the same time of the day");
        let leap = (year + 1) % 4 == 0 && ((year + 1) % 100 != 0 || (year + 1) % 400 == 0);
        let last = if leap { "29" } else { "28" };
        assert!(good.name != MONTH.name || &ends[8..10] == last, "{ends}");
    }
}

async fn the_next_bundle_takes_over_when_the_first_one_ends(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(DE, 2)]).await;
    let iccid = esim_with(&world, &org, PT).await;
    consume(&world, &org, &iccid, 1).await;
    // Both start by themselves, and must wait for what is in use: in the order they came.
    put_onto(&world, &org, &iccid, DE).await;
    put_onto(&world, &org, &iccid, DE).await;
    waits(&world, &org, &iccid, DE).await;
    let first_ends = life(&world, &org, &iccid, PT).await.2;
    advance(&world, &org, 8 * DAY).await;
    let all = states(&world, &org, &iccid).await;
    let all: Vec<_> = all.iter().map(|(_, state)| state.as_str()).collect();
    assert_eq!(all, ["expired", "active", "queued"]);
    let of_it = on(&world, &org, &iccid).await;
    let second = of_it.iter().find(|(_, one)| one["bundleState"] == "active").expect("one");
    assert_eq!(second.1["startTime"], first_ends, "at the very moment");
    let lasts = time(&second.1["endTime"]).ms() - time(&first_ends).ms();
    assert_eq!(lasts, 15 * DAY * 1_000);
    // The one in use is taken off: the last one takes over at once.
    let asked = now(&world, &org).await;
    let path = format!("{}/assignments/{}", DE.name, text(&second.1["id"]));
    let off = crate::desk::take_off(&org, "/v2.5", &iccid, &path);
    world.node.send(&off).await.expect(200);
    let (state, start, _) = life(&world, &org, &iccid, DE).await;
    assert_eq!(state, "active");
    about(&start, asked);
    verify(&world);
}

async fn what_waits_for_use_waits_after_the_first_one_too(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(FR, 1)]).await;
    let iccid = esim_with(&world, &org, PT).await;
    put_onto(&world, &org, &iccid, FR).await;
    consume(&world, &org, &iccid, 10).await;
    advance(&world, &org, 8 * DAY).await;
    assert_eq!(state(&world, &org, &iccid, PT).await, "expired");
    waits(&world, &org, &iccid, FR).await;
    advance(&world, &org, 8 * DAY).await;
    waits(&world, &org, &iccid, FR).await;
    let used = phone(&world, &org, &iccid, "use", &json!({"bytes": 10})).await;
    assert_eq!(used["charged"][0]["bundle"], FR.name);
    assert_eq!(state(&world, &org, &iccid, FR).await, "active");
}

async fn a_bundle_is_depleted_and_expired_when_its_time_is_over(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim_with(&world, &org, PT).await;
    consume(&world, &org, &iccid, GB - 1).await;
    assert_eq!(state(&world, &org, &iccid, PT).await, "active");
    consume(&world, &org, &iccid, 1).await;
    let one = latest(&world, &org, &iccid, PT).await;
    assert_eq!((&one["bundleState"], &one["remainingQuantity"]), (&json!("depleted"), &json!(0)));
    // What is finished is hidden from v2.2 on, unless it is asked for.
    for (version, prefix) in prefixes() {
        let path = format!("{prefix}/esims/{iccid}/bundles");
        let shown = world.get(&path, &org.key).await.json_of(200);
        let list = shown.get("bundles").or(shown.get("Promotions")).expect("a list");
        let count = usize::from(version.name() < "v2.2");
        assert_eq!(list.as_array().map(Vec::len), Some(count), "{prefix}: {shown}");
        if version.name() >= "v2.2" {
            let path = format!("{path}?includeUsed=true");
            let shown = world.get(&path, &org.key).await.json_of(200);
            assert_eq!(shown["bundles"].as_array().map(Vec::len), Some(1), "{prefix}");
        }
    }
    advance(&world, &org, 7 * DAY - 60).await;
    assert_eq!(state(&world, &org, &iccid, PT).await, "depleted");
    advance(&world, &org, 61).await;
    let over = latest(&world, &org, &iccid, PT).await;
    assert_eq!(over["bundleState"], "expired");
    assert_eq!((&over["startTime"], &over["endTime"]), (&one["startTime"], &one["endTime"]));
    let shown = of(&world, &org, &iccid, "/history").await;
    let newest = &shown["actions"][0];
    assert_eq!(
        (&newest["name"], &newest["bundleState"]),
        (&json!("Bundle Expired"), &json!("expired"))
    );
    assert_eq!((&newest["date"], &newest["bundleName"]), (&one["endTime"], &json!(PT.name)));
}

async fn what_is_never_used_lapses(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim_with(&world, &org, PT).await;
    let assigned = time(&latest(&world, &org, &iccid, PT).await["assignmentDateTime"]);
    advance(&world, &org, 365 * DAY - 60).await;
    waits(&world, &org, &iccid, PT).await;
    advance(&world, &org, 61).await;
    let found = life(&world, &org, &iccid, PT).await;
    assert_eq!(found, ("lapsed".to_owned(), Value::Null, Value::Null));
    let shown = of(&world, &org, &iccid, "/history").await;
    let newest = &shown["actions"][0];
    assert_eq!(
        (&newest["name"], &newest["bundleState"]),
        (&json!("Bundle Lapsed"), &json!("lapsed"))
    );
    assert_eq!(time(&newest["date"]).ms(), assigned.ms() + 365 * DAY * 1_000);
    // It pays for nothing any more, and comes back as nothing.
    let used = phone(&world, &org, &iccid, "use", &json!({"bytes": 5})).await;
    assert_eq!((&used["charged"], &used["overshoot"]), (&json!([]), &json!(5)));
    let off = crate::desk::take_off(&org, "/v2.5", &iccid, PT.name);
    world.node.send(&off).await.refused(400, "unknown-assignment");
    // Also in v2.3, which has the other states.
    let path = format!("/v2.3/esims/{iccid}/bundles?includeUsed=true");
    let shown = world.get(&path, &org.key).await.json_of(200);
    assert_eq!(shown["bundles"][0]["assignments"][0]["bundleState"], "lapsed");
    verify(&world);
}

async fn some_bundles_start_by_themselves(home: Home) {
    let world = open(home, 30).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(DE, 10)]).await;
    let asked = now(&world, &org).await;
    let ordered = esim_with(&world, &org, DE).await;
    let applied = put_on(&world, &org, "/v2.5", &json!({"bundle": DE.name})).await;
    let applied = text(&applied["esims"][0]["iccid"]);
    // Many at once are worked on later, and start then.
    let later = put_on(&world, &org, "/v2.5", &json!({"bundle": DE.name, "repeat": 6})).await;
    settle(&world, &org).await;
    let later = text(&later["esims"][5]["iccid"]);
    let many = buy(&world, &org, "/v2.5", &onto_new(&[(DE, 6)])).await;
    settle(&world, &org).await;
    let many = iccids(&many).remove(3);
    for iccid in [ordered, applied, later, many] {
        let (state, start, end) = life(&world, &org, &iccid, DE).await;
        assert_eq!(state, "active", "{iccid}");
        about(&start, asked);
        assert_eq!(time(&end).ms() - time(&start).ms(), 15 * DAY * 1_000);
        assert_eq!(latest(&world, &org, &iccid, DE).await["remainingQuantity"], 2 * GB);
    }
    // And end by themselves.
    advance(&world, &org, 15 * DAY).await;
    let esims = crate::desk::esims(&world, &org).await;
    assert_eq!(esims.len(), 14);
    for esim in esims {
        assert_eq!(state(&world, &org, &text(&esim["iccid"]), DE).await, "expired");
    }
}

async fn a_start_time_is_kept(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(PT, 5)]).await;
    let start = now(&world, &org).await;
    // In the past: now.
    let early = esim_with(&world, &org, TRIAL).await;
    put_on_from(&world, &org, &early, (PT, start.plus_ms(-9 * DAY * 1_000))).await;
    let (found, began, _) = life(&world, &org, &early, PT).await;
    assert_eq!(found, "active");
    about(&began, start);
    // In the future: then, to the millisecond, whoever looks and works.
    let late = esim_with(&world, &org, TRIAL).await;
    let wanted = start.plus_ms(3 * DAY * 1_000 + 123);
    put_on_from(&world, &org, &late, (PT, wanted)).await;
    waits(&world, &org, &late, PT).await;
    advance(&world, &org, 3 * DAY - 60).await;
    waits(&world, &org, &late, PT).await;
    advance(&world, &org, 61).await;
    let (found, began, ends) = life(&world, &org, &late, PT).await;
    assert_eq!((found.as_str(), time(&began)), ("active", wanted));
    assert_eq!(time(&ends), wanted.plus_ms(7 * DAY * 1_000));
    // Used before its time, it starts with that.
    let used = esim_with(&world, &org, PT).await;
    let off = crate::desk::take_off(&org, "/v2.5", &used, PT.name);
    world.node.send(&off).await.expect(200);
    put_on_from(&world, &org, &used, (PT, wanted.plus_ms(90 * DAY * 1_000))).await;
    let asked = now(&world, &org).await;
    consume(&world, &org, &used, 5).await;
    let (found, began, _) = life(&world, &org, &used, PT).await;
    assert_eq!(found, "active");
    about(&began, asked);
    // None at all, and not a time.
    let none = json!({"iccid": late, "bundle": PT.name, "startTime": ""});
    put_on(&world, &org, "/v2.5", &none).await;
    waits(&world, &org, &late, PT).await;
    for bad in ["tomorrow", "2026-13-01T00:00:00Z", "2026-05-04", "1777882500"] {
        for good in [PT, DE] {
            let body = json!({"iccid": late, "bundle": good.name, "startTime": bad});
            let refusal = world.node.send(&apply(&org, "/v2.5", &body)).await;
            assert_eq!(refusal.refused(400, "invalid-start-time"), "invalid startTime");
        }
    }
}

async fn a_start_time_waits_for_the_bundle_in_use(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(FR, 2)]).await;
    let iccid = esim_with(&world, &org, PT).await;
    consume(&world, &org, &iccid, 5).await;
    let first_ends = life(&world, &org, &iccid, PT).await.2;
    let wanted = now(&world, &org).await.plus_ms(2 * DAY * 1_000);
    put_on_from(&world, &org, &iccid, (FR, wanted)).await;
    advance(&world, &org, 6 * DAY).await;
    waits(&world, &org, &iccid, FR).await;
    advance(&world, &org, 2 * DAY).await;
    let (found, began, _) = life(&world, &org, &iccid, FR).await;
    assert_eq!((found.as_str(), began), ("active", first_ends));
    // One that is wanted only after that stays free until then.
    let wanted = now(&world, &org).await.plus_ms(20 * DAY * 1_000);
    put_on_from(&world, &org, &iccid, (FR, wanted)).await;
    advance(&world, &org, 15 * DAY).await;
    waits(&world, &org, &iccid, FR).await;
    advance(&world, &org, 6 * DAY).await;
    let (found, began, _) = life(&world, &org, &iccid, FR).await;
    assert_eq!((found.as_str(), time(&began)), ("active", wanted));
}

async fn a_start_time_of_what_starts_by_itself_is_ignored(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(DE, 2)]).await;
    let asked = now(&world, &org).await;
    for days in [-30, 30] {
        let start = asked.plus_ms(days * DAY * 1_000).to_string();
        let body = json!({"bundle": DE.name, "startTime": start});
        let applied = put_on(&world, &org, "/v2.5", &body).await;
        let iccid = text(&applied["esims"][0]["iccid"]);
        let (found, began, _) = life(&world, &org, &iccid, DE).await;
        assert_eq!(found, "active");
        about(&began, asked);
    }
}

async fn an_unlimited_bundle_has_its_allowance_every_day(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    // Noon, so that no midnight comes by itself.
    let clock = now(&world, &org).await.ms() / 1_000;
    advance(&world, &org, (DAY + DAY / 2 - clock % DAY) % DAY).await;
    let iccid = esim_with(&world, &org, ES_UNLIMITED).await;
    let left = async || {
        let one = latest(&world, &org, &iccid, ES_UNLIMITED).await;
        assert_eq!((&one["initialQuantity"], &one["unlimited"]), (&json!(GB), &json!(true)));
        (text(&one["bundleState"]), whole(&one["remainingQuantity"]))
    };
    assert_eq!(left().await, ("queued".to_owned(), GB));
    consume(&world, &org, &iccid, 400_000_000).await;
    assert_eq!(left().await, ("active".to_owned(), GB - 400_000_000));
    // Beyond the allowance it goes on, and all of it is charged.
    let used = phone(&world, &org, &iccid, "use", &json!({"bytes": 5 * GB})).await;
    assert_eq!((&used["charged"][0]["bytes"], &used["overshoot"]), (&json!(5 * GB), &json!(0)));
    assert_eq!(left().await, ("active".to_owned(), 0));
    let (_, event) = events(&world, &org).await.pop().expect("an event");
    assert_eq!(event["bundle"]["remainingQuantity"], 0, "{event}");
    // The next UTC day begins full, also before it is used.
    advance(&world, &org, DAY / 2).await;
    assert_eq!(left().await, ("active".to_owned(), GB));
    consume(&world, &org, &iccid, 1_000).await;
    assert_eq!(left().await, ("active".to_owned(), GB - 1_000));
    // Seven days after its start it is expired, never depleted.
    advance(&world, &org, 7 * DAY).await;
    assert_eq!(left().await.0, "expired");
    let told = of(&world, &org, &iccid, "/history").await;
    let alerts: Vec<_> = told["actions"].as_array().expect("a list").iter().collect();
    assert!(alerts.iter().all(|one| one["alertType"] == ""), "it has no steps: {told}");
    // One that starts by itself ends after its day.
    let day = esim_with(&world, &org, FR_DAY).await;
    assert_eq!(state(&world, &org, &day, FR_DAY).await, "active");
    advance(&world, &org, DAY).await;
    assert_eq!(state(&world, &org, &day, FR_DAY).await, "expired");
    verify(&world);
}

async fn a_record_flows_into_the_next_bundle_and_beyond(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(FR, 1), (DE, 1)]).await;
    let iccid = esim_with(&world, &org, PT).await;
    let second = put_onto(&world, &org, &iccid, FR).await;
    let first = text(&latest(&world, &org, &iccid, PT).await["id"]);
    let used = phone(&world, &org, &iccid, "use", &json!({"bytes": GB + 300})).await;
    let charged = json!([
        {"id": first, "bundle": PT.name, "bytes": GB},
        {"id": second, "bundle": FR.name, "bytes": 300},
    ]);
    assert_eq!((&used["charged"], &used["overshoot"]), (&charged, &json!(0)));
    assert_eq!(state(&world, &org, &iccid, PT).await, "depleted");
    assert_eq!(latest(&world, &org, &iccid, FR).await["remainingQuantity"], GB - 300);
    let kinds = |all: Vec<(String, Value)>| -> Vec<Value> {
        let usage = all.into_iter().filter(|(kind, _)| kind == "Utilisation");
        usage.map(|(_, data)| data["bundle"]["id"].clone()).collect()
    };
    assert_eq!(kinds(events(&world, &org).await), [json!(first), json!(second)]);
    // What nobody covers is overshoot, and no event tells of it.
    let used = phone(&world, &org, &iccid, "use", &json!({"bytes": 3 * GB})).await;
    assert_eq!(used["charged"], json!([{"id": second, "bundle": FR.name, "bytes": GB - 300}]));
    assert_eq!(used["overshoot"], 2 * GB + 300);
    let used = phone(&world, &org, &iccid, "use", &json!({"bytes": 77})).await;
    assert_eq!((&used["charged"], &used["overshoot"]), (&json!([]), &json!(77)));
    let ids = [json!(first), json!(second), json!(second)];
    assert_eq!(kinds(events(&world, &org).await), ids);
    // A bundle that comes after that does not pay for it.
    put_onto(&world, &org, &iccid, DE).await;
    assert_eq!(latest(&world, &org, &iccid, DE).await["remainingQuantity"], 2 * GB);
    verify(&world);
}

async fn states_are_right_before_any_work_is_done(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(DE, 1)]).await;
    let iccid = esim_with(&world, &org, PT).await;
    consume(&world, &org, &iccid, 5).await;
    put_onto(&world, &org, &iccid, DE).await;
    let first_ends = life(&world, &org, &iccid, PT).await.2;
    let before = happened(&world, &org, &iccid).await;
    hold(&world, &org, true).await;
    advance(&world, &org, 10 * DAY).await;
    assert_eq!(state(&world, &org, &iccid, PT).await, "expired");
    let (found, began, _) = life(&world, &org, &iccid, DE).await;
    assert_eq!((found.as_str(), &began), ("active", &first_ends));
    let path = format!("/v2.3/esims/{iccid}/bundles");
    let shown = world.get(&path, &org.key).await.json_of(200);
    assert_eq!(shown["bundles"].as_array().map(Vec::len), Some(1), "what is over is hidden");
    assert_eq!(happened(&world, &org, &iccid).await, before, "nobody has worked");
    advance(&world, &org, 20 * DAY).await;
    assert_eq!(state(&world, &org, &iccid, DE).await, "expired");
    let ends = life(&world, &org, &iccid, DE).await.2;
    hold(&world, &org, false).await;
    settle(&world, &org).await;
    let shown = of(&world, &org, &iccid, "/history").await;
    let dates: Vec<_> = shown["actions"].as_array().expect("a list")[..2]
        .iter()
        .map(|one| (text(&one["name"]), one["date"].clone()))
        .collect();
    let expired = "Bundle Expired".to_owned();
    assert_eq!(dates, [(expired.clone(), ends), (expired, first_ends)], "each at its own time");
}

async fn the_history_tells_how_much_is_used(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let iccid = esim_with(&world, &org, PT).await;
    let percent = GB / 100;
    let alerts = async || -> Vec<(String, String)> {
        let shown = of(&world, &org, &iccid, "/history").await;
        let actions = shown["actions"].as_array().expect("a list").iter();
        let alerts = actions.filter(|one| one["name"] == "eSIM Utilisation Alert");
        let mut alerts: Vec<_> =
            alerts.map(|one| (text(&one["alertType"]), text(&one["bundleState"]))).collect();
        alerts.reverse();
        alerts
    };
    let entry = |percent: i64, state: &str| (format!("{percent}% Used"), state.to_owned());
    consume(&world, &org, &iccid, percent - 1).await;
    assert_eq!(alerts().await, []);
    consume(&world, &org, &iccid, 1).await;
    assert_eq!(alerts().await, [entry(1, "active")]);
    consume(&world, &org, &iccid, 40 * percent).await;
    assert_eq!(alerts().await.len(), 1);
    // Passing two of them makes two entries, the lower one first.
    consume(&world, &org, &iccid, 39 * percent).await;
    assert_eq!(alerts().await[1..], [entry(50, "active"), entry(80, "active")]);
    consume(&world, &org, &iccid, 30 * percent).await;
    assert_eq!(alerts().await[3..], [entry(100, "depleted")]);
    let names = happened(&world, &org, &iccid).await;
    let first = ["eSIM First Use", "eSIM First Attachment", "Bundle Applied"];
    assert_eq!(names[names.len() - 3..], first);
    // Its own versions have their own fields.
    let shown = world.get(&format!("/v2.3/esims/{iccid}/history"), &org.key).await.json_of(200);
    let mut newest = shown[0].clone();
    newest["date"] = json!("");
    let wanted = json!({"name": "eSIM Utilisation Alert", "bundle": PT.name, "date": "",
        "bundleState": "depleted", "alertType": "100% Used"});
    assert_eq!(newest, wanted);
    let listed = crate::desk::esims(&world, &org).await;
    assert_eq!(listed[0]["lastAction"], "eSIM Utilisation Alert");
}

async fn only_later_versions_show_states(home: Home) {
    let world = open(home, 5).await;
    let org = reseller(&world, PLENTY).await;
    let bought = buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await;
    let iccid = iccids(&bought).remove(0);
    buy(&world, &org, "/v2.5", &onto(FR, std::slice::from_ref(&iccid))).await;
    consume(&world, &org, &iccid, 258_000_000).await;
    for (version, prefix) in prefixes() {
        let path = format!("{prefix}/esims/{iccid}/bundles");
        let list = world.get(&path, &org.key).await.json_of(200);
        let one = world.get(&format!("{path}/{}", PT.name), &org.key).await.json_of(200);
        if version.name() == "v2.0" {
            assert_eq!(list["Promotions"][1]["moniker"], PT.name, "newest first: {list}");
            let offer = &list["Promotions"][1]["activeOffers"][0];
            assert_eq!(offer["remainingQuantity"], "742000000");
            assert_eq!(&one["activeOffers"][0], offer);
            continue;
        }
        assert_eq!(list["bundles"][0]["name"], FR.name, "newest first: {list}");
        let (newer, older) = (&list["bundles"][0]["assignments"][0], &one["assignments"][0]);
        assert_eq!(older["remainingQuantity"], 742_000_000);
        assert_eq!((&newer["startTime"], &newer["endTime"]), (&Value::Null, &Value::Null));
        let states = (newer.get("bundleState"), older.get("bundleState"));
        if version.name() >= "v2.3" {
            assert_eq!(states, (Some(&json!("queued")), Some(&json!("active"))), "{prefix}");
        } else {
            assert_eq!(states, (None, None), "{prefix}");
        }
    }
}
