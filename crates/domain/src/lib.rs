//! The words and rules of the trade: what an organisation, an eSIM, a bundle and a cent *are*.
//!
//! Pure: no I/O, nothing awaited, no clock, no randomness, no wire formats. What is parsed here
//! once cannot be wrong later.

#![warn(missing_docs)]

pub mod address;
pub mod assignment;
pub mod bundle_name;
pub mod callback;
pub mod callback_url;
pub mod catalogue;
pub mod contact;
pub mod csv;
pub mod demo;
pub mod esim;
pub mod event;
pub mod filter;
pub mod hex;
pub mod iccid;
pub mod ids;
pub mod inventory;
pub mod ledger;
pub mod limits;
pub mod money;
pub mod msisdn;
pub mod order;
pub mod organisation;
pub mod ports;
pub mod rights;
pub mod secret;
pub mod sign_in;
pub mod stock;
pub mod time;
pub mod world;

pub use bundle_name::BundleName;
pub use callback_url::CallbackUrl;
pub use hex::hex;
pub use iccid::Iccid;
pub use ids::{AuditId, EventId, JobId, KeyId, OrderId, OrgId, ShareId, UserId};
pub use money::{Currency, Money};
pub use msisdn::Msisdn;
pub use organisation::{Mode, Organisation, Role, User};
pub use rights::Right;
pub use secret::Secret;
pub use time::Timestamp;
