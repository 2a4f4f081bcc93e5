//! Links with which a person chooses a password: an invitation, or a way back in. Nobody is mailed;
//! whoever makes a link hands it over.

use std::time::Duration;

use domain::{OrgId, Secret, UserId, limits};
use store::{StoreError, organisations, sessions, users};

use super::me::Error;
use crate::{App, audit, password};

/// What a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The person is new.
    Invitation,
    /// The person has lost the password.
    Reset,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::Reset => "reset",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Invitation, Self::Reset].into_iter().find(|kind| kind.name() == text)
    }

    pub(super) fn lasts(self) -> Duration {
        match self {
            Self::Invitation => limits::INVITATION_TIME,
            Self::Reset => limits::RESET_TIME,
        }
    }
}

/// A link that is good, for the page behind it.
#[derive(Debug, Clone)]
pub struct Link {
    /// What it is for.
    pub kind: Kind,
    /// The address that signs in with the password.
    pub email: String,
    /// The organisation.
    pub organisation: String,
    user: UserId,
    org: OrgId,
}

impl App {
    /// The link of that token, while it is good.
    pub async fn password_link(&self, token: &str) -> Result<Option<Link>, StoreError> {
        let Some(digest) = self.held_digest(token) else { return Ok(None) };
        let now = self.now();
        self.store()
            .read(move |tx| {
                let Some((user, kind)) = sessions::link(tx, &digest, now)? else { return Ok(None) };
                let Some(kind) = Kind::parse(&kind) else { return Ok(None) };
                let Some(account) = users::find(tx, user)? else { return Ok(None) };
                let organisation = organisations::find(tx, account.org)?;
                Ok(Some(Link {
                    kind,
                    email: account.user.email.as_str().to_owned(),
                    organisation: organisation.map_or(String::new(), |org| org.profile.name),
                    user,
                    org: account.org,
                }))
            })
            .await
    }

    /// Sets the password a link lets somebody choose. The link and every session end with it.
    pub async fn choose_password(&self, token: &str, chosen: &Secret<String>) -> Result<(), Error> {
        let link = self.password_link(token).await?.ok_or(Error::NoLink)?;
        let digest = self.held_digest(token).ok_or(Error::NoLink)?;
        let hash = self.hashed(chosen).await?;
        let (user, now) = (link.user, self.now());
        let act = self.act(audit::Actor::User(user), "user.password");
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                // Of two who use it at once, one comes too late.
                sessions::link(tx, &digest, now)?.ok_or(Error::NoLink)?;
                let mut account = users::find(tx, user)?.ok_or(Error::NoLink)?;
                account.user.password_hash = Some(hash.clone());
                users::update(tx, &account.user)?;
                sessions::drop_links(tx, user)?;
                sessions::end_all(tx, user)?;
                act.note(tx, Some(link.org), user, link.kind.name())?;
                Ok(())
            })
            .await
    }

    pub(super) async fn hashed(
        &self,
        chosen: &Secret<String>,
    ) -> Result<Secret<String>, password::Unfit> {
        let _turn = self.passwords().acquire().await;
        let (rt, chosen) = (self.rt().clone(), chosen.clone());
        self.rt().blocking(move || password::hash(&rt, &chosen)).await
    }
}
