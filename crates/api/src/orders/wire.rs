//! Orders as they go out, in every version.

use app::Answer;
use app::orders::{Outcome, Refusal, Shown, Validated};
use domain::Money;
use domain::order::{Assigned, Item, Status, Target};
use serde::Serialize;

use crate::answers::{deactivated, not_compatible, not_your_esim, refused, version_of};
use crate::catalogue::unknown_bundle;
use crate::money::{self, Amount};
use crate::versions::{Change, Version};

/// In which form an order is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) version: Version,
    pub(crate) asks_for_iccids: bool,
}

/// Follows the version in the name of a form that shows ICCIDs because they were asked for.
const WITH_ICCIDS: &str = " iccids";

impl Form {
    pub(crate) fn name(self) -> String {
        let asked = if self.asks_for_iccids { WITH_ICCIDS } else { "" };
        format!("{}{asked}", self.version.name())
    }

    fn parse(name: &str) -> Self {
        let (version, asks_for_iccids) =
            name.strip_suffix(WITH_ICCIDS).map_or((name, false), |version| (version, true));
        Self { version: version_of(version), asks_for_iccids }
    }

    /// Whether an order shows the eSIMs it concerns.
    pub(crate) fn shows_esims(self) -> bool {
        let asked = self.asks_for_iccids && Change::IncludeIccids.seen_by(self.version);
        asked || Change::IccidsAlways.seen_by(self.version)
    }
}

/// An order. What a version does not have is not there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireOrder {
    order: Vec<WireItem>,
    total: Amount,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid: Option<bool>,
    currency: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    create_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assigned: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iccids: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running_balance: Option<String>,
    #[serde(rename = "sourceIP", skip_serializing_if = "Option::is_none")]
    source_ip: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireItem {
    #[serde(rename = "type")]
    kind: &'static str,
    item: String,
    quantity: i64,
    sub_total: Amount,
    price_per_unit: Amount,
    #[serde(skip_serializing_if = "Option::is_none")]
    iccids: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    esims: Option<Vec<WireEsim>>,
    #[serde(rename = "AllowReassign", skip_serializing_if = "Option::is_none")]
    allow_reassign: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invoice_link: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireEsim {
    iccid: String,
    matching_id: String,
    smdp_address: String,
}

impl WireOrder {
    /// An order that was placed. Links begin with the address the service is reached at.
    pub(crate) fn of(shown: &Shown, form: Form, public_url: &str) -> Self {
        let version = form.version;
        let order = &shown.order;
        let amount = |minor| Money::minor(minor, shown.currency);
        let created = order.created_at.to_string();
        let detailed = Change::OrderItemDetails.seen_by(version);
        let newest = Change::RunningBalance.seen_by(version);
        Self {
            order: items(shown, form, public_url),
            total: money::print(amount(order.total), version),
            valid: None,
            currency: shown.currency.to_string(),
            status: Some(order.status.name()),
            status_message: Some(order.status_message.clone()),
            order_reference: Some(order.reference.clone()),
            create_date: (!Change::CreateDateGone.seen_by(version)).then(|| created.clone()),
            created_date: Change::CreatedDate.seen_by(version).then_some(created),
            assigned: detailed
                .then(|| order.target == Target::Esims && order.status != Status::Failed),
            iccids: None,
            running_balance: newest.then(|| amount(order.running_balance).in_major()),
            source_ip: newest.then(|| order.source_ip.clone()),
        }
    }

    /// The answer to having placed it: some versions list all ICCIDs at the top.
    fn placed(shown: &Shown, form: Form) -> Self {
        let listed = form.shows_esims() && !Change::OrderItemDetails.seen_by(form.version);
        let all = || shown.assigned.iter().map(|one| one.iccid.to_string()).collect();
        Self { iccids: listed.then(all), ..Self::of(shown, form, "") }
    }

    /// An order that was only checked has no state, no name and no eSIMs.
    fn validated(validated: &Validated, form: Form) -> Self {
        let mut wire = Self::of(&validated.shown, form, "");
        for item in &mut wire.order {
            item.iccids = None;
            item.esims = None;
        }
        Self {
            valid: Some(validated.is_covered),
            status: None,
            status_message: None,
            order_reference: None,
            running_balance: None,
            source_ip: None,
            assigned: Some(validated.shown.order.target == Target::Esims),
            ..wire
        }
    }
}

fn items(shown: &Shown, form: Form, public_url: &str) -> Vec<WireItem> {
    let version = form.version;
    let detailed = Change::OrderItemDetails.seen_by(version);
    let linked = Change::InvoiceLinks.seen_by(version);
    let mut by_item: Vec<Vec<&Assigned>> = shown.items.iter().map(|_| Vec::new()).collect();
    if form.shows_esims() && shown.order.status != Status::Failed {
        for one in &shown.assigned {
            let place = usize::try_from(one.item).unwrap_or(usize::MAX);
            if let Some(list) = by_item.get_mut(place) {
                list.push(one);
            }
        }
    }
    let amount = |minor| money::print(Money::minor(minor, shown.currency), version);
    let wire = |(item, assigned): (&Item, Vec<&Assigned>)| WireItem {
        kind: item.kind.name(),
        item: item.item.clone(),
        quantity: item.quantity,
        sub_total: amount(item.sub_total),
        price_per_unit: amount(item.price_per_unit),
        iccids: form
            .shows_esims()
            .then(|| assigned.iter().map(|one| one.iccid.to_string()).collect()),
        esims: form.shows_esims().then(|| esims(shown, &assigned)),
        allow_reassign: detailed.then_some(item.allow_reassign),
        invoice_link: shown
            .receipt
            .as_ref()
            .filter(|_| linked && item.kind.is_topup())
            .map(|path| format!("{public_url}{path}")),
    };
    shown.items.iter().zip(by_item).map(wire).collect()
}

/// How to install them, for those of which it is known here.
fn esims(shown: &Shown, assigned: &[&Assigned]) -> Vec<WireEsim> {
    if shown.codes.is_empty() {
        return Vec::new();
    }
    let codes: std::collections::HashMap<_, _> =
        shown.codes.iter().map(|code| (&code.iccid, code)).collect();
    let wire = |one: &&Assigned| {
        codes.get(&one.iccid).map(|code| WireEsim {
            iccid: code.iccid.to_string(),
            matching_id: code.matching_id.expose().clone(),
            smdp_address: code.smdp_address.clone(),
        })
    };
    assigned.iter().filter_map(wire).collect()
}

/// The answer to an order, in the form of the version that asked.
pub(crate) fn order_answer(form: &str, outcome: &Outcome) -> Answer {
    let form = Form::parse(form);
    let body = match outcome {
        Outcome::Placed(shown) => WireOrder::placed(shown, form),
        Outcome::Validated(validated) => WireOrder::validated(validated, form),
        Outcome::Refused(refusal) => return refusal_answer(refusal),
    };
    crate::answers::done(&body)
}

fn refusal_answer(refusal: &Refusal) -> Answer {
    match refusal {
        Refusal::Quantity => {
            refused("quantity-out-of-range", "quantity must be between 1 and 1000")
        }
        Refusal::TooLarge => refused("order-too-large", "an order can hold at most 10000 bundles"),
        Refusal::IccidsWithoutAssign => {
            refused("iccids-without-assign", "iccids can only be specified when assign is true")
        }
        Refusal::IccidsMismatch => {
            refused("iccids-mismatch", "quantity must match the number of iccids")
        }
        Refusal::UnknownBundle(name) => {
            let problem = unknown_bundle(name);
            refused(problem.code, &problem.message)
        }
        Refusal::NotYourEsim => not_your_esim(),
        Refusal::Deactivated => deactivated(),
        Refusal::NotCompatible => not_compatible(),
    }
}
