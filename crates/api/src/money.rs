//! Money on the wire: whole minor units up to v2.3, major units from v2.4 on.

use domain::Money;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::versions::{Change, Version};

/// A number on the wire, digit by digit as it was made: it never passes through a float.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Amount(Box<RawValue>);

/// The amount as this version prints it. Whole amounts never have a point.
pub(crate) fn print(money: Money, version: Version) -> Amount {
    let digits = if Change::MajorUnits.seen_by(version) {
        money.in_major()
    } else {
        money.in_minor().to_string()
    };
    Amount(RawValue::from_string(digits).expect("decimal digits are a JSON number"))
}

#[cfg(test)]
mod tests {
    use domain::Currency;

    use super::*;

    #[test]
    fn each_version_prints_its_unit() {
        let printed = |minor, version| {
            let usd = Currency::parse("USD").expect("a currency");
            let amount = print(Money::minor(minor, usd), version);
            serde_json::to_string(&amount).expect("a number")
        };
        assert_eq!(printed(1250, Version::V2_3), "1250");
        assert_eq!(printed(1250, Version::V2_4), "12.5");
        assert_eq!(printed(1200, Version::V2_5), "12");
        assert_eq!(printed(-5, Version::V2_5), "-0.05");
        assert_eq!(printed(0, Version::V2_5), "0");
        assert_eq!(printed(i64::MAX, Version::V2_5), "92233720368547758.07");
    }
}
