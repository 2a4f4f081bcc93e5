//! Developers: keys, callbacks, deliveries, the feed, failed requests, the sandbox.

pub(crate) mod callbacks;
pub(crate) mod deliveries;
pub(crate) mod events;
pub(crate) mod keys;
pub(crate) mod requests;
pub(crate) mod sandbox;

pub(crate) const TABS: &str = "Developers";
pub(crate) const KEYS: &str = "Keys";
pub(crate) const CALLBACKS: &str = "Callbacks";
pub(crate) const DELIVERIES: &str = "Deliveries";
pub(crate) const EVENTS: &str = "Events";
pub(crate) const REQUESTS: &str = "Failed requests";
pub(crate) const SANDBOX: &str = "Sandbox";

pub(crate) const PASSWORD: &str = "Your password";
pub(crate) const SAVE: &str = "Save";
pub(crate) const SAVED: &str = "Saved.";
