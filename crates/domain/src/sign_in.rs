//! Guessing passwords: how many wrong ones are free, and how long one waits after more.

/// Whose wrong passwords are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// One person's, from one address.
    Pair,
    /// All that come from one address, which may be an office.
    Address,
    /// One person's, from everywhere: high, so that nobody can lock a stranger out with ease.
    Person,
}

impl Counted {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pair, Self::Address, Self::Person];

    /// Wrong passwords that cost nothing but the time to type them.
    pub fn free(self) -> i64 {
        match self {
            Self::Pair => 5,
            Self::Address => 30,
            Self::Person => 50,
        }
    }

    /// How long to wait after so many: half a minute, then twice as long each time, up to an hour.
    pub fn wait_ms(self, failures: i64) -> i64 {
        match failures - self.free() {
            past if past < 0 => 0,
            past => (FIRST_WAIT_MS << past.min(7)).min(LONGEST_WAIT_MS),
        }
    }
}

const FIRST_WAIT_MS: i64 = 30_000;
const LONGEST_WAIT_MS: i64 = 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_starts_late_and_doubles_to_an_hour() {
        let waits = |counted: Counted| [4, 5, 6, 7, 12, 30, 1_000].map(|n| counted.wait_ms(n));
        assert_eq!(
            waits(Counted::Pair),
            [0, 30_000, 60_000, 120_000, 3_600_000, 3_600_000, 3_600_000]
        );
        assert_eq!(Counted::Address.wait_ms(29), 0);
        assert_eq!(Counted::Person.wait_ms(i64::MAX), 3_600_000);
    }
}
