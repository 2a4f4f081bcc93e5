//! eSIMs: the list, and the page that explains one.

pub(crate) mod diagnosis;

use app::esims::phone;
use domain::assignment::State;
use domain::esim::{Esim, ProfileStatus};

use crate::kit::Mood;
use crate::print;

pub(crate) const TITLE: &str = "eSIMs";
pub(crate) const SEARCH: &str = "ICCID, customer reference or order reference";
pub(crate) const HEADS: [&str; 5] = ["ICCID", "Reference", "Profile", "On it", "Last action"];
pub(crate) const ALL: &str = "All";
pub(crate) const NOTHING_FOUND: &str = "No eSIM fits that.";
pub(crate) const LOOK_ON: &str =
    "Not all eSIMs were looked through. “Next” looks on from where this ended.";
pub(crate) const EMPTY_TITLE: &str = "Your eSIMs will be here";
pub(crate) const EMPTY_WHY: &str = "Each bundle you buy can come on a new eSIM. Here you see what \
    is on it, whether it is installed, and why it does not work when a traveller asks.";
pub(crate) const EMPTY_STEP: &str = "Choose a bundle";

/// The profile's state in a word.
pub(crate) fn state(esim: &Esim) -> (Mood, &'static str) {
    match (esim.status, esim.suspended_by) {
        (ProfileStatus::Deactivated, _) => (Mood::Bad, "Deactivated"),
        (_, Some(_)) => (Mood::Warn, "Suspended"),
        (ProfileStatus::Unavailable, _) => (Mood::Bad, "Unavailable"),
        (ProfileStatus::Installed, _) => (Mood::Good, "Installed"),
        (ProfileStatus::Downloaded, _) => (Mood::Busy, "Downloaded"),
        (ProfileStatus::Released, _) if esim.first_installed_at.is_some() => {
            (Mood::Warn, "Removed")
        }
        (ProfileStatus::Released, _) => (Mood::Quiet, "Not installed"),
    }
}

/// A status as a filter names it.
pub(crate) fn chip(status: ProfileStatus) -> &'static str {
    match status {
        ProfileStatus::Released => "Not installed",
        ProfileStatus::Downloaded => "Downloaded",
        ProfileStatus::Installed => "Installed",
        ProfileStatus::Unavailable => "Unavailable",
        ProfileStatus::Deactivated => "Deactivated",
    }
}

/// How a bundle stands.
pub(crate) fn bundle_state(state: State) -> (Mood, &'static str) {
    match state {
        State::Processing => (Mood::Busy, "Being put on"),
        State::Queued => (Mood::Quiet, "Queued"),
        State::Active => (Mood::Good, "Active"),
        State::Depleted => (Mood::Warn, "Used up"),
        State::Expired => (Mood::Quiet, "Expired"),
        State::Revoked => (Mood::Quiet, "Taken off"),
        State::Lapsed => (Mood::Warn, "Lapsed"),
    }
}

/// How many bundles wait behind the one that is shown.
pub(crate) fn more_queued(count: usize) -> String {
    format!("+ {count} queued")
}

pub(crate) const NOTHING_ON_IT: &str = "Nothing";

/// What the command of the first step is.
pub(crate) fn first_order(base: &str) -> String {
    format!(
        "curl -H \"X-API-Key: $TERN_KEY\" -H 'Idempotency-Key: my-first-order' \\\n     \
         -d '{{\"type\":\"transaction\",\"assign\":true,\n          \
         \"order\":[{{\"type\":\"bundle\",\"item\":\"esim_1GB_7D_FR_V2\",\"quantity\":1}}]}}' \\\n     \
         {base}/v2.5/orders"
    )
}

// One eSIM

/// Its title: the number as it is read aloud.
pub(crate) fn title(iccid: &str) -> String {
    let digits: Vec<char> = iccid.chars().collect();
    let fours: Vec<String> = digits.chunks(4).map(|four| four.iter().collect()).collect();
    format!("eSIM {}", fours.join("\u{a0}"))
}

pub(crate) const PROFILE: &str = "Profile";
pub(crate) const SINCE: &str = "since";
pub(crate) const ACTIVE: &str = "Active bundle";
pub(crate) const DATA_LEFT: &str = "Data left";
pub(crate) const LEFT_TODAY: &str = "Left today at full speed";
pub(crate) const ENDS: &str = "Ends";
pub(crate) const SEEN: &str = "Last seen";
pub(crate) const NEVER: &str = "never";
pub(crate) const NONE_ACTIVE: &str = "none";

pub(crate) const BUNDLES: &str = "Bundles";
pub(crate) const NO_BUNDLES: &str = "Nothing is on it now.";
pub(crate) const EARLIER_HEADS: [&str; 4] = ["Bundle", "State", "Used", "Ended"];
pub(crate) const FROM_ORDER: &str = "order";
pub(crate) const STARTS: &str = "starts";
pub(crate) const NEXT: &str = "comes next";

/// The place of a bundle in the queue.
pub(crate) fn place(place: usize) -> String {
    match place {
        1 => NEXT.to_owned(),
        _ => format!("number {place} in the queue"),
    }
}

/// The fold of what is over.
pub(crate) fn earlier(count: usize) -> String {
    print::counted(i64::try_from(count).unwrap_or(i64::MAX), "earlier bundle")
}

pub(crate) const REVOKE: &str = "Take off";
pub(crate) const REVOKE_LOST: &str = "It has started or is too old to be given back: nothing comes \
    back, and what is left of it is lost.";
pub(crate) const REVOKE_KEPT: &str =
    "It has not started, so the bundle goes back into your inventory, to be used again.";
pub(crate) const REVOKE_TO_INVENTORY: &str = "Take off, back to the inventory";

/// The other way of giving back.
pub(crate) fn revoke_money(amount: &str) -> String {
    format!("Or take {amount} back on your balance instead.")
}

pub(crate) const REVOKE_TO_BALANCE: &str = "Take off, money back";

pub(crate) const APPLY: &str = "Put another bundle on it";
pub(crate) const APPLY_BUNDLE: &str = "Bundle from your inventory";
pub(crate) const APPLY_START: &str = "Start at";
pub(crate) const APPLY_START_HINT: &str = "UTC, for example 2026-05-04T08:00:00Z. Empty: as the \
    bundle says, after those before it.";
pub(crate) const APPLY_BUTTON: &str = "Put it on";
pub(crate) const APPLY_SAYS: &str =
    "It takes one bundle out of your inventory; nothing is charged.";
pub(crate) const APPLY_EMPTY: &str = "Your inventory holds nothing that fits this eSIM.";
pub(crate) const APPLY_BUY: &str = "Buy a bundle";
pub(crate) const BAD_START: &str =
    "The start is not a time such as 2026-05-04T08:00:00Z. Nothing was changed.";

/// A bundle of the inventory.
pub(crate) fn held(description: &str, count: i64) -> String {
    format!("{description} ({} left)", print::count(count))
}

pub(crate) const INSTALL: &str = "Install";
pub(crate) const INSTALL_SAYS: &str =
    "Scan the code with the phone that gets the eSIM, or send its owner a share link.";
pub(crate) const NO_CODE: &str = "It is deactivated and cannot be installed any more.";
pub(crate) const APPLE: &str = "iPhone link";
pub(crate) const ANDROID: &str = "Android link";
pub(crate) const SMDP: &str = "SM-DP+ address";
pub(crate) const MATCHING: &str = "Activation code";
pub(crate) const LPA: &str = "Both in one";
pub(crate) const PIN: &str = "PIN";
pub(crate) const PUK: &str = "PUK";
pub(crate) const BY_HAND: &str = "To type in by hand";
pub(crate) const OPEN: &str = "Open";

pub(crate) const USAGE: &str = "Data used";
pub(crate) const USAGE_NAME: [&str; 2] = ["By the day, last 30 days", "By the hour, last 48 hours"];
pub(crate) const BY_DAY: &str = "By day";
pub(crate) const BY_HOUR: &str = "By hour";
pub(crate) const COUNTRIES: &str = "Where, last 30 days";
pub(crate) const COUNTRY_HEADS: [&str; 3] = ["Country", "Data", "Part"];
pub(crate) const NOT_USED: &str = "No data was used in this time.";

pub(crate) const ABOUT: &str = "About it";
pub(crate) const ICCID: &str = "ICCID";
pub(crate) const REFERENCE: &str = "Customer reference";
pub(crate) const MSISDN: &str = "Telephone number";
pub(crate) const KIND: &str = "Kind";
pub(crate) const YOURS_SINCE: &str = "Yours since";
pub(crate) const INSTALLED: &str = "First installed";
pub(crate) const FIRST_USED: &str = "First used";
pub(crate) const LOCATION: &str = "Last location";
pub(crate) const LEAVES: &str = "Is taken back";

pub(crate) const HISTORY: &str = "History";
pub(crate) const HISTORY_HEADS: [&str; 3] = ["When", "What", "Bundle"];
pub(crate) const NO_HISTORY: &str = "Nothing has happened to it yet.";

pub(crate) const WORK: &str = "Under way";
pub(crate) const NO_WORK: &str = "Nothing is under way.";
pub(crate) const WORK_HEADS: [&str; 4] = ["What", "Due", "Tries", "Last error"];
pub(crate) const CALLBACK_DUE: &str = "A callback about it is to be sent";

/// A piece of work in words.
pub(crate) fn work(kind: &str) -> &str {
    match kind {
        "esim" => "Look whether a bundle starts, ends or lapses",
        "network" => "Tell the network what it may do",
        "refresh" => "Make the network forget where it is",
        other => other,
    }
}

pub(crate) const MESSAGES: &str = "Text messages";
pub(crate) const MESSAGE_HEADS: [&str; 3] = ["When", "From", "Message"];
pub(crate) const NO_MESSAGES: &str = "No message is kept.";
pub(crate) const MESSAGES_LIVE: &str = "Messages are forgotten once they are sent.";
pub(crate) const NO_NUMBER: &str = "It has no telephone number, so no message reaches it.";
pub(crate) const SEND: &str = "Send a message";
pub(crate) const SENDER: &str = "From";
pub(crate) const SENDER_HINT: &str = "A name your wholesaler has allowed; empty: eSIM.";
pub(crate) const MESSAGE: &str = "Message";
pub(crate) const MESSAGE_HINT: &str = "At most 160 characters. The traveller sees it at once.";
pub(crate) const SEND_BUTTON: &str = "Send";

pub(crate) const CALLBACKS: &str = "Callbacks about it";
pub(crate) const CALLBACK_HEADS: [&str; 4] = ["Event", "State", "Tries", "When"];
pub(crate) const NO_CALLBACKS: &str = "No callback was about this eSIM.";

/// How far a delivery is.
pub(crate) fn delivery(state: domain::callback::State) -> (Mood, &'static str) {
    use domain::callback::State as S;
    match state {
        S::Waiting => (Mood::Busy, "Waiting"),
        S::Delivered => (Mood::Good, "Delivered"),
        S::Dead => (Mood::Bad, "Given up"),
    }
}

pub(crate) const SHARES: &str = "Share links";
pub(crate) const SHARES_SAY: &str = "A page for the traveller: how to install it, data and days \
    left. Whoever has the link sees it, until it ends or you revoke it.";
pub(crate) const SHARE_HEADS: [&str; 3] = ["Link", "Made", "Ends"];
pub(crate) const SHARE_MAKE: &str = "Make a link";
pub(crate) const SHARE_DAYS: &str = "Days";
pub(crate) const SHARE_DAYS_HINT: &str = "1 to 365; then it ends by itself.";
pub(crate) const SHARE_MADE: &str = "The link is made. Copy it from the list.";
pub(crate) const SHARE_REVOKE: &str = "Revoke";
pub(crate) const SHARE_REVOKED: &str = "The link is revoked. It leads nowhere now.";
pub(crate) const SHARE_BAD_DAYS: &str = "A link lasts 1 to 365 days. None was made.";
pub(crate) const SHARE_TOO_MANY: &str =
    "There are as many links to this eSIM as there may be. Revoke one first. None was made.";
pub(crate) const SHARE_UNKNOWN: &str = "That link has ended already.";
pub(crate) const LINK: &str = "the link";

// The menu

pub(crate) const MENU: &str = "Actions";
pub(crate) const REFERENCE_EDIT: &str = "Edit customer reference";
pub(crate) const REFERENCE_SAYS: &str =
    "Your own note, up to 255 characters. You can search for it.";
pub(crate) const SAVE: &str = "Save";
pub(crate) const REFRESH: &str = "Refresh registration";
pub(crate) const REFRESH_SAYS: &str = "The network forgets where it is and it registers again. The \
    connection drops for about a minute; no data is lost.";
pub(crate) const SUSPEND: &str = "Suspend";
pub(crate) const SUSPEND_SAYS: &str = "It gets no data until you resume it. The time of its bundles \
    goes on running.";
pub(crate) const RESUME: &str = "Resume";
pub(crate) const RESUME_SAYS: &str = "It gets data again, as far as a bundle is on it.";
pub(crate) const DELETE: &str = "Delete";
pub(crate) const DELETE_BUTTON: &str = "Delete it for good";
pub(crate) const ERASE: &str = "Erase the end user’s data";
pub(crate) const ERASE_SAYS: &str = "Where a traveller has a right to be forgotten.";

/// What is lost with it.
pub(crate) fn delete_says(bundles: usize) -> String {
    let lost = match bundles {
        0 => "Nothing is on it that could be lost".to_owned(),
        1 => "The bundle on it is lost and not paid back".to_owned(),
        more => format!("The {more} bundles on it are lost and not paid back"),
    };
    format!(
        "It leaves your organisation and stops working for good. {lost}. This cannot be undone."
    )
}

pub(crate) const NETWORK_AWAY: &str =
    "The network cannot be reached now. Nothing was changed. Try again in a minute.";
pub(crate) const SMS_AWAY: &str =
    "Messages cannot be sent now. Nothing was sent. Try again in a minute.";

// The phone of a sandbox

pub(crate) const PHONE: &str = "Phone";
pub(crate) const PHONE_SAYS: &str = "Your organisation is a sandbox, so this eSIM has a phone that \
    does what you say, by your sandbox’s own clock. Callbacks are sent as in real life.";
pub(crate) const PHONE_INSTALL: &str = "Install it";
pub(crate) const PHONE_REMOVE: &str = "Remove it";
pub(crate) const PHONE_ATTACH: &str = "Register in";
pub(crate) const PHONE_ATTACH_BUTTON: &str = "Register";
pub(crate) const PHONE_USE: &str = "Use data, in MB";
pub(crate) const PHONE_USE_BUTTON: &str = "Use";
pub(crate) const PHONE_NUMBER: &str = "Telephone number";
pub(crate) const PHONE_NUMBER_BUTTON: &str = "Set";
pub(crate) const PHONE_DONE: &str = "The phone did that.";
pub(crate) const PHONE_NOT_A_NUMBER: &str =
    "A telephone number has 7 to 15 digits, country code first. Nothing was changed.";

/// What the phone used.
pub(crate) fn used(charged: &str, overshoot: Option<&str>) -> String {
    match overshoot {
        None => format!("The phone used {charged}."),
        Some(over) => format!("The phone used {charged}, and {over} more that no bundle paid for."),
    }
}

/// Why the phone did nothing.
pub(crate) fn phone_refused(error: &phone::Error) -> &'static str {
    use phone::Error as E;
    match error {
        E::Live => "Only a sandbox organisation has a phone here.",
        E::NotYourEsim | E::Store(_) => "This eSIM is not yours.",
        E::Deactivated => "This eSIM is deactivated. The phone did nothing.",
        E::Suspended => "This eSIM is suspended. Resume it first. The phone did nothing.",
        E::Unavailable => "This eSIM cannot be installed. The phone did nothing.",
        E::Country => "There is no such country. The phone did nothing.",
        E::Network => "There is no such network there. The phone did nothing.",
        E::Bytes => "That is not an amount of data a phone can use at once. Nothing was used.",
    }
}
