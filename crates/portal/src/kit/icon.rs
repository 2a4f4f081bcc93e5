//! Line icons drawn by us: one weight, one box, the colour of the text beside them. Decoration, so
//! screen readers pass over every one.

use maud::{Markup, html};

use super::Area;

/// The wing.
pub fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 32 32" width="28" height="28" fill="none" stroke="currentColor"
            stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
            path d="M2 10c5.5-1 9.5 1.5 12 8 2.5-8 7.5-12.5 16-13.5-6 3.5-9.5 8.5-11 16.5" {}
        }
    }
}

/// The icon of an entry of the rail.
pub(super) fn of(area: Area) -> Markup {
    line(match area {
        Area::Home => "M3 9l7-6 7 6v8h-5v-5H8v5H3z",
        Area::Esims => "M5 2.5h6.5L16 7v10.5H5zM8 10h5v4.5H8zM10.5 10v4.5",
        Area::Catalogue => "M3 5h14M3 10h14M3 15h9",
        Area::Inventory => "M3 6.5 10 3l7 3.5v7L10 17l-7-3.5zM3 6.5l7 3.5 7-3.5M10 10v7",
        Area::Orders => "M5 2.5h10v15l-2.5-1.5-2.5 1.5-2.5-1.5L5 17.5zM8 7h4M8 10.5h4",
        Area::Money => "M2.5 5h15v10h-15zM2.5 8.5h15M5.5 12h3",
        Area::Usage => "M3 17h14M5 14v-4M10 14V4M15 14V8",
        Area::Callbacks => "M3 10h11M10 5.5 14.5 10 10 14.5M17 4v12",
        Area::Developers => "M7 6l-4 4 4 4M13 6l4 4-4 4",
        Area::Team => {
            "M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 16.5c.5-3 2.5-4.5 5.5-4.5\
            s5 1.5 5.5 4.5M13 4a3 3 0 0 1 0 5.5M15 12.5c1.7.7 2.7 2 3 4"
        }
        Area::Network => "M10 8.5v9M6.5 12a5 5 0 1 1 7 0M4 14.5a8.5 8.5 0 1 1 12 0",
        Area::Organisations => {
            "M3 17.5v-12h7v12M10 9h7v8.5M2 17.5h16M5.5 9h2M5.5 12.5h2\
            M13 12.5h1.5"
        }
        Area::Log => "M10 5.5V10l3 2M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15z",
        Area::Settings => {
            "M3 6h8M15 6h2M3 14h2M9 14h8M13 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4z\
            M7 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4z"
        }
        Area::Account => {
            "M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z\
            M3.5 17c.7-3.3 3-5 6.5-5s5.8 1.7 6.5 5"
        }
    })
}

/// Two sheets: copy.
pub(super) fn copy() -> Markup {
    line("M7 7h10v10H7zM13 7V3H3v10h4")
}

/// Points down: there is more to unfold.
pub(super) fn chevron() -> Markup {
    line("M6 8l4 4 4-4")
}

/// Three lines: the folded rail.
pub(super) fn bars() -> Markup {
    line("M3 5h14M3 10h14M3 15h14")
}

/// A glass: search.
pub(super) fn glass() -> Markup {
    line("M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5 17 17")
}

fn line(path: &str) -> Markup {
    html! {
        svg.icon viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor"
            stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
            path d=(path) {}
        }
    }
}
