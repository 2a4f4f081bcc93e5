//! `tern usage`.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use api::import::usage::{Form, Judged, Records};
use app::App;
use app::usage::Verdict;
use clap::Subcommand;
use serde_json::json;

use super::bulk::{self, Counted, Progress, Rejected, Tally};
use crate::config::Config;
use crate::{opened, output};

/// Records that are taken in together.
const STEP: usize = 1_000;
/// What records are called that are in now.
const TAKEN: &str = "accepted";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Bring in records of networks. Records that are in already do no harm.
    Import {
        /// CSV with the columns id, iccid, time and bytes, and as wanted country, network and
        /// source; or CloudEvents as JSON, one on each line or all in one list; - for standard
        /// input.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Who made the records that do not say it themselves [default for CSV: the file's name].
        /// A record is known by its source and id: name a file's source the same every time.
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
    },
}

pub(crate) async fn run(command: Command, config: &Config, json: bool) -> Result<ExitCode, String> {
    let Command::Import { files, source } = command;
    // All of them are looked at before anything is done.
    let open = |path: &PathBuf| Import::open(path, source.as_deref(), files.len() > 1);
    let imports = files.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let app = opened::open_existing(config).await?;
    let mut outcome = Outcome::default();
    for import in imports {
        outcome = import.run(&app, outcome).await?;
    }
    Ok(outcome.tell(json))
}

/// A file that is being brought in, a chunk at a time.
struct Import {
    records: Records<BufReader<Counted<Box<dyn Read + Send>>>>,
    progress: Progress,
    rejected: Rejected,
}

impl Import {
    fn open(path: &Path, source: Option<&str>, is_one_of_several: bool) -> Result<Self, String> {
        let named = |why: String| format!("{}: {why}", path.display());
        let (from, size) = bulk::open(path)?;
        let progress = Progress::new(from.count(), size, TAKEN);
        let mut from = BufReader::new(from);
        let start = from.fill_buf().map_err(|error| named(error.to_string()))?;
        let form = by_ending(path).unwrap_or_else(|| Form::of(start));
        let file_name = path.file_name().filter(|_| !bulk::is_stdin(path) && form == Form::Csv);
        let file_name = file_name.map(|name| name.to_string_lossy().into_owned());
        let source = source.map(str::to_owned).or(file_name).unwrap_or_default();
        let records = Records::open(from, form, &source).map_err(|why| {
            let next = "next: begin the file with the line \
                        id,iccid,time,bytes,country,network,source";
            named(format!("{why}\n  {next}"))
        })?;
        if source.is_empty() && !records.name_sources() {
            let why = "nothing says who made the records\n  next: say it with --source";
            return Err(named(why.to_owned()));
        }
        let mut rejected = Rejected::new((!bulk::is_stdin(path)).then_some(path));
        if !records.are_lines() {
            rejected = rejected.counted_in("record");
        }
        if is_one_of_several {
            rejected = rejected.one_of_several(path);
        }
        Ok(Self { records, progress, rejected })
    }

    /// Brings it in, and counts it with what was before.
    async fn run(mut self, app: &App, mut outcome: Outcome) -> Result<Outcome, String> {
        let mut own = Tally::default();
        loop {
            let chunk = self.records.chunk(STEP);
            let chunk = chunk.map_err(|error| outcome.tally.broken_off(&error))?;
            if chunk.is_empty() {
                break;
            }
            let judged = chunk.take(app).await.map_err(|error| outcome.tally.broken_off(&error))?;
            if judged.iter().any(|one| one.verdict == Verdict::Accepted) {
                // A service beside us may remember eSIMs as they were.
                app.tell_nodes().await.map_err(|error| outcome.tally.broken_off(&error))?;
            }
            for one in judged {
                self.count(&one, [&mut own, &mut outcome.tally])?;
            }
            self.progress.show(own);
        }
        self.progress.end();
        outcome.lists.extend(self.rejected.end()?);
        Ok(outcome)
    }

    fn count(&mut self, judged: &Judged, tallies: [&mut Tally; 2]) -> Result<(), String> {
        for tally in tallies {
            match judged.verdict {
                Verdict::Accepted => tally.taken += 1,
                Verdict::Duplicate => tally.known += 1,
                Verdict::Rejected(_) => tally.rejected += 1,
            }
        }
        if let Verdict::Rejected(why) = judged.verdict {
            self.progress.clear();
            self.rejected.put(judged.place, &judged.iccid, why)?;
        }
        Ok(())
    }
}

/// The form that the end of a file's name promises.
fn by_ending(path: &Path) -> Option<Form> {
    let ending = path.extension()?.to_str()?.to_lowercase();
    match ending.as_str() {
        "csv" => Some(Form::Csv),
        "json" | "jsonl" | "ndjson" => Some(Form::Json),
        _ => None,
    }
}

/// How it ended.
#[derive(Default)]
struct Outcome {
    tally: Tally,
    /// Where the records that were not taken are listed.
    lists: Vec<PathBuf>,
}

impl Outcome {
    fn tell(&self, json: bool) -> ExitCode {
        if json {
            let Tally { taken, known, rejected } = self.tally;
            let lists: Vec<_> = self.lists.iter().map(|path| path.display().to_string()).collect();
            output::json(&json!({
                "accepted": taken,
                "known": known,
                "rejected": rejected,
                "rejectedFiles": lists,
            }));
        } else {
            self.tally.print(TAKEN);
        }
        self.tally.end(&self.lists)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_tells_the_form() {
        let form = |path: &str| by_ending(Path::new(path));
        for path in ["a.jsonl", "b.JSON", "x/c.ndjson"] {
            assert_eq!(form(path), Some(Form::Json), "{path}");
        }
        assert_eq!([form("a.csv"), form("a.json.csv")], [Some(Form::Csv); 2]);
        assert_eq!([form("-"), form("cdr"), form("cdr.txt")], [None; 3]);
    }

    #[test]
    fn who_made_the_records_is_known_or_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cdr.csv");
        std::fs::write(&path, "id,iccid,time,bytes\n").expect("written");
        assert!(Import::open(&path, None, false).is_ok());
        let refused = Import::open(&path, Some(""), false).err().expect("refused");
        assert!(refused.ends_with("next: say it with --source"), "{refused}");
    }
}
