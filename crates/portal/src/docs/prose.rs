//! Sets the few marks that descriptions use: paragraphs, lists, `code` and **bold**. Everything
//! else is text and stays text.

use maud::{Markup, html};

/// Paragraphs and lists.
pub(super) fn blocks(text: &str) -> Markup {
    html! {
        @for block in text.split("\n\n").filter(|block| !block.trim().is_empty()) {
            @let (words, points) = parts(block);
            @if !words.is_empty() { p { (inline(&words)) } }
            @if !points.is_empty() {
                ul { @for point in &points { li { (inline(point)) } } }
            }
        }
    }
}

/// The lines before a block's list, and the list's points.
fn parts(block: &str) -> (String, Vec<String>) {
    let (mut words, mut points) = (Vec::new(), Vec::<String>::new());
    for line in block.lines().map(str::trim) {
        match (line.strip_prefix("- "), points.last_mut()) {
            (Some(point), _) => points.push(point.to_owned()),
            (None, Some(point)) => *point = format!("{point} {line}"),
            (None, None) => words.push(line),
        }
    }
    (words.join(" "), points)
}

/// One line of words. A mark without its twin is an ordinary character.
pub(super) fn inline(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            // Every second part stands between two marks, unless the last one is missing.
            @if place % 2 == 1 && place < text.matches('`').count() {
                code { (part) }
            } @else {
                @if place % 2 == 1 { "`" }
                (bold(part))
            }
        }
    }
}

fn bold(text: &str) -> Markup {
    let marks = text.matches("**").count();
    html! {
        @for (place, part) in text.split("**").enumerate() {
            @if place % 2 == 1 && place < marks {
                strong { (part) }
            } @else {
                @if place % 2 == 1 { "**" }
                (part)
            }
        }
    }
}
