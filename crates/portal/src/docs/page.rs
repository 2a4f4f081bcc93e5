//! What every page of the reference shares: the head, the rail with documents and operations, and
//! the small page for an address that leads nowhere.

use maud::{DOCTYPE, Markup, html};

use super::operation;
use super::reference;
use super::spec::{Spec, items, text};

/// Which page is shown.
pub(super) enum Here<'a> {
    Document(&'a Spec),
    Changelog,
    Nowhere,
}

/// A page around its content.
pub(super) fn layout(specs: &[Spec], here: &Here, title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) @if !title.starts_with("Tern") { " · Tern" } " · API reference" }
                link rel="stylesheet" href="/docs/style.css";
                link rel="icon" type="image/svg+xml" href="/docs/mark.svg";
                script src="/docs/docs.js" {}
            }
            body {
                a.skip href="#content" { "Skip to content" }
                (rail(specs, here))
                main #content tabindex="-1" { (content) }
            }
        }
    }
}

/// The page for an address under `/docs` that leads nowhere.
pub(super) fn not_found(specs: &[Spec]) -> Markup {
    layout(
        specs,
        &Here::Nowhere,
        "Not found",
        &html! {
            header.title {
                div {
                    h1 { "No such page" }
                    p.lead { "The reference has no page at this address." }
                }
            }
            p {
                "Choose a version from the list, or start with "
                a href="/docs" { "the newest one" } "."
            }
        },
    )
}

fn rail(specs: &[Spec], here: &Here) -> Markup {
    let shown = match here {
        Here::Document(spec) => Some(spec.name),
        Here::Changelog => Some("changelog"),
        Here::Nowhere => None,
    };
    let (versions, others): (Vec<&Spec>, Vec<&Spec>) =
        specs.iter().partition(|spec| spec.number().is_some());
    html! {
        header.rail {
            a.brand href="/docs" { (mark()) span { "Tern" } " " small { "API reference" } }
            nav.documents aria-label="Documents" {
                ul.versions { @for spec in versions { (link(spec.name, spec.name, shown)) } }
                ul.others {
                    @for spec in others { (link(spec.name, &capitalised(spec.name), shown)) }
                    (link("changelog", "Changelog", shown))
                }
            }
            @if let Here::Document(spec) = here { (contents(spec)) }
            button.theme type="button" hidden { "Theme" }
        }
    }
}

fn link(name: &str, label: &str, shown: Option<&str>) -> Markup {
    let here = (shown == Some(name)).then_some("page");
    html! {
        li { a href={ "/docs/" (name) } aria-current=[here] { (label) } }
    }
}

fn contents(spec: &Spec) -> Markup {
    html! {
        nav.contents aria-label="On this page" {
            a.jump href="#operations" { "Operations" }
            ul.sections {
                li { a href="#basics" { "Basics" } }
                li { a href="#authentication" { "Authentication" } }
                li { a href="#headers" { "Headers of answers" } }
            }
            @for tag in items(&spec.json["tags"]) {
                p { (text(&tag["name"])) }
                ul {
                    @for one in reference::of_tag(spec, text(&tag["name"])) {
                        li {
                            a href={ "#" (one.anchor()) } {
                                span { (one.summary()) } " " (operation::method(one.method))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The wing. Decoration beside the name, so screen readers pass over it.
fn mark() -> Markup {
    html! {
        svg viewBox="0 0 32 32" width="28" height="28" fill="none" stroke="currentColor"
            stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
            path d=(WING) {}
        }
    }
}

/// One stroke: up the near wing, over the body, out along the far wing and back as the tail.
const WING: &str = "M2 10c5.5-1 9.5 1.5 12 8 2.5-8 7.5-12.5 16-13.5-6 3.5-9.5 8.5-11 16.5";
