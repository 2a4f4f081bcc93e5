//! The page itself: whose eSIM, what is left, how to install it on this phone, and every other way
//! behind a fold.

use app::esims::OnEsim;
use app::shares::SharedEsim;
use domain::assignment::State;
use domain::catalogue::DurationUnit;
use domain::esim::ProfileStatus;
use maud::{DOCTYPE, Markup, html};

use super::phone::Phone;
use crate::kit::{facts, figures, qr};
use crate::words::share as words;

pub(super) fn page(esim: &SharedEsim, token: &str, phone: Phone) -> Markup {
    let content = html! {
        p.brand { span { bdi { (esim.organisation) } } }
        h1 { (words::TITLE) }
        (left(esim))
        @if can_be_installed(esim) { (install(esim, token, phone)) }
        footer {
            p { (words::UNTIL) " " (figures::date(esim.expires_at)) "." }
        }
    };
    document(words::TITLE, &content)
}

/// A page that only says something.
pub(super) fn note(title: &str, text: &str) -> Markup {
    document(title, &html! { h1 { (title) } p { (text) } })
}

pub(super) fn can_be_installed(esim: &SharedEsim) -> bool {
    !matches!(esim.status, ProfileStatus::Deactivated | ProfileStatus::Unavailable)
}

/// What is left: of the bundle in use, or of the one that comes next.
fn left(esim: &SharedEsim) -> Markup {
    let who = esim.organisation.as_str();
    if !can_be_installed(esim) {
        return html! { p.big { (words::ended(who)) } };
    }
    let of = |state: State| esim.bundles.iter().rev().filter(move |b| b.assignment.state == state);
    let mut open: Vec<&OnEsim> = of(State::Active).chain(of(State::Queued)).collect();
    let now = if open.is_empty() { None } else { Some(open.remove(0)) };
    html! {
        @if esim.state == "suspended" { p.big { (words::suspended(who)) } }
        @match now {
            Some(one) => (bundle(one, esim)),
            None if of(State::Processing).next().is_some() => p.big { (words::BEING_MADE) },
            None => {
                p.big {
                    @if of(State::Depleted).next().is_some() { (words::USED_UP) }
                    @else { (words::OVER) }
                }
                p { (words::ask(who)) }
            }
        }
        @if !open.is_empty() {
            div.quiet {
                @for one in open { p { (words::THEN) " " (one.stored.description) } }
            }
        }
    }
}

/// One bundle: a large bar and two large figures.
fn bundle(one: &OnEsim, esim: &SharedEsim) -> Markup {
    let (assignment, clock) = (&one.assignment, esim.clock);
    let whole = assignment.initial_bytes().max(1);
    let percent = (i128::from(one.remaining.clamp(0, whole)) * 100 / i128::from(whole)).to_string();
    let is_low = one.remaining.saturating_mul(100) / whole <= 15;
    let is_unlimited = assignment.terms.data.is_unlimited();
    let label = format!("{percent} % {}", words::DATA_LEFT);
    let class = if is_low { "left warn" } else { "left" };
    html! {
        div.bundle.large {
            p.says {
                span.hero { (figures::bytes(one.remaining)) }
                span {
                    @if is_unlimited { (words::FULL_SPEED) } @else {
                        (words::DATA_LEFT) " " (words::OF) " " (figures::bytes(whole))
                    }
                }
            }
            svg width="100%" height="24" role="img" aria-label=(label) {
                rect.used x="0" y="0" width="100%" height="24" rx="4" {}
                rect class=(class) x="0" y="0" width={ (percent) "%" } height="24" rx="4" {}
            }
            (time(one, clock))
            p.quiet {
                (one.stored.description)
                @if is_unlimited { ". " (words::UNLIMITED) }
            }
        }
    }
}

fn time(one: &OnEsim, clock: domain::Timestamp) -> Markup {
    let assignment = &one.assignment;
    if let Some(ends) = assignment.ends_at {
        let (number, unit) = words::time_left(ends.ms() - clock.ms());
        return html! {
            p.says {
                span.hero { span.figure { (number) small { "\u{a0}" (unit) } } }
                span { (words::ENDS) " " (figures::date(ends)) }
            }
        };
    }
    let lasts = match assignment.terms.unit {
        DurationUnit::Day => words::days(assignment.terms.duration),
        DurationUnit::Month => words::months(assignment.terms.duration),
    };
    match assignment.wanted_at {
        Some(at) if at > clock => {
            html! { p { (words::STARTS) " " (figures::time(at, clock)) "." } }
        }
        _ => html! { p { (words::STARTS_WITH_USE) " " strong { (lasts) } "." } },
    }
}

/// The steps for this phone first, the others folded.
fn install(esim: &SharedEsim, token: &str, phone: Phone) -> Markup {
    let ways = [Phone::Apple, Phone::Android, Phone::Other];
    let others = ways.into_iter().filter(|way| *way != phone);
    let all = html! {
        p.quiet { (words::BEFORE) }
        (way(esim, token, phone))
        @for other in others {
            details.more {
                summary { (title(other)) }
                (way(esim, token, other))
            }
        }
    };
    if esim.status != ProfileStatus::Installed {
        return html! { h2 { (words::INSTALL) } (all) };
    }
    html! {
        h2 { (words::INSTALLED) }
        (steps(&words::INSTALLED_STEPS))
        details.more { summary { (words::AGAIN) } (all) }
    }
}

fn title(way: Phone) -> &'static str {
    match way {
        Phone::Apple => words::APPLE_OTHER,
        Phone::Android => words::ANDROID_OTHER,
        Phone::Other => words::CODE,
    }
}

fn way(esim: &SharedEsim, token: &str, way: Phone) -> Markup {
    let button = |url: &str, label: &str| html! { a.button.main href=(url) { (label) } };
    match way {
        Phone::Apple => html! {
            (button(&esim.code.apple_url(), words::APPLE_BUTTON))
            (steps(&words::APPLE_STEPS))
        },
        Phone::Android => html! {
            (button(&esim.code.android_url(), words::ANDROID_BUTTON))
            (steps(&words::ANDROID_STEPS))
        },
        Phone::Other => {
            let src = format!("/share/{token}/qr.png");
            let card = qr::Card { src: &src, iccid: esim.iccid.as_str(), says: "" };
            let typed = |text: &str| html! { code.typed { (text) } };
            html! {
                (steps(&words::CODE_STEPS))
                (qr::card(card))
                (facts(&[
                    (words::SMDP, typed(&esim.code.smdp_address)),
                    (words::MATCHING, typed(esim.code.matching_id.expose())),
                ]))
            }
        }
    }
}

fn steps(steps: &[&str]) -> Markup {
    html! { ol.steps { @for step in steps { li { (step) } } } }
}

/// No script, and a title that says nothing about whose it is.
fn document(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="format-detection" content="telephone=no";
                meta name="robots" content="noindex, nofollow";
                meta name="referrer" content="no-referrer";
                title { (title) }
                link rel="stylesheet" href="/portal/style.css";
                // Without one, browsers ask for a file that is not there.
                link rel="icon" type="image/svg+xml" href="/portal/mark.svg";
            }
            body.plain.traveller { main #content { (content) } }
        }
    }
}
