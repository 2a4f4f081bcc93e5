//! What is for sale: read often, changed rarely, so each node keeps a copy and reads it anew when
//! the epoch of the catalogue has moved. Prices that are charged are read in the transaction.

mod import;
mod query;
mod search;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::catalogue::{Bundle, Country, Group, Market, Network, Rate};
pub use domain::catalogue::{Draft, Fault, Placed};
use domain::organisation::Billing;
use domain::{Currency, Money};
use store::catalogue::{self, Stored};
use store::epochs::{self, Epoch};
use store::{StoreError, Tx};

pub use self::import::{Counts, Error as ImportError, Report, Step};
pub use self::query::{Filter, SortBy};
use crate::{App, Caller};

/// The catalogue as it was at one moment.
#[derive(Debug, Default)]
pub struct Catalogue {
    epoch: i64,
    countries: BTreeMap<String, Country>,
    networks: BTreeMap<String, Vec<Network>>,
    groups: Vec<Group>,
    /// By name, those no longer sold among them.
    bundles: Vec<Entry>,
    by_name: HashMap<String, usize>,
    rates: Vec<(String, Rate)>,
}

#[derive(Debug)]
struct Entry {
    bundle: Bundle,
    /// By currency and list.
    prices: Vec<(Currency, String, i64)>,
}

/// A bundle as a market sees it.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'c> {
    /// The bundle.
    pub bundle: &'c Bundle,
    /// Its price there.
    pub price: Money,
}

impl Catalogue {
    fn new(epoch: i64, stored: Stored) -> Self {
        let mut networks: BTreeMap<String, Vec<Network>> = BTreeMap::new();
        for network in stored.networks {
            networks.entry(network.iso.clone()).or_default().push(network);
        }
        let mut prices: HashMap<String, Vec<(Currency, String, i64)>> = HashMap::new();
        for price in stored.prices {
            let of_bundle = prices.entry(price.bundle.to_string()).or_default();
            of_bundle.push((price.currency, price.list, price.minor));
        }
        let entry = |bundle: Bundle| {
            let prices = prices.remove(bundle.name.as_str()).unwrap_or_default();
            Entry { bundle, prices }
        };
        let bundles: Vec<_> = stored.bundles.into_iter().map(entry).collect();
        let by_name = bundles.iter().enumerate();
        let by_name = by_name.map(|(at, entry)| (entry.bundle.name.to_string(), at)).collect();
        Self {
            epoch,
            countries: stored.countries.into_iter().map(|c| (c.iso.clone(), c)).collect(),
            networks,
            groups: stored.groups,
            bundles,
            by_name,
            rates: stored.rates,
        }
    }

    /// Which one it is: a later one has another number.
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Everything a market can buy, by name.
    pub fn offers(&self, market: &Market) -> Vec<Offer<'_>> {
        self.bundles.iter().filter_map(|entry| entry.offer(market)).collect()
    }

    /// One bundle, if the market can buy it.
    pub fn offer(&self, market: &Market, name: &str) -> Option<Offer<'_>> {
        self.entry(name)?.offer(market)
    }

    /// A bundle, also one that is no longer sold.
    pub fn bundle(&self, name: &str) -> Option<&Bundle> {
        self.entry(name).map(|entry| &entry.bundle)
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).map(|at| &self.bundles[*at])
    }

    /// A country by its code.
    pub fn country(&self, iso: &str) -> Option<&Country> {
        self.countries.get(iso)
    }

    /// The networks of a country.
    pub fn networks_of(&self, iso: &str) -> &[Network] {
        self.networks.get(iso).map_or(&[], Vec::as_slice)
    }

    /// A network by its TADIG code, looked for where it is said to be.
    pub fn network(&self, iso: &str, tadig: &str) -> Option<&Network> {
        self.networks_of(iso).iter().find(|network| network.tadig == tadig)
    }

    /// Countries with their networks, by name.
    pub fn networks(&self) -> Vec<(&Country, &[Network])> {
        let mut all: Vec<_> = self
            .countries
            .values()
            .filter_map(|country| self.networks.get(&country.iso).map(|n| (country, &n[..])))
            .collect();
        all.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        all
    }

    /// The groups a market may buy from.
    pub fn groups(&self, market: &Market) -> Vec<&Group> {
        let allowed = |group: &&Group| market.allows(std::slice::from_ref(&group.name));
        self.groups.iter().filter(allowed).collect()
    }

    /// Prices per megabyte of a market, each with its id; its own list goes first.
    pub fn rates(&self, market: &Market) -> Vec<(&str, &Rate)> {
        let mut best: BTreeMap<(&str, &str), (&str, &Rate)> = BTreeMap::new();
        for (id, rate) in &self.rates {
            let is_own = rate.list == market.price_list;
            if rate.currency != market.currency || !(rate.list.is_empty() || is_own) {
                continue;
            }
            let place = (rate.iso.as_str(), rate.profile_name.as_str());
            if is_own || !best.contains_key(&place) {
                best.insert(place, (id, rate));
            }
        }
        best.into_values().collect()
    }
}

impl Entry {
    fn offer(&self, market: &Market) -> Option<Offer<'_>> {
        if self.bundle.is_withdrawn || !market.allows(&self.bundle.groups) {
            return None;
        }
        let on = |list: &str| {
            let is_it =
                |price: &&(Currency, String, i64)| price.0 == market.currency && price.1 == list;
            self.prices.iter().find(is_it).map(|price| price.2)
        };
        let minor = on(&market.price_list).or_else(|| on(""))?;
        Some(Offer { bundle: &self.bundle, price: Money::minor(minor, market.currency) })
    }
}

/// This node's copy, and the epoch it should have.
#[derive(Default)]
pub(crate) struct Cache {
    current: Mutex<Option<Arc<Catalogue>>>,
    /// The last epoch heard of.
    epoch: AtomicI64,
    /// One reads it anew, the others wait for that.
    reading: tokio::sync::Mutex<()>,
}

impl Cache {
    pub(crate) fn heard(&self, epoch: i64) {
        self.epoch.fetch_max(epoch, Ordering::Relaxed);
    }

    fn fresh(&self) -> Option<Arc<Catalogue>> {
        let epoch = self.epoch.load(Ordering::Relaxed);
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.clone().filter(|catalogue| catalogue.epoch >= epoch)
    }

    fn put(&self, catalogue: Arc<Catalogue>) {
        self.heard(catalogue.epoch);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalogue);
    }
}

impl App {
    /// The catalogue, at most a second old.
    pub async fn catalogue(&self) -> Result<Arc<Catalogue>, StoreError> {
        if let Some(catalogue) = self.shelf().fresh() {
            return Ok(catalogue);
        }
        let _one = self.shelf().reading.lock().await;
        if let Some(catalogue) = self.shelf().fresh() {
            return Ok(catalogue);
        }
        let catalogue = Arc::new(self.store().read(load).await?);
        self.shelf().put(catalogue.clone());
        Ok(catalogue)
    }

    /// The catalogue for an organisation that is billed by what it uses; none for others.
    pub async fn rates(&self, caller: &Caller) -> Result<Option<Arc<Catalogue>>, StoreError> {
        match caller.billing() {
            Billing::Prepaid => Ok(None),
            Billing::Consumption => self.catalogue().await.map(Some),
        }
    }
}

fn load(tx: &mut Tx<'_>) -> Result<Catalogue, StoreError> {
    Ok(Catalogue::new(epochs::read(tx, Epoch::Catalogue)?, catalogue::load(tx)?))
}
