//! Words of the share page, for the traveller.
