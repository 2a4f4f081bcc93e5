//! A random history of the eSIMs of one organisation: bundles are bought, put on, used and taken
//! off, time passes, and the service crashes at its commits.

mod esim;
mod look;
mod model;
pub(crate) mod wares;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use app::esims::change::{self, Change as EsimChange, OperatorError, Policy};
use app::esims::{apply, phone, revoke};
use app::idempotency::Request;
use app::orders::{self, Intent, Processing};
use app::organisations::Change;
use app::usage::{NewRecord, Told, Verdict};
use app::{Actor, StoreError, credit, inventory, sandbox};
use domain::order::Target;
use domain::{Iccid, Timestamp};
use store::sql::Crash;

use self::look::Raw;
use self::model::{Line, Model};
use self::wares::{WARES, Ware};
use crate::dice::Dice;
use crate::tally::Tally;
use crate::world::World;

/// What must have happened again and again in all histories together.
pub(crate) const HAPPENS: [&str; 45] = [
    "BeforeCommit",
    "AfterCommit",
    "a crash amid work",
    "a lot expired",
    "an eSIM left",
    "apply: Deactivated",
    "apply: NoneLeft",
    "apply: NotCompatible",
    "apply: NotYourEsim",
    "apply: OutOfStock",
    "apply: completed",
    "apply: processing",
    "back in stock",
    "kept, since it is on a phone",
    "processed in time",
    "processed too late",
    "delete: Deleted",
    "delete: NotYourEsim",
    "order: Deactivated",
    "order: NotCompatible",
    "order: NotYourEsim",
    "order: OutOfStock",
    "order: completed",
    "overshoot",
    "phone: Deactivated",
    "phone: NotYourEsim",
    "phone: Suspended",
    "phone: used",
    "record: accepted",
    "record: duplicate",
    "record: rejected",
    "refund: Done",
    "refund: ExceedsRemaining",
    "refund: NotRefundable",
    "revoke: Nothing",
    "revoke: NotYourEsim",
    "revoke: ToBalance",
    "revoke: ToInventory",
    "revoke: UnknownAssignment",
    "several paid",
    "suspend: AlreadySuspended",
    "suspend: Deactivated",
    "suspend: NotSuspended",
    "suspend: Resumed",
    "suspend: Suspended",
];

const DAY: i64 = 24 * 3_600;

pub(crate) struct Lives {
    world: World,
    dice: Dice,
    model: Model,
    tally: Tally,
    steps: Steps,
    /// The bundles on eSIMs as they were at the last look.
    raw: BTreeMap<i64, Raw>,
    /// Records that were accepted.
    sent: Vec<NewRecord>,
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

impl Lives {
    pub(crate) fn new(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let refund_days = *dice.pick(&[60, 60, 365, 7, 0]);
        let change = Change { refund_days: Some(refund_days), ..Change::default() };
        let world = World::new(seed, wares::opened(), &[change]);
        let (tally, steps) = (Tally::default(), Steps::default());
        let (raw, sent) = (BTreeMap::new(), Vec::new());
        let model = Model::new(refund_days);
        let mut lives = Self { world, dice, model, tally, steps, raw, sent };
        lives.credit(1_000_000);
        lives.buy(&WARES[0], 8, None);
        lives.look();
        lives.buy_onto(None);
        lives.look();
        lives
    }

    pub(crate) fn into_tally(self) -> Tally {
        self.tally
    }

    pub(crate) fn play(&mut self) {
        for step in 0..8 + self.dice.below(9) {
            let crash = self.dice.one_in(5).then(|| self.dice.crash());
            self.step(crash);
            self.look();
            if step % 8 == 7 {
                self.check_books();
            }
        }
    }

    fn step(&mut self, crash: Option<Crash>) {
        match self.dice.below(34) {
            0..=2 => self.buy(self.dice.pick(&WARES), 1 + self.dice.below(8), crash),
            3 | 4 => self.buy_onto(crash),
            5..=9 => self.apply(crash),
            10..=12 => self.revoke(crash),
            13..=17 => self.use_phone(crash),
            18 | 19 => self.record(crash),
            20 | 21 => self.suspend(crash),
            22 => self.police(crash),
            23 => self.delete(crash),
            24 => self.refund(crash),
            25 => self.let_time_pass(),
            26 => self.stall(crash),
            27 => self.run_out(),
            _ => {
                let days = *self.dice.pick(&[0, 0, 1, 2, 6, 8, 29, 70, 200, 359, 370, 740]);
                self.work(days * DAY + self.dice.below(2 * DAY), crash);
            }
        }
    }

    fn note(&mut self, what: String) {
        self.steps.0.push(what);
    }

    fn count(&mut self, asked: &str, heard: &str) {
        let word = heard.split(['(', ' ']).next().unwrap_or_default();
        self.tally.count(format!("{asked}: {word}"));
    }

    /// Does something that a crash may undo, or hide: then nothing is heard of it.
    fn once<T: Debug, E: Debug>(
        &mut self,
        crash: Option<Crash>,
        is_store_error: fn(&E) -> bool,
        act: impl Fn(&World) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let Some(crash) = crash else { return Some(act(&self.world)) };
        self.world.crash_at_next_commit(crash);
        let unheard = act(&self.world);
        let is_unheard = unheard.as_ref().is_err_and(is_store_error);
        assert!(is_unheard, "a crash is heard as an error of the store: {unheard:?}");
        self.world.restart();
        self.tally.count(format!("{crash:?}"));
        (crash == Crash::BeforeCommit).then(|| act(&self.world))
    }

    fn credit(&mut self, amount: i64) {
        let org = self.world.org();
        let given = self.world.app().credit(Actor::Service, org, amount, "to play with");
        let given: Result<_, credit::Error> = self.world.wait(given);
        given.expect("it is given");
        self.model.credit(amount);
    }

    /// Buys into the inventory.
    fn buy(&mut self, ware: &'static Ware, units: i64, crash: Option<Crash>) {
        self.note(format!("buy {units} {}, {crash:?}", ware.name));
        let now = self.world.clock();
        let expected = self.model.buy(ware, units, now);
        let said = self.order(ware, (Target::Inventory, units, Vec::new()), crash);
        if let Some(said) = said {
            assert_eq!(said.expect("there is money").code, expected);
        }
    }

    /// Buys onto a new eSIM or two, or onto one that is there.
    fn buy_onto(&mut self, crash: Option<Crash>) {
        let ware = *self.dice.pick(&[&WARES[0], &WARES[1], &WARES[2], &WARES[3], &WARES[5]]);
        let some = self.some_esim().filter(|_| self.dice.one_in(2));
        let count = 1 + usize::from(self.dice.one_in(3));
        self.buy_onto_these(ware, &vec![some; count], crash);
    }

    fn buy_onto_these(
        &mut self,
        ware: &'static Ware,
        targets: &[Option<Iccid>],
        crash: Option<Crash>,
    ) {
        self.note(format!("buy {} onto {targets:?}, {crash:?}", ware.name));
        let now = self.world.clock();
        let iccids: Vec<_> = targets.iter().flatten().cloned().collect();
        let units = i64::try_from(targets.len()).expect("a few");
        let Some(codes) = self.model.buy_onto(ware, targets, now) else {
            self.count("order", "OutOfStock");
            let said = self.order(ware, (Target::Esims, units, iccids), None);
            assert!(matches!(said, Some(Err(orders::Error::OutOfStock))), "{said:?}");
            return;
        };
        self.count("order", &codes[0]);
        if let Some(said) = self.order(ware, (Target::Esims, units, iccids), crash) {
            assert_among(&said.expect("an answer").code, &codes);
        }
    }

    fn order(
        &mut self,
        ware: &Ware,
        (target, quantity, iccids): (Target, i64, Vec<Iccid>),
        crash: Option<Crash>,
    ) -> Option<Result<app::Answer, orders::Error>> {
        let bundle = ware.name.to_owned();
        let line = orders::Line { bundle, quantity, iccids, allow_reassign: false };
        let command = orders::Command {
            intent: Intent::Transaction,
            target,
            lines: vec![line],
            processing: Processing::Now,
            source_ip: String::new(),
        };
        let is_store_error = |error: &orders::Error| matches!(error, orders::Error::Store(_));
        self.once(crash, is_store_error, |world| {
            world.wait(world.app().buy(world.caller(), command.clone(), &request()))
        })
    }

    /// An eSIM, most of the time one that is there.
    fn some_esim(&self) -> Option<Iccid> {
        let own: Vec<_> = self.model.esims.keys().cloned().collect();
        let gone = &self.model.gone;
        if !gone.is_empty() && (own.is_empty() || self.dice.one_in(12)) {
            return Some(self.dice.pick(gone).clone());
        }
        (!own.is_empty()).then(|| self.dice.pick(&own).clone())
    }

    /// Some of what is held, most of the time.
    fn some_ware(&self, now: Timestamp) -> &'static Ware {
        let is_held = |ware: &&Ware| self.model.held(ware.name, now) > 0;
        let held: Vec<_> = WARES.iter().filter(is_held).collect();
        if held.is_empty() || self.dice.one_in(12) {
            return self.dice.pick(&WARES);
        }
        let some: &&'static Ware = self.dice.pick(&held);
        some
    }

    fn line(&self, now: Timestamp, most: i64) -> Line {
        let ware = self.some_ware(now);
        let held = self.model.held(ware.name, now).min(most);
        let start_at = match self.dice.below(6) {
            0 => Some(now.plus_ms(-self.dice.below(5 * DAY) * 1_000)),
            1 | 2 => Some(now.plus_ms(self.dice.below(20 * DAY) * 1_000)),
            _ => None,
        };
        let repeat = if self.dice.one_in(9) { held + 1 } else { 1 + self.dice.below(held.max(1)) };
        Line { ware, repeat, start_at, allow_reassign: self.dice.one_in(2) }
    }

    fn apply(&mut self, crash: Option<Crash>) {
        let now = self.world.clock();
        let iccid = self.some_esim().filter(|_| self.dice.one_in(2));
        let most = *self.dice.pick(&[1, 2, 3, 8]);
        let mut lines = vec![self.line(now, most)];
        if iccid.is_none() && self.dice.one_in(3) {
            lines.push(self.line(now, 2));
        }
        let may_wait = !self.dice.one_in(4);
        self.put_on((iccid, lines), may_wait, crash);
    }

    fn put_on(
        &mut self,
        (iccid, lines): (Option<Iccid>, Vec<Line>),
        may_wait: bool,
        crash: Option<Crash>,
    ) {
        self.note(format!("apply {lines:?} to {iccid:?}, {may_wait}, {crash:?}"));
        let now = self.world.clock();
        let line = |line: &Line| apply::Line {
            bundle: line.ware.name.to_owned(),
            repeat: line.repeat,
            start_at: line.start_at,
            allow_reassign: line.allow_reassign,
        };
        let command = apply::Command {
            iccid: iccid.clone(),
            lines: lines.iter().map(line).collect(),
            processing: if may_wait { Processing::Later } else { Processing::Now },
            is_listed: true,
            source_ip: String::new(),
        };
        let act = |world: &World| {
            world.wait(world.app().apply(world.caller(), command.clone(), &request()))
        };
        let Some(codes) = self.model.apply((iccid.as_ref(), &lines), may_wait, now) else {
            self.count("apply", "OutOfStock");
            let said = act(&self.world);
            assert!(matches!(said, Err(apply::Error::OutOfStock)), "{said:?}");
            return;
        };
        self.count("apply", &codes[0]);
        let is_store_error = |error: &apply::Error| matches!(error, apply::Error::Store(_));
        if let Some(said) = self.once(crash, is_store_error, act) {
            assert_among(&said.expect("an answer").code, &codes);
        }
    }

    fn revoke(&mut self, crash: Option<Crash>) {
        let Some(iccid) = self.some_esim() else { return };
        let now = self.world.clock();
        let on = self.model.esims.get(&iccid).map(|esim| esim.bundles.clone()).unwrap_or_default();
        let some = (!on.is_empty()).then(|| self.dice.pick(&on));
        let name = some.map_or("week", |one| one.ware.name).to_owned();
        let id = some.map(|one| one.id).filter(|_| self.dice.one_in(2));
        let is_processing = on.iter().any(|one| one.state == domain::assignment::State::Processing);
        let is_done = is_processing || !self.dice.one_in(5);
        let to_balance = self.dice.one_in(3);
        self.note(format!("revoke {name} {id:?} of {iccid}, {is_done} {to_balance}, {crash:?}"));
        let expected = self.model.revoke((&iccid, &name, id), (is_done, to_balance), now);
        self.count("revoke", expected);
        let command = revoke::Command {
            iccid,
            bundle: name,
            id,
            intent: if is_done { Intent::Transaction } else { Intent::Validate },
            to_balance,
            source_ip: String::new(),
        };
        let is_store_error = |error: &revoke::Error| matches!(error, revoke::Error::Store(_));
        let said = self.once(crash, is_store_error, |world| {
            world.wait(world.app().revoke(world.caller(), command.clone(), &request()))
        });
        if let Some(said) = said {
            assert_eq!(said.expect("an answer").code, expected);
        }
    }

    /// An amount of data: little, just what is left, more than that, a lot.
    fn amount(&self, iccid: &Iccid, now: Timestamp) -> i64 {
        let open = self.model.esims.get(iccid).into_iter().flat_map(|esim| &esim.bundles);
        let left: i64 =
            open.filter(|one| !one.state.is_finished()).map(|one| one.remaining(now)).sum();
        let first = self.model.esims.get(iccid).and_then(|esim| {
            esim.bundles.iter().find(|one| !one.state.is_finished() && one.remaining(now) > 0)
        });
        match self.dice.below(6) {
            0 => left.max(1),
            1 => left + 1,
            2 | 3 => first.map_or(7, |one| one.remaining(now)),
            4 => 1 + self.dice.below(30_000_000),
            _ => 1 + self.dice.below(5_000_000),
        }
    }

    fn use_phone(&mut self, crash: Option<Crash>) {
        let Some(iccid) = self.some_esim() else { return };
        let now = self.world.clock();
        let bytes = self.amount(&iccid, now);
        self.note(format!("{iccid} uses {bytes}, {crash:?}"));
        let refusal = match self.model.esims.get(&iccid) {
            None => Some("NotYourEsim"),
            Some(esim) if esim.is_dead => Some("Deactivated"),
            Some(esim) if esim.is_suspended => Some("Suspended"),
            Some(_) => None,
        };
        let act = |world: &World| {
            world.wait(world.app().phone(world.caller(), &iccid, phone::Act::Use(bytes)))
        };
        if let Some(refusal) = refusal {
            self.count("phone", refusal);
            let said = act(&self.world).expect_err("it cannot");
            assert_eq!(format!("{said:?}"), refusal);
            return;
        }
        self.count("phone", "used");
        let esim = self.model.esims.get_mut(&iccid).expect("it is there");
        if !std::mem::replace(&mut esim.is_installed, true) {
            self.model.attach();
        }
        let (paid, over) = self.model.consume(&iccid, (bytes, now), now);
        let is_store_error = |error: &phone::Error| matches!(error, phone::Error::Store(_));
        if let Some(said) = self.once(crash, is_store_error, act) {
            let (_, charged) = said.expect("it can");
            let by: Vec<_> = charged.by.iter().map(|(id, _, bytes)| (*id, *bytes)).collect();
            assert_eq!((by, charged.overshoot), (paid, over));
        }
    }

    /// A record of the network: new or known, in time, late or of the future.
    fn record(&mut self, crash: Option<Crash>) {
        let Some(iccid) = self.some_esim() else { return };
        let now = self.world.clock();
        let late = *self.dice.pick(&[0, 0, 60, DAY, 9 * DAY, -200, -301]);
        let bytes = self.amount(&iccid, now);
        let mut record = NewRecord {
            source: "node".to_owned(),
            id: self.sent.len().to_string(),
            iccid,
            at: now.plus_ms(-late * 1_000),
            told: Told::Used { bytes, place: None },
        };
        if !self.sent.is_empty() && self.dice.one_in(4) {
            let known = self.dice.pick(&self.sent);
            let iccid = known.iccid.clone();
            record = NewRecord { id: known.id.clone(), iccid, at: now, ..record };
        }
        self.note(format!("{record:?}, {crash:?}"));
        let is_known = self.sent.iter().any(|known| known.id == record.id);
        let is_ours = self.model.esims.contains_key(&record.iccid);
        let expected = match (is_ours, is_known) {
            // Known for ever, also when the eSIM has left since.
            (_, true) => Verdict::Duplicate,
            (false, false) => Verdict::Rejected("iccid is not known"),
            (true, false) if late < -300 => Verdict::Rejected("time is in the future"),
            (true, false) => Verdict::Accepted,
        };
        self.count("record", &format!("{expected:?}").to_lowercase());
        if expected == Verdict::Accepted {
            self.model.consume(&record.iccid, (bytes, record.at), now);
            self.sent.push(record.clone());
        }
        let act = |world: &World| world.wait(world.app().take_records(vec![record.clone()]));
        if let Some(said) = self.once(crash, |_: &StoreError| true, act) {
            assert_eq!(said.expect("a verdict"), [expected]);
        }
    }

    fn change(
        &mut self,
        iccid: &Iccid,
        change: &EsimChange,
        crash: Option<Crash>,
    ) -> Option<String> {
        let is_store_error = |error: &change::Error| matches!(error, change::Error::Store(_));
        let said = self.once(crash, is_store_error, |world| {
            let wanted = (iccid.clone(), change.clone());
            world.wait(world.app().change_esim(world.caller(), wanted, &request()))
        });
        Some(said?.expect("an answer").code)
    }

    fn suspend(&mut self, crash: Option<Crash>) {
        let own = self.model.esims.iter().filter(|(_, esim)| esim.is_suspended);
        let suspended = own.map(|(iccid, _)| iccid.clone()).next();
        let suspended = suspended.filter(|_| self.dice.one_in(2));
        let Some(iccid) = suspended.or_else(|| self.some_esim()) else { return };
        let is_on = self.dice.one_in(2);
        self.note(format!("suspend {iccid}: {is_on}, {crash:?}"));
        let expected = match self.model.esims.get_mut(&iccid) {
            None => "NotYourEsim",
            Some(esim) if esim.is_dead => "Deactivated",
            Some(esim) => match (std::mem::replace(&mut esim.is_suspended, is_on), is_on) {
                (false, true) => "Suspended",
                (true, false) => "Resumed",
                (true, true) => "AlreadySuspended",
                (false, false) => "NotSuspended",
            },
        };
        self.count("suspend", expected);
        let change = if is_on { EsimChange::Suspend } else { EsimChange::Resume };
        let said = self.change(&iccid, &change, crash);
        assert!(said.as_ref().is_none_or(|said| said == expected), "{said:?}, not {expected}");
    }

    /// The operator ends an eSIM for good, now and then.
    fn police(&mut self, crash: Option<Crash>) {
        let Some(iccid) = self.some_esim() else { return };
        self.note(format!("deactivate {iccid}, {crash:?}"));
        let is_ours = self.model.esims.contains_key(&iccid);
        let is_store_error = |error: &OperatorError| matches!(error, OperatorError::Store(_));
        let said = self.once(crash.filter(|_| is_ours), is_store_error, |world| {
            let app = world.app();
            world.wait(app.police_esim(Actor::Service, &iccid, Policy::Deactivate, "stolen"))
        });
        match self.model.esims.get_mut(&iccid) {
            Some(esim) => esim.is_dead = true,
            None => assert!(matches!(said, Some(Err(OperatorError::Unknown))), "{said:?}"),
        }
    }

    fn delete(&mut self, crash: Option<Crash>) {
        let Some(iccid) = self.some_esim() else { return };
        self.note(format!("delete {iccid}, {crash:?}"));
        let expected = self.model.delete(&iccid, self.world.clock());
        self.count("delete", expected);
        let said = self.change(&iccid, &EsimChange::Delete, crash);
        assert!(said.as_ref().is_none_or(|said| said == expected), "{said:?}, not {expected}");
    }

    fn refund(&mut self, crash: Option<Crash>) {
        let held: Vec<_> = self.model.lots.iter().filter(|lot| lot.held > 0).collect();
        let any: Vec<_> = self.model.lots.iter().collect();
        let lot = *self.dice.pick(if held.is_empty() { &any } else { &held });
        let units = 1 + self.dice.below(lot.held + 1);
        let id = lot.id;
        self.note(format!("refund {units} of {id}, {crash:?}"));
        let expected = self.model.refund(id, units, self.world.clock());
        self.count("refund", expected);
        let is_store_error = |error: &inventory::Error| matches!(error, inventory::Error::Store(_));
        let said = self.once(crash, is_store_error, |world| {
            let (app, ip) = (world.app(), String::new());
            world.wait(app.refund(world.caller(), (id, units), ip, &request()))
        });
        if let Some(said) = said {
            assert_eq!(said.expect("an answer").code, expected);
        }
    }

    /// Time passes, and nobody works.
    fn let_time_pass(&mut self) {
        let seconds = *self.dice.pick(&[1, 599, 601, DAY, 8 * DAY, 366 * DAY]);
        self.note(format!("{seconds} seconds pass"));
        self.world.rt.advance(Duration::from_secs(seconds.unsigned_abs()));
    }

    /// Something large waits while work is held, until it goes on: in time, or too late.
    fn stall(&mut self, crash: Option<Crash>) {
        self.hold(true);
        self.buy(&WARES[0], 8, None);
        self.look();
        let iccid = self.some_esim().filter(|_| self.dice.one_in(2));
        let repeat = 6 + self.dice.below(2);
        let line = Line { ware: &WARES[0], repeat, start_at: None, allow_reassign: false };
        self.put_on((iccid, vec![line]), true, crash);
        self.look();
        for _ in 0..self.dice.below(4) {
            match self.dice.below(5) {
                0 => self.revoke(None),
                1 => self.delete(None),
                2 => self.suspend(None),
                3 => self.police(None),
                _ => self.use_phone(None),
            }
            self.look();
        }
        self.work(*self.dice.pick(&[5, 600, 601, 3 * DAY]), None);
        self.look();
        self.hold(false);
        self.look();
        self.work(0, crash);
    }

    /// The few eSIMs of the second kind run out.
    fn run_out(&mut self) {
        let line = |repeat| Line { ware: &WARES[5], repeat, start_at: None, allow_reassign: false };
        self.buy(&WARES[5], 8, None);
        self.look();
        self.put_on((None, vec![line(4)]), true, None);
        self.look();
        self.put_on((None, vec![line(4)]), true, None);
        self.look();
        self.buy_onto_these(&WARES[5], &[None, None, None], None);
    }

    fn hold(&mut self, is_on: bool) {
        self.note(format!("hold: {is_on}"));
        let held: Result<_, sandbox::Error> =
            self.world.wait(self.world.app().hold(self.world.caller(), is_on));
        held.expect("a sandbox can be held");
        self.model.is_held = is_on;
    }

    fn work(&mut self, seconds: i64, crash: Option<Crash>) {
        self.note(format!("work, {seconds} seconds ahead, {crash:?}"));
        let start = self.world.clock();
        if let Some(crash) = crash {
            self.world.crash_at_next_commit(crash);
            let _unheard = self.world.wait(self.world.do_work(0, seconds));
            self.world.restart();
            self.tally.count("a crash amid work");
            // However far that came: the rest is done now.
            let there = self.world.clock();
            let left = (start.plus_ms(seconds * 1_000).ms() - there.ms()).max(0) / 1_000;
            let done = self.world.wait(self.world.do_work(0, left));
            done.expect("work can be done");
        } else {
            self.world.wait(self.world.do_work(0, seconds)).expect("work can be done");
        }
        let end = self.world.clock();
        assert!(end >= start, "the clock only goes on");
        self.model.work(start, end);
    }

    /// Lets everything happen that is due.
    pub(crate) fn settle(&mut self) {
        self.hold(false);
        self.work(0, None);
        self.look();
        self.check_all();
    }
}

fn request() -> Request {
    Request { key: None, facts: Vec::new(), form: "v2.5".to_owned(), deed: None }
}

#[track_caller]
fn assert_among(code: &str, codes: &[String]) {
    let word = code.split('(').next().unwrap_or_default();
    assert!(codes.iter().any(|known| known == word), "{code} is none of {codes:?}");
}
