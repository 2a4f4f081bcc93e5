//! What networks and installation servers tell of eSIMs: data used, a registration, a step of an
//! installation. Each record counts once, in the order of arrival, with everything it causes in one
//! transaction.

mod series;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub use self::series::{Error, Series, Span, Step};
use domain::assignment::STEPS;
use domain::esim::{EntryKind, ProfileStatus, Seen};
use domain::event::{Event, InUse};
use domain::organisation::UsageEvents;
use domain::{Iccid, OrgId, Organisation, Timestamp, limits, world};
pub use store::records::Stray;
use store::records::{self, Record};
use store::usage::Sum;
use store::{StoreError, Tx, esims, history};
use tokio::task::JoinSet;

use crate::App;
use crate::catalogue::Catalogue;
use crate::esims::Loaded;
use crate::ids::Ids;
use crate::organisations::own;

/// A record as it came.
#[derive(Debug, Clone)]
pub struct NewRecord {
    /// Who made it.
    pub source: String,
    /// Its id there.
    pub id: String,
    /// The eSIM it is about.
    pub iccid: Iccid,
    /// When what it tells was.
    pub at: Timestamp,
    /// What it tells.
    pub told: Told,
}

/// What a record tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Data was used.
    Used {
        /// How much.
        bytes: i64,
        /// Where, if that is known.
        place: Option<Place>,
    },
    /// It registered on a network.
    Attached(Place),
    /// Its installation went a step on.
    Progress(ProfileStatus),
}

/// A place on the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// ISO code of the country.
    pub country: String,
    /// TADIG code of the network; may be empty.
    pub network: String,
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Accepted,
    /// It counted before.
    Duplicate,
    /// It cannot count.
    Rejected(&'static str),
}

/// Who paid for data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Charged {
    /// Assignments with their bundles, and how many bytes each.
    pub by: Vec<(i64, String, i64)>,
    /// Bytes that nobody paid for.
    pub overshoot: i64,
}

impl App {
    /// Takes records in, in their order, and says what became of each.
    pub async fn take_records(&self, new: Vec<NewRecord>) -> Result<Vec<Verdict>, StoreError> {
        let catalogue = self.catalogue().await?;
        let mut verdicts = vec![Verdict::Rejected(NOT_KNOWN); new.len()];
        let iccids: Vec<_> = new.iter().map(|record| record.iccid.clone()).collect();
        let owners = self.store().read(move |tx| esims::owners(tx, &iccids)).await?;
        let mut by_org: Vec<(OrgId, Vec<(usize, NewRecord)>)> = Vec::new();
        let mut places: HashMap<OrgId, usize> = HashMap::new();
        let mut strays = Vec::new();
        for (at, record) in new.into_iter().enumerate() {
            let Some(org) = owners.get(&record.iccid) else {
                strays.push((at, kept(&record, self.now())));
                continue;
            };
            let place = *places.entry(*org).or_insert_with(|| {
                by_org.push((*org, Vec::new()));
                by_org.len() - 1
            });
            by_org[place].1.push((at, record));
        }
        for at in self.keep_strays(strays).await? {
            verdicts[at] = Verdict::Duplicate;
        }
        // Organisations do not wait for each other; the records of one stay in order.
        let mut taking = JoinSet::new();
        for (org, records) in by_org {
            let (app, catalogue) = (self.clone(), catalogue.clone());
            taking.spawn(async move { app.take_all(org, records, &catalogue).await });
        }
        while let Some(taken) = taking.join_next().await {
            let gone = |_| StoreError::Unavailable("records were not taken".to_owned());
            for (at, verdict) in taken.map_err(gone)?? {
                verdicts[at] = verdict;
            }
        }
        self.work().wake();
        Ok(verdicts)
    }

    /// Keeps records of eSIMs that no organisation has, but for those that counted when one had;
    /// says which those are.
    async fn keep_strays(&self, all: Vec<(usize, Record)>) -> Result<Vec<usize>, StoreError> {
        if all.is_empty() {
            return Ok(Vec::new());
        }
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                let records: Vec<_> = all.iter().map(|(_, record)| record.clone()).collect();
                let known = records::known(tx, &records)?;
                let is_known = |record: &Record| known.contains(&record.digest());
                let (old, strays): (Vec<_>, Vec<_>) =
                    all.iter().cloned().partition(|(_, record)| is_known(record));
                let strays: Vec<_> = strays.into_iter().map(|(_, record)| record).collect();
                records::stray(tx, &strays)?;
                Ok(old.into_iter().map(|(at, _)| at).collect())
            })
            .await
    }

    /// Takes all records of one organisation, so many in a transaction.
    async fn take_all(
        &self,
        org: OrgId,
        records: Vec<(usize, NewRecord)>,
        catalogue: &Arc<Catalogue>,
    ) -> Result<Vec<(usize, Verdict)>, StoreError> {
        let mut verdicts = Vec::with_capacity(records.len());
        for chunk in records.chunks(limits::RECORDS_PER_WRITE) {
            let (app, ids, chunk) = (self.clone(), self.ids(), chunk.to_vec());
            let catalogue = catalogue.clone();
            let write = move |tx: &mut Tx<'_>| {
                app.take_chunk(tx, org, (&chunk, &catalogue), &mut ids.clone())
            };
            verdicts.extend(self.store().write(org, write).await?);
            self.outgoing().wake();
        }
        Ok(verdicts)
    }

    /// Records of eSIMs that no organisation has, newest first.
    pub async fn strays(&self, most: i64) -> Result<Vec<Stray>, StoreError> {
        self.store().read(move |tx| records::strays(tx, most)).await
    }

    /// Takes records of one organisation. What they need is read at once and written back at once.
    fn take_chunk(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        (chunk, catalogue): (&[(usize, NewRecord)], &Catalogue),
        ids: &mut Ids,
    ) -> Result<Vec<(usize, Verdict)>, StoreError> {
        let (organisation, clock) = own(tx, org, ids.now)?;
        let mut esims = loaded(tx, org, chunk)?;
        let mut verdicts = Vec::with_capacity(chunk.len());
        let mut good = Vec::with_capacity(chunk.len());
        let mut strays = Vec::new();
        for (place, record) in chunk {
            let refusal = refusal(record, clock, catalogue);
            if refusal.is_none() && esims.contains_key(&record.iccid) {
                good.push((*place, record, kept(record, ids.now)));
                continue;
            }
            if refusal.is_none() {
                // It has left since its owner was looked up.
                strays.push(kept(record, ids.now));
            }
            verdicts.push((*place, Verdict::Rejected(refusal.unwrap_or(NOT_KNOWN))));
        }
        records::stray(tx, &strays)?;
        let rows: Vec<_> = good.iter().map(|(_, _, kept)| kept.clone()).collect();
        let mut new = records::add(tx, org, &rows)?;
        records::found(tx, &new.iter().copied().collect::<Vec<_>>())?;
        let (mut sums, mut touched) = (Sums::default(), BTreeSet::new());
        for (place, record, kept) in good {
            if !new.remove(&kept.digest()) {
                verdicts.push((place, Verdict::Duplicate));
                continue;
            }
            verdicts.push((place, Verdict::Accepted));
            let Some(loaded) = esims.get_mut(&record.iccid) else { continue };
            touched.insert(&record.iccid);
            sums.add(&kept);
            let told = (record, kept, catalogue);
            self.take_record(tx, (&organisation, loaded), told, (clock, ids))?;
        }
        for (iccid, loaded) in esims {
            if touched.contains(&iccid) {
                loaded.close_used(self, tx, organisation.mode, ids)?;
            }
        }
        sums.write(tx, org)?;
        Ok(verdicts)
    }

    fn take_record(
        &self,
        tx: &mut Tx<'_>,
        (organisation, loaded): (&Organisation, &mut Loaded),
        (record, mut kept, catalogue): (&NewRecord, Record, &Catalogue),
        (clock, ids): (Timestamp, &mut Ids),
    ) -> Result<(), StoreError> {
        let at = (record.at, ids);
        match &record.told {
            Told::Used { bytes, place } => {
                let (when, ids) = at;
                if let Some(place) = place {
                    let there = (place, catalogue);
                    self.attached(tx, (organisation, loaded), there, (when, &mut *ids))?;
                }
                let used = (*bytes, when);
                let charged = self.rated(tx, (organisation, loaded), used, (clock, ids))?;
                if charged.overshoot > 0 {
                    kept.overshoot = charged.overshoot;
                    records::put_overshoot(tx, &kept)?;
                }
            }
            Told::Attached(place) => {
                self.attached(tx, (organisation, loaded), (place, catalogue), at)?;
            }
            Told::Progress(status) => progressed(loaded, *status, record.at),
        }
        Ok(())
    }

    /// Charges data to the bundles on an eSIM, with everything that causes.
    pub(crate) fn rated(
        &self,
        tx: &mut Tx<'_>,
        (organisation, loaded): (&Organisation, &mut Loaded),
        (bytes, used_at): (i64, Timestamp),
        (clock, ids): (Timestamp, &mut Ids),
    ) -> Result<Charged, StoreError> {
        let rated = loaded.queue.rate(bytes, used_at, clock);
        loaded.happened(&rated.steps);
        let mut charged = Charged { by: Vec::new(), overshoot: rated.overshoot };
        for (id, taken) in rated.charged {
            let Some(bundle) = in_use(loaded, id, clock) else { continue };
            let iccid = loaded.esim.iccid.clone();
            charged.by.push((id, bundle.name.clone(), taken));
            if loaded.esim.first_used_at.is_none() {
                loaded.esim.first_used_at = Some(clock);
                note_use(loaded, clock, EntryKind::FirstUse, (id, None));
                let event = Event::FirstUse { iccid: iccid.clone(), bundle: bundle.clone() };
                self.tell(tx, organisation, (ids.event(), clock), &event)?;
            }
            for percent in passed(loaded, id, taken, &STEPS) {
                note_use(loaded, clock, EntryKind::Alert, (id, Some(percent)));
            }
            let settings = &organisation.settings;
            let times = match settings.usage_events {
                UsageEvents::Every => 1,
                UsageEvents::Steps => passed(loaded, id, taken, &settings.usage_steps).len(),
            };
            let event = Event::Utilisation { iccid, bundle };
            for _ in 0..times {
                self.tell(tx, organisation, (ids.event(), clock), &event)?;
            }
        }
        Ok(charged)
    }

    /// An eSIM registered on a network.
    pub(crate) fn attached(
        &self,
        tx: &mut Tx<'_>,
        (organisation, loaded): (&Organisation, &mut Loaded),
        (place, catalogue): (&Place, &Catalogue),
        (at, ids): (Timestamp, &mut Ids),
    ) -> Result<(), StoreError> {
        let iccid = loaded.esim.iccid.clone();
        // Records may be old; events are told when they are heard of, so that they stay in order.
        let clock = tx.head().map_or(at, |head| head.clock(ids.now));
        if loaded.esim.seen.is_none() {
            loaded.note(at, EntryKind::FirstAttachment);
            let event = Event::FirstAttachment { iccid: iccid.clone() };
            self.tell(tx, organisation, (ids.event(), clock), &event)?;
        }
        let told_at = loaded.visited(tx, &place.country)?;
        if told_at.is_none_or(|told| at >= told.plus(limits::COUNTRY_AGAIN)) {
            loaded.visit(tx, &place.country, at)?;
            let code = place.country.clone();
            let name = country_name(catalogue, &code).unwrap_or_else(|| code.clone());
            let event = Event::CountryChange { iccid, code, name };
            self.tell(tx, organisation, (ids.event(), clock), &event)?;
        }
        // Records may come late; where it was last is told by the latest.
        if loaded.esim.seen.as_ref().is_none_or(|seen| seen.at <= at) {
            let Place { country, network } = place.clone();
            loaded.esim.seen = Some(Seen { at, country, network });
        }
        Ok(())
    }
}

const NOT_KNOWN: &str = "iccid is not known";

/// The eSIMs that records are about, as far as they are the organisation's, and where they were.
fn loaded(
    tx: &mut Tx<'_>,
    org: OrgId,
    chunk: &[(usize, NewRecord)],
) -> Result<BTreeMap<Iccid, Loaded>, StoreError> {
    let mut iccids: Vec<_> = chunk.iter().map(|(_, record)| record.iccid.clone()).collect();
    iccids.sort();
    iccids.dedup();
    let all = Loaded::all(tx, org, &iccids)?;
    let mut esims: BTreeMap<_, _> =
        all.into_iter().map(|loaded| (loaded.esim.iccid.clone(), loaded)).collect();
    if chunk.iter().any(|(_, record)| place_of(record).is_some()) {
        for loaded in esims.values_mut() {
            loaded.has_been(HashMap::new());
        }
        for (iccid, country, told_at) in history::visits(tx, org, &iccids)? {
            if let Some(loaded) = esims.get_mut(&iccid) {
                loaded.has_also_been(country, told_at);
            }
        }
    }
    Ok(esims)
}

/// Why a record cannot count, whatever eSIM it is about.
fn refusal(record: &NewRecord, clock: Timestamp, catalogue: &Catalogue) -> Option<&'static str> {
    if record.at > clock.plus(limits::RECORD_AHEAD) {
        return Some("time is in the future");
    }
    let unknown = |place: &Place| country_name(catalogue, &place.country).is_none();
    place_of(record).is_some_and(unknown).then_some("country is not known")
}

/// Which of these percentages of a bundle the last use has passed.
fn passed(loaded: &Loaded, id: i64, taken: i64, steps: &[i64]) -> Vec<i64> {
    loaded.queue.get(id).map(|one| one.passed(taken, steps)).unwrap_or_default()
}

/// Data used, added up by eSIM and for all of them, by hour and country.
#[derive(Default)]
pub(crate) struct Sums(BTreeMap<(Option<Iccid>, i64, String), i64>);

impl Sums {
    pub(crate) fn add(&mut self, record: &Record) {
        if record.bytes == 0 {
            return;
        }
        let hour = record.at.hour();
        for iccid in [None, Some(record.iccid.clone())] {
            let sum = self.0.entry((iccid, hour, record.country.clone())).or_default();
            *sum = sum.saturating_add(record.bytes);
        }
    }

    pub(crate) fn write(self, tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
        let sums: Vec<_> = self.0.into_iter().collect();
        let row = |((iccid, hour, country), bytes): &((Option<Iccid>, i64, String), i64)| {
            (iccid.clone(), Sum { hour: *hour, country: country.clone(), bytes: *bytes })
        };
        store::usage::add(tx, org, &sums.iter().map(row).collect::<Vec<_>>())
    }
}

/// Notes use of a bundle in the history, with its state after it.
fn note_use(
    loaded: &mut Loaded,
    at: Timestamp,
    kind: EntryKind,
    (id, percent): (i64, Option<i64>),
) {
    if let Some(state) = loaded.queue.get(id).map(|one| one.state) {
        loaded.note_bundle(at, kind, (id, state), percent);
    }
}

/// What a country is called: an eSIM can be where nothing is sold.
pub fn country_name(catalogue: &Catalogue, iso: &str) -> Option<String> {
    let known = catalogue.country(iso).map(|country| country.name.clone());
    known.or_else(|| world::country(iso).map(|country| country.name))
}

/// A profile went a step on, if it can.
pub(crate) fn progressed(loaded: &mut Loaded, status: ProfileStatus, at: Timestamp) {
    if !loaded.esim.status.may_become(status) {
        return;
    }
    loaded.esim.status = status;
    if status == ProfileStatus::Installed {
        loaded.esim.first_installed_at.get_or_insert(at);
    }
}

fn in_use(loaded: &Loaded, id: i64, clock: Timestamp) -> Option<InUse> {
    let (one, stored) = (loaded.queue.get(id)?, loaded.stored(id)?);
    Some(InUse {
        id,
        reference: stored.own_reference(),
        name: stored.bundle.to_string(),
        description: stored.description.clone(),
        initial: one.initial_bytes(),
        remaining: one.remaining_bytes(clock),
        started_at: one.started_at,
        ends_at: one.ends_at,
        is_unlimited: one.terms.data.is_unlimited(),
    })
}

fn place_of(record: &NewRecord) -> Option<&Place> {
    match &record.told {
        Told::Used { place, .. } => place.as_ref(),
        Told::Attached(place) => Some(place),
        Told::Progress(_) => None,
    }
}

fn kept(record: &NewRecord, arrived_at: Timestamp) -> Record {
    let (kind, bytes) = match &record.told {
        Told::Used { bytes, .. } => ("use", *bytes),
        Told::Attached(_) => ("attach", 0),
        Told::Progress(_) => ("progress", 0),
    };
    let nowhere = || Place { country: String::new(), network: String::new() };
    let Place { country, network } = place_of(record).cloned().unwrap_or_else(nowhere);
    Record {
        source: record.source.clone(),
        id: record.id.clone(),
        iccid: record.iccid.clone(),
        kind,
        at: record.at,
        arrived_at,
        bytes,
        overshoot: 0,
        country,
        network,
    }
}
