//! A catalogue and stock for trying out, plainly made up: no operator, number or price is real.
//!
//! Deterministic: what looks arbitrary is drawn from the text it is about, so that every demo and
//! every test sees the same rows. Never use it for customers: its secrets can be computed.

mod area;
mod bundles;
mod networks;
mod stock;

use self::area::Area;
use self::bundles::Offer;
pub use self::stock::stock;
use crate::catalogue::{Country, Draft, Placed, Price};
use crate::world::{COUNTRIES, REGIONS_SOLD, country};
use crate::{BundleName, Currency};

/// A list for a partner, with its own prices for a few countries.
const PARTNER_LIST: &str = "Demo Partner";
/// The countries it has prices for.
const PARTNER_ISOS: [&str; 3] = ["FR", "DE", "ES"];
/// What it pays, in per cent of the standard price.
const PARTNER_PERCENT: i64 = 90;
/// Currencies of the standard list, in per cent of the price in US dollars.
const CURRENCIES: [(&str, i64); 3] = [("USD", 100), ("EUR", 92), ("GBP", 79)];

/// A catalogue of several thousand bundles, for the whole world.
pub fn catalogue() -> Draft {
    let areas = area::all();
    let mut found = Vec::new();
    let mut prices = Vec::new();
    for area in &areas {
        for Offer { bundle, usd_minor } in bundles::of(area) {
            prices.extend(standard_prices(&bundle.name, usd_minor));
            prices.extend(partner_price(&bundle.name, area, usd_minor));
            found.push(bundle);
        }
    }
    Draft {
        countries: placed("country", countries()),
        networks: placed("network", networks::networks()),
        groups: placed("group", bundles::groups()),
        bundles: placed("bundle", found),
        prices: placed("price", prices),
        rates: placed("rate", networks::rates()),
        withdraw_others: false,
    }
}

fn countries() -> impl Iterator<Item = Country> {
    let isos = COUNTRIES.iter().map(|row| row.0).chain(REGIONS_SOLD.iter().map(|row| row.0));
    isos.filter_map(country)
}

fn standard_prices(bundle: &BundleName, usd_minor: i64) -> impl Iterator<Item = Price> {
    CURRENCIES.into_iter().map(move |(code, percent)| Price {
        list: String::new(),
        bundle: bundle.clone(),
        currency: currency(code),
        minor: per_cent(usd_minor, percent),
    })
}

fn partner_price(bundle: &BundleName, area: &Area, usd_minor: i64) -> Option<Price> {
    PARTNER_ISOS.contains(&area.iso).then(|| Price {
        list: PARTNER_LIST.into(),
        bundle: bundle.clone(),
        currency: currency("USD"),
        minor: per_cent(usd_minor, PARTNER_PERCENT),
    })
}

fn placed<T>(kind: &str, rows: impl IntoIterator<Item = T>) -> Vec<Placed<T>> {
    let place = |(number, value)| Placed { at: format!("demo {kind} {number}"), value };
    (1_usize..).zip(rows).map(place).collect()
}

fn currency(code: &str) -> Currency {
    Currency::parse(code).expect("the demo names its currencies by three capitals")
}

/// Half a unit is rounded up.
fn per_cent(amount: i64, percent: i64) -> i64 {
    (amount * percent + 50) / 100
}

/// A number that depends on nothing but the text and what it is wanted for (FNV-1a, then mixed
/// since its lower bits are too regular for small remainders).
fn draw(text: &str, purpose: &str) -> u64 {
    let bytes = text.bytes().chain([b'/']).chain(purpose.bytes());
    mix(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }))
}

/// The last step of SplitMix64. One to one, so different numbers stay different.
fn mix(number: u64) -> u64 {
    let a = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let b = (a ^ (a >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let c = (b ^ (b >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    c ^ (c >> 31)
}

/// The element a number falls on.
fn pick<T: Copy>(from: &[T], number: u64) -> T {
    let place = usize::try_from(number % from.len() as u64).expect("a place in a short list");
    from[place]
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::catalogue::{Bundle, Data, Known, Start};

    fn bundles(draft: &Draft) -> impl Iterator<Item = &Bundle> {
        draft.bundles.iter().map(|row| &row.value)
    }

    #[test]
    fn the_catalogue_has_no_faults_and_is_always_the_same() {
        let draft = catalogue();
        assert_eq!(draft.faults(&Known::default()), []);
        assert_eq!(draft, catalogue());
        assert_eq!(draft.bundles[0].at, "demo bundle 1");
    }

    #[test]
    fn it_is_as_large_as_a_real_one() {
        let draft = catalogue();
        assert!((4_600..=4_850).contains(&draft.bundles.len()), "{}", draft.bundles.len());
        let names: HashSet<_> = bundles(&draft).map(|bundle| bundle.name.as_str()).collect();
        assert_eq!(names.len(), draft.bundles.len());
        let in_group = |name: &str| {
            bundles(&draft).filter(|bundle| bundle.groups.iter().any(|g| g == name)).count()
        };
        let counts: Vec<_> = draft.groups.iter().map(|group| in_group(&group.value.name)).collect();
        assert!((1_280..=1_330).contains(&counts[0]), "{counts:?}");
        assert!(counts[1..].iter().all(|count| (1_120..=1_160).contains(count)), "{counts:?}");
        let slow = bundles(&draft).filter(|bundle| bundle.speeds.is_empty()).count();
        let percent = slow * 100 / draft.bundles.len();
        assert!((42..=46).contains(&percent), "{percent} % without speeds");
    }

    #[test]
    fn what_people_try_first_waits_for_its_first_use() {
        let draft = catalogue();
        let all: HashMap<_, _> = bundles(&draft).map(|b| (b.name.as_str(), b)).collect();
        let ladder = ["1GB_7D", "2GB_15D", "3GB_30D", "5GB_30D", "10GB_30D", "20GB_30D"];
        for iso in ["FR", "DE", "ES", "IT", "GB", "PT", "US", "JP", "TH", "AU"] {
            for rung in ladder {
                let bundle = all[format!("esim_{rung}_{iso}_V2").as_str()];
                assert_eq!(bundle.start, Start::FirstUse, "{}", bundle.name);
                assert_eq!(bundle.profile_name, "Profile 1", "{}", bundle.name);
            }
        }
        let fixed = all["esim_1GB_7D_FR_V2"];
        assert_eq!(fixed.description, "eSIM, 1GB, 7 Days, France, V2");
        assert_eq!((fixed.data, fixed.duration), (Data::Megabytes(1_000), 7));
        let unlimited = all["esim_ULE_7D_FR_V2"];
        assert_eq!(unlimited.description, "eSIM, Unlimited Essential, 7 Days, France, V2");
        assert_eq!(unlimited.data, Data::Unlimited { daily_mb: 2_000, throttle_kbps: 1_024 });
    }

    #[test]
    fn a_regional_bundle_works_in_all_countries_of_its_region() {
        let draft = catalogue();
        let named = |name: &str| bundles(&draft).find(|bundle| bundle.name.as_str() == name);
        for &(iso, _, region, code) in REGIONS_SOLD {
            let bundle = named(&format!("esim_1GB_7D_{code}_V2")).expect("a regional bundle");
            assert_eq!(bundle.countries, [iso]);
            let members = COUNTRIES.iter().filter(|row| row.2 == region).count();
            assert_eq!(bundle.roaming.len(), members, "{iso}");
        }
        let one = named("esim_1GB_7D_FR_V2").expect("France");
        assert_eq!((one.countries.as_slice(), one.roaming.len()), (&["FR".to_owned()][..], 0));
    }

    #[test]
    fn every_bundle_has_a_price_in_every_currency_and_larger_ones_cost_more() {
        let draft = catalogue();
        let prices: HashMap<_, _> = draft
            .prices
            .iter()
            .map(|row| &row.value)
            .map(|p| ((p.list.as_str(), p.bundle.as_str(), p.currency.code()), p.minor))
            .collect();
        for bundle in bundles(&draft) {
            for code in ["USD", "EUR", "GBP"] {
                let minor = prices[&("", bundle.name.as_str(), code)];
                assert!((1..=30_000).contains(&minor), "{} {minor}", bundle.name);
            }
        }
        let usd = |bundle: &Bundle| prices[&("", bundle.name.as_str(), "USD")];
        let fixed: Vec<_> = bundles(&draft).filter(|bundle| !bundle.data.is_unlimited()).collect();
        let steps = fixed.windows(2).filter(|pair| pair[0].countries == pair[1].countries);
        for (small, large) in steps.map(|pair| (pair[0], pair[1])) {
            assert!(usd(small) < usd(large), "{} {}", small.name, large.name);
            let cheaper_per_megabyte =
                usd(large) * small.data.megabytes() < usd(small) * large.data.megabytes();
            assert!(cheaper_per_megabyte, "{} {}", small.name, large.name);
        }
    }

    #[test]
    fn the_partner_pays_less_in_its_countries_only() {
        let draft = catalogue();
        let list = |name: &str| {
            let rows = draft.prices.iter().map(|row| &row.value).filter(|p| p.list == name);
            let usd = rows.filter(|price| price.currency == currency("USD"));
            usd.map(|price| (price.bundle.as_str(), price.minor)).collect::<HashMap<_, _>>()
        };
        let (standard, partner) = (list(""), list(PARTNER_LIST));
        let theirs = bundles(&draft)
            .filter(|bundle| PARTNER_ISOS.contains(&bundle.countries[0].as_str()))
            .count();
        assert_eq!(partner.len(), theirs);
        for (bundle, minor) in partner {
            assert_eq!(minor, per_cent(standard[bundle], 90), "{bundle}");
        }
    }
}
