//! Why an eSIM does not work, in plain sentences: what is so, what it means, what to do next.

use app::esims::diagnosis::Finding;
use domain::Timestamp;

use crate::kit::Mood;
use crate::kit::figures::relative;

pub(crate) const WHY: &str = "Why does it not work?";
pub(crate) const WELL: &str = "Does it work?";
pub(crate) const ALSO: &str = "Mending this alone is not enough:";
pub(crate) const DO: &str = "What to do:";

/// A finding as it is told.
pub(crate) struct Told {
    pub(crate) mood: Mood,
    pub(crate) title: String,
    pub(crate) what: String,
    pub(crate) next: String,
}

/// Whom and when a sentence is about.
pub(crate) struct Around<'a> {
    /// Now, by the organisation's clock.
    pub(crate) clock: Timestamp,
    /// Where it was last seen, by name; may be empty.
    pub(crate) country: &'a str,
}

impl Around<'_> {
    fn when(&self, at: Option<Timestamp>) -> String {
        at.map(|at| format!(" {}", relative(at, self.clock))).unwrap_or_default()
    }

    fn place(&self) -> String {
        if self.country.is_empty() { String::new() } else { format!(" in {}", self.country) }
    }
}

/// Puts a finding into words.
pub(crate) fn tell(finding: &Finding, around: &Around) -> Told {
    let (mood, title, what, next) = match finding {
        Finding::Deactivated => fixed(Mood::Bad, DEACTIVATED),
        Finding::Unavailable => fixed(Mood::Bad, UNAVAILABLE),
        Finding::SuspendedByOwner => fixed(Mood::Warn, BY_OWNER),
        Finding::SuspendedByOperator => fixed(Mood::Bad, BY_OPERATOR),
        Finding::NeverDownloaded => fixed(Mood::Warn, NEVER_DOWNLOADED),
        Finding::NotInstalled => fixed(Mood::Warn, NOT_INSTALLED),
        Finding::Removed => fixed(Mood::Bad, REMOVED),
        Finding::NeverAttached => fixed(Mood::Warn, NEVER_ATTACHED),
        Finding::NoBundle => fixed(Mood::Warn, NO_BUNDLE),
        Finding::TakenOff => fixed(Mood::Warn, TAKEN_OFF),
        Finding::Unused => fixed(Mood::Good, UNUSED),
        Finding::NetworkAway(why) => {
            let (mood, title, _, next) = fixed(Mood::Warn, NETWORK_AWAY);
            (mood, title, format!("{} It answered: {why}.", NETWORK_AWAY[1]), next)
        }
        other => about_bundle(other, around),
    };
    Told { mood, title, what, next }
}

type Parts = (Mood, String, String, String);

fn fixed(mood: Mood, [title, what, next]: [&str; 3]) -> Parts {
    (mood, title.to_owned(), what.to_owned(), next.to_owned())
}

fn about_bundle(finding: &Finding, around: &Around) -> Parts {
    let own = |mood, title: &str, what: String, next: &str| {
        (mood, title.to_owned(), what, next.to_owned())
    };
    let place = around.place();
    match finding {
        Finding::Processing(name) => own(
            Mood::Busy,
            "Its bundle is being put on",
            format!("{name} was ordered and is not on the eSIM yet. That takes seconds."),
            "Wait a moment; this page follows.",
        ),
        Finding::WaitsForUse(name) => own(
            Mood::Good,
            "It is ready and waits for its first use",
            format!("{name} starts by itself with the first data that is used."),
            "If the traveller has no data: is mobile data on for this eSIM, and data roaming? Then \
             switch flight mode on and off.",
        ),
        Finding::WaitsUntil(name, at) => own(
            Mood::Busy,
            "Its bundle starts later",
            format!("{name} is to start {} and gives no data before.", relative(*at, around.clock)),
            "Wait until then. If the traveller needs data now, put another bundle on it, or take \
             this one off and put it on without a start time.",
        ),
        Finding::NotCovered { bundle, .. } => own(
            Mood::Bad,
            &format!("Its bundle does not work{place}"),
            format!("The eSIM was last seen{place}, where {bundle} does not work."),
            "Put a bundle on it that works there. If the traveller has moved on, refresh the \
             registration.",
        ),
        Finding::Throttled { bundle, kbps, until } => own(
            Mood::Warn,
            "It is slow until tomorrow",
            format!(
                "The day’s data at full speed of {bundle} is used. Until it begins anew, {}, it \
                 runs at {kbps} kbit/s: enough for messages and maps.",
                relative(*until, around.clock)
            ),
            "Wait for the next day (UTC). Another bundle changes nothing before this one ends.",
        ),
        over => about_over(over, around),
    }
}

/// What has ended, or works.
fn about_over(finding: &Finding, around: &Around) -> Parts {
    let own = |mood, title: &str, what: String, next: &str| {
        (mood, title.to_owned(), what, next.to_owned())
    };
    match finding {
        Finding::Depleted(name, at) => own(
            Mood::Bad,
            "All data is used",
            format!("The data of {name} was used up{}.", around.when(*at)),
            "Put another bundle on it. It starts at once or with the next data.",
        ),
        Finding::Expired(name, at) => own(
            Mood::Bad,
            "Its bundle has ended",
            format!("The time of {name} was over{}.", around.when(*at)),
            "Put another bundle on it.",
        ),
        Finding::Lapsed(name, at) => own(
            Mood::Bad,
            "Its bundle has lapsed",
            format!(
                "{name} was never used and lapsed{}, a year after it was bought.",
                around.when(*at)
            ),
            "Put another bundle on it.",
        ),
        Finding::Fine { last_use } => own(
            Mood::Good,
            "All is well",
            match last_use {
                Some(at) => format!("Last data {}{}.", relative(*at, around.clock), around.place()),
                None => format!("No data in the last 30 days; last seen{}.", around.place()),
            },
            "If the traveller says otherwise: mobile data and data roaming on for this eSIM, then \
             flight mode on and off; at last refresh the registration.",
        ),
        _ => fixed(Mood::Quiet, ["", "", ""]),
    }
}

const DEACTIVATED: [&str; 3] = [
    "It is deactivated",
    "It is dead for good and cannot be installed or used again.",
    "Give the traveller a new eSIM.",
];
const UNAVAILABLE: [&str; 3] = [
    "It cannot be installed",
    "The installation server says that this eSIM is not available, for example after too many \
     attempts.",
    "Give the traveller a new eSIM, or ask your wholesaler.",
];
const BY_OWNER: [&str; 3] = [
    "You have suspended it",
    "Somebody of your organisation suspended it, so the network gives it no data.",
    "Resume it in the menu above.",
];
const BY_OPERATOR: [&str; 3] = [
    "Your wholesaler has suspended it",
    "The network gives it no data, and you cannot lift that yourself.",
    "Ask your wholesaler why, and name the ICCID.",
];
const NEVER_DOWNLOADED: [&str; 3] = [
    "It was never downloaded",
    "No phone has asked for this eSIM yet.",
    "Let the traveller scan the code below, or make a share link. The phone needs an internet \
     connection to install it, and must not be locked to a network.",
];
const NOT_INSTALLED: [&str; 3] = [
    "It was downloaded, but not installed",
    "A phone has fetched it and did not finish.",
    "Let the traveller finish in the phone’s settings, or scan the code again on the same phone.",
];
const REMOVED: [&str; 3] = [
    "It was removed from the phone",
    "It was installed before and then deleted from the device. What is on it is still there.",
    "Let the traveller scan the same code again. If the phone says that the code is used, give \
     them a new eSIM.",
];
const NEVER_ATTACHED: [&str; 3] = [
    "It is installed, but was never seen on a network",
    "The phone has it and did not register anywhere: it is switched off, not abroad yet, or data \
     roaming is off.",
    "Let the traveller switch this eSIM on, choose it for mobile data and switch data roaming on; \
     then flight mode on and off.",
];
const NETWORK_AWAY: [&str; 3] = [
    "The network has not heard of the latest change",
    "It could not be told what this eSIM may do. It is told again by itself.",
    "Wait a few minutes; then ask your wholesaler.",
];
const NO_BUNDLE: [&str; 3] = [
    "No bundle is on it",
    "Without a bundle it gets no data.",
    "Put a bundle on it, from your inventory or by buying one.",
];
const TAKEN_OFF: [&str; 3] = [
    "Its bundle was taken off",
    "What was on it was taken off, so it gets no data.",
    "Put a bundle on it.",
];
const UNUSED: [&str; 3] = [
    "All is ready, but no data was used",
    "It is installed, on a network, and a bundle is active.",
    "Is it chosen for mobile data on the phone? Is data roaming on? Then flight mode on and off.",
];
