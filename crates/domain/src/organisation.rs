//! A reseller's organisation, its settings and its people.

use crate::catalogue::Market;
use crate::contact::Email;
use crate::{CallbackUrl, Currency, Money, OrgId, Secret, Timestamp, UserId, assignment, limits};

/// Fixed when an organisation is made. A sandbox organisation has a clock of its own and meets only
/// built-in test doubles of the outside world; a live one never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// For trying things out: own clock, test card, test phones.
    Sandbox,
    /// Real money, real eSIMs, real time.
    Live,
}

impl Mode {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Live => "live",
        }
    }

    /// The mode of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Sandbox, Self::Live].into_iter().find(|mode| mode.name() == text)
    }
}

/// What an organisation says of itself and may change. The names are those of the interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// Trading name.
    pub name: String,
    /// Whether tax is charged, as free text.
    pub tax_liable: String,
    /// First address line.
    pub addr1: String,
    /// Second address line.
    pub addr2: String,
    /// City.
    pub city: String,
    /// Country, as free text.
    pub country: String,
    /// Postal code.
    pub postcode: String,
    /// Notes.
    pub notes: String,
    /// Kind of business, as free text.
    pub business_type: String,
    /// Web site.
    pub website: String,
    /// What it sells.
    pub product_description: String,
}

/// Which form of the usage callback an organisation receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallbackVersion {
    /// The shorter form, unsigned.
    #[default]
    V2,
    /// The fuller form, signed.
    V3,
}

impl CallbackVersion {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::V2 => "V2",
            Self::V3 => "V3",
        }
    }

    /// The version of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::V2, Self::V3].into_iter().find(|version| version.name() == text)
    }
}

/// How often usage is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UsageEvents {
    /// One event for each record and bundle.
    #[default]
    Every,
    /// Only when a step of the bundle is passed.
    Steps,
}

impl UsageEvents {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Every => "every",
            Self::Steps => "steps",
        }
    }

    /// The choice of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Every, Self::Steps].into_iter().find(|choice| choice.name() == text)
    }
}

/// How an organisation pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Billing {
    /// Bundles, from its balance.
    #[default]
    Prepaid,
    /// What it uses, by the megabyte.
    Consumption,
}

impl Billing {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepaid => "prepaid",
            Self::Consumption => "consumption",
        }
    }

    /// The billing of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Prepaid, Self::Consumption].into_iter().find(|billing| billing.name() == text)
    }
}

/// What the operator (and later the portal) sets for an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Bundle groups it may buy from; none = all.
    pub groups: Vec<String>,
    /// Where callbacks go.
    pub callback_url: Option<CallbackUrl>,
    /// Which form they have.
    pub callback_version: CallbackVersion,
    /// How often they come.
    pub usage_events: UsageEvents,
    /// At which percentages, where they come in steps.
    pub usage_steps: Vec<i64>,
    /// Kinds of events beside usage that are sent.
    pub callback_events: Vec<String>,
    /// The balance that counts as low, in minor units; none = the usual one.
    pub low_balance: Option<i64>,
    /// SMS senders beyond the default one.
    pub senders: Vec<String>,
    /// Addresses and networks its keys work from, in CIDR form; none = everywhere.
    pub ip_allow_list: Vec<String>,
    /// Requests per second and key, where the operator has set a limit.
    pub rate_limit: Option<u32>,
    /// Bounds of top-ups and the automatic one.
    pub topup: TopupSettings,
    /// The list it has its prices from; empty = the standard one.
    pub price_list: String,
    /// Days in which bundles can be given back; 0 = never.
    pub refund_days: i64,
    /// How it pays.
    pub billing: Billing,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            groups: vec![],
            callback_url: None,
            callback_version: CallbackVersion::default(),
            usage_events: UsageEvents::default(),
            usage_steps: assignment::STEPS.to_vec(),
            callback_events: vec![],
            low_balance: None,
            senders: vec![],
            ip_allow_list: vec![],
            rate_limit: None,
            topup: TopupSettings::default(),
            price_list: String::new(),
            refund_days: limits::REFUND_DAYS,
            billing: Billing::default(),
        }
    }
}

/// Bounds of top-ups, in minor units; none = no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TopupSettings {
    /// The least a top-up may be.
    pub minimum: Option<i64>,
    /// The most all top-ups of one day (UTC) may be.
    pub daily_maximum: Option<i64>,
    /// Below this balance the card is charged by itself; none = never.
    pub auto_threshold: Option<i64>,
    /// By how much.
    pub auto_amount: Option<i64>,
}

/// How the place that callbacks go to does. The house's clock for the operator's pause, the
/// organisation's own for the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Endpoint {
    /// Since when the operator lets callbacks wait.
    pub paused_at: Option<Timestamp>,
    /// Since when every attempt has failed.
    pub failing_since: Option<Timestamp>,
    /// Since when it is switched off.
    pub off_at: Option<Timestamp>,
    /// Why.
    pub off_why: String,
}

/// An organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organisation {
    /// Its id.
    pub id: OrgId,
    /// The id it is met under: its own, or that of a sandbox it took the place of.
    pub known_as: OrgId,
    /// Sandbox or live.
    pub mode: Mode,
    /// The currency of its balance and of what it sees and buys.
    pub currency: Currency,
    /// What it says of itself.
    pub profile: Profile,
    /// What is set for it.
    pub settings: Settings,
    /// How the place its callbacks go to does.
    pub endpoint: Endpoint,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Organisation {
    /// The balance at which it is told that it is low.
    pub fn low_balance(&self) -> Money {
        let usual = limits::LOW_BALANCE_MAJOR * 10_i64.pow(self.currency.decimals());
        Money::minor(self.settings.low_balance.unwrap_or(usual), self.currency)
    }

    /// What it sees for sale.
    pub fn market(&self) -> Market {
        Market {
            currency: self.currency,
            groups: self.settings.groups.clone(),
            price_list: self.settings.price_list.clone(),
        }
    }
}

/// What a person may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Everything, including closing the account.
    Owner,
    /// Everything but ownership.
    Admin,
    /// Keys, callbacks, logs.
    Developer,
    /// eSIMs and orders, no money.
    Support,
    /// Looks only.
    Viewer,
}

/// Every role with its spelling on the wire and in the database.
const ROLES: [(Role, &str); 5] = [
    (Role::Owner, "Owner"),
    (Role::Admin, "Admin"),
    (Role::Developer, "Developer"),
    (Role::Support, "Support"),
    (Role::Viewer, "Viewer"),
];

impl Role {
    /// The role of that name.
    pub fn parse(text: &str) -> Option<Self> {
        ROLES.iter().find(|(_, name)| *name == text).map(|(role, _)| *role)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        ROLES.iter().find(|(role, _)| *role == self).map_or("", |(_, name)| name)
    }
}

/// A person of an organisation, or of the house.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// First name.
    pub first_name: String,
    /// Last name.
    pub last_name: String,
    /// What it may do.
    pub role: Role,
    /// What it signs in with; unique in the whole service.
    pub email: Email,
    /// Telephone number, as free text.
    pub phone: String,
    /// IANA name of its time zone, such as `Europe/Paris`.
    pub time_zone: String,
    /// The hash of its password; none until it has set one.
    pub password_hash: Option<Secret<String>>,
    /// When it was made.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_reads_back() {
        for (role, name) in ROLES {
            assert_eq!(Role::parse(name), Some(role));
            assert_eq!(role.name(), name);
        }
        assert_eq!(Role::parse("owner"), None);
    }
}
