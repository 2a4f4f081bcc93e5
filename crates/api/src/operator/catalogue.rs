//! `/operator/v1/catalogue`.

use app::catalogue::{Fault, ImportError, Step};
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::limits;
use serde_json::{Value, json};

use crate::Api;
use crate::caller::ByOperator;
use crate::front::Upload;
use crate::import::{self, Unfit};
use crate::json::{Answer, ok};
use crate::lists::flag;
use crate::problem::Problem;
use crate::query::Query;

/// `POST /catalogue`.
pub(crate) async fn import(
    ByOperator(operator): ByOperator,
    State(api): State<Api>,
    query: Query,
    upload: Upload<{ limits::CATALOGUE_BYTES_MAX }>,
) -> Result<Answer<Value>, Refused> {
    let step = match flag(&query, "preview")? {
        Some(true) => Step::Preview,
        _ => Step::Apply,
    };
    let withdraw_others = flag(&query, "withdrawOthers")?.unwrap_or_default();
    let mut draft = if upload.is_csv {
        import::catalogue_from_csv(&upload.bytes)?
    } else {
        import::catalogue_from_json(&upload.bytes)?
    };
    draft.withdraw_others = withdraw_others;
    let report = api.app.import_catalogue(operator.actor(), draft, step).await?;
    Ok(ok(import::outcome(&report)))
}

/// Why nothing was changed.
pub(crate) enum Refused {
    Problem(Problem),
    /// The one error that says more than its message.
    Faults(Vec<Fault>),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<Unfit> for Refused {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Malformed(why) => Self::Problem(Problem::malformed(why)),
            Unfit::Faults(faults) => Self::Faults(faults),
        }
    }
}

impl From<ImportError> for Refused {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Faults(faults) => Self::Faults(faults),
            ImportError::Store(cause) => Self::Problem(cause.into()),
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let faults = match self {
            Self::Problem(problem) => return problem.into_response(),
            Self::Faults(faults) => faults,
        };
        let listed = import::faults(&faults);
        let message = ImportError::Faults(faults).to_string();
        let body = json!({ "message": message, "faults": listed }).to_string();
        let mut response = Problem::bad_request("invalid-catalogue", message).into_response();
        *response.body_mut() = Body::from(body);
        response
    }
}
