//! What an order comes to, before anything is taken: prices, eSIMs, and every rule it may break.

use std::collections::HashMap;

use domain::order::{Assigned, Item, ItemKind, Target};
use domain::{BundleName, Iccid, Organisation, limits};
use store::assignments::New;
use store::catalogue::{self, Offer};
use store::{StoreError, Tx, esims};

use super::buy::{Command, Line, Refusal};

/// An order that breaks no rule.
pub(super) struct Plan {
    pub(super) lines: Vec<Planned>,
    /// In minor units.
    pub(super) total: i64,
}

/// One of its items.
pub(super) struct Planned {
    pub(super) bundle: BundleName,
    pub(super) quantity: i64,
    /// Per unit, in minor units.
    pub(super) price: i64,
    /// The eSIMs it fits, and what it gives.
    pub(super) plan: catalogue::Plan,
    /// The eSIMs it goes onto; none = a new one.
    pub(super) targets: Vec<Option<Iccid>>,
    pub(super) allow_reassign: bool,
}

/// Why there is no plan.
pub(super) enum Stop {
    Refused(Refusal),
    Store(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Plan {
    /// Works it out. Reads only, so that a refusal has changed nothing.
    pub(super) fn of(
        tx: &mut Tx<'_>,
        organisation: &Organisation,
        command: &Command,
    ) -> Result<Self, Stop> {
        check(command)?;
        let offers = offers(tx, organisation, &command.lines)?;
        let named: Vec<_> = command.lines.iter().flat_map(|line| line.iccids.clone()).collect();
        let fits = esims::of_org(tx, organisation.id, &named)?;
        let fits: HashMap<_, _> = fits.into_iter().map(|esim| (esim.iccid.clone(), esim)).collect();
        let mut plan = Self { lines: Vec::new(), total: 0 };
        for (line, (bundle, offer)) in command.lines.iter().zip(offers) {
            let mut targets: Vec<Option<Iccid>> = Vec::new();
            for iccid in &line.iccids {
                let esim = fits.get(iccid).ok_or(Refusal::NotYourEsim)?;
                if esim.is_deactivated() {
                    return Err(Refusal::Deactivated.into());
                }
                let fits = esim.profile_name == offer.plan.profile_name;
                if !fits && !line.allow_reassign {
                    return Err(Refusal::NotCompatible.into());
                }
                targets.push(fits.then(|| iccid.clone()));
            }
            if command.target == Target::Esims && targets.is_empty() {
                targets = vec![None; usize::try_from(line.quantity).unwrap_or(0)];
            }
            // Imports keep prices so low that no order overflows; if one does, nothing is sold.
            let too_dear = || StoreError::Refused("an order beyond all limits of money".to_owned());
            let sub_total = offer.price.checked_mul(line.quantity).ok_or_else(too_dear)?;
            plan.total = plan.total.checked_add(sub_total).ok_or_else(too_dear)?;
            plan.lines.push(Planned {
                bundle,
                quantity: line.quantity,
                price: offer.price,
                plan: offer.plan,
                targets,
                allow_reassign: line.allow_reassign,
            });
        }
        Ok(plan)
    }

    pub(super) fn items(&self) -> Vec<Item> {
        let item = |line: &Planned| Item {
            kind: ItemKind::Bundle,
            item: line.bundle.to_string(),
            quantity: line.quantity,
            sub_total: line.price * line.quantity,
            price_per_unit: line.price,
            allow_reassign: line.allow_reassign,
        };
        self.lines.iter().map(item).collect()
    }

    /// What goes onto which eSIM; by item, the lots it comes from as far as there are any.
    pub(super) fn put_on(&self, assigned: &[Assigned], lots: &[i64]) -> Vec<New> {
        let new = |one: &Assigned| {
            let place = usize::try_from(one.item).unwrap_or(usize::MAX);
            let terms = self.lines.get(place)?.plan.terms;
            let lot = lots.get(place).copied();
            Some(New { assigned: one.clone(), terms, lot, wanted_at: None })
        };
        assigned.iter().filter_map(new).collect()
    }

    /// New eSIMs it needs, by profile.
    pub(super) fn new_esims(&self) -> HashMap<&str, i64> {
        let mut wanted = HashMap::new();
        for line in &self.lines {
            let count = line.targets.iter().filter(|target| target.is_none()).count();
            if count > 0 {
                let sum: &mut i64 = wanted.entry(line.plan.profile_name.as_str()).or_default();
                *sum += i64::try_from(count).unwrap_or(i64::MAX);
            }
        }
        wanted
    }
}

/// The rules that need no table.
fn check(command: &Command) -> Result<(), Refusal> {
    let fits = |line: &Line| (1..=limits::ITEM_QUANTITY_MAX).contains(&line.quantity);
    if !command.lines.iter().all(fits) {
        return Err(Refusal::Quantity);
    }
    if command.bundles() > limits::ORDER_BUNDLES_MAX {
        return Err(Refusal::TooLarge);
    }
    for line in &command.lines {
        if line.iccids.is_empty() {
            continue;
        }
        if command.target != Target::Esims {
            return Err(Refusal::IccidsWithoutAssign);
        }
        if i64::try_from(line.iccids.len()) != Ok(line.quantity) {
            return Err(Refusal::IccidsMismatch);
        }
    }
    Ok(())
}

/// What each line can be bought as. An order may name a bundle many times; it is looked up once.
fn offers(
    tx: &mut Tx<'_>,
    organisation: &Organisation,
    lines: &[Line],
) -> Result<Vec<(BundleName, Offer)>, Stop> {
    let market = organisation.market();
    let mut known: HashMap<&str, (BundleName, Offer)> = HashMap::new();
    for line in lines {
        if known.contains_key(line.bundle.as_str()) {
            continue;
        }
        let unknown = || Refusal::UnknownBundle(line.bundle.clone());
        let name = BundleName::parse(&line.bundle).map_err(|_| unknown())?;
        let offer = catalogue::offer(tx, &market, &name)?.ok_or_else(unknown)?;
        known.insert(&line.bundle, (name, offer));
    }
    Ok(lines.iter().map(|line| known[line.bundle.as_str()].clone()).collect())
}
