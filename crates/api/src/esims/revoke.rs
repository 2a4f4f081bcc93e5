//! Taking bundles off eSIMs.

use app::Answer;
use app::esims::revoke::{Command, Error, Outcome};
use app::orders::Intent;
use axum::extract::State;
use serde_json::json;

use crate::Api;
use crate::answers::{Kept, done, not_your_esim, refused};
use crate::caller::By;
use crate::front::{Exchange, Repeatable};
use crate::lists;
use crate::path::Params;
use crate::problem::Problem;
use crate::query::Query;

/// `DELETE …/bundles/{name}`.
pub(crate) async fn revoke_by_name(
    By(caller): By,
    State(api): State<Api>,
    (params, query, exchange): (Params, Query, Exchange),
    Repeatable { request, .. }: Repeatable,
) -> Result<Kept, Problem> {
    let id = query.one("offerId").map(number);
    let command = command((&params, &query), id, &exchange)?;
    Ok(Kept(api.app.revoke(&caller, command, &request).await?))
}

/// `DELETE …/bundles/{name}/assignments/{assignmentId}`, under each of the names it has had.
pub(crate) async fn revoke_by_id(
    By(caller): By,
    State(api): State<Api>,
    (params, query, exchange): (Params, Query, Exchange),
    Repeatable { request, .. }: Repeatable,
) -> Result<Kept, Problem> {
    let named = ["assignmentId", "offerId"].map(|name| params.get(name)).concat();
    let command = command((&params, &query), Some(number(&named)), &exchange)?;
    Ok(Kept(api.app.revoke(&caller, command, &request).await?))
}

/// The number of an assignment; what is none is the number of none.
fn number(text: &str) -> i64 {
    lists::whole(text).unwrap_or(0)
}

fn command(
    (params, query): (&Params, &Query),
    id: Option<i64>,
    exchange: &Exchange,
) -> Result<Command, Problem> {
    Ok(Command {
        iccid: params.iccid()?,
        bundle: params.get("name").to_owned(),
        id,
        intent: match query.one("type") {
            None | Some("transaction") => Intent::Transaction,
            Some("validate") => Intent::Validate,
            Some(_) => return Err(Problem::invalid("type")),
        },
        to_balance: lists::flag(query, "refundToBalance")?.unwrap_or(false),
        source_ip: exchange.client().to_canonical().to_string(),
    })
}

/// The answer to a revoke, the same in every version.
pub(crate) fn revoke_answer(outcome: Outcome) -> Answer {
    let came_back = match outcome {
        Outcome::ToInventory => "bundle has been refunded to inventory",
        Outcome::ToBalance => "bundle has been refunded to balance",
        Outcome::Nothing => "bundle has not been refunded",
        Outcome::NotYourEsim => return not_your_esim(),
        Outcome::UnknownAssignment => {
            return refused("unknown-assignment", "assignment not found");
        }
    };
    done(&json!({ "status": format!("Successfully Revoked Bundle, {came_back}") }))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Key(error) => error.into(),
            Error::Store(cause) => cause.into(),
        }
    }
}
