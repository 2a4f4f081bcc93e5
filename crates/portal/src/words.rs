//! Every sentence of the portal, by area. Pages hold structure; whoever wants to read, mend or
//! translate what people are told does it here.

pub(crate) mod account;
pub(crate) mod answers;
pub(crate) mod billing;
pub(crate) mod catalogue;
pub(crate) mod developers;
pub(crate) mod entrance;
pub(crate) mod esims;
pub(crate) mod inventory;
pub(crate) mod orders;
pub(crate) mod overview;
pub(crate) mod rail;
pub(crate) mod share;
pub(crate) mod team;
pub(crate) mod trouble;
