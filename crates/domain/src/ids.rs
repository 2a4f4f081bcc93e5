//! Typed ids: time-ordered UUIDs, one type per thing, so that no two can be mixed up.
//!
//! Randomness and time come from the caller, so that a seeded run makes the same ids.

use std::fmt;

use uuid::Uuid;

use crate::Timestamp;

/// The text is not an id of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
pub struct NotAnId;

/// Makes one newtype per line. Append, never reuse a name.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id: the time leads, ten random bytes follow.
            pub fn new(now: Timestamp, random: [u8; 10]) -> Self {
                let ms = u64::try_from(now.ms()).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid())
            }

            /// When it was made.
            pub fn made_at(&self) -> Timestamp {
                let [a, b, c, d, e, f, ..] = *self.0.as_bytes();
                let ms = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
                Timestamp::from_ms(i64::try_from(ms).unwrap_or(i64::MAX))
            }

            /// Reads the canonical text form.
            pub fn parse(text: &str) -> Result<Self, NotAnId> {
                // Only the hyphenated form: one id has one spelling in logs and URLs.
                if text.len() != 36 {
                    return Err(NotAnId);
                }
                Uuid::parse_str(text).map(Self).map_err(|_| NotAnId)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    )*};
}

ids! {
    /// A reseller's organisation, or the house itself.
    OrgId;
    /// One API or operator key.
    KeyId;
    /// A person: a reseller's user or the operator's staff.
    UserId;
    /// An entry of the audit log.
    AuditId;
    /// A piece of due work.
    JobId;
    /// A fact in the event feed.
    EventId;
    /// An order, inside; its reference on the wire is another.
    OrderId;
    /// A link for a traveller to an eSIM.
    ShareId;
}

impl OrgId {
    /// The wholesaler who runs the service. Operator keys and console users belong to it; it buys
    /// nothing and never appears in a list of organisations.
    pub const HOUSE: Self = Self(Uuid::nil());

    /// A small number that spreads organisations evenly, to choose a writer by.
    pub fn spread(self) -> u64 {
        // The low half of a time-ordered id is random; the high half is not.
        self.0.as_u64_pair().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_read_back() {
        let early = OrgId::new(Timestamp::from_ms(1_000), [255; 10]);
        let late = OrgId::new(Timestamp::from_ms(1_001), [0; 10]);
        assert!(early < late);
        assert!(early.to_string() < late.to_string());
        assert_eq!(OrgId::parse(&early.to_string()), Ok(early));
    }

    #[test]
    fn only_the_canonical_spelling_is_an_id() {
        for text in ["", "1", "0192f0c1", "{00000000-0000-0000-0000-000000000000}", "é"] {
            assert_eq!(OrgId::parse(text), Err(NotAnId), "{text}");
        }
        assert_eq!(OrgId::parse("00000000-0000-0000-0000-000000000000"), Ok(OrgId::HOUSE));
    }
}
