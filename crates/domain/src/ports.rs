//! What we need from the outside world, as small traits that adapters implement.

pub mod payments;
