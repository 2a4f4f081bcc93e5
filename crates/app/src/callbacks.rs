//! Callbacks: the way of events to an organisation's receiver, and how people look after it.

mod care;
mod forget;
mod log;
mod outcome;
mod secrets;
mod sender;
mod taking;
mod width;

pub(crate) use self::care::health;
pub use self::care::{Again, Health};
pub use self::log::{Logged, Took};
pub use self::outcome::Sending;
pub(crate) use self::sender::Outgoing;
pub(crate) use self::taking::{Batch, Sender};
use store::StoreError;
pub use store::deliveries::{Attempt, Delivery};

/// Why something about callbacks could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such organisation.
    #[error("organisation not found")]
    UnknownOrganisation,
    /// There is no delivery of such an event.
    #[error("delivery not found")]
    UnknownDelivery,
    /// There is nowhere to send it.
    #[error("no callback address is set")]
    NoAddress,
    /// The endpoint was switched off.
    #[error("callbacks are switched off; set the callback address to switch them on again")]
    Off,
    /// The window is none.
    #[error("from must be before to")]
    Window,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}
