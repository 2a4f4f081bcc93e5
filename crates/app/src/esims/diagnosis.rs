//! Why an eSIM does not work: what stands in its way, told from what is known of it. Pure, so that
//! every answer can be tested; says what is so, never how to put it.

use domain::Timestamp;
use domain::assignment::{Assignment, State};
use domain::catalogue::Data;
use domain::esim::{Esim, ProfileStatus, SuspendedBy};

use super::OnEsim;

/// What is known of an eSIM.
pub struct Known<'a> {
    /// The eSIM.
    pub esim: &'a Esim,
    /// What is and was on it, newest first.
    pub bundles: &'a [OnEsim],
    /// Now, by the organisation's clock.
    pub clock: Timestamp,
    /// When data was last used.
    pub last_use: Option<Timestamp>,
    /// Whether the network has not heard of the latest change, and why that failed.
    pub network_error: Option<&'a str>,
    /// Whether a bundle works in a country.
    pub covers: &'a dyn Fn(&str, &str) -> bool,
}

/// Something that stands in the way, or that nothing does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Dead for good.
    Deactivated,
    /// The installation server cannot give it out.
    Unavailable,
    /// Its owner suspended it.
    SuspendedByOwner,
    /// The operator suspended it.
    SuspendedByOperator,
    /// No phone has asked for it.
    NeverDownloaded,
    /// A phone has it, but did not install it.
    NotInstalled,
    /// It was installed and is not any more.
    Removed,
    /// Installed, but never seen on a network.
    NeverAttached,
    /// The network could not be told what it may do.
    NetworkAway(String),
    /// Nothing was ever put on it.
    NoBundle,
    /// What was on it was taken off.
    TakenOff,
    /// The bundle is being put on it.
    Processing(String),
    /// The bundle starts with the first data that is used.
    WaitsForUse(String),
    /// The bundle starts then.
    WaitsUntil(String, Timestamp),
    /// The bundle does not work in the country it is in.
    NotCovered {
        /// The bundle.
        bundle: String,
        /// ISO code of the country.
        country: String,
    },
    /// All data of the bundle was used.
    Depleted(String, Option<Timestamp>),
    /// The day's data at full speed is used.
    Throttled {
        /// The bundle.
        bundle: String,
        /// Kilobits per second until then.
        kbps: i64,
        /// When it is fast again.
        until: Timestamp,
    },
    /// The time of the bundle is over.
    Expired(String, Option<Timestamp>),
    /// The bundle waited too long.
    Lapsed(String, Option<Timestamp>),
    /// It has what it needs, but has not been used.
    Unused,
    /// It works.
    Fine {
        /// When data was last used.
        last_use: Option<Timestamp>,
    },
}

impl Finding {
    /// Whether nothing stands in the way.
    pub fn is_well(&self) -> bool {
        matches!(self, Self::Fine { .. } | Self::Unused | Self::WaitsForUse(_))
    }
}

/// What stands in the way, what must be mended first before the rest; one that says so if nothing
/// does.
pub fn diagnose(known: &Known) -> Vec<Finding> {
    if known.esim.is_deactivated() {
        return vec![Finding::Deactivated];
    }
    let profile = on_the_phone(known);
    let bundle = on_the_esim(known);
    let mut findings = suspended(known.esim);
    let is_held_up = profile.is_some() || !findings.is_empty();
    findings.extend(profile);
    let away = known.network_error.map(|why| Finding::NetworkAway(why.to_owned()));
    findings.extend(away);
    // That a bundle waits is as it should be while there is nothing to use it with.
    findings.extend(bundle.filter(|found| !(is_held_up && found.is_well())));
    if findings.is_empty() {
        findings.push(match known.last_use {
            None if known.esim.first_used_at.is_none() => Finding::Unused,
            last_use => Finding::Fine { last_use },
        });
    }
    findings
}

fn suspended(esim: &Esim) -> Vec<Finding> {
    match esim.suspended_by {
        None => Vec::new(),
        Some(SuspendedBy::Owner) => vec![Finding::SuspendedByOwner],
        Some(SuspendedBy::Policy) => vec![Finding::SuspendedByOperator],
        Some(SuspendedBy::Both) => vec![Finding::SuspendedByOperator, Finding::SuspendedByOwner],
    }
}

fn on_the_phone(Known { esim, .. }: &Known) -> Option<Finding> {
    Some(match esim.status {
        ProfileStatus::Deactivated => Finding::Deactivated,
        ProfileStatus::Unavailable => Finding::Unavailable,
        ProfileStatus::Downloaded => Finding::NotInstalled,
        ProfileStatus::Released if esim.first_installed_at.is_some() => Finding::Removed,
        // Notices of installation servers get lost; what was seen on a network is installed.
        ProfileStatus::Released if esim.seen.is_none() => Finding::NeverDownloaded,
        ProfileStatus::Installed if esim.seen.is_none() => Finding::NeverAttached,
        ProfileStatus::Released | ProfileStatus::Installed => return None,
    })
}

fn on_the_esim(known: &Known) -> Option<Finding> {
    let of_state = |state: State| {
        // Newest first: the one that comes next is the last of them.
        known.bundles.iter().rev().find(|one| one.assignment.state == state)
    };
    if let Some(one) = of_state(State::Active) {
        return not_covered(known, one).or_else(|| throttled(known, one));
    }
    if let Some(one) = of_state(State::Queued) {
        let name = one.stored.description.clone();
        return not_covered(known, one).or(Some(match one.assignment.wanted_at {
            Some(at) if at > known.clock => Finding::WaitsUntil(name, at),
            _ => Finding::WaitsForUse(name),
        }));
    }
    if let Some(one) = of_state(State::Processing) {
        return Some(Finding::Processing(one.stored.description.clone()));
    }
    let Some(last) = last_over(known.bundles) else { return Some(Finding::NoBundle) };
    let (name, one) = (last.stored.description.clone(), &last.assignment);
    Some(match one.state {
        State::Lapsed => Finding::Lapsed(name, one.ended_at),
        State::Revoked => Finding::TakenOff,
        _ if is_used_up(one) => Finding::Depleted(name, one.ended_at),
        _ => Finding::Expired(name, one.ends_at),
    })
}

fn not_covered(known: &Known, one: &OnEsim) -> Option<Finding> {
    let seen = known.esim.seen.as_ref()?;
    let covered = (known.covers)(one.stored.bundle.as_str(), &seen.country);
    let (bundle, country) = (one.stored.description.clone(), seen.country.clone());
    (!covered).then_some(Finding::NotCovered { bundle, country })
}

fn throttled(known: &Known, one: &OnEsim) -> Option<Finding> {
    let Data::Unlimited { throttle_kbps, .. } = one.assignment.terms.data else { return None };
    (one.remaining == 0).then(|| Finding::Throttled {
        bundle: one.stored.description.clone(),
        kbps: throttle_kbps,
        until: known.clock.next_day(),
    })
}

/// The one that ended last; what was taken off counts only where nothing else was.
fn last_over(bundles: &[OnEsim]) -> Option<&OnEsim> {
    let ended = |one: &&OnEsim| one.assignment.ended_at;
    let used = bundles.iter().filter(|one| one.assignment.state != State::Revoked);
    used.max_by_key(ended).or_else(|| bundles.iter().max_by_key(ended))
}

fn is_used_up(one: &Assignment) -> bool {
    !one.terms.data.is_unlimited() && one.used >= one.initial_bytes()
}

#[cfg(test)]
mod tests;
