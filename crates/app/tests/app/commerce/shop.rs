//! What the wholesaler has: a handful of goods at prices that change, and a few profiles at a time.

use std::sync::OnceLock;

use app::Actor;
use app::catalogue::{Draft, Placed, Step};
use domain::catalogue::{Bundle, Data, DurationUnit, Price, Start};
use domain::stock::Line;
use domain::{BundleName, Currency};

use crate::world::{World, bare};

/// The profiles that eSIMs have. A bundle fits one of them.
pub(crate) const PROFILES: [&str; 2] = ["Profile 1", "Profile 2"];
/// The list of those who pay less for some goods.
pub(crate) const PARTNERS: &str = "Partners";
/// What is sold for euros only, so to none of the organisations of a history.
pub(crate) const FOREIGN: &str = "for_euros";

/// A bundle that is for sale.
#[derive(Debug, Clone)]
pub(crate) struct Good {
    pub(crate) name: &'static str,
    pub(crate) profile: &'static str,
    /// What it costs everybody, and what partners pay if that is something else.
    pub(crate) price: i64,
    pub(crate) partner_price: Option<i64>,
    pub(crate) is_withdrawn: bool,
}

pub(crate) fn goods() -> Vec<Good> {
    let good = |name, profile, price, partner_price| {
        let profile = PROFILES[profile];
        Good { name, profile, price, partner_price, is_withdrawn: false }
    };
    vec![
        good("tiny", 0, 199, Some(150)),
        good("large", 0, 745, None),
        good("other", 1, 350, Some(333)),
        good("gift", 0, 0, None),
    ]
}

/// A database in which the goods are for sale, made once.
pub(crate) fn opened() -> &'static [u8] {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    MADE.get_or_init(|| {
        let world = World::new(0, bare(), &[]);
        let mut draft = draft(&goods());
        draft.bundles.push(placed(bundle(FOREIGN, PROFILES[0])));
        draft.prices.push(placed(price(FOREIGN, "EUR", "", 100)));
        let imported = world.app().import_catalogue(Actor::Service, draft, Step::Apply);
        world.wait(imported).expect("a catalogue");
        world.into_database()
    })
}

/// What brings these goods into the catalogue.
pub(crate) fn draft(goods: &[Good]) -> Draft {
    let mut draft = Draft::default();
    for Good { name, profile, price: standard, partner_price, is_withdrawn } in goods {
        let bundle = Bundle { is_withdrawn: *is_withdrawn, ..bundle(name, profile) };
        draft.bundles.push(placed(bundle));
        draft.prices.push(placed(price(name, "USD", "", *standard)));
        let partners = partner_price.map(|minor| placed(price(name, "USD", PARTNERS, minor)));
        draft.prices.extend(partners);
    }
    draft
}

fn placed<T>(value: T) -> Placed<T> {
    Placed { at: "the shop".to_owned(), value }
}

fn bundle(name: &str, profile: &str) -> Bundle {
    Bundle {
        name: BundleName::parse(name).expect("a name"),
        description: name.to_owned(),
        countries: vec!["FR".to_owned()],
        roaming: vec![],
        data: Data::Megabytes(1_000),
        duration: 7,
        duration_unit: DurationUnit::Day,
        speeds: vec![],
        start: Start::FirstUse,
        groups: vec![],
        profile_name: profile.to_owned(),
        image_url: String::new(),
        allowances: vec![],
        is_withdrawn: false,
    }
}

fn price(name: &str, currency: &str, list: &str, minor: i64) -> Price {
    Price {
        list: list.to_owned(),
        bundle: BundleName::parse(name).expect("a name"),
        currency: Currency::parse(currency).expect("a currency"),
        minor,
    }
}

/// Every profile that a history can have, in no order; those of the second kind are rarer.
pub(crate) fn profiles() -> &'static [Line] {
    static MADE: OnceLock<Vec<Line>> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut lines = domain::demo::stock(201);
        for (line, n) in lines.iter_mut().zip(0_usize..) {
            PROFILES[usize::from(n.is_multiple_of(3))].clone_into(&mut line.profile_name);
        }
        (0..lines.len()).map(|n| lines[n * 50 % lines.len()].clone()).collect()
    })
}
