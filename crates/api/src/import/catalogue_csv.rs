//! A table of one kind of rows, known by its header line.

use domain::catalogue::Allowance;

use super::rows::Source;
use super::table::{Record, Table};
use super::{Part, Reading};

/// Reads a table into the draft.
pub(super) fn read(reading: &mut Reading, bytes: &[u8]) {
    // Bytes in memory can always be read.
    let Ok(mut table) = Table::new(bytes) else { return };
    let (line, columns) = match table.next() {
        Ok(Some((line, Ok(record)))) => (line, columns(record)),
        Ok(Some((line, Err(why)))) => (line, Err(why.to_owned())),
        _ => (1, Err("the first line must name the columns".to_owned())),
    };
    let found = columns.and_then(|columns| Ok((part(&columns)?, columns)));
    let (part, columns) = match found {
        Ok(found) => found,
        Err(why) => return reading.fault(&format!("line {line}"), why),
    };
    while let Ok(Some((line, record))) = table.next() {
        if reading.is_full() {
            return;
        }
        let place = format!("line {line}");
        match record {
            Ok(record) if record.len() == columns.len() => {
                reading.add(part, &place, Cells { columns: &columns, record });
            }
            Ok(record) => {
                let (has, named) = (record.len(), columns.len());
                reading.fault(&place, format!("has {has} fields, but there are {named} columns"));
            }
            Err(why) => reading.fault(&place, why),
        }
    }
}

/// The names of the columns, in lower case.
pub(super) fn columns(header: Record<'_>) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::with_capacity(header.len());
    for column in 0..header.len() {
        let name = std::str::from_utf8(header.field(column)).map_err(|_| "is not UTF-8")?;
        let name = name.to_lowercase();
        if !name.is_empty() && names.contains(&name) {
            return Err(format!("the column {name} stands twice"));
        }
        names.push(name);
    }
    match names.as_slice() {
        [one] if one.contains([';', '\t']) => {
            Err("the columns must be separated by commas".to_owned())
        }
        _ => Ok(names),
    }
}

impl Part {
    /// The columns it has; the first few make it known and cannot be left out.
    fn columns(self) -> (usize, &'static [&'static str]) {
        match self {
            Self::Prices => (3, &["bundle", "currency", "price", "list"]),
            Self::Rates => (3, &["country", "currency", "price", "list", "profileName"]),
            Self::Networks => (4, &["iso", "name", "mcc", "mnc", "brandName", "tagid", "speed"]),
            Self::Bundles => (4, BUNDLE),
            Self::Countries => (3, &["iso", "name", "region"]),
            Self::Groups => (2, &["name", "desc", "priceListUrl", "icon"]),
        }
    }
}

const BUNDLE: &[&str] = &[
    "name",
    "description",
    "countries",
    "duration",
    "roamingEnabled",
    "dataAmount",
    "durationUnit",
    "speed",
    "autostart",
    "unlimited",
    "dailyAllowance",
    "throttle",
    "groups",
    "profileName",
    "imageUrl",
    "withdrawn",
];

/// What kind of rows stands under these columns.
fn part(columns: &[String]) -> Result<Part, String> {
    let has = |name: &&&str| columns.contains(&name.to_lowercase());
    let missing = |part: Part| {
        let (needed, names) = part.columns();
        let missing = names[..needed].iter().filter(|name| !has(name));
        missing.copied().collect::<Vec<_>>()
    };
    if let Some(part) = Part::ALL.into_iter().find(|part| missing(*part).is_empty()) {
        return Ok(part);
    }
    let alike = |part: &Part| part.columns().1.iter().filter(has).count();
    // The first of those that are most alike: a later one must be more alike.
    let nearest = Part::ALL.into_iter().rev().max_by_key(alike).filter(|part| alike(part) > 1);
    match nearest {
        Some(part) => Err(format!(
            "the columns look like those of {}, but there is no {}",
            part.name(),
            missing(part).join(" and no ")
        )),
        None => Err("the columns are of no kind that is known; countries have iso,name,region, \
                     networks iso,name,mcc,mnc, groups name,desc, bundles \
                     name,description,countries,dataAmount,duration, prices \
                     list,bundle,currency,price and rates list,country,currency,price"
            .to_owned()),
    }
}

/// A record under its columns.
struct Cells<'t> {
    columns: &'t [String],
    record: Record<'t>,
}

impl Cells<'_> {
    fn cell(&self, column: usize) -> Result<Option<&str>, String> {
        let odd = |what: &str| Err(format!("{} {what}", self.columns[column]));
        match std::str::from_utf8(self.record.field(column)) {
            Err(_) => odd("is not UTF-8"),
            // One of the databases cannot keep it, and nobody means it.
            Ok(text) if text.contains('\0') => odd("holds a NUL"),
            Ok(text) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        }
    }

    fn named(&self, field: &str) -> Result<Option<&str>, String> {
        let field = field.to_lowercase();
        let column = self.columns.iter().position(|name| *name == field);
        column.map_or(Ok(None), |column| self.cell(column))
    }
}

impl Source for Cells<'_> {
    fn text(&mut self, field: &str) -> Result<Option<String>, String> {
        Ok(self.named(field)?.map(ToOwned::to_owned))
    }

    fn whole(&mut self, field: &str) -> Result<Option<i64>, String> {
        let Some(text) = self.named(field)? else { return Ok(None) };
        whole(text).map(Some).ok_or_else(|| format!("{field} must be a whole number"))
    }

    fn flag(&mut self, field: &str) -> Result<Option<bool>, String> {
        match self.named(field)? {
            None => Ok(None),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(_) => Err(format!("{field} must be true or false")),
        }
    }

    fn list(&mut self, field: &str) -> Result<Option<Vec<String>>, String> {
        let Some(text) = self.named(field)? else { return Ok(None) };
        let texts = text.split(';').map(str::trim).filter(|text| !text.is_empty());
        Ok(Some(texts.map(ToOwned::to_owned).collect()))
    }

    fn prices(&mut self) -> Result<Vec<(String, Option<i64>)>, String> {
        let mut prices = Vec::new();
        for (column, name) in self.columns.iter().enumerate() {
            let Some(code) = name.strip_prefix("price:") else { continue };
            if let Some(text) = self.cell(column)? {
                prices.push((code.trim().to_uppercase(), whole(text)));
            }
        }
        Ok(prices)
    }

    fn allowances(&mut self) -> Result<Vec<Allowance>, String> {
        Ok(Vec::new())
    }
}

/// Digits with or without a minus: `parse` alone would take "+5".
fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    text.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use app::catalogue::{Draft, Fault};
    use domain::catalogue::{Data, DurationUnit, Start};
    use domain::limits;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Draft, Vec<String>> {
        let mut reading = Reading::default();
        super::read(&mut reading, bytes);
        let told = |fault: &Fault| format!("{}: {}", fault.at, fault.why);
        reading.end().map_err(|faults| faults.iter().map(told).collect())
    }

    fn good(text: &str) -> Draft {
        read(text.as_bytes()).expect("a draft")
    }

    fn bad(text: &str) -> Vec<String> {
        read(text.as_bytes()).expect_err("faults")
    }

    #[test]
    fn a_bundle_has_defaults_and_prices() {
        let draft = good(
            "\u{feff}DURATION,Name,description,countries,dataAmount,price:usd,price:EUR,extra\r\n\
             7,a,\"One, with\r\n a comma\",PT; ES ;,1000,240,,x\r\n",
        );
        let bundle = &draft.bundles[0].value;
        assert_eq!(draft.bundles[0].at, "line 2");
        assert_eq!(bundle.description, "One, with\r\n a comma");
        assert_eq!(bundle.countries, ["PT", "ES"]);
        assert_eq!(bundle.data, Data::Megabytes(1_000));
        assert_eq!((bundle.duration, bundle.duration_unit), (7, DurationUnit::Day));
        assert_eq!((bundle.start, bundle.is_withdrawn), (Start::FirstUse, false));
        assert_eq!(bundle.profile_name, "Profile 1");
        let prices: Vec<_> = draft.prices.iter().map(|price| &price.value).collect();
        assert_eq!(prices.len(), 1);
        assert_eq!((prices[0].currency.code(), prices[0].minor), ("USD", 240));
        assert!(prices[0].list.is_empty());
    }

    #[test]
    fn unlimited_is_said_in_two_ways() {
        let head = "name,description,countries,duration,dataAmount,unlimited,dailyAllowance,\
                    throttle,autostart,durationUnit,withdrawn";
        let draft =
            good(&format!("{head}\na,x,PT,1,-1,,,,,,\nb,x,PT,1,,TRUE,2000,256,true,month,true\n"));
        let [a, b] = [0, 1].map(|n| &draft.bundles[n].value);
        assert_eq!(a.data, Data::Unlimited { daily_mb: 1_000, throttle_kbps: 512 });
        assert_eq!(b.data, Data::Unlimited { daily_mb: 2_000, throttle_kbps: 256 });
        assert_eq!((b.start, b.duration_unit), (Start::Auto, DurationUnit::Month));
        assert!(b.is_withdrawn);
        let lines = "a,x,PT,1,500,true,,,,,\nb,x,PT,1,-1,false,,,,,\nc,x,PT,1,,,,,,,\n";
        assert_eq!(
            bad(&format!("{head}\n{lines}")),
            [
                "line 2: dataAmount must be -1 or left out where unlimited is true",
                "line 3: dataAmount -1 is unlimited, but unlimited is false",
                "line 4: dataAmount is missing; -1 means unlimited",
            ]
        );
    }

    #[test]
    fn every_kind_is_known_by_its_columns() {
        let draft = good("name,iso,region\nPortugal,PT,Europe\n");
        assert_eq!(draft.countries[0].value.region, "Europe");
        let draft = good("iso,name,brandName,mcc,mnc,tagid,speed\nPT,Sagres,,268,98,PRTXX,4G;5G\n");
        assert_eq!(draft.networks[0].value.speeds, ["4G", "5G"]);
        let draft = good("name,desc,icon\nFixed,\"so\nmuch\",\n");
        assert_eq!(draft.groups[0].value.description, "so\nmuch");
        let draft = good("list,bundle,currency,price\nPartners,a,USD,200\n");
        assert_eq!(draft.prices[0].value.list, "Partners");
        let draft = good("list,country,profileName,currency,price\n,PT,,USD,0.0021\n");
        let rate = &draft.rates[0].value;
        assert_eq!((rate.price.as_str(), rate.profile_name.as_str()), ("0.0021", "Profile 1"));
    }

    #[test]
    fn a_header_that_does_not_fit_says_what_is_missing() {
        for (header, why) in [
            (
                "name,description,countries,dataAmount",
                "line 1: the columns look like those of bundles, but there is no duration",
            ),
            (
                "list,bundle,price",
                "line 1: the columns look like those of prices, but there is no currency",
            ),
            ("name;desc;icon", "line 1: the columns must be separated by commas"),
            ("name,desc,Name", "line 1: the column name stands twice"),
            ("", "line 1: the first line must name the columns"),
        ] {
            assert_eq!(bad(header), [why]);
        }
        assert!(bad("a,1000,7\n")[0].starts_with("line 1: the columns are of no kind"));
        assert_eq!(read(b"\xff,name").expect_err("faults"), ["line 1: is not UTF-8"]);
    }

    #[test]
    fn what_is_wrong_names_line_and_field() {
        let head =
            "name,description,countries,dataAmount,duration,autostart,price:USD,price:DOLLAR";
        let faults = bad(&format!(
            "{head}\na b,x,PT,1.5,seven,yes,2.40,\n,,,1,1,,,\nc,x,PT,1,1,,-5,9\n\
             d,x,PT,1,+1,,99999999999999999999,\ne,x\n"
        ));
        assert_eq!(
            faults,
            [
                "line 2: name: a bundle name is 1 to 100 letters, digits, '_', '-', '.' or '+'",
                "line 2: dataAmount must be a whole number",
                "line 2: duration must be a whole number",
                "line 2: autostart must be true or false",
                "line 2: price:USD must be a whole number of minor units, such as 240 for 2.40",
                "line 3: name is missing",
                "line 3: description is missing",
                "line 4: DOLLAR is no code of a currency",
                "line 5: duration must be a whole number",
                "line 5: price:USD must be a whole number of minor units, such as 240 for 2.40",
                "line 6: has 2 fields, but there are 8 columns",
            ]
        );
        assert_eq!(
            bad("bundle,currency,price,list\na,usd,1,\na,USD,2.4,\n,USD,,\"a\nb\"\n"),
            [
                "line 2: currency must be three capital letters such as USD",
                "line 3: price must be a whole number of minor units, such as 240 for 2.40",
                "line 4: list must be one line",
                "line 4: bundle is missing",
                "line 4: price is missing",
            ]
        );
        let long = "x".repeat(limits::TEXT_CHARS_MAX + 1);
        assert_eq!(
            bad(&format!("name,desc\na,{long}\n")),
            ["line 2: desc must be at most 1000 characters"]
        );
    }

    #[test]
    fn odd_bytes_cost_only_their_line() {
        let giant = vec![b'x'; limits::IMPORT_LINE_BYTES_MAX + 1];
        let text = [&b"name,desc\na,\xff\n"[..], &giant, b"\nb,\0\nc,fine\n"].concat();
        assert_eq!(
            read(&text).expect_err("faults"),
            [
                "line 2: desc is not UTF-8",
                "line 3: is longer than 64 KB; is a quote not closed?",
                "line 4: desc holds a NUL",
            ]
        );
    }
}
