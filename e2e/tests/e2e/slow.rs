//! Clients that take their time. Each is cut off within its limit, all at the same time, and
//! nobody else notices.

use std::time::Duration;

use store::Rt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::http::{Line, read_answer};
use crate::harness::{Answer, Home, Node, Org, Request, World, wait};

const DRIP: Duration = Duration::from_millis(300);
/// The limits of the service, and what a busy machine may add.
const HEADERS: Duration = Duration::from_secs(10);
const BODY: Duration = Duration::from_secs(15);
const GRACE: Duration = Duration::from_secs(4);

async fn start() -> (World, Org) {
    let world = World::start(Home::sqlite()).await;
    let org = world.add_sandbox("Patient").await;
    (world, org)
}

/// Sends a beginning, then a byte now and then, until the other side closes. What it said.
async fn drip(node: &Node, begin: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(node.address).await.expect("connected");
    stream.write_all(begin).await.expect("the beginning is read");
    let (mut reader, mut writer) = stream.split();
    let dripping = async {
        while writer.write_all(b"x").await.is_ok() {
            Rt::real().sleep(DRIP).await;
        }
    };
    listen_while(&mut reader, dripping).await
}

/// Sends a beginning and then nothing. What the other side said before it closed.
async fn stall(node: &Node, begin: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(node.address).await.expect("connected");
    stream.write_all(begin).await.expect("the beginning is read");
    let (mut reader, _writer) = stream.split();
    listen_while(&mut reader, std::future::pending()).await
}

async fn listen_while(
    reader: &mut (impl AsyncReadExt + Unpin),
    sending: impl Future<Output = ()>,
) -> Vec<u8> {
    let mut said = Vec::new();
    tokio::pin!(sending);
    let mut is_sending = true;
    loop {
        let mut bytes = [0; 4096];
        tokio::select! {
            read = reader.read(&mut bytes) => match read {
                Ok(0) | Err(_) => return said,
                Ok(count) => said.extend(&bytes[..count]),
            },
            () = &mut sending, if is_sending => is_sending = false,
        }
    }
}

/// What became of a slow client: what it was told, and when it was cut off, if it was in time.
struct Fate {
    what: &'static str,
    limit: Duration,
    cut_off: Option<(Vec<u8>, Duration)>,
}

async fn fate(what: &'static str, limit: Duration, client: impl Future<Output = Vec<u8>>) -> Fate {
    let ended = tokio::time::timeout(limit + GRACE, wait::timed(client)).await;
    Fate { what, limit, cut_off: ended.ok() }
}

impl Fate {
    /// Cut off at its limit or earlier.
    fn said(self) -> Vec<u8> {
        let (what, limit) = (self.what, self.limit);
        self.cut_off.unwrap_or_else(|| panic!("{what}: not within {limit:?}")).0
    }

    /// Cut off at its limit, but given all the time it has.
    fn said_at_last(self) -> Vec<u8> {
        let (what, limit) = (self.what, self.limit);
        let time = self.cut_off.as_ref().map_or(limit, |(_, time)| *time);
        assert!(time + Duration::from_secs(1) > limit, "{what}: after {time:?} only");
        self.said()
    }
}

/// Also those who say nothing at all, or only what could become HTTP/2.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_silent_clients_are_cut_off_within_their_limits() {
    let (world, org) = start().await;
    let hold = format!(
        "POST /sandbox/v1/hold HTTP/1.1\r\nHost: a\r\nX-API-Key: {}\r\nContent-Length: 500\r\n\r\n",
        org.key
    );
    let chunked = hold.replace("Content-Length: 500", "Transfer-Encoding: chunked");
    let (node, head) = (&world.node, b"GET /v2.5/ HTTP/1.1\r\nHost: a\r\nX-Slow: ");
    let fates = tokio::join!(
        fate("headers that drip", HEADERS, drip(node, head)),
        fate("headers that stop", HEADERS, stall(node, head)),
        fate("silence", HEADERS, stall(node, b"")),
        fate("the beginning of HTTP/2", HEADERS, stall(node, b"PRI * HTTP/2.0\r\n")),
        fate("the first letter of POST", HEADERS, stall(node, b"P")),
        fate("a body that drips", BODY, drip(node, hold.as_bytes())),
        fate("a body that stops", BODY, stall(node, hold.as_bytes())),
        fate("chunks that stop", BODY, stall(node, chunked.as_bytes())),
        others_notice_nothing(node, &org),
        a_body_that_never_ends_does_not_stop_a_drain(),
    );
    let (h1, h2, s1, s2, s3, b1, b2, b3, served, ()) = fates;
    for said in [b1, b2, b3].map(Fate::said_at_last) {
        let answer: Answer = read_answer(&mut &said[..], false).await.expect("an answer");
        node.judge("POST", "/sandbox/v1/hold", &answer);
        assert_eq!(answer.refused(408, "body-too-slow"), "the request body did not arrive in time");
    }
    let patient = [h1, h2].map(Fate::said_at_last);
    for said in patient.into_iter().chain([s1, s2, s3].map(Fate::said)) {
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    }
    assert!(served > 20, "others were served all the time: {served}");
}

/// On a node of its own, which is told to stop meanwhile.
async fn a_body_that_never_ends_does_not_stop_a_drain() {
    let (mut world, org) = start().await;
    let hold = format!(
        "POST /sandbox/v1/hold HTTP/1.1\r\nHost: a\r\nX-API-Key: {}\r\nContent-Length: 9\r\n\r\n{{",
        org.key
    );
    let mut stuck = Line::to(world.node.address).await;
    stuck.write(hold.as_bytes()).await;
    // Once another request is answered, that one is begun.
    world.get("/v2.5/", &org.key).await.expect(200);
    world.node.signal("TERM");
    let (status, time) = wait::timed(world.node.ended(Duration::from_secs(10))).await;
    assert_eq!(status.code(), Some(0), "after {time:?}");
}

async fn others_notice_nothing(node: &Node, org: &Org) -> u32 {
    let rt = Rt::real();
    let mut count = 0;
    while rt.monotonic() < Duration::from_secs(5) {
        let get = Request::get("/v2.5/organisation").key(&org.key);
        let (answer, time) = wait::timed(node.send(&get)).await;
        answer.expect(200);
        assert!(time < Duration::from_secs(2), "{time:?}");
        count += 1;
        rt.sleep(Duration::from_millis(100)).await;
    }
    count
}
