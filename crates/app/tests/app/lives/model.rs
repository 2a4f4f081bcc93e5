//! What must become of each request: lots, eSIMs, money and events, by the letter of the contract.

use std::collections::BTreeMap;

use domain::assignment::State;
use domain::{Iccid, Timestamp};

use super::esim::{Bundle, DAY_MS, Esim};
use super::wares::{PROFILES, STOCK, Ware, ware};

const LOT_LIFE_MS: i64 = 365 * DAY_MS;
const PATIENCE_MS: i64 = 10 * 60 * 1_000;
const NOTICE_MS: i64 = 7 * DAY_MS;
const AT_ONCE_MAX: i64 = 5;

#[derive(Debug, Clone)]
pub(crate) struct Lot {
    pub(crate) id: i64,
    pub(crate) ware: &'static Ware,
    pub(crate) came: i64,
    pub(crate) held: i64,
    pub(crate) on_esims: i64,
    pub(crate) refunded: i64,
    pub(crate) expired: i64,
    pub(crate) came_at: Timestamp,
}

impl Lot {
    fn ends_at(&self) -> Timestamp {
        self.came_at.plus_ms(LOT_LIFE_MS)
    }

    pub(crate) fn is_refundable(&self, days: i64, now: Timestamp) -> bool {
        days > 0 && now <= self.came_at.plus_ms(days * DAY_MS) && now < self.ends_at()
    }
}

/// A purchase or an apply that puts bundles on eSIMs.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    placed_at: Timestamp,
    pub(crate) is_processing: bool,
    has_failed: bool,
}

/// A bundle that is about to be on an eSIM, whose number the service gives.
#[derive(Debug, Clone)]
pub(crate) struct Coming {
    pub(crate) ware: &'static Ware,
    /// None: a new one.
    pub(crate) iccid: Option<Iccid>,
    pub(crate) lot: Option<i64>,
    pub(crate) wanted_at: Option<Timestamp>,
}

/// A line of an apply.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) ware: &'static Ware,
    pub(crate) repeat: i64,
    pub(crate) start_at: Option<Timestamp>,
    pub(crate) allow_reassign: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) refund_days: i64,
    pub(crate) balance: i64,
    pub(crate) lots: Vec<Lot>,
    pub(crate) esims: BTreeMap<Iccid, Esim>,
    /// Those that have left.
    pub(crate) gone: Vec<Iccid>,
    pub(crate) orders: Vec<Order>,
    pub(crate) is_held: bool,
    pub(crate) events: BTreeMap<&'static str, usize>,
    pub(crate) sent: i64,
    pub(crate) overshoot: i64,
    /// What the service must have made just now.
    pub(crate) coming: Vec<Coming>,
    pub(crate) new_lot: Option<Lot>,
    free: BTreeMap<&'static str, usize>,
    /// What had been on eSIMs that are in stock again.
    back: BTreeMap<Iccid, Vec<Bundle>>,
    /// Things that are worth counting.
    pub(crate) happened: Vec<&'static str>,
}

impl Model {
    pub(crate) fn new(refund_days: i64) -> Self {
        let free = PROFILES.into_iter().zip(STOCK).collect();
        Self { refund_days, free, ..Self::default() }
    }

    pub(crate) fn free(&self, profile: &str) -> usize {
        self.free.get(profile).copied().unwrap_or(0)
    }

    pub(crate) fn pass(&mut self, now: Timestamp) {
        for esim in self.esims.values_mut() {
            esim.pass(now);
        }
    }

    fn tell(&mut self, kind: &'static str) {
        *self.events.entry(kind).or_default() += 1;
    }

    pub(crate) fn credit(&mut self, amount: i64) {
        self.balance += amount;
        self.tell("Credit");
    }

    /// Buys into the inventory.
    pub(crate) fn buy(&mut self, ware: &'static Ware, units: i64, now: Timestamp) -> String {
        self.balance -= ware.price * units;
        self.new_lot = Some(Lot {
            id: 0,
            ware,
            came: units,
            held: units,
            on_esims: 0,
            refunded: 0,
            expired: 0,
            came_at: now,
        });
        self.tell("order.completed");
        "completed".to_owned()
    }

    /// Buys onto eSIMs; which rules that breaks, or none for "no profile left".
    pub(crate) fn buy_onto(
        &mut self,
        ware: &'static Ware,
        targets: &[Option<Iccid>],
        now: Timestamp,
    ) -> Option<Vec<String>> {
        let mut broken = Vec::new();
        for iccid in targets.iter().flatten() {
            broken.extend(self.misfit(iccid, ware));
        }
        if !broken.is_empty() {
            return Some(broken);
        }
        let new = targets.iter().filter(|target| target.is_none()).count();
        if new > self.free(ware.profile) {
            return None;
        }
        let units = i64::try_from(targets.len()).expect("a few");
        self.buy(ware, units, now);
        let lot = self.new_lot.as_mut().expect("it was bought");
        (lot.held, lot.on_esims) = (0, units);
        let coming = |iccid: &Option<Iccid>| Coming {
            ware,
            iccid: iccid.clone(),
            lot: Some(0),
            wanted_at: None,
        };
        self.coming = targets.iter().map(coming).collect();
        self.orders.push(Order { placed_at: now, is_processing: false, has_failed: false });
        Some(vec!["completed".to_owned()])
    }

    /// Why a bundle cannot go onto an eSIM.
    fn misfit(&self, iccid: &Iccid, ware: &Ware) -> Vec<String> {
        let Some(esim) = self.esims.get(iccid) else { return vec!["NotYourEsim".to_owned()] };
        let mut broken = Vec::new();
        if esim.is_dead {
            broken.push("Deactivated".to_owned());
        }
        if esim.profile != ware.profile {
            broken.push("NotCompatible".to_owned());
        }
        broken
    }

    /// Applies bundles; which codes the answer may have, or none for "no profile left".
    pub(crate) fn apply(
        &mut self,
        (iccid, lines): (Option<&Iccid>, &[Line]),
        may_wait: bool,
        now: Timestamp,
    ) -> Option<Vec<String>> {
        let (mut broken, mut coming, mut lots) = (Vec::new(), Vec::new(), self.lots.clone());
        for line in lines {
            let mut target = iccid.cloned();
            if let Some(named) = iccid {
                let mut misfits = self.misfit(named, line.ware);
                if line.allow_reassign && misfits.iter().any(|rule| rule == "NotCompatible") {
                    misfits.retain(|rule| rule != "NotCompatible");
                    target = None;
                }
                broken.extend(misfits);
            }
            for _ in 0..line.repeat {
                let fits = |lot: &&mut Lot| {
                    lot.ware.name == line.ware.name && lot.held > 0 && now < lot.ends_at()
                };
                let first = lots.iter_mut().filter(fits).min_by_key(|lot| (lot.ends_at(), lot.id));
                let Some(lot) = first else {
                    broken.push("NoneLeft".to_owned());
                    break;
                };
                (lot.held, lot.on_esims) = (lot.held - 1, lot.on_esims + 1);
                coming.push(Coming {
                    ware: line.ware,
                    iccid: target.clone(),
                    lot: Some(lot.id),
                    wanted_at: line.start_at.map(|at| at.max(now)),
                });
            }
        }
        if !broken.is_empty() {
            return Some(broken);
        }
        for profile in PROFILES {
            let is_new = |one: &&Coming| one.iccid.is_none() && one.ware.profile == profile;
            if coming.iter().filter(is_new).count() > self.free(profile) {
                return None;
            }
        }
        let units: i64 = lines.iter().map(|line| line.repeat).sum();
        let is_processing = may_wait && units > AT_ONCE_MAX;
        (self.lots, self.coming) = (lots, coming);
        self.orders.push(Order { placed_at: now, is_processing, has_failed: false });
        if !is_processing {
            self.tell("order.completed");
        }
        Some(vec![if is_processing { "processing" } else { "completed" }.to_owned()])
    }

    /// The service has said which number and which eSIM a bundle has.
    pub(crate) fn came(&mut self, coming: &Coming, (id, iccid): (i64, &Iccid), now: Timestamp) {
        let order = self.orders.len() - 1;
        if coming.iccid.is_none() {
            let free = self.free.get_mut(coming.ware.profile).expect("a profile");
            *free -= 1;
            let mut esim = Esim::new(coming.ware.profile);
            esim.bundles = self.back.remove(iccid).unwrap_or_default();
            assert!(self.esims.insert(iccid.clone(), esim).is_none(), "{iccid} is taken once");
            assert!(!self.gone.contains(iccid), "what has left never comes back");
        }
        let is_processing = self.orders[order].is_processing;
        let esim = self.esims.get_mut(iccid).expect("the one that was named");
        esim.bundles.push(Bundle {
            id,
            ware: coming.ware,
            lot: coming.lot,
            order,
            state: if is_processing { State::Processing } else { State::Queued },
            assigned_at: now,
            ready_at: now,
            wanted_at: coming.wanted_at,
            started_at: None,
            ends_at: None,
            over_at: None,
            used: 0,
            today: (0, 0),
        });
        esim.pass(now);
    }

    fn lot(&mut self, id: i64) -> &mut Lot {
        self.lots.iter_mut().find(|lot| lot.id == id).expect("every lot is known")
    }

    /// Ends what is processed: in time, or too late.
    pub(crate) fn finish(&mut self, number: usize, now: Timestamp) {
        let Order { placed_at, is_processing, .. } = self.orders[number].clone();
        if !is_processing {
            return;
        }
        self.orders[number].is_processing = false;
        let is_late = now > placed_at.plus_ms(PATIENCE_MS);
        let mut back = Vec::new();
        for esim in self.esims.values_mut() {
            for one in esim.bundles.iter_mut().filter(|one| one.order == number) {
                if is_late {
                    (one.state, one.over_at) = (State::Revoked, Some(now));
                    back.extend(one.lot);
                } else {
                    (one.state, one.ready_at) = (State::Queued, now);
                }
            }
            esim.pass(now);
        }
        if !is_late {
            self.happened.push("processed in time");
            return self.tell("order.completed");
        }
        self.happened.push("processed too late");
        self.tell("order.failed");
        self.orders[number].has_failed = true;
        for id in back {
            let lot = self.lot(id);
            (lot.held, lot.on_esims) = (lot.held + 1, lot.on_esims - 1);
        }
        self.back_to_stock(number);
    }

    /// The eSIMs of an order that failed, unless something else is on them or they are on a phone
    /// already.
    fn back_to_stock(&mut self, number: usize) {
        let touched: Vec<_> = self
            .esims
            .iter()
            .filter(|(_, esim)| esim.bundles.iter().any(|one| one.order == number))
            .map(|(iccid, _)| iccid.clone())
            .collect();
        for iccid in touched {
            let esim = &self.esims[&iccid];
            if !esim.bundles.iter().all(|one| self.orders[one.order].has_failed) {
                continue;
            }
            if esim.is_installed || esim.is_dead {
                self.happened.push("kept, since it is on a phone");
                continue;
            }
            *self.free.get_mut(esim.profile).expect("a profile") += 1;
            let bundles = self.esims.remove(&iccid).map(|esim| esim.bundles);
            self.back.insert(iccid, bundles.unwrap_or_default());
            self.happened.push("back in stock");
        }
    }

    /// All due work is done, from the clock as it stood to a later moment.
    pub(crate) fn work(&mut self, start: Timestamp, end: Timestamp) {
        if self.is_held {
            return self.pass(end);
        }
        for number in 0..self.orders.len() {
            self.finish(number, start);
        }
        self.pass(end);
        for lot in self.lots.iter_mut().filter(|lot| lot.ends_at() <= end && lot.held > 0) {
            (lot.expired, lot.held) = (lot.expired + lot.held, 0);
            self.happened.push("a lot expired");
        }
        for iccid in self.esims.keys().cloned().collect::<Vec<_>>() {
            let esim = self.esims.get_mut(&iccid).expect("one of these");
            let Some(leaves_at) = esim.leaves_at() else { continue };
            let notice_at = leaves_at.plus_ms(-NOTICE_MS);
            let is_announced = esim.announced == Some(leaves_at);
            if notice_at <= end && !is_announced && notice_at.max(start) < leaves_at {
                esim.announced = Some(leaves_at);
                self.tell("esim.deletion_scheduled");
            }
            if leaves_at <= end {
                self.esims.remove(&iccid);
                self.gone.push(iccid);
                self.tell("esim.deleted");
                self.happened.push("an eSIM left");
            }
        }
    }

    /// What is processed on an eSIM is finished before anything is taken off it.
    fn settle_on(&mut self, iccid: &Iccid, now: Timestamp) {
        let Some(esim) = self.esims.get(iccid) else { return };
        let processed = esim.bundles.iter().filter(|one| one.state == State::Processing);
        for number in processed.map(|one| one.order).collect::<Vec<_>>() {
            self.finish(number, now);
        }
    }

    pub(crate) fn revoke(
        &mut self,
        (iccid, name, id): (&Iccid, &str, Option<i64>),
        (is_done, to_balance): (bool, bool),
        now: Timestamp,
    ) -> &'static str {
        if is_done {
            self.settle_on(iccid, now);
        }
        let refund_days = self.refund_days;
        let Some(esim) = self.esims.get_mut(iccid) else { return "NotYourEsim" };
        esim.pass(now);
        let is_open = |one: &&Bundle| one.ware.name == name && !one.state.is_finished();
        let open: Vec<_> = esim.bundles.iter().filter(is_open).cloned().collect();
        let unused = open.iter().find(|one| one.started_at.is_none());
        let chosen = match id {
            Some(id) => open.iter().find(|one| one.id == id),
            None => unused.or(open.last()),
        };
        let Some(one) = chosen else { return "UnknownAssignment" };
        if is_done {
            esim.revoke(one.id, now);
        }
        let lot = self.lots.iter_mut().find(|lot| Some(lot.id) == one.lot);
        let is_unused = one.started_at.is_none();
        let Some(lot) = lot.filter(|lot| is_unused && lot.is_refundable(refund_days, now)) else {
            return "Nothing";
        };
        let pays = to_balance && lot.ware.price > 0;
        if !is_done {
            return if pays { "ToBalance" } else { "ToInventory" };
        }
        lot.on_esims -= 1;
        if pays {
            lot.refunded += 1;
            self.balance += one.ware.price;
            self.tell("order.completed");
            return "ToBalance";
        }
        lot.held += 1;
        "ToInventory"
    }

    pub(crate) fn refund(&mut self, id: i64, units: i64, now: Timestamp) -> &'static str {
        let days = self.refund_days;
        let Some(lot) = self.lots.iter_mut().find(|lot| lot.id == id) else {
            return "UnknownUsage";
        };
        if lot.ware.price == 0 || !lot.is_refundable(days, now) {
            return "NotRefundable";
        }
        if units > lot.held {
            return "ExceedsRemaining";
        }
        (lot.held, lot.refunded) = (lot.held - units, lot.refunded + units);
        self.balance += lot.ware.price * units;
        self.tell("order.completed");
        "Done"
    }

    /// Data was used; who pays, and what nobody does.
    pub(crate) fn consume(
        &mut self,
        iccid: &Iccid,
        (bytes, used_at): (i64, Timestamp),
        now: Timestamp,
    ) -> (Vec<(i64, i64)>, i64) {
        let esim = self.esims.get_mut(iccid).expect("it is there");
        let (paid, over) = esim.rate(bytes, used_at, now);
        let is_first = esim.charges == 0 && !paid.is_empty();
        esim.charges += paid.len();
        (self.sent, self.overshoot) = (self.sent + bytes, self.overshoot + over);
        for _ in &paid {
            self.tell("Utilisation");
        }
        if is_first {
            self.tell("FirstUse");
        }
        if over > 0 {
            self.happened.push("overshoot");
        }
        if paid.len() > 1 {
            self.happened.push("several paid");
        }
        (paid, over)
    }

    /// The first time that an eSIM is on the air, in the one country there is.
    pub(crate) fn attach(&mut self) {
        self.tell("FirstAttachment");
        self.tell("CountryChange");
    }

    /// It is given up for good, with everything on it.
    pub(crate) fn delete(&mut self, iccid: &Iccid, now: Timestamp) -> &'static str {
        self.settle_on(iccid, now);
        if self.esims.remove(iccid).is_none() {
            return "NotYourEsim";
        }
        self.gone.push(iccid.clone());
        self.tell("esim.deleted");
        "Deleted"
    }

    /// A ware and how many of it are held.
    pub(crate) fn held(&self, name: &str, now: Timestamp) -> i64 {
        let of_it = self.lots.iter().filter(|lot| lot.ware.name == ware(name).name);
        of_it.filter(|lot| now < lot.ends_at()).map(|lot| lot.held).sum()
    }
}
