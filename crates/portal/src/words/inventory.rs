//! Words of: Inventory: lots, their expiry, refunds, putting bundles on eSIMs.
