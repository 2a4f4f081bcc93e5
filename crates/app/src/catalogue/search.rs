//! Looking for bundles as people do: a few words, best first. Words are read once and turned into
//! countries, amounts and texts, so that a look at a bundle is cheap.

use std::collections::HashSet;

use domain::catalogue::{Bundle, Country, DurationUnit};
use domain::filter::Direction;
use domain::limits;

use super::query::{Filter, SortBy};
use super::{Catalogue, Offer};

/// Names that people use for countries whose own name or code is another.
const ALSO: [(&str, &str); 10] = [
    ("america", "US"),
    ("bali", "ID"),
    ("britain", "GB"),
    ("burma", "MM"),
    ("dubai", "AE"),
    ("england", "GB"),
    ("holland", "NL"),
    ("uae", "AE"),
    ("uk", "GB"),
    ("usa", "US"),
];

/// One word of a search.
enum Word<'c> {
    /// `5gb`, `500 MB`.
    Megabytes(i64),
    /// `7d`, `30 days`.
    Days(i64),
    /// Everything else: a country, a region, or a part of a name.
    Text { text: String, is_country: bool, countries: HashSet<&'c str>, regions: HashSet<&'c str> },
}

impl Catalogue {
    /// The offers that pass and have every word, the closest first, then by country and size.
    pub fn search<'c>(
        &'c self,
        offers: Vec<Offer<'c>>,
        text: &str,
        filter: &Filter,
    ) -> Vec<Offer<'c>> {
        let words = self.words(text);
        let found = self.find(offers, filter, (SortBy::Name, Direction::Ascending));
        let ranked = |offer: Offer<'c>| {
            let ranks = words.iter().map(|word| word.rank(offer.bundle));
            let rank = ranks.sum::<Option<u32>>()?;
            Some(((rank, self.first_country(offer.bundle), size(offer.bundle)), offer))
        };
        let mut found: Vec<_> = found.into_iter().filter_map(ranked).collect();
        found.sort_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, offer)| offer).collect()
    }

    fn first_country<'c>(&'c self, bundle: &Bundle) -> &'c str {
        let first = bundle.countries.first().and_then(|iso| self.country(iso));
        first.map_or("", |country| country.name.as_str())
    }

    fn words(&self, text: &str) -> Vec<Word<'_>> {
        let text = folded(text);
        let texts: Vec<&str> = text.split_whitespace().take(limits::SEARCH_WORDS_MAX).collect();
        let mut words = Vec::with_capacity(texts.len());
        let mut at = 0;
        while let Some(text) = texts.get(at) {
            at += 1;
            // A number and its unit may stand apart.
            let pair = texts.get(at).and_then(|unit| amount(&format!("{text}{unit}")));
            if let Some(word) = pair.filter(|_| text.bytes().all(|b| b.is_ascii_digit())) {
                at += 1;
                words.push(word);
                continue;
            }
            words.push(amount(text).unwrap_or_else(|| self.named(text)));
        }
        words
    }

    fn named(&self, text: &str) -> Word<'_> {
        let also = ALSO.iter().find(|(name, _)| *name == text).map(|(_, iso)| *iso);
        let code = also.unwrap_or(text);
        let exact = self.countries.keys().find(|iso| iso.eq_ignore_ascii_case(code));
        if let Some(iso) = exact.filter(|_| also.is_some() || text.len() == 2) {
            return Word::Text {
                text: text.to_owned(),
                is_country: true,
                countries: HashSet::from([iso.as_str()]),
                regions: HashSet::new(),
            };
        }
        let has = |country: &&Country| begins(&country.name, text) || begins(&country.iso, text);
        let countries = self.countries.values().filter(has).map(|country| country.iso.as_str());
        let within = |country: &&Country| begins(&country.region, text);
        let regions = self.countries.values().filter(within).map(|country| country.iso.as_str());
        Word::Text {
            text: text.to_owned(),
            is_country: false,
            countries: countries.collect(),
            regions: regions.collect(),
        }
    }
}

impl Word<'_> {
    /// How far a bundle is from it, 0 the closest; none = it has nothing to do with it.
    fn rank(&self, bundle: &Bundle) -> Option<u32> {
        let among = |set: &HashSet<&str>, isos: &[String]| {
            !set.is_empty() && isos.iter().any(|iso| set.contains(iso.as_str()))
        };
        match self {
            Self::Megabytes(megabytes) => (bundle.data.megabytes() == *megabytes).then_some(0),
            Self::Days(days) => (bundle.days() == *days).then_some(0),
            Self::Text { countries, .. } if among(countries, &bundle.countries) => Some(0),
            Self::Text { text, is_country: false, .. } if is_called(bundle, text) => Some(0),
            Self::Text { countries, .. } if among(countries, &bundle.roaming) => Some(1),
            Self::Text { regions, .. } => among(regions, &bundle.countries).then_some(2),
        }
    }
}

fn is_called(bundle: &Bundle, text: &str) -> bool {
    let groups = || bundle.groups.iter().any(|group| begins(group, text));
    begins(bundle.name.as_str(), text) || begins(&bundle.description, text) || groups()
}

/// Whether a word in a text begins so; what is no plain word may stand anywhere.
fn begins(text: &str, word: &str) -> bool {
    let text = folded(text);
    if !word.chars().all(char::is_alphanumeric) {
        return text.contains(word);
    }
    text.split(|c: char| !c.is_alphanumeric()).any(|part| part.starts_with(word))
}

/// Small letters without the marks that few keyboards have.
fn folded(text: &str) -> String {
    let plain = |c: char| match c {
        'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' => 'a',
        'ç' => 'c',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ñ' => 'n',
        'ó' | 'ò' | 'ô' | 'ö' | 'õ' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        c => c,
    };
    text.chars().flat_map(char::to_lowercase).map(plain).collect()
}

/// `5gb`, `0.5gb`, `500mb`, `7d`, `7day`, `7days`, `1month`.
fn amount(text: &str) -> Option<Word<'static>> {
    let unit = text.find(|c: char| c.is_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.len() > 3 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let whole: i64 = whole.parse().ok().filter(|whole| (0..=1_000_000).contains(whole))?;
    let thousandths: i64 = format!("{fraction:0<3}").parse().ok()?;
    match unit {
        "gb" => Some(Word::Megabytes(whole * 1_000 + thousandths)),
        "mb" if fraction.is_empty() => Some(Word::Megabytes(whole)),
        "d" | "day" | "days" if fraction.is_empty() => Some(Word::Days(whole)),
        "month" | "months" if fraction.is_empty() => Some(Word::Days(whole * 30)),
        _ => None,
    }
}

/// Small ones first, those without an end last.
fn size(bundle: &Bundle) -> (bool, i64, bool, i64) {
    let is_monthly = bundle.duration_unit == DurationUnit::Month;
    (bundle.data.is_unlimited(), bundle.data.megabytes(), is_monthly, bundle.days())
}
