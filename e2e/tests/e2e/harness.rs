//! What the stories stand on: it starts the real binary on either database, talks to it over a
//! socket of its own, and holds every answer it sees against the contract.

pub(crate) mod binary;
pub(crate) mod browser;
pub(crate) mod contract;
pub(crate) mod home;
pub(crate) mod http;
pub(crate) mod line;
pub(crate) mod node;
pub(crate) mod python;
pub(crate) mod receiver;
pub(crate) mod wait;
pub(crate) mod world;

pub(crate) use self::binary::Ran;
pub(crate) use self::browser::Browser;
pub(crate) use self::home::Home;
pub(crate) use self::http::{Answer, Request};
pub(crate) use self::node::Node;
pub(crate) use self::receiver::{Call, Reaction, Receiver};
pub(crate) use self::world::{Key, Org, World};
