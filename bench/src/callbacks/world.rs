//! A service whose eSIMs have bundles that never run out, and what is sent to it.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use store::args;
use tokio::runtime::Runtime;

use super::requests;
use crate::callers;
use crate::client::Connection;
use crate::peer::Peer;
use crate::world::{BUNDLE, FIRST, World};

/// eSIMs of each organisation.
pub(super) const ESIMS: i64 = 1_000;
/// Connections over which records come in.
const FEEDS: usize = 2;

/// A usage event as it is sent.
pub(super) const BODY: &str = concat!(
    r#"{"iccid":"8943200000000000000","alertType":"Utilisation","bundle":{"id":"410000023","#,
    r#""reference":"6513270e-269e-4d37-b2a7-4de452e6b438-0","name":"esim_1GB_7D_PT_V2","#,
    r#""description":"eSIM, 1GB, 7 Days, Portugal, V2","initialQuantity":1000000000,"#,
    r#""remainingQuantity":742000000,"startTime":"2026-05-04T08:15:00Z","#,
    r#""endTime":"2026-05-11T08:15:00Z","unlimited":false}}"#,
);

/// Organisations with eSIMs, and the operator's key.
pub(super) struct Service {
    pub(super) world: World,
    pub(super) operator: String,
    url: String,
}

impl Service {
    pub(super) fn new(data: &Path, url: &str, organisations: usize) -> Self {
        let world = World::new(data, url, organisations);
        world.number(ESIMS);
        let made = world.tern(url, &["key", "operator", "--label", "bench"]);
        let made: Value = serde_json::from_str(&made).expect("JSON");
        let operator = made["operatorKey"].as_str().expect("a key").to_owned();
        let service = Self { world, operator, url: url.to_owned() };
        service.put_bundles_on();
        service
    }

    /// A bundle on every eSIM: more than a round ever uses.
    fn put_bundles_on(&self) {
        const ORDER: &str = "INSERT INTO orders (id, org_id, reference, status, status_message, \
             total, created_at) VALUES ($1, $2, $1, 'completed', '', 0, 1)";
        const BUNDLES: &str = "INSERT INTO assignments (org_id, iccid, bundle, order_id, item, n, \
             esim, state, assigned_at, ready_at, data_mb, duration, duration_unit, starts) \
             SELECT org_id, iccid, $2, $3, 0, CAST(iccid AS BIGINT), 'named', 'queued', $4, $4, \
             1000000000, 3000, 'day', 'use' FROM esims WHERE org_id = $1";
        let now = store::Rt::real().now();
        for (org, _) in self.world.orgs.clone() {
            let id = org.to_string();
            self.world.write(move |tx| {
                tx.exec(ORDER, args![&id, org])?;
                tx.exec(BUNDLES, args![org, BUNDLE, &id, now])
            });
        }
        self.world.write(|tx| tx.exec("ANALYZE", args![]));
    }

    pub(super) fn data(&self) -> &Path {
        &self.world.data
    }

    /// Where all organisations receive callbacks.
    pub(super) fn send_to(&self, hook: &str) {
        for n in 0..self.world.orgs.len() {
            self.send_one_to(n, hook);
        }
    }

    pub(super) fn send_one_to(&self, n: usize, hook: &str) {
        let (hook, org) = (hook.to_owned(), self.world.orgs[n].0);
        self.world.write(move |tx| {
            tx.exec(
                "UPDATE organisations SET callback_url = $2, callback_version = 'V3' WHERE id = $1",
                args![org, &hook],
            )
        });
    }

    /// The service, with receivers on this machine allowed.
    pub(super) fn start(&self) -> Peer {
        Peer::sending(self.data(), &self.url)
    }

    /// Sends records over a few connections at once.
    pub(super) fn send(&self, runtime: &Runtime, tern: &Peer, what: (usize, usize)) {
        let requests = Arc::new(requests(self, what));
        let numbers = std::cell::Cell::new(0);
        callers::each(runtime, FEEDS, |_| {
            let (address, requests) = (tern.address.clone(), requests.clone());
            let caller = numbers.replace(numbers.get() + 1);
            async move {
                let mut connection = Connection::open(&address).await;
                for request in requests.iter().skip(caller).step_by(FEEDS) {
                    let answer = connection.send(request).await;
                    let text = String::from_utf8_lossy(&answer.body);
                    assert_eq!(answer.status, 200, "{text}");
                    assert!(!text.contains("rejected"), "{text}");
                }
                0
            }
        });
    }

    /// Asks how the callbacks of an organisation do.
    fn health(&self, runtime: &Runtime, tern: &Peer, n: usize) -> Value {
        let path = format!("/operator/v1/organisations/{}/callbacks", self.world.orgs[n].0);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n\r\n",
            self.operator
        );
        let answer = runtime.block_on(async {
            Connection::open(&tern.address).await.send(request.as_bytes()).await
        });
        serde_json::from_slice(&answer.body).expect("JSON")
    }

    /// Waits until no callback of anybody waits.
    pub(super) fn wait_until_noted(&self, runtime: &Runtime, tern: &Peer) {
        for n in 0..self.world.orgs.len() {
            while self.health(runtime, tern, n)["waiting"] != 0 {
                callers::pause_for(Duration::from_millis(2))();
            }
        }
    }

    pub(super) fn p99(&self, runtime: &Runtime, tern: &Peer, n: usize) -> f64 {
        self.health(runtime, tern, n)["p99Milliseconds"].as_f64().expect("callbacks were delivered")
    }
}

/// Records of all organisations in turn, one for each number.
pub(super) fn batch(service: &Service, round: usize, numbers: &[usize]) -> String {
    let orgs = i64::try_from(service.world.orgs.len()).expect("few");
    let now = store::Rt::real().now();
    let mut text = String::from("[");
    for number in numbers {
        let n = i64::try_from(*number).expect("small");
        let iccid = FIRST + (n % orgs) * ESIMS + (n / orgs) % ESIMS;
        let comma = if text.len() > 1 { "," } else { "" };
        let event = r#""specversion":"1.0","source":"bench","type":"tern.usage.data""#;
        let data = format!(r#"{{"iccid":"{iccid}","bytes":1000,"country":"PT"}}"#);
        let own = format!(r#""id":"{round}-{number}","time":"{now}""#);
        write!(text, r#"{comma}{{{event},{own},"data":{data}}}"#).expect("written");
    }
    text.push(']');
    text
}
