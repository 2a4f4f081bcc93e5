//! Holds what the service has against the model, and lets the model learn the numbers it gave.

use std::collections::{BTreeMap, BTreeSet};

use app::esims::OnEsim;
use domain::assignment::State;
use domain::inventory;
use domain::ledger::Account;
use domain::{Iccid, Mode, OrgId, Timestamp};
use store::{Head, Row, StoreError, args, heads, lots, profiles};

use super::Lives;
use super::esim::{Bundle, Esim};
use super::model::Lot;
use super::wares::PROFILES;
use crate::world::{ALL, World};

/// A bundle on an eSIM as its row has it, whoever has the eSIM.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    id: i64,
    iccid: Iccid,
    lot: Option<i64>,
    state: State,
    started_at: Option<Timestamp>,
    ends_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    used: i64,
}

struct Seen {
    head: Head,
    lots: Vec<inventory::Lot>,
    raw: Vec<Raw>,
    owned: Vec<Iccid>,
    free: Vec<(Mode, String, i64)>,
    /// Bytes of all records, and what nobody paid of them.
    records: (i64, i64),
}

const RAW: &str = "SELECT id, iccid, lot_id, state, started_at, ends_at, ended_at, used \
     FROM assignments WHERE org_id = $1 ORDER BY id";
const OWNED: &str = "SELECT iccid FROM esims WHERE org_id = $1 ORDER BY iccid";
const RECORDS: &str = "SELECT COALESCE(SUM(bytes), 0), COALESCE(SUM(overshoot), 0) FROM records";

fn see(world: &World) -> Seen {
    let org = world.org();
    let read = world.store().read(move |tx| {
        let head = heads::find(tx, org)?.expect("a head");
        let sums = tx.one(RECORDS, args![])?;
        Ok::<_, StoreError>(Seen {
            head,
            lots: lots::page(tx, org, 0, ALL)?,
            raw: rows(tx, org)?,
            owned: {
                let rows = tx.all(OWNED, args![org])?;
                rows.iter().map(|row| row.parsed(0, Iccid::parse)).collect::<Result<_, _>>()?
            },
            free: profiles::free(tx)?,
            records: (sums.int(0)?, sums.int(1)?),
        })
    });
    world.wait(read).expect("the database answers")
}

fn rows(tx: &mut store::Tx<'_>, org: OrgId) -> Result<Vec<Raw>, StoreError> {
    let raw = |row: &Row| {
        Ok(Raw {
            id: row.int(0)?,
            iccid: row.parsed(1, Iccid::parse)?,
            lot: row.int_or_none(2)?,
            state: row.parsed(3, |text| State::parse(text).ok_or(()))?,
            started_at: row.time_or_none(4)?,
            ends_at: row.time_or_none(5)?,
            ended_at: row.time_or_none(6)?,
            used: row.int(7)?,
        })
    };
    tx.all(RAW, args![org])?.iter().map(raw).collect()
}

impl Lives {
    /// What holds after every step.
    pub(super) fn look(&mut self) {
        let seen = see(&self.world);
        let clock = seen.head.clock(self.world.rt.now());
        self.meet(&seen, clock);
        self.model.pass(clock);
        self.check_lots(&seen);
        self.check_raw(&seen);
        self.check_esims(&seen);
        assert_eq!(seen.head.on(Account::Available), self.model.balance, "the balance");
        assert_eq!(seen.records, (self.model.sent, self.model.overshoot), "what records say");
        let used: i64 = seen.raw.iter().map(|one| one.used).sum();
        assert_eq!(used + seen.records.1, seen.records.0, "charged or overshoot");
        let changed = self.changed(&seen);
        for (iccid, esim) in &self.model.esims {
            // What did not change is looked at now and then only.
            if changed.contains(iccid) || self.dice.one_in(6) {
                self.check_bundles(iccid, esim, clock);
            }
        }
        self.raw = seen.raw.into_iter().map(|one| (one.id, one)).collect();
        for what in std::mem::take(&mut self.model.happened) {
            self.tally.count(what);
        }
    }

    /// The eSIMs on which something is another way than at the last look.
    fn changed(&self, seen: &Seen) -> BTreeSet<Iccid> {
        let is_new = |one: &&Raw| {
            let was = self.raw.get(&one.id);
            was.is_none_or(|was| (was.state, was.used) != (one.state, one.used))
        };
        seen.raw.iter().filter(is_new).map(|one| one.iccid.clone()).collect()
    }

    /// Numbers of what was just made.
    fn meet(&mut self, seen: &Seen, clock: Timestamp) {
        if let Some(mut lot) = self.model.new_lot.take() {
            let known = |id: i64| self.model.lots.iter().any(|lot| lot.id == id);
            let new: Vec<_> = seen.lots.iter().filter(|lot| !known(lot.id)).collect();
            assert_eq!(new.len(), 1, "one lot was made: {new:?}");
            lot.id = new[0].id;
            assert_eq!(new[0].bought_at, lot.came_at);
            for coming in &mut self.model.coming {
                coming.lot = Some(lot.id);
            }
            self.model.lots.push(lot);
        }
        let coming = std::mem::take(&mut self.model.coming);
        let new: Vec<_> = seen.raw.iter().filter(|one| !self.raw.contains_key(&one.id)).collect();
        assert_eq!(new.len(), coming.len(), "{new:?}, {coming:?}");
        for (coming, found) in coming.iter().zip(new) {
            let named = coming.iccid.as_ref();
            assert!(named.is_none_or(|named| *named == found.iccid), "{coming:?}, {found:?}");
            assert_eq!(found.lot, coming.lot, "the lot with the earliest end: {coming:?}");
            self.model.came(coming, (found.id, &found.iccid), clock);
        }
    }

    /// Every unit is somewhere, and the service knows where.
    fn check_lots(&self, seen: &Seen) {
        assert_eq!(seen.lots.len(), self.model.lots.len());
        for lot in &self.model.lots {
            let Lot { id, came, held, on_esims, refunded, expired, .. } = lot;
            assert_eq!(*came, held + on_esims + refunded + expired, "{lot:?}");
            assert!([held, on_esims, refunded, expired].iter().all(|n| **n >= 0), "{lot:?}");
            let found = seen.lots.iter().find(|found| found.id == *id).expect("it is there");
            assert_eq!((found.total, found.remaining), (*came, *held), "{lot:?}");
            assert_eq!(found.refunded, *refunded, "{lot:?}");
        }
    }

    /// What is true of every bundle on its own, and of those of one eSIM together.
    fn check_raw(&self, seen: &Seen) {
        let mut active: BTreeMap<&Iccid, usize> = BTreeMap::new();
        for one in &seen.raw {
            if let Some(was) = self.raw.get(&one.id) {
                assert!(may_become(was.state, one.state), "{was:?} became {one:?}");
                assert!(one.used >= was.used, "{was:?} became {one:?}");
                let is_kept = was.started_at.is_none() || was.started_at == one.started_at;
                assert!(is_kept, "{was:?} became {one:?}");
            }
            assert_eq!(one.started_at.is_some(), one.ends_at.is_some(), "{one:?}");
            assert!(one.started_at <= one.ends_at, "{one:?}");
            assert!(one.ended_at.is_none() || one.started_at <= one.ended_at, "{one:?}");
            assert_eq!(one.state.is_finished(), one.ended_at.is_some(), "{one:?}");
            assert!(one.used == 0 || one.started_at.is_some(), "{one:?}");
            *active.entry(&one.iccid).or_default() += usize::from(one.state == State::Active);
        }
        assert!(active.values().all(|count| *count <= 1), "{:?}", seen.raw);
    }

    fn check_esims(&self, seen: &Seen) {
        let own: Vec<_> = self.model.esims.keys().cloned().collect();
        assert_eq!(seen.owned, own, "eSIMs of the organisation");
        for profile in PROFILES {
            let is_it = |row: &&(Mode, String, i64)| row.1 == profile;
            let left = seen.free.iter().find(is_it).map_or(0, |row| row.2);
            assert_eq!(usize::try_from(left), Ok(self.model.free(profile)), "free of {profile}");
        }
    }

    /// The bundles of an eSIM as its owner sees them, newest first.
    fn check_bundles(&self, iccid: &Iccid, esim: &Esim, clock: Timestamp) {
        let on = self.world.app().bundles_on(self.world.caller(), iccid);
        let on = self.world.wait(on).expect("the database answers").expect("it is ours");
        assert_eq!(on.len(), esim.bundles.len(), "{on:?}, {esim:?}");
        for (found, one) in on.iter().zip(esim.bundles.iter().rev()) {
            assert_is(found, one, clock);
        }
    }

    /// What holds when everything is settled, and costs more to find out.
    pub(super) fn check_all(&mut self) {
        self.check_books();
        for iccid in &self.model.gone {
            let on = self.world.app().bundles_on(self.world.caller(), iccid);
            assert!(self.world.wait(on).expect("the database answers").is_none(), "{iccid} left");
        }
        let clock = self.world.clock();
        for (iccid, esim) in &self.model.esims {
            self.check_bundles(iccid, esim, clock);
        }
        let events = self.world.wait(self.world.app().events(self.world.caller(), 0, ALL));
        let mut told: BTreeMap<String, usize> = BTreeMap::new();
        for event in events.expect("events") {
            *told.entry(event.kind).or_default() += 1;
        }
        let expected = self.model.events.iter().map(|(kind, times)| ((*kind).to_owned(), *times));
        assert_eq!(told, expected.collect(), "each event once");
        let jobs = self.world.wait(self.world.app().jobs(false, None, ALL));
        let jobs = jobs.expect("the database answers");
        assert!(jobs.iter().all(|job| ["lot-expiry", "esim"].contains(&job.kind.as_str())));
        // Whatever is on an eSIM, or is not, something will happen to it one day.
        let subjects = jobs.iter().filter(|job| job.kind == "esim").map(|job| &job.subject);
        let subjects: BTreeSet<_> = subjects.map(String::as_str).collect();
        for iccid in self.model.esims.keys() {
            assert!(subjects.contains(iccid.as_str()), "nobody looks after {iccid}: {jobs:?}");
        }
    }

    /// The books of the service itself.
    pub(super) fn check_books(&self) {
        let report = self.world.wait(app::verify::verify(self.world.store()));
        assert_eq!(report.expect("the database answers").faults, Vec::<String>::new());
    }
}

fn assert_is(found: &OnEsim, one: &Bundle, clock: Timestamp) {
    let OnEsim { assignment, stored, remaining } = found;
    assert_eq!((assignment.id, assignment.state), (one.id, one.state), "{found:?}, {one:?}");
    assert_eq!(assignment.started_at, one.started_at, "{found:?}, {one:?}");
    assert_eq!(assignment.ends_at, one.ends_at, "{found:?}, {one:?}");
    assert_eq!(assignment.assigned_at, one.assigned_at, "{found:?}, {one:?}");
    assert_eq!((stored.lot, stored.bundle.as_str()), (one.lot, one.ware.name));
    assert_eq!(*remaining, one.remaining(clock), "{found:?}, {one:?}");
    assert!((0..=one.ware.bytes()).contains(remaining), "{found:?}");
}

/// The arrows of the contract, and the ways along them.
fn may_become(from: State, to: State) -> bool {
    use State::{Active, Depleted, Expired, Lapsed, Processing, Queued, Revoked};
    let next: &[State] = match from {
        Processing => return true,
        Queued => &[Queued, Active, Depleted, Expired, Revoked, Lapsed],
        Active => &[Active, Depleted, Expired, Revoked],
        Depleted => &[Depleted, Expired],
        Expired => &[Expired],
        Revoked => &[Revoked],
        Lapsed => &[Lapsed],
    };
    next.contains(&to)
}
