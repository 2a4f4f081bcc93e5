//! People at a browser: who they are, how they come in, what they hold. Signing in ends in a
//! *session*; a request that carries one comes from a *member* of an organisation.

mod links;
mod me;
mod secrets;
mod sign_in;
mod team;
mod totp;

use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{OrgId, Organisation, Right, Role, Secret, Timestamp, User, UserId, limits};
pub use store::sessions::Session;
use store::{StoreError, Tx, heads, organisations, sessions, users};

pub use self::links::{Kind, Link};
pub use self::me::{Error as MeError, Factor};
pub use self::sign_in::{Attempt, Entered, Error as SignInError};
pub use self::team::{Error as TeamError, Invited};
use crate::{Actor, App, Caller};

/// The address a visit really comes from, as the front door knows it. Travels with it to the pages.
#[derive(Debug, Clone, Copy)]
pub struct Origin(pub IpAddr);

/// A person of an organisation whose session was checked.
#[derive(Debug, Clone)]
pub struct Member {
    caller: Caller,
    organisation: Arc<Organisation>,
    user: User,
    has_factor: bool,
    session: Vec<u8>,
}

impl Member {
    /// What leads to the organisation's data.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The organisation.
    pub fn org(&self) -> OrgId {
        self.caller.org()
    }

    /// What it is and how it is set up, at the moment of this request.
    pub fn organisation(&self) -> &Organisation {
        &self.organisation
    }

    /// The person.
    pub fn user(&self) -> &User {
        &self.user
    }

    /// The person's role.
    pub fn role(&self) -> Role {
        self.user.role
    }

    /// Whether the role allows that.
    pub fn may(&self, right: Right) -> bool {
        self.user.role.may(right)
    }

    /// How the person appears in the audit log.
    pub fn actor(&self) -> Actor {
        Actor::User(self.user.id)
    }

    /// Whether signing in takes a second factor.
    pub fn has_factor(&self) -> bool {
        self.has_factor
    }
}

impl App {
    /// Whoever holds this session; none if it has ended, or waits for its second factor.
    pub async fn member(&self, token: &str) -> Result<Option<Member>, StoreError> {
        let (digest, now) = (self.held_digest(token), self.now());
        let found = self.found_member(digest, now).await?;
        let (Some((member, session)), Some(digest)) = (found, digest) else { return Ok(None) };
        if session.seen_at.plus(limits::SESSION_TOUCH) < now {
            let expires_at = ends_at(session.created_at, now);
            // A visit that could not be noted is still one.
            let _unnoted = self
                .store()
                .write(OrgId::HOUSE, move |tx| sessions::touch(tx, &digest, now, expires_at))
                .await;
        }
        Ok(Some(member))
    }

    /// The same without counting as a visit: what a page asks by itself keeps nobody signed in.
    pub async fn member_unseen(&self, token: &str) -> Result<Option<Member>, StoreError> {
        let found = self.found_member(self.held_digest(token), self.now()).await?;
        Ok(found.map(|(member, _)| member))
    }

    async fn found_member(
        &self,
        digest: Option<[u8; 32]>,
        now: Timestamp,
    ) -> Result<Option<(Member, Session)>, StoreError> {
        let Some(digest) = digest else { return Ok(None) };
        self.store().read(move |tx| member(tx, digest.to_vec(), now)).await
    }

    /// Ends the session that this is the token of.
    pub async fn sign_out(&self, token: &str) -> Result<(), StoreError> {
        let Some(digest) = self.held_digest(token) else { return Ok(()) };
        self.store().write(OrgId::HOUSE, move |tx| sessions::end(tx, &digest)).await
    }

    /// A word that only we can make and that belongs to what a browser holds, for its forms.
    pub fn form_token(&self, held: &str) -> String {
        let digest = self.vault().digest(&format!("form {held}"));
        URL_SAFE_NO_PAD.encode(&digest[..18])
    }

    /// A number that moves when something of the organisation changes, for pages that follow it.
    pub async fn pulse(&self, caller: &Caller) -> Result<u64, StoreError> {
        let org = caller.org();
        if let Some(stamp) = self.store().stamp(org) {
            return Ok(stamp);
        }
        let read = self.store().read(move |tx| {
            let (head, organisation) = (heads::find(tx, org)?, organisations::find(tx, org)?);
            Ok::<_, StoreError>((head, organisation, store::figures::signs(tx, org)?))
        });
        let (head, organisation, (mut signs, last_act)) = read.await?;
        let when = |at: Option<Timestamp>| at.map_or(0, Timestamp::ms);
        if let Some(head) = head {
            signs.extend([head.event_seq, head.order_seq, head.ledger_seq(), head.esims]);
            signs.extend([head.clock_offset_ms, when(head.held_at)]);
        }
        if let Some(Organisation { endpoint, .. }) = organisation {
            let known = [endpoint.paused_at, endpoint.failing_since, endpoint.off_at];
            signs.extend(known.map(when));
        }
        let numbers = signs.iter().map(|n| n.unsigned_abs());
        let all = numbers.chain(last_act.bytes().map(u64::from));
        Ok(all.fold(0, |sum, n| sum.wrapping_mul(31).wrapping_add(n)))
    }

    /// Something unguessable to be held by a browser, or to stand in a link.
    pub fn new_token(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.rt().random::<32>())
    }

    /// What it is found by. What cannot be one of ours is no question to a database.
    fn held_digest(&self, token: &str) -> Option<[u8; 32]> {
        let fits = token.len() == TOKEN_CHARS
            && token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        fits.then(|| self.vault().digest(&format!("held {token}")))
    }

    fn new_session(&self, user: UserId, from: &Attempt) -> (Secret<String>, Session) {
        let (token, now) = (self.new_token(), self.now());
        let digest = self.held_digest(&token).expect("it was made here").to_vec();
        let agent = from.agent.chars().take(limits::AGENT_CHARS_MAX).collect();
        let session = Session {
            digest,
            user,
            address: from.address.to_canonical().to_string(),
            agent,
            created_at: now,
            seen_at: now,
            expires_at: ends_at(now, now),
            waits_at: None,
        };
        (Secret::new(token), session)
    }
}

/// Characters of 32 bytes in base 64.
const TOKEN_CHARS: usize = 43;

/// When a session ends that was begun then and is seen now.
fn ends_at(begun: Timestamp, now: Timestamp) -> Timestamp {
    begun.plus(limits::SESSION_MAX).min(now.plus(limits::SESSION_IDLE))
}

fn member(
    tx: &mut Tx<'_>,
    digest: Vec<u8>,
    now: Timestamp,
) -> Result<Option<(Member, Session)>, StoreError> {
    let Some(session) = sessions::find(tx, &digest, now)? else { return Ok(None) };
    if session.waits_at.is_some() {
        return Ok(None);
    }
    let Some(account) = users::find(tx, session.user)? else { return Ok(None) };
    // The operator's staff has a door of its own.
    let Some(organisation) = organisations::find(tx, account.org)? else { return Ok(None) };
    let member = Member {
        caller: Caller::person_of(&organisation),
        organisation: Arc::new(organisation),
        has_factor: account.factor.is_some_and(|factor| factor.on_at.is_some()),
        user: account.user,
        session: digest,
    };
    Ok(Some((member, session)))
}
