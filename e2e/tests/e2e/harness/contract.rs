//! The judge of every answer: what the contract promises of all answers, and the schema of the
//! operation that gave this one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use api::{Operation, Surface};
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::harness::Answer;

/// An operation on one surface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    /// The prefix it was called under.
    pub(crate) prefix: &'static str,
    pub(crate) operation: Operation,
}

/// Where the contract's documents stand.
pub(crate) fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "contract", "openapi"].iter().collect()
}

/// The document of a surface.
pub(crate) fn document(surface: Surface) -> &'static Value {
    static DOCUMENTS: LazyLock<HashMap<&'static str, Value>> = LazyLock::new(|| {
        let read = |surface: Surface| {
            let path = folder().join(format!("{}.json", surface.name()));
            let text = std::fs::read_to_string(&path).expect("every surface has a document");
            (surface.name(), serde_json::from_str(&text).expect("a document is JSON"))
        };
        Surface::all().into_iter().map(read).collect()
    });
    &DOCUMENTS[surface.name()]
}

/// Holds an answer against the contract; the operation that gave it, if it is one of ours.
pub(crate) fn check(method: &str, target: &str, answer: &Answer) -> Result<Option<Seen>, String> {
    let path = target.split('?').next().unwrap_or_default();
    let is_head = method == "HEAD";
    let id = answer.header("x-request-id").ok_or("no X-Request-Id")?;
    if id.is_empty() {
        return Err("an empty X-Request-Id".into());
    }
    // What is not found among the pages is told to a person, on a page.
    let for_people =
        ["/docs/", "/receipts", "/portal", "/share"].iter().any(|p| path.starts_with(p));
    if answer.status >= 400 && !for_people {
        check_error(answer, is_head, method == "POST" && path == CATALOGUE)?;
    }
    let called = if is_head { "GET" } else { method };
    let Some((surface, seen)) = find(called, path) else { return Ok(None) };
    check_documented(surface, &seen.operation, answer, is_head)?;
    Ok(Some(seen))
}

/// The one call whose refusal may say more than a message.
const CATALOGUE: &str = "/operator/v1/catalogue";

fn check_error(answer: &Answer, is_head: bool, of_catalogue: bool) -> Result<(), String> {
    let code = answer.header("x-error-code").ok_or("no X-Error-Code")?;
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    if !code.split('-').all(word) {
        return Err(format!("X-Error-Code is not kebab-case: {code}"));
    }
    if answer.header("content-type") != Some("application/json") {
        return Err("an error that is not application/json".into());
    }
    if [429, 503].contains(&answer.status) {
        let seconds = answer.header("retry-after").ok_or("no Retry-After")?;
        seconds.parse::<u32>().map_err(|_| format!("Retry-After is no number: {seconds}"))?;
    }
    if is_head {
        return Ok(());
    }
    let body: Value = serde_json::from_slice(&answer.body).map_err(|error| error.to_string())?;
    let fields = body.as_object().ok_or("an error that is not an object")?;
    let text = fields.get("message").and_then(Value::as_str).unwrap_or_default();
    let has_faults = of_catalogue && code == "invalid-catalogue";
    let faults = fields.get("faults").filter(|_| has_faults).and_then(Value::as_array);
    if has_faults && faults.is_none_or(Vec::is_empty) {
        return Err(format!("a refused catalogue has faults: {body}"));
    }
    if fields.len() != 1 + usize::from(has_faults) || text.is_empty() {
        return Err(format!("an error is exactly a message: {body}"));
    }
    Ok(())
}

/// The operation behind a path, and its surface.
fn find(method: &str, path: &str) -> Option<(Surface, Seen)> {
    let mut places = Surface::all().into_iter().flat_map(|surface| {
        surface.prefixes().iter().filter_map(move |prefix| {
            let below = path.strip_prefix(prefix)?;
            (below.is_empty() || below.starts_with('/')).then_some((surface, *prefix, below))
        })
    });
    places.find_map(|(surface, prefix, below)| {
        let fits = |known: &Operation| known.method == method && matches(&known.path, below);
        let fitting = api::operations(surface).into_iter().filter(fits);
        let operation = fitting.min_by_key(|known| variable_parts(&known.path))?;
        Some((surface, Seen { prefix, operation }))
    })
}

/// Which parts of a pattern are parameters. The least of several patterns is the one the router
/// takes: a fixed name goes before a parameter, and the first difference decides.
fn variable_parts(pattern: &str) -> Vec<bool> {
    pattern.split('/').map(|part| part.starts_with('{')).collect()
}

/// Whether a path fits a pattern with `{parameters}`; a trailing slash changes nothing.
fn matches(pattern: &str, path: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        text.trim_end_matches('/').split('/').map(ToOwned::to_owned).collect()
    };
    let (pattern, path) = (parts(pattern), parts(path));
    let fits = |(wanted, part): (&String, &String)| {
        wanted == part || (wanted.starts_with('{') && !part.is_empty())
    };
    pattern.len() == path.len() && pattern.iter().zip(&path).all(fits)
}

fn check_documented(
    surface: Surface,
    operation: &Operation,
    answer: &Answer,
    is_head: bool,
) -> Result<(), String> {
    let document = document(surface);
    let described = &document["paths"][&operation.path][operation.method.to_lowercase()];
    let responses = described["responses"].as_object().ok_or("an operation without a document")?;
    check_deprecation(described, answer)?;
    let status = answer.status.to_string();
    // A success is always named; a refusal may be one of those that any operation can give.
    let fallback = || responses.get("default").filter(|_| answer.status >= 400);
    let response = responses.get(&status).or_else(fallback);
    let response = resolved(document, response.ok_or(format!("status {status} is undocumented"))?);
    if let Some(headers) = response["headers"].as_object() {
        check_headers(document, headers, answer)?;
    }
    let Some(content) = response["content"].as_object().filter(|_| !is_head) else {
        return Ok(());
    };
    let kind = answer.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    let media = content.get(kind).ok_or(format!("content type {kind:?} is undocumented"))?;
    let body = if kind == "application/json" {
        serde_json::from_slice(&answer.body).map_err(|error| error.to_string())?
    } else {
        check_file(kind, answer)?;
        Value::String(answer.text())
    };
    validate(surface, &media["schema"], &body)
}

/// A deprecated operation says so in every answer, refusals included, and no other does.
fn check_deprecation(described: &Value, answer: &Answer) -> Result<(), String> {
    let is_date = |text: &str| text.strip_prefix('@').is_some_and(|s| s.parse::<u32>().is_ok());
    match (described["deprecated"] == true, answer.header("deprecation")) {
        (true, None) => Err("the header Deprecation is missing".into()),
        (true, Some(text)) if !is_date(text) => Err(format!("Deprecation is no date: {text}")),
        (false, Some(_)) => Err("the header Deprecation on what is not deprecated".into()),
        _ => Ok(()),
    }
}

/// A schema says little about a file: it must begin as its kind does, and text must be UTF-8.
fn check_file(kind: &str, answer: &Answer) -> Result<(), String> {
    let good = match kind {
        "image/png" => answer.body.starts_with(b"\x89PNG\r\n\x1a\n"),
        "application/zip" => answer.body.starts_with(b"PK\x03\x04"),
        _ => std::str::from_utf8(&answer.body).is_ok(),
    };
    if !good {
        return Err(format!("a body that is not {kind}"));
    }
    if kind == "application/zip" && answer.header("content-disposition").is_none() {
        return Err("an archive without a name to save it under".into());
    }
    Ok(())
}

fn check_headers(
    document: &Value,
    headers: &Map<String, Value>,
    answer: &Answer,
) -> Result<(), String> {
    for (name, header) in headers {
        let header = resolved(document, header);
        let Some(text) = answer.header(&name.to_lowercase()) else {
            if header["required"] == true {
                return Err(format!("the header {name} is missing"));
            }
            continue;
        };
        let schema = &header["schema"];
        let value = match (schema["type"].as_str(), text.parse::<i64>()) {
            (Some("integer"), Ok(number)) => json!(number),
            _ => json!(text),
        };
        let fits = validator(schema).map(|validator| validator.is_valid(&value))?;
        if !fits {
            return Err(format!("the header {name} does not fit: {text}"));
        }
    }
    Ok(())
}

fn resolved<'d>(document: &'d Value, part: &'d Value) -> &'d Value {
    match part["$ref"].as_str().and_then(|place| place.strip_prefix('#')) {
        Some(place) => document.pointer(place).expect("references of a document lead somewhere"),
        None => part,
    }
}

fn validate(surface: Surface, schema: &Value, body: &Value) -> Result<(), String> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let name = format!("{} {schema}", surface.name());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let validator = if let Some(validator) = known.get(&name) {
        validator.clone()
    } else {
        let mut rooted = schema.clone();
        rooted["components"] = document(surface)["components"].clone();
        let made = Arc::new(validator(&rooted)?);
        known.insert(name, made.clone());
        made
    };
    drop(known);
    let faults: Vec<_> = validator
        .iter_errors(body)
        .map(|fault| format!("{} at {:?}", fault, fault.instance_path().as_str()))
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .build(schema)
        .map_err(|error| format!("a schema that cannot be used: {error}"))
}
