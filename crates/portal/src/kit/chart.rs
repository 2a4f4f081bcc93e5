//! Pictures of figures, drawn here as SVG: no library, no script, colours from the style. Every one
//! carries its figures as a table behind a fold, for screen readers and for copying.
//!
//! Text is never inside what stretches, so it stays readable on a telephone.

mod axis;
mod bars;
mod plot;

use domain::{Currency, Money, Timestamp};
use maud::{Markup, html};

pub use bars::{Bundle, Share, bars, bundle, small_bundle, states};
pub use plot::{Latency, area, latency, sparkline};

use super::figures;
use crate::print;

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    Bytes,
    /// In the smallest unit of the currency.
    Money(Currency),
    Ms,
}

impl Unit {
    fn text(self, value: i64) -> String {
        let joined = |(number, unit): (String, &str)| format!("{number}\u{a0}{unit}");
        match self {
            Self::Count => print::count(value),
            Self::Bytes => joined(figures::bytes_in_words(value)),
            Self::Money(currency) => {
                joined((print::amount(Money::minor(value, currency)), currency.code()))
            }
            Self::Ms => joined(figures::duration_in_words(value)),
        }
    }

    /// The same beside an axis, where it must be short: `40 k`, and amounts without a currency.
    fn tick(self, value: i64) -> String {
        match self {
            Self::Count => figures::compact(value),
            Self::Money(currency) => {
                let whole = value / 10_i64.pow(currency.decimals());
                if whole >= 10 {
                    return figures::compact(whole);
                }
                print::amount(Money::minor(value, currency))
            }
            Self::Bytes | Self::Ms => self.text(value),
        }
    }
}

/// Figures over time, oldest first. Below zero counts as zero.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    pub name: &'a str,
    pub unit: Unit,
    pub points: &'a [(Timestamp, i64)],
}

impl Series<'_> {
    fn summary(&self) -> String {
        let highest = self.points.iter().map(|(_, value)| *value).max();
        let (Some((_, latest)), Some(highest)) = (self.points.last(), highest) else {
            return "No figures yet".to_owned();
        };
        format!("Latest {}, highest {}", self.unit.text(*latest), self.unit.text(highest))
    }

    fn whole(&self) -> i64 {
        self.points.iter().map(|(_, value)| *value).fold(0, i64::saturating_add)
    }
}

/// The picture under its name, with the figure that matters most at the right and the table below.
fn figure(name: &str, hero: &str, picture: &Markup, table: &Markup) -> Markup {
    html! {
        figure.chart {
            figcaption { span { (name) } @if !hero.is_empty() { strong { (hero) } } }
            (picture)
            details.data {
                summary { "Figures" }
                div.region role="region" aria-label={ "Figures of " (name) } tabindex="0" {
                    (table)
                }
            }
        }
    }
}

/// A picture that has nothing to show yet keeps its place.
fn nothing(name: &str) -> Markup {
    html! {
        figure.chart {
            figcaption { span { (name) } }
            p.nothing { "No figures yet" }
        }
    }
}

/// The table of a picture: the head of its columns, then a row for every moment or state.
fn table(heads: &[&str], rows: impl Iterator<Item = (String, Vec<String>)>) -> Markup {
    html! {
        table.data {
            thead { tr { @for head in heads { th scope="col" { (head) } } } }
            tbody {
                @for (label, values) in rows {
                    tr { th scope="row" { (label) } @for value in values { td { (value) } } }
                }
            }
        }
    }
}
