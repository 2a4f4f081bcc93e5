//! From settings to a service that is ready to work: folder, vault, schema, store.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;
use std::time::Duration;

use adapters::callbacks::HttpReceivers;
use adapters::payments::TestProcessor;
use app::vault::Vault;
use app::{App, Options, Ports};
use domain::ports::payments::{Answer, Outcome};
use store::{Rt, Store, migrate};

use crate::config::Config;

/// Opens a service that has been started before. Makes and changes nothing.
pub(crate) async fn open_existing(config: &Config) -> Result<App, String> {
    let database = config.database()?;
    let schema = migrate::current(&database).map_err(|error| error.to_string())?;
    match schema {
        None => Err("there is no database here yet\n  next: check --data and --database, or make \
                     one with `tern serve` or `tern org add`"
            .to_owned()),
        Some(schema) if schema != migrate::newest() => Err(format!(
            "the database has schema {schema}, this program works with {}\n  next: start \
             `tern serve` of this version once, or use the version that serves",
            migrate::newest()
        )),
        Some(_) => open(config).await,
    }
}

/// Opens the service, making what a first start needs.
pub(crate) async fn open(config: &Config) -> Result<App, String> {
    let rt = Rt::real();
    let database = config.database()?;
    make_folder(config)?;
    let vault = vault(config, &database, &rt)?;
    migrate::up(&database, rt.now()).map_err(|error| {
        format!("{error}\n  next: check the database setting, then `tern doctor`")
    })?;
    let store = Store::open(&database, &rt);
    App::open(store, rt, vault, ports(config)).await.map_err(|error| error.to_string())
}

/// The outside world as this installation has it. No card adapter exists yet, so live organisations
/// have no stored card.
fn ports(config: &Config) -> Ports {
    let late: fn(Duration) -> Answer<'static> = |time| {
        Box::pin(async move {
            Rt::real().sleep(time).await;
            Outcome::Paid
        })
    };
    Ports {
        test_payments: Arc::new(TestProcessor { sleep: late }),
        live_payments: None,
        live_network: None,
        live_sms: None,
        forms: Arc::new(adapters::callbacks::Json),
        receivers: Arc::new(HttpReceivers::new(config.callbacks_inside)),
        answers: Arc::new(crate::answers::InForms),
        options: Options {
            inside_callbacks: config.callbacks_inside,
            keep_deliveries_days: config.keep_deliveries_days.into(),
            keep_records_days: config.keep_records_days.into(),
        },
    }
}

/// Only its owner may look inside: the database and the vault file are there.
fn make_folder(config: &Config) -> Result<(), String> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&config.data).map_err(|error| {
        let shown = config.data.display();
        format!(
            "the data folder {shown} cannot be made: {error}\n  next: choose another with --data"
        )
    })
}

/// The vault file. A new one is made only for a database that is empty: beside an old database a
/// missing file is a mistake, and a new one would lock every key out.
fn vault(config: &Config, database: &store::Database, rt: &Rt) -> Result<Vault, String> {
    let path = config.vault();
    if !path.exists() {
        let schema = migrate::current(database).map_err(|error| error.to_string())?;
        if schema.is_none() {
            return Vault::create(&path, rt).map_err(|error| error.to_string());
        }
    }
    Vault::load(&path).map_err(|error| error.to_string())
}
