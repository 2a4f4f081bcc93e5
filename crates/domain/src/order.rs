//! Orders: the record of a purchase, a top-up, a refund or an apply.

use crate::{BundleName, Iccid, OrderId, OrgId, Timestamp};

/// How far an order is. `Completed` and `Failed` never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Accepted and paid for, still being worked on.
    Processing,
    /// Done.
    Completed,
    /// Not fulfilled; everything was returned.
    Failed,
}

impl Status {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// The status of that name.
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::Processing, Self::Completed, Self::Failed];
        all.into_iter().find(|status| status.name() == text)
    }
}

/// Where the bundles of an order go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// It has none: a top-up, a refund.
    Nowhere,
    /// Into the inventory.
    Inventory,
    /// Onto eSIMs.
    Esims,
}

impl Target {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nowhere => "none",
            Self::Inventory => "inventory",
            Self::Esims => "esims",
        }
    }

    /// The target of that name.
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::Nowhere, Self::Inventory, Self::Esims];
        all.into_iter().find(|target| target.name() == text)
    }
}

/// What a line of an order is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Bundles bought.
    Bundle,
    /// A bundle put on an eSIM from the inventory.
    BundleAssignment,
    /// Bundles given back for money.
    BundleRefund,
    /// A payment by the interface.
    ApiTopup,
    /// A payment in the portal.
    Topup,
    /// A payment that happened by itself.
    AutoTopup,
}

impl ItemKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Bundle,
        Self::BundleAssignment,
        Self::BundleRefund,
        Self::ApiTopup,
        Self::Topup,
        Self::AutoTopup,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::BundleAssignment => "bundleAssignment",
            Self::BundleRefund => "bundleRefund",
            Self::ApiTopup => "apiTopup",
            Self::Topup => "topup",
            Self::AutoTopup => "autoTopup",
        }
    }

    /// The kind of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == text)
    }

    /// Whether it is a payment.
    pub fn is_topup(self) -> bool {
        matches!(self, Self::ApiTopup | Self::Topup | Self::AutoTopup)
    }
}

/// An order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its id, inside.
    pub id: OrderId,
    /// Whose.
    pub org: OrgId,
    /// Its reference, outside.
    pub reference: String,
    /// How far it is.
    pub status: Status,
    /// The same for a person.
    pub status_message: String,
    /// Where its bundles go.
    pub target: Target,
    /// In minor units.
    pub total: i64,
    /// How much of that was test credit.
    pub test_credit: i64,
    /// The balance, with valid test credit, right after its money was taken.
    pub running_balance: i64,
    /// The address it came from; empty when it did not come over the network.
    pub source_ip: String,
    /// When it was placed, by the organisation's clock.
    pub created_at: Timestamp,
    /// When it was completed or failed.
    pub finished_at: Option<Timestamp>,
    /// Whether it is shown as an order. An apply of an early version is not, but has a reference.
    pub is_listed: bool,
}

/// One line of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is about.
    pub kind: ItemKind,
    /// The bundle, the assignment, the number of the top-up.
    pub item: String,
    /// How many.
    pub quantity: i64,
    /// In minor units.
    pub sub_total: i64,
    /// In minor units.
    pub price_per_unit: i64,
    /// Whether an eSIM that does not fit may be replaced by a new one.
    pub allow_reassign: bool,
}

/// A bundle on an eSIM, as far as orders go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// The item it belongs to, counted from 0.
    pub item: i64,
    /// Its number within the order, counted from 0.
    pub n: i64,
    /// The eSIM.
    pub iccid: Iccid,
    /// The bundle.
    pub bundle: BundleName,
    /// Whether the eSIM was issued for it.
    pub is_new_esim: bool,
}

/// The text of an order that put bundles on so many eSIMs, or into the inventory.
pub fn completed_message(target: Target, esims: usize) -> String {
    match target {
        // Plural also for one: that is what readers compare with.
        Target::Esims => format!("Order completed: {esims} eSIMs assigned"),
        Target::Nowhere | Target::Inventory => "Order completed".to_owned(),
    }
}

/// The text while it is worked on.
pub const PROCESSING: &str = "Order processing";
/// The text when it failed.
pub const FAILED: &str = "Order processing failed";
/// The text of a refund.
pub const REFUNDED: &str = "Refund completed";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for kind in ItemKind::ALL {
            assert_eq!(ItemKind::parse(kind.name()), Some(kind));
        }
        for status in [Status::Processing, Status::Completed, Status::Failed] {
            assert_eq!(Status::parse(status.name()), Some(status));
        }
        for target in [Target::Nowhere, Target::Inventory, Target::Esims] {
            assert_eq!(Target::parse(target.name()), Some(target));
        }
        assert_eq!(Status::parse("Completed"), None);
    }
}
