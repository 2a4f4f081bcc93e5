//! Pages for people. Everything is rendered on the server and works without a script; nothing here
//! touches a table or knows how the service does its work.

pub mod docs;
pub mod kit;
mod print;
pub mod receipts;
pub mod reseller;
mod served;
pub mod share;
mod words;
