//! The person's own page: name, password, second factor, sessions.

pub(crate) const TITLE: &str = "Your account";
pub(crate) const YOU: &str = "You";
pub(crate) const EMAIL: &str = "E-mail address";
pub(crate) const ROLE: &str = "Role";
pub(crate) const FIRST_NAME: &str = "First name";
pub(crate) const LAST_NAME: &str = "Last name";
pub(crate) const PHONE: &str = "Telephone";
pub(crate) const TIME_ZONE: &str = "Time zone";
pub(crate) const TIME_ZONE_HINT: &str = "For example Europe/Paris. The portal shows UTC.";
pub(crate) const SAVE: &str = "Save";
pub(crate) const SAVED: &str = "Saved.";
pub(crate) const TOO_LONG: &str = "One of the texts is too long. Nothing was changed.";

pub(crate) const PASSWORD: &str = "Password";
pub(crate) const OLD_PASSWORD: &str = "Current password";
pub(crate) const CHANGE_PASSWORD: &str = "Change password";
pub(crate) const CHANGE_PASSWORD_SAYS: &str = "You are signed out everywhere else.";
pub(crate) const PASSWORD_CHANGED: &str =
    "Your password is changed, and you are signed out everywhere else.";
pub(crate) const WRONG_PASSWORD: &str = "The password is wrong. Nothing was changed.";

pub(crate) const FACTOR: &str = "Second factor";
pub(crate) const FACTOR_OFF: &str =
    "Off. Whoever learns your password can sign in. Switch it on with an authenticator app.";
pub(crate) const FACTOR_ON: &str = "On. Signing in takes a code from your authenticator app.";
pub(crate) const FACTOR_START: &str = "Set up an authenticator app";
pub(crate) const FACTOR_START_SAYS: &str =
    "Your password comes first, so that nobody else at this browser can lock you out.";
pub(crate) const FACTOR_STOP: &str = "Switch off";
pub(crate) const FACTOR_STOP_SAYS: &str = "From then on your password alone is enough.";
pub(crate) const FACTOR_TITLE: &str = "Set up the second factor";
pub(crate) const FACTOR_STEPS: [&str; 2] = [
    "Scan this code with an authenticator app, or type the key into it.",
    "Then enter the six figures that the app shows. Nothing changes before that.",
];
pub(crate) const FACTOR_KEY: &str = "Key";
pub(crate) const FACTOR_CONFIRM: &str = "Switch on";
pub(crate) const FACTOR_IS_ON: &str =
    "The second factor is on, and you are signed out everywhere else.";
pub(crate) const FACTOR_IS_OFF: &str = "The second factor is off.";
pub(crate) const FACTOR_WRONG: &str = "That code is wrong. Nothing was changed; start again.";
pub(crate) const FACTOR_TWICE: &str = "The second factor is on already. Switch it off first.";

pub(crate) const SESSIONS: &str = "Where you are signed in";
pub(crate) const SESSION_HEADS: [&str; 4] = ["Browser", "Address", "Since", "Last seen"];
pub(crate) const THIS_ONE: &str = "this one";
pub(crate) const ELSEWHERE: &str = "Sign out everywhere else";
pub(crate) const SIGNED_OUT_ELSEWHERE: &str = "You are signed out everywhere else.";
pub(crate) const UNKNOWN_BROWSER: &str = "Unknown browser";
