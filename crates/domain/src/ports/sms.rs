//! Sending text messages.

use std::future::Future;
use std::pin::Pin;

use crate::Msisdn;

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken.
    Sent,
    /// It cannot be delivered.
    Failed,
    /// Not known; the same message may be sent again.
    Away(String),
}

/// A text message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Names the message on both sides: the same twice is sent once.
    pub reference: String,
    /// To whom.
    pub to: Msisdn,
    /// Who it says it is from.
    pub sender: String,
    /// What it says.
    pub body: String,
}

/// The answer, some time.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// A message centre.
pub trait Sms: Send + Sync {
    /// Sends a message.
    fn send<'a>(&'a self, message: &'a Message) -> Answer<'a>;
}
