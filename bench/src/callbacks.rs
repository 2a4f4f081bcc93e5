//! `bench callbacks`: from a usage record to a signed callback with its attempt written down,
//! against our own client that posts the same bodies in a bare loop; records in against a bare loop
//! of the same statements; healthy receivers among dead ones; a million callbacks that wait.

mod backlog;
mod records;
mod world;

use std::sync::Arc;
use std::time::Duration;

use adapters::callbacks::HttpReceivers;
use domain::ports::callbacks::{Callback, Receivers, Reply, Signers};
use domain::{CallbackUrl, Secret, Timestamp};
use tokio::runtime::Runtime;

use self::world::{Service, batch};
use crate::callers;
use crate::harness::{Bar, By, Case, Outcome, ROUNDS_MIN, Sample, run as measure, single, timed};
use crate::peer::Peer;

/// Records of one round: some seconds of work.
const RECORDS: usize = 10_000;
const CONNECTIONS: usize = 64;
const ROUND: Duration = Duration::from_secs(3);
/// Organisations whose callbacks are sent, each with eSIMs of its own.
const ORGANISATIONS: usize = 8;

/// Runs the bench.
pub(crate) fn run() -> Vec<Outcome> {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = callers::runtime();
    let receiver = Peer::receiver();
    let postgres = std::env::var("TERN_TEST_POSTGRES").expect("run by `cargo xtask bench`");
    let mut outcomes = Vec::new();
    for (name, bar, url) in [("sqlite", 0.15, ""), ("postgres", 0.04, postgres.as_str())] {
        eprintln!("callbacks: from record to callback on {name} …");
        let service = Service::new(&folder.path().join(name), url, ORGANISATIONS);
        service.send_to(&format!("http://{}/hook", receiver.address));
        outcomes.push(sent(&runtime, &service, &receiver, (name, bar)));
    }
    eprintln!("callbacks: records in …");
    outcomes.push(records::taken(&runtime, folder.path()));
    eprintln!("callbacks: healthy receivers among dead ones …");
    outcomes.push(among_the_dead(&runtime, folder.path(), &receiver));
    eprintln!("callbacks: a million that wait …");
    outcomes.extend(backlog::drained(&runtime, folder.path(), &receiver));
    outcomes
}

/// Records in, signed callbacks out, every attempt written down.
fn sent(
    runtime: &Runtime,
    service: &Service,
    receiver: &Peer,
    (name, bar): (&str, f64),
) -> Outcome {
    let tern = service.start();
    let mut round = 0;
    let ours = || {
        round += 1;
        timed(|| {
            let before = receiver.count(runtime);
            service.send(runtime, &tern, (round, RECORDS));
            receiver.wait_for(runtime, before + RECORDS as u64);
            service.wait_until_noted(runtime, &tern);
            RECORDS as u64
        })
    };
    measure(
        Case {
            bench: "callbacks",
            case: format!("{name}-record-to-callback"),
            unit: "callbacks/s",
            bar: Bar::AtLeast(bar),
            by: By::Clock,
            dir: service.data().to_owned(),
            ours: Box::new(ours),
            reference: Box::new(|| posted(runtime, &receiver.address)),
        },
        ROUNDS_MIN,
    )
}

/// Our own client, with nothing around it.
fn posted(runtime: &Runtime, address: &str) -> Sample {
    let url = CallbackUrl::parse(&format!("http://{address}/hook")).expect("an address");
    let secret = |text: &str| Secret::new(text.to_owned());
    let callback = Arc::new(Callback {
        url,
        id: "0199a0de-0000-7000-8000-000000000000".to_owned(),
        body: world::BODY.to_owned(),
        signers: Some(Arc::new(Signers {
            api_key: secret("tern_test_bench"),
            secrets: vec![secret("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")],
        })),
        at: Timestamp::from_ms(1_800_000_000_000),
    });
    let client = runtime.block_on(async { Arc::new(HttpReceivers::new(true)) });
    callers::each(runtime, CONNECTIONS, |rt| {
        let (client, callback) = (client.clone(), callback.clone());
        async move {
            let mut answered = 0;
            while rt.monotonic() < ROUND {
                match client.send(&callback).await {
                    Reply::Answered { status: 200, .. } => answered += 1,
                    other => panic!("the receiver answers 200, not {other:?}"),
                }
            }
            answered
        }
    })
}

/// How long callbacks to healthy receivers take while a fifth of the receivers never answers.
fn among_the_dead(runtime: &Runtime, folder: &std::path::Path, receiver: &Peer) -> Outcome {
    const EACH: usize = 10;
    const SECONDS: u64 = 10;
    const PER_SECOND: usize = 200;
    let hook = format!("http://{}/hook", receiver.address);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let nowhere = format!("http://{}/hook", silent.local_addr().expect("an address"));
    let p99 = |name: &str, dead: usize| {
        let service = Service::new(&folder.join(name), "", EACH);
        service.send_to(&hook);
        for n in 0..dead {
            service.send_one_to(n, &nowhere);
        }
        let tern = service.start();
        let mut worst: Vec<f64> = Vec::new();
        for second in 0..SECONDS {
            let next = callers::pause_for(Duration::from_secs(1));
            service.send(runtime, &tern, (usize::try_from(second).expect("few"), PER_SECOND));
            next();
        }
        for n in dead..EACH {
            worst.push(service.p99(runtime, &tern, n));
        }
        worst.sort_by(f64::total_cmp);
        worst[worst.len() / 2]
    };
    let (alone, among) = (p99("all-well", 0), p99("some-dead", EACH / 5));
    single(("callbacks", "p99-among-dead", "ms"), Bar::AtMost(1.5), among, alone.max(1.0))
}

/// A batch as the operator's feed takes it.
fn feed(key: &str, records: &str) -> Vec<u8> {
    let length = records.len();
    format!(
        "POST /operator/v1/usage HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/cloudevents-batch+json\r\nContent-Length: {length}\r\n\r\n\
         {records}"
    )
    .into_bytes()
}

/// Records of one round, cut into requests.
fn requests(service: &Service, (round, count): (usize, usize)) -> Vec<Vec<u8>> {
    let all: Vec<_> = (0..count).collect();
    let request = |piece: &[usize]| feed(&service.operator, &batch(service, round, piece));
    all.chunks(1_000).map(request).collect()
}
