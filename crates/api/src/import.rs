//! Files that an operator brings, as CSV or JSON: a catalogue, stock, usage. Reads them and names
//! every fault with its place; whether what they say makes sense is decided further in.

mod catalogue_csv;
mod catalogue_json;
mod columns;
mod rows;
pub mod stock;
mod table;
pub mod usage;
mod values;

use app::catalogue::{Counts, Draft, Fault, Placed, Report};
use domain::limits;
use serde_json::{Value, json};

use self::rows::{Row, Source};

/// Reads the files of one catalogue, each with its name. A file is JSON if it begins with `{`,
/// otherwise it is CSV of one kind of rows.
pub fn catalogue(files: &[(String, Vec<u8>)]) -> Result<Draft, Vec<Fault>> {
    let mut reading = Reading::default();
    for (name, bytes) in files {
        reading.file = (files.len() > 1).then(|| name.clone());
        let text = bytes.strip_prefix(table::MARK).unwrap_or(bytes).trim_ascii_start();
        match text.first() {
            None => reading.faults.push(Fault { at: name.clone(), why: "is empty".to_owned() }),
            Some(b'{') => {
                if let Err(why) = catalogue_json::read(&mut reading, text) {
                    let why = format!("cannot be read as JSON: {why}");
                    reading.faults.push(Fault { at: name.clone(), why });
                }
            }
            Some(_) => catalogue_csv::read(&mut reading, bytes),
        }
    }
    reading.end()
}

/// Why a body is no draft.
pub(crate) enum Unfit {
    /// Nothing can be read.
    Malformed(String),
    /// Rows are wrong.
    Faults(Vec<Fault>),
}

/// Reads a catalogue that came as CSV.
pub(crate) fn catalogue_from_csv(bytes: &[u8]) -> Result<Draft, Unfit> {
    let mut reading = Reading::default();
    catalogue_csv::read(&mut reading, bytes);
    reading.end().map_err(Unfit::Faults)
}

/// Reads a catalogue that came as JSON.
pub(crate) fn catalogue_from_json(bytes: &[u8]) -> Result<Draft, Unfit> {
    let mut reading = Reading::default();
    catalogue_json::read(&mut reading, bytes).map_err(Unfit::Malformed)?;
    reading.end().map_err(Unfit::Faults)
}

/// What an import of a catalogue changed, as JSON.
pub fn outcome(report: &Report) -> Value {
    let counts = |counts: &Counts| {
        let Counts { added, changed, unchanged, withdrawn } = counts;
        json!({
            "added": added,
            "changed": changed,
            "unchanged": unchanged,
            "withdrawn": withdrawn,
        })
    };
    let changes: Value =
        report.parts.iter().map(|(name, part)| ((*name).to_owned(), counts(part))).collect();
    json!({ "applied": report.is_applied, "changes": changes, "examples": report.examples })
}

/// Faults as JSON.
pub fn faults(faults: &[Fault]) -> Value {
    faults.iter().map(|Fault { at, why }| json!({ "at": at, "why": why })).collect()
}

/// A part of a catalogue: a list of the JSON form, a file of the CSV form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Prices,
    Rates,
    Networks,
    Bundles,
    Countries,
    Groups,
}

impl Part {
    /// In the order in which a header line is tried: those with the more telling columns first.
    const ALL: [Self; 6] =
        [Self::Prices, Self::Rates, Self::Networks, Self::Bundles, Self::Countries, Self::Groups];

    fn name(self) -> &'static str {
        match self {
            Self::Prices => "prices",
            Self::Rates => "rates",
            Self::Networks => "networks",
            Self::Bundles => "bundles",
            Self::Countries => "countries",
            Self::Groups => "groups",
        }
    }
}

/// A draft that grows row by row, and what is wrong so far.
#[derive(Default)]
struct Reading {
    draft: Draft,
    faults: Vec<Fault>,
    /// Named in places when there are several.
    file: Option<String>,
}

impl Reading {
    /// More faults than anybody reads, or more rows than can be taken. (Of rows, one too many is
    /// kept: the import says so.)
    fn is_full(&self) -> bool {
        self.faults.len() >= limits::IMPORT_FAULTS_MAX
            || self.draft.rows() > limits::CATALOGUE_ROWS_MAX
    }

    fn fault(&mut self, place: &str, why: impl Into<String>) {
        let at = self.at(place);
        self.faults.push(Fault { at, why: why.into() });
    }

    fn at(&self, place: &str) -> String {
        match &self.file {
            None => place.to_owned(),
            Some(file) => format!("{file} {place}"),
        }
    }

    fn add(&mut self, part: Part, place: &str, source: impl Source) {
        let (at, mut row) = (self.at(place), Row::new(source));
        let draft = &mut self.draft;
        let before = draft.rows();
        match part {
            Part::Countries => keep(&mut draft.countries, &at, row.country()),
            Part::Networks => keep(&mut draft.networks, &at, row.network()),
            Part::Groups => keep(&mut draft.groups, &at, row.group()),
            Part::Prices => keep(&mut draft.prices, &at, row.price()),
            Part::Rates => keep(&mut draft.rates, &at, row.rate()),
            Part::Bundles => {
                let (bundle, prices) = row.bundle().unzip();
                keep(&mut draft.bundles, &at, bundle);
                for price in prices.into_iter().flatten() {
                    keep(&mut draft.prices, &at, Some(price));
                }
            }
        }
        let whys = row.whys();
        debug_assert_eq!(draft.rows() == before, !whys.is_empty(), "a row or what is wrong");
        self.faults.extend(whys.into_iter().map(|why| Fault { at: at.clone(), why }));
    }

    fn end(mut self) -> Result<Draft, Vec<Fault>> {
        if self.faults.is_empty() {
            return Ok(self.draft);
        }
        self.faults.truncate(limits::IMPORT_FAULTS_MAX);
        Err(self.faults)
    }
}

fn keep<T>(rows: &mut Vec<Placed<T>>, at: &str, value: Option<T>) {
    rows.extend(value.map(|value| Placed { at: at.to_owned(), value }));
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use domain::catalogue::Known;

    use super::*;

    fn file(name: &str, text: &str) -> (String, Vec<u8>) {
        (name.to_owned(), text.as_bytes().to_vec())
    }

    fn told(faults: &[Fault]) -> Vec<String> {
        faults.iter().map(|fault| format!("{}: {}", fault.at, fault.why)).collect()
    }

    const BUNDLES: &str = "name,description,countries,dataAmount,duration,price:USD\n\
         a,One,PT,1000,7,240\n";

    #[test]
    fn several_files_are_one_draft() {
        let json = "\u{feff}\n {\"countries\":[{\"iso\":\"PT\",\"name\":\"Portugal\",\
             \"region\":\"Europe\"}]}";
        let prices = "list,bundle,currency,price\nPartners,a,USD,200\n";
        let files = [file("b.csv", BUNDLES), file("c.json", json), file("p.csv", prices)];
        let draft = catalogue(&files).expect("a draft");
        assert_eq!(draft.faults(&Known::default()), []);
        assert_eq!((draft.rows(), draft.prices.len()), (4, 2));
        assert_eq!(draft.bundles[0].at, "b.csv line 2");
        assert_eq!(draft.countries[0].at, "c.json countries[0]");
    }

    #[test]
    fn a_name_in_two_files_stands_twice() {
        let json = "{\"bundles\":[{\"name\":\"a\",\"description\":\"x\",\"countries\":[\"PT\"],\
             \"dataAmount\":1,\"duration\":1,\"prices\":{\"USD\":1}}]}";
        let files = [file("b.csv", BUNDLES), file("c.json", json)];
        let draft = catalogue(&files).expect("a draft");
        let known = Known { isos: HashSet::from(["PT".to_owned()]), bundles: HashSet::new() };
        let faults = told(&draft.faults(&known));
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults.iter().all(|fault| fault.starts_with("c.json bundles[0]: ")));
        assert!(faults.iter().all(|fault| fault.ends_with(" stands twice")));
    }

    #[test]
    fn faults_of_all_files_come_together() {
        let files = [
            file("b.csv", "name,description,countries,duration\na,x,PT,seven\n"),
            file("e.csv", " \r\n"),
            file("j.json", "{\"bundles\":["),
            file("x.csv", "one,two\n"),
        ];
        let faults = told(&catalogue(&files).expect_err("faults"));
        assert_eq!(
            faults[..4],
            [
                "b.csv line 2: dataAmount is missing; -1 means unlimited",
                "b.csv line 2: duration must be a whole number",
                "e.csv: is empty",
                "j.json: cannot be read as JSON: ends too early at line 1 column 12",
            ]
        );
        assert!(faults[4].starts_with("x.csv line 1: the columns are of no kind"), "{faults:?}");
        assert_eq!(faults.len(), 5);
    }

    #[test]
    fn no_bytes_break_it() {
        // Cut and bent in every place: the readers must give a draft or faults.
        let json = "{\"bundles\":[{\"name\":\"a\",\"prices\":{\"USD\":2.4}}],\"rates\":[5,null]}";
        for text in [BUNDLES, json, "list,bundle,currency,price\n\"a\"b,\"c\n"] {
            for at in 0..text.len() {
                for odd in [b'"', b',', b'\n', b'{', 0, 0xff] {
                    let mut bytes = text.as_bytes().to_vec();
                    bytes[at] = odd;
                    let _either = catalogue(&[("f".to_owned(), bytes.clone())]);
                    bytes.truncate(at);
                    let _either = catalogue(&[("f".to_owned(), bytes)]);
                }
            }
        }
    }

    #[test]
    fn reading_ends_at_the_limits() {
        let wrong = format!("iso,name,region\n{}", ",x,y\n".repeat(5_000));
        let faults = catalogue(&[file("c.csv", &wrong)]).expect_err("faults");
        assert_eq!(faults.len(), limits::IMPORT_FAULTS_MAX);
        let many = "a,USD,1\n".repeat(limits::CATALOGUE_ROWS_MAX + 100);
        let draft = catalogue(&[file("p.csv", &format!("bundle,currency,price\n{many}"))]);
        assert_eq!(draft.expect("a draft").rows(), limits::CATALOGUE_ROWS_MAX + 1);
    }
}
