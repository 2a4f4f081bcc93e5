//! Random requests: mostly ones that make sense, some that break one rule.

use app::orders::{Command, Intent, Line, Processing};
use domain::Iccid;
use domain::order::Target;

use super::model::Model;
use super::shop::FOREIGN;
use super::wish::Wish;
use crate::dice::Dice;

/// One to three items, now and then a large order, into the inventory or onto eSIMs.
pub(crate) fn purchase(dice: &Dice, model: &Model, n: usize) -> Wish {
    let target = if dice.one_in(2) { Target::Inventory } else { Target::Esims };
    let is_large = dice.one_in(3);
    let count = 1 + dice.below(3);
    let mut lines: Vec<_> = (0..count).map(|_| line(dice, model, target, n)).collect();
    if is_large {
        lines[0] = Line { quantity: 5 + dice.below(4), ..lines[0].clone() };
        lines[0].iccids.clear();
    }
    Wish::Buy(Command { lines, ..command(dice, target) })
}

/// One that is processed later, most of the time onto eSIMs.
pub(crate) fn large_purchase(dice: &Dice, model: &Model, n: usize) -> Wish {
    let target = if dice.one_in(3) { Target::Inventory } else { Target::Esims };
    let mut lines: Vec<_> = (0..3).map(|_| line(dice, model, target, n)).collect();
    for line in &mut lines {
        // The same eSIM may be named for any number of bundles.
        let more = line.iccids.first().cloned().filter(|_| line.iccids.len() == 1);
        line.iccids.extend(more);
        line.quantity = 2;
    }
    let (intent, processing) = (Intent::Transaction, Processing::Later);
    Wish::Buy(Command { lines, intent, processing, ..command(dice, target) })
}

fn command(dice: &Dice, target: Target) -> Command {
    Command {
        intent: if dice.one_in(8) { Intent::Validate } else { Intent::Transaction },
        target,
        lines: Vec::new(),
        processing: if dice.one_in(4) { Processing::Now } else { Processing::Later },
        source_ip: "192.0.2.17".to_owned(),
    }
}

fn line(dice: &Dice, model: &Model, target: Target, n: usize) -> Line {
    let own: Vec<_> = model.orgs[n].esims.keys().cloned().collect();
    let quantity = 1 + dice.below(2);
    let iccids = if target == Target::Esims && !own.is_empty() && dice.one_in(3) {
        (0..quantity).map(|_| dice.pick(&own).clone()).collect()
    } else {
        Vec::new()
    };
    let bundle = dice.pick(&model.goods).name.to_owned();
    Line { bundle, quantity, iccids, allow_reassign: dice.one_in(2) }
}

/// An order that breaks one rule.
pub(crate) fn odd_purchase(dice: &Dice, model: &Model, n: usize) -> Wish {
    let bundle = dice.pick(&model.goods).name.to_owned();
    let good = Line { bundle, quantity: 1, iccids: Vec::new(), allow_reassign: false };
    let own = model.orgs[n].esims.keys().next().cloned();
    let iccids: Vec<_> = own.into_iter().collect();
    let mut target = Target::Esims;
    let lines = match dice.below(8) {
        0 => vec![Line { quantity: 0, ..good }],
        1 => vec![Line { quantity: 1_001, ..good }],
        2 => vec![Line { quantity: 1_000, ..good }; 11],
        3 => vec![Line { bundle: "nothing".to_owned(), ..good }],
        4 => vec![Line { bundle: FOREIGN.to_owned(), ..good }],
        5 => vec![Line { iccids, quantity: 2, ..good }],
        6 => {
            target = Target::Inventory;
            vec![Line { iccids, ..good }]
        }
        _ => vec![Line { iccids: vec![strange_iccid(dice, model, n)], ..good }],
    };
    Wish::Buy(Command { lines, ..command(dice, target) })
}

/// Somebody else's, nobody's, or none at all.
fn strange_iccid(dice: &Dice, model: &Model, n: usize) -> Iccid {
    let others = model.orgs.iter().enumerate().filter(|(place, _)| *place != n);
    let mut all: Vec<_> = others.flat_map(|(_, books)| books.esims.keys().cloned()).collect();
    all.extend(model.stock.keys().next().cloned());
    all.push(Iccid::parse("8943000000000000018").expect("an ICCID"));
    dice.pick(&all).clone()
}

/// Of an own lot, most of the time: used up, expired and too late ones among them.
pub(crate) fn refund(dice: &Dice, model: &Model, n: usize) -> Wish {
    let whose = if dice.one_in(8) { (n + 1) % model.orgs.len() } else { n };
    // Whether what was bought for nothing can be given back for nothing is not asked.
    let lots = model.orgs[whose].lots.iter().filter(|lot| lot.price > 0 || lot.is_granted);
    let held: Vec<_> = lots.clone().filter(|lot| lot.held > 0).collect();
    let any: Vec<_> = lots.collect();
    let some = if held.is_empty() || dice.one_in(4) { any } else { held };
    if some.is_empty() {
        return if dice.one_in(9) { Wish::Refund(0, 1) } else { purchase(dice, model, n) };
    }
    let lot = *dice.pick(&some);
    let units = match dice.below(8) {
        0 => dice.below(2) - 1,
        1 => lot.held + 1,
        2 => lot.held.max(1),
        _ => 1 + dice.below(lot.held.max(1)),
    };
    Wish::Refund(lot.id.expect("every lot was seen"), units)
}
