//! `tern verify`.

use std::process::ExitCode;

use serde_json::json;
use store::{Rt, Store, migrate};

use crate::config::Config;
use crate::output;
use crate::output::Ink;

/// Looks at everything and changes nothing; needs neither the vault file nor a running service.
pub(crate) async fn run(config: &Config, json: bool) -> Result<ExitCode, String> {
    let database = config.database()?;
    let schema = migrate::current(&database).map_err(|error| error.to_string())?;
    if schema != Some(migrate::newest()) {
        return Err("there is no database of this version here\n  next: check --data and \
                    --database, or start `tern serve` once"
            .to_owned());
    }
    let store = Store::open(&database, &Rt::real());
    let report = app::verify::verify(&store).await.map_err(|error| error.to_string())?;
    let ok = report.faults.is_empty();
    if json {
        output::json(&json!({ "ok": ok, "entries": report.entries, "faults": report.faults }));
    } else {
        let ink = Ink::of_stdout();
        for fault in &report.faults {
            output::line(&format!("{}  {fault}", ink.bad("wrong")));
        }
        let verdict = if ok { ink.good("good") } else { ink.bad("bad ") };
        let faults = report.faults.len();
        output::line(&format!("{verdict}  {} ledger entries, {faults} faults", report.entries));
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
