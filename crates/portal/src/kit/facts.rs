//! What a detail page is made of: the strip that says how things stand, lists of facts, sections,
//! and the one menu of everything that can be done.

use maud::{Markup, Render, html};

/// The summary strip under the title: state, age, what is next. At most five.
pub fn strip(facts: &[(&str, Markup)]) -> Markup {
    html! {
        dl.strip { @for (label, value) in facts { div { dt { (label) } dd { (value) } } } }
    }
}

/// A list of facts, label beside value.
pub fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! {
        dl.facts { @for (label, value) in facts { div { dt { (label) } dd { (value) } } } }
    }
}

/// A part of a page under its heading, with what can be done there at the right.
pub fn section(title: &str, action: Option<Markup>, body: impl Render) -> Markup {
    html! {
        section.part aria-label=(title) {
            header { h2 { (title) } @if let Some(action) = action { div.does { (action) } } }
            (body)
        }
    }
}

/// Pictures or groups of facts side by side where there is room.
pub fn tiles(tiles: &[Markup]) -> Markup {
    html! { div.tiles { @for tile in tiles { div { (tile) } } } }
}

/// The parts of an area side by side: label, address, and whether it is the one that is open.
pub fn tabs(name: &str, tabs: &[(&str, &str, bool)]) -> Markup {
    html! {
        nav.tabs aria-label=(name) {
            @for (label, href, here) in tabs {
                a href=(href) aria-current=[here.then_some("page")] { (label) }
            }
        }
    }
}

/// One of many things of which only a line is seen until somebody unfolds it.
pub fn fold(line: impl Render, inside: impl Render) -> Markup {
    html! { details.fold { summary { (line) } div { (inside) } } }
}

/// Something that is renewed by itself on a page that is live. Its name is unique on the page.
pub fn live(name: &str, body: impl Render) -> Markup {
    html! { div.live data-live-part=(name) { (body) } }
}

/// Everything that can be done, in one place: [`menu_link`]s and [`super::form::confirm`]s.
pub fn menu(label: &str, items: &[Markup]) -> Markup {
    html! {
        details.menu {
            summary.button.plain { (label) (super::icon::chevron()) }
            ul { @for item in items { li { (item) } } }
        }
    }
}

/// Something in a menu that only leads elsewhere, with a few words on what is there.
pub fn menu_link(label: &str, href: &str, says: &str) -> Markup {
    html! {
        a.item href=(href) { (label) @if !says.is_empty() { small { (says) } } }
    }
}
