//! The versions of the interface, and the changelog.
//!
//! Nothing else compares versions: code asks whether a [`Change`] is seen by the version at hand.

/// A version of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V2_0,
    V2_1,
    V2_2,
    V2_3,
    V2_4,
    V2_5,
}

impl Version {
    /// All of them, oldest first.
    pub const ALL: [Self; 6] =
        [Self::V2_0, Self::V2_1, Self::V2_2, Self::V2_3, Self::V2_4, Self::V2_5];
    /// The one handlers are written for.
    pub const NEWEST: Self = Self::V2_5;

    /// Its name, as in the path and in the contract's file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::V2_0 => "v2.0",
            Self::V2_1 => "v2.1",
            Self::V2_2 => "v2.2",
            Self::V2_3 => "v2.3",
            Self::V2_4 => "v2.4",
            Self::V2_5 => "v2.5",
        }
    }

    /// The path prefixes it is served under.
    pub fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::V2_0 => &["/v2", "/v2.0"],
            Self::V2_1 => &["/v2.1"],
            Self::V2_2 => &["/v2.2"],
            Self::V2_3 => &["/v2.3"],
            Self::V2_4 => &["/v2.4"],
            Self::V2_5 => &["/v2.5"],
        }
    }
}

/// A difference between two versions: one line of the changelog, written for a customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    FirstRelease,
    Catalogue,
    Inventory,
    Filters,
    ListEnvelopes,
    LargeOrdersLater,
    IncludeIccids,
    InvoiceLinks,
    IccidsAlways,
    BundleGroups,
    CreatedDate,
    MajorUnits,
    BalanceWithTestCredit,
    RateLimit,
    CreateDateGone,
    OrderItemDetails,
    AllEsimsOfAnOrder,
    StatusNotMessage,
    BillingType,
    InventoryAllowances,
    ConsumptionPrices,
    BundleProfiles,
    RunningBalance,
}

impl Change {
    /// All of them, in the order they came.
    pub const ALL: [Self; 23] = [
        Self::FirstRelease,
        Self::Catalogue,
        Self::Inventory,
        Self::Filters,
        Self::ListEnvelopes,
        Self::LargeOrdersLater,
        Self::IncludeIccids,
        Self::InvoiceLinks,
        Self::IccidsAlways,
        Self::BundleGroups,
        Self::CreatedDate,
        Self::MajorUnits,
        Self::BalanceWithTestCredit,
        Self::RateLimit,
        Self::CreateDateGone,
        Self::OrderItemDetails,
        Self::AllEsimsOfAnOrder,
        Self::StatusNotMessage,
        Self::BillingType,
        Self::InventoryAllowances,
        Self::ConsumptionPrices,
        Self::BundleProfiles,
        Self::RunningBalance,
    ];

    /// The version that brought it.
    pub fn since(self) -> Version {
        match self {
            Self::FirstRelease => Version::V2_0,
            Self::Catalogue | Self::Inventory => Version::V2_1,
            Self::Filters
            | Self::ListEnvelopes
            | Self::LargeOrdersLater
            | Self::IncludeIccids
            | Self::InvoiceLinks => Version::V2_2,
            Self::IccidsAlways | Self::BundleGroups | Self::CreatedDate => Version::V2_3,
            Self::MajorUnits
            | Self::BalanceWithTestCredit
            | Self::RateLimit
            | Self::CreateDateGone
            | Self::OrderItemDetails
            | Self::AllEsimsOfAnOrder
            | Self::StatusNotMessage
            | Self::BillingType
            | Self::InventoryAllowances => Version::V2_4,
            Self::ConsumptionPrices | Self::BundleProfiles | Self::RunningBalance => Version::V2_5,
        }
    }

    /// What it means for a customer.
    pub fn text(self) -> &'static str {
        match self {
            Self::FirstRelease => {
                "First release: your organisation, top-ups, and orders for bundles."
            }
            Self::Catalogue => {
                "New: the catalogue, one bundle of it, the groups you may buy from, and networks \
                 per country."
            }
            Self::Inventory => "New: the inventory, and giving bundles back for money.",
            Self::Filters => {
                "Lists of orders, bundles and lots can be filtered, with operators such as gte:1, \
                 and sorted."
            }
            Self::ListEnvelopes => {
                "Lists of orders and bundles are objects with pageCount, rows and pageSize; \
                 before, they are bare arrays."
            }
            Self::LargeOrdersLater => {
                "Orders of more than 5 bundles are answered at once and worked on afterwards; \
                 their status is processing meanwhile."
            }
            Self::IncludeIccids => {
                "With includeIccids=true orders show the eSIMs they concern, and for at most 5 \
                 how to install them."
            }
            Self::InvoiceLinks => "Items of top-ups carry invoiceLink, the address of a receipt.",
            Self::IccidsAlways => "Orders always show the eSIMs they concern.",
            Self::BundleGroups => {
                "Bundles show their groups, a picture, and whether they are unlimited; the \
                 inventory shows the last of these."
            }
            Self::CreatedDate => "Orders carry createdDate beside createDate.",
            Self::MajorUnits => {
                "Money is printed in major units (12.5 for twelve and a half dollars); before, it \
                 is a whole number of minor units (1250 cents)."
            }
            Self::BalanceWithTestCredit => {
                "The balance of your organisation includes test credit that has not expired."
            }
            Self::RateLimit => {
                "Live organisations may send 100 requests per second and key, 200 at once; \
                 X-Ratelimit headers tell what is left."
            }
            Self::CreateDateGone => "Orders no longer carry createDate; use createdDate.",
            Self::OrderItemDetails => {
                "Orders show whether they put bundles on eSIMs, and their items AllowReassign. \
                 The list of ICCIDs at the top of an order is gone; use those of its items."
            }
            Self::AllEsimsOfAnOrder => {
                "One order, asked for by its reference, shows how to install all its eSIMs, not \
                 only up to 5."
            }
            Self::StatusNotMessage => {
                "Operations without data, such as a refund, answer under status; before, under \
                 message."
            }
            Self::BillingType => "Bundles show their billingType.",
            Self::InventoryAllowances => "The inventory shows allowances and useDms.",
            Self::ConsumptionPrices => {
                "New: prices per megabyte, for organisations billed by consumption."
            }
            Self::BundleProfiles => {
                "Bundles show the profile of the eSIMs they fit, and their allowances."
            }
            Self::RunningBalance => "Orders carry runningBalance and sourceIP.",
        }
    }

    /// Whether a version has it.
    pub fn seen_by(self, version: Version) -> bool {
        version >= self.since()
    }
}

/// The changelog: every version with what it brought, newest first.
pub fn changelog() -> Vec<(Version, Vec<&'static str>)> {
    let texts = |version| {
        let brought = Change::ALL.into_iter().filter(move |change| change.since() == version);
        brought.map(Change::text).collect()
    };
    Version::ALL.into_iter().rev().map(|version| (version, texts(version))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_from_its_version_on() {
        assert!(!Change::MajorUnits.seen_by(Version::V2_3));
        assert!(Change::MajorUnits.seen_by(Version::V2_4));
        assert!(Change::MajorUnits.seen_by(Version::V2_5));
        assert!(Version::ALL.is_sorted());
    }

    #[test]
    fn every_change_is_in_the_changelog_once() {
        let lines: Vec<_> = changelog().into_iter().flat_map(|(_, texts)| texts).collect();
        assert_eq!(lines.len(), Change::ALL.len());
    }
}
