//! Demo networks and what a megabyte costs on them. No operator that exists is named.

use super::area::tier_of;
use super::{currency, draw, per_cent, pick};
use crate::catalogue::{Network, PROFILE_NAME, Rate};
use crate::world::COUNTRIES;

/// The country code of test networks: no operator has it.
const TEST_MCC: &str = "001";
/// Most networks of one country.
const PER_COUNTRY_MAX: u64 = 4;
const COMPANIES: [&str; 4] = ["Demo Mobile", "Demo Heron", "Demo Plover", "Demo Curlew"];
const SPEEDS: [&[&str]; 3] = [&["4G", "5G"], &["2G", "3G", "4G", "5G"], &["2G", "4G"]];
/// A megabyte in US dollars where prices are middling, in steps of a hundredth of a cent.
const RATE_USD: i64 = 21;
const RATE_CURRENCIES: [(&str, i64); 2] = [("USD", 100), ("EUR", 92)];

/// One to four networks for every country.
pub(super) fn networks() -> Vec<Network> {
    let countries = (0_u64..).zip(COUNTRIES);
    let of_country = |(place, &(iso, name, _)): (u64, &(&str, &str, _))| {
        let count = 1 + draw(iso, "networks") % PER_COUNTRY_MAX;
        (1..=count).map(move |number| network(iso, name, number, place)).collect::<Vec<_>>()
    };
    countries.flat_map(of_country).collect()
}

fn network(iso: &str, country: &str, number: u64, place: u64) -> Network {
    let brand = format!("Demo {iso} {number}");
    Network {
        iso: iso.to_owned(),
        name: format!("{} {country}", pick(&COMPANIES, number - 1)),
        mcc: TEST_MCC.into(),
        // All share one country code, so the network codes differ across countries.
        mnc: format!("{:03}", place * PER_COUNTRY_MAX + number),
        tadig: tadig(iso, number),
        speeds: pick(&SPEEDS, draw(&brand, "speeds")).iter().map(|&s| s.to_owned()).collect(),
        brand,
    }
}

/// Five characters that begin as no country's do. The number stands first for a part of a country,
/// whose last letters may be another country's code: `ES-CN` and `CN`.
fn tadig(iso: &str, number: u64) -> String {
    match iso.split_once('-') {
        Some((_, part)) => format!("XX{number}{part}"),
        None => format!("XX{iso}{number}"),
    }
}

/// What a megabyte costs in every country.
pub(super) fn rates() -> Vec<Rate> {
    let rate = |iso: &str, code: &str, percent: i64| Rate {
        list: String::new(),
        iso: iso.to_owned(),
        profile_name: PROFILE_NAME.into(),
        currency: currency(code),
        price: format!("0.{:04}", per_cent(per_cent(RATE_USD, tier_of(iso)), percent)),
    };
    let of_country = |&(iso, ..): &(&'static str, _, _)| {
        RATE_CURRENCIES.map(|(code, percent)| rate(iso, code, percent))
    };
    COUNTRIES.iter().flat_map(of_country).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_country_has_networks_of_its_own() {
        let networks = networks();
        let isos: HashSet<_> = networks.iter().map(|network| network.iso.as_str()).collect();
        assert_eq!(isos.len(), COUNTRIES.len());
        let tadigs: HashSet<_> = networks.iter().map(|network| network.tadig.as_str()).collect();
        assert_eq!(tadigs.len(), networks.len());
        for network in &networks {
            assert!(network.name.starts_with("Demo ") && network.brand.starts_with("Demo "));
            assert!(network.tadig.len() == 5 && network.mnc.len() == 3, "{network:?}");
        }
    }

    #[test]
    fn every_country_has_a_price_per_megabyte() {
        let rates = rates();
        assert_eq!(rates.len(), COUNTRIES.len() * RATE_CURRENCIES.len());
        let france: Vec<_> =
            rates.iter().filter(|r| r.iso == "FR").map(|r| r.price.as_str()).collect();
        assert_eq!(france, ["0.0021", "0.0019"]);
        assert!(rates.iter().all(|rate| rate.price.len() == 6 && rate.price != "0.0000"));
    }
}
