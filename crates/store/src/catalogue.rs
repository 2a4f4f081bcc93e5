//! What is for sale, as the operator has brought it.

use domain::assignment::Terms;
use domain::catalogue::{
    Allowance, Bundle, Country, Data, DurationUnit, Group, Market, Network, Price, Rate, Start,
};
use domain::{BundleName, Currency, Timestamp};

use crate::{Row, StoreError, Tx, Value, args};

/// The whole catalogue.
#[derive(Debug, Clone, Default)]
pub struct Stored {
    /// Countries.
    pub countries: Vec<Country>,
    /// Networks.
    pub networks: Vec<Network>,
    /// Groups of bundles.
    pub groups: Vec<Group>,
    /// Bundles, those no longer sold among them.
    pub bundles: Vec<Bundle>,
    /// Their prices.
    pub prices: Vec<Price>,
    /// Prices per megabyte, each with its id.
    pub rates: Vec<(String, Rate)>,
}

const COUNTRIES: &str = "SELECT iso, name, region FROM countries ORDER BY iso";
const NETWORKS: &str = "SELECT iso, name, brand, mcc, mnc, tadig, speeds FROM networks \
     ORDER BY iso, name, mcc, mnc";
const GROUPS: &str = "SELECT name, description, price_list_url, icon FROM bundle_groups \
     ORDER BY name";
const BUNDLES: &str = "SELECT name, description, countries, roaming, data_mb, daily_mb, \
     throttle_kbps, duration, duration_unit, starts, speeds, member_of, profile_name, image_url, \
     allowances, withdrawn_at FROM bundles ORDER BY name";
const PRICES: &str = "SELECT list, bundle, currency, minor FROM prices \
     ORDER BY bundle, currency, list";
const RATES: &str = "SELECT id, list, iso, profile_name, currency, price FROM rates \
     ORDER BY iso, profile_name, currency, list";
const OFFER: &str = "SELECT b.profile_name, b.member_of, p.list, p.minor, b.data_mb, b.daily_mb, \
     b.throttle_kbps, b.duration, b.duration_unit, b.starts FROM bundles b \
     JOIN prices p ON p.bundle = b.name WHERE b.name = $1 AND b.withdrawn_at IS NULL \
     AND p.currency = $2 AND (p.list = '' OR p.list = $3)";
const PLAN: &str = "SELECT profile_name, data_mb, daily_mb, throttle_kbps, duration, \
     duration_unit, starts FROM bundles WHERE name = $1";
const PUT_COUNTRY: &str = "INSERT INTO countries (iso, name, region) VALUES ($1, $2, $3) \
     ON CONFLICT (iso) DO UPDATE SET name = excluded.name, region = excluded.region";
const FORGET_NETWORKS: &str = "DELETE FROM networks WHERE iso = $1";
const PUT_NETWORK: &str = "INSERT INTO networks (iso, name, brand, mcc, mnc, tadig, speeds) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";
const PUT_GROUP: &str = "INSERT INTO bundle_groups (name, description, price_list_url, icon) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO UPDATE SET \
     description = excluded.description, price_list_url = excluded.price_list_url, \
     icon = excluded.icon";
const PUT_BUNDLE: &str = "INSERT INTO bundles (name, description, countries, roaming, data_mb, \
     daily_mb, throttle_kbps, duration, duration_unit, speeds, starts, member_of, profile_name, \
     image_url, allowances, withdrawn_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
     ON CONFLICT (name) DO UPDATE SET description = excluded.description, \
     countries = excluded.countries, roaming = excluded.roaming, data_mb = excluded.data_mb, \
     daily_mb = excluded.daily_mb, throttle_kbps = excluded.throttle_kbps, \
     duration = excluded.duration, duration_unit = excluded.duration_unit, \
     speeds = excluded.speeds, starts = excluded.starts, member_of = excluded.member_of, \
     profile_name = excluded.profile_name, image_url = excluded.image_url, \
     allowances = excluded.allowances, withdrawn_at = excluded.withdrawn_at";
const PUT_PRICE: &str = "INSERT INTO prices (list, bundle, currency, minor) \
     VALUES ($1, $2, $3, $4) \
     ON CONFLICT (bundle, currency, list) DO UPDATE SET minor = excluded.minor";
const PUT_RATE: &str = "INSERT INTO rates (id, list, iso, profile_name, currency, price) \
     VALUES ($1, $2, $3, $4, $5, $6) \
     ON CONFLICT (list, iso, profile_name, currency) DO UPDATE SET price = excluded.price";

/// Everything. Read when it has changed, not per request.
pub fn load(tx: &mut Tx<'_>) -> Result<Stored, StoreError> {
    Ok(Stored {
        countries: tx.all(COUNTRIES, &[])?.iter().map(country).collect::<Result<_, _>>()?,
        networks: tx.all(NETWORKS, &[])?.iter().map(network).collect::<Result<_, _>>()?,
        groups: tx.all(GROUPS, &[])?.iter().map(group).collect::<Result<_, _>>()?,
        bundles: tx.all(BUNDLES, &[])?.iter().map(bundle).collect::<Result<_, _>>()?,
        prices: tx.all(PRICES, &[])?.iter().map(price).collect::<Result<_, _>>()?,
        rates: tx.all(RATES, &[])?.iter().map(rate).collect::<Result<_, _>>()?,
    })
}

/// A bundle as far as putting it on an eSIM goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The eSIMs it fits.
    pub profile_name: String,
    /// What it gives.
    pub terms: Terms,
}

/// A bundle as a market can buy it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The bundle.
    pub plan: Plan,
    /// In minor units of the market's currency.
    pub price: i64,
}

/// The bundle of that name, if it is sold there.
pub fn offer(
    tx: &mut Tx<'_>,
    market: &Market,
    name: &BundleName,
) -> Result<Option<Offer>, StoreError> {
    let rows = tx.all(OFFER, args![name.as_str(), market.currency, &market.price_list])?;
    let mut best = None;
    for row in rows {
        let offer = Offer {
            plan: Plan { profile_name: row.text(0)?.to_owned(), terms: terms(&row, 4)? },
            price: row.int(3)?,
        };
        // Its own list goes before the standard one.
        if market.allows(&lines(&row, 1)?) && (best.is_none() || !row.text(2)?.is_empty()) {
            best = Some(offer);
        }
    }
    Ok(best)
}

/// A bundle as far as putting it on an eSIM goes, sold or not.
pub fn plan(tx: &mut Tx<'_>, name: &BundleName) -> Result<Option<Plan>, StoreError> {
    let plan =
        |row: Row| Ok(Plan { profile_name: row.text(0)?.to_owned(), terms: terms(&row, 1)? });
    tx.maybe(PLAN, args![name.as_str()])?.map(plan).transpose()
}

/// Adds or changes countries.
pub fn put_countries(tx: &mut Tx<'_>, countries: &[Country]) -> Result<(), StoreError> {
    let rows = countries.iter().map(|c| args![&c.iso, &c.name, &c.region].to_vec());
    tx.later_rows(PUT_COUNTRY, rows.collect())
}

/// Replaces the networks of every country that is mentioned.
pub fn put_networks(tx: &mut Tx<'_>, networks: &[Network]) -> Result<(), StoreError> {
    let isos: std::collections::BTreeSet<_> = networks.iter().map(|n| &n.iso).collect();
    for iso in isos {
        tx.later(FORGET_NETWORKS, args![iso])?;
    }
    let rows = networks.iter().map(|network| {
        let Network { iso, name, brand, mcc, mnc, tadig, speeds } = network;
        args![iso, name, brand, mcc, mnc, tadig, speeds.join("\n")].to_vec()
    });
    tx.later_rows(PUT_NETWORK, rows.collect())
}

/// Adds or changes groups.
pub fn put_groups(tx: &mut Tx<'_>, groups: &[Group]) -> Result<(), StoreError> {
    let rows = groups.iter().map(|group| {
        args![&group.name, &group.description, &group.price_list_url, &group.icon].to_vec()
    });
    tx.later_rows(PUT_GROUP, rows.collect())
}

/// Adds or changes bundles.
pub fn put_bundles(tx: &mut Tx<'_>, bundles: &[Bundle], now: Timestamp) -> Result<(), StoreError> {
    tx.later_rows(PUT_BUNDLE, bundles.iter().map(|bundle| values(bundle, now)).collect())
}

/// Adds or changes prices.
pub fn put_prices(tx: &mut Tx<'_>, prices: &[Price]) -> Result<(), StoreError> {
    let rows = prices.iter().map(|price| {
        args![&price.list, price.bundle.as_str(), price.currency, price.minor].to_vec()
    });
    tx.later_rows(PUT_PRICE, rows.collect())
}

/// Adds or changes prices per megabyte; a new one gets the id beside it.
pub fn put_rates(tx: &mut Tx<'_>, rates: &[(String, Rate)]) -> Result<(), StoreError> {
    let rows = rates.iter().map(|(id, rate)| {
        let Rate { list, iso, profile_name, currency, price } = rate;
        args![id, list, iso, profile_name, *currency, price].to_vec()
    });
    tx.later_rows(PUT_RATE, rows.collect())
}

fn values(bundle: &Bundle, now: Timestamp) -> Vec<Value> {
    let (daily_mb, throttle_kbps) = bundle.data.daily();
    args![
        bundle.name.as_str(),
        &bundle.description,
        bundle.countries.join("\n"),
        bundle.roaming.join("\n"),
        bundle.data.megabytes(),
        daily_mb,
        throttle_kbps,
        bundle.duration,
        bundle.duration_unit.name(),
        bundle.speeds.join("\n"),
        bundle.start.name(),
        bundle.groups.join("\n"),
        &bundle.profile_name,
        &bundle.image_url,
        bundle.allowances.iter().map(allowance_line).collect::<Vec<_>>().join("\n"),
        bundle.is_withdrawn.then_some(now)
    ]
    .to_vec()
}

/// One line of fields between tabs; the draft has made sure that none of them holds either.
fn allowance_line(allowance: &Allowance) -> String {
    let Allowance { kind, service, description, amount, unit, is_unlimited } = allowance;
    let end = if *is_unlimited { "unlimited" } else { "" };
    format!("{kind}\t{service}\t{amount}\t{unit}\t{end}\t{description}")
}

fn allowance(line: &str) -> Option<Allowance> {
    let fields: Vec<_> = line.split('\t').collect();
    let [kind, service, amount, unit, end, description] = fields[..] else { return None };
    Some(Allowance {
        kind: kind.to_owned(),
        service: service.to_owned(),
        description: description.to_owned(),
        amount: amount.parse().ok()?,
        unit: unit.to_owned(),
        is_unlimited: end == "unlimited",
    })
}

fn lines(row: &Row, column: usize) -> Result<Vec<String>, StoreError> {
    Ok(row.text(column)?.lines().map(ToOwned::to_owned).collect())
}

fn country(row: &Row) -> Result<Country, StoreError> {
    let text = |column| row.text(column).map(ToOwned::to_owned);
    Ok(Country { iso: text(0)?, name: text(1)?, region: text(2)? })
}

fn network(row: &Row) -> Result<Network, StoreError> {
    let text = |column| row.text(column).map(ToOwned::to_owned);
    Ok(Network {
        iso: text(0)?,
        name: text(1)?,
        brand: text(2)?,
        mcc: text(3)?,
        mnc: text(4)?,
        tadig: text(5)?,
        speeds: lines(row, 6)?,
    })
}

fn group(row: &Row) -> Result<Group, StoreError> {
    let text = |column| row.text(column).map(ToOwned::to_owned);
    Ok(Group { name: text(0)?, description: text(1)?, price_list_url: text(2)?, icon: text(3)? })
}

fn bundle(row: &Row) -> Result<Bundle, StoreError> {
    let terms = terms(row, 4)?;
    Ok(Bundle {
        name: row.parsed(0, BundleName::parse)?,
        description: row.text(1)?.to_owned(),
        countries: lines(row, 2)?,
        roaming: lines(row, 3)?,
        data: terms.data,
        duration: terms.duration,
        duration_unit: terms.unit,
        start: terms.start,
        speeds: lines(row, 10)?,
        groups: lines(row, 11)?,
        profile_name: row.text(12)?.to_owned(),
        image_url: row.text(13)?.to_owned(),
        allowances: row.parsed(14, |text| {
            text.lines().map(|line| allowance(line).ok_or(())).collect::<Result<_, _>>()
        })?,
        is_withdrawn: row.time_or_none(15)?.is_some(),
    })
}

/// What a bundle gives, from six columns in a row: data, daily allowance, speed beyond it,
/// duration, its unit, and when it starts.
pub(crate) fn terms(row: &Row, from: usize) -> Result<Terms, StoreError> {
    let data = match (row.int(from)?, row.int_or_none(from + 1)?, row.int_or_none(from + 2)?) {
        (-1, daily_mb, throttle_kbps) => Data::Unlimited {
            daily_mb: daily_mb.unwrap_or(Data::DAILY_MB),
            throttle_kbps: throttle_kbps.unwrap_or(Data::THROTTLE_KBPS),
        },
        (megabytes, ..) => Data::Megabytes(megabytes),
    };
    Ok(Terms {
        data,
        duration: row.int(from + 3)?,
        unit: row.parsed(from + 4, |text| DurationUnit::parse(text).ok_or(()))?,
        start: row.parsed(from + 5, |text| Start::parse(text).ok_or(()))?,
    })
}

fn price(row: &Row) -> Result<Price, StoreError> {
    Ok(Price {
        list: row.text(0)?.to_owned(),
        bundle: row.parsed(1, BundleName::parse)?,
        currency: row.parsed(2, Currency::parse)?,
        minor: row.int(3)?,
    })
}

fn rate(row: &Row) -> Result<(String, Rate), StoreError> {
    let text = |column| row.text(column).map(ToOwned::to_owned);
    let currency = row.parsed(4, Currency::parse)?;
    let rate =
        Rate { list: text(1)?, iso: text(2)?, profile_name: text(3)?, currency, price: text(5)? };
    Ok((text(0)?, rate))
}
