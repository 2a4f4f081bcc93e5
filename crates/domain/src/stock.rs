//! Profiles that wait to become somebody's eSIM, as an operator brings them.

use crate::catalogue::PROFILE_NAME;
use crate::{Iccid, Msisdn, Secret};

/// A profile on its installation server.
#[derive(Debug, Clone)]
pub struct NewProfile {
    /// Its number.
    pub iccid: Iccid,
    /// Bare host name of its installation server.
    pub smdp_address: String,
    /// What only its owner may know.
    pub secrets: Secrets,
    /// Its telephone number, if it has one.
    pub msisdn: Option<Msisdn>,
    /// The bundles it fits.
    pub profile_name: String,
}

/// What only the owner of a profile may know: whoever has it can install or unlock it.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// Names it on its installation server.
    pub matching_id: Secret<String>,
    /// Unlocks it; may be empty.
    pub pin: Secret<String>,
    /// Unlocks the PIN; may be empty.
    pub puk: Secret<String>,
    /// Its subscriber number; may be empty.
    pub imsi: Secret<String>,
}

/// The fields of a line as they stand in a file; what is missing is empty.
#[derive(Clone, Default)]
pub struct Line {
    /// 18 to 20 digits.
    pub iccid: String,
    /// Capitals, digits and hyphens.
    pub matching_id: String,
    /// Bare host name.
    pub smdp_address: String,
    /// 4 to 8 digits.
    pub pin: String,
    /// 8 digits.
    pub puk: String,
    /// International form.
    pub msisdn: String,
    /// 6 to 15 digits.
    pub imsi: String,
    /// Free text.
    pub profile_name: String,
}

impl Line {
    /// The profile it describes, or what is wrong with it. Names fields, never their contents.
    pub fn read(self) -> Result<NewProfile, &'static str> {
        let iccid = Iccid::parse(&self.iccid).map_err(|_| "iccid must be 18 to 20 digits")?;
        if !iccid.has_good_check_digit() {
            return Err("iccid has a wrong check digit");
        }
        let msisdn = match self.msisdn.as_str() {
            "" => None,
            text => Some(Msisdn::parse(text).map_err(|_| "msisdn must be 7 to 15 digits")?),
        };
        if !is_host(&self.smdp_address) {
            return Err("smdpAddress must be a host name without a scheme");
        }
        if !is_matching_id(&self.matching_id) {
            return Err("matchingId must be 1 to 255 letters, digits, '-' or '.'");
        }
        let digits = |text: &str, from: usize, to: usize| {
            text.is_empty()
                || ((from..=to).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()))
        };
        if !digits(&self.pin, 4, 8) {
            return Err("pin must be 4 to 8 digits");
        }
        if !digits(&self.puk, 8, 8) {
            return Err("puk must be 8 digits");
        }
        if !digits(&self.imsi, 6, 15) {
            return Err("imsi must be 6 to 15 digits");
        }
        let profile_name = match self.profile_name.trim() {
            "" => PROFILE_NAME.to_owned(),
            name if name.chars().count() <= 100 => name.to_owned(),
            _ => return Err("profileName must have at most 100 characters"),
        };
        Ok(NewProfile {
            iccid,
            smdp_address: self.smdp_address,
            secrets: Secrets {
                matching_id: Secret::new(self.matching_id),
                pin: Secret::new(self.pin),
                puk: Secret::new(self.puk),
                imsi: Secret::new(self.imsi),
            },
            msisdn,
            profile_name,
        })
    }
}

fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    (1..=253).contains(&text.len()) && text.split('.').all(label)
}

/// What an activation code can carry without being misread, where `$` parts its fields, and a
/// spreadsheet, where a sign at the beginning makes a formula.
fn is_matching_id(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'.';
    (1..=255).contains(&text.len())
        && text.bytes().all(allowed)
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        Line {
            iccid: "8944500102198304826".into(),
            matching_id: "K2QPA-7RMXD-W4TZN-90HLC".into(),
            smdp_address: "rsp.example".into(),
            pin: "1234".into(),
            puk: "12345678".into(),
            ..Line::default()
        }
    }

    #[test]
    fn a_line_becomes_a_profile() {
        let profile = line().read().expect("a profile");
        assert_eq!(profile.profile_name, "Profile 1");
        assert_eq!(profile.msisdn, None);
        assert!(!format!("{profile:?}").contains("12345678"));
    }

    #[test]
    fn what_is_wrong_is_named_and_not_repeated() {
        for (bad, why) in [
            (Line { iccid: "89".into(), ..line() }, "iccid must be 18 to 20 digits"),
            (
                Line { iccid: "8944500102198304827".into(), ..line() },
                "iccid has a wrong check digit",
            ),
            (Line { msisdn: "07".into(), ..line() }, "msisdn must be 7 to 15 digits"),
            (
                Line { smdp_address: "https://rsp.example".into(), ..line() },
                "smdpAddress must be a host name without a scheme",
            ),
            (
                Line { matching_id: "a$b".into(), ..line() },
                "matchingId must be 1 to 255 letters, digits, '-' or '.'",
            ),
            (
                Line { matching_id: "-AB".into(), ..line() },
                "matchingId must be 1 to 255 letters, digits, '-' or '.'",
            ),
            (Line { pin: "12a4".into(), ..line() }, "pin must be 4 to 8 digits"),
            (Line { puk: "123".into(), ..line() }, "puk must be 8 digits"),
            (Line { imsi: "x".into(), ..line() }, "imsi must be 6 to 15 digits"),
        ] {
            assert_eq!(bad.read().err(), Some(why));
        }
    }
}
