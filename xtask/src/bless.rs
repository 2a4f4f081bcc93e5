//! Makes the published OpenAPI files in `contract/openapi` from `contract/source`, or checks that
//! they are what it would make. It knows OpenAPI's outline, and nothing of what the service does.
//!
//! `common.json` holds the head of each document and what they share; every other file is a group
//! of operations and names its `document`. A document with `versions` becomes one file per version,
//! and any object in a source may say where it lives and how it is to be spelled out:
//!
//! - `"x-since": "v2.3"`, `"x-until": "v2.3"`: the first and the last version that has it;
//! - `"x-versions": [{…}, {…}]`: alternatives of which each version keeps exactly one;
//! - `"x-value": …`: the object is only there to carry a mark, this is what it means;
//! - `"x-lines": […]`: a long text, line by line;
//! - `"x-include": "schemas/Key/properties"`: that component's entries; those written after it win;
//! - `"x-exact": true`: all properties are always there, and no others: how our answers are.
//!
//! In texts `{version}` stands for the version. Components that nothing refers to are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Writes the published files, or with `check` compares them and names the first difference.
pub(crate) fn run(check: bool) -> Result<(), String> {
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contract");
    let published = contract.join("openapi");
    let made = make(&read_sources(&contract.join("source"))?)?;
    let mut faults = Vec::new();
    for (name, text) in &made {
        let path = published.join(name);
        let old = fs::read_to_string(&path).unwrap_or_default();
        if check && old != *text {
            let first = difference(&old, text);
            faults.push(format!("contract/openapi/{name}: {first}; run `cargo xtask bless`"));
        } else if old != *text {
            fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    for name in json_files(&published)?.iter().filter(|name| !made.contains_key(*name)) {
        faults.push(format!("contract/openapi/{name}: no source makes this file; delete it"));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// The line where two texts part, and a little of both from shortly before that place.
fn difference(old: &str, new: &str) -> String {
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    let line = old.chars().take(same).filter(|c| *c == '\n').count() + 1;
    let part = |text: &str| text.chars().skip(same.saturating_sub(20)).take(60).collect::<String>();
    format!("line {line} has {:?}, the source makes it {:?}", part(old), part(new))
}

fn json_files(folder: &Path) -> Result<BTreeSet<String>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|e| e == "json"));
    Ok(paths.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
}

/// The common file first, then the groups by name.
fn read_sources(folder: &Path) -> Result<Vec<Value>, String> {
    let mut names: Vec<String> = json_files(folder)?.into_iter().collect();
    names.sort_by_key(|name| (name != "common.json", name.trim_end_matches(".json").to_owned()));
    let read = |name: &String| {
        let text = fs::read_to_string(folder.join(name)).map_err(|e| format!("{name}: {e}"))?;
        serde_json::from_str(&text).map_err(|e| format!("contract/source/{name}: {e}"))
    };
    names.iter().map(read).collect()
}

/// The text of each document by its file name.
fn make(sources: &[Value]) -> Result<BTreeMap<String, String>, String> {
    let (common, groups) = sources.split_first().ok_or("contract/source is empty")?;
    let heads = &common["documents"];
    if let Some(stray) = groups.iter().find(|group| heads.get(text(&group["document"])).is_none()) {
        return Err(format!("common.json has no document called {}", stray["document"]));
    }
    let mut made = BTreeMap::new();
    for (name, head) in entries(heads) {
        let versions: Vec<&str> = match head["versions"].as_array() {
            Some(versions) => versions.iter().map(text).collect(),
            None => vec![name],
        };
        let own = groups.iter().filter(|group| group["document"] == *name);
        let parts: Vec<&Value> = std::iter::once(common).chain(own).collect();
        for at in 0..versions.len() {
            let document = document(&Marks { versions: &versions, at }, head, &parts)
                .map_err(|fault| format!("{}: {fault}", versions[at]))?;
            made.insert(format!("{}.json", versions[at]), format!("{document:#}\n"));
        }
    }
    Ok(made)
}

fn document(marks: &Marks, head: &Value, parts: &[&Value]) -> Result<Value, String> {
    let keep = |value: &Value| marks.keep(value).map(Option::unwrap_or_default);
    let head = keep(head)?;
    let (mut tags, mut paths, mut components) = (Vec::new(), json!({}), json!({}));
    for part in parts {
        tags.extend(keep(&part["tags"])?.as_array().cloned().unwrap_or_default());
        add_new(&mut paths, &keep(&part["paths"])?)?;
        add_new(&mut components, &keep(&part["components"])?)?;
    }
    let included = components.clone();
    spell_out(&mut components, &included)?;
    spell_out(&mut paths, &included)?;
    let items = paths.as_object_mut().into_iter().flat_map(Map::values_mut);
    for operation in items.filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        add_what_all_have(operation, &head["every-operation"]);
    }
    let whole = json!({ "openapi": "3.1.0", "info": head["info"], "servers": head["servers"],
        "tags": tags, "paths": paths, "components": components });
    let whole = without_unused(whole)?;
    check_operations(&whole)?;
    Ok(whole)
}

/// Which version is being made, and of which list.
struct Marks<'a> {
    versions: &'a [&'a str],
    at: usize,
}

impl Marks<'_> {
    /// The part of a source that lives in this version, without its marks.
    fn keep(&self, value: &Value) -> Result<Option<Value>, String> {
        match value {
            Value::Object(object) if self.lives(object)? => self.keep_object(object).map(Some),
            Value::Object(_) => Ok(None),
            Value::Array(items) => items
                .iter()
                .filter_map(|item| self.keep(item).transpose())
                .collect::<Result<_, _>>()
                .map(Some),
            Value::String(t) => Ok(Some(json!(t.replace("{version}", self.versions[self.at])))),
            other => Ok(Some(other.clone())),
        }
    }

    fn keep_object(&self, object: &Object) -> Result<Value, String> {
        let mut kept = Object::new();
        for (key, child) in object {
            let Some(child) = self.keep(child)? else { continue };
            match (key.as_str(), child) {
                ("x-since" | "x-until", _) => {}
                ("x-value", value) => return Ok(value),
                ("x-lines", Value::Array(lines)) => return Ok(json!(flowing(&lines))),
                ("x-versions", Value::Array(left)) => match left.as_slice() {
                    [Value::Object(one)] => kept.extend(one.clone()),
                    [one] => return Ok(one.clone()),
                    _ => return Err("x-versions must leave exactly one".to_owned()),
                },
                (_, child) => _ = kept.insert(key.clone(), child),
            }
        }
        forget_dropped(object, &mut kept);
        Ok(Value::Object(kept))
    }

    fn lives(&self, object: &Object) -> Result<bool, String> {
        let place = |mark: &Value| {
            let found = self.versions.iter().position(|version| mark == version);
            found.ok_or_else(|| format!("the mark {mark} names no version of this document"))
        };
        let since = object.get("x-since").map(place).transpose()?;
        let until = object.get("x-until").map(place).transpose()?;
        Ok(since.is_none_or(|first| first <= self.at) && until.is_none_or(|last| self.at <= last))
    }
}

/// Joins the lines of a paragraph; an empty line and a list item keep their line break.
fn flowing(lines: &[Value]) -> String {
    let mut whole = String::new();
    for line in lines.iter().map(text) {
        let breaks = line.is_empty() || line.starts_with("- ") || whole.ends_with('\n');
        whole.push_str(if breaks { "\n" } else { " " });
        whole.push_str(line.trim_start());
    }
    whole.trim().to_owned()
}

/// A property that this version does not have cannot be required in it.
fn forget_dropped(object: &Object, kept: &mut Object) {
    let has = |of: &Object, name: &str| of.get("properties").is_some_and(|p| p.get(name).is_some());
    let Some(Value::Array(mut required)) = kept.get("required").cloned() else { return };
    required.retain(|name| !has(object, text(name)) || has(kept, text(name)));
    kept.insert("required".to_owned(), Value::Array(required));
}

/// Adds the entries of a part, two levels deep (path and method, kind and component).
fn add_new(all: &mut Value, part: &Value) -> Result<(), String> {
    for (outer, items) in entries(part) {
        for (inner, item) in entries(items) {
            let place = &mut all[outer][inner];
            if !place.is_null() {
                return Err(format!("{outer} {inner} is there twice"));
            }
            *place = item.clone();
        }
    }
    Ok(())
}

/// Puts included entries in their place and writes out what `x-exact` means.
fn spell_out(value: &mut Value, components: &Value) -> Result<(), String> {
    if let Value::Array(items) = value {
        return items.iter_mut().try_for_each(|item| spell_out(item, components));
    }
    let Value::Object(object) = value else { return Ok(()) };
    for (key, mut child) in std::mem::take(object) {
        if key == "x-include" {
            let found = components.pointer(&format!("/{}", text(&child)));
            child = found.cloned().ok_or_else(|| format!("x-include {child} leads nowhere"))?;
            spell_out(&mut child, components)?;
            object.extend(entries(&child).map(|(name, value)| (name.clone(), value.clone())));
        } else {
            spell_out(&mut child, components)?;
            object.insert(key, child);
        }
    }
    if object.shift_remove("x-exact").is_some() {
        let all = object.get("properties").unwrap_or(&Value::Null);
        let names = entries(all).map(|(name, _)| json!(name)).collect();
        object.insert("required".to_owned(), names);
        object.insert("additionalProperties".to_owned(), json!(false));
    }
    Ok(())
}

/// Gives an operation the answers and the headers that every operation of its document has.
fn add_what_all_have(operation: &mut Value, every: &Value) {
    // Sorted by status, where "default" comes behind the digits; an answer of its own wins.
    let mut responses: BTreeMap<String, Value> = BTreeMap::new();
    for (status, response) in entries(&every["responses"]).chain(entries(&operation["responses"])) {
        let mut response = response.clone();
        if response.get("$ref").is_none() {
            let mut headers = every["headers"].as_object().cloned().unwrap_or_default();
            headers.extend(response["headers"].as_object().cloned().unwrap_or_default());
            response["headers"] = Value::Object(headers);
        }
        responses.insert(status.clone(), response);
    }
    operation["responses"] = json!(responses);
}

/// Leaves out components that no operation reaches, and tags that none carries.
fn without_unused(mut whole: Value) -> Result<Value, String> {
    let mut used = BTreeSet::new();
    let mut todo = vec![&whole["paths"]];
    while let Some(value) = todo.pop() {
        let mut found = Vec::new();
        references(value, &mut found);
        for reference in found.into_iter().filter(|r| used.insert(r.clone())) {
            let target = whole.pointer(reference.trim_start_matches('#'));
            todo.push(target.ok_or_else(|| format!("{reference} leads nowhere"))?);
        }
    }
    if let Some(kinds) = whole["components"].as_object_mut() {
        kinds.retain(|kind, all| {
            let Some(all) = all.as_object_mut() else { return false };
            all.retain(|name, _| used.contains(&format!("#/components/{kind}/{name}")));
            !all.is_empty()
        });
    }
    let carried: Vec<&Value> = operations(&whole).flat_map(|(_, o)| items(&o["tags"])).collect();
    let tags = items(&whole["tags"]).filter(|tag| carried.contains(&&tag["name"]));
    whole["tags"] = tags.cloned().collect();
    Ok(whole)
}

fn references(value: &Value, found: &mut Vec<String>) {
    items(value).for_each(|item| references(item, found));
    for (key, child) in entries(value) {
        match key.as_str() {
            "$ref" => found.push(text(child).to_owned()),
            "security" => {
                let names = items(child).flat_map(entries).map(|(name, _)| name);
                found.extend(names.map(|name| format!("#/components/securitySchemes/{name}")));
            }
            _ => references(child, found),
        }
    }
}

/// What a reader of the reference may count on in every operation.
fn check_operations(whole: &Value) -> Result<(), String> {
    let tags: Vec<&Value> = items(&whole["tags"]).map(|tag| &tag["name"]).collect();
    let mut names = BTreeSet::new();
    for (place, operation) in operations(whole) {
        let say = |fault: &str| Err(format!("{place}: {fault}"));
        let name = text(&operation["operationId"]);
        if !name.contains('_') || !names.insert(name) {
            return say("operationId must be verb_noun and unique");
        }
        let wanted = ["summary", "description", "tags", "security"];
        if let Some(field) = wanted.iter().find(|field| operation[**field].is_null()) {
            return say(&format!("{field} is missing"));
        }
        if !items(&operation["tags"]).all(|tag| tags.contains(&tag)) {
            return say("its tag is not described");
        }
        let responses = entries(&operation["responses"]).map(|(_, response)| response);
        for body in responses.chain(operation.get("requestBody")) {
            let reference = text(&body["$ref"]).trim_start_matches('#');
            let body = whole.pointer(reference).filter(|_| !reference.is_empty()).unwrap_or(body);
            // A picture or an archive has no example that could be printed.
            let bare = |(kind, body): (&String, &Value)| {
                body["schema"].is_null() || kind.contains("json") && body.get("example").is_none()
            };
            if body["content"].is_null() || entries(&body["content"]).any(bare) {
                return say("a body lacks its schema or its example");
            }
        }
    }
    Ok(())
}

fn operations(whole: &Value) -> impl Iterator<Item = (String, &Value)> {
    entries(&whole["paths"]).flat_map(|(path, item)| {
        entries(item).map(move |(method, operation)| (format!("{method} {path}"), operation))
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSIONS: [&str; 3] = ["v1", "v2", "v3"];

    fn kept(source: &Value, at: usize) -> Value {
        let kept = Marks { versions: &VERSIONS, at }.keep(source).expect("the marks are sound");
        kept.expect("the whole lives in every version")
    }

    #[test]
    fn an_object_lives_from_its_first_to_its_last_version() {
        let source = json!({ "a": { "x-since": "v2" }, "b": { "x-until": "v2" },
            "c": [{ "x-since": "v2", "x-until": "v2" }, { "x-since": "v3", "x-value": 7 }] });
        assert_eq!(kept(&source, 0), json!({ "b": {}, "c": [] }));
        assert_eq!(kept(&source, 1), json!({ "a": {}, "b": {}, "c": [{}] }));
        assert_eq!(kept(&source, 2), json!({ "a": {}, "c": [7] }));
    }

    #[test]
    fn a_dropped_property_is_no_longer_required() {
        let source = json!({ "properties": { "a": {}, "b": { "x-since": "v2" } },
            "required": ["b", "a", "elsewhere"] });
        assert_eq!(kept(&source, 0)["required"], json!(["a", "elsewhere"]));
        assert_eq!(kept(&source, 1)["required"], json!(["b", "a", "elsewhere"]));
    }

    #[test]
    fn alternatives_lines_and_the_version_are_written_out() {
        let source = json!({ "x-versions": [{ "x-until": "v1", "type": "integer" },
            { "x-since": "v2", "type": "number" }],
            "d": { "x-lines": ["in {version}", { "x-since": "v2", "x-value": "more" }] } });
        assert_eq!(kept(&source, 0), json!({ "type": "integer", "d": "in v1" }));
        assert_eq!(kept(&source, 1), json!({ "type": "number", "d": "in v2 more" }));
    }

    #[test]
    fn a_wrong_mark_is_an_error() {
        let marks = Marks { versions: &VERSIONS, at: 0 };
        assert!(marks.keep(&json!({ "x-since": "v9" })).is_err());
        assert!(marks.keep(&json!({ "x-versions": [{ "x-since": "v2" }] })).is_err());
    }

    #[test]
    fn included_entries_take_their_place_and_exact_means_all_and_no_more() {
        let parts = json!({ "schemas": { "User": { "properties": { "b": {}, "c": {} } } } });
        let mut schema = json!({ "x-exact": true,
            "properties": { "a": {}, "x-include": "schemas/User/properties", "c": { "d": 1 } } });
        spell_out(&mut schema, &parts).expect("the include is there");
        assert_eq!(schema["required"], json!(["a", "b", "c"]));
        assert_eq!(schema["properties"]["c"], json!({ "d": 1 }));
        assert_eq!(schema["additionalProperties"], json!(false));
    }

    #[test]
    fn the_first_difference_is_named() {
        let said = difference("a\nb\n", "a\nc\n");
        assert_eq!(said, r#"line 2 has "a\nb\n", the source makes it "a\nc\n""#);
    }
}
