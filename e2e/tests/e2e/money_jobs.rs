//! Due work, seen from outside: what waits, what was given up, and how it is tried again.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, Org, Ran, Request, World, wait};
use crate::money::{advance, balance, events, keyed, settle, topup, with_card};

crate::on_both! {
    work_that_is_held_waits_and_goes_on_afterwards,
    work_that_was_given_up_is_tried_again_when_somebody_says_so,
    a_job_that_was_not_given_up_cannot_be_retried,
}

async fn hold(world: &World, org: &Org, on: bool) {
    let request = Request::post("/sandbox/v1/hold").key(&org.key).json(&json!({ "on": on }));
    world.node.send(&request).await.expect(200);
}

async fn jobs(world: &World, query: &str) -> Vec<Value> {
    let page = world.show(&format!("/jobs{query}")).await;
    page["jobs"].as_array().expect("a list").clone()
}

/// The only job there is, once it is there.
async fn waiting_job(world: &World) -> Value {
    wait::until("the work is known", Duration::from_secs(10), async || {
        jobs(world, "?state=all").await.pop()
    })
    .await
}

/// A job that was given up, of an organisation of its own; its id.
pub(crate) async fn given_up(world: &World) -> String {
    let org = with_card(world, "pays").await;
    hold(world, &org, true).await;
    let request = topup(&org, "/v2.3", "5");
    let wait = async {
        let find = async || {
            let all = jobs(world, "?state=all&limit=1000").await;
            all.into_iter().find(|job| job["organisation"] == json!(org.id))
        };
        let job = wait::until("the work is known", Duration::from_secs(10), find).await;
        let id = job["id"].as_str().expect("an id").to_owned();
        let sql = format!(
            "UPDATE jobs SET failed_at = 1767225600000, attempts = 500, error = 'away' \
             WHERE id = '{id}'"
        );
        world.home.run_sql(&sql).await;
        id
    };
    let (answer, id) = tokio::join!(world.node.send(&request), wait);
    answer.refused(503, "payment-undecided");
    id
}

async fn work_that_is_held_waits_and_goes_on_afterwards(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    assert_eq!(jobs(&world, "?state=all").await, [Value::Null; 0]);
    hold(&world, &org, true).await;
    let request = keyed(&org, "700", "held-1");
    let looking = async {
        let job = waiting_job(&world).await;
        for (name, value) in [
            ("organisation", json!(org.id)),
            ("kind", json!("charge")),
            ("attempts", json!(0)),
            ("error", json!("")),
            ("failedAt", Value::Null),
        ] {
            assert_eq!(job[name], value, "{name}");
        }
        let listed = world.home.tern_json(&["jobs", "list", "--all"]);
        assert_eq!(listed, json!({ "jobs": [job] }));
        assert_eq!(world.home.tern_json(&["jobs", "list"]), json!({"jobs": []}));
        for query in ["", "?state=failed"] {
            assert_eq!(jobs(&world, query).await, [Value::Null; 0]);
        }
        // Neither time nor impatience moves it.
        advance(&world, &org, 60).await;
        settle(&world, &org).await;
        assert_eq!(balance(&world, &org).await, 0);
        hold(&world, &org, false).await;
    };
    let (first, ()) = tokio::join!(world.node.send(&request), looking);
    assert!([200, 503].contains(&first.status), "{first}");
    settle(&world, &org).await;
    assert_eq!(world.node.send(&request).await.json_of(200)["balance"], 700);
    assert_eq!(balance(&world, &org).await, 700);
    assert_eq!(jobs(&world, "?state=all").await, [Value::Null; 0]);
    assert_eq!(events(&world, &org).await.len(), 1);
    for query in ["?state=x", "?after=x", "?limit=0", "?limit=1001"] {
        let refusal = world.node.send(&world.operator("GET", &format!("/jobs{query}"))).await;
        refusal.refused(400, "invalid-parameter");
    }
}

async fn work_that_was_given_up_is_tried_again_when_somebody_says_so(home: Home) {
    let world = World::start(home).await;
    for by_command in [true, false] {
        let id = given_up(&world).await;
        let job = jobs(&world, "").await.pop().expect("it is shown");
        assert_eq!((&job["id"], &job["error"]), (&json!(id), &json!("away")));
        assert_eq!(job["failedAt"], "2026-01-01T00:00:00Z");
        assert_eq!(world.home.tern_json(&["jobs", "list"]), json!({ "jobs": [job] }));
        let people = Ran::new(&mut world.home.tern(&["jobs", "list"]));
        assert!(people.stdout.contains("given up") && people.stdout.contains(&id), "{people:?}");
        // The organisation's work goes on, but not this.
        let owner = job["organisation"].as_str().expect("an id");
        let free = format!("UPDATE org_heads SET held_at = NULL WHERE org_id = '{owner}'");
        world.home.run_sql(&free).await;
        let again = if by_command {
            world.home.tern_json(&["jobs", "retry", &id])
        } else {
            world.order("POST", &format!("/jobs/{id}/retry"), &json!({})).await.json_of(200)
        };
        assert_eq!(again, json!({"status": "due"}));
        wait::until("it is done", Duration::from_secs(15), async || {
            let shown = world.show(&format!("/organisations/{owner}")).await;
            (shown["balance"] == 5).then_some(())
        })
        .await;
        assert_eq!(jobs(&world, "?state=all").await, [Value::Null; 0]);
        let log = world.show("/audit?limit=1000").await.to_string();
        assert!(log.contains("job.retry") && log.contains(&id), "{log}");
    }
}

async fn a_job_that_was_not_given_up_cannot_be_retried(home: Home) {
    let world = World::start(home).await;
    let org = with_card(&world, "pays").await;
    hold(&world, &org, true).await;
    let request = topup(&org, "/v2.3", "5");
    let retrying = async {
        let job = waiting_job(&world).await;
        let id = job["id"].as_str().expect("an id").to_owned();
        let before = world.home.dump().await;
        for id in [id.as_str(), "01890000-0000-7000-8000-000000000000", "x", "%20", &org.id] {
            let path = format!("/jobs/{id}/retry");
            let refusal = world.node.send(&world.operator("POST", &path)).await;
            assert_eq!(refusal.refused(404, "unknown-job"), "job not found, or not failed");
        }
        Ran::new(&mut world.home.tern(&["jobs", "retry", &id])).failed(1, "job not found");
        Ran::new(&mut world.home.tern(&["jobs", "retry", "x"])).failed(1, "is no job id");
        assert_eq!(world.home.dump().await, before);
        hold(&world, &org, false).await;
    };
    let (answer, ()) = tokio::join!(world.node.send(&request), retrying);
    assert!([200, 503].contains(&answer.status), "{answer}");
    settle(&world, &org).await;
    assert_eq!(balance(&world, &org).await, 5);
}
