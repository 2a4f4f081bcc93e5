//! The fuller form of events, as JSON.

use domain::Money;
use domain::event::{Event, Forms};
use serde::Serialize;
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
        };
        written.expect("numbers and texts are JSON")
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
    use domain::Currency;

    use super::*;

    #[test]
    fn amounts_are_in_major_units() {
        let usd = |minor| Money::minor(minor, Currency::parse("USD").expect("a currency"));
        let event = Event::Topup { old: usd(4_010), new: usd(9_010) };
        let text = r#"{"alertType":"Topup","bundle":{"oldAmount":40.1,"newAmount":90.1}}"#;
        assert_eq!(Json.full(&event), text);
    }
}
