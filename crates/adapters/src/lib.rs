//! The outside world: one folder per protocol, each with a simulator of the far side.
//!
//! What stands here implements small traits of `domain` (its ports) and knows foreign wire formats;
//! it never sees a table or a use-case.

pub mod callbacks;
pub mod payments;
