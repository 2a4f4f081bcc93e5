//! The only SQL of the service: the seam over two databases, the migrations, and one file per
//! group of tables. No business decision is made here.

#![warn(missing_docs)]

pub mod assignments;
pub mod audit;
pub mod catalogue;
pub mod charges;
pub mod deliveries;
pub mod epochs;
pub mod erasure;
pub mod esims;
pub mod events;
pub mod failures;
pub mod faults;
pub mod figures;
pub mod guesses;
pub mod heads;
pub mod history;
pub mod idempotency;
pub mod jobs;
pub mod keys;
pub mod lanes;
pub mod ledger;
pub mod lots;
pub mod messages;
pub mod migrate;
pub mod orders;
pub mod organisations;
pub mod profiles;
pub mod records;
pub mod rt;
pub mod sealed;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod shares;
pub mod sql;
pub mod usage;
pub mod users;

pub use heads::Head;
pub use rt::Rt;
pub use sealed::Sealed;
pub use sql::{Database, Row, Store, StoreError, Tx, Value};
