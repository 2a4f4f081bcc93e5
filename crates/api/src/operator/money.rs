//! What the operator gives, and what was charged: `…/{id}/credit`, `/test-credit`, `/charges`.

use app::Balances;
use app::credit::Error;
use app::topup::Charge;
use axum::extract::State;
use serde::Serialize;

use super::{OfOrg, not_found, page, page_size};
use crate::Api;
use crate::caller::ByOperator;
use crate::front::Body;
use crate::json::{Answer, Fields, ok};
use crate::problem::Problem;
use crate::query::Query;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireBalances {
    balance: i64,
    test_credit: i64,
    test_credit_expiry: Option<String>,
}

impl From<Balances> for WireBalances {
    fn from(balances: Balances) -> Self {
        Self {
            balance: balances.balance.in_minor(),
            test_credit: balances.test_credit.in_minor(),
            test_credit_expiry: balances.test_credit_expires_at.map(|time| time.to_string()),
        }
    }
}

fn amount_and_reason(fields: &mut Fields) -> Result<(i64, String), Problem> {
    let amount = fields.int("amount")?.ok_or_else(|| Problem::missing("amount"))?;
    let reason = fields.text("reason")?.ok_or_else(|| Problem::missing("reason"))?;
    Ok((amount, reason))
}

/// `POST …/credit`.
pub(crate) async fn credit(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<WireBalances>, Problem> {
    let (amount, reason) = amount_and_reason(&mut fields)?;
    Ok(ok(api.app.credit(operator.actor(), org, amount, &reason).await?.into()))
}

/// `POST …/test-credit`.
pub(crate) async fn test_credit(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<WireBalances>, Problem> {
    let (amount, reason) = amount_and_reason(&mut fields)?;
    let end = fields.time("expiresAt")?.ok_or_else(|| Problem::missing("expiresAt"))?;
    Ok(ok(api.app.test_credit(operator.actor(), org, amount, (&reason, end)).await?.into()))
}

#[derive(Serialize)]
pub(crate) struct Charges {
    charges: Vec<WireCharge>,
    next: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireCharge {
    #[serde(rename = "ref")]
    reference: i64,
    kind: String,
    amount: i64,
    state: &'static str,
    created_at: String,
    decided_at: Option<String>,
}

impl From<Charge> for WireCharge {
    fn from(charge: Charge) -> Self {
        Self {
            reference: charge.id,
            kind: charge.kind,
            amount: charge.amount,
            state: charge.state.name(),
            created_at: charge.created_at.to_string(),
            decided_at: charge.decided_at.map(|time| time.to_string()),
        }
    }
}

/// `GET …/charges`.
pub(crate) async fn charges(
    _: ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Charges>, Problem> {
    let size = page_size(&query)?;
    let after = query.number("after", 0..=i64::MAX)?.unwrap_or(0);
    let rows = api.app.charges(org, after, size + 1).await?;
    let rows = rows.ok_or_else(|| not_found("unknown-organisation", "organisation not found"))?;
    let (rows, next) = page(rows, size, |row| row.id.to_string());
    Ok(ok(Charges { charges: rows.into_iter().map(WireCharge::from).collect(), next }))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::UnknownOrganisation => not_found("unknown-organisation", text),
            Error::Amount | Error::Reason | Error::Expiry => {
                Self::bad_request("invalid-field", text)
            }
            Error::Overdrawn => Self::bad_request("balance-too-low", text),
            Error::Store(cause) => cause.into(),
        }
    }
}
