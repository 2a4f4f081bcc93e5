//! `/operator/v1/organisations/{id}/users`.

use app::users::{Error, NewUser};
use axum::extract::State;
use domain::User;
use http::StatusCode;
use serde::Serialize;

use super::{OfOrg, not_found};
use crate::Api;
use crate::account::WireUser;
use crate::caller::ByOperator;
use crate::front::Body;
use crate::json::{Answer, ok};
use crate::problem::Problem;

/// `GET …/users`.
pub(crate) async fn list(
    _: ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
) -> Result<Answer<Users>, Problem> {
    let users = api.app.users(org).await?;
    Ok(ok(Users { users: users.into_iter().map(Identified::from).collect() }))
}

/// `POST …/users`.
pub(crate) async fn add(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    State(api): State<Api>,
    Body(mut fields): Body,
) -> Result<Answer<Identified>, Problem> {
    let mut wanted = |name: &str| fields.text(name)?.ok_or_else(|| Problem::missing(name));
    let new = NewUser {
        first_name: wanted("firstName")?,
        last_name: wanted("lastName")?,
        role: wanted("role")?,
        email: wanted("emailAddress")?,
        phone: fields.text("phoneNumber")?.unwrap_or_default(),
        time_zone: fields.text("timeZone")?.unwrap_or_default(),
        password: None,
    };
    let user = api.app.add_user(operator.actor(), org, new).await?;
    Ok(Answer(StatusCode::CREATED, user.into()))
}

#[derive(Serialize)]
pub(crate) struct Users {
    users: Vec<Identified>,
}

#[derive(Serialize)]
pub(crate) struct Identified {
    id: String,
    #[serde(flatten)]
    user: WireUser,
}

impl From<User> for Identified {
    fn from(user: User) -> Self {
        Self { id: user.id.to_string(), user: user.into() }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::UnknownOrganisation => not_found("unknown-organisation", text),
            Error::UnknownUser => not_found("unknown-user", text),
            Error::Field { .. } | Error::Password(_) => Self::bad_request("invalid-field", text),
            Error::Taken => Self::bad_request("email-taken", text),
            Error::TooMany => Self::bad_request("too-many-users", text),
            Error::Store(cause) => cause.into(),
        }
    }
}
