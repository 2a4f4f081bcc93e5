//! What we need from the outside world, as small traits that adapters implement.

pub mod callbacks;
pub mod network;
pub mod payments;
pub mod sms;
