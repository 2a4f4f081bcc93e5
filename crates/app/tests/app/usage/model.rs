//! What must become of usage records, in a few numbers: bundles of an eSIM pay one after the other.

use std::collections::{BTreeMap, BTreeSet};

use app::usage::{NewRecord, Told};
use domain::{Iccid, Timestamp};

use crate::lives::wares::Ware;

const DAY_MS: i64 = 24 * 3_600 * 1_000;
const HOUR_MS: i64 = 3_600 * 1_000;
const STEPS: [i64; 4] = [1, 50, 80, 100];

/// A bundle that starts with its first use.
pub(crate) struct Bundle {
    ware: &'static Ware,
    used: i64,
    ends_at: Option<Timestamp>,
}

#[derive(Default)]
pub(crate) struct Model {
    /// The bundles on each eSIM, in the order they came.
    pub(crate) esims: BTreeMap<Iccid, Vec<Bundle>>,
    /// Data used by eSIM, and by all under the empty name; by hour and country.
    pub(crate) sums: BTreeMap<(String, i64, String), i64>,
    /// How often a bundle paid for a record.
    pub(crate) charges: usize,
    /// How often a bundle passed one of the steps.
    pub(crate) steps: usize,
    seen: BTreeSet<(String, String)>,
}

impl Model {
    pub(crate) fn put_on(&mut self, iccid: &Iccid, ware: &'static Ware) {
        let bundle = Bundle { ware, used: 0, ends_at: None };
        self.esims.entry(iccid.clone()).or_default().push(bundle);
    }

    /// Notes a record; false if it came before.
    pub(crate) fn is_new(&mut self, record: &NewRecord) -> bool {
        self.seen.insert((record.source.clone(), record.id.clone()))
    }

    /// Counts a record; says how many bundles paid for it, and what nobody paid.
    pub(crate) fn take(&mut self, record: &NewRecord, now: Timestamp) -> (usize, i64) {
        let Told::Used { bytes, place } = &record.told else { panic!("only use is told here") };
        let country = place.as_ref().map(|place| place.country.clone()).unwrap_or_default();
        for iccid in [String::new(), record.iccid.to_string()] {
            let hour = record.at.ms() / HOUR_MS;
            *self.sums.entry((iccid, hour, country.clone())).or_default() += bytes;
        }
        let bundles = self.esims.get_mut(&record.iccid).expect("it is ours");
        let is_over = |one: &Bundle| one.ends_at.is_some_and(|end| end <= now);
        let is_late = |one: &Bundle| is_over(one) && one.ends_at > Some(record.at);
        if bundles.iter().any(is_late) {
            return (0, *bytes);
        }
        let (mut left, mut payers) = (*bytes, 0);
        // What has begun comes before what waits, and only one has begun and is not used up.
        for has_begun in [true, false] {
            for one in bundles.iter_mut().filter(|one| one.ends_at.is_some() == has_begun) {
                let room = one.ware.bytes() - one.used;
                if left == 0 || room == 0 || is_over(one) {
                    continue;
                }
                one.ends_at.get_or_insert(now.plus_ms(one.ware.duration * DAY_MS));
                let taken = left.min(room);
                let share = |used: i64, step: &&i64| used * 100 >= one.ware.bytes() * **step;
                let passed = |used: i64| STEPS.iter().filter(|step| share(used, step)).count();
                self.steps += passed(one.used + taken) - passed(one.used);
                one.used += taken;
                left -= taken;
                payers += 1;
            }
        }
        self.charges += payers;
        (payers, left)
    }

    /// How much is used of the bundle of that number: they are numbered in the order they came.
    pub(crate) fn used(&self, iccid: &Iccid, place: usize) -> Option<i64> {
        self.esims.get(iccid)?.get(place).map(|one| one.used)
    }
}
