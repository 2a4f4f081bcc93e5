//! Signing in: wrong passwords are counted before they are tried, so that many at once gain
//! nothing; a stranger and a wrong password look alike, and take as long.

use std::net::IpAddr;

use domain::contact::Email;
use domain::sign_in::Counted;
use domain::{OrgId, Secret, Timestamp, UserId, limits};
use store::guesses::{self, Guesses};
use store::users::Account;
use store::{StoreError, Tx, sessions, users};

use super::{Session, totp};
use crate::{App, password};

/// Where somebody tries to sign in from.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The address.
    pub address: IpAddr,
    /// What the browser calls itself.
    pub agent: String,
}

/// Why somebody is not let in.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody has this address and this password.
    #[error("e-mail address or password is wrong")]
    Wrong,
    /// The code is not the right one, or was used already.
    #[error("the code is wrong or was used already")]
    WrongCode,
    /// There were too many wrong ones.
    #[error("too many wrong passwords")]
    Wait(Timestamp),
    /// The session that waits for a code has ended.
    #[error("signing in took too long")]
    TooLate,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A session that was begun.
#[derive(Debug)]
pub struct Entered {
    /// What the browser is to hold.
    pub token: Secret<String>,
    /// Whether a code must follow before it opens anything.
    pub awaits_code: bool,
}

impl App {
    /// Begins a session for whoever has this address and password.
    pub async fn sign_in(
        &self,
        email: &str,
        password: &Secret<String>,
        from: &Attempt,
    ) -> Result<Entered, Error> {
        // What cannot be an address is counted like one.
        let email = Email::parse(email).ok();
        let who = email.as_ref().map_or("", Email::as_str).to_owned();
        let counted = self.count_attempt(self.counted(&who, from.address)).await?;
        let account = match email {
            Some(email) => self.store().read(move |tx| users::by_email(tx, &email)).await?,
            None => None,
        };
        let account = account.filter(|account| account.org != OrgId::HOUSE);
        let hash = account.as_ref().and_then(|account| account.user.password_hash.clone());
        if !self.password_fits(password.clone(), hash).await {
            return Err(Error::Wrong);
        }
        let account = account.ok_or(Error::Wrong)?;
        self.begin_session(&account, from, counted).await
    }

    /// The second factor of a session that waits for it. It gets a new token.
    pub async fn give_code(
        &self,
        token: &str,
        code: &str,
        from: &Attempt,
    ) -> Result<Entered, Error> {
        let now = self.now();
        let waiting = self.held_digest(token).ok_or(Error::TooLate)?;
        let found = self
            .store()
            .read(move |tx| match sessions::find(tx, &waiting, now)? {
                Some(session) if session.waits_at.is_some() => users::find(tx, session.user),
                _ => Ok(None),
            })
            .await?;
        let account = found.ok_or(Error::TooLate)?;
        let user = account.user.id;
        let counted = self.counted(&format!("code of {user}"), from.address);
        let counted = self.count_attempt(counted).await?;
        let step = self.code_step(&account, code).ok_or(Error::WrongCode)?;
        let (token, session) = self.new_session(user, from);
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                // A new password meanwhile has ended it, and a lost factor may have been replaced.
                let is_open = sessions::find(tx, &waiting, now)?.is_some();
                let found = users::find(tx, user)?.filter(|_| is_open).ok_or(Error::TooLate)?;
                if found.factor != account.factor
                    || !users::use_factor(tx, user, step, factor_since(&account, now))?
                {
                    return Err(Error::WrongCode);
                }
                sessions::end(tx, &waiting)?;
                sessions::add(tx, &session)?;
                forgive(tx, &counted)?;
                Ok(())
            })
            .await?;
        Ok(Entered { token, awaits_code: false })
    }

    /// Whether this is the password; a hash that is missing takes as long as one that is not.
    pub(super) async fn password_fits(
        &self,
        password: Secret<String>,
        hash: Option<Secret<String>>,
    ) -> bool {
        let _turn = self.passwords().acquire().await;
        let is_known = hash.is_some();
        let hash = hash.unwrap_or_else(password::nobodys);
        self.rt().blocking(move || password::fits(&password, &hash)).await && is_known
    }

    /// Counts a password as wrong until it has proved to be right.
    pub(super) async fn count_attempt(&self, digests: Digests) -> Result<Tried, Error> {
        let now = self.now();
        // Whoever has to wait costs a read, not a write.
        self.store().read(move |tx| lately(tx, &digests, now)).await?;
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                let before = lately(tx, &digests, now)?;
                for ((kind, digest), before) in digests.iter().zip(before) {
                    guesses::put(tx, digest, one_more(*kind, before, now))?;
                }
                Ok(Tried { digests, before })
            })
            .await
    }

    /// The digests under which wrong passwords for somebody, from somewhere, are counted.
    pub(super) fn counted(&self, who: &str, from: IpAddr) -> Digests {
        let place = match from.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            // Whoever has one such address has the whole network.
            IpAddr::V6(address) => format!("{:x?}", &address.segments()[..4]),
        };
        Counted::ALL.map(|kind| {
            let what = match kind {
                Counted::Pair => format!("wrong pair {place} {who}"),
                Counted::Address => format!("wrong address {place}"),
                Counted::Person => format!("wrong person {who}"),
            };
            (kind, self.vault().digest(&what))
        })
    }

    async fn begin_session(
        &self,
        account: &Account,
        from: &Attempt,
        counted: Tried,
    ) -> Result<Entered, Error> {
        let awaits_code = account.factor.as_ref().is_some_and(|factor| factor.on_at.is_some());
        let user = account.user.id;
        let (token, mut session) = self.new_session(user, from);
        if awaits_code {
            session.waits_at = Some(session.created_at);
            session.expires_at = session.created_at.plus(limits::SECOND_FACTOR_PATIENCE);
        }
        let known = account.clone();
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                // Password and second factor may have changed while this one was tried.
                let now = users::find(tx, user)?.ok_or(Error::Wrong)?;
                if now.user.password_hash != known.user.password_hash || now.factor != known.factor
                {
                    return Err(Error::Wrong);
                }
                // Those that wait for a code do not push out those that have given one.
                let waits = |one: &Session| one.waits_at.is_some() == session.waits_at.is_some();
                let lasting = sessions::of_user(tx, user, session.created_at)?;
                let most = usize::try_from(limits::SESSIONS_PER_USER_MAX).unwrap_or(usize::MAX);
                for oldest in lasting.iter().filter(|one| waits(one)).skip(most - 1) {
                    sessions::end(tx, &oldest.digest)?;
                }
                sessions::add(tx, &session)?;
                forgive(tx, &counted)?;
                Ok::<_, Error>(())
            })
            .await?;
        Ok(Entered { token, awaits_code })
    }

    /// The half-minute whose code this is.
    pub(super) fn code_step(&self, account: &Account, code: &str) -> Option<i64> {
        let factor = account.factor.as_ref()?;
        let secret = self.vault().open(&owner_of_factor(account.user.id), &factor.sealed)?;
        totp::step_of(&secret, code, self.now()).filter(|step| *step > factor.step)
    }
}

/// Under which digest each kind is counted.
pub(super) type Digests = [(Counted, [u8; 32]); 3];

/// An attempt that counts as wrong, and what was counted before it.
#[derive(Clone, Copy)]
pub(super) struct Tried {
    digests: Digests,
    before: [Option<Guesses>; 3],
}

/// What was counted lately; an error while one has to wait.
fn lately(
    tx: &mut Tx<'_>,
    digests: &Digests,
    now: Timestamp,
) -> Result<[Option<Guesses>; 3], Error> {
    let mut lately = [None; 3];
    for (place, (_, digest)) in digests.iter().enumerate() {
        lately[place] = guesses::find(tx, digest)?;
    }
    let until = lately.iter().flatten().map(|guesses| guesses.wait_until).max();
    match until.filter(|until| *until > now) {
        Some(until) => Err(Error::Wait(until)),
        None => Ok(lately),
    }
}

/// Since when the second factor counts: from the first code on.
pub(super) fn factor_since(account: &Account, now: Timestamp) -> Timestamp {
    account.factor.as_ref().and_then(|factor| factor.on_at).unwrap_or(now)
}

/// Bound into the seal of a second factor.
pub(super) fn owner_of_factor(user: UserId) -> String {
    format!("tern second factor v1 {user}")
}

fn one_more(kind: Counted, before: Option<Guesses>, now: Timestamp) -> Guesses {
    let recent = before.filter(|guesses| guesses.last_at.plus(limits::GUESSES_TIME) > now);
    let count = recent.map_or(0, |guesses| guesses.count) + 1;
    Guesses { count, last_at: now, wait_until: now.plus_ms(kind.wait_ms(count)) }
}

/// The right password takes back what was counted against the person; what an address has tried
/// stays, less this attempt: whoever has one good account could go on guessing at others.
pub(super) fn forgive(tx: &mut Tx<'_>, tried: &Tried) -> Result<(), StoreError> {
    for ((kind, digest), before) in tried.digests.iter().zip(tried.before) {
        let Some(guesses) = guesses::find(tx, digest)? else { continue };
        match before {
            Some(before) if *kind == Counted::Address && guesses.count > 1 => {
                // As if it had not been: others may have been counted meanwhile.
                let one_less = Guesses { count: guesses.count - 1, ..before };
                guesses::put(tx, digest, one_less)?;
            }
            _ => guesses::forget(tx, digest)?,
        }
    }
    Ok(())
}
