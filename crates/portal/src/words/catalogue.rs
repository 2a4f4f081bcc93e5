//! Words of: The catalogue: search, filter, buy with a summary before paying.
