//! What each role of a reseller's people may see and do.

use crate::Role;

/// Something a person may be allowed to see or do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Right {
    /// See catalogue, eSIMs, orders, inventory and figures.
    See,
    /// See what installs an eSIM: its code, its links, its PIN.
    Codes,
    /// Look after travellers: put bundles on eSIMs, take them off, send messages, share.
    Care,
    /// See what was paid and what is left.
    Books,
    /// Spend: buy, give back, top up, store a card.
    Pay,
    /// Keys, callbacks, the log of requests, the sandbox's clock, phones and faults.
    Develop,
    /// People, the organisation's own details, the audit log, erasure.
    Manage,
}

impl Right {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::See, Self::Codes, Self::Care, Self::Books, Self::Pay, Self::Develop, Self::Manage];
}

impl Role {
    /// All roles, the mightiest first.
    pub const ALL: [Self; 5] =
        [Self::Owner, Self::Admin, Self::Developer, Self::Support, Self::Viewer];

    /// Whether people of this role may do that.
    pub fn may(self, right: Right) -> bool {
        match self {
            Self::Owner | Self::Admin => true,
            Self::Developer => matches!(right, Right::See | Right::Codes | Right::Develop),
            Self::Support => matches!(right, Right::See | Right::Codes | Right::Care),
            Self::Viewer => matches!(right, Right::See | Right::Books),
        }
    }

    /// Whether people of this role may give, change and take away that one. Only owners touch
    /// owners.
    pub fn may_appoint(self, other: Self) -> bool {
        self == Self::Owner || (self == Self::Admin && other != Self::Owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_as_the_table_says() {
        let granted = |role: Role| {
            Right::ALL.map(|right| if role.may(right) { 'x' } else { '.' }).iter().collect()
        };
        // See, Codes, Care, Books, Pay, Develop, Manage
        let table: [(Role, &str); 5] = [
            (Role::Owner, "xxxxxxx"),
            (Role::Admin, "xxxxxxx"),
            (Role::Developer, "xx...x."),
            (Role::Support, "xxx...."),
            (Role::Viewer, "x..x..."),
        ];
        for (role, rights) in table {
            let granted: String = granted(role);
            assert_eq!(granted, rights, "{}", role.name());
        }
    }

    #[test]
    fn only_owners_touch_owners() {
        assert!(Role::Owner.may_appoint(Role::Owner));
        assert!(Role::Admin.may_appoint(Role::Admin));
        assert!(!Role::Admin.may_appoint(Role::Owner));
        for role in [Role::Developer, Role::Support, Role::Viewer] {
            assert!(Role::ALL.iter().all(|other| !role.may_appoint(*other)));
        }
    }
}
