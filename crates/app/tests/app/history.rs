//! A random history: what clients, the operator, the clock and crashes do, and what must then hold.

use std::collections::BTreeSet;
use std::time::Duration;

use app::organisations::Change;
use app::topup::{self, Charge, State};
use app::{Actor, Answer, credit, idempotency};
use domain::Timestamp;
use domain::ledger::Account;
use store::sql::Crash;
use store::{StoreError, heads};

use crate::dice::Dice;
use crate::far_side::{Death, fate};
use crate::model::{Key, Model};
use crate::world::{ALL, World, bare};

pub(crate) struct History {
    pub(crate) world: World,
    pub(crate) dice: Dice,
    model: Model,
    clock: Timestamp,
}

impl History {
    pub(crate) fn new(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let minimum = if dice.one_in(3) { 300 } else { 0 };
        let auto = dice.one_in(3).then(|| (500, 1_000 + dice.below(20)));
        let change = Change {
            topup_minimum: Some(minimum),
            auto_topup_threshold: Some(auto.map_or(0, |(threshold, _)| threshold)),
            auto_topup_amount: Some(auto.map_or(0, |(_, amount)| amount)),
            ..Change::default()
        };
        let world = World::new(seed, bare(), &[change]);
        let clock = world.clock();
        Self { world, dice, model: Model { minimum, auto, ..Model::default() }, clock }
    }

    pub(crate) fn play(&mut self) {
        for _ in 0..10 + self.dice.below(16) {
            let crash = self.dice.one_in(4).then(|| self.dice.crash());
            match self.dice.below(13) {
                0..=2 => self.fresh_key(crash),
                3 | 4 => self.same_key(crash),
                5 => self.same_key_with_another_request(crash),
                6 => self.without_key(crash),
                7 | 8 => self.credit(crash),
                9 => self.test_credit(crash),
                10 => self.world.rt.advance(Duration::from_secs(*self.dice.pick(&[1, 60, 90_000]))),
                _ => self.work(crash),
            }
            self.check();
        }
    }

    fn amount(&self) -> i64 {
        100 + self.dice.below(1_000)
    }

    /// A client that is answered by a crash asks again.
    fn ask(
        &mut self,
        key: Option<&str>,
        amount: i64,
        crash: Option<Crash>,
    ) -> Result<Answer, topup::Error> {
        if let Some(crash) = crash {
            self.world.crash_at_next_commit(crash);
            let unheard = self.world.topup(key, amount);
            assert!(matches!(unheard, Err(topup::Error::Store(_))), "{unheard:?}");
            self.world.restart();
        }
        self.world.topup(key, amount)
    }

    fn fresh_key(&mut self, crash: Option<Crash>) {
        let text = format!("key {}", self.model.keys.len());
        let amount = self.amount();
        let said = self.ask(Some(&text), amount, crash);
        let answer = if self.model.is_refused(amount) {
            Some(said.expect("a refusal is an answer"))
        } else {
            assert!(matches!(said, Err(topup::Error::Undecided)), "no work was done: {said:?}");
            self.model.begun.push(amount);
            None
        };
        self.model.keys.push(Key { text, amount, answer });
    }

    fn same_key(&mut self, crash: Option<Crash>) {
        if self.model.keys.is_empty() {
            return;
        }
        let places: Vec<usize> = (0..self.model.keys.len()).collect();
        let place = *self.dice.pick(&places);
        self.repeat(place, crash);
    }

    /// Repeats a request; true if it is decided.
    fn repeat(&mut self, place: usize, crash: Option<Crash>) -> bool {
        let Key { text, amount, answer } = &self.model.keys[place];
        let (text, amount, known) = (text.clone(), *amount, answer.clone());
        let said = self.ask(Some(&text), amount, crash);
        let state = self.world.wait(self.world.app().idempotency(self.world.caller(), &text));
        let state = state.expect("the database answers");
        match (said, state, known) {
            (Ok(said), idempotency::State::Done(kept), known) => {
                assert_eq!(said, kept, "what is said is what was kept");
                assert_eq!(known.unwrap_or_else(|| said.clone()), said, "{text} says one thing");
                let status = match (self.model.is_refused(amount), fate(amount).is_paid) {
                    (true, _) => 400,
                    (false, true) => 200,
                    (false, false) => 402,
                };
                assert_eq!(said.status, status, "{text}, {amount}");
                self.model.keys[place].answer = Some(said);
                true
            }
            (Err(topup::Error::Undecided), idempotency::State::Running, None) => false,
            odd => panic!("{text}: {odd:?}"),
        }
    }

    fn same_key_with_another_request(&mut self, crash: Option<Crash>) {
        if self.model.keys.is_empty() {
            return;
        }
        let Key { text, amount, .. } = self.dice.pick(&self.model.keys);
        let (text, amount) = (text.clone(), amount + 1);
        let said = self.ask(Some(&text), amount, crash);
        let other = idempotency::Error::OtherRequest;
        assert!(matches!(&said, Err(topup::Error::Key(key)) if *key == other), "{text}: {said:?}");
    }

    fn without_key(&mut self, crash: Option<Crash>) {
        let is_open = |charge: &Charge| {
            charge.kind == topup::API
                && charge.state == State::Undecided
                && charge.key_digest.is_none()
        };
        let must_wait = self.world.charges().iter().any(is_open);
        let amount = self.amount();
        let said = self.ask(None, amount, crash);
        if self.model.is_refused(amount) {
            assert_eq!(said.expect("a refusal is an answer").status, 400);
            return;
        }
        // Also after a crash: the repeat finds what the first try has begun.
        assert!(matches!(said, Err(topup::Error::Undecided)), "no work was done: {said:?}");
        if !must_wait {
            self.model.begun.push(amount);
        }
    }

    /// A crash says nothing; true if the act has to be done again.
    fn is_lost(&mut self, crash: Crash, is_store_error: bool) -> bool {
        assert!(is_store_error, "a crash is heard as an error of the store");
        self.world.restart();
        crash == Crash::BeforeCommit
    }

    fn credit(&mut self, crash: Option<Crash>) {
        let amount = self.amount() * if self.dice.one_in(2) { 1 } else { -1 };
        let balance = self.world.balances().balance.in_minor() + amount;
        let is_auto =
            |charge: &Charge| charge.kind == topup::AUTO && charge.state == State::Undecided;
        let has_auto_charge = self.world.charges().iter().any(is_auto);
        let give = |world: &World| {
            world.wait(world.app().credit(Actor::Service, world.org(), amount, "a present"))
        };
        let mut is_to_do = true;
        if let Some(crash) = crash {
            self.world.crash_at_next_commit(crash);
            let unheard = give(&self.world);
            is_to_do = self.is_lost(crash, matches!(unheard, Err(credit::Error::Store(_))));
        }
        if is_to_do {
            match give(&self.world) {
                Ok(after) => assert_eq!(after.balance.in_minor(), balance),
                Err(credit::Error::Overdrawn) => assert!(balance < 0, "there is enough"),
                Err(error) => panic!("{error}"),
            }
        }
        if balance >= 0 {
            self.model.credit(amount, balance, has_auto_charge);
        }
    }

    fn test_credit(&mut self, crash: Option<Crash>) {
        let amount = self.amount();
        let seconds = *self.dice.pick(&[-5, 0, 1, 30, 3_600, 100_000, 2_000_000]);
        let clock = self.world.clock();
        self.model.pass(clock);
        let until = clock.plus_ms(seconds * 1_000);
        let give = |world: &World| {
            let why = ("try it", until);
            world.wait(world.app().test_credit(Actor::Service, world.org(), amount, why))
        };
        let mut is_to_do = true;
        if let Some(crash) = crash {
            self.world.crash_at_next_commit(crash);
            let unheard = give(&self.world);
            is_to_do = self.is_lost(crash, matches!(unheard, Err(credit::Error::Store(_))));
        }
        if seconds > 0 {
            self.model.give(amount, until);
        }
        if is_to_do {
            match give(&self.world) {
                Ok(after) => {
                    assert_eq!(after.test_credit.in_minor(), self.model.pot.0);
                    assert_eq!(after.test_credit_expires_at, self.model.pot.1);
                }
                Err(credit::Error::Expiry) => assert!(seconds <= 0, "it is in the future"),
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Does due work; a crash may come at any of its commits, or between asking and hearing.
    fn work(&mut self, crash: Option<Crash>) {
        let seconds = *self.dice.pick(&[0, 0, 1, 7, 60, 3_600, 250_000]);
        if let Some(crash) = crash {
            let store = self.world.store().clone();
            match self.dice.below(3) {
                0 => store.crash_at_next_commit(crash),
                1 => self.world.far_side.die_when_asked(Some((Death::At(crash), store))),
                _ => self.world.far_side.die_when_asked(Some((Death::Unheard, store))),
            }
            let _unheard = self.world.outlive(self.world.do_work(0, seconds));
            self.world.restart();
        }
        self.world.wait(self.world.do_work(0, seconds)).expect("work can be done");
    }

    /// What holds after every step.
    fn check(&mut self) {
        let clock = self.world.clock();
        assert!(clock >= self.clock, "the clock went back from {} to {clock}", self.clock);
        self.clock = clock;
        self.model.pass(clock);
        let charges = self.world.charges();
        let amounts: Vec<_> = charges.iter().map(|charge| charge.amount).collect();
        assert_eq!(amounts, self.model.begun, "every request has one charge");
        let far_side = self.world.far_side.charges();
        let mut balance = self.model.credit.0;
        for charge in charges.iter().filter(|charge| charge.state != State::Undecided) {
            let is_paid = charge.state == State::Paid;
            assert_eq!(is_paid, fate(charge.amount).is_paid, "{charge:?}");
            let known = &far_side[&charge.reference];
            assert_eq!((known.amount, known.times_taken), (charge.amount, u32::from(is_paid)));
            balance += if is_paid { charge.amount } else { 0 };
        }
        let balances = self.world.balances();
        assert_eq!(balances.balance.in_minor(), balance);
        assert_eq!(balances.test_credit.in_minor(), self.model.pot.0);
    }

    /// Does all work, until no charge is undecided; half of the time until all credit has expired.
    pub(crate) fn settle_all(&mut self) {
        let is_long = self.dice.one_in(2);
        let seconds = if is_long { 2_100_000 } else { 40_000 };
        for round in 0..100 {
            let left = self.world.wait(self.world.app().jobs(false, None, ALL));
            let left = left.expect("the database answers");
            assert!(left.iter().all(|job| job.failed_at.is_none()), "given up: {left:?}");
            if round > 0 && left.iter().all(|job| job.kind == "test-credit-expiry" && !is_long) {
                break;
            }
            assert!(round < 99, "work never ends: {left:?}");
            self.world.wait(self.world.do_work(0, seconds)).expect("work can be done");
        }
        self.world.wait(self.world.do_work(0, 0)).expect("work can be done");
        self.check();
    }

    /// What holds when everything is settled: the model alone says all numbers.
    pub(crate) fn check_all(&mut self) {
        let charges = self.world.charges();
        assert!(charges.iter().all(|charge| charge.state != State::Undecided), "{charges:?}");
        let far_side = self.world.far_side.charges();
        let (paid, times_paid) = self.model.paid();
        let taken: i64 = far_side.values().map(|c| c.amount * i64::from(c.times_taken)).sum();
        assert_eq!(taken, paid, "money taken is money credited");
        assert_eq!(far_side.len(), charges.len(), "nothing else was charged");
        let keyed: Vec<_> = charges.iter().filter_map(|c| c.key_digest.as_ref()).collect();
        let keys = self.model.keys.iter().filter(|key| !self.model.is_refused(key.amount));
        assert_eq!(keyed.len(), keys.count(), "a key has one charge");
        assert_eq!(keyed.iter().collect::<BTreeSet<_>>().len(), keyed.len());
        for place in 0..self.model.keys.len() {
            assert!(self.repeat(place, None), "everything is decided");
        }
        let Model { credit, given, expired, pot, .. } = &self.model;
        let expected = [
            (Account::Available, credit.0 + paid),
            (Account::Held, 0),
            (Account::TestCredit, pot.0),
            (Account::Card, -paid),
            (Account::Sales, 0),
            (Account::Refunds, 0),
            (Account::Breakage, expired.0),
            (Account::OperatorCredit, -credit.0 - given.0),
        ];
        let org = self.world.org();
        let head = self.world.wait(self.world.store().read(move |tx| heads::find(tx, org)));
        let head = head.expect("the database answers").expect("a head");
        let balances = Account::ALL.map(|account| (account, head.on(account)));
        assert_eq!(balances, expected);
        assert_eq!(balances.iter().map(|(_, balance)| balance).sum::<i64>(), 0);
        let events = self.world.wait(self.world.app().events(self.world.caller(), 0, ALL));
        let numbers: Vec<_> = events.expect("events").iter().map(|event| event.seq).collect();
        let last = i64::try_from(credit.1 + self.model.lows + times_paid).expect("a short history");
        assert_eq!(numbers, (1..=last).collect::<Vec<_>>(), "events have no gap");
        let entries = credit.1 + given.1 + expired.1 + times_paid;
        let report = self.verify().expect("the database answers");
        assert_eq!(report.faults, Vec::<String>::new());
        assert_eq!(usize::try_from(report.entries), Ok(entries));
    }

    fn verify(&self) -> Result<app::verify::Report, StoreError> {
        self.world.wait(app::verify::verify(self.world.store()))
    }
}
