//! What the operator does in a history, and the hold of a sandbox.

use app::stock::Verdict;
use app::{Actor, catalogue, credit, inventory, sandbox, stock};
use domain::stock::Line;
use domain::{Iccid, Mode};
use store::sql::Crash;

use super::compare::LIVE_STOCK;
use super::shop::{self, PROFILES};
use super::{Commerce, DAY};
use crate::world::World;

impl Commerce {
    pub(super) fn credit(&mut self, n: usize, amount: i64, crash: Option<Crash>) {
        if amount == 0 {
            return;
        }
        self.note(format!("{n} is credited {amount}, {crash:?}"));
        let balance = self.model.orgs[n].on(domain::ledger::Account::Available) + amount;
        let is_store_error = |error: &credit::Error| matches!(error, credit::Error::Store(_));
        let given = self.once(crash, is_store_error, |world| {
            let org = world.orgs[n];
            world.wait(world.app().credit(Actor::Service, org, amount, "a present"))
        });
        match given {
            None => {}
            Some(Ok(after)) => assert_eq!(after.balance.in_minor(), balance),
            Some(Err(credit::Error::Overdrawn)) => assert!(balance < 0, "there is enough"),
            Some(Err(error)) => panic!("{error}"),
        }
        if balance >= 0 {
            self.model.orgs[n].credit(amount);
        }
    }

    pub(super) fn test_credit(&mut self, n: usize, crash: Option<Crash>) {
        let amount = 1 + self.dice.below(2_500);
        let seconds =
            *self.dice.pick(&[0, 30, 3_600, 3_600, 2 * DAY, 10 * DAY, 30 * DAY, 100 * DAY]);
        self.note(format!("{n} gets test credit of {amount} for {seconds} s, {crash:?}"));
        let now = self.world.clock_of(n);
        let until = now.plus_ms(seconds * 1_000);
        let is_store_error = |error: &credit::Error| matches!(error, credit::Error::Store(_));
        let given = self.once(crash, is_store_error, |world| {
            let why = ("try it", until);
            world.wait(world.app().test_credit(Actor::Service, world.orgs[n], amount, why))
        });
        match given {
            None => {}
            Some(Ok(_)) => assert!(seconds > 0),
            Some(Err(credit::Error::Expiry)) => assert_eq!(seconds, 0),
            Some(Err(error)) => panic!("{error}"),
        }
        if seconds > 0 {
            self.model.orgs[n].give_test_credit(amount, until, now);
        }
    }

    pub(super) fn grant(&mut self, n: usize, crash: Option<Crash>) {
        let name = self.dice.pick(&self.model.goods).name;
        let units = 1 + self.dice.below(4);
        self.note(format!("{n} is granted {units} of {name}, {crash:?}"));
        let now = self.world.clock_of(n);
        let is_store_error =
            |error: &inventory::GrantError| matches!(error, inventory::GrantError::Store(_));
        let granted = self.once(crash, is_store_error, |world| {
            let what = (name, units);
            world.wait(world.app().grant_bundles(Actor::Service, world.orgs[n], what, "a present"))
        });
        self.model.orgs[n].grant(name, units, now);
        if let Some(granted) = granted {
            let lot = granted.expect("it is granted");
            assert_eq!((lot.total, lot.remaining, lot.price), (units, units, 0));
        }
    }

    /// Brings so many new profiles, and one that is there already.
    pub(super) fn bring_stock(&mut self, count: i64, crash: Option<Crash>) {
        let from = self.brought.saturating_sub(1).max(LIVE_STOCK);
        let to = self.brought.max(LIVE_STOCK) + usize::try_from(count).expect("not negative");
        self.note(format!("the stock gets {} new profiles, {crash:?}", to - self.brought));
        let lines = &shop::profiles()[from..to];
        let is_known = |line: &Line| {
            let iccid = Iccid::parse(&line.iccid).expect("an ICCID");
            let mut owners = self.model.orgs.iter();
            self.model.stock.contains_key(&iccid) || owners.any(|books| books.has_or_had(&iccid))
        };
        let is_kept = crash == Some(Crash::AfterCommit);
        let expected: Vec<_> = lines
            .iter()
            .map(|line| if is_kept || is_known(line) { Verdict::Known } else { Verdict::Added })
            .collect();
        let is_store_error = |error: &stock::Error| matches!(error, stock::Error::Store(_));
        let judged = self.until_heard(crash, is_store_error, |world| bring(world, lines));
        let judged = judged.expect("the profiles are good").into_iter().map(|one| one.verdict);
        assert_eq!(judged.collect::<Vec<_>>(), expected);
        for (line, verdict) in lines.iter().zip(&expected) {
            if is_kept || *verdict == Verdict::Added {
                self.add_profile(line);
            }
        }
        self.brought = to;
    }

    fn add_profile(&mut self, line: &Line) {
        let iccid = Iccid::parse(&line.iccid).expect("an ICCID");
        if self.model.orgs.iter().any(|books| books.has_or_had(&iccid)) {
            return;
        }
        let profile = PROFILES.iter().find(|profile| **profile == line.profile_name);
        self.model.stock.insert(iccid, profile.expect("one of ours"));
    }

    /// Profiles that no sandbox must ever get.
    pub(super) fn bring_live_stock(&mut self) {
        let mut lines = shop::profiles()[..LIVE_STOCK].to_vec();
        for line in &mut lines {
            PROFILES[0].clone_into(&mut line.profile_name);
        }
        let lines = lines.into_iter().enumerate().collect();
        let brought = self.world.app().import_stock(Actor::Service, Mode::Live, lines);
        self.world.wait(brought).expect("the profiles are good");
    }

    /// Another price for one good, or it is not sold for a while.
    pub(super) fn reprice(&mut self, crash: Option<Crash>) {
        let places: Vec<_> = (0..self.model.goods.len()).collect();
        let good = &mut self.model.goods[*self.dice.pick(&places)];
        match self.dice.below(3) {
            0 => good.is_withdrawn = !good.is_withdrawn,
            1 => good.partner_price = Some(good.partner_price.unwrap_or(0) % 300 + 30),
            _ => good.price = good.price % 700 + 50,
        }
        let good = good.clone();
        self.note(format!("a good changes, {crash:?}: {good:?}"));
        let is_store_error =
            |error: &catalogue::ImportError| matches!(error, catalogue::ImportError::Store(_));
        let imported = self.until_heard(crash, is_store_error, |world| {
            let draft = shop::draft(std::slice::from_ref(&good));
            let step = catalogue::Step::Apply;
            world.wait(world.app().import_catalogue(Actor::Service, draft, step))
        });
        assert!(imported.expect("the catalogue is good").is_applied);
    }

    pub(super) fn hold(&mut self, n: usize, crash: Option<Crash>) {
        let is_on = !self.model.orgs[n].is_held;
        self.set_hold(n, is_on, crash);
    }

    pub(super) fn set_hold(&mut self, n: usize, is_on: bool, crash: Option<Crash>) {
        self.note(format!("{n} is held: {is_on}, {crash:?}"));
        let is_store_error = |error: &sandbox::Error| matches!(error, sandbox::Error::Store(_));
        let held = self.until_heard(crash, is_store_error, |world| {
            world.wait(world.app().hold(world.caller_of(n), is_on))
        });
        held.expect("a sandbox can be held");
        self.model.orgs[n].is_held = is_on;
    }
}

fn bring(world: &World, lines: &[Line]) -> Result<Vec<stock::Judged>, stock::Error> {
    let lines = lines.iter().cloned().enumerate().collect();
    world.wait(world.app().import_stock(Actor::Service, Mode::Sandbox, lines))
}
