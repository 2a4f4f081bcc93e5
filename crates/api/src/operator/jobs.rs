//! `/operator/v1/jobs`: work that was given up, and how to try again.

use app::jobs::{Error, Job};
use axum::extract::State;
use domain::JobId;
use serde::Serialize;

use super::{not_found, page, page_size};
use crate::Api;
use crate::caller::ByOperator;
use crate::json::{Answer, ok};
use crate::path::Named;
use crate::problem::Problem;
use crate::query::Query;

#[derive(Serialize)]
pub(crate) struct Jobs {
    jobs: Vec<WireJob>,
    next: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireJob {
    id: String,
    organisation: String,
    kind: String,
    subject: String,
    due_at: String,
    attempts: i64,
    error: String,
    failed_at: Option<String>,
}

impl From<Job> for WireJob {
    fn from(job: Job) -> Self {
        Self {
            id: job.id.to_string(),
            organisation: job.org.to_string(),
            kind: job.kind,
            subject: job.subject,
            due_at: job.due_at.to_string(),
            attempts: job.attempts,
            error: job.error,
            failed_at: job.failed_at.map(|time| time.to_string()),
        }
    }
}

/// `GET /jobs`.
pub(crate) async fn list(
    _: ByOperator,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Jobs>, Problem> {
    let size = page_size(&query)?;
    let only_failed = match query.one("state") {
        None | Some("failed") => true,
        Some("all") => false,
        Some(_) => return Err(Problem::invalid("state")),
    };
    let after = query.one("after").map(JobId::parse).transpose();
    let after = after.map_err(|_| Problem::invalid("after"))?;
    let rows = api.app.jobs(only_failed, after, size + 1).await?;
    let (rows, next) = page(rows, size, |row| row.id.to_string());
    Ok(ok(Jobs { jobs: rows.into_iter().map(WireJob::from).collect(), next }))
}

#[derive(Serialize)]
pub(crate) struct Status {
    status: &'static str,
}

/// `POST /jobs/{id}/retry`.
pub(crate) async fn retry(
    ByOperator(operator): ByOperator,
    State(api): State<Api>,
    Named(id): Named,
) -> Result<Answer<Status>, Problem> {
    let unknown = || not_found("unknown-job", "job not found, or not failed");
    let id = JobId::parse(&id).map_err(|_| unknown())?;
    match api.app.retry_job(operator.actor(), id).await {
        Ok(()) => Ok(ok(Status { status: "due" })),
        Err(Error::Unknown) => Err(unknown()),
        Err(Error::Store(cause)) => Err(cause.into()),
    }
}
