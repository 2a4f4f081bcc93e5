//! Sending callbacks to a receiver.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::{CallbackUrl, Secret, Timestamp};

/// What begins the text of a webhook secret.
pub const SECRET_PREFIX: &str = "whsec_";

/// What signs a callback.
#[derive(Debug, Clone)]
pub struct Signers {
    /// The organisation's primary API key.
    pub api_key: Secret<String>,
    /// Its webhook secrets, as `whsec_…`: one, or two while one takes the place of the other.
    pub secrets: Vec<Secret<String>>,
}

/// A callback, as one attempt sends it.
#[derive(Debug, Clone)]
pub struct Callback {
    /// Where to.
    pub url: CallbackUrl,
    /// Names the event; the same on every attempt.
    pub id: String,
    /// The exact bytes.
    pub body: String,
    /// What signs it; none for the form that is not signed.
    pub signers: Option<Arc<Signers>>,
    /// The real time of this attempt.
    pub at: Timestamp,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The receiver answered.
    Answered {
        /// With this status.
        status: u16,
        /// It asked to wait so long.
        retry_after: Option<Duration>,
        /// How its answer begins, as text.
        start: String,
    },
    /// It did not, for this reason.
    Failed(String),
}

/// The reply, some time.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

/// The way to receivers. Never takes longer than its time limit, whatever a receiver does.
pub trait Receivers: Send + Sync {
    /// Sends a callback.
    fn send<'a>(&'a self, callback: &'a Callback) -> Answer<'a>;
}
