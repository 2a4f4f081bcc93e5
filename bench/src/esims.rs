//! `bench esims`: a service with 1,000,000 eSIMs. One of them read against a bare handler and
//! against the same where there are few; applies against bare loops and pgbench; QR codes against
//! the tools people know; the memory of a large download.

mod codes;
mod script;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use self::script::{Loop, Scripts};
use crate::client::{self, Connection, get, post};
use crate::harness::{Bar, By, Case, Outcome, ROUNDS_MIN, Sample, run as measure};
use crate::peer::Peer;
use crate::world::{BUNDLE, FIRST, World};

const ROUND: Duration = Duration::from_secs(3);
const ESIMS: usize = 1_000_000;
const FEW: usize = 10_000;
/// eSIMs that are asked for again and again: as many travellers are under way.
const OFTEN: usize = 10_000;
/// More than a node keeps answers about.
const ONCE: usize = 250_000;
/// Clients that read; two cores are all there is for them and the server.
const READERS: usize = 8;
const BUYERS: usize = 32;

/// Runs the bench.
pub(crate) fn run() -> Vec<Outcome> {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = crate::callers::runtime();
    eprintln!("esims: QR codes …");
    let mut outcomes = codes::pictures(folder.path());
    eprintln!("esims: a million eSIMs …");
    let many = World::new(&folder.path().join("many"), "", 1);
    let iccids = many.import(ESIMS);
    many.stock_up();
    let copy = folder.path().join("bare.db");
    std::fs::copy(many.data.join("tern.db"), &copy).expect("copied");
    outcomes.extend(reading(&runtime, &many, &iccids, folder.path()));
    eprintln!("esims: applying …");
    outcomes.push(sqlite_apply(&runtime, &many, &iccids, &copy));
    eprintln!("esims: a ZIP of 100,000 codes …");
    outcomes.push(codes::archive(&many, &iccids));
    drop(many);
    eprintln!("esims: a million eSIMs on PostgreSQL …");
    outcomes.extend(postgres_apply(&runtime, folder.path()));
    outcomes
}

/// A round of readers, each of whom asks for one eSIM after the other.
fn asked(runtime: &Runtime, peer: &Peer, requests: &Arc<Vec<Vec<u8>>>) -> Sample {
    let before = peer.cpu();
    let requests = requests.clone();
    let sample = client::round_of(runtime, &peer.address, (READERS, ROUND), move |caller, n| {
        requests[(caller * 104_729 + n * 7_919) % requests.len()].clone()
    });
    Sample { cpu: peer.cpu().saturating_sub(before), ..sample }
}

/// Who is asked, and what.
type Asked<'a> = (&'a Peer, &'a Arc<Vec<Vec<u8>>>);

/// Questions about so many eSIMs, spread over all of them.
fn requests(world: &World, iccids: &[String], count: usize) -> Arc<Vec<Vec<u8>>> {
    let key = &world.orgs[0].1;
    let asked = iccids.iter().step_by((iccids.len() / count).max(1));
    Arc::new(asked.map(|iccid| get(&format!("/v2.5/esims/{iccid}"), key)).collect())
}

/// Those that are asked for again and again, as integrators do; those that are asked for once; and
/// the latter where there are few.
fn reading(runtime: &Runtime, world: &World, iccids: &[String], folder: &Path) -> Vec<Outcome> {
    let tern = Peer::tern(&world.data);
    let (often, once) = (requests(world, iccids, OFTEN), requests(world, iccids, ONCE));
    let body = runtime.block_on(async {
        let answer = Connection::open(&tern.address).await.send(&often[0]).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        answer.body
    });
    let file = folder.join("esim.json");
    std::fs::write(&file, body).expect("written");
    let bare = Peer::bare(&file);
    let few = World::new(&folder.join("few"), "", 1);
    let few_requests = requests(&few, &few.import(FEW), FEW);
    let small = Peer::tern(&few.data);
    let case = |name: &str, bar: f64, ours: Asked<'_>, theirs: Asked<'_>| {
        measure(
            Case {
                bench: "esims",
                case: name.to_owned(),
                unit: "answers/cpu-s",
                bar: Bar::AtLeast(bar),
                by: By::Processor,
                dir: folder.to_owned(),
                ours: Box::new(|| asked(runtime, ours.0, ours.1)),
                reference: Box::new(|| asked(runtime, theirs.0, theirs.1)),
            },
            ROUNDS_MIN,
        )
    };
    vec![
        case("esim", 0.5, (&tern, &often), (&bare, &often)),
        case("esim-once", 0.5, (&tern, &once), (&bare, &once)),
        // At most 1.25 times the cost is at least 0.8 times the rate.
        case("esim-among-many", 0.8, (&tern, &often), (&small, &few_requests)),
    ]
}

fn apply(key: &str, iccid: &str) -> Vec<u8> {
    let body = format!(r#"{{"iccid":"{iccid}","bundle":"{BUNDLE}"}}"#);
    post("/v2.5/esims/apply", key, &body)
}

fn sqlite_apply(runtime: &Runtime, world: &World, iccids: &[String], copy: &Path) -> Outcome {
    let tern = Peer::tern(&world.data);
    let (org, key) = world.orgs[0].clone();
    let shared = Arc::new(iccids.to_vec());
    let mut bare = Loop::new(copy, &org.to_string(), iccids);
    let mut round = 0;
    let ours = || {
        round += 1;
        let (shared, key, from) = (shared.clone(), key.clone(), round * 1_299_709);
        client::round_of(runtime, &tern.address, (BUYERS, ROUND), move |caller, n| {
            apply(&key, &shared[(from + caller * 104_729 + n * 7_919) % shared.len()])
        })
    };
    measure(
        Case {
            bench: "esims",
            case: "sqlite-apply".into(),
            unit: "applies/s",
            bar: Bar::AtLeast(1.2),
            by: By::Clock,
            dir: world.data.clone(),
            ours: Box::new(ours),
            reference: Box::new(|| bare.round(ROUND)),
        },
        ROUNDS_MIN,
    )
}

/// On PostgreSQL: spread over many organisations, and all on one of them.
fn postgres_apply(runtime: &Runtime, folder: &Path) -> Vec<Outcome> {
    const ORGANISATIONS: usize = 32;
    let each = i64::try_from(ESIMS / ORGANISATIONS).expect("small");
    let url = std::env::var("TERN_TEST_POSTGRES").expect("run by `cargo xtask bench`");
    let world = World::new(&folder.join("postgres"), &url, ORGANISATIONS);
    world.number(each);
    world.stock_up();
    let tern = Peer::tern_on(&world.data, &url);
    let case = |name: &str, bar: f64, orgs: usize| {
        let scripts: Vec<_> = world.orgs[..orgs]
            .iter()
            .zip(0_i64..)
            .map(|((org, _), n)| (org.to_string(), FIRST + n * each, each))
            .collect();
        let scripts = Scripts::new(&url, &scripts);
        let keys: Arc<Vec<_>> = Arc::new(world.orgs.iter().map(|(_, key)| key.clone()).collect());
        let mut round = 0;
        let ours = || {
            round += 1;
            let (keys, from) = (keys.clone(), round * 1_299_709);
            client::round_of(runtime, &tern.address, (BUYERS, ROUND), move |caller, n| {
                // Drawn as pgbench draws.
                let org = (caller * 31 + n * 17) % orgs;
                let place = i64::try_from(from + caller * 104_729 + n * 7_919).expect("small");
                let iccid = FIRST + i64::try_from(org).expect("small") * each + place % each;
                apply(&keys[org], &iccid.to_string())
            })
        };
        measure(
            Case {
                bench: "esims",
                case: name.to_owned(),
                unit: "applies/s",
                bar: Bar::AtLeast(bar),
                by: By::Clock,
                dir: folder.to_owned(),
                ours: Box::new(ours),
                reference: Box::new(move || scripts.round(BUYERS, ROUND)),
            },
            ROUNDS_MIN,
        )
    };
    vec![case("postgres-apply", 1.0, ORGANISATIONS), case("postgres-hot-organisation", 3.0, 1)]
}
