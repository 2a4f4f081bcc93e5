//! Money on the wire: whole minor units up to v2.3, major units from v2.4 on.

use domain::Money;
use serde_json::Number;

use crate::versions::{Change, Version};

/// The amount as this version prints it. Whole amounts never have a point.
pub(crate) fn print(money: Money, version: Version) -> Number {
    if !Change::MajorUnits.seen_by(version) {
        return money.in_minor().into();
    }
    // Decimal text becomes a number without passing through arithmetic on floats.
    let text = money.in_major();
    text.parse().unwrap_or_else(|_| money.in_minor().into())
}

#[cfg(test)]
mod tests {
    use domain::Currency;

    use super::*;

    #[test]
    fn each_version_prints_its_unit() {
        let usd = |minor| Money::minor(minor, Currency::parse("USD").expect("a currency"));
        assert_eq!(print(usd(1250), Version::V2_3).to_string(), "1250");
        assert_eq!(print(usd(1250), Version::V2_4).to_string(), "12.5");
        assert_eq!(print(usd(1200), Version::V2_5).to_string(), "12");
        assert_eq!(print(usd(-5), Version::V2_5).to_string(), "-0.05");
        assert_eq!(print(usd(0), Version::V2_5).to_string(), "0");
    }
}
