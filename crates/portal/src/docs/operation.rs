//! One operation on a page: what it does, who has it, what goes in, what comes out, what can go
//! wrong; and beside it what to copy.

use maud::{Markup, html};
use serde_json::Value;

use super::schema::{self, Side};
use super::spec::{Operation, Spec, entries, items, text};
use super::{prose, sample};

/// The whole operation.
pub(super) fn section(specs: &[Spec], spec: &Spec, operation: &Operation) -> Markup {
    let (json, anchor) = (operation.json, operation.anchor());
    html! {
        article.operation id=(anchor) aria-labelledby={ (anchor) "-title" } {
            div.told {
                h3 id={ (anchor) "-title" } {
                    (operation.summary()) " "
                    a.anchor href={ "#" (anchor) } aria-label="Link to this operation" { "#" }
                }
                p.route { (method(operation.method)) " " code { (broken(operation.path)) } }
                @if json["deprecated"] == true {
                    p.old { "Deprecated: it works, but do not build on it." }
                }
                (prose::blocks(text(&json["description"])))
                (who(specs, spec, operation))
                (parameters(spec, json))
                (request(spec, json))
                (successes(spec, json))
                (errors(spec, json))
            }
            div.samples {
                (figure("Request", &html! { (sample::curl(spec, operation)) }))
                @for (status, response) in answers(spec, json, true) {
                    @if let Some(example) = response["content"]["application/json"].get("example") {
                        (figure(&format!("Answer {status}"), &sample::json(example)))
                    }
                }
            }
        }
    }
}

/// The method as a word with a colour.
pub(super) fn method(name: &str) -> Markup {
    html! { span class={ "method " (name) } { (name.to_uppercase()) } }
}

/// A path that may break behind its slashes, for small screens.
pub(super) fn broken(path: &str) -> Markup {
    html! {
        @for (place, part) in path.split('/').enumerate() {
            @if place > 0 { "/" wbr; }
            (part)
        }
    }
}

fn figure(caption: &str, body: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (caption) }
            // A box that scrolls must be reachable by keyboard, and then needs a name.
            pre tabindex="0" role="group" aria-label=(caption) { code { (body) } }
        }
    }
}

fn who(specs: &[Spec], spec: &Spec, operation: &Operation) -> Markup {
    let mut having: Vec<&Spec> = specs
        .iter()
        .filter(|other| other.number().is_some() && other.has(operation.method, operation.path))
        .collect();
    having.reverse();
    let keys = items(&operation.json["security"]).flat_map(entries).map(|(name, _)| name);
    let keys: Vec<Markup> = keys.map(|name| key(spec, name)).collect();
    html! {
        dl.who {
            @if spec.number().is_some() {
                dt { "Versions" }
                dd {
                    @for other in having {
                        @let here = (other.name == spec.name).then_some("true");
                        a.version href={ "/docs/" (other.name) "#" (operation.anchor()) }
                            aria-current=[here] { (other.name) }
                        " "
                    }
                }
            }
            dt { "Key" }
            dd {
                @for (place, key) in keys.iter().enumerate() {
                    @if place > 0 { " or " }
                    (key)
                }
                @if keys.is_empty() { "none" }
            }
        }
    }
}

fn key(spec: &Spec, name: &str) -> Markup {
    let scheme = &spec.json["components"]["securitySchemes"][name];
    html! {
        @match text(&scheme["type"]) {
            "http" => { "header " code { "Authorization: Bearer" } },
            _ => { (text(&scheme["in"])) " " code { (text(&scheme["name"])) } },
        }
    }
}

fn parameters(spec: &Spec, json: &Value) -> Markup {
    let all: Vec<&Value> = items(&json["parameters"]).map(|p| spec.resolve(p)).collect();
    html! {
        @if !all.is_empty() {
            h4 { "Parameters" }
            table.fields role="table" {
                caption.unseen { "Parameters" }
                (schema::head(&["Name", "Type", "Notes"]))
                tbody role="rowgroup" { @for one in all { (parameter(spec, one)) } }
            }
        }
    }
}

fn parameter(spec: &Spec, parameter: &Value) -> Markup {
    let (words, bounds) = schema::value(spec, &parameter["schema"]);
    // Without it there would be no path, so it need not be said.
    let in_path = parameter["in"] == "path";
    html! {
        tr role="row" {
            th role="rowheader" scope="row" {
                code { (text(&parameter["name"])) }
                span.place { "in the " (text(&parameter["in"])) }
                @if parameter["required"] == true && !in_path { span.needed { "required" } }
            }
            td.type role="cell" { (words) }
            td role="cell" { (schema::notes(text(&parameter["description"]), &bounds)) }
        }
    }
}

fn request(spec: &Spec, json: &Value) -> Markup {
    html! {
        @if let Some(body) = json.get("requestBody") {
            h4 {
                "Body"
                @for (kind, _) in entries(&body["content"]) { span.aside { (kind) } }
                @if body["required"] != true { span.aside { "may be left out" } }
            }
            @for (_, content) in entries(&body["content"]) {
                (schema::fields(spec, &content["schema"], Side::Request, "Fields of the body"))
            }
        }
    }
}

/// The answers of an operation, split into good and bad ones.
fn answers<'a>(
    spec: &'a Spec,
    json: &'a Value,
    good: bool,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    entries(&json["responses"])
        .filter(move |(status, _)| status.starts_with('2') == good)
        .map(|(status, response)| (status, spec.resolve(response)))
}

fn successes(spec: &Spec, json: &Value) -> Markup {
    html! {
        @for (status, response) in answers(spec, json, true) {
            h4 {
                "Answer " (status)
                @for (kind, _) in entries(&response["content"]) { span.aside { (kind) } }
            }
            (prose::blocks(text(&response["description"])))
            @for (_, content) in entries(&response["content"]) {
                @let caption = format!("Fields of the answer {status}");
                (schema::fields(spec, &content["schema"], Side::Answer, &caption))
            }
            p.names { "Headers: " (header_names(response)) }
        }
    }
}

fn header_names(response: &Value) -> Markup {
    html! {
        @for (place, (name, _)) in entries(&response["headers"]).enumerate() {
            @if place > 0 { ", " }
            a href={ "#header-" (name) } { code { (name) } }
        }
    }
}

fn errors(spec: &Spec, json: &Value) -> Markup {
    html! {
        h4 { "Errors" }
        table.errors role="table" {
            caption.unseen { "Errors" }
            (schema::head(&["Status", "When, and its message"]))
            tbody role="rowgroup" {
                @for (status, response) in answers(spec, json, false) {
                    @let example = &response["content"]["application/json"]["example"]["message"];
                    tr role="row" {
                        th role="rowheader" scope="row" {
                            @if status == "default" { "other" } @else { (status) }
                        }
                        td role="cell" {
                            (prose::inline(text(&response["description"])))
                            " " span.said { "“" (text(example)) "”" }
                        }
                    }
                }
            }
        }
    }
}
