//! The two forms of events, as JSON.

use domain::event::{Event, Forms, InUse};
use domain::{Money, Timestamp};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

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
            Event::Utilisation { iccid, bundle } | Event::Test { iccid, bundle } => {
                let iccid = iccid.as_str();
                let bundle = Bundle::of(bundle);
                serde_json::to_string(&Usage { iccid, alert_type: USAGE, bundle })
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
            Event::LowBalance(short) | Event::InsufficientBalance(short) => {
                let info = BalanceInfo {
                    balance: major(short.balance),
                    threshold: major(short.threshold),
                    threshold_percent_remaining: thousandths(short.percent_thousandths()),
                };
                serde_json::to_string(&Low { alert_type: event.kind(), balance_info: info })
            }
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

    fn short(&self, event: &Event) -> Option<String> {
        let (Event::Utilisation { iccid, bundle } | Event::Test { iccid, bundle }) = event else {
            return None;
        };
        let bundle = Short::of(bundle);
        let usage = Usage { iccid: iccid.as_str(), alert_type: USAGE, bundle };
        Some(serde_json::to_string(&usage).expect("numbers and texts are JSON"))
    }

    fn without_person(&self, kept: &str) -> Option<String> {
        let mut written: Value = serde_json::from_str(kept).ok()?;
        empty_personal(&mut written).then(|| written.to_string())
    }
}

/// Fields of any form that tell of a person; with objects everything in them.
const PERSONAL: [&str; 5] = ["msisdn", "country", "customerRef", "network", "location"];

/// Empties them; says whether there was something in them.
fn empty_personal(written: &mut Value) -> bool {
    let Value::Object(fields) = written else { return false };
    let mut has_changed = false;
    for (name, value) in fields {
        let is_personal = PERSONAL.contains(&name.as_str());
        has_changed |= if is_personal { empty_texts(value) } else { empty_personal(value) };
    }
    has_changed
}

fn empty_texts(value: &mut Value) -> bool {
    match value {
        Value::String(text) => !std::mem::take(text).is_empty(),
        Value::Object(fields) => {
            fields.values_mut().fold(false, |has_changed, value| empty_texts(value) | has_changed)
        }
        _ => false,
    }
}

/// What receivers know a usage event by; an event that only tries them out is one, too.
const USAGE: &str = "Utilisation";

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
            start_time: bundle.started_at.map(seconds),
            end_time: bundle.ends_at.map(seconds),
            unlimited: bundle.is_unlimited,
        }
    }
}

/// The shorter form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Short<'a> {
    id: String,
    #[serde(flatten)]
    rest: First<'a>,
}

impl<'a> Short<'a> {
    fn of(bundle: &'a InUse) -> Self {
        Self { id: bundle.id.to_string(), rest: First::of(bundle) }
    }
}

/// A bundle that was used for the first time.
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
            start_time: bundle.started_at.map(seconds),
            end_time: bundle.ends_at.map(seconds),
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Low<'a> {
    alert_type: &'a str,
    balance_info: BalanceInfo,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BalanceInfo {
    balance: Box<RawValue>,
    threshold: Box<RawValue>,
    threshold_percent_remaining: Box<RawValue>,
}

/// Thousandths as a number with as many decimals as it needs.
fn thousandths(number: i64) -> Box<RawValue> {
    let text = format!("{}.{:03}", number / 1_000, number % 1_000);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    RawValue::from_string(text.to_owned()).expect("decimal digits are a JSON number")
}

/// A time in whole seconds: strict receivers know no parts of one here.
fn seconds(at: Timestamp) -> String {
    Timestamp::from_ms(at.ms().div_euclid(1_000) * 1_000).to_string()
}

/// Major units, as all callbacks have them, digit by digit.
fn major(money: Money) -> Box<RawValue> {
    RawValue::from_string(money.in_major()).expect("decimal digits are a JSON number")
}

#[cfg(test)]
mod tests {
    use domain::{Currency, Iccid, Msisdn, event};

    use super::*;

    #[test]
    fn amounts_are_in_major_units() {
        let usd = |minor| Money::minor(minor, Currency::parse("USD").expect("a currency"));
        let event = Event::Topup { old: usd(4_010), new: usd(9_010) };
        let text = r#"{"alertType":"Topup","bundle":{"oldAmount":40.1,"newAmount":90.1}}"#;
        assert_eq!(Json.full(&event), text);
    }

    #[test]
    fn what_is_left_is_a_percentage_with_three_decimals_at_most() {
        let usd = |minor| Money::minor(minor, Currency::parse("USD").expect("a currency"));
        for (balance, threshold, shown) in
            [(129_930, 260_000, "49.973"), (5_000, 10_000, "50"), (0, 10_000, "0"), (1, 0, "100")]
        {
            let short = event::Short { balance: usd(balance), threshold: usd(threshold) };
            let text = Json.full(&Event::LowBalance(short));
            let wanted = format!(r#""thresholdPercentRemaining":{shown}}}}}"#);
            assert!(text.ends_with(&wanted), "{text}");
        }
        let short = event::Short { balance: usd(129_930), threshold: usd(260_000) };
        let text = concat!(
            r#"{"alertType":"InsufficientBalance","balanceInfo":{"balance":1299.3,"#,
            r#""threshold":2600,"thresholdPercentRemaining":49.973}}"#,
        );
        assert_eq!(Json.full(&Event::InsufficientBalance(short)), text);
    }

    /// The example of the contract.
    fn example() -> (Iccid, InUse) {
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
        (Iccid::parse("8943001000000026411").expect("an ICCID"), bundle)
    }

    /// Byte by byte: receivers compute signatures over it.
    #[test]
    fn a_usage_event_is_written_as_the_contract_has_it() {
        let (iccid, bundle) = example();
        let text = concat!(
            r#"{"iccid":"8943001000000026411","alertType":"Utilisation","bundle":{"#,
            r#""id":"410000023","reference":"6513270e-269e-4d37-b2a7-4de452e6b438-0","#,
            r#""name":"esim_1GB_7D_PT_V2","description":"eSIM, 1GB, 7 Days, Portugal, V2","#,
            r#""initialQuantity":1000000000,"remainingQuantity":742000000,"#,
            r#""startTime":"2026-05-04T08:15:00Z","endTime":"2026-05-11T08:15:00Z","#,
            r#""unlimited":false}}"#,
        );
        let event = Event::Utilisation { iccid: iccid.clone(), bundle: bundle.clone() };
        assert_eq!(Json.full(&event), text);
        // An event that tries a receiver out looks the same to it.
        assert_eq!(Json.full(&Event::Test { iccid, bundle }), text);
    }

    #[test]
    fn what_tells_of_a_person_is_emptied_and_the_rest_stays() {
        let (iccid, bundle) = example();
        let moved = Event::CountryChange {
            iccid: iccid.clone(),
            code: "PT".to_owned(),
            name: "Portugal".to_owned(),
        };
        let kept = Json.full(&moved);
        let emptied = Json.without_person(&kept).expect("a place");
        let nowhere =
            Event::CountryChange { iccid: iccid.clone(), code: String::new(), name: String::new() };
        assert_eq!(emptied, Json.full(&nowhere));
        assert_eq!(Json.without_person(&emptied), None, "harmless to repeat");
        let msisdn = Msisdn::parse("447700900001").expect("a number");
        let at = Timestamp::from_ms(0);
        let failed = Json.full(&Event::SmsFailed { iccid: iccid.clone(), msisdn, at });
        let emptied = Json.without_person(&failed).expect("a number");
        assert_eq!(emptied, failed.replace("447700900001", ""));
        let usage = Json.full(&Event::Utilisation { iccid, bundle });
        assert_eq!(Json.without_person(&usage), None);
        assert_eq!(Json.without_person("not JSON"), None);
    }

    #[test]
    fn the_shorter_form_leaves_three_fields_out() {
        let (iccid, bundle) = example();
        let text = concat!(
            r#"{"iccid":"8943001000000026411","alertType":"Utilisation","bundle":{"#,
            r#""id":"410000023","name":"esim_1GB_7D_PT_V2","#,
            r#""initialQuantity":1000000000,"remainingQuantity":742000000,"#,
            r#""startTime":"2026-05-04T08:15:00Z","endTime":"2026-05-11T08:15:00Z"}}"#,
        );
        let event = Event::Utilisation { iccid: iccid.clone(), bundle };
        assert_eq!(Json.short(&event).as_deref(), Some(text));
        assert_eq!(Json.short(&Event::FirstAttachment { iccid }), None);
    }
}
