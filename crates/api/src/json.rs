//! JSON in both directions: a tolerant reader of requests, an exact writer of answers.
//!
//! Keys of a request are matched without regard to case, unknown ones are ignored, `null` means
//! absent. Twice the same key, too deep nesting and wrong types are refused.

use domain::Timestamp;
use std::fmt;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::limits;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::problem::Problem;

/// An answer, with its status.
pub(crate) struct Answer<T>(pub(crate) StatusCode, pub(crate) T);

/// The usual answer.
pub(crate) fn ok<T>(body: T) -> Answer<T> {
    Answer(StatusCode::OK, body)
}

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        match rendered(&self.1) {
            Ok(body) => {
                let json = HeaderValue::from_static("application/json");
                (self.0, [(header::CONTENT_TYPE, json)], body).into_response()
            }
            Err(problem) => problem.into_response(),
        }
    }
}

/// An answer that was written before.
pub(crate) fn written(body: Bytes) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], body).into_response()
}

/// A body as it goes out.
pub(crate) fn rendered<T: Serialize>(body: &T) -> Result<Vec<u8>, Problem> {
    // Most answers fit without growing.
    let mut bytes = Vec::with_capacity(1_024);
    match serde_json::to_writer(&mut bytes, body) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Problem::internal(error.to_string())),
    }
}

/// A value of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Json {
    Null,
    Bool(bool),
    Int(i64),
    /// A number that is not a whole one we can hold: always of the wrong type.
    OddNumber,
    Text(String),
    List(Vec<Json>),
    Map(Fields),
}

/// An element of a list, written short or long.
pub(crate) enum Entry {
    Text(String),
    Object(Fields),
}

/// A number of things, as it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Absent,
    Whole(i64),
    /// Not a whole number we can hold.
    Odd,
}

/// The fields of an object in a request, under lower-case names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fields(Vec<(String, Json)>);

impl Fields {
    /// Reads a body that is a list of objects.
    pub(crate) fn read_list(body: &[u8]) -> Result<Vec<Result<Self, Problem>>, Problem> {
        let mut reader = serde_json::Deserializer::from_slice(body);
        let value = Nested(limits::JSON_DEPTH_MAX).deserialize(&mut reader);
        let value = value.and_then(|value| reader.end().map(|()| value));
        let object = |value| match value {
            Json::Map(fields) => Ok(fields),
            _ => Err(Problem::malformed("an element is not an object")),
        };
        match value {
            Ok(Json::List(values)) => Ok(values.into_iter().map(object).collect()),
            Ok(_) => Err(Problem::malformed("the body is not a list")),
            Err(error) => Err(Problem::malformed(place(&error))),
        }
    }

    /// An object within the object; nothing where there is none.
    pub(crate) fn object(&mut self, name: &str) -> Result<Self, Problem> {
        match self.take(name) {
            None => Ok(Self::default()),
            Some(Json::Map(fields)) => Ok(fields),
            Some(_) => Err(wrong(name, "an object")),
        }
    }

    /// Reads a body. No body is no fields.
    pub(crate) fn read(body: &[u8]) -> Result<Self, Problem> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::default());
        }
        let mut reader = serde_json::Deserializer::from_slice(body);
        let value = Nested(limits::JSON_DEPTH_MAX).deserialize(&mut reader);
        let value = value.and_then(|value| reader.end().map(|()| value));
        match value {
            Ok(Json::Map(fields)) => Ok(fields),
            Ok(_) => Err(Problem::malformed("the body is not an object")),
            // The reader's text tells a position and what it expected, never the contents.
            Err(error) => Err(Problem::malformed(place(&error))),
        }
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(name, "text")),
        }
    }

    /// A moment.
    pub(crate) fn time(&mut self, name: &str) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        Timestamp::parse(&text).map(Some).map_err(|_| Problem::invalid(name))
    }

    pub(crate) fn int(&mut self, name: &str) -> Result<Option<i64>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::Int(value)) => Ok(Some(value)),
            Some(_) => Err(wrong(name, "a whole number")),
        }
    }

    pub(crate) fn boolean(&mut self, name: &str) -> Result<Option<bool>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::Bool(value)) => Ok(Some(value)),
            Some(_) => Err(wrong(name, "true or false")),
        }
    }

    /// A whole number. Another number is out of range rather than of the wrong type: the caller
    /// gets to hear which field it is.
    pub(crate) fn count(&mut self, name: &str) -> Result<Count, Problem> {
        match self.take(name) {
            None => Ok(Count::Absent),
            Some(Json::Int(value)) => Ok(Count::Whole(value)),
            Some(Json::OddNumber) => Ok(Count::Odd),
            Some(_) => Err(wrong(name, "a whole number")),
        }
    }

    /// A flag that old programs also send as a text.
    pub(crate) fn lenient_boolean(&mut self, name: &str) -> Result<Option<bool>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Json::Bool(value)) => Ok(Some(value)),
            Some(Json::Text(text)) if text == "true" => Ok(Some(true)),
            Some(Json::Text(text)) if text == "false" => Ok(Some(false)),
            Some(_) => Err(wrong(name, "true or false")),
        }
    }

    /// A list of objects.
    pub(crate) fn objects(&mut self, name: &str) -> Result<Option<Vec<Fields>>, Problem> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let Json::List(values) = value else { return Err(wrong(name, "a list")) };
        let fields = |value| match value {
            Json::Map(fields) => Ok(fields),
            _ => Err(wrong(name, "a list of objects")),
        };
        values.into_iter().map(fields).collect::<Result<_, _>>().map(Some)
    }

    /// A list of texts and objects in any mixture.
    pub(crate) fn entries(&mut self, name: &str) -> Result<Option<Vec<Entry>>, Problem> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let Json::List(values) = value else { return Err(wrong(name, "a list")) };
        let entry = |value| match value {
            Json::Text(text) => Ok(Entry::Text(text)),
            Json::Map(fields) => Ok(Entry::Object(fields)),
            _ => Err(wrong(name, "a list of texts and objects")),
        };
        values.into_iter().map(entry).collect::<Result<_, _>>().map(Some)
    }

    /// An object of whole numbers; `None` stands for a value that is something else.
    pub(crate) fn numbers(&mut self, name: &str) -> Result<Vec<(String, Option<i64>)>, Problem> {
        let fields = match self.take(name) {
            None => return Ok(Vec::new()),
            Some(Json::Map(fields)) => fields,
            Some(_) => return Err(wrong(name, "an object")),
        };
        let given = fields.0.into_iter().filter(|(_, value)| *value != Json::Null);
        let number = |value| if let Json::Int(number) = value { Some(number) } else { None };
        Ok(given.map(|(key, value)| (key, number(value))).collect())
    }

    /// A list of whole numbers.
    pub(crate) fn ints(&mut self, name: &str) -> Result<Option<Vec<i64>>, Problem> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let Json::List(values) = value else { return Err(wrong(name, "a list")) };
        let number = |value| match value {
            Json::Int(number) => Ok(number),
            _ => Err(wrong(name, "a list of whole numbers")),
        };
        values.into_iter().map(number).collect::<Result<_, _>>().map(Some)
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, Problem> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let Json::List(values) = value else { return Err(wrong(name, "a list")) };
        let text = |value| match value {
            Json::Text(text) => Ok(text),
            _ => Err(wrong(name, "a list of texts")),
        };
        values.into_iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// Whether a field is there and `null`, for the few that `null` resets.
    pub(crate) fn is_null(&self, name: &str) -> bool {
        self.0.iter().any(|(key, value)| *key == name.to_lowercase() && *value == Json::Null)
    }

    /// Whether a field is there and not `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, value)| *key == name.to_lowercase() && *value != Json::Null)
    }

    fn take(&mut self, name: &str) -> Option<Json> {
        let name = name.to_lowercase();
        let at = self.0.iter().position(|(key, value)| *key == name && *value != Json::Null)?;
        Some(self.0.swap_remove(at).1)
    }
}

fn wrong(name: &str, wanted: &str) -> Problem {
    Problem::malformed(format!("{name} is not {wanted}"))
}

pub(crate) fn place(error: &serde_json::Error) -> String {
    use serde_json::error::Category;
    let kind = match error.classify() {
        Category::Syntax => "syntax",
        Category::Eof => "ends too early",
        Category::Data => "twice the same key, nested too deep, or a NUL",
        Category::Io => "unreadable",
    };
    format!("{kind} at line {} column {}", error.line(), error.column())
}

/// Reads a value with so many levels of nesting left.
struct Nested(usize);

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Json, D::Error> {
        reader.deserialize_any(self)
    }
}

impl Nested {
    fn deeper<E: serde::de::Error>(&self) -> Result<usize, E> {
        self.0.checked_sub(1).ok_or_else(|| E::custom("nested too deep"))
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::OddNumber, Json::Int))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::OddNumber)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Json, E> {
        // One of the databases cannot keep it, and nobody means it.
        if value.contains('\0') {
            return Err(E::custom("a NUL in a text"));
        }
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let left = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Nested(left))? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let left = self.deeper()?;
        let mut fields: Vec<(String, Json)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let key = key.to_lowercase();
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom("twice the same key"));
            }
            fields.push((key, map.next_value_seed(Nested(left))?));
        }
        Ok(Json::Map(Fields(fields)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Fields, Problem> {
        Fields::read(body.as_bytes())
    }

    #[test]
    fn keys_are_matched_without_case_and_null_is_absent() {
        let mut fields =
            read(r#"{"Name":"a","RATELIMIT":5,"on":true,"groups":["x"],"notes":null,"else":{}}"#)
                .expect("an object");
        assert_eq!(fields.text("name").expect("text"), Some("a".to_owned()));
        assert_eq!(fields.int("rateLimit").expect("a number"), Some(5));
        assert_eq!(fields.boolean("on").expect("a boolean"), Some(true));
        assert_eq!(fields.texts("groups").expect("texts"), Some(vec!["x".to_owned()]));
        assert_eq!(fields.text("notes").expect("absent"), None);
        assert!(fields.is_null("notes"));
        assert_eq!(fields.text("unknown").expect("absent"), None);
    }

    #[test]
    fn no_body_is_no_fields() {
        for body in ["", "  \n"] {
            assert_eq!(read(body).expect("nothing"), Fields::default());
        }
    }

    #[test]
    fn bad_bodies_are_refused() {
        let deep = format!("{}1{}", "{\"a\":".repeat(33), "}".repeat(33));
        let endless = "[".repeat(100_000);
        for body in [
            "{",
            "[]",
            "null",
            "7",
            "{} {}",
            "{\"a\":1,}",
            "{\"a\":1,\"a\":2}",
            "{\"order\":1,\"Order\":2}",
            "{\"x\":{\"a\":1,\"A\":2}}",
            "{'a':1}",
            "{\"a\":NaN}",
            "{\"a\":\"\\u0000\"}",
            deep.as_str(),
            endless.as_str(),
        ] {
            let problem = read(body).expect_err("refused");
            assert_eq!(problem.message, "failed to parse request body");
            assert_eq!(problem.code, "malformed-body");
        }
        assert!(Fields::read(b"{\"a\":\"\xff\"}").is_err());
        let fits = format!("{}1{}", "{\"a\":".repeat(32), "}".repeat(32));
        assert!(read(&fits).is_ok());
    }

    #[test]
    fn wrong_types_are_refused_and_the_contents_stay_out_of_the_cause() {
        for body in [r#"{"n":"5"}"#, r#"{"n":1.5}"#, r#"{"n":1e3}"#, r#"{"n":true}"#, r#"{"n":[]}"#]
        {
            assert!(read(body).expect("an object").int("n").is_err(), "{body}");
        }
        assert!(read(r#"{"n":99999999999999999999}"#).expect("an object").int("n").is_err());
        let problem = read(r#"{"name":5}"#).expect("an object").text("name").expect_err("refused");
        assert_eq!(problem.cause.as_deref(), Some("name is not text"));
        let problem = read(r#"{"secret":"hunter2" oops"#).expect_err("refused");
        assert!(!problem.cause.expect("a cause").contains("hunter2"));
    }
}
