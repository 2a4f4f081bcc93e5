//! One service with one sandbox organisation on a file of its own, which outlives its crashes.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use app::idempotency::Request;
use app::organisations::Change;
use app::topup::{self, Charge};
use app::vault::Vault;
use app::{Actor, Answer, App, Balances, Caller, Database, Ports, Rt, Store};
use domain::{Mode, OrgId, Timestamp};
use store::sql::Crash;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::far_side::{Died, FarSide, Writers};

const START_MS: i64 = 1_750_000_000_000;
/// More than any history has of anything.
pub(crate) const ALL: i64 = 1_000;

pub(crate) struct World {
    pub(crate) rt: Rt,
    pub(crate) far_side: Arc<FarSide>,
    pub(crate) org: OrgId,
    folder: TempDir,
    ports: Ports,
    runtime: Runtime,
    api_key: String,
    life: Option<(App, Caller)>,
}

impl World {
    pub(crate) fn new(seed: u64, change: Change) -> Self {
        let rt = Rt::seeded(seed, Timestamp::from_ms(START_MS));
        let folder = folder();
        std::fs::write(folder.path().join("tern.db"), migrated()).expect("a fresh database");
        Vault::create(&folder.path().join("vault"), &rt).expect("a vault");
        let (far_side, writers) = (Arc::new(FarSide::default()), Arc::new(Writers::default()));
        let ports = Ports {
            test_payments: far_side.clone(),
            live_payments: None,
            forms: writers.clone(),
            answers: writers,
        };
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let (api_key, org, life) = (String::new(), OrgId::HOUSE, None);
        let mut world = Self { rt, far_side, org, folder, ports, runtime, api_key, life };
        let app = world.open();
        let change = Change { name: Some("Reseller".to_owned()), ..change };
        let added = app.add_organisation(Actor::Service, Mode::Sandbox, "USD", &change);
        let (detail, key) = world.wait(added).expect("an organisation");
        world.org = detail.organisation.id;
        world.api_key.clone_from(key.expose());
        world.begin_life(app);
        let stored = world.app().set_test_card(world.caller(), Some("pays"));
        world.wait(stored).expect("a card");
        world
    }

    pub(crate) fn app(&self) -> &App {
        &self.life.as_ref().expect("the service runs").0
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.life.as_ref().expect("the service runs").1
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
        let app = self.open();
        let released = app.store().write(OrgId::HOUSE, store::jobs::release_all);
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
        let caller = self.wait(app.caller(&self.api_key, IpAddr::V4(Ipv4Addr::LOCALHOST)));
        self.life = Some((app, caller.expect("the key is good")));
    }

    pub(crate) fn topup(&self, key: Option<&str>, amount: i64) -> Result<Answer, topup::Error> {
        let request = Request {
            key: key.map(str::to_owned),
            facts: format!("POST /organisation/balance {amount}").into_bytes(),
            form: "v2.5".to_owned(),
        };
        self.wait(self.app().topup(self.caller(), amount, &request))
    }

    /// The organisation's own time.
    pub(crate) fn clock(&self) -> Timestamp {
        self.wait(self.app().clock(self.caller())).expect("the organisation has a clock")
    }

    pub(crate) fn balances(&self) -> Balances {
        self.wait(self.app().organisation(self.org)).expect("the organisation is there").balances
    }

    pub(crate) fn charges(&self) -> Vec<Charge> {
        let found = self.wait(self.app().charges(self.org, 0, ALL)).expect("the database answers");
        found.expect("the organisation is there")
    }
}

/// In memory where the machine has such a folder: what is synced there costs nothing.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary folder")
}

/// The bytes of an empty database of the newest schema, made once.
fn migrated() -> &'static [u8] {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = folder();
        let path = folder.path().join("tern.db");
        let start = Timestamp::from_ms(START_MS);
        store::migrate::up(&Database::file(&path), start).expect("migrated");
        std::fs::read(&path).expect("the file is there")
    })
}
