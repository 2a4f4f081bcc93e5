//! Requests that failed.

pub(crate) const SAYS: &str = "Calls with your keys that were answered with an error, the last 200 \
    of two weeks. Bodies and keys are never kept.";
pub(crate) const HINT: &str = "request id";
pub(crate) const HEADS: [&str; 5] = ["Request", "Answer", "Request id", "Came from", "When"];
pub(crate) const NOTHING: &str = "No failed request is called that.";
pub(crate) const EMPTY: &str = "No request has failed";
pub(crate) const EMPTY_SAYS: &str = "When a call is refused or breaks, it stands here a second \
    later with its id, its code and what the caller was told. The id is in the header \
    X-Request-Id of every answer.";
pub(crate) const EMPTY_STEP: &str = "Read the reference";
pub(crate) const UNKNOWN_KEY: &str = "a key that is gone";

pub(crate) const MEANING: &str = "What the answers mean";
pub(crate) const MEANING_SAYS: &str =
    "The code is also in the header X-Error-Code; programs should go by it, not by the message.";
pub(crate) const MEANINGS: [(&str, &str); 7] = [
    (
        "400",
        "The request is wrong: a parameter, the body, or a rule such as a balance that is too \
     low. Mend it before trying again.",
    ),
    ("403", "The thing is not yours, or the key may not do this."),
    ("404", "There is no such route or thing."),
    (
        "409",
        "Somebody else is changing the same, or the same request is still being worked on. Try \
     again with the same Idempotency-Key.",
    ),
    ("413", "The body is too large. Send it in pieces."),
    ("429", "Too many at once. Wait as long as Retry-After says."),
    ("5xx", "Our side. Try again with the same Idempotency-Key; it has one effect at most."),
];
pub(crate) const REFERENCE: &str = "Each operation with its codes in the reference";

/// Which key a call came with.
pub(crate) fn with(key: &str) -> String {
    format!("with “{key}”")
}
