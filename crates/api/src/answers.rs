//! Answers that are kept with a request's key, written once in the form of the version that asked.

use app::inventory::Refund;
use app::topup::Outcome;
use app::{Answer, Answers, esims, orders};
use axum::response::{IntoResponse, Response};
use domain::Money;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Value, json};

use crate::esims::{apply_answer, change_answer, revoke_answer, sms_answer};
use crate::inventory::refund_answer;
use crate::money::{self, Amount};
use crate::orders::order_answer;
use crate::problem::{Problem, Told};
use crate::versions::{Change, Version};

/// Writes answers; the form is the name of a version.
pub struct InVersions;

impl Answers for InVersions {
    fn topup(&self, form: &str, outcome: &Outcome) -> Answer {
        let version = version_of(form);
        match outcome {
            Outcome::Paid { amount, balance, test_credit, reference } => done(&Topup {
                amount: money::print(*amount, version),
                balance: money::print(shown(*balance, *test_credit, version), version),
                reference: *reference,
            }),
            Outcome::Declined => refused("card-declined", "card declined"),
            Outcome::NoCard => refused("no-stored-card", "no saved payment method"),
            Outcome::BelowMinimum => refused("amount-below-minimum", "amount is below the minimum"),
            Outcome::DailyLimit => {
                refused("daily-limit-reached", "amount is above the daily maximum")
            }
        }
    }

    fn order(&self, form: &str, outcome: &orders::Outcome) -> Answer {
        order_answer(form, outcome)
    }

    fn refund(&self, form: &str, refund: Refund) -> Answer {
        refund_answer(form, refund)
    }

    fn apply(&self, form: &str, outcome: &esims::apply::Outcome) -> Answer {
        apply_answer(form, outcome)
    }

    fn revoke(&self, _: &str, outcome: esims::revoke::Outcome) -> Answer {
        revoke_answer(outcome)
    }

    fn change(&self, form: &str, outcome: esims::change::Outcome) -> Answer {
        change_answer(form, outcome)
    }

    fn sms(&self, form: &str, outcome: esims::sms::Outcome) -> Answer {
        sms_answer(form, outcome)
    }
}

/// The version a form names.
pub(crate) fn version_of(form: &str) -> Version {
    let named = Version::ALL.into_iter().find(|version| version.name() == form);
    named.unwrap_or(Version::NEWEST)
}

/// The balance as a version shows it.
pub(crate) fn shown(balance: Money, test_credit: Money, version: Version) -> Money {
    if Change::BalanceWithTestCredit.seen_by(version) {
        // Both are far from the edge of what fits; if not, the balance alone is still true.
        return balance.plus(test_credit).unwrap_or(balance);
    }
    balance
}

#[derive(Serialize)]
struct Topup {
    amount: Amount,
    balance: Amount,
    #[serde(rename = "ref")]
    reference: i64,
}

/// An answer that says yes.
pub(crate) fn done<T: Serialize>(body: &T) -> Answer {
    let body = serde_json::to_vec(body).expect("numbers and texts are JSON");
    Answer { status: 200, code: String::new(), body }
}

/// An answer that says no, and why.
pub(crate) fn refused(code: &str, message: &str) -> Answer {
    let body = json!({ "message": message }).to_string().into_bytes();
    Answer { status: 400, code: code.to_owned(), body }
}

/// An eSIM that is not the caller's.
pub(crate) fn not_your_esim() -> Answer {
    Answer { status: 403, ..refused("not-your-esim", "access denied") }
}

/// An eSIM that is dead for good.
pub(crate) fn deactivated() -> Answer {
    refused("esim-deactivated", "esim is deactivated")
}

/// A bundle that an eSIM cannot take.
pub(crate) fn not_compatible() -> Answer {
    refused("bundle-not-compatible", NOT_COMPATIBLE)
}

/// The same in words.
pub(crate) const NOT_COMPATIBLE: &str = "bundle not compatible with esim";

/// What a refusal says in one sentence.
fn told(status: StatusCode, body: &[u8]) -> Option<Told> {
    let is_refusal = status.is_client_error() || status.is_server_error();
    if !is_refusal {
        return None;
    }
    let said: Value = serde_json::from_slice(body).ok()?;
    said["message"].as_str().map(|message| Told(message.to_owned().into()))
}

/// A kept answer on its way out.
pub(crate) struct Kept(pub(crate) Answer);

impl IntoResponse for Kept {
    fn into_response(self) -> Response {
        let Answer { status, code, body } = self.0;
        let Ok(status) = StatusCode::from_u16(status) else {
            return Problem::internal("a kept answer with an odd status").into_response();
        };
        let json = HeaderValue::from_static("application/json");
        let told = told(status, &body);
        let mut response = (status, [(header::CONTENT_TYPE, json)], body).into_response();
        if let Some(told) = told {
            response.extensions_mut().insert(told);
        }
        if let Ok(code) = HeaderValue::from_str(&code)
            && !code.is_empty()
        {
            response.headers_mut().insert("x-error-code", code);
        }
        response
    }
}
