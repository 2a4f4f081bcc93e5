//! Words of: Developers: keys, callbacks, deliveries, the feed, failed requests, the sandbox.
