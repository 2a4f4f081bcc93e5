//! Data it used: over time, and where.

use std::collections::BTreeMap;

use domain::Timestamp;
use maud::{Markup, html};

use super::one::About;
use crate::kit::chart::{self, Series, Unit};
use crate::kit::form::{self, Kind};
use crate::kit::table::{Head, Row, Table};
use crate::kit::{self, figures};
use crate::reseller::Visit;
use crate::words::esims as words;

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

pub(super) fn section(visit: &Visit, about: &About) -> Markup {
    let by_hour = visit.query.text("step") == "hour";
    let home = super::home(&about.esim().iccid);
    let other = if by_hour {
        form::link_button(Kind::Plain, words::BY_DAY, &home)
    } else {
        form::link_button(Kind::Plain, words::BY_HOUR, &format!("{home}?step=hour"))
    };
    let (name, step, steps) = if by_hour {
        (words::USAGE_NAME[1], HOUR_MS, 48)
    } else {
        (words::USAGE_NAME[0], DAY_MS, 30)
    };
    let points = points(about, step, steps);
    let chart = Series { name, unit: Unit::Bytes, points: &points };
    let body = html! {
        @if about.series.steps.is_empty() {
            p.quiet { (words::NOT_USED) }
        } @else {
            (chart::bars(&chart))
            (countries(about))
        }
    };
    kit::section(words::USAGE, Some(other), body)
}

/// A figure for every step, also for those in which nothing was used.
fn points(about: &About, step: i64, steps: i64) -> Vec<(Timestamp, i64)> {
    let place = |at: Timestamp| at.ms().div_euclid(step);
    let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
    for (at, bytes) in &about.series.steps {
        *sums.entry(place(*at)).or_default() += bytes;
    }
    let last = place(about.clock());
    let each = (last - steps + 1)..=last;
    each.map(|n| (Timestamp::from_ms(n * step), sums.get(&n).copied().unwrap_or(0))).collect()
}

fn countries(about: &About) -> Markup {
    let countries = &about.series.countries;
    if countries.is_empty() {
        return html! {};
    }
    let whole = countries.iter().map(|(_, bytes)| *bytes).fold(0, i64::saturating_add);
    let row = |(iso, bytes): &(String, i64)| {
        Row::plain([
            html! { (about.country(iso)) },
            figures::bytes(*bytes),
            figures::percent(*bytes, whole),
        ])
    };
    let rows: Vec<Row> = countries.iter().map(row).collect();
    let [country, data, part] = words::COUNTRY_HEADS;
    let heads = [Head::text(country), Head::number(data), Head::number(part)];
    html! { (Table::new(words::COUNTRIES, &heads, &rows)) }
}
