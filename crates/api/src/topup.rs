//! `POST /organisation/balance`.

use app::topup::Error;
use axum::extract::State;
use domain::{Money, limits};
use http::StatusCode;

use crate::Api;
use crate::answers::Kept;
use crate::caller::By;
use crate::front::Repeatable;
use crate::problem::Problem;
use crate::query::Query;
use crate::versions::Change;

pub(crate) async fn topup(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
    Repeatable { mut request, .. }: Repeatable,
) -> Result<Kept, Problem> {
    let amount = amount(&api, &caller, query.one("amount")).await?;
    api.version.name().clone_into(&mut request.form);
    Ok(Kept(api.app.topup(&caller, amount, &request).await?))
}

/// The amount in minor units: digits only, in the unit this version prints.
async fn amount(api: &Api, caller: &app::Caller, text: Option<&str>) -> Result<i64, Problem> {
    let odd = || Problem::bad_request("invalid-amount", "amount must be a positive integer");
    let text = text.filter(|text| text.bytes().all(|b| b.is_ascii_digit())).ok_or_else(odd)?;
    let minor = if Change::MajorUnits.seen_by(api.version) {
        let currency = api.app.currency(caller).await?;
        Money::parse_major(text, currency).map(Money::in_minor).ok()
    } else {
        text.parse().ok()
    };
    minor.filter(|minor| (1..=limits::AMOUNT_MAX).contains(minor)).ok_or_else(odd)
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Key(error) => error.into(),
            Error::Undecided => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                let text = "payment is being processed, try again later";
                Self::new(status, "payment-undecided", text)
            }
            Error::Store(cause) => cause.into(),
        }
    }
}
