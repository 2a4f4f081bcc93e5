//! A line to PostgreSQL that a test can cut at the worst moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use store::Rt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What happens to the next COMMIT that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Commit {
    /// It reaches the server; the answer never comes back.
    AnswerLost,
    /// It never reaches the server.
    Lost,
    /// The client is cut off; it reaches the server a little later.
    Late,
}

pub(crate) struct Line {
    pub(crate) port: u16,
    state: Arc<State>,
    cut: watch::Sender<u32>,
}

struct State {
    server_port: u16,
    closed: AtomicBool,
    closes_with_the_trap: AtomicBool,
    trap: std::sync::Mutex<Option<Commit>>,
    connections: AtomicU32,
}

impl Line {
    pub(crate) async fn to(server_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let (cut, _) = watch::channel(0);
        let state = Arc::new(State {
            server_port,
            closed: AtomicBool::new(false),
            closes_with_the_trap: AtomicBool::new(false),
            trap: std::sync::Mutex::new(None),
            connections: AtomicU32::new(0),
        });
        let (rt, accepting, cuts) = (Rt::real(), state.clone(), cut.clone());
        rt.clone().task(async move {
            while let Ok((client, _)) = listener.accept().await {
                if accepting.closed.load(Ordering::SeqCst) {
                    continue;
                }
                accepting.connections.fetch_add(1, Ordering::SeqCst);
                let (state, cuts) = (accepting.clone(), cuts.clone());
                rt.task(async move { pass(client, &state, &cuts).await });
            }
        });
        Self { port, state, cut }
    }

    /// Cuts every connection; new ones work.
    pub(crate) fn cut(&self) {
        self.cut.send_modify(|n| *n += 1);
    }

    /// Takes the server away, or brings it back.
    pub(crate) fn away(&self, away: bool) {
        self.state.closed.store(away, Ordering::SeqCst);
        if away {
            self.cut();
        }
    }

    /// Cuts the line at the next COMMIT.
    pub(crate) fn trap(&self, what: Commit) {
        *self.state.trap.lock().expect("not poisoned") = Some(what);
    }

    /// The same, and the server stays away after it.
    pub(crate) fn trap_and_stay_away(&self, what: Commit) {
        self.state.closes_with_the_trap.store(true, Ordering::SeqCst);
        self.trap(what);
    }

    pub(crate) fn connections(&self) -> u32 {
        self.state.connections.load(Ordering::SeqCst)
    }
}

async fn pass(mut client: TcpStream, state: &State, cuts: &watch::Sender<u32>) {
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", state.server_port)).await else { return };
    let mut cut = cuts.subscribe();
    cut.borrow_and_update();
    let (mut up, mut down) = (vec![0; 65536], vec![0; 65536]);
    loop {
        tokio::select! {
            _ = cut.changed() => return,
            read = client.read(&mut up) => {
                let Ok(n) = read else { return };
                if n == 0 { return }
                let sprung = is_commit(&up[..n])
                    .then(|| state.trap.lock().expect("not poisoned").take())
                    .flatten();
                if let Some(what) = sprung {
                    if state.closes_with_the_trap.load(Ordering::SeqCst) {
                        state.closed.store(true, Ordering::SeqCst);
                        cuts.send_modify(|n| *n += 1);
                    }
                    if what == Commit::Late {
                        drop(client);
                        Rt::real().sleep(Duration::from_millis(600)).await;
                        let _sent = server.write_all(&up[..n]).await;
                        // The server must see the line open until it is done.
                        Rt::real().sleep(Duration::from_secs(3)).await;
                        return;
                    }
                    if what == Commit::AnswerLost {
                        let _sent = server.write_all(&up[..n]).await;
                        // Long enough for the server to be done; the proof needs no timing.
                        Rt::real().sleep(Duration::from_millis(100)).await;
                    }
                    return;
                }
                if server.write_all(&up[..n]).await.is_err() { return }
            }
            read = server.read(&mut down) => {
                let Ok(n) = read else { return };
                if n == 0 || client.write_all(&down[..n]).await.is_err() { return }
            }
        }
    }
}

/// The COMMIT of a writer: a simple query of exactly that word.
fn is_commit(bytes: &[u8]) -> bool {
    bytes.windows(7).any(|window| window == b"COMMIT\0")
}
