//! One service with a few sandbox organisations on a file of its own, which outlives its crashes.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use app::idempotency::Request;
use app::organisations::Change;
use app::topup::{self, Charge};
use app::vault::Vault;
use app::{Actor, Answer, App, Balances, Caller, Database, Options, Ports, Rt, Store};
use domain::{Mode, OrgId, Timestamp};
use store::sql::Crash;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::far_side::{Died, FarSide, Writers};
use crate::receiver::Receiver;

const START_MS: i64 = 1_750_000_000_000;
/// More than any history has of anything.
pub(crate) const ALL: i64 = 1_000;

pub(crate) struct World {
    pub(crate) rt: Rt,
    pub(crate) far_side: Arc<FarSide>,
    pub(crate) receiver: Arc<Receiver>,
    pub(crate) orgs: Vec<OrgId>,
    folder: TempDir,
    ports: Ports,
    runtime: Runtime,
    api_keys: Vec<String>,
    life: Option<(App, Vec<Caller>)>,
}

impl World {
    /// A service on a copy of that database, with an organisation for each of the changes.
    pub(crate) fn new(seed: u64, database: &[u8], changes: &[Change]) -> Self {
        let rt = Rt::seeded(seed, Timestamp::from_ms(START_MS));
        let folder = folder();
        std::fs::write(folder.path().join("tern.db"), database).expect("a fresh database");
        // Always the same one, so that a database can be copied.
        let vault_rt = Rt::seeded(0, Timestamp::from_ms(START_MS));
        Vault::create(&folder.path().join("vault"), &vault_rt).expect("a vault");
        let (far_side, writers) = (Arc::new(FarSide::default()), Arc::new(Writers::default()));
        let receiver = Arc::new(Receiver::new(seed));
        let ports = Ports {
            test_payments: far_side.clone(),
            live_payments: None,
            live_network: None,
            live_sms: None,
            forms: writers.clone(),
            receivers: receiver.clone(),
            answers: writers,
            options: Options::default(),
        };
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let (orgs, api_keys, life) = (Vec::new(), Vec::new(), None);
        let mut world =
            Self { rt, far_side, receiver, orgs, folder, ports, runtime, api_keys, life };
        let app = world.open();
        for (change, n) in changes.iter().zip(1..) {
            let change = Change { name: Some(format!("Reseller {n}")), ..change.clone() };
            let added = app.add_organisation(Actor::Service, Mode::Sandbox, "USD", &change);
            let (detail, key) = world.wait(added).expect("an organisation");
            world.orgs.push(detail.organisation.id);
            world.api_keys.push(key.expose().clone());
        }
        world.begin_life(app);
        for n in 0..changes.len() {
            let stored = world.app().set_test_card(world.caller_of(n), Some("pays"));
            world.wait(stored).expect("a card");
        }
        world
    }

    pub(crate) fn app(&self) -> &App {
        &self.life.as_ref().expect("the service runs").0
    }

    /// The first organisation.
    pub(crate) fn org(&self) -> OrgId {
        self.orgs[0]
    }

    /// A key of the first organisation.
    pub(crate) fn caller(&self) -> &Caller {
        self.caller_of(0)
    }

    pub(crate) fn caller_of(&self, n: usize) -> &Caller {
        &self.life.as_ref().expect("the service runs").1[n]
    }

    /// The text of a key of an organisation.
    pub(crate) fn key_of(&self, n: usize) -> &str {
        &self.api_keys[n]
    }

    pub(crate) fn store(&self) -> &Store {
        self.app().store()
    }

    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// None if the process dies on the way.
    pub(crate) fn outlive<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(|| self.wait(future))) {
            Ok(value) => Some(value),
            Err(panic) if panic.is::<Died>() => None,
            Err(panic) => resume_unwind(panic),
        }
    }

    pub(crate) fn crash_at_next_commit(&self, crash: Crash) {
        self.store().crash_at_next_commit(crash);
    }

    /// What a start after a crash does.
    pub(crate) fn restart(&mut self) {
        self.life = None;
        self.far_side.die_when_asked(None);
        self.receiver.die_when_sent(None);
        let app = self.open();
        let released = app.store().write(OrgId::HOUSE, |tx| {
            store::jobs::release_all(tx)?;
            store::lanes::release_all(tx)
        });
        self.wait(released).expect("claimed work is released");
        self.begin_life(app);
    }

    fn open(&self) -> App {
        let database = Database::file(&self.folder.path().join("tern.db"));
        let vault = Vault::load(&self.folder.path().join("vault")).expect("the vault is there");
        let store = Store::open_inline(&database, &self.rt);
        let opened = App::open(store, self.rt.clone(), vault, self.ports.clone());
        self.wait(opened).expect("the service starts")
    }

    fn begin_life(&mut self, app: App) {
        let caller = |key: &String| {
            let caller = self.wait(app.caller(key, IpAddr::V4(Ipv4Addr::LOCALHOST)));
            caller.expect("the key is good")
        };
        let callers = self.api_keys.iter().map(caller).collect();
        self.life = Some((app, callers));
    }

    /// Ends the service; the database it leaves.
    pub(crate) fn into_database(mut self) -> Vec<u8> {
        self.life = None;
        std::fs::read(self.folder.path().join("tern.db")).expect("the file is there")
    }

    pub(crate) fn topup(&self, key: Option<&str>, amount: i64) -> Result<Answer, topup::Error> {
        let request = Request {
            key: key.map(str::to_owned),
            facts: format!("POST /organisation/balance {amount}").into_bytes(),
            form: "v2.5".to_owned(),
            deed: None,
        };
        self.wait(self.app().topup(self.caller(), amount, &request))
    }

    /// The first organisation's own time.
    pub(crate) fn clock(&self) -> Timestamp {
        self.clock_of(0)
    }

    pub(crate) fn clock_of(&self, n: usize) -> Timestamp {
        self.wait(self.app().clock(self.caller_of(n))).expect("the organisation has a clock")
    }

    /// Does all work that is due within so many seconds of an organisation's clock.
    pub(crate) async fn do_work(
        &self,
        n: usize,
        seconds: i64,
    ) -> Result<Timestamp, app::sandbox::Error> {
        let (app, caller) = (self.app(), self.caller_of(n));
        if seconds == 0 {
            return app.settle(caller).await;
        }
        app.advance_clock(caller, seconds).await
    }

    pub(crate) fn balances(&self) -> Balances {
        self.wait(self.app().organisation(self.org())).expect("the organisation is there").balances
    }

    pub(crate) fn charges(&self) -> Vec<Charge> {
        let found = self.wait(self.app().charges(self.org(), 0, ALL));
        found.expect("the database answers").expect("the organisation is there")
    }
}

/// In memory where the machine has such a folder: what is synced there costs nothing.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary folder")
}

/// An empty database of the newest schema, made once.
pub(crate) fn bare() -> &'static [u8] {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = folder();
        let path = folder.path().join("tern.db");
        let start = Timestamp::from_ms(START_MS);
        store::migrate::up(&Database::file(&path), start).expect("migrated");
        std::fs::read(&path).expect("the file is there")
    })
}
