//! The outside world: one folder per protocol, each with a simulator of the far side.
//!
//! An empty room for now. What stands here implements small traits of `domain` (its ports) and
//! knows foreign wire formats; it never sees a table or a use-case.
