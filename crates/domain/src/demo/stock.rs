//! Demo profiles. Their numbers and secrets can be computed by anybody and open nothing.

use super::area::OTHER_PROFILE_NAME;
use super::mix;
use crate::catalogue::PROFILE_NAME;
use crate::stock::Line;

/// One in so many profiles fits other bundles than the rest.
const OTHER_PROFILE_SHARE: usize = 20;
/// The first ten are known one by one: those before this place have a telephone number, …
const NUMBERED_FIRST: u64 = 2;
/// … those from there to here have none, and from here on every second one has.
const NUMBERED_BY_TURNS_FROM: u64 = 10;
/// No `I`, `O`, `0` or `1`: a code may be read aloud. 32 of them, so that each carries five bits.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// So many profiles, by rising ICCID. The first ones are the same whatever the count; the last
/// twentieth is of the other profile.
pub fn stock(count: usize) -> Vec<Line> {
    let common = count - count / OTHER_PROFILE_SHARE;
    let line = |(place, index)| Line {
        iccid: iccid(index),
        matching_id: matching_id(index),
        smdp_address: "rsp.demo.example".into(),
        pin: format!("{:04}", mix(index) % 10_000),
        puk: format!("{:08}", mix(index) / 10_000 % 100_000_000),
        msisdn: if has_msisdn(index) { format!("8830000{index:08}") } else { String::new() },
        imsi: format!("99970{index:010}"),
        profile_name: if place < common { PROFILE_NAME } else { OTHER_PROFILE_NAME }.into(),
    };
    (0..count).zip(0..).map(line).collect()
}

fn has_msisdn(index: u64) -> bool {
    index < NUMBERED_FIRST || (index >= NUMBERED_BY_TURNS_FROM && index.is_multiple_of(2))
}

fn iccid(index: u64) -> String {
    let digits = format!("8943108{index:011}");
    let check = check_digit(&digits);
    format!("{digits}{check}")
}

/// Luhn: every second digit counts twice, beginning beside the check digit.
fn check_digit(digits: &str) -> u32 {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let digits = digits.bytes().rev().map(|byte| u32::from(byte - b'0'));
    let sum: u32 = digits
        .enumerate()
        .map(|(place, digit)| if place % 2 == 0 { doubled(digit) } else { digit })
        .sum();
    (10 - sum % 10) % 10
}

/// Four groups of five. They hold all of the mixed index, so no two are the same.
fn matching_id(index: u64) -> String {
    let mixed = mix(index);
    let bits = (u128::from(mixed) << 36) | u128::from(mix(mixed) >> 28);
    let letter = |place: u32| {
        let five = usize::try_from((bits >> (place * 5)) & 31).expect("five bits");
        char::from(ALPHABET[five])
    };
    let group = |number: u32| (number * 5..number * 5 + 5).map(letter).collect::<String>();
    [0, 1, 2, 3].map(group).join("-")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_can_be_read_and_none_stands_twice() {
        let lines = stock(2_000);
        assert!(lines.windows(2).all(|pair| pair[0].iccid < pair[1].iccid));
        let ids: HashSet<_> = lines.iter().map(|line| line.matching_id.clone()).collect();
        assert_eq!(ids.len(), lines.len());
        for line in lines {
            assert_eq!((line.iccid.len(), line.imsi.len()), (19, 15));
            assert_eq!((line.pin.len(), line.puk.len(), line.matching_id.len()), (4, 8, 23));
            let iccid = line.iccid.clone();
            let profile = line.read().unwrap_or_else(|why| panic!("{iccid}: {why}"));
            assert_eq!(profile.iccid.as_str(), iccid);
        }
    }

    #[test]
    fn two_of_the_first_ten_have_a_number_and_every_second_one_later() {
        let numbered: Vec<_> =
            stock(16).iter().map(|line| usize::from(!line.msisdn.is_empty())).collect();
        assert_eq!(numbered, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn the_last_twentieth_is_of_the_other_profile() {
        let lines = stock(100);
        let first_other = lines.iter().position(|line| line.profile_name == OTHER_PROFILE_NAME);
        assert_eq!(first_other, Some(95));
        assert!(lines[95..].iter().all(|line| line.profile_name == OTHER_PROFILE_NAME));
        assert!(stock(0).is_empty());
    }
}
