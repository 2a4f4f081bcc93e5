//! Events as receivers know them.

mod forms;

pub use forms::Json;
