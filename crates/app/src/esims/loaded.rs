//! An eSIM with everything on it, within a write: changed in memory, written back once, together
//! with its history and the moment at which somebody must look at it again.

use std::collections::HashMap;

use domain::assignment::{Queue, State, Step};
use domain::catalogue::Data;
use domain::esim::{Entry, EntryKind, Esim};
use domain::ports::network::Level;
use domain::{Iccid, Mode, OrgId, Timestamp, limits};
use store::assignments::{self, Placed, Stored};
use store::jobs::{Due, Job};
use store::{StoreError, Tx, esims, history};

use crate::App;
use crate::ids::Ids;
use crate::jobs::{ESIM, NETWORK};

pub(crate) struct Loaded {
    pub(crate) esim: Esim,
    pub(crate) queue: Queue,
    org: OrgId,
    was: Esim,
    /// When somebody was to look at it when this write began: there is a job for that.
    was_due: Option<Timestamp>,
    bundles: Vec<Stored>,
    entries: Vec<Entry>,
    /// When its owner was told that it is in a country, once that was asked for.
    visits: Option<HashMap<String, Timestamp>>,
}

impl Loaded {
    /// One eSIM of an organisation.
    pub(crate) fn find(
        tx: &mut Tx<'_>,
        org: OrgId,
        iccid: &Iccid,
    ) -> Result<Option<Self>, StoreError> {
        let Some(esim) = esims::find(tx, org, iccid)? else { return Ok(None) };
        let bundles = assignments::of_esims(tx, org, std::slice::from_ref(iccid))?;
        Ok(Some(Self::new(org, esim, bundles)))
    }

    /// Those of an organisation among these.
    pub(crate) fn all(
        tx: &mut Tx<'_>,
        org: OrgId,
        iccids: &[Iccid],
    ) -> Result<Vec<Self>, StoreError> {
        let mut bundles: HashMap<Iccid, Vec<Stored>> = HashMap::new();
        for one in assignments::of_esims(tx, org, iccids)? {
            bundles.entry(one.iccid.clone()).or_default().push(one);
        }
        let found = esims::of_org(tx, org, iccids)?.into_iter().map(|esim| {
            let own = bundles.remove(&esim.iccid).unwrap_or_default();
            Self::new(org, esim, own)
        });
        Ok(found.collect())
    }

    fn new(org: OrgId, esim: Esim, bundles: Vec<Stored>) -> Self {
        let queue = Queue::new(bundles.iter().map(|one| one.assignment.clone()).collect());
        let mut loaded = Self {
            org,
            was: esim.clone(),
            was_due: None,
            esim,
            queue,
            bundles,
            entries: Vec::new(),
            visits: None,
        };
        loaded.was_due = loaded.due(None);
        loaded
    }

    /// When its owner was last told that it is in a country.
    pub(crate) fn visited(
        &mut self,
        tx: &mut Tx<'_>,
        country: &str,
    ) -> Result<Option<Timestamp>, StoreError> {
        if self.visits.is_none() {
            let visits = history::visits(tx, self.org, std::slice::from_ref(&self.esim.iccid))?;
            self.has_been(visits.into_iter().map(|(_, country, at)| (country, at)).collect());
        }
        Ok(self.visits.as_ref().and_then(|visits| visits.get(country).copied()))
    }

    /// Notes that its owner is told so now.
    pub(crate) fn visit(
        &mut self,
        tx: &mut Tx<'_>,
        country: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.has_also_been(country.to_owned(), at);
        history::visit(tx, (self.org, &self.esim.iccid), country, at)
    }

    /// All the countries its owner was told of.
    pub(crate) fn has_been(&mut self, visits: HashMap<String, Timestamp>) {
        self.visits = Some(visits);
    }

    /// One more of them.
    pub(crate) fn has_also_been(&mut self, country: String, at: Timestamp) {
        self.visits.get_or_insert_default().insert(country, at);
    }

    /// The bundle of an assignment, as it was when this write began.
    pub(crate) fn stored(&self, id: i64) -> Option<&Stored> {
        self.bundles.iter().find(|one| one.assignment.id == id)
    }

    /// All of them, oldest first.
    pub(crate) fn bundles(&self) -> &[Stored] {
        &self.bundles
    }

    /// Lets everything happen that is due by then.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        let steps = self.queue.advance(now);
        self.happened(&steps);
    }

    /// Notes changes of assignments in the history.
    pub(crate) fn happened(&mut self, steps: &[Step]) {
        for step in steps {
            let kind = match step.to {
                State::Expired => EntryKind::Expired,
                State::Lapsed => EntryKind::Lapsed,
                State::Revoked => EntryKind::Revoked,
                State::Processing | State::Queued | State::Active | State::Depleted => continue,
            };
            self.note_bundle(step.at, kind, (step.id, step.to), None);
        }
    }

    /// Notes something in the history.
    pub(crate) fn note(&mut self, at: Timestamp, kind: EntryKind) {
        self.enter(Entry { at, kind, bundle: None, percent: None });
    }

    /// Notes something about a bundle in the history.
    pub(crate) fn note_bundle(
        &mut self,
        at: Timestamp,
        kind: EntryKind,
        (id, state): (i64, State),
        percent: Option<i64>,
    ) {
        let name = self.stored(id).map(|one| one.bundle.to_string()).unwrap_or_default();
        let bundle = Some((name, state.name().to_owned()));
        self.enter(Entry { at, kind, bundle, percent });
    }

    fn enter(&mut self, entry: Entry) {
        if let Some(action) = entry.kind.action() {
            action.clone_into(&mut self.esim.last_action);
            self.esim.action_at = Some(entry.at);
        }
        self.entries.push(entry);
    }

    /// When it leaves the organisation if nothing happens before; none while something is on it.
    pub(crate) fn leaves_at(&self) -> Option<Timestamp> {
        let idle_since = match self.queue.assignments() {
            [] => Some(self.esim.assigned_at),
            _ => self.queue.idle_since(),
        };
        idle_since.map(|since| since.plus(limits::ESIM_IDLE))
    }

    /// When somebody must look at it again; where a network must be told, also when a day begins on
    /// which an unlimited bundle has its full speed again.
    pub(crate) fn due(&self, network: Option<Timestamp>) -> Option<Timestamp> {
        let next_day = network.filter(|now| matches!(self.level(*now), Level::Throttled(_)));
        let next_day = next_day.map(Timestamp::next_day);
        let leaves_at = self.leaves_at();
        let leaving = leaves_at.map(|at| {
            if self.esim.leaves_at == Some(at) { at } else { at.minus(limits::ESIM_NOTICE) }
        });
        [self.queue.next_due(), leaving, next_day].into_iter().flatten().min()
    }

    /// What the network should allow it.
    pub(crate) fn level(&self, now: Timestamp) -> Level {
        if self.esim.is_deactivated() {
            return Level::Stopped;
        }
        if self.esim.suspended_by.is_some() {
            return Level::Suspended;
        }
        let usable = |one: &&domain::assignment::Assignment| {
            matches!(one.state, State::Active | State::Queued)
        };
        let first = self.queue.active().or_else(|| self.queue.assignments().iter().find(usable));
        match first.map(|one| (one.terms.data, one.remaining_bytes(now))) {
            None => Level::Idle,
            Some((Data::Unlimited { throttle_kbps, .. }, 0)) => Level::Throttled(throttle_kbps),
            Some(_) => Level::Full,
        }
    }

    /// Writes everything back and makes sure that somebody looks at it when something is due.
    pub(crate) fn close(
        mut self,
        app: &App,
        tx: &mut Tx<'_>,
        mode: Mode,
        ids: &mut Ids,
    ) -> Result<(), StoreError> {
        self.save(tx)?;
        let clock = tx.head().map_or(ids.now, |head| head.clock(ids.now));
        let network = app.network(mode).map(|_| clock);
        if let Some(due) = self.due(network) {
            App::add_job(tx, ids.job(), (ESIM, self.esim.iccid.as_str()), due, ids.now)?;
        }
        self.tell_network(app, tx, mode, ids)
    }

    /// The same after data was used, and nothing else was changed: what was due before and still is
    /// has its job. Where a network must be told, a new day may be due as well.
    pub(crate) fn close_used(
        mut self,
        app: &App,
        tx: &mut Tx<'_>,
        mode: Mode,
        ids: &mut Ids,
    ) -> Result<(), StoreError> {
        if app.network(mode).is_some() || self.was_due != self.due(None) {
            return self.close(app, tx, mode, ids);
        }
        self.save(tx)
    }

    /// Writes back what changed.
    pub(crate) fn save(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        if self.esim.leaves_at.is_some() && self.esim.leaves_at != self.leaves_at() {
            self.esim.leaves_at = None;
        }
        for (one, was) in self.queue.assignments().iter().zip(&self.bundles) {
            if *one != was.assignment {
                assignments::save(tx, one)?;
            }
        }
        if self.esim != self.was {
            esims::save(tx, &self.esim)?;
        }
        let iccid = &self.esim.iccid;
        let entries = self.entries.drain(..).map(|entry| (iccid.clone(), entry));
        history::add(tx, self.org, &entries.collect::<Vec<_>>())
    }

    /// Where the network is outside, it hears of a change by a job.
    pub(crate) fn tell_network(
        &self,
        app: &App,
        tx: &mut Tx<'_>,
        mode: Mode,
        ids: &mut Ids,
    ) -> Result<(), StoreError> {
        if app.network(mode).is_none() {
            return Ok(());
        }
        let clock = tx.head().map_or(ids.now, |head| head.clock(ids.now));
        if esims::service(tx, &self.esim.iccid)? == self.level(clock).name() {
            return Ok(());
        }
        App::add_job(tx, ids.job(), (NETWORK, self.esim.iccid.as_str()), clock, ids.now)
    }
}

impl App {
    /// Bundles were put on eSIMs and wait there: what starts by itself starts, the history says
    /// so, and each eSIM is looked at again in time.
    pub(crate) fn settle_in(
        &self,
        tx: &mut Tx<'_>,
        (org, mode): (OrgId, Mode),
        placed: &[Placed],
        ids: &mut Ids,
    ) -> Result<(), StoreError> {
        let clock = tx.head().map_or(ids.now, |head| head.clock(ids.now));
        let entry = |one: &Placed| {
            let bundle = (one.bundle.to_string(), State::Queued.name().to_owned());
            let kind = EntryKind::Applied;
            (one.iccid.clone(), Entry { at: clock, kind, bundle: Some(bundle), percent: None })
        };
        history::add(tx, org, &placed.iter().map(entry).collect::<Vec<_>>())?;
        let mut iccids: Vec<_> = placed.iter().map(|one| one.iccid.clone()).collect();
        iccids.sort();
        iccids.dedup();
        esims::acted(tx, &iccids, EntryKind::Applied.name(), clock)?;
        // A bundle that waits for its first use changes nothing else on its eSIM: whatever is due
        // there stays due, and it lapses in its time.
        let is_plain = |one: &Placed| one.waits_for_use;
        let mut others: Vec<_> =
            placed.iter().filter(|one| !is_plain(one)).map(|one| one.iccid.clone()).collect();
        others.sort();
        others.dedup();
        if self.network(mode).is_some() {
            others.clone_from(&iccids);
        }
        iccids.retain(|iccid| others.binary_search(iccid).is_err());
        look_when_lapsed(tx, org, &iccids, (clock, ids))?;
        for mut loaded in Loaded::all(tx, org, &others)? {
            loaded.advance(clock);
            loaded.close(self, tx, mode, ids)?;
        }
        Ok(())
    }
}

/// The next thing to happen to these is that their bundles lapse.
fn look_when_lapsed(
    tx: &mut Tx<'_>,
    org: OrgId,
    iccids: &[Iccid],
    (clock, ids): (Timestamp, &mut Ids),
) -> Result<(), StoreError> {
    let offset = tx.head().map_or(0, |head| head.clock_offset_ms);
    let at = clock.plus(limits::ASSIGNMENT_WAIT);
    let job = |iccid: &Iccid| Job {
        id: ids.job(),
        org,
        kind: ESIM.to_owned(),
        subject: iccid.to_string(),
        due_at: at,
        attempts: 0,
        error: String::new(),
        failed_at: None,
    };
    let jobs: Vec<_> = iccids.iter().map(job).collect();
    store::jobs::add_all_sooner(tx, &jobs, Due { at, wake_at: at.plus_ms(-offset) }, ids.now)
}
