//! A catalogue as one JSON object with a list for each part, read a row at a time.

use std::fmt;

use domain::catalogue::Allowance;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::rows::Source;
use super::{Part, Reading};
use crate::json::{Fields, place};
use crate::problem::Problem;

/// Reads an object into the draft. An error is one of the whole text: nothing was read.
pub(super) fn read(reading: &mut Reading, bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let mut whole = serde_json::Deserializer::from_str(text);
    let parts = whole.deserialize_map(Parts).and_then(|parts| whole.end().map(|()| parts));
    for (part, list) in parts.map_err(|error| place(&error))? {
        match list.get().as_bytes() {
            b"null" => {}
            [b'[', ..] => {
                let mut rows = serde_json::Deserializer::from_str(list.get());
                // The syntax is known to be right; what ends it early is a reading that is full.
                let _early = rows.deserialize_seq(Rows { part, reading });
            }
            _ => reading.fault(part.name(), "is not a list"),
        }
    }
    Ok(())
}

/// The lists of the object, not yet taken apart.
struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = Vec<(Part, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut parts: Self::Value = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let key = key.to_lowercase();
            let Some(part) = Part::ALL.into_iter().find(|part| part.name() == key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if parts.iter().any(|(other, _)| *other == part) {
                return Err(A::Error::custom("twice the same key"));
            }
            parts.push((part, map.next_value()?));
        }
        Ok(parts)
    }
}

struct Rows<'r> {
    part: Part,
    reading: &'r mut Reading,
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut n = 0;
        while let Some(row) = list.next_element::<&RawValue>()? {
            if self.reading.is_full() {
                return Ok(());
            }
            let place = format!("{}[{n}]", self.part.name());
            match Fields::read(row.get().as_bytes()) {
                _ if !row.get().starts_with('{') => {
                    self.reading.fault(&place, "is not an object");
                }
                Ok(fields) => self.reading.add(self.part, &place, Object(fields)),
                Err(problem) => self.reading.fault(&place, without_place(&why(problem))),
            }
            n += 1;
        }
        Ok(())
    }
}

/// A problem's cause names the field and never repeats what it holds.
fn why(problem: Problem) -> String {
    problem.cause.unwrap_or_else(|| problem.message.into_owned())
}

/// The reader counts lines and columns from the start of the row, where nobody does.
fn without_place(why: &str) -> &str {
    why.split(" at line ").next().unwrap_or(why)
}

/// A row.
struct Object(Fields);

impl Source for Object {
    fn text(&mut self, field: &str) -> Result<Option<String>, String> {
        self.0.text(field).map_err(why)
    }

    fn whole(&mut self, field: &str) -> Result<Option<i64>, String> {
        self.0.int(field).map_err(|_| format!("{field} must be a whole number"))
    }

    fn flag(&mut self, field: &str) -> Result<Option<bool>, String> {
        self.0.boolean(field).map_err(why)
    }

    fn list(&mut self, field: &str) -> Result<Option<Vec<String>>, String> {
        self.0.texts(field).map_err(why)
    }

    fn prices(&mut self) -> Result<Vec<(String, Option<i64>)>, String> {
        let prices = self.0.numbers("prices").map_err(why)?;
        // Keys are read in lower case.
        Ok(prices.into_iter().map(|(code, minor)| (code.to_uppercase(), minor)).collect())
    }

    fn allowances(&mut self) -> Result<Vec<Allowance>, String> {
        let objects = self.0.objects("allowances").map_err(why)?.unwrap_or_default();
        let allowance = |mut fields: Fields| {
            let mut text = |name: &str| fields.text(name).map(Option::unwrap_or_default);
            let (kind, service) = (text("type")?, text("service")?);
            let (description, unit) = (text("description")?, text("unit")?);
            let amount = fields.int("amount")?.unwrap_or_default();
            let is_unlimited = fields.boolean("unlimited")?.unwrap_or_default();
            Ok(Allowance { kind, service, description, amount, unit, is_unlimited })
        };
        let read: Result<_, Problem> = objects.into_iter().map(allowance).collect();
        read.map_err(|problem| format!("allowances: {}", why(problem)))
    }
}

#[cfg(test)]
mod tests {
    use app::catalogue::{Draft, Fault};
    use domain::catalogue::{Data, Known};

    use super::*;

    fn read(text: &str) -> Result<Draft, Vec<String>> {
        let mut reading = Reading::default();
        super::read(&mut reading, text.as_bytes()).expect("JSON");
        let told = |fault: &Fault| format!("{}: {}", fault.at, fault.why);
        reading.end().map_err(|faults| faults.iter().map(told).collect())
    }

    #[test]
    fn every_part_is_read() {
        let draft = read(
            r#"{"countries":[{"iso":"PT","name":"Portugal","region":"Europe"}],"else":[[1],{}],
            "networks":[{"iso":"PT","name":"Sagres","mcc":"268","mnc":"98","speed":["4G"]}],
            "groups":[{"name":"Fixed"}],"rates":null,"BUNDLES":[{"Name":"a","description":"One",
              "countries":["PT"],"duration":7,"unlimited":true,"throttle":256,"imageUrl":null,
              "allowances":[{"type":"SMS","service":"ROAMING","description":"5 SMS","amount":5,
                "unit":"SMS"}],"prices":{"USD":240,"EUR":220,"JPY":null}}],
            "prices":[{"list":"Partners","bundle":"a","currency":"USD","price":200}]}"#,
        )
        .expect("a draft");
        assert_eq!(draft.faults(&Known::default()), []);
        assert_eq!((draft.rows(), draft.prices.len()), (7, 3));
        let bundle = &draft.bundles[0].value;
        assert_eq!(bundle.data, Data::Unlimited { daily_mb: 1_000, throttle_kbps: 256 });
        assert_eq!((bundle.allowances.len(), bundle.allowances[0].amount), (1, 5));
        assert_eq!(draft.bundles[0].at, "bundles[0]");
        let codes: Vec<_> = draft.prices.iter().map(|row| row.value.currency.code()).collect();
        assert!(codes.contains(&"EUR"));
    }

    #[test]
    fn what_is_wrong_names_place_and_field() {
        let faults = read(
            r#"{"bundles":[5,{"name":"a","NAME":"b"},
              {"name":"a","description":5,"countries":"PT","dataAmount":"1","duration":7.5,
               "autostart":"true","prices":{"USD":2.4,"us":1},"allowances":[{"amount":"x"}]},
              {"name":"a","description":"x","countries":["P\nT"],"dataAmount":1,"duration":1}],
              "rates":[{"country":"PT","currency":"USD","price":0.0021}],"groups":{}}"#,
        );
        assert_eq!(
            faults.expect_err("faults"),
            [
                "bundles[0]: is not an object",
                "bundles[1]: twice the same key, nested too deep, or a NUL",
                "bundles[2]: description is not text",
                "bundles[2]: countries is not a list",
                "bundles[2]: dataAmount must be a whole number",
                "bundles[2]: duration must be a whole number",
                "bundles[2]: autostart is not true or false",
                "bundles[2]: allowances: amount is not a whole number",
                "bundles[2]: price:USD must be a whole number of minor units, such as 240 for 2.40",
                "bundles[2]: US is no code of a currency",
                "bundles[3]: countries must hold texts of one line each",
                "rates[0]: price is not text",
                "groups: is not a list",
            ]
        );
    }

    #[test]
    fn what_is_no_object_is_refused_whole() {
        let deep = format!("{{\"x\":{}", "[".repeat(200_000));
        for text in ["", "[]", "5", "{", "{} {}", "{\"bundles\":[],\"Bundles\":[]}", &deep] {
            let mut reading = Reading::default();
            let why = super::read(&mut reading, text.as_bytes());
            assert!(why.expect_err("refused").contains(" at line "), "{text:.20}");
        }
        let why = super::read(&mut Reading::default(), b"{\"\xff\":1}").expect_err("refused");
        assert_eq!(why, "it is not UTF-8");
    }
}
