//! A line to the database that a test can cut.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use store::Rt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Passes everything on to a server until it is told that the server is away.
pub(crate) struct Line {
    port: u16,
    away: Arc<AtomicBool>,
    cut: watch::Sender<u32>,
    frozen: watch::Sender<bool>,
}

impl Line {
    /// A line to the server of that URL, which names a host and a port.
    pub(crate) async fn to(url: &str) -> Self {
        let server_port = port_of(url);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let (cut, _) = watch::channel(0);
        let away = Arc::new(AtomicBool::new(false));
        let (frozen, _) = watch::channel(false);
        let (rt, is_away, cuts, frost) = (Rt::real(), away.clone(), cut.clone(), frozen.clone());
        rt.clone().task(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !is_away.load(Ordering::SeqCst) {
                    rt.task(pass(client, server_port, cuts.subscribe(), frost.subscribe()));
                }
            }
        });
        Self { port, away, cut, frozen }
    }

    /// The same URL by way of this line.
    pub(crate) fn redirected(&self, url: &str) -> String {
        url.replacen(&format!(":{}/", port_of(url)), &format!(":{}/", self.port), 1)
    }

    /// Takes the server away, or brings it back.
    pub(crate) fn away(&self, away: bool) {
        self.away.store(away, Ordering::SeqCst);
        if away {
            self.cut.send_modify(|cuts| *cuts += 1);
        }
    }

    /// Keeps the line but lets nothing through, as when a cable is pulled.
    pub(crate) fn freeze(&self, frozen: bool) {
        self.frozen.send_replace(frozen);
    }
}

fn port_of(url: &str) -> u16 {
    let authority = url.split("://").nth(1).and_then(|rest| rest.split('/').next());
    let port = authority.and_then(|authority| authority.rsplit(':').next());
    port.and_then(|port| port.parse().ok()).expect("the URL of the test server names a port")
}

async fn pass(
    mut client: TcpStream,
    server_port: u16,
    mut cuts: watch::Receiver<u32>,
    mut frost: watch::Receiver<bool>,
) {
    cuts.borrow_and_update();
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", server_port)).await else { return };
    let (mut up, mut down) = (vec![0; 65536], vec![0; 65536]);
    loop {
        let is_frozen = *frost.borrow_and_update();
        let passed = tokio::select! {
            _ = cuts.changed() => return,
            changed = frost.changed() => changed.ok(),
            read = client.read(&mut up), if !is_frozen => forward(read, &up, &mut server).await,
            read = server.read(&mut down), if !is_frozen => forward(read, &down, &mut client).await,
        };
        if passed.is_none() {
            return;
        }
    }
}

/// Hands on what was read; none at the end of the line.
async fn forward(read: io::Result<usize>, bytes: &[u8], to: &mut TcpStream) -> Option<()> {
    let count = read.ok().filter(|count| *count > 0)?;
    to.write_all(&bytes[..count]).await.ok()
}
