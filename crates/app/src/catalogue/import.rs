//! Bringing a catalogue in: checked whole, all or nothing, and with a preview of what changes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use domain::catalogue::{Bundle, Data, Draft, Fault, Group, Known, Placed, Price, Rate, Start};
use domain::{OrgId, limits, world};
use store::catalogue::{self, Stored};
use store::epochs::{self, Epoch};
use store::{StoreError, Tx};

use crate::{Actor, App};

/// Whether to do it or only to say what it would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Only say.
    Preview,
    /// Do it.
    Apply,
}

/// How many rows of a part change, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// New ones.
    pub added: usize,
    /// Known ones that say something else now.
    pub changed: usize,
    /// Known ones that say the same.
    pub unchanged: usize,
    /// Bundles that are no longer sold.
    pub withdrawn: usize,
}

/// What an import changes, or would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whether it was done.
    pub is_applied: bool,
    /// By part of the catalogue.
    pub parts: [(&'static str, Counts); 6],
    /// The first changes in words.
    pub examples: Vec<String>,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something is wrong with it; everything that is.
    #[error("{}", told(.0))]
    Faults(Vec<Fault>),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn told(faults: &[Fault]) -> String {
    let first = faults.first().map_or_else(String::new, |f| format!("{}: {}", f.at, f.why));
    match faults.len() {
        0 | 1 => first,
        count => format!("{first} (and {} more)", count - 1),
    }
}

/// How many changes are told in words.
const EXAMPLES: usize = 20;

/// Rows that really change.
#[derive(Default)]
struct Delta {
    countries: Vec<domain::catalogue::Country>,
    networks: Vec<domain::catalogue::Network>,
    groups: Vec<Group>,
    bundles: Vec<Bundle>,
    prices: Vec<Price>,
    rates: Vec<(String, Rate)>,
}

impl App {
    /// Imports a catalogue, or says what importing it would change.
    pub async fn import_catalogue(
        &self,
        actor: Actor,
        draft: Draft,
        step: Step,
    ) -> Result<Report, Error> {
        let brought = draft;
        loop {
            // Anew each time: what is filled in depends on what there is.
            let mut draft = brought.clone();
            let (epoch, stored) = self
                .store()
                .read(|tx| {
                    Ok::<_, StoreError>((epochs::read(tx, Epoch::Catalogue)?, catalogue::load(tx)?))
                })
                .await?;
            complete(&mut draft, &stored);
            check(&draft, &stored)?;
            let (mut report, delta) = self.compare(&draft, &stored);
            if step == Step::Preview {
                return Ok(report);
            }
            // What changes nothing need not make every node read the catalogue again.
            if delta.is_empty() || self.write_catalogue(actor, epoch, (delta, &report)).await? {
                report.is_applied = true;
                return Ok(report);
            }
            // Somebody else imported meanwhile: what changes must be worked out again.
        }
    }

    /// Writes what changes, unless the catalogue has moved since it was compared.
    async fn write_catalogue(
        &self,
        actor: Actor,
        epoch: i64,
        (delta, report): (Delta, &Report),
    ) -> Result<bool, Error> {
        let act = self.act(actor, "catalogue.import");
        let detail: Vec<_> = report
            .parts
            .iter()
            .map(|(name, counts)| {
                let Counts { added, changed, withdrawn, .. } = counts;
                format!("{name} +{added} ~{changed} -{withdrawn}")
            })
            .collect();
        let (delta, detail) = (Arc::new(delta), detail.join(", "));
        let written = self.store().write(OrgId::HOUSE, move |tx| {
            if epochs::read(tx, Epoch::Catalogue)? != epoch {
                return Ok(None);
            }
            delta.write(tx, act.at)?;
            epochs::bump(tx, Epoch::Catalogue)?;
            act.note(tx, None, "catalogue", &detail)?;
            Ok::<_, StoreError>(Some(epoch + 1))
        });
        let written = written.await?;
        if let Some(epoch) = written {
            self.shelf().heard(epoch);
        }
        Ok(written.is_some())
    }

    fn compare(&self, draft: &Draft, stored: &Stored) -> (Report, Delta) {
        let mut delta = Delta::default();
        let mut examples = Vec::new();
        let countries =
            part(&draft.countries, &stored.countries, |c| c.iso.clone(), &mut delta.countries);
        let groups = part(&draft.groups, &stored.groups, |g| g.name.clone(), &mut delta.groups);
        let networks = network_part(draft, stored, &mut delta);
        let mut bundles =
            part(&draft.bundles, &stored.bundles, |b| b.name.to_string(), &mut delta.bundles);
        if draft.withdraw_others {
            bundles.withdrawn = withdraw(draft, stored, &mut delta.bundles);
        }
        describe(&delta.bundles, stored, &mut examples);
        let key = |p: &Price| format!("{}\n{}\n{}", p.bundle, p.currency, p.list);
        let prices = part(&draft.prices, &stored.prices, key, &mut delta.prices);
        describe_prices(&delta.prices, stored, &mut examples);
        let rates = self.rate_part(draft, stored, &mut delta);
        let parts = [
            ("bundles", bundles),
            ("countries", countries),
            ("networks", networks),
            ("groups", groups),
            ("prices", prices),
            ("rates", rates),
        ];
        (Report { is_applied: false, parts, examples }, delta)
    }

    fn rate_part(&self, draft: &Draft, stored: &Stored, delta: &mut Delta) -> Counts {
        let key = |r: &Rate| format!("{}\n{}\n{}\n{}", r.list, r.iso, r.profile_name, r.currency);
        let known: Vec<_> = stored.rates.iter().map(|(_, rate)| rate.clone()).collect();
        let mut rates = Vec::new();
        let counts = part(&draft.rates, &known, key, &mut rates);
        // A rate that is known keeps its id.
        let named = |rate| (crate::orders::random_uuid(self.rt().random()), rate);
        delta.rates = rates.into_iter().map(named).collect();
        counts
    }
}

impl Delta {
    fn is_empty(&self) -> bool {
        self.countries.is_empty()
            && self.networks.is_empty()
            && self.groups.is_empty()
            && self.bundles.is_empty()
            && self.prices.is_empty()
            && self.rates.is_empty()
    }

    fn write(&self, tx: &mut Tx<'_>, now: domain::Timestamp) -> Result<(), StoreError> {
        catalogue::put_countries(tx, &self.countries)?;
        catalogue::put_networks(tx, &self.networks)?;
        catalogue::put_groups(tx, &self.groups)?;
        catalogue::put_bundles(tx, &self.bundles, now)?;
        catalogue::put_prices(tx, &self.prices)?;
        catalogue::put_rates(tx, &self.rates)
    }
}

/// Adds what a draft may leave out: countries the world knows, groups that bundles name.
fn complete(draft: &mut Draft, stored: &Stored) {
    let mut isos: HashSet<_> = stored.countries.iter().map(|c| c.iso.clone()).collect();
    isos.extend(draft.countries.iter().map(|row| row.value.iso.clone()));
    let of_bundles =
        draft.bundles.iter().flat_map(|row| row.value.countries.iter().chain(&row.value.roaming));
    let named = of_bundles
        .chain(draft.networks.iter().map(|row| &row.value.iso))
        .chain(draft.rates.iter().map(|row| &row.value.iso));
    let missing: BTreeSet<_> = named.filter(|iso| !isos.contains(*iso)).cloned().collect();
    let added = missing.iter().filter_map(|iso| world::country(iso));
    let added: Vec<_> = added.map(|value| Placed { at: "the world".to_owned(), value }).collect();
    draft.countries.extend(added);
    let mut groups: HashSet<_> = stored.groups.iter().map(|g| g.name.clone()).collect();
    groups.extend(draft.groups.iter().map(|row| row.value.name.clone()));
    let named: BTreeSet<_> = draft
        .bundles
        .iter()
        .flat_map(|row| row.value.groups.iter().map(|name| (name.clone(), row.at.clone())))
        .filter(|(name, _)| !groups.contains(name))
        .collect();
    for (name, at) in named {
        if groups.insert(name.clone()) {
            let empty = String::new;
            let value =
                Group { name, description: empty(), price_list_url: empty(), icon: empty() };
            draft.groups.push(Placed { at, value });
        }
    }
}

fn check(draft: &Draft, stored: &Stored) -> Result<(), Error> {
    if draft.rows() > limits::CATALOGUE_ROWS_MAX {
        let why = format!("a catalogue can have at most {} rows", limits::CATALOGUE_ROWS_MAX);
        return Err(Error::Faults(vec![Fault { at: "the whole".to_owned(), why }]));
    }
    let known = Known {
        isos: stored.countries.iter().map(|c| c.iso.clone()).collect(),
        bundles: stored.bundles.iter().map(|b| b.name.to_string()).collect(),
    };
    let mut faults = draft.faults(&known);
    if faults.is_empty() {
        return Ok(());
    }
    if faults.len() > limits::IMPORT_FAULTS_MAX {
        let why = format!("and {} faults more", faults.len() - limits::IMPORT_FAULTS_MAX + 1);
        faults.truncate(limits::IMPORT_FAULTS_MAX - 1);
        faults.push(Fault { at: "the rest".to_owned(), why });
    }
    Err(Error::Faults(faults))
}

/// Counts what changes in one part and keeps the rows that do.
fn part<T: Clone + PartialEq>(
    rows: &[Placed<T>],
    stored: &[T],
    key: impl Fn(&T) -> String,
    changed: &mut Vec<T>,
) -> Counts {
    let known: HashMap<_, _> = stored.iter().map(|row| (key(row), row)).collect();
    let mut counts = Counts::default();
    for row in rows {
        match known.get(&key(&row.value)) {
            None => counts.added += 1,
            Some(known) if **known == row.value => {
                counts.unchanged += 1;
                continue;
            }
            Some(_) => counts.changed += 1,
        }
        changed.push(row.value.clone());
    }
    counts
}

/// Networks of a country that is mentioned are replaced as a whole, so one that changes brings all.
fn network_part(draft: &Draft, stored: &Stored, delta: &mut Delta) -> Counts {
    let mut changed = Vec::new();
    let key = |n: &domain::catalogue::Network| format!("{}\n{}\n{}", n.iso, n.mcc, n.mnc);
    let mut counts = part(&draft.networks, &stored.networks, key, &mut changed);
    let named: HashSet<_> = draft.networks.iter().map(|row| key(&row.value)).collect();
    let mentioned: HashSet<_> = draft.networks.iter().map(|row| &row.value.iso).collect();
    let gone: Vec<_> = stored
        .networks
        .iter()
        .filter(|network| mentioned.contains(&network.iso) && !named.contains(&key(network)))
        .collect();
    counts.withdrawn = gone.len();
    let isos: HashSet<_> =
        changed.iter().map(|n| &n.iso).chain(gone.iter().map(|n| &n.iso)).collect();
    let rows = draft.networks.iter().map(|row| &row.value);
    delta.networks = rows.filter(|network| isos.contains(&network.iso)).cloned().collect();
    counts
}

fn withdraw(draft: &Draft, stored: &Stored, changed: &mut Vec<Bundle>) -> usize {
    let named: HashSet<_> = draft.bundles.iter().map(|row| row.value.name.as_str()).collect();
    let others =
        stored.bundles.iter().filter(|b| !b.is_withdrawn && !named.contains(b.name.as_str()));
    let others: Vec<_> =
        others.map(|bundle| Bundle { is_withdrawn: true, ..bundle.clone() }).collect();
    let count = others.len();
    changed.extend(others);
    count
}

fn describe(changed: &[Bundle], stored: &Stored, examples: &mut Vec<String>) {
    let known: HashMap<_, _> = stored.bundles.iter().map(|b| (b.name.as_str(), b)).collect();
    for new in changed.iter().take(EXAMPLES) {
        let name = &new.name;
        examples.push(match known.get(name.as_str()) {
            None => format!("bundle {name} is new"),
            Some(old) if new.is_withdrawn && !old.is_withdrawn => {
                format!("bundle {name} is no longer sold")
            }
            Some(old) => format!("bundle {name} changes: {}", differences(old, new).join(", ")),
        });
    }
}

/// Which fields differ, named as in the file.
fn differences(old: &Bundle, new: &Bundle) -> Vec<String> {
    let shown = |name: &str, old: String, new: String| {
        (old != new).then(|| format!("{name} {old} → {new}"))
    };
    let list = |list: &[String]| list.join(";");
    let fields = [
        shown("description", old.description.clone(), new.description.clone()),
        shown("countries", list(&old.countries), list(&new.countries)),
        shown("roamingEnabled", list(&old.roaming), list(&new.roaming)),
        shown("data", data(old), data(new)),
        shown("duration", old.duration.to_string(), new.duration.to_string()),
        shown("durationUnit", old.duration_unit.name().into(), new.duration_unit.name().into()),
        shown("speed", list(&old.speeds), list(&new.speeds)),
        shown("autostart", autostart(old), autostart(new)),
        shown("groups", list(&old.groups), list(&new.groups)),
        shown("profileName", old.profile_name.clone(), new.profile_name.clone()),
        shown("imageUrl", old.image_url.clone(), new.image_url.clone()),
        (old.allowances != new.allowances).then(|| "allowances".to_owned()),
        (old.is_withdrawn != new.is_withdrawn).then(|| "it is sold again".to_owned()),
    ];
    fields.into_iter().flatten().collect()
}

fn data(bundle: &Bundle) -> String {
    match bundle.data {
        Data::Megabytes(mb) => format!("{mb} MB"),
        Data::Unlimited { daily_mb, throttle_kbps } => {
            format!("unlimited, {daily_mb} MB a day, then {throttle_kbps} kbit/s")
        }
    }
}

fn autostart(bundle: &Bundle) -> String {
    (bundle.start == Start::Auto).to_string()
}

fn describe_prices(changed: &[Price], stored: &Stored, examples: &mut Vec<String>) {
    let key = |p: &Price| (p.bundle.clone(), p.currency, p.list.clone());
    let known: HashMap<_, _> = stored.prices.iter().map(|p| (key(p), p.minor)).collect();
    let told = changed.iter().filter_map(|new| {
        let old = known.get(&key(new))?;
        let Price { bundle, currency, minor, .. } = new;
        Some(format!("price of {bundle}: {old} → {minor} {currency}"))
    });
    examples.extend(told.take(EXAMPLES));
}
