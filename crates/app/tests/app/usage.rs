//! A random history of usage records and callbacks: records come again and in any order, receivers
//! fail, time passes, and the service crashes at its commits.

mod model;

use std::collections::{BTreeMap, BTreeSet};

use app::callbacks::Again;
use app::idempotency::Request;
use app::orders::{Command, Intent, Line, Processing};
use app::organisations::Change;
use app::usage::{NewRecord, Place, Told, Verdict};
use app::{Actor, StoreError};
use domain::callback::State;
use domain::order::Target;
use domain::{Iccid, Timestamp, demo};
use store::sql::Crash;
use store::{Row, Tx, args};

use self::model::Model;
use crate::dice::Dice;
use crate::lives::wares::{STOCK, WARES, Ware, opened};
use crate::receiver::{Mood, Sent};
use crate::tally::Tally;
use crate::world::{ALL, World};

/// What must have happened again and again in all histories together.
pub(crate) const HAPPENS: [&str; 18] = [
    "BeforeCommit",
    "AfterCommit",
    "a crash amid work",
    "accepted",
    "duplicate",
    "not known",
    "of the future",
    "overshoot",
    "several paid",
    "a failed attempt",
    "a crash after a callback",
    "an answer was not heard",
    "given up",
    "switched off",
    "sent again",
    "paused",
    "steps",
    "V2",
];

const MOODS: [Mood; 5] = [Mood::Well, Mood::Moody, Mood::Moody, Mood::Down, Mood::Down];
const DAY: i64 = 24 * 3_600;
const URL: &str = "https://shop.example/hook";
const USED: &str = "SELECT iccid, id, used FROM assignments WHERE org_id = $1 ORDER BY iccid, id";
const SUMS: &str = "SELECT iccid, hour, country, bytes FROM usage_sums WHERE org_id = $1 \
     ORDER BY iccid, hour, country";

pub(crate) struct Usage {
    world: World,
    dice: Dice,
    model: Model,
    tally: Tally,
    /// Records that were sent, whatever became of them.
    known: Vec<NewRecord>,
    is_every: bool,
    is_signed: bool,
    /// Lanes of which something was given up: what comes later may overtake it.
    broken: BTreeSet<String>,
}

impl Usage {
    pub(crate) fn new(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let (is_every, is_signed) = (!dice.one_in(3), !dice.one_in(3));
        let change = Change {
            callback_url: Some(URL.to_owned()),
            callback_version: Some(if is_signed { "V3" } else { "V2" }.to_owned()),
            usage_events: Some(if is_every { "every" } else { "steps" }.to_owned()),
            callback_events: Some(vec!["FirstUse".to_owned(), "CountryChange".to_owned()]),
            ..Change::default()
        };
        let world = World::new(seed, opened(), &[change]);
        let (model, tally) = (Model::default(), Tally::default());
        let (known, broken) = (Vec::new(), BTreeSet::new());
        let mut usage = Self { world, dice, model, tally, known, is_every, is_signed, broken };
        usage.tally.count(if is_every { "every" } else { "steps" });
        usage.tally.count(if is_signed { "V3" } else { "V2" });
        let org = usage.world.org();
        let given = usage.world.app().credit(Actor::Service, org, 1_000_000, "to play with");
        usage.world.wait(given).expect("it is given");
        for _ in 0..3 + usage.dice.below(3) {
            usage.buy(None);
            usage.buy(Some(usage.some_esim()));
        }
        usage
    }

    pub(crate) fn into_tally(self) -> Tally {
        self.tally
    }

    pub(crate) fn play(&mut self) {
        self.world.receiver.be(*self.dice.pick(&MOODS));
        for _ in 0..8 + self.dice.below(7) {
            let crash = self.dice.one_in(4).then(|| self.dice.crash());
            match self.dice.below(16) {
                0..=6 => self.records(crash),
                7 => self.buy(Some(self.some_esim())),
                8 | 9 => self.world.receiver.be(*self.dice.pick(&MOODS)),
                10 => self.pause(self.dice.one_in(2)),
                _ => {
                    let ahead = [0, 4, 6, 400, 7_200, DAY, 2 * DAY, 3 * DAY, 8 * DAY];
                    self.work(*self.dice.pick(&ahead), crash);
                }
            }
            self.look();
        }
    }

    fn some_esim(&self) -> Iccid {
        let own: Vec<_> = self.model.esims.keys().collect();
        let some: &&Iccid = self.dice.pick(&own);
        (*some).clone()
    }

    /// Buys a bundle onto an eSIM, or onto a new one.
    fn buy(&mut self, iccid: Option<Iccid>) {
        let ware: &'static Ware = if self.dice.one_in(2) { &WARES[0] } else { &WARES[4] };
        let line = Line {
            bundle: ware.name.to_owned(),
            quantity: 1,
            iccids: iccid.into_iter().collect(),
            allow_reassign: false,
        };
        let command = Command {
            intent: Intent::Transaction,
            target: Target::Esims,
            lines: vec![line],
            processing: Processing::Now,
            source_ip: String::new(),
        };
        let request = Request { key: None, facts: Vec::new(), form: "v2.5".to_owned(), deed: None };
        let bought = self.world.app().buy(self.world.caller(), command, &request);
        assert_eq!(self.world.wait(bought).expect("bought").code, "completed");
        let (newest, _, _) = used(&self.world).into_iter().max_by_key(|one| one.1).expect("one");
        self.model.put_on(&newest, ware);
    }

    fn record(&mut self, now: Timestamp) -> NewRecord {
        let iccid = self.some_esim();
        let is_nobodys = self.dice.one_in(12);
        let stranger = || demo::stock(STOCK.iter().sum()).pop().expect("stock").iccid;
        let late = *self.dice.pick(&[0, 0, 0, 60, 3_600, DAY, 8 * DAY, -200, -301]);
        let place = |country: &&str| Place { country: (*country).to_owned(), network: "N".into() };
        let countries = ["", "FR", "DE", "FR"];
        NewRecord {
            source: (*self.dice.pick(&["node", "other"])).to_owned(),
            id: self.known.len().to_string(),
            iccid: if is_nobodys { Iccid::parse(&stranger()).expect("one") } else { iccid },
            at: now.plus_ms(-late * 1_000),
            told: Told::Used {
                bytes: 1 + self.dice.below(*self.dice.pick(&[1_000, 400_000, 400_000, 4_000_000])),
                place: Some(*self.dice.pick(&countries))
                    .filter(|c| !c.is_empty())
                    .map(|c| place(&c)),
            },
        }
    }

    /// New records, three in ten of them twice, and some of earlier batches, in any order.
    fn records(&mut self, crash: Option<Crash>) {
        let now = self.world.clock();
        let mut batch = Vec::new();
        for _ in 0..=self.dice.below(9) {
            if !self.known.is_empty() && self.dice.below(10) < 3 {
                batch.push(self.dice.pick(&self.known).clone());
            }
            let new = self.record(now);
            self.known.push(new.clone());
            if self.dice.below(10) < 3 {
                batch.push(new.clone());
            }
            batch.push(new);
        }
        for last in (1..batch.len()).rev() {
            let most = i64::try_from(last + 1).expect("few");
            batch.swap(last, usize::try_from(self.dice.below(most)).expect("not negative"));
        }
        if let Some(crash) = crash {
            self.world.crash_at_next_commit(crash);
            let unheard = self.world.wait(self.world.app().take_records(batch.clone()));
            assert!(unheard.is_err(), "a crash is heard as an error: {unheard:?}");
            self.world.restart();
            self.tally.count(format!("{crash:?}"));
        }
        // What is nobody's is written first: then nothing else was written before the crash.
        let is_written = crash == Some(Crash::AfterCommit)
            && batch.iter().all(|record| self.model.esims.contains_key(&record.iccid));
        let expected: Vec<_> = batch.iter().map(|record| self.expect(record, now)).collect();
        let said = self.world.wait(self.world.app().take_records(batch)).expect("taken");
        for (said, expected) in said.into_iter().zip(expected) {
            match expected {
                Verdict::Accepted if is_written => assert_eq!(said, Verdict::Duplicate),
                _ => assert_eq!(said, expected),
            }
        }
    }

    /// What must become of a record that comes now.
    fn expect(&mut self, record: &NewRecord, now: Timestamp) -> Verdict {
        if !self.model.esims.contains_key(&record.iccid) {
            self.tally.count("not known");
            return Verdict::Rejected("iccid is not known");
        }
        if record.at > now.plus_ms(300_000) {
            self.tally.count("of the future");
            return Verdict::Rejected("time is in the future");
        }
        if !self.model.is_new(record) {
            self.tally.count("duplicate");
            return Verdict::Duplicate;
        }
        let (payers, overshoot) = self.model.take(record, now);
        self.tally.count("accepted");
        if payers > 1 {
            self.tally.count("several paid");
        }
        if overshoot > 0 {
            self.tally.count("overshoot");
        }
        Verdict::Accepted
    }

    fn pause(&mut self, on: bool) {
        let org = self.world.org();
        let paused = self.world.app().pause_callbacks(Actor::Service, org, on);
        self.world.wait(paused).expect("it can be paused");
        if on {
            self.tally.count("paused");
        }
    }

    fn work(&mut self, seconds: i64, crash: Option<Crash>) {
        if let Some(crash) = crash {
            let start = self.world.clock();
            let is_late = self.dice.one_in(2);
            if is_late {
                let store = self.world.store().clone();
                self.world.receiver.die_when_sent(Some((crash, store)));
            } else {
                self.world.crash_at_next_commit(crash);
            }
            let heard = self.world.wait(self.world.do_work(0, seconds));
            if is_late && heard.is_err() {
                self.tally.count("a crash after a callback");
            }
            self.world.restart();
            self.tally.count("a crash amid work");
            let gone = self.world.clock().ms() - start.ms();
            let left = (seconds - gone / 1_000).max(0);
            self.world.wait(self.world.do_work(0, left)).expect("work can be done");
            return;
        }
        self.world.wait(self.world.do_work(0, seconds)).expect("work can be done");
    }

    /// What holds after every step.
    fn look(&mut self) {
        let mut places: BTreeMap<Iccid, usize> = BTreeMap::new();
        for (iccid, id, bytes) in used(&self.world) {
            let place = places.entry(iccid.clone()).or_default();
            let expected = self.model.used(&iccid, *place);
            assert_eq!(Some(bytes), expected, "used of the bundle {id} on {iccid}");
            *place += 1;
        }
        assert_eq!(sums(&self.world), self.model.sums, "every record counts once");
        let (app, org) = (self.world.app(), self.world.org());
        let dead = self.world.wait(app.deliveries(org, Some(State::Dead), i64::MAX, ALL));
        for one in dead.expect("read") {
            self.tally.count("given up");
            self.broken.insert(one.lane);
        }
        self.switch_on();
    }

    /// A receiver that failed for too long is switched off, and nothing more is kept for it.
    fn switch_on(&mut self) {
        let (app, org) = (self.world.app(), self.world.org());
        let health = self.world.wait(app.callback_health(org)).expect("read");
        if health.endpoint.off_at.is_none() {
            return;
        }
        self.tally.count("switched off");
        // What waits is given up first: it is nobody's any more.
        self.world.wait(app.pause_callbacks(Actor::Service, org, false)).expect("resumed");
        self.world.wait(self.world.do_work(0, 0)).expect("given up");
        let dead = self.world.wait(app.deliveries(org, Some(State::Dead), i64::MAX, ALL));
        self.broken.extend(dead.expect("read").into_iter().map(|one| one.lane));
        let change = Change { callback_url: Some(URL.to_owned()), ..Change::default() };
        let changed = app.change_organisation(Actor::Service, org, change);
        self.world.wait(changed).expect("switched on again");
    }

    /// The receiver is well, and everything is sent.
    pub(crate) fn settle(&mut self) {
        self.world.receiver.be(Mood::Well);
        self.pause(false);
        let org = self.world.org();
        let again = self.world.app().send_again(Actor::Service, org, Again::Dead);
        let count = self.world.wait(again).expect("sent again");
        if count > 0 {
            self.tally.count("sent again");
        }
        self.work(2 * DAY, None);
        self.look();
        let health = self.world.wait(self.world.app().callback_health(org)).expect("read");
        assert_eq!((health.waiting, health.dead), (0, 0), "nothing waits and nothing is dead");
        let of_now = self.world.wait(self.world.app().settle(self.world.caller()));
        of_now.expect("nothing is owned by anybody");
        self.check_sent();
    }

    fn check_sent(&mut self) {
        let (app, org) = (self.world.app(), self.world.org());
        let feed = self.world.wait(app.events(self.world.caller(), 0, ALL)).expect("the feed");
        let deliveries = self.world.wait(app.deliveries(org, None, i64::MAX, ALL)).expect("read");
        let told = feed.iter().filter(|event| event.kind == "Utilisation");
        let told: BTreeMap<_, _> = told.map(|event| (event.id.to_string(), event)).collect();
        let expected = if self.is_every { self.model.charges } else { self.model.steps };
        assert_eq!(told.len(), expected, "usage is told as often as it is wanted");
        let sent = self.world.receiver.sent();
        for event in told.values() {
            let of_it: Vec<_> = sent.iter().filter(|one| one.id == event.id.to_string()).collect();
            assert!(of_it.iter().any(|one| one.is_kept), "the receiver has {}", event.seq);
            let body = if self.is_signed { event.data.clone() } else { short(&event.data) };
            let is_same = |one: &&Sent| one.body == body && one.is_signed == self.is_signed;
            assert!(of_it.iter().all(is_same), "the same bytes each time: {of_it:?}");
        }
        let mut heard = 0;
        for delivery in &deliveries {
            assert_eq!(delivery.state, State::Delivered);
            let found = self.world.wait(app.delivery(org, delivery.seq));
            let (_, attempts, due) = found.expect("there");
            let numbers: Vec<_> = attempts.iter().map(|one| one.n).collect();
            assert_eq!(numbers, (1..=delivery.attempts).collect::<Vec<_>>(), "without gaps");
            assert_eq!(due, None);
            heard += attempts.len();
        }
        // An attempt is noted once at most, and one that a crash hid not at all.
        assert!(heard <= sent.len(), "{heard} attempts of {}", sent.len());
        let is_failed = |one: &&Sent| !one.is_kept;
        for _ in sent.iter().filter(is_failed) {
            self.tally.count("a failed attempt");
        }
        if sent.len() > heard {
            self.tally.count("an answer was not heard");
        }
        self.check_order(&sent, &deliveries);
    }

    /// In each lane the receiver met events in the order of the feed, but for repeats.
    fn check_order(&self, sent: &[Sent], deliveries: &[app::callbacks::Delivery]) {
        let of_id: BTreeMap<_, _> =
            deliveries.iter().map(|one| (one.event.to_string(), one)).collect();
        let mut last: BTreeMap<&str, i64> = BTreeMap::new();
        let mut met = BTreeSet::new();
        for one in sent.iter().filter(|one| met.insert(&one.id)) {
            let delivery = of_id[&one.id];
            if self.broken.contains(&delivery.lane) {
                continue;
            }
            let before = last.insert(&delivery.lane, delivery.seq);
            assert!(before < Some(delivery.seq), "{before:?} before {} in its lane", delivery.seq);
        }
    }
}

/// What the other form of an event says.
fn short(full: &str) -> String {
    full.replacen("event", "short", 1)
}

/// How much is used of every bundle on every eSIM.
fn used(world: &World) -> Vec<(Iccid, i64, i64)> {
    let row = |row: &Row| Ok((row.parsed(0, Iccid::parse)?, row.int(1)?, row.int(2)?));
    rows(world, USED, row)
}

/// The sums of all eSIMs, and those of the organisation under no eSIM.
fn sums(world: &World) -> BTreeMap<(String, i64, String), i64> {
    let row = |row: &Row| {
        let key = (row.text(0)?.to_owned(), row.int(1)?, row.text(2)?.to_owned());
        Ok((key, row.int(3)?))
    };
    rows(world, SUMS, row).into_iter().collect()
}

fn rows<T: Send + 'static>(
    world: &World,
    sql: &'static str,
    read: fn(&Row) -> Result<T, StoreError>,
) -> Vec<T> {
    let org = world.org();
    let rows = world.store().read(move |tx: &mut Tx<'_>| {
        tx.all(sql, args![org])?.iter().map(read).collect::<Result<Vec<_>, StoreError>>()
    });
    world.wait(rows).expect("the database answers")
}
