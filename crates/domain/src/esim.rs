//! An eSIM: what its installation server, its owner and the network know of it.

use crate::{Iccid, Msisdn, Secret, Timestamp};

/// What the installation server knows of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileStatus {
    /// Not installed now.
    Released,
    /// Delivered to a device, not yet installed.
    Downloaded,
    /// Installed on a device.
    Installed,
    /// Cannot be installed.
    Unavailable,
    /// Dead for good.
    Deactivated,
}

impl ProfileStatus {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Released, Self::Downloaded, Self::Installed, Self::Unavailable, Self::Deactivated];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Released => "Released",
            Self::Downloaded => "Downloaded",
            Self::Installed => "Installed",
            Self::Unavailable => "Unavailable",
            Self::Deactivated => "Deactivated",
        }
    }

    /// The status of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == text)
    }

    /// Whether it can change into another. Steps that were not told of may be left out, since
    /// notices get lost; what is dead stays dead.
    pub fn may_become(self, next: Self) -> bool {
        match (self, next) {
            (Self::Unavailable, Self::Deactivated) => true,
            (Self::Deactivated | Self::Unavailable, _) | (Self::Installed, Self::Downloaded) => {
                false
            }
            (now, next) => now != next,
        }
    }
}

/// Who has suspended an eSIM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuspendedBy {
    /// The organisation it belongs to, which can lift it.
    Owner,
    /// The operator.
    Policy,
    /// The one and then the other.
    Both,
}

impl SuspendedBy {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Policy => "policy",
            Self::Both => "both",
        }
    }

    /// The one of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Owner, Self::Policy, Self::Both].into_iter().find(|by| by.name() == text)
    }
}

/// Where an eSIM was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// When.
    pub at: Timestamp,
    /// ISO code of the country.
    pub country: String,
    /// TADIG code of the network; may be empty.
    pub network: String,
}

/// An eSIM of an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Esim {
    /// Its number.
    pub iccid: Iccid,
    /// The bundles it fits.
    pub profile_name: String,
    /// What its installation server says of it.
    pub status: ProfileStatus,
    /// Its telephone number.
    pub msisdn: Option<Msisdn>,
    /// Its owner's own note.
    pub customer_ref: String,
    /// What was last done to it; empty at first.
    pub last_action: String,
    /// When.
    pub action_at: Option<Timestamp>,
    /// When it came to the organisation.
    pub assigned_at: Timestamp,
    /// When it was installed for the first time.
    pub first_installed_at: Option<Timestamp>,
    /// When data was used for the first time.
    pub first_used_at: Option<Timestamp>,
    /// Who has suspended it.
    pub suspended_by: Option<SuspendedBy>,
    /// Where it was last seen.
    pub seen: Option<Seen>,
    /// When it leaves the organisation, once that was announced.
    pub leaves_at: Option<Timestamp>,
}

impl Esim {
    /// In one word, whether it can be used.
    pub fn state(&self) -> &'static str {
        match (self.status, self.suspended_by) {
            (ProfileStatus::Deactivated, _) => "deactivated",
            (_, Some(_)) => "suspended",
            (_, None) => "active",
        }
    }

    /// Whether it is dead for good.
    pub fn is_deactivated(&self) -> bool {
        self.status == ProfileStatus::Deactivated
    }
}

/// What is needed to install an eSIM.
#[derive(Debug, Clone)]
pub struct InstallCode {
    /// Its number.
    pub iccid: Iccid,
    /// Names it on its installation server.
    pub matching_id: Secret<String>,
    /// The installation server.
    pub smdp_address: String,
}

impl InstallCode {
    /// What a phone reads from the picture.
    pub fn activation_code(&self) -> String {
        format!("LPA:1${}${}", self.smdp_address, self.matching_id.expose())
    }

    /// Opens the installation on an iPhone, from iOS 17.4 on.
    pub fn apple_url(&self) -> String {
        let code = self.activation_code();
        format!("https://esimsetup.apple.com/esim_qrcode_provisioning?carddata={code}")
    }

    /// Opens the installation on an Android phone.
    pub fn android_url(&self) -> String {
        let code = self.activation_code();
        format!("https://esimsetup.android.com/esim_qrcode_provisioning?carddata={code}")
    }
}

/// An entry of the history of an eSIM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub kind: EntryKind,
    /// The bundle it happened to, and its state then.
    pub bundle: Option<(String, String)>,
    /// The percentage of an alert.
    pub percent: Option<i64>,
}

/// What can happen to an eSIM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A bundle was put on it.
    Applied,
    /// A bundle was taken off.
    Revoked,
    /// The time of a bundle is over.
    Expired,
    /// A bundle waited too long.
    Lapsed,
    /// A revoked bundle was paid back.
    RefundedToBalance,
    /// A revoked bundle went back to the inventory.
    RefundedToInventory,
    /// Its owner changed something.
    Updated,
    /// The network forgot where it is.
    Refreshed,
    /// A good part of a bundle is used.
    Alert,
    /// It was taken back.
    Returned,
    /// It registered on a network for the first time.
    FirstAttachment,
    /// Data was used for the first time.
    FirstUse,
}

impl EntryKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Applied,
        Self::Revoked,
        Self::Expired,
        Self::Lapsed,
        Self::RefundedToBalance,
        Self::RefundedToInventory,
        Self::Updated,
        Self::Refreshed,
        Self::Alert,
        Self::Returned,
        Self::FirstAttachment,
        Self::FirstUse,
    ];

    /// Its name. The spelling of the two refunds differs on purpose.
    pub fn name(self) -> &'static str {
        match self {
            Self::Applied => "Bundle Applied",
            Self::Revoked => "Bundle Revoked",
            Self::Expired => "Bundle Expired",
            Self::Lapsed => "Bundle Lapsed",
            Self::RefundedToBalance => "Bundle Refunded To Balance",
            Self::RefundedToInventory => "Bundle Refunded to Inventory",
            Self::Updated => "eSIM Updated",
            Self::Refreshed => "eSIM Refreshed",
            Self::Alert => "eSIM Utilisation Alert",
            Self::Returned => "eSIM Returned",
            Self::FirstAttachment => "eSIM First Attachment",
            Self::FirstUse => "eSIM First Use",
        }
    }

    /// The kind of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == text)
    }

    /// What it is called as the last action of an eSIM, where it counts as one.
    pub fn action(self) -> Option<&'static str> {
        match self {
            Self::Applied | Self::Revoked | Self::Updated | Self::Refreshed | Self::Alert => {
                Some(self.name())
            }
            Self::RefundedToBalance | Self::RefundedToInventory => Some("Bundle Refund"),
            Self::Expired
            | Self::Lapsed
            | Self::Returned
            | Self::FirstAttachment
            | Self::FirstUse => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for status in ProfileStatus::ALL {
            assert_eq!(ProfileStatus::parse(status.name()), Some(status));
        }
        for kind in EntryKind::ALL {
            assert_eq!(EntryKind::parse(kind.name()), Some(kind));
        }
        for by in [SuspendedBy::Owner, SuspendedBy::Policy, SuspendedBy::Both] {
            assert_eq!(SuspendedBy::parse(by.name()), Some(by));
        }
    }

    #[test]
    fn a_profile_moves_as_profiles_do() {
        use ProfileStatus::{Deactivated, Downloaded, Installed, Released, Unavailable};
        for (from, to) in [
            (Released, Downloaded),
            (Released, Installed),
            (Downloaded, Installed),
            (Downloaded, Released),
            (Installed, Released),
            (Installed, Unavailable),
            (Unavailable, Deactivated),
        ] {
            assert!(from.may_become(to), "{from:?} {to:?}");
        }
        for (from, to) in [
            (Installed, Downloaded),
            (Installed, Installed),
            (Unavailable, Installed),
            (Deactivated, Released),
            (Deactivated, Deactivated),
        ] {
            assert!(!from.may_become(to), "{from:?} {to:?}");
        }
    }

    #[test]
    fn codes_are_written_as_phones_read_them() {
        let code = InstallCode {
            iccid: Iccid::parse("8943001000000026411").expect("an ICCID"),
            matching_id: Secret::new("K2QPA-7RMXD-W4TZN-90HLC".to_owned()),
            smdp_address: "rsp.example".to_owned(),
        };
        assert_eq!(code.activation_code(), "LPA:1$rsp.example$K2QPA-7RMXD-W4TZN-90HLC");
        assert!(code.apple_url().ends_with("?carddata=LPA:1$rsp.example$K2QPA-7RMXD-W4TZN-90HLC"));
        assert!(code.android_url().starts_with("https://esimsetup.android.com/"));
    }
}
