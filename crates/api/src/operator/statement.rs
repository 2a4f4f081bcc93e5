//! `…/{id}/statement`: the ledger over a period, written page by page so that memory stays flat.

use app::statement::{Heading, Posted};
use app::{App, StoreError};
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::ledger::read_postings;
use domain::{OrgId, Timestamp};
use futures_util::stream;
use http::header;
use serde_json::{Value, json};

use super::{OfOrg, not_found};
use crate::Api;
use crate::caller::ByOperator;
use crate::problem::Problem;
use crate::query::Query;
use domain::csv::cell;

/// `GET …/statement`.
pub(crate) async fn show(
    _: ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    query: Query,
) -> Result<Response, Problem> {
    let from = query.time("from")?.unwrap_or_else(|| Timestamp::from_ms(0));
    let to = query.time("to")?.unwrap_or_else(|| Timestamp::from_ms(i64::MAX));
    let form = match query.one("format") {
        None | Some("json") => Form::Json,
        Some("csv") => Form::Csv,
        Some(_) => return Err(Problem::invalid("format")),
    };
    let heading = api.app.statement(org, from).await?;
    let heading =
        heading.ok_or_else(|| not_found("unknown-organisation", "organisation not found"))?;
    let writing =
        Writing { app: api.app.clone(), org, period: (from, to), form, heading, step: Step::Open };
    let kind = match form {
        Form::Json => "application/json",
        Form::Csv => "text/csv; charset=utf-8",
    };
    let body = Body::from_stream(stream::unfold(writing, Writing::next));
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

#[derive(Clone, Copy)]
enum Form {
    Json,
    Csv,
}

enum Step {
    Open,
    After { seq: i64, is_first: bool },
    Done,
}

struct Writing {
    app: App,
    org: OrgId,
    period: (Timestamp, Timestamp),
    form: Form,
    heading: Heading,
    step: Step,
}

impl Writing {
    async fn next(mut self) -> Option<(Result<String, StoreError>, Self)> {
        let text = match self.step {
            Step::Done => return None,
            Step::Open => {
                self.step = Step::After { seq: self.heading.before, is_first: true };
                Ok(self.opening())
            }
            Step::After { seq, is_first } => self.page(seq, is_first).await,
        };
        if text.is_err() {
            // The connection breaks off, so that nobody takes half a statement for a whole one.
            self.step = Step::Done;
        }
        Some((text, self))
    }

    async fn page(&mut self, after: i64, is_first: bool) -> Result<String, StoreError> {
        let rows = self.app.statement_page(self.org, after, (self.period.1, &self.heading)).await?;
        let Some(last) = rows.last() else {
            self.step = Step::Done;
            return Ok(self.closing());
        };
        self.step = Step::After { seq: last.seq, is_first: false };
        let lines = rows.iter().enumerate().map(|(at, row)| match self.form {
            Form::Json if is_first && at == 0 => entry(row).to_string(),
            Form::Json => format!(",{}", entry(row)),
            Form::Csv => csv_line(row),
        });
        Ok(lines.collect())
    }

    fn opening(&self) -> String {
        match self.form {
            Form::Json => format!(
                "{{\"organisation\":\"{}\",\"currency\":\"{}\",\"from\":\"{}\",\"to\":\"{}\",\
                 \"entries\":[",
                self.org, self.heading.currency, self.period.0, self.period.1
            ),
            Form::Csv => "Seq,Time,Kind,Reference,Reason,Account,Amount,Hash\n".to_owned(),
        }
    }

    fn closing(&self) -> String {
        let Heading { entries, head_hash, .. } = &self.heading;
        match self.form {
            Form::Json => format!("],\"ledgerEntries\":{entries},\"headHash\":\"{head_hash}\"}}"),
            Form::Csv => format!("{entries},,head,,,,,{head_hash}\n"),
        }
    }
}

fn entry(row: &Posted) -> Value {
    let postings: Vec<_> = read_postings(&row.postings)
        .unwrap_or_default()
        .iter()
        .map(|posting| json!({ "account": posting.account.name(), "amount": posting.amount }))
        .collect();
    json!({
        "seq": row.seq,
        "time": row.at.to_string(),
        "kind": row.kind,
        "reference": row.reference,
        "reason": row.reason,
        "postings": postings,
        "hash": domain::hex(&row.hash),
    })
}

/// One line per posting.
fn csv_line(row: &Posted) -> String {
    let postings = read_postings(&row.postings).unwrap_or_default();
    let lines = postings.iter().map(|posting| {
        format!(
            "{},{},{},{},{},{},{},{}\n",
            row.seq,
            row.at,
            cell(&row.kind),
            cell(&row.reference),
            cell(&row.reason),
            posting.account.name(),
            posting.amount,
            domain::hex(&row.hash)
        )
    });
    lines.collect::<Vec<_>>().concat()
}
