//! The one name in a path. What is no text, or none that both databases can hold, names nothing.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

/// The name; empty when it names nothing.
pub(crate) struct Named(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let name = Path::<String>::from_request_parts(parts, state).await.ok();
        let name = name.map(|Path(name)| name).filter(|name| !name.contains('\0'));
        Ok(Self(name.unwrap_or_default()))
    }
}
