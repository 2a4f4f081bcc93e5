//! `tern jobs`.

use app::Actor;
use app::jobs::Job;
use clap::Subcommand;
use domain::{JobId, limits};
use serde_json::{Value, json};

use crate::config::Config;
use crate::{opened, output};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List work that was given up, or all that waits.
    List {
        /// Also work that is only waiting.
        #[arg(long)]
        all: bool,
    },
    /// Make work that was given up due again.
    Retry {
        /// The job's id.
        id: String,
    },
}

pub(crate) async fn run(command: Command, config: &Config, json: bool) -> Result<(), String> {
    let app = opened::open_existing(config).await?;
    match command {
        Command::List { all } => {
            let (mut jobs, mut after): (Vec<Job>, Option<JobId>) = (Vec::new(), None);
            loop {
                let page = app.jobs(!all, after, limits::OPERATOR_PAGE_MAX).await;
                let page = page.map_err(|error| error.to_string())?;
                let Some(last) = page.last() else { break };
                after = Some(last.id);
                jobs.extend(page);
            }
            print(&jobs, json);
        }
        Command::Retry { id } => {
            let unknown = |_| format!("{id} is no job id\n  next: `tern jobs list` shows them");
            let id = JobId::parse(&id).map_err(unknown)?;
            app.retry_job(Actor::CommandLine, id).await.map_err(|error| error.to_string())?;
            if json {
                output::json(&json!({ "status": "due" }));
            } else {
                output::line("due again");
            }
        }
    }
    Ok(())
}

fn print(jobs: &[Job], json: bool) {
    if json {
        let all: Vec<Value> = jobs.iter().map(facts).collect();
        output::json(&json!({ "jobs": all }));
        return;
    }
    if jobs.is_empty() {
        output::line("none");
        return;
    }
    let rows: Vec<_> = jobs
        .iter()
        .map(|job| {
            let state = if job.failed_at.is_some() { "given up" } else { "waits" };
            vec![
                job.id.to_string(),
                state.to_owned(),
                job.kind.clone(),
                job.subject.clone(),
                job.attempts.to_string(),
                job.error.clone(),
            ]
        })
        .collect();
    output::table(&["ID", "STATE", "KIND", "SUBJECT", "TRIES", "LAST ERROR"], &rows);
}

fn facts(job: &Job) -> Value {
    json!({
        "id": job.id.to_string(),
        "organisation": job.org.to_string(),
        "kind": job.kind,
        "subject": job.subject,
        "dueAt": job.due_at.to_string(),
        "attempts": job.attempts,
        "error": job.error,
        "failedAt": job.failed_at.map(|time| time.to_string()),
    })
}
