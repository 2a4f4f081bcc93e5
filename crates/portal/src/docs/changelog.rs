//! The changelog: what each version changed, newest first.

use maud::{Markup, html};

use super::Release;
use super::page::{self, Here};
use super::prose;
use super::spec::Spec;

/// The whole page.
pub(super) fn page(specs: &[Spec], changelog: &[Release]) -> Markup {
    let versions = specs.iter().filter(|spec| spec.number().is_some());
    page::layout(
        specs,
        &Here::Changelog,
        "Changelog",
        &html! {
            header.title {
                div {
                    h1 { "Changelog" }
                    p.lead { "What each version changed. A published version keeps its shape." }
                }
            }
            @for spec in versions {
                @let changes = changelog.iter().find(|release| release.version == spec.name);
                section.release aria-labelledby=(spec.name) {
                    h2 id=(spec.name) { a href={ "/docs/" (spec.name) } { (spec.name) } }
                    @match changes.map(|release| release.changes.as_slice()) {
                        None | Some([]) => p.none { "Nothing changed for you." },
                        Some(changes) => ul {
                            @for change in changes { li { (prose::inline(change)) } }
                        },
                    }
                }
            }
        },
    )
}
