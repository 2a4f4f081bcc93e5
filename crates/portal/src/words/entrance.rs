//! The entrance: signing in and out, links with which a password is chosen.

use app::people::Kind;

pub(crate) const TITLE: &str = "Sign in";
pub(crate) const EMAIL: &str = "E-mail address";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const SIGN_IN: &str = "Sign in";
pub(crate) const FORGOT: &str = "Forgot your password?";
pub(crate) const WRONG: &str =
    "E-mail address or password is wrong. Check both and try again, or ask for a new password.";
pub(crate) const GOODBYE: &str = "You are signed out.";

pub(crate) const CODE_TITLE: &str = "One more step";
pub(crate) const CODE: &str = "Code from your authenticator app";
pub(crate) const CODE_HINT: &str = "Six figures; a new one appears every half-minute.";
pub(crate) const CODE_BUTTON: &str = "Continue";
pub(crate) const WRONG_CODE: &str =
    "That code is wrong or was used already. Wait for the next one and try again.";
pub(crate) const TOO_LATE: &str = "That took too long. Sign in again.";
pub(crate) const LOST_CODE: &str = "Lost the device? An owner of your organisation, or your \
    wholesaler, can switch the second factor off.";

pub(crate) const FORGOT_TITLE: &str = "A new password";
pub(crate) const FORGOT_TEXT: [&str; 2] = [
    "An owner or admin of your organisation can make a link for you: Team, your name, “New \
     password link”. It is good for a day and works once.",
    "If nobody else can sign in, ask your wholesaler, who can make the same link.",
];
pub(crate) const BACK: &str = "Back to sign-in";

pub(crate) const NO_LINK_TITLE: &str = "This link is not good any more";
pub(crate) const NO_LINK: &str = "It was used already, was replaced by a newer one, or is too old. \
    Ask whoever gave it to you for a new one.";
pub(crate) const NEW_PASSWORD: &str = "New password";
pub(crate) const NEW_PASSWORD_HINT: &str = "At least 12 characters. A sentence is easy to keep in \
    mind and hard to guess.";
pub(crate) const SET_PASSWORD: &str = "Set password";
pub(crate) const UNFIT: &str = "A password has 12 to 256 characters. Nothing was changed.";
pub(crate) const PASSWORD_SET: &str = "Your password is set. Sign in with it.";

/// The title of the page behind a link.
pub(crate) fn link_title(kind: Kind, organisation: &str) -> String {
    match kind {
        Kind::Invitation => format!("Welcome to {organisation}"),
        Kind::Reset => "Choose a new password".to_owned(),
    }
}

/// What the page behind a link is for.
pub(crate) fn link_text(kind: Kind, email: &str) -> String {
    match kind {
        Kind::Invitation => {
            format!("You were invited to the portal as {email}. Choose a password to begin.")
        }
        Kind::Reset => {
            format!("For {email}. When it is set, you are signed out everywhere else.")
        }
    }
}

/// After too many wrong passwords.
pub(crate) fn wait(seconds: i64) -> String {
    let time = match seconds {
        ..=90 => format!("{} seconds", seconds.max(1)),
        _ => format!("{} minutes", (seconds + 59) / 60),
    };
    format!(
        "Too many wrong passwords came from here. Nothing was tried. Wait {time}, then try again."
    )
}
