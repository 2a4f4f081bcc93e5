//! Callbacks as receivers know them: the forms of events, their signatures, and where they may go.

pub mod address;
mod forms;
pub mod signature;

pub use forms::Json;
