//! `/operator/v1/organisations/{id}/users`.

use app::people::TeamError;
use app::users::{Error, NewUser};
use axum::extract::State;
use domain::User;
use http::StatusCode;
use serde::Serialize;

use super::{OfOrg, OfUser, not_found};
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

/// `POST …/users/{userId}/link`.
pub(crate) async fn link(
    ByOperator(operator): ByOperator,
    OfOrg(org): OfOrg,
    OfUser(user): OfUser,
    State(api): State<Api>,
) -> Result<Answer<PasswordLink>, Problem> {
    let made = api.app.password_link_of(operator.actor(), org, user).await?;
    let link = format!("{}/portal/link/{}", api.public_url, made.token.expose());
    Ok(Answer(StatusCode::CREATED, PasswordLink { link, expires_at: made.expires_at.to_string() }))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PasswordLink {
    link: String,
    expires_at: String,
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

impl From<TeamError> for Problem {
    fn from(error: TeamError) -> Self {
        match error {
            TeamError::Store(cause) => cause.into(),
            TeamError::User(error) => error.into(),
            error => not_found("unknown-user", error.to_string()),
        }
    }
}
