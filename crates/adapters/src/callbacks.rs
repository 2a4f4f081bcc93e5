//! Callbacks as receivers know them: the forms of events, their signatures, and how they are sent.

mod answer;
mod connect;
mod failure;
mod forms;
mod sender;
pub mod signature;

pub use forms::Json;
pub use sender::{HttpReceivers, Settings};
