//! What is for sale: bundles, where they work, and what they cost to whom.

mod draft;

pub use self::draft::{Draft, Fault, Known, Placed};
use crate::{BundleName, Currency};

/// A country, or a region that is sold as one (`Europe+`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Country {
    /// `FR`, `US-HI`, `Europe+`.
    pub iso: String,
    /// Its name.
    pub name: String,
    /// The part of the world it is in.
    pub region: String,
}

/// Parts of the world, as the interface names them.
pub const REGIONS: [&str; 10] = [
    "Africa",
    "Antarctica",
    "Asia",
    "Europe",
    "Global",
    "LATAM",
    "Middle East",
    "North America",
    "Oceania",
    "South America",
];

/// A network of a country.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// The country it is in.
    pub iso: String,
    /// The company.
    pub name: String,
    /// What it calls itself.
    pub brand: String,
    /// Mobile country code, three digits.
    pub mcc: String,
    /// Mobile network code, two or three digits.
    pub mnc: String,
    /// TADIG code, five letters and digits.
    pub tadig: String,
    /// `4G`, `5G`, …
    pub speeds: Vec<String>,
}

/// Bundles that belong together; organisations may be limited to some of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Where its price list can be read; may be empty.
    pub price_list_url: String,
    /// A picture; may be empty.
    pub icon: String,
}

/// How much data a bundle has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// So many megabytes (1 GB = 1,000 MB).
    Megabytes(i64),
    /// As much as one likes: full speed up to an amount a day, throttled beyond.
    Unlimited {
        /// Megabytes a day at full speed.
        daily_mb: i64,
        /// Kilobits per second beyond it.
        throttle_kbps: i64,
    },
}

impl Data {
    /// What a bundle has a day at full speed unless it says otherwise.
    pub const DAILY_MB: i64 = 1_000;
    /// What is left beyond it unless it says otherwise: enough for messages and maps.
    pub const THROTTLE_KBPS: i64 = 512;

    /// Megabytes, as the interface counts them: −1 is unlimited.
    pub fn megabytes(self) -> i64 {
        match self {
            Self::Megabytes(megabytes) => megabytes,
            Self::Unlimited { .. } => -1,
        }
    }

    /// Megabytes a day at full speed and kilobits per second beyond; none where neither is.
    pub fn daily(self) -> (Option<i64>, Option<i64>) {
        match self {
            Self::Megabytes(_) => (None, None),
            Self::Unlimited { daily_mb, throttle_kbps } => (Some(daily_mb), Some(throttle_kbps)),
        }
    }

    /// Whether it is unlimited.
    pub fn is_unlimited(self) -> bool {
        matches!(self, Self::Unlimited { .. })
    }
}

/// The unit of a bundle's duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurationUnit {
    /// 24 hours.
    Day,
    /// A calendar month.
    Month,
}

impl DurationUnit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    /// The unit of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Day, Self::Month].into_iter().find(|unit| unit.name() == text)
    }
}

/// When a bundle starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At once, when no other is active.
    Auto,
    /// At its first data use.
    FirstUse,
}

impl Start {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::FirstUse => "use",
        }
    }

    /// The one of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Auto, Self::FirstUse].into_iter().find(|start| start.name() == text)
    }
}

/// Something a bundle holds, for people to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    /// `DATA`, `VOICE` or `SMS`.
    pub kind: String,
    /// `STANDARD` or `ROAMING`.
    pub service: String,
    /// In words.
    pub description: String,
    /// How much; 0 for unlimited.
    pub amount: i64,
    /// `MB`, `MINS` or `SMS`.
    pub unit: String,
    /// Whether there is no end to it.
    pub is_unlimited: bool,
}

/// A data plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Its name; case matters.
    pub name: BundleName,
    /// For people.
    pub description: String,
    /// ISO codes of the countries it is sold for; a regional bundle has one pseudo country.
    pub countries: Vec<String>,
    /// ISO codes of the countries a regional bundle works in.
    pub roaming: Vec<String>,
    /// How much data.
    pub data: Data,
    /// How long, in its unit.
    pub duration: i64,
    /// The unit.
    pub duration_unit: DurationUnit,
    /// `4G`, `5G`, …; none when it is not known.
    pub speeds: Vec<String>,
    /// When it starts.
    pub start: Start,
    /// Groups it belongs to.
    pub groups: Vec<String>,
    /// The eSIMs it fits.
    pub profile_name: String,
    /// A picture; may be empty.
    pub image_url: String,
    /// What it holds; none = its data and nothing else.
    pub allowances: Vec<Allowance>,
    /// Whether it is no longer sold. Those who hold it keep it.
    pub is_withdrawn: bool,
}

/// The eSIMs a bundle fits when nothing else is said.
pub const PROFILE_NAME: &str = "Profile 1";

impl Bundle {
    /// How long it lasts in days, as the catalogue tells it; a month counts as 30.
    pub fn days(&self) -> i64 {
        match self.duration_unit {
            DurationUnit::Day => self.duration,
            DurationUnit::Month => self.duration.saturating_mul(30),
        }
    }

    /// What it holds, in words and numbers.
    pub fn allowances(&self) -> Vec<Allowance> {
        if !self.allowances.is_empty() {
            return self.allowances.clone();
        }
        let (amount, description) = match self.data {
            Data::Megabytes(mb) if mb % 1_000 == 0 => (mb, format!("{}GB of data", mb / 1_000)),
            Data::Megabytes(mb) => (mb, format!("{mb}MB of data")),
            Data::Unlimited { .. } => (0, "Unlimited data".to_owned()),
        };
        vec![Allowance {
            kind: "DATA".into(),
            service: "ROAMING".into(),
            description,
            amount,
            unit: "MB".into(),
            is_unlimited: self.data.is_unlimited(),
        }]
    }
}

/// The price of a bundle, in minor units, on a list. The standard list has the empty name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// Which list.
    pub list: String,
    /// Which bundle.
    pub bundle: BundleName,
    /// In which currency.
    pub currency: Currency,
    /// How much.
    pub minor: i64,
}

/// The price of a megabyte in a country, for organisations billed by what they use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate {
    /// Which list; the standard one has the empty name.
    pub list: String,
    /// The country.
    pub iso: String,
    /// The eSIMs it is for.
    pub profile_name: String,
    /// In which currency.
    pub currency: Currency,
    /// Major units per megabyte, as decimal text: finer than money.
    pub price: String,
}

/// What decides which bundles an organisation sees, and at what price.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Market {
    /// Its currency.
    pub currency: Currency,
    /// Groups it may buy from; none = all.
    pub groups: Vec<String>,
    /// The list it has its prices from; what is not on it comes from the standard list.
    pub price_list: String,
}

impl Market {
    /// The market of nobody: nothing is priced in the currency that is none.
    pub fn none() -> Self {
        Self { currency: Currency::NONE, groups: vec![], price_list: String::new() }
    }

    /// Whether it may buy from these groups.
    pub fn allows(&self, groups: &[String]) -> bool {
        self.groups.is_empty() || groups.iter().any(|group| self.groups.contains(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_groups_means_all_groups() {
        let mut market = Market {
            currency: Currency::parse("USD").expect("a code"),
            groups: vec![],
            price_list: String::new(),
        };
        let groups = ["Fixed".to_owned()];
        assert!(market.allows(&groups) && market.allows(&[]));
        market.groups = vec!["Unlimited".into()];
        assert!(!market.allows(&groups) && !market.allows(&[]));
        market.groups.push("Fixed".into());
        assert!(market.allows(&groups));
    }
}
