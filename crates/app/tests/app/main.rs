//! Money, commerce, the lives of eSIMs, usage and callbacks, as properties: random histories with
//! crashes, against small models.

mod commerce;
mod developers;
mod dice;
mod erasing;
mod far_side;
mod history;
mod leaves;
mod lives;
mod model;
mod paying;
mod people;
mod portal;
mod receiver;
mod tally;
mod tamper;
mod usage;
mod world;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use self::commerce::Commerce;
use self::history::History;
use self::lives::Lives;
use self::tally::Tally;
use self::usage::Usage;

/// How many of each kind; `TERN_TEST_HISTORIES=5` plays five times as many.
const HISTORIES: u64 = 400;
const USAGE_HISTORIES: u64 = 200;
/// One in so many histories is tampered with at its end.
const TAMPERED: u64 = 3;

#[test]
fn money_is_taken_once_and_credited_once_whatever_crashes() {
    let Some(tally) = all_histories(HISTORIES, |seed, tally| {
        let mut history = History::new(seed);
        history.play();
        history.settle_all();
        history.check_all();
        if seed.is_multiple_of(TAMPERED) && tamper::is_noticed(&history.world, &history.dice) {
            tally.count("tampered");
        }
    }) else {
        return;
    };
    tally.assert_each(HISTORIES / TAMPERED / 2, &["tampered"]);
}

#[test]
fn bundles_are_paid_once_and_held_once_whatever_crashes() {
    let Some(tally) = all_histories(HISTORIES, |seed, tally| {
        let mut commerce = Commerce::new(seed);
        commerce.play();
        commerce.settle_all();
        commerce.check_all();
        if seed.is_multiple_of(TAMPERED) {
            let done = tamper::lot_is_noticed(&commerce.world, &commerce.dice);
            tally.count(done.unwrap_or("no row to tamper with"));
        }
        tally.add(commerce.into_tally());
    }) else {
        return;
    };
    tally.assert_each(HISTORIES / 50, &commerce::HAPPENS);
}

#[test]
fn bundles_on_esims_live_as_the_contract_has_it_whatever_crashes() {
    let Some(tally) = all_histories(HISTORIES, |seed, tally| {
        let mut lives = Lives::new(seed);
        lives.play();
        lives.settle();
        tally.add(lives.into_tally());
    }) else {
        return;
    };
    tally.assert_each(HISTORIES / 100, &lives::HAPPENS);
}

#[test]
fn records_count_once_and_callbacks_arrive_in_order_whatever_crashes() {
    let Some(tally) = all_histories(USAGE_HISTORIES, |seed, tally| {
        let mut usage = Usage::new(seed);
        usage.play();
        usage.settle();
        tally.add(usage.into_tally());
    }) else {
        return;
    };
    tally.assert_each(USAGE_HISTORIES / 50, &usage::HAPPENS);
}

/// Plays every history on two threads, and counts; or, where a seed is given, that one alone.
fn all_histories(count: u64, play: fn(u64, &mut Tally)) -> Option<Tally> {
    let one = std::env::var("TERN_TEST_SEED").ok();
    if let Some(seed) = one.map(|text| text.parse().expect("TERN_TEST_SEED is a number")) {
        play(seed, &mut Tally::default());
        return None;
    }
    let times = std::env::var("TERN_TEST_HISTORIES").ok();
    let times = times.map_or(1, |text| text.parse().expect("TERN_TEST_HISTORIES is a number"));
    let count = count * times;
    let (mut tally, has_failed) = (Tally::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let halves = [0..count / 2, count / 2..count];
        let run = |seeds| scope.spawn(|| run(seeds, play, &has_failed));
        for run in halves.map(run) {
            tally.add(run.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
    Some(tally)
}

/// Plays one after the other until one has failed, here or elsewhere.
fn run(seeds: Range<u64>, play: fn(u64, &mut Tally), has_failed: &AtomicBool) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds.take_while(|_| !has_failed.load(Ordering::Relaxed)) {
        let played = catch_unwind(AssertUnwindSafe(|| play(seed, &mut tally)));
        if let Err(panic) = played {
            has_failed.store(true, Ordering::Relaxed);
            eprintln!("the history of seed {seed} failed; again with TERN_TEST_SEED={seed}");
            resume_unwind(panic);
        }
    }
    tally
}
