//! What is sold in these histories: bundles of every kind, each so small that it is soon used up.

use std::sync::OnceLock;

use app::Actor;
use app::catalogue::{Draft, Placed, Step};
use domain::catalogue::{Bundle, Data, DurationUnit, Price, Start};
use domain::{BundleName, Currency, Mode};

use crate::world::{World, bare};

pub(crate) const PROFILES: [&str; 2] = ["Profile 1", "Profile 2"];
/// Profiles in stock of each kind.
pub(crate) const STOCK: [usize; 2] = [40, 6];
const MB: i64 = 1_000_000;

/// A bundle that is for sale.
#[derive(Debug)]
pub(crate) struct Ware {
    pub(crate) name: &'static str,
    pub(crate) price: i64,
    pub(crate) data: Data,
    pub(crate) duration: i64,
    pub(crate) unit: DurationUnit,
    pub(crate) start: Start,
    pub(crate) profile: &'static str,
}

impl Ware {
    /// All its data, or what it has a day.
    pub(crate) fn bytes(&self) -> i64 {
        match self.data {
            Data::Megabytes(mb) => mb * MB,
            Data::Unlimited { daily_mb, .. } => daily_mb * MB,
        }
    }

    pub(crate) fn is_endless(&self) -> bool {
        matches!(self.data, Data::Unlimited { .. })
    }
}

const ENDLESS: Data = Data::Unlimited { daily_mb: 3, throttle_kbps: 128 };

pub(crate) static WARES: [Ware; 6] = [
    Ware {
        name: "week",
        price: 199,
        data: Data::Megabytes(10),
        duration: 7,
        unit: DurationUnit::Day,
        start: Start::FirstUse,
        profile: PROFILES[0],
    },
    Ware {
        name: "at_once",
        price: 350,
        data: Data::Megabytes(4),
        duration: 3,
        unit: DurationUnit::Day,
        start: Start::Auto,
        profile: PROFILES[0],
    },
    Ware {
        name: "months",
        price: 745,
        data: Data::Megabytes(25),
        duration: 2,
        unit: DurationUnit::Month,
        start: Start::FirstUse,
        profile: PROFILES[0],
    },
    Ware {
        name: "endless",
        price: 500,
        data: ENDLESS,
        duration: 2,
        unit: DurationUnit::Day,
        start: Start::FirstUse,
        profile: PROFILES[0],
    },
    Ware {
        name: "gift",
        price: 0,
        data: Data::Megabytes(1),
        duration: 400,
        unit: DurationUnit::Day,
        start: Start::FirstUse,
        profile: PROFILES[0],
    },
    Ware {
        name: "other",
        price: 333,
        data: Data::Megabytes(5),
        duration: 1,
        unit: DurationUnit::Day,
        start: Start::Auto,
        profile: PROFILES[1],
    },
];

pub(crate) fn ware(name: &str) -> &'static Ware {
    WARES.iter().find(|ware| ware.name == name).expect("a ware")
}

/// A database in which all of it is for sale and on which profiles wait, made once.
pub(crate) fn opened() -> &'static [u8] {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    MADE.get_or_init(|| {
        let world = World::new(0, bare(), &[]);
        let mut draft = Draft::default();
        for ware in &WARES {
            draft.bundles.push(placed(bundle(ware)));
            draft.prices.push(placed(price(ware)));
        }
        let imported = world.app().import_catalogue(Actor::Service, draft, Step::Apply);
        world.wait(imported).expect("a catalogue");
        let mut lines = domain::demo::stock(STOCK.iter().sum());
        for line in &mut lines[STOCK[0]..] {
            PROFILES[1].clone_into(&mut line.profile_name);
        }
        let lines = lines.into_iter().enumerate().collect();
        let brought = world.app().import_stock(Actor::Service, Mode::Sandbox, lines);
        world.wait(brought).expect("profiles");
        world.into_database()
    })
}

fn placed<T>(value: T) -> Placed<T> {
    Placed { at: "the wares".to_owned(), value }
}

fn bundle(ware: &Ware) -> Bundle {
    Bundle {
        name: BundleName::parse(ware.name).expect("a name"),
        description: ware.name.to_owned(),
        countries: vec!["FR".to_owned()],
        roaming: vec![],
        data: ware.data,
        duration: ware.duration,
        duration_unit: ware.unit,
        speeds: vec![],
        start: ware.start,
        groups: vec![],
        profile_name: ware.profile.to_owned(),
        image_url: String::new(),
        allowances: vec![],
        is_withdrawn: false,
    }
}

fn price(ware: &Ware) -> Price {
    Price {
        list: String::new(),
        bundle: BundleName::parse(ware.name).expect("a name"),
        currency: Currency::parse("USD").expect("a currency"),
        minor: ware.price,
    }
}
