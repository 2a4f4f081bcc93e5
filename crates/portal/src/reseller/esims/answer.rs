//! The top of the page: why it does not work, and how it stands in five figures.

use app::esims::OnEsim;
use domain::assignment::State;
use maud::{Markup, html};

use super::one::About;
use crate::kit::{self, figures};
use crate::words::esims as words;
use crate::words::esims::diagnosis::{self as told, Around, Told};

/// What stands in the way, the first thing first.
pub(super) fn section(about: &About) -> Markup {
    let seen = about.esim().seen.as_ref();
    let country = seen.map(|seen| about.country(&seen.country)).unwrap_or_default();
    let around = Around { clock: about.clock(), country: &country };
    let findings = about.findings();
    let title = if findings.iter().all(app::esims::diagnosis::Finding::is_well) {
        told::WELL
    } else {
        told::WHY
    };
    let mut all = findings.iter().map(|finding| told::tell(finding, &around));
    let first = all.next();
    let rest: Vec<Told> = all.collect();
    let body = html! {
        @if let Some(first) = first { (finding(&first)) }
        @if !rest.is_empty() {
            p.quiet { (told::ALSO) }
            @for one in &rest { (finding(one)) }
        }
    };
    kit::section(title, None, body)
}

fn finding(told: &Told) -> Markup {
    html! {
        div.finding {
            p { strong { (figures::badge(told.mood, &told.title)) } }
            p { (told.what) }
            p.next { strong { (told::DO) } " " (told.next) }
        }
    }
}

/// State and its age, the bundle in use, data left, when it ends, where it was.
pub(super) fn strip(about: &About) -> Markup {
    let (esim, clock) = (about.esim(), about.clock());
    let (mood, word) = words::state(esim);
    let active = about.one.bundles.iter().find(|one| one.assignment.state == State::Active);
    let since = esim.first_installed_at.unwrap_or(esim.assigned_at);
    let seen = if let Some(seen) = &esim.seen {
        html! {
            (about.country(&seen.country)) " " small { (figures::time(seen.at, clock)) }
        }
    } else {
        html! { (words::NEVER) }
    };
    let name = active.map_or(words::NONE_ACTIVE, |one| one.stored.description.as_str());
    kit::strip(&[
        (
            words::PROFILE,
            html! {
                (figures::badge(mood, word))
                " " small { (words::SINCE) " " (figures::time(since, clock)) }
            },
        ),
        (words::ACTIVE, html! { (name) }),
        data_left(active),
        (words::ENDS, ends(active, about)),
        (words::SEEN, seen),
    ])
}

fn data_left(active: Option<&OnEsim>) -> (&'static str, Markup) {
    match active {
        Some(one) if one.assignment.terms.data.is_unlimited() => {
            (words::LEFT_TODAY, figures::bytes(one.remaining))
        }
        Some(one) => (words::DATA_LEFT, figures::bytes(one.remaining)),
        None => (words::DATA_LEFT, figures::none()),
    }
}

fn ends(active: Option<&OnEsim>, about: &About) -> Markup {
    match active.and_then(|one| one.assignment.ends_at) {
        Some(at) => figures::time(at, about.clock()),
        None => figures::none(),
    }
}
