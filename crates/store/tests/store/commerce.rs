//! The catalogue, and what it offers to whom, on both databases.

use domain::assignment::Terms;
use domain::catalogue::{
    Allowance, Bundle, Country, Data, DurationUnit, Group, Market, Network, PROFILE_NAME, Price,
    Rate, Start,
};
use domain::{BundleName, Currency, OrgId, Timestamp};
use store::catalogue::{self, Offer, Plan, Stored};
use store::{Store, StoreError};

use crate::fixture::Fixture;
use crate::on_both;

on_both! {
    a_catalogue_reads_back_as_brought,
    what_is_brought_again_is_changed,
    networks_of_a_country_are_replaced_together,
    an_own_price_goes_before_the_standard_one,
    only_what_is_sold_there_is_offered,
    a_plan_is_what_a_bundle_gives_sold_or_not,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn currency(code: &str) -> Currency {
    Currency::parse(code).expect("a currency")
}

pub(crate) fn name(text: &str) -> BundleName {
    BundleName::parse(text).expect("a bundle name")
}

/// What a bundle gives that has nothing beyond what it must have.
pub(crate) const PLAIN: Terms = Terms {
    data: Data::Megabytes(1_000),
    duration: 7,
    unit: DurationUnit::Day,
    start: Start::FirstUse,
};

/// A bundle with nothing beyond what it must have.
fn plain(text: &str) -> Bundle {
    Bundle {
        name: name(text),
        description: format!("All of {text}"),
        countries: vec![],
        roaming: vec![],
        data: PLAIN.data,
        duration: PLAIN.duration,
        duration_unit: PLAIN.unit,
        speeds: vec![],
        start: PLAIN.start,
        groups: vec![],
        profile_name: PROFILE_NAME.into(),
        image_url: String::new(),
        allowances: vec![],
        is_withdrawn: false,
    }
}

/// Bundles of these names, for what refers to them.
pub(crate) async fn put_bundles(store: &Store, names: &[&str]) {
    let bundles: Vec<_> = names.iter().map(|text| plain(text)).collect();
    let put =
        store.write(OrgId::HOUSE, move |tx| catalogue::put_bundles(tx, &bundles, at(1))).await;
    assert_eq!(put, Ok::<_, StoreError>(()));
}

/// A bundle with something in every field.
fn full() -> Bundle {
    let allowance = |kind: &str, amount: i64, description: &str| Allowance {
        kind: kind.into(),
        service: "ROAMING".into(),
        description: description.into(),
        amount,
        unit: "MB".into(),
        is_unlimited: amount == 0,
    };
    Bundle {
        name: name("esim_UL_1M_Europe+_V2"),
        description: "Unlimited, “Europe”, 1 month\nsecond line".into(),
        countries: vec!["Europe+".into()],
        roaming: vec!["DE".into(), "FR".into()],
        data: Data::Unlimited { daily_mb: 2_500, throttle_kbps: 1_250 },
        duration: 1,
        duration_unit: DurationUnit::Month,
        speeds: vec!["4G".into(), "5G".into()],
        start: Start::Auto,
        groups: vec!["Standard Unlimited".into(), "Promo".into()],
        profile_name: "Profile 2".into(),
        image_url: "https://shop.example/eu.png".into(),
        allowances: vec![
            allowance("DATA", 0, "All you can eat"),
            allowance("VOICE", 60, ""),
            allowance("SMS", 5, "texts; \"quoted\", with commas"),
        ],
        is_withdrawn: true,
    }
}

fn country(iso: &str, name: &str) -> Country {
    Country { iso: iso.into(), name: name.into(), region: "Europe".into() }
}

fn network(iso: &str, mnc: &str, name: &str) -> Network {
    Network {
        iso: iso.into(),
        name: name.into(),
        brand: format!("{name}!"),
        mcc: "208".into(),
        mnc: mnc.into(),
        tadig: "FRAF1".into(),
        speeds: vec!["3G".into(), "4G".into()],
    }
}

fn price(list: &str, bundle: &BundleName, code: &str, minor: i64) -> Price {
    Price { list: list.into(), bundle: bundle.clone(), currency: currency(code), minor }
}

fn rate(id: &str, list: &str, price: &str) -> (String, Rate) {
    let rate = Rate {
        list: list.into(),
        iso: "FR".into(),
        profile_name: PROFILE_NAME.into(),
        currency: currency("USD"),
        price: price.into(),
    };
    (id.into(), rate)
}

fn sample() -> Stored {
    let (full, plain) = (full(), plain("esim_1GB_7D_FR_V2"));
    Stored {
        countries: vec![country("DE", "Germany"), country("Europe+", "Europe")],
        networks: vec![network("DE", "01", "Telekom"), network("DE", "02", "Vodafone")],
        groups: vec![Group {
            name: "Promo".into(),
            description: "for a while".into(),
            price_list_url: "https://shop.example/p.pdf".into(),
            icon: "p.svg".into(),
        }],
        prices: vec![
            price("", &plain.name, "EUR", 450),
            price("Gold", &plain.name, "EUR", 400),
            price("", &plain.name, "USD", 0),
            price("", &full.name, "EUR", 100_000_000),
        ],
        bundles: vec![plain, full],
        rates: vec![],
    }
}

/// Brings a catalogue and reads it all back.
async fn brought(store: &Store, stored: Stored) -> Stored {
    let read = store.write(OrgId::HOUSE, move |tx| {
        catalogue::put_countries(tx, &stored.countries)?;
        catalogue::put_networks(tx, &stored.networks)?;
        catalogue::put_groups(tx, &stored.groups)?;
        catalogue::put_bundles(tx, &stored.bundles, at(5))?;
        catalogue::put_prices(tx, &stored.prices)?;
        catalogue::put_rates(tx, &stored.rates)?;
        catalogue::load(tx)
    });
    read.await.expect("a catalogue")
}

#[track_caller]
fn assert_same(read: &Stored, expected: &Stored) {
    assert_eq!(read.countries, expected.countries);
    assert_eq!(read.networks, expected.networks);
    assert_eq!(read.groups, expected.groups);
    assert_eq!(read.bundles, expected.bundles);
    assert_eq!(read.prices, expected.prices);
    assert_eq!(read.rates, expected.rates);
}

async fn a_catalogue_reads_back_as_brought(fixture: Fixture) {
    let store = fixture.store().await;
    assert_same(&brought(&store, Stored::default()).await, &Stored::default());
    let mut sample = sample();
    assert_same(&brought(&store, sample.clone()).await, &sample);
    sample.countries.push(country("FR", "France"));
    sample.rates = vec![rate("r1", "", "0.00415"), rate("r2", "Gold", "0.004")];
    assert_same(&brought(&store, sample.clone()).await, &sample);
    let seen = store.read(catalogue::load).await.expect("read");
    assert_same(&seen, &sample);
}

async fn what_is_brought_again_is_changed(fixture: Fixture) {
    let store = fixture.store().await;
    let mut sample = sample();
    sample.countries.push(country("FR", "France"));
    sample.rates = vec![rate("r1", "", "0.00415")];
    brought(&store, sample.clone()).await;
    // The two bundles change their places, names aside: unlimited becomes fixed and back, one is
    // withdrawn and the other sold again.
    let names = [sample.bundles[0].name.clone(), sample.bundles[1].name.clone()];
    sample.bundles.swap(0, 1);
    for (bundle, name) in sample.bundles.iter_mut().zip(names) {
        bundle.name = name;
    }
    sample.countries[0] = Country { region: "Asia".into(), ..country("DE", "Deutschland") };
    sample.groups[0].description = "for ever".into();
    sample.groups[0].price_list_url = String::new();
    sample.groups[0].icon = "q.svg".into();
    sample.prices[1].minor = 399;
    let again = Stored { rates: vec![rate("r9", "", "1")], ..sample.clone() };
    sample.rates = vec![rate("r1", "", "1")];
    assert_same(&brought(&store, again).await, &sample);
    // What is not mentioned stays.
    assert_same(&brought(&store, Stored::default()).await, &sample);
}

async fn networks_of_a_country_are_replaced_together(fixture: Fixture) {
    let store = fixture.store().await;
    let put = |networks: Vec<Network>| Stored {
        countries: vec![country("DE", "Germany"), country("FR", "France")],
        networks,
        ..Stored::default()
    };
    let german = network("DE", "01", "Telekom");
    let first =
        vec![german.clone(), network("FR", "01", "Orange"), network("FR", "20", "Bouygues")];
    brought(&store, put(first)).await;
    let second = vec![network("FR", "01", "Orange France"), network("FR", "15", "Free")];
    let read = brought(&store, put(second)).await;
    let expected = vec![german, network("FR", "15", "Free"), network("FR", "01", "Orange France")];
    assert_eq!(read.networks, expected);
}

fn market(code: &str, groups: &[&str], list: &str) -> Market {
    Market {
        currency: currency(code),
        groups: groups.iter().map(ToString::to_string).collect(),
        price_list: list.into(),
    }
}

/// Bundles of several fates; says for how much a market can buy one of them.
struct Shop(Store);

impl Shop {
    async fn open(fixture: &Fixture) -> Self {
        let store = fixture.store().await;
        let sold = Bundle { groups: vec!["Fixed".into(), "Promo".into()], ..plain("Sold") };
        let withdrawn = Bundle { is_withdrawn: true, ..plain("withdrawn") };
        let fits = Bundle { profile_name: "Profile 2".into(), ..plain("ungrouped") };
        let prices = vec![
            price("Gold", &sold.name, "EUR", 400),
            price("", &sold.name, "EUR", 500),
            price("Silver", &sold.name, "EUR", 450),
            price("", &sold.name, "USD", 600),
            price("", &withdrawn.name, "EUR", 1),
            price("", &fits.name, "EUR", 700),
            price("alone", &fits.name, "EUR", 900),
            price("Gold", &name("listed"), "EUR", 300),
        ];
        let bundles = vec![sold, withdrawn, fits, plain("listed"), plain("unpriced")];
        brought(&store, Stored { bundles, prices, ..Stored::default() }).await;
        Self(store)
    }

    async fn price(&self, market: &Market, bundle: &str) -> Option<i64> {
        let (market, bundle) = (market.clone(), name(bundle));
        let offer = self.0.read(move |tx| catalogue::offer(tx, &market, &bundle)).await;
        offer.expect("read").map(|offer: Offer| offer.price)
    }
}

async fn an_own_price_goes_before_the_standard_one(fixture: Fixture) {
    let shop = Shop::open(&fixture).await;
    for (list, sold, ungrouped, listed) in [
        ("", 500, 700, None),
        ("Gold", 400, 700, Some(300)),
        ("Silver", 450, 700, None),
        ("alone", 500, 900, None),
        ("gold", 500, 700, None),
    ] {
        let market = market("EUR", &[], list);
        assert_eq!(shop.price(&market, "Sold").await, Some(sold), "{list}");
        assert_eq!(shop.price(&market, "ungrouped").await, Some(ungrouped), "{list}");
        assert_eq!(shop.price(&market, "listed").await, listed, "{list}");
    }
    let dollars = market("USD", &[], "Gold");
    assert_eq!(shop.price(&dollars, "Sold").await, Some(600), "no own price in this currency");
    let offer = shop.0.read(|tx| catalogue::offer(tx, &market("EUR", &[], ""), &name("ungrouped")));
    let plan = Plan { profile_name: "Profile 2".into(), terms: PLAIN };
    let expected = Offer { plan, price: 700 };
    assert_eq!(offer.await, Ok(Some(expected)));
}

async fn only_what_is_sold_there_is_offered(fixture: Fixture) {
    let shop = Shop::open(&fixture).await;
    let open = market("EUR", &[], "");
    for bundle in ["sold", "SOLD", "withdrawn", "unpriced", "listed", "unknown"] {
        assert_eq!(shop.price(&open, bundle).await, None, "{bundle}");
    }
    assert_eq!(shop.price(&market("USD", &[], ""), "ungrouped").await, None, "another currency");
    assert_eq!(shop.price(&Market::none(), "Sold").await, None);
    for (groups, sold) in [
        (&["Fixed"][..], Some(500)),
        (&["Other", "Promo"], Some(500)),
        (&["Other"], None),
        (&["Fix"], None),
        (&["fixed"], None),
    ] {
        let market = market("EUR", groups, "");
        assert_eq!(shop.price(&market, "Sold").await, sold, "{groups:?}");
        assert_eq!(shop.price(&market, "ungrouped").await, None, "{groups:?}");
    }
    let fixed = market("EUR", &["Fixed"], "Gold");
    assert_eq!(shop.price(&fixed, "listed").await, None, "a price does not open a group");
}

async fn a_plan_is_what_a_bundle_gives_sold_or_not(fixture: Fixture) {
    let store = fixture.store().await;
    let full = Bundle { is_withdrawn: false, ..full() };
    let prices = vec![price("", &full.name, "EUR", 9)];
    let gone = Bundle { is_withdrawn: true, ..plain("gone") };
    let bundles = vec![full.clone(), gone.clone()];
    brought(&store, Stored { bundles, prices, ..Stored::default() }).await;
    let read = store.read(move |tx| {
        let offer = catalogue::offer(tx, &market("EUR", &[], ""), &full.name)?;
        let plans =
            [&full.name, &gone.name, &name("unknown")].map(|name| catalogue::plan(tx, name));
        Ok::<_, StoreError>((offer, plans))
    });
    let (offer, [unlimited, gone, unknown]) = read.await.expect("read");
    let terms = Terms {
        data: Data::Unlimited { daily_mb: 2_500, throttle_kbps: 1_250 },
        duration: 1,
        unit: DurationUnit::Month,
        start: Start::Auto,
    };
    let plan = Plan { profile_name: "Profile 2".into(), terms };
    assert_eq!(offer, Some(Offer { plan: plan.clone(), price: 9 }));
    assert_eq!(unlimited, Ok(Some(plan)));
    assert_eq!(gone, Ok(Some(Plan { profile_name: PROFILE_NAME.into(), terms: PLAIN })));
    assert_eq!(unknown, Ok(None));
}
