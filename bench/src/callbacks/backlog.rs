//! A million callbacks that wait: what they cost in memory, and how quickly they go out.

use std::path::Path;
use std::time::Duration;

use store::args;
use tokio::runtime::Runtime;

use super::ORGANISATIONS;
use super::world::{BODY, ESIMS, Service};
use crate::callers;
use crate::commerce::memory::high_water;
use crate::harness::{Bar, Outcome, single};
use crate::peer::Peer;
use crate::world::FIRST;

const MANY: i64 = 1_000_000;
const FEW: i64 = 40_000;
/// As long as few take.
const WATCHED: Duration = Duration::from_secs(6);
const ALLOWED_BYTES: f64 = 64.0 * 1024.0 * 1024.0;

/// The same service with few and with many that wait.
pub(super) fn drained(runtime: &Runtime, folder: &Path, receiver: &Peer) -> Vec<Outcome> {
    let (few, small) = drain(runtime, (folder, "few-wait", FEW), receiver);
    let (many, large) = drain(runtime, (folder, "many-wait", MANY), receiver);
    let name = |case| ("callbacks", case, "");
    let (_, case, _) = name("backlog-rate");
    vec![
        single(("callbacks", case, "callbacks/s"), Bar::AtLeast(0.9), many, few),
        single(
            ("callbacks", "backlog-memory", "bytes"),
            Bar::AtMost(1.0),
            (large - small).max(0.0),
            ALLOWED_BYTES,
        ),
    ]
}

/// How many go out a second, and the most memory the service holds meanwhile.
fn drain(
    runtime: &Runtime,
    (folder, name, count): (&Path, &str, i64),
    receiver: &Peer,
) -> (f64, f64) {
    let service = Service::new(&folder.join(name), "", ORGANISATIONS);
    service.send_to(&format!("http://{}/hook", receiver.address));
    let each = count / i64::try_from(ORGANISATIONS).expect("few");
    for (n, place) in (0..ORGANISATIONS).zip(0_i64..) {
        wait(&service, n, FIRST + place * ESIMS, each);
    }
    let before = receiver.count(runtime);
    let tern = service.start();
    let pause = callers::pause_for(WATCHED);
    pause();
    let sent = receiver.count(runtime) - before;
    let memory = high_water(tern.id());
    #[expect(clippy::cast_precision_loss, reason = "a few hundred thousand at most")]
    let rate = sent as f64 / WATCHED.as_secs_f64();
    (rate, memory)
}

/// Writes so many callbacks of an organisation that wait.
fn wait(service: &Service, n: usize, first: i64, count: i64) {
    const NUMBERS: &str = "WITH RECURSIVE n (e) AS (SELECT CAST($2 AS BIGINT) UNION ALL \
         SELECT e + 1 FROM n WHERE e + 1 <= CAST($3 AS BIGINT)) ";
    const LANE: &str = "CAST($4 + e % 1000 AS TEXT)";
    let org = service.world.orgs[n].0;
    service.world.write(move |tx| {
        let now = store::Rt::real().now();
        let mut from = 1;
        while from <= count {
            let to = (from + 49_999).min(count);
            let events = format!(
                "{NUMBERS} INSERT INTO events (org_id, seq, id, kind, at, data) SELECT $1, e, \
                 '01a1de00-0000-7000-8000-' || substr(CAST(100000000000000 + e AS TEXT), 4, 12), \
                 'Utilisation', $4, $5 FROM n"
            );
            tx.exec(&events, args![org, from, to, now, BODY])?;
            let deliveries = format!(
                "{NUMBERS} INSERT INTO deliveries (org_id, seq, lane, form, body, state, \
                 attempts, tries, made_at) SELECT $1, e, {LANE}, 'V3', NULL, 'waiting', 0, 0, $5 \
                 FROM n"
            );
            tx.exec(&deliveries, args![org, from, to, first, now])?;
            from = to + 1;
        }
        tx.exec(
            "INSERT INTO lanes (org_id, lane, due_at) SELECT DISTINCT org_id, lane, $2 \
             FROM deliveries WHERE org_id = $1",
            args![org, now],
        )?;
        let head = "UPDATE org_heads SET event_seq = $2 WHERE org_id = $1";
        tx.exec(head, args![org, count])
    });
}
