//! Every sentence of the portal, by area. Pages hold structure; whoever wants to read, mend or
//! translate what people are told does it here.

pub(crate) mod account;
pub(crate) mod answers;
pub(crate) mod entrance;
pub(crate) mod rail;
pub(crate) mod trouble;
