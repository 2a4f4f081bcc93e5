//! Names in a path. What is no text, or none that both databases can hold, names nothing.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use domain::Iccid;
use http::request::Parts;

use crate::problem::Problem;

/// The only name; empty when it names nothing.
pub(crate) struct Named(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let name = Path::<String>::from_request_parts(parts, state).await.ok();
        let name = name.map(|Path(name)| name).filter(|name| !name.contains('\0'));
        Ok(Self(name.unwrap_or_default()))
    }
}

/// All names in a path.
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// The one of that name; empty when it names nothing.
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, value)| key == name && !value.contains('\0'));
        found.map_or("", |(_, value)| value.as_str())
    }

    /// The ICCID.
    pub(crate) fn iccid(&self) -> Result<Iccid, Problem> {
        iccid(self.get("iccid"))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let all = Path::<Vec<(String, String)>>::from_request_parts(parts, state).await.ok();
        Ok(Self(all.map(|Path(all)| all).unwrap_or_default()))
    }
}

/// An ICCID as it was sent.
pub(crate) fn iccid(text: &str) -> Result<Iccid, Problem> {
    Iccid::parse(text).map_err(|_| Problem::bad_request("invalid-iccid", "invalid iccid"))
}
