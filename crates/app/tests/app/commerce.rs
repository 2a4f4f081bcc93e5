//! A random history of a few organisations that buy from one stock: what they, the operator, the
//! clock and crashes do, and what must then hold.

mod books;
mod compare;
mod model;
mod operator;
mod shop;
mod wish;
mod wishes;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Range;
use std::time::Duration;

use app::organisations::Change;
use app::{Answer, idempotency};
use domain::Timestamp;
use domain::order::Target;
use store::sql::Crash;

pub(crate) use self::books::has_fallen;
use self::books::{Books, Key, Order, Terms};
use self::compare::{Look, Work};
use self::model::Model;
use self::wish::{Unsaid, Wish};
use crate::dice::Dice;
use crate::far_side::Death;
use crate::tally::Tally;
use crate::world::{ALL, World};

/// What must have happened again and again in all histories together.
pub(crate) const HAPPENS: [&str; 38] = [
    "BeforeCommit",
    "AfterCommit",
    "esim back in stock",
    "esim kept for another order",
    "esim left",
    "large order completed",
    "large order failed",
    "lot expired",
    "low balance",
    "order: BalanceTooLow",
    "order: IccidsMismatch",
    "order: IccidsWithoutAssign",
    "order: NotCompatible",
    "order: NotYourEsim",
    "order: OutOfStock",
    "order: Quantity",
    "order: TooLarge",
    "order: UnknownBundle",
    "order: completed",
    "order: covered",
    "order: processing",
    "order: uncovered",
    "refund: Done",
    "refund: ExceedsRemaining",
    "refund: NotRefundable",
    "refund: Quantity",
    "refund: UnknownUsage",
    "repeat of what is kept",
    "repeat of what is open",
    "test credit back",
    "test credit back too late",
    "top-up: Undecided",
    "top-up: below-minimum",
    "a lot gave one back",
    "a lot holds one more",
    "a move is gone",
    "a move is there twice",
    "an assignment is gone",
];

const DAY: i64 = 24 * 3_600;

pub(crate) struct Commerce {
    pub(crate) world: World,
    pub(crate) dice: Dice,
    model: Model,
    tally: Tally,
    steps: Steps,
    /// Profiles that were brought so far.
    brought: usize,
    clocks: Vec<Timestamp>,
}

/// What was done, told if it ends badly.
#[derive(Default)]
struct Steps(Vec<String>);

impl Drop for Steps {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.0.join("\n"));
        }
    }
}

impl Commerce {
    pub(crate) fn new(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let (mut changes, mut orgs) = (Vec::new(), Vec::new());
        for n in 0..2 + dice.below(2) {
            let (change, books) = organisation(&dice, n == 0);
            changes.push(change);
            orgs.push(books);
        }
        let world = World::new(seed, shop::opened(), &changes);
        let clocks = (0..orgs.len()).map(|n| world.clock_of(n)).collect();
        let model = Model { goods: shop::goods(), stock: BTreeMap::new(), orgs };
        let (tally, steps) = (Tally::default(), Steps::default());
        let mut commerce = Self { world, dice, model, tally, steps, brought: 0, clocks };
        commerce.bring_live_stock();
        commerce.bring_stock(12, None);
        for n in 0..commerce.model.orgs.len() {
            commerce.credit(n, 2_000 + commerce.dice.below(4_000), None);
            commerce.check(n, Work::MayWait);
        }
        commerce
    }

    pub(crate) fn into_tally(self) -> Tally {
        self.tally
    }

    fn orgs(&self) -> Range<usize> {
        0..self.model.orgs.len()
    }

    pub(crate) fn play(&mut self) {
        for step in 0..30 + self.dice.below(20) {
            let all: Vec<_> = self.orgs().collect();
            let n = *self.dice.pick(&all);
            let crash = self.some_crash();
            let work = self.step(n, crash);
            self.check(n, work);
            if step % 10 == 9 {
                for n in all {
                    self.check_closely(n, Work::MayWait);
                }
            }
        }
    }

    fn step(&mut self, n: usize, crash: Option<Crash>) -> Work {
        match self.dice.below(40) {
            0..=12 => self.wish_for(n, wishes::purchase(&self.dice, &self.model, n), crash),
            13 | 14 => self.wish_for(n, wishes::odd_purchase(&self.dice, &self.model, n), crash),
            15..=19 => self.wish_for(n, wishes::refund(&self.dice, &self.model, n), crash),
            20 => self.wish_for(n, Wish::Topup(100 + self.dice.below(1_500)), crash),
            21..=23 => self.same_key(n, crash),
            24 => self.same_key_with_another_request(n, crash),
            25 => self.grant(n, crash),
            26 | 27 => self.credit(n, self.dice.below(8_000) - 1_500, crash),
            28 | 29 => self.test_credit(n, crash),
            30 => self.bring_stock(1 + self.dice.below(9), crash),
            31 => self.reprice(crash),
            32 | 33 => self.hold(n, crash),
            34 => self.let_time_pass(),
            35 | 36 => return self.stall(n, crash),
            _ => return self.work(n, crash),
        }
        Work::MayWait
    }

    fn some_crash(&self) -> Option<Crash> {
        self.dice.one_in(4).then(|| self.dice.crash())
    }

    fn note(&mut self, what: String) {
        self.steps.0.push(what);
    }

    /// Does something that a crash may undo, or hide: then nothing is heard of it.
    fn once<T: Debug, E: Debug>(
        &mut self,
        crash: Option<Crash>,
        is_store_error: fn(&E) -> bool,
        act: impl Fn(&World) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        if let Some(crash) = crash {
            self.crash(crash, is_store_error, &act);
            if crash == Crash::AfterCommit {
                return None;
            }
        }
        Some(act(&self.world))
    }

    /// Does something that can be done again whatever became of it.
    fn until_heard<T: Debug, E: Debug>(
        &mut self,
        crash: Option<Crash>,
        is_store_error: fn(&E) -> bool,
        act: impl Fn(&World) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(crash) = crash {
            self.crash(crash, is_store_error, &act);
        }
        act(&self.world)
    }

    fn crash<T: Debug, E: Debug>(
        &mut self,
        crash: Crash,
        is_store_error: fn(&E) -> bool,
        act: &impl Fn(&World) -> Result<T, E>,
    ) {
        self.world.crash_at_next_commit(crash);
        let unheard = act(&self.world);
        let is_unheard = unheard.as_ref().is_err_and(is_store_error);
        assert!(is_unheard, "a crash is heard as an error of the store: {unheard:?}");
        self.world.restart();
        self.tally.count(format!("{crash:?}"));
    }

    /// Asks for something new, with or without a key.
    fn wish_for(&mut self, n: usize, wish: Wish, crash: Option<Crash>) {
        let number = self.model.orgs[n].keys.len();
        let key = self.dice.one_in(2).then(|| format!("key {number}"));
        self.note(format!("{n} asks with {key:?}, {crash:?}: {wish:?}"));
        let now = self.world.clock_of(n);
        let charges = self.model.orgs[n].charges.len();
        let expected = self.model.act(n, &wish, key.is_some(), now);
        self.tally.count(heard(&wish, &expected));
        let died = |unsaid: &Unsaid| *unsaid == Unsaid::Died;
        let Some(text) = key else {
            let said = self.once(crash, died, |world| world.ask(n, None, &wish));
            if let Some(said) = said {
                assert_fits(said.as_ref(), &expected);
                self.hear(n, said.as_ref());
            }
            return;
        };
        let said = self.until_heard(crash, died, |world| world.ask(n, Some(&text), &wish));
        assert_fits(said.as_ref(), &expected);
        self.hear(n, said.as_ref());
        let is_begun = self.model.orgs[n].charges.len() > charges;
        let charge = (is_begun && matches!(wish, Wish::Topup(_))).then_some(charges);
        let answer = said.ok();
        self.model.orgs[n].keys.push(Key { text, wish, answer, charge });
    }

    fn same_key(&mut self, n: usize, crash: Option<Crash>) {
        if self.model.orgs[n].keys.is_empty() {
            return;
        }
        let places: Vec<usize> = (0..self.model.orgs[n].keys.len()).collect();
        let place = *self.dice.pick(&places);
        self.repeat(n, place, crash);
    }

    /// Repeats a request. What was answered once is answered again, and does nothing more.
    fn repeat(&mut self, n: usize, place: usize, crash: Option<Crash>) {
        let Key { text, wish, answer, charge } = self.model.orgs[n].keys[place].clone();
        self.note(format!("{n} repeats {text}, {crash:?}"));
        let now = self.world.clock_of(n);
        let expected = match (&answer, charge) {
            (Some(answer), _) => Ok(vec![answer.code.clone()]),
            (None, Some(charge)) => match self.model.orgs[n].charges[charge].is_paid {
                Some(true) => Ok(vec![String::new()]),
                Some(false) => Ok(vec!["declined".to_owned()]),
                None => Err(Unsaid::Undecided),
            },
            (None, None) => self.model.act(n, &wish, true, now),
        };
        let is_kept = if answer.is_some() { "kept" } else { "open" };
        self.tally.count(format!("repeat of what is {is_kept}"));
        let died = |unsaid: &Unsaid| *unsaid == Unsaid::Died;
        let said = self.until_heard(crash, died, |world| world.ask(n, Some(&text), &wish));
        assert_fits(said.as_ref(), &expected);
        if let Some(answer) = answer {
            assert_eq!(said, Ok(answer), "{text} says one thing");
            return;
        }
        self.hear(n, said.as_ref());
        self.model.orgs[n].keys[place].answer = said.ok();
    }

    /// The answer to an order that was just placed will have to name it.
    fn hear(&mut self, n: usize, said: Result<&Answer, &Unsaid>) {
        let is_new =
            |order: &&mut Order| order.reference.is_none() && order.target != Target::Nowhere;
        let order = self.model.orgs[n].orders.last_mut().filter(is_new);
        if let (Some(order), Ok(answer)) = (order, said) {
            order.answer = Some(answer.clone());
        }
    }

    /// What was said is what is kept.
    fn check_keys(&self, n: usize) {
        for Key { text, answer, charge, .. } in &self.model.orgs[n].keys {
            let app = self.world.app();
            let state = self.world.wait(app.idempotency(self.world.caller_of(n), text));
            match (answer, state.expect("the database answers")) {
                (Some(said), idempotency::State::Done(kept)) => assert_eq!(*said, kept),
                (None, idempotency::State::Done(_)) => assert!(charge.is_some(), "{text}"),
                (None, idempotency::State::Unknown) => assert!(charge.is_none(), "{text}"),
                odd => panic!("{text}: {odd:?}"),
            }
        }
    }

    fn same_key_with_another_request(&mut self, n: usize, crash: Option<Crash>) {
        let is_known = |key: &&Key| key.answer.is_some() || key.charge.is_some();
        let known: Vec<_> = self.model.orgs[n].keys.iter().filter(is_known).cloned().collect();
        if known.is_empty() {
            return;
        }
        let Key { text, mut wish, .. } = self.dice.pick(&known).clone();
        match &mut wish {
            Wish::Buy(command) => command.lines[0].quantity += 1,
            Wish::Refund(_, units) => *units += 1,
            Wish::Topup(amount) => *amount += 1,
        }
        self.note(format!("{n} asks with the used {text}, {crash:?}: {wish:?}"));
        let died = |unsaid: &Unsaid| *unsaid == Unsaid::Died;
        let said = self.until_heard(crash, died, |world| world.ask(n, Some(&text), &wish));
        assert_eq!(said, Err(Unsaid::OtherRequest));
    }

    /// Time passes for everybody, and nobody works.
    fn let_time_pass(&mut self) {
        let seconds = *self.dice.pick(&[1, 60, 700, 90_000]);
        self.note(format!("{seconds} seconds pass"));
        self.world.rt.advance(Duration::from_secs(seconds));
    }

    /// Does due work; a crash may come at its first commit, or around a question to the far side.
    fn work(&mut self, n: usize, crash: Option<Crash>) -> Work {
        const HOURS: [i64; 10] = [0, 0, 0, 1, 25, 7 * 24, 20 * 24, 61 * 24, 200 * 24, 366 * 24];
        let seconds = *self.dice.pick(&HOURS) * 3_600;
        self.work_ahead(n, seconds, crash)
    }

    /// Large orders pile up while work waits, until it goes on: in time, or too late.
    fn stall(&mut self, n: usize, crash: Option<Crash>) -> Work {
        self.set_hold(n, true, crash);
        for _ in 0..=self.dice.below(3) {
            let wish = wishes::large_purchase(&self.dice, &self.model, n);
            self.wish_for(n, wish, self.some_crash());
            self.check(n, Work::MayWait);
        }
        if self.dice.one_in(4) {
            self.test_credit(n, None);
        }
        let seconds = *self.dice.pick(&[60, 600, 601, 4_000, 2 * DAY]);
        self.work_ahead(n, seconds, None);
        self.check(n, Work::MayWait);
        self.set_hold(n, false, None);
        self.work_ahead(n, 0, crash)
    }

    fn work_ahead(&mut self, n: usize, seconds: i64, crash: Option<Crash>) -> Work {
        self.note(format!("{n} works, {seconds} seconds ahead, {crash:?}"));
        if let Some(crash) = crash {
            let store = self.world.store().clone();
            match self.dice.below(4) {
                0 => self.world.far_side.die_when_asked(Some((Death::At(crash), store))),
                1 => self.world.far_side.die_when_asked(Some((Death::Unheard, store))),
                _ => store.crash_at_next_commit(crash),
            }
            let _unheard = self.world.outlive(self.world.do_work(n, seconds));
            self.world.restart();
        }
        let before = self.world.clock_of(n);
        let after = self.world.wait(self.world.do_work(n, seconds)).expect("work can be done");
        assert!(after >= before.plus_ms(seconds * 1_000), "{before} and {seconds} s: {after}");
        if self.model.orgs[n].is_held { Work::MayWait } else { Work::Done }
    }

    /// What holds after every step.
    fn check(&mut self, n: usize, work: Work) {
        self.look(n, (work, Look::Brief));
    }

    /// What holds then too, but takes longer to find out.
    fn check_closely(&mut self, n: usize, work: Work) {
        self.look(n, (work, Look::Full));
        self.model.check_inventory(&self.world, n);
        self.model.check_assignments(&self.world, n, work);
    }

    fn look(&mut self, n: usize, look: (Work, Look)) {
        let clock = self.model.check(&self.world, n, look);
        assert!(clock >= self.clocks[n], "the clock went back from {} to {clock}", self.clocks[n]);
        self.clocks[n] = clock;
        for what in self.model.orgs[n].happened.drain(..) {
            self.tally.count(what);
        }
    }

    /// Lets all work go on and does it; half of the time until everything has expired.
    pub(crate) fn settle_all(&mut self) {
        let is_long = self.dice.one_in(2);
        for n in self.orgs() {
            self.set_hold(n, false, None);
            for round in 0..100 {
                let work = self.world.do_work(n, if round == 0 { 0 } else { 40_000 });
                self.world.wait(work).expect("work can be done");
                self.check(n, Work::Done);
                if self.model.orgs[n].charges.iter().all(|charge| charge.is_paid.is_some()) {
                    break;
                }
                assert!(round < 99, "work never ends");
            }
            if is_long {
                self.note(format!("{n} waits for the end of everything"));
                self.world.wait(self.world.do_work(n, 800 * DAY)).expect("work can be done");
                self.check(n, Work::Done);
            }
        }
        let left = self.world.wait(self.world.app().jobs(false, None, ALL));
        let left = left.expect("the database answers");
        let is_of_later = |kind: &str| ["test-credit-expiry", "lot-expiry", "esim"].contains(&kind);
        assert!(left.iter().all(|job| !is_long && is_of_later(&job.kind)), "{left:?}");
    }

    /// What holds when everything is settled.
    pub(crate) fn check_all(&mut self) {
        for n in self.orgs() {
            // What the others did last may have taken time.
            self.world.wait(self.world.do_work(n, 0)).expect("work can be done");
            self.check_keys(n);
            self.check_closely(n, Work::Done);
            let books = &self.model.orgs[n];
            let events = self.world.wait(self.world.app().events(self.world.caller_of(n), 0, ALL));
            let events = events.expect("events");
            let numbers = events.iter().map(|event| event.seq).collect::<Vec<_>>();
            let farewells = events.iter().filter(|event| event.kind.starts_with("esim.")).count();
            let lacks = events.iter().filter(|event| event.kind == "InsufficientBalance").count();
            let last = i64::try_from(books.events + farewells + lacks).expect("a short history");
            assert_eq!(numbers, (1..=last).collect::<Vec<_>>(), "events have no gap");
            let told = events.iter().filter(|event| event.kind == "esim.deleted").count();
            assert_eq!(told, books.left.len(), "each that left is told of once");
        }
        let charges = self.model.orgs.iter().flat_map(|books| &books.charges);
        let paid = charges.clone().filter(|charge| charge.is_paid == Some(true));
        let paid = paid.map(|charge| charge.amount).sum::<i64>();
        let far_side = self.world.far_side.charges();
        let taken = far_side.values().map(|c| c.amount * i64::from(c.times_taken)).sum::<i64>();
        assert_eq!(taken, paid, "money taken is money credited");
        assert_eq!(far_side.len(), charges.count(), "nothing else was charged");
        let report = self.world.wait(app::verify::verify(self.world.store()));
        let report = report.expect("the database answers");
        assert_eq!(report.faults, Vec::<String>::new());
        let entries = self.model.orgs.iter().map(|books| books.entries).sum::<usize>();
        assert_eq!(usize::try_from(report.entries), Ok(entries));
    }
}

/// An organisation of a history, as it is made and as the model knows it.
fn organisation(dice: &Dice, is_partner: bool) -> (Change, Books) {
    let refund_days = *dice.pick(&[60, 60, 14, 365, 0]);
    let topup_minimum = if dice.one_in(3) { 300 } else { 0 };
    let auto = dice.one_in(3).then(|| (500, 1_000 + dice.below(20)));
    let price_list = if is_partner { shop::PARTNERS } else { "" };
    let change = Change {
        price_list: Some(price_list.to_owned()),
        refund_days: Some(refund_days),
        topup_minimum: Some(topup_minimum),
        auto_topup_threshold: Some(auto.map_or(0, |(threshold, _)| threshold)),
        auto_topup_amount: Some(auto.map_or(0, |(_, amount)| amount)),
        ..Change::default()
    };
    (change, Books::new(Terms { is_partner, refund_days, topup_minimum, auto }))
}

fn assert_fits(said: Result<&Answer, &Unsaid>, expected: &Result<Vec<String>, Unsaid>) {
    match (said, expected) {
        (Ok(said), Ok(codes)) => assert!(codes.contains(&said.code), "{codes:?}: {}", said.code),
        (Err(said), Err(expected)) => assert_eq!(said, expected),
        odd => panic!("{odd:?}"),
    }
}

/// What a request comes to, to be counted.
fn heard(wish: &Wish, expected: &Result<Vec<String>, Unsaid>) -> String {
    let asked = match wish {
        Wish::Buy(_) => "order",
        Wish::Refund(..) => "refund",
        Wish::Topup(_) => "top-up",
    };
    match expected {
        Ok(codes) => format!("{asked}: {}", codes[0].split(['(', ' ']).next().unwrap_or("")),
        Err(unsaid) => format!("{asked}: {unsaid:?}"),
    }
}
