//! Callbacks as receivers know them: the forms of events, their signatures, and how they are sent.

mod forms;
pub mod signature;

pub use forms::Json;
