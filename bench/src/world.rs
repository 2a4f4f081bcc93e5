//! A service with many eSIMs, on either database: organisations and catalogue made by the program,
//! eSIMs and their lots written straight into the tables.

use std::path::{Path, PathBuf};

use domain::{OrgId, demo};
use serde_json::{Value, json};
use store::{Database, Rt, Store, StoreError, args};

use crate::callers;
use crate::peer::part;

pub(crate) const BUNDLE: &str = "esim_1GB_7D_PT_V2";
/// The first of the eSIMs whose numbers are counted up, so that a script can name them.
pub(crate) const FIRST: i64 = 8_943_200_000_000_000_000;
const ROWS_AT_ONCE: i64 = 50_000;

/// A data folder, its database, and who is in it.
pub(crate) struct World {
    pub(crate) data: PathBuf,
    pub(crate) database: Database,
    /// Organisations with their keys.
    pub(crate) orgs: Vec<(OrgId, String)>,
}

impl World {
    /// A service with so many organisations; the address of the database as the program takes it.
    pub(crate) fn new(data: &Path, address: &str, organisations: usize) -> Self {
        std::fs::create_dir_all(data).expect("a folder");
        let database = match address {
            "" => Database::file(&data.join("tern.db")),
            url => Database::parse(url).expect("an address"),
        };
        let mut world = Self { data: data.to_owned(), database, orgs: Vec::new() };
        for n in 0..organisations {
            let name = format!("Bench {n}");
            let made =
                world.tern(address, &["org", "add", &name, "--currency", "USD", "--sandbox"]);
            let made: Value = serde_json::from_str(&made).expect("JSON");
            let text = |name: &str| made[name].as_str().expect("a text").to_owned();
            world.orgs.push((OrgId::parse(&text("id")).expect("an id"), text("apiKey")));
        }
        let catalogue = data.join("catalogue.json");
        std::fs::write(&catalogue, catalogue_text()).expect("written");
        let file = catalogue.to_str().expect("a path");
        world.tern(address, &["catalogue", "import", file]);
        world
    }

    /// Runs a command of the program and says what it printed.
    pub(crate) fn tern(&self, address: &str, command: &[&str]) -> String {
        let mut program = part("tern");
        program.args(command).arg("--json").arg("--data").arg(&self.data);
        if !address.is_empty() {
            program.args(["--database", address]);
        }
        let output = program.output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// Brings in so many profiles with real secrets and gives them to the first organisation; says
    /// their numbers.
    pub(crate) fn import(&self, count: usize) -> Vec<String> {
        let file = self.data.join("stock.csv");
        crate::commerce::memory::write_stock(&file, count);
        self.tern("", &["stock", "import", "--sandbox", file.to_str().expect("a path")]);
        std::fs::remove_file(&file).expect("it was there");
        let org = self.orgs[0].0;
        self.write(move |tx| {
            tx.exec(
                "UPDATE esims SET org_id = $1, assigned_at = 1, profile_name = 'Profile 1' \
                 WHERE org_id IS NULL",
                args![org],
            )
        });
        self.count();
        demo::stock(count).into_iter().map(|line| line.iccid).collect()
    }

    /// Adds eSIMs with numbers that count up, so many for each organisation in its turn.
    pub(crate) fn number(&self, each: i64) {
        const ADD: &str = "WITH RECURSIVE n (e) AS (SELECT CAST($1 AS BIGINT) UNION ALL \
             SELECT e + 1 FROM n WHERE e + 1 < CAST($2 AS BIGINT)) \
             INSERT INTO esims (iccid, mode, profile_name, smdp_address, sealed, vault_key, \
             profile_status, imported_at, org_id, assigned_at) \
             SELECT CAST(e AS TEXT), 'sandbox', 'Profile 1', 'rsp.example', $3, '1', 'Released', \
             1, $4, 1 FROM n";
        for ((org, _), place) in self.orgs.iter().zip(0_i64..) {
            let (org, mut from, end) = (*org, place * each, (place + 1) * each);
            while from < end {
                let to = (from + ROWS_AT_ONCE).min(end);
                self.write(move |tx| {
                    tx.exec(ADD, args![FIRST + from, FIRST + to, vec![7_u8; 90], org])
                });
                from = to;
            }
        }
        self.count();
    }

    /// A lot for each organisation that never runs out.
    pub(crate) fn stock_up(&self) {
        const LOT: &str = "INSERT INTO lots (org_id, bundle, price, test_credit, total, \
             remaining, refunded, bought_at, expires_at) \
             VALUES ($1, $2, 100, 0, $3, $3, 0, 1, 9000000000000)";
        for (org, _) in self.orgs.clone() {
            self.write(move |tx| tx.exec(LOT, args![org, BUNDLE, 1_000_000_000_000_i64]));
        }
        self.write(|tx| tx.exec("ANALYZE", args![]));
    }

    fn count(&self) {
        self.write(|tx| {
            tx.exec(
                "UPDATE org_heads SET esims = \
                 (SELECT COUNT(*) FROM esims WHERE esims.org_id = org_heads.org_id)",
                args![],
            )
        });
    }

    pub(crate) fn write(
        &self,
        work: impl Fn(&mut store::Tx<'_>) -> Result<u64, StoreError> + Send + 'static,
    ) {
        let runtime = callers::runtime();
        runtime.block_on(async {
            let store = Store::open(&self.database, &Rt::real());
            store.write(OrgId::HOUSE, move |tx| work(tx)).await.expect("written");
            store.close().await;
        });
    }
}

fn catalogue_text() -> String {
    json!({
        "countries": [{ "iso": "PT", "name": "Portugal", "region": "Europe" }],
        "groups": [{ "name": "Standard", "desc": "A fixed amount of data" }],
        "bundles": [{
            "name": BUNDLE, "description": "eSIM, 1GB, 7 Days, Portugal, V2",
            "countries": ["PT"], "dataAmount": 1000, "duration": 7, "groups": ["Standard"],
            "prices": { "USD": 100 },
        }],
    })
    .to_string()
}
