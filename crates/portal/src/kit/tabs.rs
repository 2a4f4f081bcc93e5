//! The pages of one area, in a row under the title.

use maud::{Markup, html};

/// Links to the pages of an area; the present one is lit.
pub fn tabs(name: &str, here: &str, pages: &[(&str, &str)]) -> Markup {
    html! {
        nav.tabs aria-label=(name) {
            @for (label, href) in pages {
                a href=(href) aria-current=[(*href == here).then_some("page")] { (label) }
            }
        }
    }
}
