//! Reads an OpenAPI document: its operations in order, and what a reference points to. It keeps the
//! JSON as it is and gives the parts their names.

use serde_json::Value;

use super::Document;

/// A document of the reference.
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) json: Value,
}

/// One operation of a document.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) json: &'a Value,
}

impl Spec {
    pub(super) fn read(document: &Document) -> Self {
        let json = serde_json::from_str(document.json).expect("a contract file is JSON");
        Self { name: document.name, json }
    }

    /// The number of an interface version, such as (2, 5); none for our other surfaces.
    pub(super) fn number(&self) -> Option<(u32, u32)> {
        number(self.name)
    }

    pub(super) fn title(&self) -> &str {
        text(&self.json["info"]["title"])
    }

    /// The path that all operations stand under, such as `/v2.5`.
    pub(super) fn prefix(&self) -> &str {
        text(&self.json["servers"][0]["url"]).trim_end_matches('/')
    }

    pub(super) fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        entries(&self.json["paths"]).flat_map(|(path, item)| {
            entries(item).map(move |(method, json)| Operation { method, path, json })
        })
    }

    pub(super) fn has(&self, method: &str, path: &str) -> bool {
        self.json["paths"][path].get(method).is_some()
    }

    /// The thing itself where a reference to it stands.
    pub(super) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        let target = value.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#'));
        target.and_then(|pointer| self.json.pointer(pointer)).unwrap_or(value)
    }
}

impl Operation<'_> {
    /// Where it stands on its page.
    pub(super) fn anchor(&self) -> &str {
        text(&self.json["operationId"])
    }

    pub(super) fn summary(&self) -> &str {
        text(&self.json["summary"])
    }
}

/// Interface versions, newest first, then the others as they were given.
pub(super) fn sorted(mut documents: Vec<Document>) -> Vec<Document> {
    documents.sort_by_key(|document| std::cmp::Reverse(number(document.name)));
    documents
}

fn number(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix('v')?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
