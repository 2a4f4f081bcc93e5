//! Demo bundles: a ladder of data sizes and three kinds of unlimited data, laid over every area.

use super::area::Area;
use super::{draw, per_cent, pick};
use crate::BundleName;
use crate::catalogue::{Bundle, Data, DurationUnit, Group, Start};

/// A bundle with what it costs before currencies and lists.
pub(super) struct Offer {
    pub(super) bundle: Bundle,
    pub(super) usd_minor: i64,
}

/// A data size, and how common it is.
struct Size {
    gigabytes: i64,
    days: i64,
    usd_minor: i64,
    percent_of_areas: u64,
}

const fn size(gigabytes: i64, days: i64, usd_minor: i64, percent_of_areas: u64) -> Size {
    Size { gigabytes, days, usd_minor, percent_of_areas }
}

/// Larger ones cost more, but less per gigabyte.
const SIZES: [Size; 8] = [
    size(1, 7, 240, 100),
    size(2, 15, 420, 100),
    size(3, 30, 570, 100),
    size(5, 30, 860, 100),
    size(10, 30, 1_500, 100),
    size(20, 30, 2_600, 70),
    size(50, 30, 5_200, 45),
    size(100, 30, 8_900, 22),
];

const FIXED_GROUP: &str = "Standard Fixed";

/// A kind of unlimited data.
struct Family {
    code: &'static str,
    name: &'static str,
    group: &'static str,
    daily_mb: i64,
    throttle_kbps: i64,
    start: Start,
    price_percent: i64,
}

const FAMILIES: [Family; 3] = [
    Family {
        code: "UL",
        name: "Unlimited Lite",
        group: "Standard Unlimited Lite",
        daily_mb: 1_000,
        throttle_kbps: 512,
        start: Start::Auto,
        price_percent: 100,
    },
    Family {
        code: "ULE",
        name: "Unlimited Essential",
        group: "Standard Unlimited Essential",
        daily_mb: 2_000,
        throttle_kbps: 1_024,
        start: Start::FirstUse,
        price_percent: 140,
    },
    Family {
        code: "ULP",
        name: "Unlimited Plus",
        group: "Standard Unlimited Plus",
        daily_mb: 5_000,
        throttle_kbps: 2_048,
        start: Start::FirstUse,
        price_percent: 200,
    },
];

/// Days of unlimited data, and what they cost in the smallest family.
const UNLIMITED: [(i64, i64); 7] =
    [(1, 250), (3, 650), (5, 1_000), (7, 1_300), (10, 1_700), (15, 2_300), (30, 3_900)];
/// Unlimited data is not sold everywhere.
const UNLIMITED_PERCENT_OF_AREAS: u64 = 79;

/// Speeds are not known of this many per cent.
const NO_SPEEDS_PERCENT: u64 = 44;
const SPEEDS: [&[&str]; 3] = [&["4G", "5G"], &["2G", "3G", "4G", "5G"], &["4G"]];

/// The groups, in the order of the ladders.
pub(super) fn groups() -> Vec<Group> {
    let fixed = (FIXED_GROUP, "Demo bundles with a fixed amount of data".to_owned());
    let unlimited = FAMILIES.iter().map(|family| {
        let (mb, kbps) = (family.daily_mb, family.throttle_kbps);
        let text = format!("Demo bundles without end: {mb} MB a day, {kbps} kbit/s beyond");
        (family.group, text)
    });
    let group = |(name, description): (&str, String)| Group {
        name: name.to_owned(),
        description,
        price_list_url: String::new(),
        icon: String::new(),
    };
    [fixed].into_iter().chain(unlimited).map(group).collect()
}

/// Everything on sale for an area.
pub(super) fn of(area: &Area) -> Vec<Offer> {
    let mut plans = fixed(area);
    if area.is_among(UNLIMITED_PERCENT_OF_AREAS, "unlimited") {
        plans.extend(FAMILIES.iter().flat_map(unlimited));
    }
    plans.into_iter().map(|plan| offer(plan, area)).collect()
}

/// What is sold, before it is said where.
struct Plan {
    /// As it stands in the bundle's name.
    code: String,
    /// As people read it.
    title: String,
    group: &'static str,
    data: Data,
    days: i64,
    start: Start,
    usd_minor: i64,
}

fn fixed(area: &Area) -> Vec<Plan> {
    let start = if area.starts_at_once() { Start::Auto } else { Start::FirstUse };
    // One draw for all sizes, so that an area has every size below its largest.
    let sold = SIZES.iter().filter(|size| area.is_among(size.percent_of_areas, "sizes"));
    let plan = |size: &Size| Plan {
        code: format!("{}GB", size.gigabytes),
        title: format!("{}GB", size.gigabytes),
        group: FIXED_GROUP,
        data: Data::Megabytes(size.gigabytes * 1_000),
        days: size.days,
        start,
        usd_minor: size.usd_minor,
    };
    sold.map(plan).collect()
}

fn unlimited(family: &Family) -> impl Iterator<Item = Plan> {
    let &Family { daily_mb, throttle_kbps, .. } = family;
    UNLIMITED.into_iter().map(move |(days, usd_minor)| Plan {
        code: family.code.to_owned(),
        title: family.name.to_owned(),
        group: family.group,
        data: Data::Unlimited { daily_mb, throttle_kbps },
        days,
        start: family.start,
        usd_minor: per_cent(usd_minor, family.price_percent),
    })
}

fn offer(plan: Plan, area: &Area) -> Offer {
    let Plan { code, title, group, data, days, start, usd_minor } = plan;
    let name = format!("esim_{code}_{days}D_{}_V2", area.code);
    let unit = if days == 1 { "Day" } else { "Days" };
    let bundle = Bundle {
        name: BundleName::parse(&name).expect("codes are letters, digits and hyphens"),
        description: format!("eSIM, {title}, {days} {unit}, {}, V2", area.name),
        countries: vec![area.iso.to_owned()],
        roaming: area.roaming(),
        data,
        duration: days,
        duration_unit: DurationUnit::Day,
        speeds: speeds(area, group),
        start,
        groups: vec![group.to_owned()],
        profile_name: area.profile_name().to_owned(),
        image_url: String::new(),
        allowances: Vec::new(),
        is_withdrawn: false,
    };
    Offer { bundle, usd_minor: per_cent(usd_minor, area.tier()) }
}

/// An area has the same networks whatever is bought; they are just not known of every group.
fn speeds(area: &Area, group: &str) -> Vec<String> {
    if draw(area.code, group) % 100 < NO_SPEEDS_PERCENT {
        return Vec::new();
    }
    let speeds = pick(&SPEEDS, draw(area.code, "speeds"));
    speeds.iter().map(|&speed| speed.to_owned()).collect()
}
