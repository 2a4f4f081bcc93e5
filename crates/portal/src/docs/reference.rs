//! The page of one document: what holds for all its operations, then the operations by group.

use maud::{Markup, html};

use super::page::{self, Here};
use super::schema;
use super::spec::{Operation, Spec, entries, items, text};
use super::{operation, prose, sample};

/// The whole page.
pub(super) fn page(specs: &[Spec], spec: &Spec) -> Markup {
    let info = &spec.json["info"];
    page::layout(
        specs,
        &Here::Document(spec),
        spec.title(),
        &html! {
            header.title {
                div {
                    h1 { (spec.title()) }
                    p.lead { (text(&info["summary"])) }
                }
                a.action href={ "/openapi/" (spec.name) ".json" } { "OpenAPI file" }
            }
            (facts(spec))
            section.basics aria-labelledby="basics" {
                h2 #basics { "Basics" }
                (prose::blocks(text(&info["description"])))
            }
            (keys(spec))
            (index(spec))
            @for tag in items(&spec.json["tags"]) {
                section.group {
                    header {
                        h2 { (text(&tag["name"])) }
                        p { (prose::inline(text(&tag["description"]))) }
                    }
                    @for operation in of_tag(spec, text(&tag["name"])) {
                        (operation::section(specs, spec, &operation))
                    }
                }
            }
            (headers(spec))
        },
    )
}

/// The names of the groups, in the document's order.
fn groups(spec: &Spec) -> impl Iterator<Item = &str> {
    items(&spec.json["tags"]).map(|tag| text(&tag["name"]))
}

/// The operations that carry a tag, in the document's order.
pub(super) fn of_tag<'a>(spec: &'a Spec, tag: &str) -> impl Iterator<Item = Operation<'a>> {
    spec.operations().filter(move |o| items(&o.json["tags"]).any(|carried| carried == tag))
}

fn facts(spec: &Spec) -> Markup {
    html! {
        dl.facts {
            div { dt { "Address" } dd { code { (sample::HOST) (spec.prefix()) } } }
            div { dt { "Operations" } dd.number { (spec.operations().count()) } }
            @if spec.number().is_some() {
                div {
                    dt { "New in " (spec.name) }
                    dd { a href={ "/docs/changelog#" (spec.name) } { "Changelog" } }
                }
            }
        }
    }
}

fn keys(spec: &Spec) -> Markup {
    let schemes = &spec.json["components"]["securitySchemes"];
    html! {
        section.authentication aria-labelledby="authentication" {
            h2 #authentication { "Authentication" }
            table.fields role="table" {
                caption.unseen { "Ways to send a key" }
                (schema::head(&["Name", "Where", "Notes"]))
                tbody role="rowgroup" {
                    @for (_, scheme) in entries(schemes) {
                        @let (name, place) = match text(&scheme["type"]) {
                            "http" => ("Authorization", "header"),
                            _ => (text(&scheme["name"]), text(&scheme["in"])),
                        };
                        tr role="row" {
                            th role="rowheader" scope="row" { code { (name) } }
                            td.type role="cell" { (place) }
                            td role="cell" { (prose::inline(text(&scheme["description"]))) }
                        }
                    }
                }
            }
        }
    }
}

fn index(spec: &Spec) -> Markup {
    html! {
        section.index aria-labelledby="operations" {
            h2 #operations { "Operations" }
            ul {
                @for operation in groups(spec).flat_map(|tag| of_tag(spec, tag)) {
                    li {
                        a href={ "#" (operation.anchor()) } {
                            span.route {
                                (operation::method(operation.method))
                                " " code { (operation::broken(operation.path)) }
                            }
                            span.summary { (operation.summary()) }
                        }
                    }
                }
            }
        }
    }
}

fn headers(spec: &Spec) -> Markup {
    html! {
        section.headers aria-labelledby="headers" {
            h2 #headers { "Headers of answers" }
            table.fields role="table" {
                caption.unseen { "Headers of answers" }
                (schema::head(&["Header", "Type", "Notes"]))
                tbody role="rowgroup" {
                    @for (name, header) in entries(&spec.json["components"]["headers"]) {
                        @let (words, _) = schema::value(spec, &header["schema"]);
                        tr role="row" id={ "header-" (name) } {
                            th role="rowheader" scope="row" { code { (name) } }
                            td.type role="cell" { (words) }
                            td role="cell" { (prose::inline(text(&header["description"]))) }
                        }
                    }
                }
            }
        }
    }
}
