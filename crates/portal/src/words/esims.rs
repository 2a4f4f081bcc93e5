//! Words of: eSIMs: the list, and the page that explains one.
