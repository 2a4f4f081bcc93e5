//! Pages that say that something did not work: a title and what to do.

pub(crate) const MISSING: [&str; 2] = [
    "Nothing here",
    "There is no such page, or what it showed is not yours or is gone. Nothing was changed. Go \
     back and look for it in the list.",
];
pub(crate) const FORBIDDEN: [&str; 2] = [
    "Your role does not allow this",
    "Nothing was changed. Ask an owner or admin of your organisation to do it, or for another \
     role.",
];
pub(crate) const STRANGER: [&str; 2] = [
    "This form is out of date",
    "It was not sent from an open page of the portal, or the page is from an earlier session. \
     Nothing was changed. Open the page again and send the form once more.",
];
pub(crate) const MALFORMED_TITLE: &str = "This form is not complete";
pub(crate) const AWAY: [&str; 2] = [
    "One moment",
    "The service cannot reach its database right now. Nothing was lost. Load the page again in a \
     few seconds.",
];
pub(crate) const BROKEN: [&str; 2] = [
    "That is our fault",
    "The page could not be made, and the operator's log knows why. Whether your last step took \
     effect, its list or page will show. If it happens again, tell your wholesaler when.",
];
pub(crate) const NO_TOKEN: &str = "It carries no token, which every form of ours has. Nothing was \
    changed. Open the page again and send the form once more.";
pub(crate) const NO_ACT: &str = "It does not say what to do. Nothing was changed. Open the page \
    again and send the form once more.";
pub(crate) const BACK: &str = "Back to the portal";

/// A setting that does not fit.
pub(crate) fn unfit(field: &str, why: &str) -> String {
    let field = match field {
        "callbackUrl" => "The address",
        "callbackVersion" => "The form",
        "usageEvents" => "How often usage is told",
        "usageSteps" => "The steps",
        "callbackEvents" => "The list of events",
        "lowBalance" => "The low balance",
        "ipAllowList" => "The allow list",
        "name" => "The name",
        "autoTopupThreshold" => "The balance below which the card is charged",
        "autoTopupAmount" => "The amount of the automatic top-up",
        other => other,
    };
    format!("{field} {why}. Nothing was changed.")
}
