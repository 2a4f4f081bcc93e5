//! What networks and installation servers tell of eSIMs: data used, a registration, a step of an
//! installation. Each record counts once, in the order of arrival, with everything it causes in one
//! transaction.

use std::collections::HashMap;

use domain::esim::{EntryKind, ProfileStatus, Seen};
use domain::event::{Event, InUse};
use domain::{Iccid, OrgId, Organisation, Timestamp, limits, world};
use store::records::{self, Record};
use store::{StoreError, Tx, esims, history};

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
        let mut verdicts = vec![Verdict::Rejected("iccid is not known"); new.len()];
        let iccids: Vec<_> = new.iter().map(|record| record.iccid.clone()).collect();
        let owners = self.store().read(move |tx| esims::owners(tx, &iccids)).await?;
        let mut by_org: Vec<(OrgId, Vec<(usize, NewRecord)>)> = Vec::new();
        let mut places: HashMap<OrgId, usize> = HashMap::new();
        for (at, record) in new.into_iter().enumerate() {
            let Some(org) = owners.get(&record.iccid) else { continue };
            let place = *places.entry(*org).or_insert_with(|| {
                by_org.push((*org, Vec::new()));
                by_org.len() - 1
            });
            by_org[place].1.push((at, record));
        }
        for (org, records) in by_org {
            for chunk in records.chunks(limits::RECORDS_PER_WRITE) {
                let (app, ids, chunk) = (self.clone(), self.ids(), chunk.to_vec());
                let catalogue = catalogue.clone();
                let write = move |tx: &mut Tx<'_>| {
                    app.take_chunk(tx, org, (&chunk, &catalogue), &mut ids.clone())
                };
                for (at, verdict) in self.store().write(org, write).await? {
                    verdicts[at] = verdict;
                }
            }
        }
        self.work().wake();
        Ok(verdicts)
    }

    fn take_chunk(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        (chunk, catalogue): (&[(usize, NewRecord)], &Catalogue),
        ids: &mut Ids,
    ) -> Result<Vec<(usize, Verdict)>, StoreError> {
        let (organisation, clock) = own(tx, org, ids.now)?;
        let mut verdicts = Vec::with_capacity(chunk.len());
        for (place, record) in chunk {
            let taken = self.take_record(tx, (&organisation, clock), (record, catalogue), ids)?;
            verdicts.push((*place, taken));
        }
        Ok(verdicts)
    }

    fn take_record(
        &self,
        tx: &mut Tx<'_>,
        (organisation, clock): (&Organisation, Timestamp),
        (record, catalogue): (&NewRecord, &Catalogue),
        ids: &mut Ids,
    ) -> Result<Verdict, StoreError> {
        if record.at > clock.plus(limits::RECORD_AHEAD) {
            return Ok(Verdict::Rejected("time is in the future"));
        }
        if place_of(record).is_some_and(|place| country_name(catalogue, &place.country).is_none()) {
            return Ok(Verdict::Rejected("country is not known"));
        }
        let Some(mut loaded) = Loaded::find(tx, organisation.id, &record.iccid)? else {
            return Ok(Verdict::Rejected("iccid is not known"));
        };
        let mut kept = kept(record, clock);
        if !records::add(tx, organisation.id, &kept)? {
            return Ok(Verdict::Duplicate);
        }
        match &record.told {
            Told::Used { bytes, place } => {
                if let Some(place) = place {
                    self.attached(tx, &mut loaded, (place, catalogue), (record.at, ids))?;
                }
                let charged = self.rated(tx, &mut loaded, (*bytes, record.at), (clock, ids))?;
                if charged.overshoot > 0 {
                    kept.overshoot = charged.overshoot;
                    records::put_overshoot(tx, &kept)?;
                }
            }
            Told::Attached(place) => {
                self.attached(tx, &mut loaded, (place, catalogue), (record.at, ids))?;
            }
            Told::Progress(status) => progressed(&mut loaded, *status, record.at),
        }
        loaded.close(self, tx, organisation.mode, ids)?;
        Ok(Verdict::Accepted)
    }

    /// Charges data to the bundles on an eSIM, with everything that causes.
    pub(crate) fn rated(
        &self,
        tx: &mut Tx<'_>,
        loaded: &mut Loaded,
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
                self.tell(tx, ids.event(), clock, &event)?;
            }
            let alerts = loaded.queue.get(id).map(|one| one.alerts(taken)).unwrap_or_default();
            for percent in alerts {
                note_use(loaded, clock, EntryKind::Alert, (id, Some(percent)));
            }
            self.tell(tx, ids.event(), clock, &Event::Utilisation { iccid, bundle })?;
        }
        Ok(charged)
    }

    /// An eSIM registered on a network.
    pub(crate) fn attached(
        &self,
        tx: &mut Tx<'_>,
        loaded: &mut Loaded,
        (place, catalogue): (&Place, &Catalogue),
        (at, ids): (Timestamp, &mut Ids),
    ) -> Result<(), StoreError> {
        let iccid = loaded.esim.iccid.clone();
        if loaded.esim.seen.is_none() {
            loaded.note(at, EntryKind::FirstAttachment);
            let event = Event::FirstAttachment { iccid: iccid.clone() };
            self.tell(tx, ids.event(), at, &event)?;
        }
        let told_at = history::visited(tx, (loaded.org(), &iccid), &place.country)?;
        if told_at.is_none_or(|told| at >= told.plus(limits::COUNTRY_AGAIN)) {
            history::visit(tx, (loaded.org(), &iccid), &place.country, at)?;
            let code = place.country.clone();
            let name = country_name(catalogue, &code).unwrap_or_else(|| code.clone());
            self.tell(tx, ids.event(), at, &Event::CountryChange { iccid, code, name })?;
        }
        // Records may come late; where it was last is told by the latest.
        if loaded.esim.seen.as_ref().is_none_or(|seen| seen.at <= at) {
            let Place { country, network } = place.clone();
            loaded.esim.seen = Some(Seen { at, country, network });
        }
        Ok(())
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
pub(crate) fn country_name(catalogue: &Catalogue, iso: &str) -> Option<String> {
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
