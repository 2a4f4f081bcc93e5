//! The share page: what a traveller is told of an eSIM. Plain words, for somebody at an airport.

pub(crate) const TITLE: &str = "Your eSIM";
pub(crate) const DATA_LEFT: &str = "data left";
pub(crate) const UNLIMITED: &str = "Unlimited data";
pub(crate) const FULL_SPEED: &str = "left today at full speed; after that it is slower until \
    midnight UTC.";
pub(crate) const OF: &str = "of";
pub(crate) const ENDS: &str = "Ends";
pub(crate) const STARTS_WITH_USE: &str = "Starts when you first use data, then runs for";
pub(crate) const STARTS: &str = "Starts";
pub(crate) const USED_UP: &str = "All data is used.";
pub(crate) const OVER: &str = "There is no data on this eSIM now.";
pub(crate) const BEING_MADE: &str = "Your data is being put on the eSIM. Look again in a minute.";
pub(crate) const THEN: &str = "Then";

/// What to do when there is nothing left.
pub(crate) fn ask(organisation: &str) -> String {
    format!("Ask {organisation} for more.")
}

/// It was switched off.
pub(crate) fn suspended(organisation: &str) -> String {
    format!("This eSIM is switched off at the moment. Ask {organisation}.")
}

/// It is dead.
pub(crate) fn ended(organisation: &str) -> String {
    format!(
        "This eSIM has ended and cannot be installed any more. Ask {organisation} for a new one."
    )
}

/// How many days something lasts.
pub(crate) fn days(count: i64) -> String {
    if count == 1 { "1 day".to_owned() } else { format!("{count} days") }
}

/// How many months something lasts.
pub(crate) fn months(count: i64) -> String {
    if count == 1 { "1 month".to_owned() } else { format!("{count} months") }
}

/// Time left.
pub(crate) fn time_left(ms: i64) -> (String, &'static str) {
    const HOUR_MS: i64 = 3_600_000;
    const DAY_MS: i64 = 24 * HOUR_MS;
    match ms {
        ..HOUR_MS => ((ms / 60_000).max(0).to_string(), "minutes left"),
        HOUR_MS..172_800_000 => ((ms / HOUR_MS).to_string(), "hours left"),
        _ => ((ms / DAY_MS).to_string(), "days left"),
    }
}

pub(crate) const INSTALL: &str = "Install it";
pub(crate) const INSTALLED: &str = "It is installed";
pub(crate) const INSTALLED_STEPS: [&str; 3] = [
    "In your phone’s settings, switch this eSIM on and choose it for mobile data.",
    "Switch data roaming on for it.",
    "No data? Switch flight mode on, wait ten seconds, and switch it off.",
];
pub(crate) const AGAIN: &str = "Install it again";
pub(crate) const BEFORE: &str =
    "You need an internet connection to install it, and a phone that is not locked to one network.";

pub(crate) const APPLE_OTHER: &str = "iPhone or iPad, iOS 17.4 or later";
pub(crate) const APPLE_BUTTON: &str = "Install on this iPhone";
pub(crate) const APPLE_STEPS: [&str; 3] = [
    "Tap the button and confirm twice.",
    "Name it, for example “Travel”, and keep your own number for calls.",
    "When you arrive: Settings, Mobile Service, this eSIM, Data Roaming on.",
];
pub(crate) const ANDROID_OTHER: &str = "Android";
pub(crate) const ANDROID_BUTTON: &str = "Install on this phone";
pub(crate) const ANDROID_STEPS: [&str; 3] = [
    "Tap the button and confirm.",
    "If nothing opens: Settings, Network and internet, SIMs, Add eSIM, and type in the code below.",
    "When you arrive: switch this SIM on for mobile data, and roaming with it.",
];
pub(crate) const CODE: &str = "With the code";
pub(crate) const CODE_STEPS: [&str; 2] = [
    "Show this page on another screen and scan the code with the phone’s camera.",
    "Or add an eSIM in the phone’s settings, choose to enter details by hand, and type these in.",
];
pub(crate) const SMDP: &str = "SM-DP+ address";
pub(crate) const MATCHING: &str = "Activation code";

/// Until when the page is there.
pub(crate) const UNTIL: &str = "This page is for you alone: whoever has the link can install the \
    eSIM. It is here until";

pub(crate) const GONE_TITLE: &str = "There is nothing here";
pub(crate) const GONE: &str = "The link is wrong, has ended, or was taken back. Ask whoever gave it \
    to you for a new one.";
pub(crate) const AWAY_TITLE: &str = "Just a moment";
pub(crate) const AWAY: &str = "The page cannot be shown right now. Load it again in a minute.";
