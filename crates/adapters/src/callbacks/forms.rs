//! The fuller form of events, as JSON.

use domain::Money;
use domain::event::{Event, Forms, InUse};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

/// Writes events as JSON.
pub struct Json;

impl Forms for Json {
    fn full(&self, event: &Event) -> String {
        let written = match event {
            Event::Topup { old, new }
            | Event::AutoTopup { old, new }
            | Event::Credit { old, new } => {
                // The amounts stand under a key called `bundle`; receivers expect them there.
                let bundle = Amounts { old_amount: major(*old), new_amount: major(*new) };
                serde_json::to_string(&Balance { alert_type: event.kind(), bundle })
            }
            Event::Order { reference, status, message, total, at } => {
                serde_json::to_string(&Order {
                    event: event.kind(),
                    order_reference: reference,
                    status: status.name(),
                    status_message: message,
                    total: major(*total),
                    currency: total.currency().code(),
                    date: at.to_string(),
                })
            }
            Event::Utilisation { iccid, bundle } => {
                let iccid = iccid.as_str();
                let bundle = Bundle::of(bundle);
                serde_json::to_string(&Usage { iccid, alert_type: event.kind(), bundle })
            }
            Event::FirstUse { iccid, bundle } => {
                let iccid = iccid.as_str();
                let bundle = First::of(bundle);
                serde_json::to_string(&Usage { iccid, alert_type: event.kind(), bundle })
            }
            Event::FirstAttachment { iccid } => serde_json::to_string(
                &json!({ "iccid": iccid.as_str(), "alertType": event.kind() }),
            ),
            Event::CountryChange { iccid, code, name } => serde_json::to_string(&json!({
                "iccid": iccid.as_str(),
                "alertType": event.kind(),
                "country": { "code": code, "name": name },
            })),
            Event::SmsFailed { iccid, msisdn, at } => serde_json::to_string(&json!({
                "iccid": iccid.as_str(),
                "alertType": event.kind(),
                "msisdn": msisdn.as_str(),
                "timestamp": at.to_string(),
            })),
            Event::DeletionScheduled { iccid, at } | Event::Deleted { iccid, at } => {
                serde_json::to_string(&json!({
                    "date": at.to_string(),
                    "event": event.kind(),
                    "iccid": iccid.as_str(),
                }))
            }
        };
        written.expect("numbers and texts are JSON")
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Usage<'a, B> {
    iccid: &'a str,
    alert_type: &'a str,
    bundle: B,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bundle<'a> {
    id: String,
    reference: &'a str,
    name: &'a str,
    description: &'a str,
    initial_quantity: i64,
    remaining_quantity: i64,
    start_time: Option<String>,
    end_time: Option<String>,
    unlimited: bool,
}

impl<'a> Bundle<'a> {
    fn of(bundle: &'a InUse) -> Self {
        Self {
            id: bundle.id.to_string(),
            reference: &bundle.reference,
            name: &bundle.name,
            description: &bundle.description,
            initial_quantity: bundle.initial,
            remaining_quantity: bundle.remaining,
            start_time: bundle.started_at.map(|at| at.to_string()),
            end_time: bundle.ends_at.map(|at| at.to_string()),
            unlimited: bundle.is_unlimited,
        }
    }
}

/// The shorter form, of a bundle that was used for the first time.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct First<'a> {
    name: &'a str,
    initial_quantity: i64,
    remaining_quantity: i64,
    start_time: Option<String>,
    end_time: Option<String>,
}

impl<'a> First<'a> {
    fn of(bundle: &'a InUse) -> Self {
        Self {
            name: &bundle.name,
            initial_quantity: bundle.initial,
            remaining_quantity: bundle.remaining,
            start_time: bundle.started_at.map(|at| at.to_string()),
            end_time: bundle.ends_at.map(|at| at.to_string()),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Order<'a> {
    event: &'a str,
    order_reference: &'a str,
    status: &'a str,
    status_message: &'a str,
    total: Box<RawValue>,
    currency: &'a str,
    date: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Balance<'a> {
    alert_type: &'a str,
    bundle: Amounts,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Amounts {
    old_amount: Box<RawValue>,
    new_amount: Box<RawValue>,
}

/// Major units, as all callbacks have them, digit by digit.
fn major(money: Money) -> Box<RawValue> {
    RawValue::from_string(money.in_major()).expect("decimal digits are a JSON number")
}

#[cfg(test)]
mod tests {
    use domain::{Currency, Iccid, Timestamp};

    use super::*;

    #[test]
    fn amounts_are_in_major_units() {
        let usd = |minor| Money::minor(minor, Currency::parse("USD").expect("a currency"));
        let event = Event::Topup { old: usd(4_010), new: usd(9_010) };
        let text = r#"{"alertType":"Topup","bundle":{"oldAmount":40.1,"newAmount":90.1}}"#;
        assert_eq!(Json.full(&event), text);
    }

    /// The example of the contract, byte by byte: receivers compute signatures over it.
    #[test]
    fn a_usage_event_is_written_as_the_contract_has_it() {
        let time = |text| Timestamp::parse(text).ok();
        let bundle = InUse {
            id: 410_000_023,
            reference: "6513270e-269e-4d37-b2a7-4de452e6b438-0".into(),
            name: "esim_1GB_7D_PT_V2".into(),
            description: "eSIM, 1GB, 7 Days, Portugal, V2".into(),
            initial: 1_000_000_000,
            remaining: 742_000_000,
            started_at: time("2026-05-04T08:15:00Z"),
            ends_at: time("2026-05-11T08:15:00Z"),
            is_unlimited: false,
        };
        let iccid = Iccid::parse("8943001000000026411").expect("an ICCID");
        let text = concat!(
            r#"{"iccid":"8943001000000026411","alertType":"Utilisation","bundle":{"#,
            r#""id":"410000023","reference":"6513270e-269e-4d37-b2a7-4de452e6b438-0","#,
            r#""name":"esim_1GB_7D_PT_V2","description":"eSIM, 1GB, 7 Days, Portugal, V2","#,
            r#""initialQuantity":1000000000,"remainingQuantity":742000000,"#,
            r#""startTime":"2026-05-04T08:15:00Z","endTime":"2026-05-11T08:15:00Z","#,
            r#""unlimited":false}}"#,
        );
        assert_eq!(Json.full(&Event::Utilisation { iccid, bundle }), text);
    }
}
