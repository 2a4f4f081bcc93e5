//! The reference as a reader meets it: every page through the router, from the published contract.

use std::collections::{HashMap, HashSet};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use portal::docs::{self, Document, Release};
use serde_json::{Value, json};
use tower::ServiceExt;

macro_rules! contract {
    ($($name:literal),*) => {
        [$(Document {
            name: $name,
            json: include_str!(concat!("../../../contract/openapi/", $name, ".json")),
        }),*]
    };
}

const DOCUMENTS: [Document; 9] =
    contract!["v2.0", "v2.1", "v2.2", "v2.3", "v2.4", "v2.5", "reseller", "operator", "sandbox"];

/// A tag that would do harm, and a sign that it was defused.
const HARM: &str = "<b onmouseover=\"harm\">";
const DEFUSED: &str = "&lt;b onmouseover=&quot;harm&quot;&gt;";

fn reference() -> Router {
    let change = Release { version: "v2.5", changes: vec!["Adds `POST /things`.", HARM] };
    docs::router(&DOCUMENTS, &[change])
}

async fn get(router: &Router, path: &str, known: &str) -> (StatusCode, HeaderMap, String) {
    let request = Request::get(path).header(header::IF_NONE_MATCH, known);
    let request = request.body(Body::empty()).expect("a plain request");
    let response = router.clone().oneshot(request).await.expect("the router never fails");
    let (head, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("the body is in memory");
    (head.status, head.headers, String::from_utf8(body.into()).expect("pages are text"))
}

async fn page(router: &Router, path: &str) -> String {
    let (status, _, body) = get(router, path, "").await;
    assert_eq!(status, StatusCode::OK, "{path}");
    body
}

fn read(document: &Document) -> Value {
    serde_json::from_str(document.json).expect("a contract file is JSON")
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let items = document["paths"].as_object().into_iter().flat_map(|paths| paths.values());
    items.filter_map(Value::as_object).flatten()
}

#[tokio::test]
async fn every_document_and_every_operation_is_shown() {
    let router = reference();
    for document in &DOCUMENTS {
        let page = page(&router, &format!("/docs/{}", document.name)).await;
        let json = read(document);
        assert!(page.contains(json["info"]["title"].as_str().expect("a title")));
        assert!(operations(&json).count() > 0, "{}", document.name);
        for (method, operation) in operations(&json) {
            let name = operation["operationId"].as_str().expect("an operation has a name");
            assert!(
                page.contains(&format!("<article class=\"operation\" id=\"{name}\"")),
                "{name}"
            );
            assert!(page.contains(&format!("<span class=\"method {method}\">")), "{name}");
        }
        let server = json["servers"][0]["url"].as_str().expect("a server");
        let base = server.trim_end_matches('/');
        assert!(page.contains(&format!("http://127.0.0.1:8080{base}/")), "{}", document.name);
    }
}

#[tokio::test]
async fn a_curl_line_carries_the_query_it_needs() {
    let page = page(&reference(), "/docs/v2.5").await;
    assert!(page.contains("/v2.5/organisation/balance?amount="), "the top-up names an amount");
}

#[tokio::test]
async fn the_first_page_is_the_newest_version() {
    let router = reference();
    let newest = page(&router, "/docs/v2.5").await;
    assert_eq!(page(&router, "/docs").await, newest);
    assert_eq!(page(&router, "/docs/").await, newest);
    assert!(newest.contains("<span class=\"summary\">Read your organisation</span>"));
    assert!(newest.contains("-H &quot;X-API-Key: $TERN_KEY&quot;"));
}

#[tokio::test]
async fn a_page_is_kept_by_its_tag_and_loads_nothing_foreign() {
    let router = reference();
    for path in ["/docs", "/docs/changelog", "/docs/style.css", "/docs/docs.js", "/docs/mark.svg"] {
        let (status, headers, _) = get(&router, path, "").await;
        assert_eq!(status, StatusCode::OK, "{path}");
        let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().expect("plain text");
        assert!(
            policy.starts_with("default-src 'none';") && !policy.contains("unsafe"),
            "{policy}"
        );
        let tag = headers[header::ETAG].to_str().expect("plain text");
        for known in [tag.to_owned(), format!("\"other\", W/{tag}")] {
            let (status, _, body) = get(&router, path, &known).await;
            assert_eq!((status, body.as_str()), (StatusCode::NOT_MODIFIED, ""), "{path}");
        }
        assert_eq!(get(&router, path, "\"other\"").await.0, StatusCode::OK);
    }
}

#[tokio::test]
async fn every_link_leads_somewhere() {
    let router = reference();
    let names = DOCUMENTS.iter().map(|document| document.name).chain(["changelog"]);
    // The anchors of every page that a link has led to.
    let mut known: HashMap<String, HashSet<String>> = HashMap::new();
    for name in names {
        let own = format!("/docs/{name}");
        let body = page(&router, &own).await;
        for link in quoted(&body, " href=\"").filter(|link| !link.starts_with("/openapi/")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { &own } else { path };
            if !known.contains_key(path) {
                let target = page(&router, path).await;
                let anchors = quoted(&target, " id=\"").map(ToOwned::to_owned).collect();
                known.insert(path.to_owned(), anchors);
            }
            assert!(anchor.is_empty() || known[path].contains(anchor), "{link}");
        }
    }
}

/// What stands in quotes behind each of these.
fn quoted<'b>(body: &'b str, before: &'static str) -> impl Iterator<Item = &'b str> {
    body.split(before).skip(1).filter_map(|rest| rest.split('"').next())
}

#[tokio::test]
async fn an_unknown_page_is_a_small_one_in_the_same_style() {
    let router = reference();
    for path in ["/docs/v9.9", "/docs/v2.5/more", "/docs/%3Cb%3E"] {
        let (status, _, body) = get(&router, path, "*").await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(body.contains("No such page") && body.contains("/docs/style.css"), "{path}");
    }
}

#[tokio::test]
async fn markup_in_a_document_stays_text() {
    for document in &DOCUMENTS {
        let json: &'static str = harmful(&read(document)).to_string().leak();
        let router = docs::router(&[Document { name: "v9.9", json }], &[]);
        let page = page(&router, "/docs").await;
        assert!(!page.contains("<b "), "{}", document.name);
        assert!(page.matches(DEFUSED).count() > 50, "{}", document.name);
    }
    let changes = page(&reference(), "/docs/changelog").await;
    assert!(changes.contains(DEFUSED) && !changes.contains(HARM));
    assert!(changes.contains("Adds <code>POST /things</code>."));
}

/// The document with harm in every text and every name, but not where it would cut references.
fn harmful(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}{HARM}")),
        Value::Array(items) => items.iter().map(harmful).collect(),
        Value::Object(object) => {
            object.iter().map(|(key, child)| harmful_entry(key, child)).collect()
        }
        other => other.clone(),
    }
}

fn harmful_entry(key: &str, child: &Value) -> (String, Value) {
    let poisoned = |names: &Value| -> Value {
        let names = names.as_object().into_iter().flatten();
        names.map(|(name, named)| (format!("{name}{HARM}"), harmful(named))).collect()
    };
    let child = match key {
        "$ref" | "type" | "openapi" => child.clone(),
        "properties" | "paths" => poisoned(child),
        _ => harmful(child),
    };
    (key.to_owned(), child)
}

#[test]
fn every_example_fits_its_schema() {
    for document in &DOCUMENTS {
        let json = read(document);
        let mut checked = 0;
        let mut validators = HashMap::new();
        each_example(&json, &mut |schema, example| {
            let validator = validators.entry(schema.to_string()).or_insert_with(|| {
                // References in the schema start at the root of the document.
                let schema = json!({ "allOf": [schema], "components": json["components"] });
                let options = jsonschema::draft202012::options().should_validate_formats(true);
                options.build(&schema).expect("a schema that can be used")
            });
            if let Err(fault) = validator.validate(example) {
                panic!("{}: {fault} at {}", document.name, fault.instance_path());
            }
            checked += 1;
        });
        assert!(checked > operations(&json).count(), "{}", document.name);
    }
}

fn each_example(value: &Value, check: &mut dyn FnMut(&Value, &Value)) {
    if let (Some(schema), Some(example)) = (value.get("schema"), value.get("example")) {
        check(schema, example);
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_example(item, check)),
        Value::Object(object) => object.values().for_each(|child| each_example(child, check)),
        _ => {}
    }
}

#[test]
fn every_pair_of_tokens_can_be_read() {
    let css = include_str!("../assets/tokens.css");
    // Light, dark by the system, dark by choice.
    let blocks: Vec<Vec<(&str, &str)>> = css
        .split(":root")
        .skip(1)
        .map(|block| {
            let lines = block.lines().filter_map(|line| line.trim().split_once(": #"));
            lines.map(|(name, value)| (name, value.trim_end_matches(';'))).collect()
        })
        .collect();
    let [light, by_system, by_choice] = blocks.as_slice() else { panic!("three sets of tokens") };
    assert_eq!(by_system, by_choice);
    for tokens in [light, by_system] {
        let of = |name: &str| tokens.iter().find(|t| t.0 == name).expect("a token").1;
        for ground in ["--ground", "--raised"] {
            for ink in ["--ink", "--quiet", "--accent", "--good", "--warn", "--bad"] {
                let (a, b) = (luminance(of(ink)), luminance(of(ground)));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{ink} on {ground}: {contrast:.2}");
            }
        }
    }
}

/// Relative luminance by WCAG 2.
fn luminance(hex: &str) -> f64 {
    let part = |at: usize| {
        let byte = u8::from_str_radix(&hex[at..at + 2], 16).expect("a colour is hexadecimal");
        let share = f64::from(byte) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
}
