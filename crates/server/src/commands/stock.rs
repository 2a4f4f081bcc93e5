//! `tern stock`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use api::import::stock::Stock;
use app::stock::{Judged, Verdict};
use app::{Actor, App};
use clap::{Args, Subcommand};
use domain::{Mode, limits};
use serde_json::{Value, json};

use super::bulk::{self, Counted, Progress, Rejected, Tally};
use crate::config::Config;
use crate::output::grouped;
use crate::{opened, output};

/// What lines are called that are in now.
const TAKEN: &str = "added";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Bring in eSIM profiles. Lines that are in already do no harm.
    Import {
        /// CSV with the columns iccid, matchingId and smdpAddress, and as wanted pin, puk, msisdn,
        /// imsi and profileName; - for standard input.
        file: PathBuf,
        #[command(flatten)]
        mode: For,
    },
    /// Count the profiles that are free.
    Show,
}

/// Whose eSIMs they become.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct For {
    /// They are for sandbox organisations only.
    #[arg(long)]
    sandbox: bool,
    /// They are for live organisations only.
    #[arg(long)]
    live: bool,
}

pub(crate) async fn run(command: Command, config: &Config, json: bool) -> Result<ExitCode, String> {
    match command {
        Command::Import { file, mode } => {
            let mode = if mode.live { Mode::Live } else { Mode::Sandbox };
            let import = Import::open(&file, mode)?;
            let app = opened::open_existing(config).await?;
            let outcome = import.run(&app).await?;
            Ok(outcome.tell(json))
        }
        Command::Show => {
            let app = opened::open_existing(config).await?;
            show(&app.stock().await.map_err(|error| error.to_string())?, json);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// A file that is being brought in, a chunk at a time.
struct Import {
    mode: Mode,
    stock: Stock<Counted<Box<dyn Read + Send>>>,
    progress: Progress,
    rejected: Rejected,
    tally: Tally,
}

impl Import {
    fn open(path: &Path, mode: Mode) -> Result<Self, String> {
        let (source, size) = bulk::open(path)?;
        let progress = Progress::new(source.count(), size, TAKEN);
        let stock = Stock::open(source).map_err(|why| {
            format!(
                "{}: {why}\n  next: begin the file with the line \
                 iccid,matchingId,smdpAddress,pin,puk,msisdn,imsi,profileName",
                path.display()
            )
        })?;
        let rejected = Rejected::new((!bulk::is_stdin(path)).then_some(path));
        Ok(Self { mode, stock, progress, rejected, tally: Tally::default() })
    }

    async fn run(mut self, app: &App) -> Result<Outcome, String> {
        loop {
            let chunk = self.stock.chunk(limits::STOCK_LINES_MAX);
            let chunk = chunk.map_err(|error| self.tally.broken_off(&error))?;
            if chunk.is_empty() {
                break;
            }
            let judged = chunk.import(app, Actor::CommandLine, self.mode).await;
            for one in judged.map_err(|error| self.tally.broken_off(&error))? {
                self.count(&one)?;
            }
            self.progress.show(self.tally);
        }
        self.progress.end();
        Ok(Outcome { tally: self.tally, file: self.rejected.end()? })
    }

    fn count(&mut self, judged: &Judged) -> Result<(), String> {
        match judged.verdict {
            Verdict::Added => self.tally.taken += 1,
            Verdict::Known => self.tally.known += 1,
            Verdict::Rejected(why) => {
                self.tally.rejected += 1;
                self.progress.clear();
                self.rejected.put(judged.line, &judged.iccid, why)?;
            }
        }
        Ok(())
    }
}

/// How it ended.
struct Outcome {
    tally: Tally,
    /// Where the lines that were not taken are listed.
    file: Option<PathBuf>,
}

impl Outcome {
    fn tell(&self, json: bool) -> ExitCode {
        if json {
            let Tally { taken, known, rejected } = self.tally;
            let file = self.file.as_ref().map(|path| path.display().to_string());
            output::json(&json!({
                "added": taken,
                "known": known,
                "rejected": rejected,
                "rejectedFile": file,
            }));
        } else {
            self.tally.print(TAKEN);
        }
        self.tally.end(self.file.as_slice())
    }
}

fn show(stock: &[(Mode, String, i64)], json: bool) {
    if json {
        let all: Vec<Value> = stock.iter().map(facts).collect();
        output::json(&json!({ "stock": all }));
        return;
    }
    if stock.is_empty() {
        output::line("no free profiles\n  next: tern stock import FILE --sandbox (or --live)");
        return;
    }
    let rows: Vec<_> = stock
        .iter()
        .map(|(mode, profile_name, free)| {
            let free = grouped(usize::try_from(*free).unwrap_or_default());
            vec![mode.name().to_owned(), format!("{free:>11}"), profile_name.clone()]
        })
        .collect();
    output::table(&["MODE", "       FREE", "PROFILE"], &rows);
}

fn facts((mode, profile_name, free): &(Mode, String, i64)) -> Value {
    json!({ "mode": mode.name(), "profileName": profile_name, "free": free })
}
