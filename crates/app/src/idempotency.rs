//! Requests that carry a key: the same one has one effect and one answer, for ever.

use domain::{OrgId, Timestamp, limits};
use store::idempotency::{self, Seen};
use store::{StoreError, Tx};

use crate::audit::Deed;
use crate::{Answer, Answers, App, Caller};

/// A request, as far as repeating it goes.
#[derive(Debug, Clone)]
pub struct Request {
    /// The key it carries.
    pub key: Option<String>,
    /// Method, path, query and body, in one.
    pub facts: Vec<u8>,
    /// The form in which its answer is wanted; opaque here.
    pub form: String,
    /// Who asks, where that is a person: noted in the audit log with the effect.
    pub deed: Option<Deed>,
}

/// The key is empty or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid Idempotency-Key")]
pub struct BadKey;

/// Why a request with a key gets no answer of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The key cannot be one.
    #[error(transparent)]
    BadKey(#[from] BadKey),
    /// The key was used for another request.
    #[error("idempotency key was used for another request")]
    OtherRequest,
}

/// The same, as digests of 16 bytes.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) key: Vec<u8>,
    request: Vec<u8>,
}

/// What a key says about a request.
pub(crate) enum Known {
    /// Nothing: it is new, and noted now.
    New,
    /// It was decided.
    Answered(Answer),
    /// It is under way, as the thing of this name.
    Running(String),
    /// The key was used for another request.
    Other,
}

/// What became of a request.
#[derive(Debug, Clone)]
pub enum State {
    /// Nobody has seen such a key.
    Unknown,
    /// Not decided yet.
    Running,
    /// Decided.
    Done(Answer),
}

impl App {
    pub(crate) fn token(&self, request: &Request) -> Result<Option<Token>, BadKey> {
        let Some(key) = &request.key else { return Ok(None) };
        if key.is_empty() || key.chars().count() > limits::IDEMPOTENCY_KEY_CHARS_MAX {
            return Err(BadKey);
        }
        let short = |bytes: &[u8]| self.vault().digest_bytes(bytes)[..16].to_vec();
        Ok(Some(Token { key: self.key_digest(key), request: short(&request.facts) }))
    }

    fn key_digest(&self, key: &str) -> Vec<u8> {
        self.vault().digest_bytes(format!("idempotency key {key}").as_bytes())[..16].to_vec()
    }

    /// Has an effect in one transaction, once for its key, and answers what it came to. An `Err`
    /// of `effect` undoes everything and is not kept; a refusal that is to be kept is an `Ok`.
    pub(crate) async fn once<T, E>(
        &self,
        org: OrgId,
        request: &Request,
        effect: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
        write: fn(&dyn Answers, &str, &T) -> Answer,
    ) -> Result<Answer, E>
    where
        T: Send + 'static,
        E: From<StoreError> + From<Error> + Send + 'static,
    {
        let Some(token) = self.token(request).map_err(Error::from)? else {
            let done = self.store().write(org, effect).await?;
            return Ok(write(&*self.ports().answers, &request.form, &done));
        };
        let (app, form, deed) = (self.clone(), request.form.clone(), request.deed.clone());
        let (random, now) = (self.rt().random(), self.now());
        self.store()
            .write(org, move |tx| {
                match app.known(tx, org, &token)? {
                    Known::New => {}
                    Known::Answered(answer) => return Ok(answer),
                    Known::Other => return Err(Error::OtherRequest.into()),
                    // Only what takes several transactions is ever under way.
                    Known::Running(_) => return Err(StoreError::Busy.into()),
                }
                let answer = write(&*app.ports().answers, &form, &effect(tx)?);
                if let Some(deed) = deed.as_ref().filter(|_| answer.is_yes()) {
                    deed.note(tx, org)?;
                }
                begin(tx, org, &token, "", now)?;
                let sealed = answer.sealed(app.vault(), random, org, &token.key);
                idempotency::finish(tx, org, &token.key, &sealed)?;
                Ok(answer)
            })
            .await
    }

    /// What became of a request with that key.
    pub async fn idempotency(&self, caller: &Caller, key: &str) -> Result<State, StoreError> {
        let (org, digest) = (caller.org(), self.key_digest(key));
        let wanted = digest.clone();
        let seen = self.store().read(move |tx| idempotency::find(tx, org, &wanted)).await?;
        match seen {
            None => Ok(State::Unknown),
            Some(Seen { answer: None, .. }) => Ok(State::Running),
            Some(Seen { answer: Some(sealed), .. }) => {
                let answer = Answer::open(self.vault(), org, &digest, &sealed);
                answer.map(State::Done).ok_or(StoreError::Corrupt { column: 2, row: "?".into() })
            }
        }
    }

    /// Looks a request up in the transaction that is to have its effect.
    pub(crate) fn known(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        token: &Token,
    ) -> Result<Known, StoreError> {
        let Some(seen) = idempotency::find(tx, org, &token.key)? else { return Ok(Known::New) };
        if seen.request_digest != token.request {
            return Ok(Known::Other);
        }
        match seen.answer {
            None => Ok(Known::Running(seen.subject)),
            Some(sealed) => Answer::open(self.vault(), org, &token.key, &sealed)
                .map(Known::Answered)
                .ok_or(StoreError::Corrupt { column: 2, row: "?".into() }),
        }
    }
}

/// Notes that a request is under way, as the thing of that name.
pub(crate) fn begin(
    tx: &mut Tx<'_>,
    org: OrgId,
    token: &Token,
    subject: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let seen =
        Seen { request_digest: token.request.clone(), answer: None, subject: subject.to_owned() };
    idempotency::begin(tx, org, &token.key, &seen, now)
}
