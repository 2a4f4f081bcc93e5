//! What is learnt about a request on its way, for the answer's headers and the log.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::Timestamp;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

use crate::rate::Standing;

/// One request and its answer. Travels with the request; cheap to clone.
#[derive(Clone)]
pub(crate) struct Exchange(Arc<Inner>);

struct Inner {
    id: String,
    client: IpAddr,
    learnt: Mutex<Learnt>,
}

#[derive(Default)]
struct Learnt {
    route: Option<String>,
    organisation: Option<String>,
    standing: Option<Standing>,
}

impl Exchange {
    pub(super) fn new(id: String, client: IpAddr) -> Self {
        Self(Arc::new(Inner { id, client, learnt: Mutex::default() }))
    }

    /// The exchange a request belongs to.
    pub(crate) fn of(parts: &Parts) -> Self {
        let found = parts.extensions.get::<Self>().cloned();
        found.unwrap_or_else(|| Self::new(String::new(), Ipv4Addr::UNSPECIFIED.into()))
    }

    /// Names it in the answer and in the log.
    pub(super) fn id(&self) -> &str {
        &self.0.id
    }

    /// The address the request really came from.
    pub(crate) fn client(&self) -> IpAddr {
        self.0.client
    }

    pub(crate) fn matched(&self, route: &str) {
        self.learnt().route = Some(route.to_owned());
    }

    pub(crate) fn signed_in(&self, organisation: String) {
        self.learnt().organisation = Some(organisation);
    }

    pub(crate) fn stands(&self, standing: Standing) {
        self.learnt().standing = Some(standing);
    }

    /// The pattern that matched, never the path itself, which may hold an ICCID.
    pub(super) fn route(&self) -> String {
        self.learnt().route.clone().unwrap_or_else(|| "-".to_owned())
    }

    pub(super) fn organisation(&self) -> Option<String> {
        self.learnt().organisation.clone()
    }

    /// Writes the headers every answer has.
    pub(super) fn finish(&self, headers: &mut HeaderMap, now: Timestamp) {
        if let Ok(id) = HeaderValue::from_str(self.id()) {
            headers.insert("x-request-id", id);
        }
        let standing = self.learnt().standing;
        if let Some(standing) = standing {
            standing.write(headers, now);
        }
    }

    fn learnt(&self) -> MutexGuard<'_, Learnt> {
        self.0.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
