//! Lines: a spark beside a figure, an area over time, the band between two latencies.

use domain::Timestamp;
use maud::{Markup, html};

use super::axis::{ACROSS, ALL, Axis, PLOT, Span, TOP, part, percent};
use super::{Series, Unit, figure, nothing, table};

/// A line no larger than a word, to stand beside a figure.
pub fn sparkline(series: &Series) -> Markup {
    let highest = series.points.iter().map(|(_, value)| *value).max().unwrap_or(0);
    let span = Span::of(series.points.iter().map(|(at, _)| *at));
    let place = |(at, value): &(Timestamp, i64)| {
        (2 + part(span.x(*at), ACROSS, 116), 28 - part(*value, highest, 24))
    };
    let spots: Vec<_> = series.points.iter().map(place).collect();
    let says = format!("{}. {}", series.name, series.summary());
    html! {
        svg.spark viewBox="0 0 120 32" width="120" height="32" role="img" aria-label=(says) {
            title { (says) }
            @match spots.as_slice() {
                [] => line.none x1="2" x2="118" y1="28" y2="28" {},
                [.., (x, y)] => {
                    path.line d=(path(&spots)) {}
                    circle.dot cx=(x) cy=(y) r="2.5" {}
                }
            }
        }
    }
}

/// Figures over time. The latest is written on the line itself.
pub fn area(series: &Series) -> Markup {
    let Some((last, latest)) = series.points.last() else {
        return nothing(series.name);
    };
    let axis = Axis::over(series.unit, series.points.iter().map(|(_, value)| *value));
    let span = Span::of(series.points.iter().map(|(at, _)| *at));
    let spots: Vec<_> =
        series.points.iter().map(|(at, value)| (span.x(*at), axis.down(*value))).collect();
    let drawn = html! {
        (stretched(&html! {
            path.fill d=(closed(&spots, &[])) {}
            path.line d=(path(&spots)) {}
        }))
        (end(span.x(*last), axis.y(*latest), axis.y(*latest) - 8, &series.unit.text(*latest)))
        (hits(&spots, |place| {
            let (at, value) = series.points[place];
            format!("{}: {}", span.name(at), series.unit.text(value))
        }))
    };
    let says = format!("{}. {}", series.name, series.summary());
    let rows = series.points.iter();
    let rows = rows.map(|(at, value)| (span.name(*at), vec![series.unit.text(*value)]));
    let picture = picture(&says, axis, span, &drawn);
    figure(series.name, "", &picture, &table(&["When", series.name], rows))
}

/// How long things took at some moment, in milliseconds: for half of them, for all but a hundredth.
#[derive(Debug, Clone, Copy)]
pub struct Latency {
    pub at: Timestamp,
    pub p50: i64,
    pub p99: i64,
}

/// The band between what is usual and what is slow.
pub fn latency(name: &str, points: &[Latency]) -> Markup {
    let Some(last) = points.last() else {
        return nothing(name);
    };
    let axis = Axis::over(Unit::Ms, points.iter().map(|point| point.p99.max(point.p50)));
    let span = Span::of(points.iter().map(|point| point.at));
    let usual: Vec<_> = points.iter().map(|one| (span.x(one.at), axis.down(one.p50))).collect();
    let slow: Vec<_> = points.iter().map(|one| (span.x(one.at), axis.down(one.p99))).collect();
    let text = |ms: i64| Unit::Ms.text(ms);
    let (low, high) = (axis.y(last.p50), axis.y(last.p99));
    // Where the two lines meet, the words still stand apart.
    let low_word = if low - high < 30 { low + 16 } else { low - 8 };
    let drawn = html! {
        (stretched(&html! {
            path.fill d=(closed(&slow, &usual)) {}
            path.line.thin d=(path(&slow)) {}
            path.line d=(path(&usual)) {}
        }))
        (end(span.x(last.at), high, high - 8, &format!("p99 {}", text(last.p99))))
        (end(span.x(last.at), low, low_word, &format!("p50 {}", text(last.p50))))
        (hits(&usual, |place| {
            let one = points[place];
            format!("{}: p50 {}, p99 {}", span.name(one.at), text(one.p50), text(one.p99))
        }))
    };
    let says = format!("{name}. Latest: p50 {}, p99 {}", text(last.p50), text(last.p99));
    let rows = points.iter().map(|one| (span.name(one.at), vec![text(one.p50), text(one.p99)]));
    let picture = picture(&says, axis, span, &drawn);
    figure(name, "", &picture, &table(&["When", "p50", "p99"], rows))
}

fn picture(says: &str, axis: Axis, span: Span, drawn: &Markup) -> Markup {
    html! {
        div.plot {
            (axis.words())
            svg width="100%" height=(ALL) role="img" aria-label=(says) {
                desc { (says) }
                (axis.lines())
                (drawn)
                (span.words())
            }
        }
    }
}

/// A drawing that is as wide as there is room; strokes keep their width by the style.
fn stretched(drawing: &Markup) -> Markup {
    html! {
        svg.stretched x="0" y=(TOP) width="100%" height=(PLOT) preserveAspectRatio="none"
            viewBox={ "0 0 " (ACROSS) " " (PLOT * 10) } { (drawing) }
    }
}

/// The end of a line and the words on it.
fn end(x: i64, y: i64, word_y: i64, says: &str) -> Markup {
    let anchor = if x > ACROSS * 9 / 10 { "end" } else { "middle" };
    html! {
        circle.dot cx=(percent(x)) cy=(y) r="4" {}
        text.value x=(percent(x)) y=(word_y.max(12)) text-anchor=(anchor) { (says) }
    }
}

/// A strip around every point that says its figures to a pointer that rests there.
fn hits(spots: &[(i64, i64)], says: impl Fn(usize) -> String) -> Markup {
    let middle = |place: usize| i64::midpoint(spots[place - 1].0, spots[place].0);
    let from = |place: usize| if place == 0 { 0 } else { middle(place) };
    let to = |place: usize| if place + 1 == spots.len() { ACROSS } else { middle(place + 1) };
    html! {
        @for place in 0..spots.len() {
            rect.hit x=(percent(from(place))) width=(percent((to(place) - from(place)).max(0)))
                y=(TOP) height=(PLOT) { title { (says(place)) } }
        }
    }
}

/// `M0 10L5 8…`
fn path(spots: &[(i64, i64)]) -> String {
    let steps = spots.iter().enumerate().map(|(place, (x, y))| {
        let pen = if place == 0 { 'M' } else { 'L' };
        format!("{pen}{x} {y}")
    });
    steps.collect()
}

/// The area between a line and another, or the floor.
fn closed(upper: &[(i64, i64)], lower: &[(i64, i64)]) -> String {
    let (Some(first), Some(last)) = (upper.first(), upper.last()) else {
        return String::new();
    };
    let floor = [(first.0, PLOT * 10), (last.0, PLOT * 10)];
    let lower = if lower.is_empty() { &floor[..] } else { lower };
    let whole: Vec<_> = upper.iter().chain(lower.iter().rev()).copied().collect();
    format!("{}Z", path(&whole))
}
