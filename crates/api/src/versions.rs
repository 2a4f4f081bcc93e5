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

/// Writes the enum of all changes, in the order they came, with the version and the text of each.
macro_rules! changes {
    ($($version:ident { $($name:ident: $text:literal,)* })*) => {
        /// A difference between two versions: one line of the changelog, written for a customer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Change {
            $($($name,)*)*
        }

        impl Change {
            /// All of them, in the order they came.
            pub const ALL: &[Self] = &[$($(Self::$name,)*)*];

            /// The version that brought it.
            pub fn since(self) -> Version {
                match self {
                    $($(Self::$name => Version::$version,)*)*
                }
            }

            /// What it means for a customer.
            pub fn text(self) -> &'static str {
                match self {
                    $($(Self::$name => $text,)*)*
                }
            }
        }
    };
}

changes! {
    V2_0 {
        FirstRelease:
            "First release: your organisation, top-ups, orders for bundles, and your eSIMs: their \
             details, QR codes, text messages, and the bundles on them.",
    }
    V2_1 {
        Catalogue:
            "New: the catalogue, one bundle of it, the groups you may buy from, and networks per \
             country.",
        Inventory:
            "New: the inventory, and giving bundles back for money.",
        Apply:
            "New: POST /esims/apply puts bundles from the inventory on an eSIM of yours or on new \
             ones, and QR codes and install data can be downloaded by its reference. The old POST \
             /esims/{iccid}/bundles is deprecated.",
        EsimCare:
            "New: the history of an eSIM, refreshing it, where it was last seen, and a reference \
             of your own on it.",
        AssignmentsNotOffers:
            "Bundles on an eSIM stand under bundles and assignments, with numbers as numbers; \
             before, under Promotions and activeOffers, all as text. One is removed under \
             applications, no longer under offers.",
        EsimDates:
            "The list of eSIMs shows physical and assignedDate.",
    }
    V2_2 {
        Filters:
            "Lists of orders, eSIMs, bundles and lots can be filtered, with operators such as \
             gte:1, and sorted.",
        ListEnvelopes:
            "Lists of orders and bundles are objects with pageCount, rows and pageSize; before, \
             they are bare arrays.",
        LargeOrdersLater:
            "Orders and applies of more than 5 bundles are answered at once and worked on \
             afterwards; their status is processing meanwhile.",
        IncludeIccids:
            "With includeIccids=true orders show the eSIMs they concern, and for at most 5 how to \
             install them.",
        InvoiceLinks:
            "Items of top-ups carry invoiceLink, the address of a receipt.",
        InstallData:
            "New: GET /esims/assignments gives install data as CSV, JSON or a ZIP of QR codes, as \
             Accept asks. The downloads by qr/{reference} and csv/{reference} are deprecated.",
        Compatible:
            "New: ask whether a bundle fits an eSIM.",
        ApplyOrders:
            "Each apply is an order, with an item of type bundleAssignment for each bundle.",
        UsedBundlesHidden:
            "Finished bundles of an eSIM are listed only with includeUsed=true.",
        HistoryBundles:
            "Entries of the history name the bundle and its state.",
        RevokeByAssignment:
            "One bundle is removed from an eSIM under assignments; applications is deprecated.",
    }
    V2_3 {
        IccidsAlways:
            "Orders always show the eSIMs they concern.",
        BundleGroups:
            "Bundles show their groups, a picture, and whether they are unlimited; the inventory \
             shows the last of these.",
        CreatedDate:
            "Orders carry createdDate beside createDate.",
        BundleStates:
            "Bundles on an eSIM show bundleState, assignmentDateTime and assignmentReference.",
        HistoryAlerts:
            "Entries of the history carry alertType.",
    }
    V2_4 {
        MajorUnits:
            "Money is printed in major units (12.5 for twelve and a half dollars); before, it is \
             a whole number of minor units (1250 cents).",
        BalanceWithTestCredit:
            "The balance of your organisation includes test credit that has not expired.",
        RateLimit:
            "Live organisations may send 100 requests per second and key, 200 at once; \
             X-Ratelimit headers tell what is left.",
        CreateDateGone:
            "Orders no longer carry createDate; use createdDate.",
        OrderItemDetails:
            "Orders show whether they put bundles on eSIMs, and their items AllowReassign. The \
             list of ICCIDs at the top of an order is gone; use those of its items.",
        AllEsimsOfAnOrder:
            "One order, asked for by its reference, shows how to install all its eSIMs, not only \
             up to 5.",
        StatusNotMessage:
            "Operations without data, such as a refund, answer under status; before, under \
             message.",
        BillingType:
            "Bundles show their billingType.",
        InventoryAllowances:
            "The inventory shows allowances and useDms.",
        EsimInstalled:
            "An eSIM tells firstInstalledDateTime in milliseconds, and shows customerRef.",
        InstallSecrets:
            "Install data as JSON carries profileStatus, pin, puk and firstInstalledDateTime.",
        BundleDescriptions:
            "Bundles on an eSIM show description and unlimited.",
        ApplyBundles:
            "The answer to an apply names the bundle of each eSIM.",
        HistoryPages:
            "The history is an object with actions, rows, pageCount and pageSize; its entries say \
             bundleName.",
        NetworkBrands:
            "The location of an eSIM names the brand of the network.",
        UnknownEsimDenied:
            "An ICCID that is not yours is 403 everywhere; before, 400 on details, history, \
             refresh and compatible.",
    }
    V2_5 {
        ConsumptionPrices:
            "New: prices per megabyte, for organisations billed by consumption.",
        BundleProfiles:
            "Bundles show the profile of the eSIMs they fit, and their allowances.",
        RunningBalance:
            "Orders carry runningBalance and sourceIP.",
        SuspendAndDelete:
            "New: suspend an eSIM and lift that, and remove an eSIM for good.",
        EsimState:
            "eSIMs show msisdn and state; one eSIM also brandingId, profileName and both install \
             addresses.",
        EsimAllowances:
            "Bundles on an eSIM show allowances.",
        ZipTable:
            "A ZIP of QR codes also holds a CSV.",
    }
}

impl Change {
    /// Whether a version has it.
    pub fn seen_by(self, version: Version) -> bool {
        version >= self.since()
    }
}

/// The changelog: every version with what it brought, newest first.
pub fn changelog() -> Vec<(Version, Vec<&'static str>)> {
    let texts = |version| {
        let brought = Change::ALL.iter().filter(move |change| change.since() == version);
        brought.map(|change| change.text()).collect()
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
