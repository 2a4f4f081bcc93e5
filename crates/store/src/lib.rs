//! The only SQL of the service: the seam over two databases, the migrations, and one file per
//! group of tables. No business decision is made here.

#![warn(missing_docs)]

pub mod audit;
pub mod epochs;
pub mod heads;
pub mod keys;
pub mod migrate;
pub mod organisations;
pub mod rt;
pub mod settings;
pub mod sql;
pub mod users;

pub use heads::Head;
pub use rt::Rt;
pub use sql::{Database, Row, Store, StoreError, Tx, Value};
