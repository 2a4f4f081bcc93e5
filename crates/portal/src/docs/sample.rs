//! What a developer copies: a curl line that works against a demo on the same machine, and example
//! bodies set as JSON.

use maud::{Markup, html};
use serde_json::Value;

use super::spec::{Operation, Spec, entries, items, text};

/// Where a demo listens unless it is told otherwise.
pub(super) const HOST: &str = "http://127.0.0.1:8080";

/// The longest example body that stays on one line; the column beside the words has room for it.
const BODY_CHARS_MAX: usize = 48;

/// The curl command for an operation, with its example body.
pub(super) fn curl(spec: &Spec, operation: &Operation) -> String {
    let address = quoted(format!("{HOST}{}{}", spec.prefix(), filled_path(spec, operation)));
    let mut lines = vec![format!("curl {address}")];
    let example = &operation.json["requestBody"]["content"]["application/json"]["example"];
    let implied = if example.is_null() { "get" } else { "post" };
    if operation.method != implied {
        lines[0] = format!("curl -X {} {address}", operation.method.to_uppercase());
    }
    lines.extend(key_header(spec, operation));
    lines.extend(form(spec, operation));
    if !example.is_null() {
        lines.push("-H 'Content-Type: application/json'".to_owned());
        let body = match compact(example) {
            short if short.len() <= BODY_CHARS_MAX => short,
            _ => format!("{example:#}"),
        };
        lines.push(format!("-d '{}'", body.replace('\'', r"'\''").replace('\n', "\n  ")));
    }
    lines.join(" \\\n  ")
}

/// How to ask for JSON where it is one of several forms, and where to put what is no text.
fn form(spec: &Spec, operation: &Operation) -> Option<String> {
    let answer = spec.resolve(&operation.json["responses"]["200"]);
    let kinds: Vec<_> = entries(&answer["content"]).map(|(kind, _)| kind).collect();
    match kinds[..] {
        ["image/png"] => Some("-o code.png".to_owned()),
        ["application/zip"] => Some("-o codes.zip".to_owned()),
        [_, _, ..] if kinds.contains(&"application/json") => {
            Some("-H 'Accept: application/json'".to_owned())
        }
        _ => None,
    }
}

/// Quoted where a shell or curl itself would read more into it than an address.
fn quoted(address: String) -> String {
    if address.contains(['{', '[', '?', '&', '\'', '$', ' ']) {
        return format!("'{}'", address.replace('\'', r"'\''"));
    }
    address
}

/// The path with its parameters replaced by their examples, and the query it cannot do without.
fn filled_path(spec: &Spec, operation: &Operation) -> String {
    let parameters = items(&operation.json["parameters"]).map(|parameter| spec.resolve(parameter));
    let mut path = operation.path.to_owned();
    let mut query = Vec::new();
    for parameter in parameters {
        let example = &parameter["example"];
        // Of a list, the first.
        let example = example.get(0).unwrap_or(example).as_str();
        let name = text(&parameter["name"]);
        match (text(&parameter["in"]), example) {
            ("path", Some(example)) => path = path.replace(&format!("{{{name}}}"), example),
            ("query", Some(example)) if parameter["required"] == true => {
                query.push(format!("{name}={example}"));
            }
            _ => {}
        }
    }
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

fn key_header(spec: &Spec, operation: &Operation) -> Option<String> {
    let (name, _) = entries(operation.json["security"].get(0)?).next()?;
    let scheme = &spec.json["components"]["securitySchemes"][name];
    Some(match text(&scheme["type"]) {
        // The operator's key is another secret than a reseller's, so it has another name.
        "http" => r#"-H "Authorization: Bearer $TERN_OPERATOR_KEY""#.to_owned(),
        _ => format!(r#"-H "{}: $TERN_KEY""#, text(&scheme["name"])),
    })
}

/// JSON on one line, with spaces where a person would put them.
fn compact(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let pairs =
                object.iter().map(|(k, v)| format!("{}: {}", Value::from(k.as_str()), compact(v)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// JSON set in lines, with its kinds of words marked for the style sheet.
pub(super) fn json(value: &Value) -> Markup {
    indented(value, 0)
}

fn indented(value: &Value, depth: usize) -> Markup {
    let inner = format!("\n{}", "  ".repeat(depth + 1));
    let outer = format!("\n{}", "  ".repeat(depth));
    html! {
        @match value {
            Value::Object(object) if !object.is_empty() => {
                "{"
                @for (place, (key, child)) in object.iter().enumerate() {
                    @if place > 0 { "," }
                    (inner) span.key { (Value::from(key.as_str()).to_string()) } ": "
                    (indented(child, depth + 1))
                }
                (outer) "}"
            }
            Value::Array(items) => {
                @let flat = items.iter().all(|item| !item.is_object() && !item.is_array());
                "["
                @for (place, child) in items.iter().enumerate() {
                    @if place > 0 { "," }
                    @if !flat { (inner) } @else if place > 0 { " " }
                    (indented(child, depth + 1))
                }
                @if !flat { (outer) }
                "]"
            }
            Value::String(_) | Value::Object(_) => (value.to_string()),
            other => span.value { (other.to_string()) },
        }
    }
}
