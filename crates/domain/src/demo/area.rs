//! What a demo bundle is sold for: a country or a part of the world, and what is special there.

use super::{draw, pick};
use crate::catalogue::PROFILE_NAME;
use crate::world::{COUNTRIES, REGIONS_SOLD};

/// People and tests try these first: everything is on sale there, at a middling price.
const MAIN_ISOS: [&str; 10] = ["AU", "DE", "ES", "FR", "GB", "IT", "JP", "PT", "TH", "US"];
/// Where the eSIMs of most stock do not work, so that there is something that does not fit.
const OTHER_PROFILE_ISOS: [&str; 6] = ["FJ", "IS", "KE", "MN", "PE", "UZ"];
/// The eSIMs that work there.
pub(super) const OTHER_PROFILE_NAME: &str = "Profile 2";
/// Prices of countries, in per cent of the ladder's.
const TIERS: [i64; 5] = [80, 100, 130, 170, 230];
const MAIN_TIER: i64 = 100;
const REGION_TIER: i64 = 150;

/// A country or a part of the world that is sold as one.
pub(super) struct Area {
    /// Stands in the names of bundles.
    pub(super) code: &'static str,
    pub(super) iso: &'static str,
    pub(super) name: &'static str,
    /// The part of the world whose countries it works in, if it is more than one country.
    region: Option<&'static str>,
}

/// Countries, then parts of the world.
pub(super) fn all() -> Vec<Area> {
    let countries =
        COUNTRIES.iter().map(|&(iso, name, _)| Area { code: iso, iso, name, region: None });
    let regions = REGIONS_SOLD.iter().map(|&(iso, name, region, code)| {
        let region = Some(region);
        Area { code, iso, name, region }
    });
    countries.chain(regions).collect()
}

impl Area {
    /// The countries a regional bundle works in; none for a country.
    pub(super) fn roaming(&self) -> Vec<String> {
        let members = COUNTRIES.iter().filter(|row| Some(row.2) == self.region);
        members.map(|row| row.0.to_owned()).collect()
    }

    /// Whether something that is on sale in so many per cent of the countries is on sale here.
    pub(super) fn is_among(&self, percent: u64, purpose: &str) -> bool {
        self.is_main() || draw(self.code, purpose) % 100 < percent
    }

    /// Whether bundles of limited data start here without waiting for use: about a tenth do.
    pub(super) fn starts_at_once(&self) -> bool {
        !self.is_main() && draw(self.code, "start").is_multiple_of(10)
    }

    /// Its prices, in per cent of the ladder's.
    pub(super) fn tier(&self) -> i64 {
        match self.region {
            Some(_) => REGION_TIER,
            None if self.is_main() => MAIN_TIER,
            None => tier_of(self.iso),
        }
    }

    /// The eSIMs that work here.
    pub(super) fn profile_name(&self) -> &'static str {
        if OTHER_PROFILE_ISOS.contains(&self.iso) { OTHER_PROFILE_NAME } else { PROFILE_NAME }
    }

    fn is_main(&self) -> bool {
        self.region.is_some() || MAIN_ISOS.contains(&self.iso)
    }
}

/// How dear a country is, in per cent.
pub(super) fn tier_of(iso: &str) -> i64 {
    if MAIN_ISOS.contains(&iso) { MAIN_TIER } else { pick(&TIERS, draw(iso, "tier")) }
}
