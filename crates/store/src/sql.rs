//! The seam: one `Store` over two databases. Only the files of this folder name a driver.
//!
//! Inside a transaction everything is a plain function: [`Store::write`] and [`Store::read`] take a
//! synchronous closure, so nobody can wait for the world while holding a row lock, and a caller who
//! hangs up changes nothing.

mod dialect;
mod error;
mod link;
mod postgres;
mod postgres_url;
mod queue;
mod reader;
mod rows;
mod select;
mod sqlite;
mod stamps;
mod stats;
mod tx;
mod value;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use domain::{OrgId, hex};
use tokio::sync::oneshot;

pub use dialect::{Dialect, parameters};
pub use error::StoreError;
pub use select::Select;
pub use stats::Stats;
pub use tx::Tx;
pub use value::{Row, Value};
pub use writer::Crash;

use self::error::Fault;
use self::queue::{Job, Queue, Refusal, Settled, Verdict};
use self::reader::{Read, ReadQueue, Reader, Turn};
use self::stamps::Stamps;
use self::tx::Conn;
use self::writer::Writer;
use crate::Rt;
use crate::rt::{self, Thread};

/// Readers of one node. They mostly wait for the disk or the line, so a few more than cores.
const READERS: usize = 4;
/// Writers of one node on PostgreSQL. An organisation always goes to the same one, so that a busy
/// organisation's row locks are never fought over within a node.
const POSTGRES_WRITERS: usize = 2;

/// Which database, parsed once.
#[derive(Clone)]
pub struct Database(Place);

#[derive(Clone)]
enum Place {
    File(PathBuf),
    Server(Box<postgres_url::Target>),
}

impl Database {
    /// A `postgres://…` URL, or the path of a SQLite file.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return postgres_url::Target::parse(text).map(|t| Self(Place::Server(Box::new(t))));
        }
        if text.is_empty() || text.contains("://") {
            return Err("a database is a postgres:// URL or the path of a SQLite file".to_owned());
        }
        Ok(Self::file(Path::new(text)))
    }

    /// A SQLite file.
    pub fn file(path: &Path) -> Self {
        Self(Place::File(path.to_owned()))
    }

    /// Which kind it is.
    pub fn dialect(&self) -> Dialect {
        match self.0 {
            Place::File(_) => Dialect::Sqlite,
            Place::Server(_) => Dialect::Postgres,
        }
    }

    /// The path of a SQLite file.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Place::File(path) => Some(path),
            Place::Server(_) => None,
        }
    }

    fn connect(&self, access: sqlite::Access) -> Result<Conn, Fault> {
        match &self.0 {
            Place::File(path) => {
                sqlite::Conn::open(path, access).map(|c| Conn::Sqlite(Box::new(c)))
            }
            Place::Server(target) => {
                postgres::Conn::open(target).map(|c| Conn::Postgres(Box::new(c)))
            }
        }
    }

    /// Runs `work` on a connection of its own that changes nothing. Blocks.
    pub(crate) fn look<T: Send>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        rt::on_a_thread(|| {
            let mut conn = self.connect(sqlite::Access::Look).map_err(|fault| fault.error)?;
            work(&mut Tx::new(&mut conn))
        })
    }

    /// Runs `work` on a connection of its own, outside the queues and for as long as it takes; for
    /// migrations. Blocks.
    pub(crate) fn alone<T: Send>(
        &self,
        begin: &str,
        work: impl FnOnce(&mut Alone<'_>) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        // A thread of its own, since a connection drives its socket itself and may not do so on a
        // thread that drives tasks.
        rt::on_a_thread(|| {
            let mut conn = self.connect(sqlite::Access::Write).map_err(|fault| fault.error)?;
            if let Conn::Postgres(conn) = &mut conn {
                conn.be_patient().map_err(|fault| fault.error)?;
            }
            conn.simple(begin).map_err(|fault| fault.error)?;
            match work(&mut Alone(&mut conn)) {
                Ok(value) => conn.simple("COMMIT").map(|()| value).map_err(|fault| fault.error),
                Err(error) => {
                    conn.abandon();
                    Err(error)
                }
            }
        })
    }
}

/// A connection that migrations have to themselves: it can also run scripts.
pub(crate) struct Alone<'c>(&'c mut Conn);

impl Alone<'_> {
    pub(crate) fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.0.simple(sql).map_err(|fault| fault.error)
    }

    pub(crate) fn tx(&mut self) -> Tx<'_> {
        Tx::new(self.0)
    }
}

/// The store; cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    database: Database,
    stats: Arc<Stats>,
    stamps: Arc<Stamps>,
    run: Run,
}

enum Run {
    Threads {
        writers: Vec<Arc<Queue>>,
        readers: Arc<ReadQueue>,
        threads: Mutex<Vec<Thread>>,
    },
    /// No threads: every call runs where it is made, so that a seeded run repeats itself.
    Inline(Mutex<(Writer, Reader)>),
}

/// The last handle is gone: the threads finish what waits and end, and with them the connections.
impl Drop for Inner {
    fn drop(&mut self) {
        if let Run::Threads { writers, readers, .. } = &self.run {
            for queue in writers {
                queue.close();
            }
            readers.close();
        }
    }
}

impl Store {
    /// Starts the writers and readers. They connect when first needed and again when a connection
    /// is lost.
    pub fn open(database: &Database, rt: &Rt) -> Self {
        let (stats, stamps) = (Arc::new(Stats::default()), Arc::new(Stamps::default()));
        let incarnation = hex(&rt.random::<8>());
        let mut threads = Vec::new();
        let count = match database.dialect() {
            Dialect::Sqlite => 1,
            Dialect::Postgres => POSTGRES_WRITERS,
        };
        let writers: Vec<_> = (0..count).map(|_| Arc::new(Queue::default())).collect();
        for (at, queue) in writers.iter().cloned().enumerate() {
            let name = format!("{incarnation}-{at}");
            let shared = (stats.clone(), stamps.clone());
            let writer = Writer::new(database.clone(), rt.clone(), shared, name);
            threads.push(rt.vital_thread(&format!("writer-{at}"), move || writer.serve(&queue)));
        }
        let readers = Arc::new(ReadQueue::default());
        for at in 0..READERS {
            let reader = Reader::new(database.clone(), rt.clone(), stats.clone());
            let queue = readers.clone();
            threads.push(rt.vital_thread(&format!("reader-{at}"), move || reader.serve(&queue)));
        }
        let run = Run::Threads { writers, readers, threads: Mutex::new(threads) };
        Self(Arc::new(Inner { database: database.clone(), stats, stamps, run }))
    }

    /// A store on SQLite that starts no thread.
    pub fn open_inline(database: &Database, rt: &Rt) -> Self {
        assert_eq!(database.dialect(), Dialect::Sqlite, "only SQLite runs where it is called");
        let (stats, stamps) = (Arc::new(Stats::default()), Arc::new(Stamps::default()));
        let name = hex(&rt.random::<8>());
        let shared = (stats.clone(), stamps.clone());
        let writer = Writer::new(database.clone(), rt.clone(), shared, name);
        let reader = Reader::new(database.clone(), rt.clone(), stats.clone());
        let run = Run::Inline(Mutex::new((writer, reader)));
        Self(Arc::new(Inner { database: database.clone(), stats, stamps, run }))
    }

    /// Plays a crash at the next commit of an inline store: whoever waits for it hears an error.
    pub fn crash_at_next_commit(&self, crash: Crash) {
        if let Run::Inline(both) = &self.0.run {
            both.lock().unwrap_or_else(PoisonError::into_inner).0.crash = Some(crash);
        }
    }

    /// Which database this is.
    pub fn database(&self) -> &Database {
        &self.0.database
    }

    /// Its counters.
    pub fn stats(&self) -> &Stats {
        &self.0.stats
    }

    /// A number that moves with every write of an organisation before its caller hears of it: what
    /// was read since holds for as long as it stands. None where other processes write too.
    pub fn stamp(&self, org: OrgId) -> Option<u64> {
        match self.0.database.dialect() {
            Dialect::Sqlite => Some(self.0.stamps.of(org)),
            Dialect::Postgres => None,
        }
    }

    /// Another process has written, as a command beside the service does: every such number moves.
    pub fn written_elsewhere(&self) {
        self.0.stamps.moved_elsewhere();
    }

    /// Writes that wait now.
    pub fn waiting(&self) -> usize {
        match &self.0.run {
            Run::Threads { writers, .. } => writers.iter().map(|queue| queue.len()).sum(),
            Run::Inline(_) => 0,
        }
    }

    /// Runs `work` as one transaction of `org`, whose head row is locked first, together with other
    /// writes that wait. It may be run several times, so ids, times and randomness are captured,
    /// not made inside; an `Err` undoes it. Answered after the commit is on disk. After an error of
    /// the store (a unique key that is taken) the caller gets that error, whatever the closure made
    /// of it.
    pub async fn write<T, E>(
        &self,
        org: OrgId,
        work: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let slot = Arc::new(Mutex::new(None));
        let filled = slot.clone();
        let (answer, answered) = oneshot::channel();
        let job = Job {
            org,
            run: Box::new(move |tx| {
                let outcome = work(tx);
                let verdict = if outcome.is_ok() { Verdict::Keep } else { Verdict::Undo };
                *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                verdict
            }),
            settle: settle(slot, answer),
        };
        match &self.0.run {
            Run::Threads { writers, .. } => {
                let at = usize::try_from(org.spread() % writers.len() as u64).unwrap_or(0);
                if let Err(Refusal { job, error }) = writers[at].push(job) {
                    (job.settle)(Settled::Failed(error));
                }
            }
            Run::Inline(both) => {
                both.lock().unwrap_or_else(PoisonError::into_inner).0.group(vec![job]);
            }
        }
        received(answered).await
    }

    /// Runs `work` on one consistent view of the data. It may be run twice.
    pub async fn read<T, E>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.read_in_turn(Turn::Last, work).await
    }

    /// A read that goes before all others: for what everything else depends on.
    pub async fn read_first<T, E>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.read_in_turn(Turn::First, work).await
    }

    async fn read_in_turn<T, E>(
        &self,
        turn: Turn,
        work: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let slot = Arc::new(Mutex::new(None));
        let filled = slot.clone();
        let (answer, answered) = oneshot::channel();
        let read = Read {
            run: Box::new(move |tx| {
                let outcome = work(tx);
                *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            }),
            settle: settle(slot, answer),
        };
        match &self.0.run {
            Run::Threads { readers, .. } => {
                if let Err((read, error)) = readers.push(read, turn) {
                    (read.settle)(Settled::Failed(error));
                }
            }
            Run::Inline(both) => {
                both.lock().unwrap_or_else(PoisonError::into_inner).1.answer(read);
            }
        }
        received(answered).await
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|tx| tx.one("SELECT 1", &[]).map(drop)).await
    }

    /// Takes no more work, finishes what waits, and ends the threads.
    pub async fn close(&self) {
        let Run::Threads { writers, readers, threads } = &self.0.run else { return };
        for queue in writers {
            queue.close();
        }
        readers.close();
        let threads = std::mem::take(&mut *threads.lock().unwrap_or_else(PoisonError::into_inner));
        // Joining blocks; a blocking thread keeps the runtime free meanwhile.
        let joined = tokio::task::spawn_blocking(|| threads.into_iter().for_each(Thread::join));
        let _ended = joined.await;
    }
}

/// Carries what the last run left in `slot` to the caller, or the reason why it does not count.
fn settle<T, E>(
    slot: Arc<Mutex<Option<Result<T, E>>>>,
    answer: oneshot::Sender<Result<T, E>>,
) -> Box<dyn FnOnce(Settled) + Send>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    Box::new(move |settled| {
        let outcome = match settled {
            Settled::Decided => slot
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .expect("what is decided has run"),
            Settled::Failed(error) => Err(E::from(error)),
        };
        // The caller may have hung up; the effect stands.
        let _hung_up = answer.send(outcome);
    })
}

async fn received<T, E: From<StoreError>>(
    answered: oneshot::Receiver<Result<T, E>>,
) -> Result<T, E> {
    let gone = || E::from(StoreError::Unavailable("shutting down".to_owned()));
    answered.await.unwrap_or_else(|_| Err(gone()))
}
