//! Team and organisation: people, roles, details, audit log, erasure.

use app::people::TeamError;
use domain::Role;

pub(crate) const TITLE: &str = "Team";
pub(crate) const TABS: [(&str, &str); 4] = [
    ("People", "/portal/team"),
    ("Organisation", "/portal/team/organisation"),
    ("Audit log", "/portal/team/audit"),
    ("Erasure", "/portal/team/erasure"),
];
pub(crate) const TABS_NAME: &str = "Team pages";

pub(crate) const PEOPLE: &str = "People";
pub(crate) const PEOPLE_HEADS: [&str; 4] = ["Person", "Role", "Second factor", "Since"];
pub(crate) const ACTIONS: &str = "Actions";
pub(crate) const YOU: &str = "you";
pub(crate) const INVITED: &str = "invited, has not signed in yet";
pub(crate) const ON: &str = "on";
pub(crate) const OFF: &str = "off";

pub(crate) const INVITE: &str = "Invite somebody";
pub(crate) const EMAIL: &str = "E-mail address";
pub(crate) const ROLE: &str = "Role";
pub(crate) const INVITE_BUTTON: &str = "Make an invitation";
pub(crate) const INVITE_HINT: &str =
    "You get a link to hand over. It is good for seven days and works once.";
pub(crate) const BAD_ROLE: &str = "Choose one of the roles. Nothing was changed.";

pub(crate) const LINK_TITLE: &str = "Hand over this link";
pub(crate) const LINK: &str = "Link";
pub(crate) const LINK_TEXT: &str = "Send it to the person yourself, by a way you trust: whoever \
    has it can choose the password. It is shown only now; a new one replaces it.";
pub(crate) const LINK_FOR: &str = "For";
pub(crate) const BACK: &str = "Back to the team";

pub(crate) const CHANGE_ROLE: &str = "Change role";
pub(crate) const ROLE_CHANGED: &str = "The role is changed. It counts from the next click on.";
pub(crate) const NEW_LINK: &str = "New password link";
pub(crate) const NEW_LINK_SAYS: &str =
    "Makes a link with which a new password is chosen. Until it is used, the old password works.";
pub(crate) const DROP_FACTOR: &str = "Switch second factor off";
pub(crate) const DROP_FACTOR_SAYS: &str =
    "For somebody who has lost the device. All sessions end; the password alone is then enough.";
pub(crate) const FACTOR_DROPPED: &str = "The second factor is off, and all sessions have ended.";
pub(crate) const REMOVE: &str = "Remove";
pub(crate) const REMOVE_SAYS: &str = "All sessions end at once, and the person cannot sign in any \
    more. What was done stays in the audit log.";
pub(crate) const REMOVED: &str = "Removed.";
pub(crate) const ROLES: &str = "What roles may do";

pub(crate) const ORGANISATION: &str = "Organisation";
pub(crate) const DETAILS: &str = "Details";
pub(crate) const FIELDS: [(&str, &str); 10] = [
    ("name", "Name"),
    ("addr1", "Address"),
    ("addr2", "Address, second line"),
    ("city", "City"),
    ("postcode", "Postal code"),
    ("country", "Country"),
    ("website", "Website"),
    ("business_type", "Kind of business"),
    ("product_description", "What you sell"),
    ("notes", "Notes"),
];
pub(crate) const SAVE: &str = "Save";
pub(crate) const SAVED: &str = "Saved.";
pub(crate) const FIXED: &str = "Set by your wholesaler";
pub(crate) const ID: &str = "Id";
pub(crate) const SANDBOX: &str = "Sandbox";
pub(crate) const LIVE: &str = "Live";
pub(crate) const DEFAULT_SENDER: &str = "eSIM";
pub(crate) const CURRENCY: &str = "Currency";
pub(crate) const MODE: &str = "Mode";
pub(crate) const REFUND_TIME: &str = "Refunds within";
pub(crate) const TAX: &str = "Tax liable";
pub(crate) const GROUPS: &str = "Bundle groups";
pub(crate) const ALL_GROUPS: &str = "all";
pub(crate) const SENDERS: &str = "SMS senders";

pub(crate) const AUDIT: &str = "Audit log";
pub(crate) const AUDIT_HEADS: [&str; 5] = ["When", "Who", "What", "On", "More"];
pub(crate) const AUDIT_EMPTY: [&str; 2] = [
    "Nothing was done yet",
    "Everything your people and your wholesaler do to this organisation is kept here: who, what \
     and when.",
];
pub(crate) const WHOLESALER: &str = "your wholesaler";
pub(crate) const SERVICE: &str = "the service";
pub(crate) const THE_ORGANISATION: &str = "the organisation";
pub(crate) const GONE: &str = "somebody who was removed";

pub(crate) const ERASURE: &str = "Erase an end user's data";
pub(crate) const ERASURE_TEXT: &str = "When a traveller asks for it: customer reference, telephone \
    number, places, messages and share links of the eSIMs are emptied, also in kept events and \
    callbacks. What was bought, used and paid stays, without the person.";
pub(crate) const WHO: &str = "Customer reference or ICCID";
pub(crate) const LOOK: &str = "Show what would be erased";
pub(crate) const NOBODY: &str = "No eSIM of yours has this reference or number.";
pub(crate) const FOUND_HEADS: [&str; 3] = ["eSIM", "Customer reference", "Telephone number"];
pub(crate) const ERASE: &str = "Erase";
pub(crate) const ERASE_SAYS: &str = "This cannot be undone. The eSIMs go on working.";
pub(crate) const TOO_MANY: &str =
    "At most 100 eSIMs are erased together. Nothing was erased. Look again and do it in parts.";
pub(crate) const NOT_YOURS: &str =
    "One of these eSIMs is not yours any more. Nothing was erased. Look again.";

/// After an erasure.
pub(crate) fn erased(count: usize) -> String {
    match count {
        1 => "The data of one eSIM's end user is erased.".to_owned(),
        _ => format!("The data of {count} eSIMs' end user is erased."),
    }
}

/// There are more than are shown.
pub(crate) fn many(shown: usize) -> String {
    format!("These are the first {shown}; erase them, then look again for the rest.")
}

/// What a role is for.
pub(crate) fn purpose(role: Role) -> &'static str {
    match role {
        Role::Owner => "Everything, and appoints other owners.",
        Role::Admin => "Everything but owners.",
        Role::Developer => {
            "Keys (with which programs can buy), callbacks, request log, sandbox. No people."
        }
        Role::Support => "eSIMs, bundles on them, messages, share links. No money.",
        Role::Viewer => "Looks only. Sees no installation codes and no keys.",
    }
}

/// Why the team stays as it is.
pub(crate) fn team_refused(error: &TeamError) -> String {
    match error {
        TeamError::OwnersOnly => {
            "Only an owner may appoint, change or remove an owner. Nothing was changed.".to_owned()
        }
        TeamError::LastOwner => {
            "Your organisation needs an owner. Appoint another one first. Nothing was changed."
                .to_owned()
        }
        TeamError::Oneself => {
            "Nobody can change the own role or remove the own account. Ask another owner."
                .to_owned()
        }
        TeamError::User(app::users::Error::Taken) => {
            "This e-mail address is in use already. Nothing was changed.".to_owned()
        }
        TeamError::User(app::users::Error::Field { .. }) => {
            "That is not an e-mail address. Nothing was changed.".to_owned()
        }
        error => format!("That did not work: {error}. Nothing was changed."),
    }
}

/// What was done, in words; what is new keeps its name.
pub(crate) fn action(name: &str) -> &str {
    let known = [
        ("balance.topup", "asked for a top-up"),
        ("bundle.apply", "put a bundle on an eSIM"),
        ("bundle.revoke", "took a bundle off an eSIM"),
        ("callbacks.pause", "let callbacks wait"),
        ("callbacks.replay", "sent callbacks again"),
        ("callbacks.resume", "let callbacks go on"),
        ("callbacks.switch-off", "switched callbacks off"),
        ("callbacks.test", "sent a test event"),
        ("card.remove", "removed the card"),
        ("card.store", "asked to pay with a card"),
        ("credit.give", "gave credit"),
        ("credit.test", "gave test credit"),
        ("enduser.erase", "erased an end user's data"),
        ("esim.deactivate", "ended an eSIM"),
        ("esim.resume", "resumed an eSIM"),
        ("esim.suspend", "suspended an eSIM"),
        ("esim.change", "changed an eSIM"),
        ("key.add", "made a key"),
        ("key.primary", "made a key primary"),
        ("inventory.apply", "put bundles on eSIMs"),
        ("inventory.refund", "gave bundles back"),
        ("key.revoke", "revoked a key"),
        ("key.show", "looked at the primary key"),
        ("order.place", "bought"),
        ("organisation.add", "made the organisation"),
        ("organisation.change", "changed settings"),
        ("sandbox.card", "chose the sandbox's test card"),
        ("sandbox.advance", "moved the sandbox's clock"),
        ("sandbox.fault", "let a call go wrong"),
        ("sandbox.go-on", "let the sandbox's work go on"),
        ("sandbox.hold", "held the sandbox's work"),
        ("sandbox.settle", "did everything that was due"),
        ("sandbox.reset", "started the sandbox afresh"),
        ("share.make", "made a share link"),
        ("share.revoke", "revoked a share link"),
        ("sms.send", "sent a message"),
        ("user.add", "added a person"),
        ("user.change", "changed the own details"),
        ("user.link", "made a password link"),
        ("user.password", "set a password"),
        ("user.remove", "removed a person"),
        ("user.role", "changed a role"),
        ("user.second-factor.off", "switched a second factor off"),
        ("user.second-factor.on", "switched a second factor on"),
        ("user.sign-out-elsewhere", "signed out elsewhere"),
        ("webhook-secret.make", "made the webhook secret"),
        ("webhook-secret.show", "looked at the webhook secret"),
        ("webhook-secret.rotate", "rotated the webhook secret"),
    ];
    known.iter().find(|(action, _)| *action == name).map_or(name, |(_, words)| words)
}
