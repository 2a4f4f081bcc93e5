//! Words of: Team and organisation: people, roles, details, audit log, erasure.
