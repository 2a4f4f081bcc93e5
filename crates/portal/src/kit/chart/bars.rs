//! Bars: one for every day, one for a bundle, one that is divided between states.

use domain::Timestamp;
use maud::{Markup, html};

use super::axis::{ACROSS, ALL, Axis, PLOT, Span, TOP, part, percent};
use super::{Series, Unit, figure, nothing, table};
use crate::kit::{Mood, figures};

/// A bar for every point, side by side; the sum of all stands above.
pub fn bars(series: &Series) -> Markup {
    if series.points.is_empty() {
        return nothing(series.name);
    }
    let axis = Axis::over(series.unit, series.points.iter().map(|(_, value)| *value));
    let span = Span::of(series.points.iter().map(|(at, _)| *at));
    let whole = series.unit.text(series.whole());
    let says = format!("{}. {}, {whole} in all", series.name, series.summary());
    let picture = html! {
        div.plot {
            (axis.words())
            svg width="100%" height=(ALL) role="img" aria-label=(says) {
                desc { (says) }
                (axis.lines())
                @for (place, (at, value)) in series.points.iter().enumerate() {
                    (bar(Slot::of(place, series.points.len()), axis.y(*value), &format!(
                        "{}: {}", span.name(*at), series.unit.text(*value)
                    )))
                }
                (names(series.points, span))
            }
        }
    };
    let rows = series.points.iter();
    let rows = rows.map(|(at, value)| (span.name(*at), vec![series.unit.text(*value)]));
    figure(series.name, &whole, &picture, &table(&["When", series.name], rows))
}

/// The place of a bar across. A few bars do not swell to fill the width.
#[derive(Clone, Copy)]
struct Slot {
    from: i64,
    width: i64,
}

impl Slot {
    fn of(place: usize, bars: usize) -> Self {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let slots = number(bars.max(7));
        let edge = |place: usize| part(number(place), slots, ACROSS);
        Self { from: edge(place), width: edge(place + 1) - edge(place) }
    }

    fn middle(self) -> i64 {
        self.from + self.width / 2
    }
}

fn bar(slot: Slot, top: i64, says: &str) -> Markup {
    let floor = TOP + PLOT;
    let gap = slot.width / 8;
    // A day without anything is a day all the same: it keeps a line.
    let (class, top) = if top >= floor { ("bar none", floor - 1) } else { ("bar", top) };
    html! {
        rect.hit x=(percent(slot.from)) width=(percent(slot.width)) y=(TOP) height=(PLOT) {
            title { (says) }
        }
        rect class=(class) x=(percent(slot.from + gap)) width=(percent(slot.width - 2 * gap))
            y=(top) height=(floor - top) rx="1" {}
    }
}

/// Every bar by its name where they are few; else the first, the last and one between.
fn names(points: &[(Timestamp, i64)], span: Span) -> Markup {
    let last = points.len() - 1;
    let slot = |place: usize| Slot::of(place, points.len());
    let shown = if last < 7 {
        (0..=last).map(|place| (place, slot(place).middle(), "middle")).collect()
    } else {
        let middle = last / 2;
        vec![(0, 0, "start"), (middle, slot(middle).middle(), "middle"), (last, ACROSS, "end")]
    };
    html! {
        @for (place, x, anchor) in shown {
            text.when x=(percent(x)) y=(ALL - 6) text-anchor=(anchor) {
                (span.name(points[place].0))
            }
        }
    }
}

/// A bundle on an eSIM.
#[derive(Debug, Clone, Copy)]
pub struct Bundle<'a> {
    pub name: &'a str,
    pub used: i64,
    /// Nothing where data is unlimited.
    pub total: Option<i64>,
    /// From when to when it is valid; nothing before its first use.
    pub valid: Option<(Timestamp, Timestamp)>,
    pub now: Timestamp,
}

impl Bundle<'_> {
    fn data(&self) -> (Markup, i64) {
        let Some(total) = self.total else {
            return (html! { (figures::bytes(self.used)) " used, unlimited" }, 0);
        };
        let left = total.saturating_sub(self.used).max(0);
        let says = html! {
            strong { (figures::bytes(left)) } " left of " (figures::bytes(total))
        };
        (says, part(self.used, total, ACROSS))
    }

    fn says(&self, used: i64, over: Option<i64>) -> String {
        let percent = |part: i64| format!("{}\u{a0}%", figures::percent_text(part, ACROSS));
        let data = match self.total {
            Some(_) => format!("{} of data used", percent(used)),
            None => "unlimited data".to_owned(),
        };
        let time = over.map(|over| format!(", {} of its time over", percent(over)));
        format!("{}: {data}{}", self.name, time.unwrap_or_default())
    }

    /// What is said of the time, and how much of it is over.
    fn time(&self) -> (Markup, Option<i64>) {
        let Some((from, to)) = self.valid else {
            return (html! { "starts with the first use" }, None);
        };
        let over = part(self.now.ms() - from.ms(), to.ms() - from.ms(), ACROSS);
        if self.now >= to {
            return (html! { "ended " (figures::time(to, self.now)) }, Some(ACROSS));
        }
        (html! { "ends " (figures::time(to, self.now)) }, Some(over))
    }
}

/// Used, left and the time left on one bar, which empties like a battery: where the mark stands
/// right of the colour's edge, data runs out before time does.
pub fn bundle(bundle: &Bundle) -> Markup {
    let ((data, used), (time, over)) = (bundle.data(), bundle.time());
    let left = ACROSS - used;
    // The mark goes when time is over: what is left then is of no use.
    let mark = over.map(|over| ACROSS - over).filter(|mark| *mark > 0);
    let class = match left {
        _ if over == Some(ACROSS) => "left over",
        1..=1_500 => "left warn",
        _ => "left",
    };
    let says = bundle.says(used, over);
    html! {
        div.bundle {
            p.name { (bundle.name) }
            svg width="100%" height="20" role="img" aria-label=(says) {
                title { (says) }
                rect.used x="0" y="5" width="100%" height="10" rx="2" {}
                rect class=(class) x="0" y="5" width=(percent(left)) height="10" rx="2" {}
                @if let Some(mark) = mark {
                    rect.now x=(percent(mark)) y="0" width="2" height="20" {}
                }
            }
            p.says {
                span { (data) }
                span {
                    @if mark.is_some() {
                        svg.key width="2" height="14" aria-hidden="true" {
                            rect width="2" height="14" {}
                        }
                    }
                    (time)
                }
            }
        }
    }
}

/// The same as small as a cell of a list: its name, a short bar, what is left.
pub fn small_bundle(bundle: &Bundle) -> Markup {
    let ((data, used), (_, over)) = (bundle.data(), bundle.time());
    let left = ACROSS - used;
    let class = match left {
        _ if over == Some(ACROSS) => "left over",
        1..=1_500 => "left warn",
        _ => "left",
    };
    let says = bundle.says(used, over);
    html! {
        div.bundle.small {
            span { (bundle.name) }
            svg width="100%" height="6" role="img" aria-label=(says) {
                title { (says) }
                rect.used x="0" y="0" width="100%" height="6" rx="2" {}
                rect class=(class) x="0" y="0" width=(percent(left)) height="6" rx="2" {}
            }
            small { (data) }
        }
    }
}

/// How many are in one state.
#[derive(Debug, Clone, Copy)]
pub struct Share<'a> {
    pub word: &'a str,
    pub mood: Mood,
    pub count: i64,
}

/// One bar divided between states, and what each part means.
pub fn states(name: &str, shares: &[Share]) -> Markup {
    let whole = shares.iter().map(|share| share.count.max(0)).fold(0, i64::saturating_add);
    let mut before = 0_i64;
    let parts: Vec<_> = shares
        .iter()
        .map(|share| {
            let from = part(before, whole, ACROSS);
            before = before.saturating_add(share.count.max(0));
            (share, from, part(before, whole, ACROSS) - from)
        })
        .collect();
    let said: Vec<_> =
        shares.iter().map(|one| format!("{} {}", Unit::Count.text(one.count), one.word)).collect();
    let says = format!("{name}: {}", said.join(", "));
    html! {
        figure.chart.states {
            figcaption { span { (name) } strong { (Unit::Count.text(whole)) } }
            svg width="100%" height="12" role="img" aria-label=(says) {
                title { (says) }
                rect.ground x="0" y="0" width="100%" height="12" rx="2" {}
                @for (share, from, width) in &parts {
                    @if *width > 0 {
                        rect.share.(share.mood.class()) x=(percent(*from)) width=(percent(*width))
                            y="0" height="12" { title { (share.word) } }
                    }
                }
            }
            ul.legend {
                @for share in shares {
                    li {
                        (figures::badge(share.mood, share.word))
                        " " (figures::count(share.count))
                        " " small { (figures::percent(share.count, whole)) }
                    }
                }
            }
        }
    }
}
