//! Looking for bundles: conditions and order.

use std::cmp::Ordering;

use domain::catalogue::Start;
use domain::filter::{Direction, NumberTest, TextTest};

use super::{Catalogue, Offer};

/// What bundles to list. Everything set must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// On the name.
    pub name: Vec<TextTest>,
    /// On the description.
    pub description: Vec<TextTest>,
    /// One of its groups must pass each.
    pub group: Vec<TextTest>,
    /// One of its base countries must have one of each list of codes.
    pub countries: Vec<Vec<String>>,
    /// The region of one of its base countries must pass each.
    pub region: Vec<TextTest>,
    /// On the megabytes; unlimited is −1.
    pub data_amount: Vec<NumberTest>,
    /// On the duration.
    pub duration: Vec<NumberTest>,
    /// On the price, in minor units.
    pub price: Vec<NumberTest>,
    /// Unlimited or not.
    pub unlimited: Option<bool>,
    /// Starts by itself or not.
    pub autostart: Option<bool>,
}

/// What bundles are sorted by; ties by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// Name.
    Name,
    /// Description.
    Description,
    /// First group.
    Group,
    /// Name of the first country.
    Countries,
    /// Its region.
    Region,
    /// Megabytes.
    DataAmount,
    /// Duration.
    Duration,
    /// Price.
    Price,
    /// Unlimited last.
    Unlimited,
    /// Those that start by themselves last.
    Autostart,
    /// How many countries it roams in.
    Roaming,
}

impl Catalogue {
    /// The offers that pass, sorted.
    pub fn find<'c>(
        &'c self,
        offers: Vec<Offer<'c>>,
        filter: &Filter,
        (by, direction): (SortBy, Direction),
    ) -> Vec<Offer<'c>> {
        let mut found: Vec<_> =
            offers.into_iter().filter(|offer| self.passes(offer, filter)).collect();
        // Stable, and the offers come by name: ties stay by name.
        match (by, direction) {
            (SortBy::Name, Direction::Ascending) => {}
            (SortBy::Name, Direction::Descending) => found.reverse(),
            (by, Direction::Ascending) => found.sort_by(|a, b| self.compare(a, b, by)),
            (by, Direction::Descending) => found.sort_by(|a, b| self.compare(b, a, by)),
        }
        found
    }

    fn passes(&self, offer: &Offer<'_>, filter: &Filter) -> bool {
        let bundle = offer.bundle;
        let texts = |tests: &[TextTest], text: &str| tests.iter().all(|test| test.passes(text));
        let any = |tests: &[TextTest], list: &[&str]| {
            tests.iter().all(|test| list.iter().any(|text| test.passes(text)))
        };
        let numbers =
            |tests: &[NumberTest], number: i64| tests.iter().all(|test| test.passes(number));
        let groups: Vec<_> = bundle.groups.iter().map(String::as_str).collect();
        let regions: Vec<_> = bundle
            .countries
            .iter()
            .filter_map(|iso| self.country(iso))
            .map(|c| &*c.region)
            .collect();
        let in_one = |codes: &Vec<String>| {
            let is_it = |iso: &String| codes.iter().any(|code| code.eq_ignore_ascii_case(iso));
            bundle.countries.iter().any(is_it)
        };
        texts(&filter.name, bundle.name.as_str())
            && texts(&filter.description, &bundle.description)
            && any(&filter.group, &groups)
            && any(&filter.region, &regions)
            && filter.countries.iter().all(in_one)
            && numbers(&filter.data_amount, bundle.data.megabytes())
            && numbers(&filter.duration, bundle.days())
            && numbers(&filter.price, offer.price.in_minor())
            && filter.unlimited.is_none_or(|wanted| wanted == bundle.data.is_unlimited())
            && filter.autostart.is_none_or(|wanted| wanted == (bundle.start == Start::Auto))
    }

    fn compare(&self, a: &Offer<'_>, b: &Offer<'_>, by: SortBy) -> Ordering {
        let country = |offer: &Offer<'_>, part: fn(&domain::catalogue::Country) -> &String| {
            let first = offer.bundle.countries.first().and_then(|iso| self.country(iso));
            first.map(|country| part(country).clone()).unwrap_or_default()
        };
        let (x, y) = (a.bundle, b.bundle);
        match by {
            SortBy::Name => x.name.cmp(&y.name),
            SortBy::Description => x.description.cmp(&y.description),
            SortBy::Group => x.groups.first().cmp(&y.groups.first()),
            SortBy::Countries => country(a, |c| &c.name).cmp(&country(b, |c| &c.name)),
            SortBy::Region => country(a, |c| &c.region).cmp(&country(b, |c| &c.region)),
            SortBy::DataAmount => x.data.megabytes().cmp(&y.data.megabytes()),
            SortBy::Duration => x.days().cmp(&y.days()),
            SortBy::Price => a.price.in_minor().cmp(&b.price.in_minor()),
            SortBy::Unlimited => x.data.is_unlimited().cmp(&y.data.is_unlimited()),
            SortBy::Autostart => (x.start == Start::Auto).cmp(&(y.start == Start::Auto)),
            SortBy::Roaming => x.roaming.len().cmp(&y.roaming.len()),
        }
    }
}
