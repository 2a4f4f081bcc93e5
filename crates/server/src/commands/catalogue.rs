//! `tern catalogue`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use api::import;
use app::catalogue::{Counts, Draft, Fault, ImportError, Report, Step};
use app::{Actor, App};
use clap::{Args, Subcommand};
use domain::limits;
use serde_json::json;

use crate::config::Config;
use crate::output::{Ink, grouped, note};
use crate::{opened, output};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Bring in countries, networks, groups, bundles and prices: all of it or nothing.
    Import(Files),
    /// Say what bringing files in would change. Changes nothing.
    Preview(Files),
}

/// The files of one catalogue.
#[derive(Args)]
pub(crate) struct Files {
    /// JSON, or CSV of one kind of rows each; rows may refer to those of other files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Stop selling every bundle that the files do not mention.
    #[arg(long)]
    withdraw_others: bool,
}

/// How many faults and how many changes are shown.
const FAULTS_SHOWN: usize = 50;
const EXAMPLES_SHOWN: usize = 20;

pub(crate) async fn run(command: Command, config: &Config, json: bool) -> Result<ExitCode, String> {
    let (Files { files, withdraw_others }, step) = match command {
        Command::Import(files) => (files, Step::Apply),
        Command::Preview(files) => (files, Step::Preview),
    };
    let app = opened::open_existing(config).await?;
    let bytes = files.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let draft = import::catalogue(&bytes);
    drop(bytes);
    let mut draft = match draft {
        Ok(draft) => draft,
        Err(faults) => return refused(faults, json),
    };
    draft.withdraw_others = withdraw_others;
    let count = match files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    note(&format!("read     {count}, {} rows", grouped(draft.rows())));
    match bring(&app, draft, step).await {
        Ok(report) if json => output::json(&import::outcome(&report)),
        Ok(report) => print(&report),
        Err(ImportError::Faults(faults)) => return refused(faults, json),
        Err(ImportError::Store(error)) => {
            return Err(format!(
                "nothing was changed: {error}\n  next: the same command again; `tern doctor` says \
                 what is wrong with the database"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A file with its name. What can be held in memory has a bound.
fn read(path: &Path) -> Result<(String, Vec<u8>), String> {
    let name = path.display().to_string();
    let unread = |error| format!("{name}: {error}\n  next: check the path");
    let file = File::open(path).map_err(unread)?;
    let mut bytes = Vec::new();
    let most = limits::CATALOGUE_BYTES_MAX;
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() > most {
        let megabytes = most / 1_000_000;
        return Err(format!(
            "{name}: a file can have at most {megabytes} MB\n  next: cut it in two and name both"
        ));
    }
    Ok((name, bytes))
}

/// Checked first, so that whoever waits sees how far it is.
async fn bring(app: &App, draft: Draft, step: Step) -> Result<Report, ImportError> {
    let actor = Actor::CommandLine;
    let preview = app.import_catalogue(actor, draft.clone(), Step::Preview).await?;
    note(&format!("checked  no faults, {} to make", changes(&preview)));
    if step == Step::Preview {
        return Ok(preview);
    }
    let report = app.import_catalogue(actor, draft, Step::Apply).await?;
    note("written");
    Ok(report)
}

fn changes(report: &Report) -> String {
    let of_part = |(_, counts): &(_, Counts)| counts.added + counts.changed + counts.withdrawn;
    match report.parts.iter().map(of_part).sum() {
        1 => "1 change".to_owned(),
        count => format!("{} changes", grouped(count)),
    }
}

fn print(report: &Report) {
    let numbers = report.parts.map(|(_, counts)| {
        let Counts { added, changed, unchanged, withdrawn } = counts;
        [added, changed, unchanged, withdrawn].map(grouped)
    });
    // The heads are as wide as numbers get, and numbers are read from their ends.
    let heads = ["     NEW", " CHANGED", "    SAME", "    GONE"];
    let rows: Vec<_> = report
        .parts
        .iter()
        .zip(numbers)
        .map(|((name, _), cells)| {
            let cells = cells.map(|cell| format!("{cell:>8}"));
            std::iter::once((*name).to_owned()).chain(cells).collect()
        })
        .collect();
    let [new, changed, same, gone] = heads;
    output::table(&["PART", new, changed, same, gone], &rows);
    if !report.examples.is_empty() {
        output::line(&format!("\n{}", Ink::of_stdout().bold("The first changes")));
        for example in report.examples.iter().take(EXAMPLES_SHOWN) {
            output::line(&format!("  {example}"));
        }
    }
    output::line("");
    match (report.is_applied, changes(report).as_str()) {
        (_, "0 changes") => output::line("Nothing changes: all is as the files say."),
        (true, changes) => output::line(&format!("Done: {changes}.")),
        (false, changes) => output::line(&format!(
            "Nothing was changed: this is a preview of {changes}.\n  next: `tern catalogue import` \
             with the same files and flags makes them"
        )),
    }
}

fn refused(faults: Vec<Fault>, json: bool) -> Result<ExitCode, String> {
    let listed = import::faults(&faults);
    if json {
        let message = ImportError::Faults(faults).to_string();
        output::json(&json!({ "message": message, "faults": listed }));
        return Ok(ExitCode::FAILURE);
    }
    for Fault { at, why } in faults.iter().take(FAULTS_SHOWN) {
        note(&format!("{at}: {why}"));
    }
    if faults.len() > FAULTS_SHOWN {
        note(&format!("… and {} more", grouped(faults.len() - FAULTS_SHOWN)));
    }
    let count = match faults.len() {
        1 => "1 fault".to_owned(),
        // Nobody counts further.
        limits::IMPORT_FAULTS_MAX => format!("{} faults or more", grouped(faults.len())),
        count => format!("{} faults", grouped(count)),
    };
    Err(format!(
        "nothing was changed: {count}\n  next: mend the places above, then the same command again"
    ))
}
