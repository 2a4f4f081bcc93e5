//! Pages that say that something did not work: what happened, what was not changed, what to do.

use app::organisations::{self, OwnError};
use app::{StoreError, idempotency};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::refused;
use crate::kit::{Theme, form, plain_page};
use crate::words::answers;
use crate::words::trouble as words;

/// Why there is no page.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// There is no such thing, or it belongs to somebody else.
    Missing,
    /// The person's role does not allow it.
    Forbidden,
    /// The form was not ours, or is from an earlier session.
    Stranger,
    /// The form carries what no page of ours sends.
    Malformed(&'static str),
    /// The database does not answer.
    Away(StoreError),
    /// Our own fault; the cause goes to the log.
    Broken(String),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        if error.is_passing() { Self::Away(error) } else { Self::Broken(error.to_string()) }
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let (status, [title, text]) = match &self {
            Self::Missing => (StatusCode::NOT_FOUND, words::MISSING),
            Self::Forbidden => (StatusCode::FORBIDDEN, words::FORBIDDEN),
            Self::Stranger => (StatusCode::FORBIDDEN, words::STRANGER),
            Self::Malformed(what) => (StatusCode::BAD_REQUEST, [words::MALFORMED_TITLE, *what]),
            Self::Away(error) => {
                tracing::warn!(%error, "a page waits for the database");
                (StatusCode::SERVICE_UNAVAILABLE, words::AWAY)
            }
            Self::Broken(cause) => {
                tracing::error!(cause, "a page could not be made");
                (StatusCode::INTERNAL_SERVER_ERROR, words::BROKEN)
            }
        };
        let mut response = answer(status, &page(title, text));
        if matches!(self, Self::Away(_)) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// Back to a page that says why the same form had no effect a second time.
pub(crate) fn sent_twice(error: idempotency::Error, back: &str) -> Result<Response, Trouble> {
    match error {
        idempotency::Error::OtherRequest => Ok(refused(back, answers::USED_TWICE)),
        idempotency::Error::BadKey(_) => Err(Trouble::Malformed(words::NO_TOKEN)),
    }
}

/// Back to a page that says why a setting was not taken.
pub(crate) fn not_set(error: OwnError, back: &str) -> Result<Response, Trouble> {
    match error {
        OwnError::Forbidden => Err(Trouble::Forbidden),
        OwnError::Store(error) => Err(error.into()),
        OwnError::Unfit(organisations::Error::Field { field, why }) => {
            Ok(refused(back, words::unfit(field, why)))
        }
        OwnError::Unfit(_) => Err(Trouble::Missing),
    }
}

fn page(title: &str, text: &str) -> Markup {
    let content = html! {
        p { (text) }
        (form::link_button(form::Kind::Plain, words::BACK, "/portal"))
    };
    plain_page(title, Theme::System, content)
}

/// A page on its way out, with what a browser may do with it.
pub(crate) fn answer(status: StatusCode, page: &Markup) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    (status, headers, page.0.clone()).into_response()
}

/// Our own style, script and pictures; nothing inline, nothing from elsewhere, no frame around it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
