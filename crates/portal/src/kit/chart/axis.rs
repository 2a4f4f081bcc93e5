//! Where a figure lands in a picture. Whole numbers throughout: a coordinate is a hundredth of a
//! percent across and a tenth of a pixel down, which is finer than any screen.

use domain::Timestamp;
use maud::{Markup, html};

use super::Unit;
use crate::print;

/// The height of the plot and of all with the words under it, in pixels.
pub(super) const PLOT: i64 = 128;
pub(super) const TOP: i64 = 20;
pub(super) const ALL: i64 = TOP + PLOT + 24;

/// All the way across.
pub(super) const ACROSS: i64 = 10_000;

/// The upright axis: from zero to a round number that all figures fit under.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    unit: Unit,
    ceiling: i64,
}

impl Axis {
    pub(super) fn over(unit: Unit, values: impl Iterator<Item = i64>) -> Self {
        Self { unit, ceiling: ceiling(values.max().unwrap_or(0)) }
    }

    /// How far down from the top of the plot, in tenths of a pixel.
    pub(super) fn down(self, value: i64) -> i64 {
        PLOT * 10 - part(value, self.ceiling, PLOT * 10)
    }

    /// The same in pixels from the top of the picture.
    pub(super) fn y(self, value: i64) -> i64 {
        TOP + self.down(value) / 10
    }

    /// Three lines: zero, half, all. Only zero where all figures are zero.
    pub(super) fn lines(self) -> Markup {
        let values: &[i64] = &[0, self.ceiling / 2, self.ceiling];
        let shown = if self.ceiling == 0 { &values[..1] } else { values };
        html! {
            @for value in shown {
                line.tick.zero[*value == 0] x1="0" x2="100%" y1=(self.y(*value)) y2=(self.y(*value))
                    {}
            }
        }
    }

    /// The words beside the lines, from the top.
    pub(super) fn words(self) -> Markup {
        let values: &[i64] = &[self.ceiling, self.ceiling / 2, 0];
        let shown = if self.ceiling == 0 { &values[2..] } else { values };
        html! {
            div.ticks.lone[shown.len() == 1] aria-hidden="true" {
                @for value in shown { span { (self.unit.tick(*value)) } }
            }
        }
    }
}

/// `value` of `whole`, on a line of that length; never off the line.
pub(super) fn part(value: i64, whole: i64, length: i64) -> i64 {
    if whole <= 0 {
        return 0;
    }
    let part = i128::from(value.clamp(0, whole)) * i128::from(length) / i128::from(whole);
    i64::try_from(part).unwrap_or(length)
}

/// Hundredths of a percent as an attribute says them.
pub(super) fn percent(hundredths: i64) -> String {
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// The next number that halves well: 2, 4, 6, 8 or 10 times a power of ten.
fn ceiling(highest: i64) -> i64 {
    if highest <= 0 {
        return 0;
    }
    let mut power: i64 = 1;
    while highest / 10 >= power {
        power = power.saturating_mul(10);
    }
    let round = [2, 4, 6, 8, 10].map(|step| power.saturating_mul(step));
    round.into_iter().find(|step| *step >= highest).unwrap_or(i64::MAX)
}

/// Where moments stand across, and how they are called.
#[derive(Clone, Copy)]
pub(super) struct Span {
    first: i64,
    length: i64,
}

impl Span {
    pub(super) fn of(moments: impl Iterator<Item = Timestamp> + Clone) -> Self {
        let first = moments.clone().min().map_or(0, Timestamp::ms);
        let last = moments.max().map_or(0, Timestamp::ms);
        Self { first, length: last - first }
    }

    /// Hundredths of a percent from the left; a lone moment stands in the middle.
    pub(super) fn x(self, at: Timestamp) -> i64 {
        if self.length == 0 {
            return ACROSS / 2;
        }
        part(at.ms() - self.first, self.length, ACROSS)
    }

    /// The name of a moment: its day, or its time where all are close together.
    pub(super) fn name(self, at: Timestamp) -> String {
        if self.length == 0 || self.length >= 2 * 86_400_000 {
            return print::short_day(at);
        }
        at.to_string().get(11..16).unwrap_or_default().to_owned()
    }

    /// The words below: where it starts, its middle, where it ends.
    pub(super) fn words(self) -> Markup {
        let moment = |part: i64| Timestamp::from_ms(self.first + self.length / 2 * part);
        let ends = [(0, "start", "0"), (1, "middle", "50%"), (2, "end", "100%")];
        let shown = if self.length == 0 { &ends[1..2] } else { &ends[..] };
        html! {
            @for (part, anchor, x) in shown {
                text.when x=(x) y=(ALL - 6) text-anchor=(anchor) { (self.name(moment(*part))) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings_are_round_and_above_everything() {
        for (highest, round) in [
            (0, 0),
            (1, 2),
            (2, 2),
            (3, 4),
            (9, 10),
            (10, 20),
            (41, 60),
            (100, 200),
            (8_000_000_001, 10_000_000_000),
            (i64::MAX, i64::MAX),
        ] {
            assert_eq!(ceiling(highest), round, "{highest}");
        }
    }

    #[test]
    fn nothing_falls_off_the_picture() {
        assert_eq!(part(5, 0, 100), 0);
        assert_eq!(part(-5, 10, 100), 0);
        assert_eq!(part(50, 10, 100), 100);
        assert_eq!(part(i64::MAX, i64::MAX, ACROSS), ACROSS);
        assert_eq!(percent(1_205), "12.05%");
    }
}
