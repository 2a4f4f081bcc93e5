//! Words of: The overview: how things stand, at a glance.
