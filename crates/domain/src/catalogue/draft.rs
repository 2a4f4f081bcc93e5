//! A catalogue as an operator brings it: every row remembers its place, so that a fault names it.

use std::collections::HashSet;

use super::{Bundle, Country, Data, Group, Network, Price, REGIONS, Rate};
use crate::limits;

/// A row with its place: `line 7`, `bundles[6]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// Where it stands.
    pub at: String,
    /// What it says.
    pub value: T,
}

/// Something that is wrong with a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub at: String,
    /// What, naming the field.
    pub why: String,
}

/// Rows to add or to change. What a draft does not mention stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Draft {
    /// Countries.
    pub countries: Vec<Placed<Country>>,
    /// Networks. Those of a country that is mentioned replace all it had.
    pub networks: Vec<Placed<Network>>,
    /// Groups of bundles.
    pub groups: Vec<Placed<Group>>,
    /// Bundles.
    pub bundles: Vec<Placed<Bundle>>,
    /// Their prices.
    pub prices: Vec<Placed<Price>>,
    /// Prices per megabyte.
    pub rates: Vec<Placed<Rate>>,
    /// Whether bundles it does not mention are no longer sold.
    pub withdraw_others: bool,
}

/// What there is already, as far as a draft may refer to it.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// ISO codes of countries.
    pub isos: HashSet<String>,
    /// Names of bundles.
    pub bundles: HashSet<String>,
}

impl Draft {
    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.countries.len()
            + self.networks.len()
            + self.groups.len()
            + self.bundles.len()
            + self.prices.len()
            + self.rates.len()
    }

    /// Everything that is wrong with it.
    pub fn faults(&self, known: &Known) -> Vec<Fault> {
        let mut faults = Faults::default();
        let mut isos = known.isos.clone();
        isos.extend(self.countries.iter().map(|row| row.value.iso.clone()));
        let mut bundles = known.bundles.clone();
        bundles.extend(self.bundles.iter().map(|row| row.value.name.to_string()));
        for row in &self.countries {
            faults.once(&row.at, "country", &row.value.iso);
            faults.country(&row.at, &row.value);
        }
        for row in &self.networks {
            let Network { iso, mcc, mnc, .. } = &row.value;
            faults.once(&row.at, "network", &format!("{iso} {mcc} {mnc}"));
            faults.network(&row.at, &row.value, &isos);
        }
        for row in &self.groups {
            faults.once(&row.at, "group", &row.value.name);
            faults.text(&row.at, "group name", &row.value.name);
        }
        for row in &self.bundles {
            faults.once(&row.at, "bundle", row.value.name.as_str());
            faults.bundle(&row.at, &row.value, &isos);
        }
        for row in &self.prices {
            let Price { list, bundle, currency, minor } = &row.value;
            faults.once(&row.at, "price", format!("{bundle} {currency} {list}").trim());
            faults.unless(bundles.contains(bundle.as_str()), &row.at, || {
                format!("price of a bundle that does not exist: {bundle}")
            });
            faults.unless((0..=limits::PRICE_MAX).contains(minor), &row.at, || {
                format!("price must be 0 to {} minor units", limits::PRICE_MAX)
            });
        }
        for row in &self.rates {
            let Rate { list, iso, profile_name, currency, price } = &row.value;
            let name = format!("{iso} {profile_name} {currency} {list}");
            faults.once(&row.at, "rate", name.trim());
            faults.iso(&row.at, iso, &isos);
            faults.unless(is_decimal(price), &row.at, || {
                "price per MB must be a decimal such as 0.0021".to_owned()
            });
        }
        faults.found
    }
}

#[derive(Default)]
struct Faults {
    found: Vec<Fault>,
    seen: HashSet<(&'static str, String)>,
}

impl Faults {
    fn unless(&mut self, holds: bool, at: &str, why: impl FnOnce() -> String) {
        if !holds {
            self.found.push(Fault { at: at.to_owned(), why: why() });
        }
    }

    fn once(&mut self, at: &str, kind: &'static str, name: &str) {
        let fresh = self.seen.insert((kind, name.to_owned()));
        self.unless(fresh, at, || format!("{kind} {name} stands twice"));
    }

    fn text(&mut self, at: &str, field: &str, text: &str) {
        let length = text.chars().count();
        let fits = !text.trim().is_empty() && length <= limits::TEXT_CHARS_MAX;
        // Lists are kept as lines of one text.
        self.unless(fits && !text.contains(['\n', '\t']), at, || {
            format!("{field} must be one line of 1 to {} characters", limits::TEXT_CHARS_MAX)
        });
    }

    fn iso(&mut self, at: &str, iso: &str, isos: &HashSet<String>) {
        self.unless(isos.contains(iso), at, || format!("unknown country: {iso}"));
    }

    fn country(&mut self, at: &str, country: &Country) {
        self.text(at, "iso", &country.iso);
        self.text(at, "country name", &country.name);
        self.unless(REGIONS.contains(&country.region.as_str()), at, || {
            format!("region must be one of {}", REGIONS.join(", "))
        });
    }

    fn network(&mut self, at: &str, network: &Network, isos: &HashSet<String>) {
        let digits = |text: &str, most: usize| {
            (2..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
        };
        self.iso(at, &network.iso, isos);
        self.text(at, "network name", &network.name);
        let mcc = network.mcc.len() == 3 && digits(&network.mcc, 3);
        self.unless(mcc, at, || "mcc must be 3 digits".to_owned());
        self.unless(digits(&network.mnc, 3), at, || "mnc must be 2 or 3 digits".to_owned());
        for speed in &network.speeds {
            self.text(at, "speed", speed);
        }
    }

    fn bundle(&mut self, at: &str, bundle: &Bundle, isos: &HashSet<String>) {
        self.text(at, "description", &bundle.description);
        self.text(at, "profileName", &bundle.profile_name);
        self.unless(!bundle.countries.is_empty(), at, || {
            "countries must name one country at least".to_owned()
        });
        for iso in bundle.countries.iter().chain(&bundle.roaming) {
            self.iso(at, iso, isos);
        }
        for group in &bundle.groups {
            self.text(at, "group", group);
        }
        for speed in &bundle.speeds {
            self.text(at, "speed", speed);
        }
        let (amount, fits) = match bundle.data {
            Data::Megabytes(mb) => ("dataAmount", (1..=limits::BUNDLE_MB_MAX).contains(&mb)),
            Data::Unlimited { daily_mb, throttle_kbps } => (
                "dailyAllowance and throttle",
                (1..=limits::BUNDLE_MB_MAX).contains(&daily_mb)
                    && (1..=limits::THROTTLE_KBPS_MAX).contains(&throttle_kbps),
            ),
        };
        self.unless(fits, at, || format!("{amount} out of range"));
        let days = 1..=limits::BUNDLE_DURATION_MAX;
        self.unless(days.contains(&bundle.duration), at, || {
            format!("duration must be 1 to {}", limits::BUNDLE_DURATION_MAX)
        });
        for allowance in &bundle.allowances {
            self.text(at, "allowance description", &allowance.description);
            let known = ["DATA", "VOICE", "SMS"].contains(&allowance.kind.as_str())
                && ["STANDARD", "ROAMING"].contains(&allowance.service.as_str())
                && ["MB", "MINS", "SMS"].contains(&allowance.unit.as_str());
            self.unless(known && allowance.amount >= 0, at, || {
                "allowance must have type DATA, VOICE or SMS, service STANDARD or ROAMING, unit \
                 MB, MINS or SMS and an amount from 0"
                    .to_owned()
            });
        }
    }
}

/// Decimal text above zero with at most nine decimals, no sign, no exponent.
fn is_decimal(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction) && whole.len() <= 9 && fraction.len() <= 9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{DurationUnit, PROFILE_NAME, Start};
    use crate::{BundleName, Currency};

    fn bundle(name: &str) -> Bundle {
        Bundle {
            name: BundleName::parse(name).expect("a name"),
            description: "eSIM, 1GB, 7 Days, France, V2".into(),
            countries: vec!["FR".into()],
            roaming: vec![],
            data: Data::Megabytes(1_000),
            duration: 7,
            duration_unit: DurationUnit::Day,
            speeds: vec![],
            start: Start::FirstUse,
            groups: vec![],
            profile_name: PROFILE_NAME.into(),
            image_url: String::new(),
            allowances: vec![],
            is_withdrawn: false,
        }
    }

    fn placed<T>(line: usize, value: T) -> Placed<T> {
        Placed { at: format!("line {line}"), value }
    }

    fn known() -> Known {
        Known { isos: HashSet::from(["FR".to_owned()]), bundles: HashSet::new() }
    }

    #[test]
    fn a_good_draft_has_no_faults() {
        let price = Price {
            list: String::new(),
            bundle: BundleName::parse("a").expect("a name"),
            currency: Currency::parse("USD").expect("a code"),
            minor: 240,
        };
        let draft = Draft {
            bundles: vec![placed(2, bundle("a"))],
            prices: vec![placed(2, price)],
            ..Draft::default()
        };
        assert_eq!(draft.faults(&known()), []);
        assert_eq!(draft.rows(), 2);
    }

    #[test]
    fn every_fault_names_its_line_and_field() {
        let bad = Bundle { duration: 0, data: Data::Megabytes(0), ..bundle("b") };
        let lost = Bundle { countries: vec!["ZZ".into()], ..bundle("c") };
        let draft = Draft {
            bundles: vec![
                placed(2, bundle("a")),
                placed(3, bundle("a")),
                placed(4, bad),
                placed(5, lost),
            ],
            ..Draft::default()
        };
        let told: Vec<_> =
            draft.faults(&known()).iter().map(|f| format!("{}: {}", f.at, f.why)).collect();
        assert_eq!(
            told,
            [
                "line 3: bundle a stands twice",
                "line 4: dataAmount out of range",
                "line 4: duration must be 1 to 3650",
                "line 5: unknown country: ZZ",
            ]
        );
    }

    #[test]
    fn prices_per_megabyte_are_decimals() {
        for good in ["0.0021", "1", "0.000000001", "12.5"] {
            assert!(is_decimal(good), "{good}");
        }
        for bad in ["", ".", "1.", ".5", "-1", "1e3", "0.0000000001", "1,5"] {
            assert!(!is_decimal(bad), "{bad}");
        }
    }
}
