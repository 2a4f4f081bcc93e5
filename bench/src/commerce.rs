//! `bench commerce`: a shop with 1,000 organisations and 1,000,000 orders, 100,000 of them of one
//! organisation. Reading the catalogue against a bare handler, the last page of a list against the
//! first, buying against a bare loop of the same statements, and the memory of a large import.

pub(crate) mod memory;
mod plain;
mod world;

use std::path::Path;
use std::time::Duration;

use tokio::runtime::Runtime;

use self::plain::Loop;
use self::world::World;
use crate::client::{self, Connection, get, post};
use crate::harness::{Bar, By, Case, Outcome, ROUNDS_MIN, Sample, run as measure};
use crate::peer::Peer;

const ROUND: Duration = Duration::from_secs(3);
/// Clients that read; two cores are all there is for them and the server.
const READERS: usize = 8;
const BUYERS: usize = 32;

/// Runs the bench.
pub(crate) fn run() -> Vec<Outcome> {
    let folder = tempfile::tempdir().expect("a folder");
    eprintln!("commerce: making a shop with a million orders …");
    let world = World::new(folder.path());
    let bare = world.copy(&folder.path().join("bare"));
    let runtime = crate::callers::runtime();
    let mut outcomes = Vec::new();
    {
        let tern = Peer::tern(&world.data);
        eprintln!("commerce: reading …");
        outcomes.extend(reading(&runtime, &world, &tern, folder.path()));
        outcomes.extend(lists(&runtime, &world, &tern));
        eprintln!("commerce: buying …");
        outcomes.push(buying(&runtime, &world, &tern, &bare));
    }
    eprintln!("commerce: importing a million profiles …");
    outcomes.push(memory::import(folder.path()));
    outcomes
}

/// The catalogue against a bare handler with the same bytes, per second of processor time.
fn reading(runtime: &Runtime, world: &World, tern: &Peer, folder: &Path) -> Vec<Outcome> {
    let questions = [
        ("catalogue-page", "/v2.5/catalogue?perPage=100".to_owned()),
        ("catalogue-bundle", format!("/v2.5/catalogue/bundle/{}", world.bundle)),
    ];
    let case = |(name, path): (&str, String)| {
        let request = get(&path, &world.key);
        let body = runtime.block_on(async {
            let answer = Connection::open(&tern.address).await.send(&request).await;
            assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
            answer.body
        });
        let file = folder.join(format!("{name}.json"));
        std::fs::write(&file, body).expect("written");
        let bare = Peer::bare(&file);
        measure(
            Case {
                bench: "commerce",
                case: name.to_owned(),
                unit: "answers/cpu-s",
                bar: Bar::AtLeast(0.5),
                by: By::Processor,
                dir: folder.to_owned(),
                ours: Box::new(|| asked(runtime, tern, &request)),
                reference: Box::new(|| asked(runtime, &bare, &request)),
            },
            ROUNDS_MIN,
        )
    };
    questions.into_iter().map(case).collect()
}

/// The last page of the largest list against the first, and a filtered list among a million orders
/// against the same list where there are no others.
fn lists(runtime: &Runtime, world: &World, tern: &Peer) -> Vec<Outcome> {
    let ours = |path: &str| get(path, &world.key);
    let (first, last) = (
        ours("/v2.5/orders?limit=100&page=1"),
        ours(&format!("/v2.5/orders?limit=100&page={}", world.orders / 100)),
    );
    let filtered = get("/v2.5/orders?total=gte:2&status=completed&limit=100", &world.small_key);
    let alone = world.alone();
    let other = Peer::tern(&alone.data);
    let list = |case: &str, peers: [&Peer; 2], requests: [Vec<u8>; 2]| {
        let [ours, reference] = requests;
        measure(
            Case {
                bench: "commerce",
                case: case.to_owned(),
                unit: "pages/cpu-s",
                // At most 1.25 times the cost is at least 0.8 times the rate.
                bar: Bar::AtLeast(0.8),
                by: By::Processor,
                dir: world.data.clone(),
                ours: Box::new(move || asked(runtime, peers[0], &ours)),
                reference: Box::new(move || asked(runtime, peers[1], &reference)),
            },
            ROUNDS_MIN,
        )
    };
    let alone_request =
        get("/v2.5/orders?total=gte:2&status=completed&limit=100", &alone.small_key);
    vec![
        list("orders-last-page", [tern, tern], [last, first]),
        list("orders-filtered", [tern, &other], [filtered, alone_request]),
    ]
}

fn buying(runtime: &Runtime, world: &World, tern: &Peer, bare: &Path) -> Outcome {
    let body = format!(
        r#"{{"type":"transaction","order":[{{"type":"bundle","item":"{}","quantity":1}}]}}"#,
        world.bundle
    );
    let request = post("/v2.5/orders", &world.key, &body);
    let mut plain = Loop::new(bare, &world.org, &world.bundle);
    measure(
        Case {
            bench: "commerce",
            case: "sqlite-orders".into(),
            unit: "orders/s",
            bar: Bar::AtLeast(1.2),
            by: By::Clock,
            dir: world.data.clone(),
            ours: Box::new(|| client::round(runtime, &tern.address, (BUYERS, ROUND), &request)),
            reference: Box::new(|| plain.round(ROUND)),
        },
        ROUNDS_MIN,
    )
}

/// A round of readers, at the cost of the server alone.
fn asked(runtime: &Runtime, peer: &Peer, request: &[u8]) -> Sample {
    let before = peer.cpu();
    let sample = client::round(runtime, &peer.address, (READERS, ROUND), request);
    Sample { cpu: peer.cpu().saturating_sub(before), ..sample }
}
