//! API keys: made, listed, made primary, revoked. An operator key is a key of the house.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{KeyId, Mode, OrgId, Secret, limits};
use store::epochs::{self, Epoch};
pub use store::keys::Key;
use store::{Sealed, StoreError, Tx, keys, organisations};

use crate::audit::Act;
use crate::vault::owner_of_key;
use crate::{Actor, App};

/// Why a key could not be made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such organisation.
    #[error("organisation not found")]
    UnknownOrganisation,
    /// There is no such key that still works.
    #[error("key not found")]
    UnknownKey,
    /// The primary key is shown to the reseller and signs its callbacks.
    #[error("the primary key cannot be revoked; make another key primary first")]
    Primary,
    /// The organisation has as many keys as it may have.
    #[error("too many keys; revoke one first")]
    TooMany,
    /// The label is too long.
    #[error("label must be at most 1000 characters on one line")]
    Label,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A key about to be added: its text exists here and, sealed, in the database.
pub(crate) struct NewKey {
    pub(crate) key: Key,
    pub(crate) text: Secret<String>,
    digest: [u8; 32],
    sealed: Sealed,
}

impl NewKey {
    pub(crate) fn insert(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        keys::insert(tx, &self.key, &self.digest, &self.sealed)
    }
}

/// What a key is for; the first characters of its text say so, to people and to secret scanners.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Reseller(Mode),
    Operator,
}

impl App {
    pub(crate) fn new_key(&self, org: OrgId, purpose: Purpose, label: &str) -> NewKey {
        let prefix = match purpose {
            Purpose::Reseller(Mode::Live) => "tern_live_",
            Purpose::Reseller(Mode::Sandbox) => "tern_test_",
            Purpose::Operator => "tern_op_",
        };
        let random = URL_SAFE_NO_PAD.encode(self.rt().random::<32>());
        let text = Secret::new(format!("{prefix}{random}"));
        let (id, now) = (self.key_id(), self.now());
        NewKey {
            digest: self.vault().digest(text.expose()),
            sealed: self.vault().seal(
                self.rt().random(),
                &owner_of_key(org, id),
                text.expose().as_bytes(),
            ),
            key: Key {
                id,
                org,
                label: label.to_owned(),
                primary_at: None,
                created_at: now,
                revoked_at: None,
            },
            text,
        }
    }

    /// All keys of an organisation, revoked ones too.
    pub async fn keys(&self, org: OrgId) -> Result<Vec<Key>, Error> {
        self.store()
            .read(move |tx| {
                known(tx, org)?;
                Ok(keys::of_org(tx, org)?)
            })
            .await
    }

    /// Makes a further key; its text is in the answer and nowhere else in the clear.
    pub async fn add_key(
        &self,
        actor: Actor,
        org: OrgId,
        label: &str,
        primary: bool,
    ) -> Result<(Key, Secret<String>), Error> {
        if label.chars().count() > limits::TEXT_CHARS_MAX || label.contains('\n') {
            return Err(Error::Label);
        }
        let purpose = match org {
            OrgId::HOUSE => Purpose::Operator,
            org => Purpose::Reseller(self.mode_of(org).await?),
        };
        let new = self.new_key(org, purpose, label);
        let text = new.text.clone();
        let act = self.act(actor, "key.add");
        let key = self
            .store()
            .write(OrgId::HOUSE, move |tx| {
                known(tx, org)?;
                if keys::count(tx, org)? >= limits::KEYS_PER_ORGANISATION_MAX {
                    return Err(Error::TooMany);
                }
                new.insert(tx)?;
                let mut key = new.key.clone();
                // The first key is the one that is shown and signs.
                if primary || keys::primary(tx, org)?.is_none() {
                    keys::make_primary(tx, org, key.id, act.at)?;
                    key.primary_at = Some(act.at);
                }
                changed(tx, &act, org, key.id)?;
                Ok(key)
            })
            .await?;
        self.forget().await;
        Ok((key, text))
    }

    /// Makes a key the one that is shown and signs callbacks.
    pub async fn make_key_primary(&self, actor: Actor, org: OrgId, id: KeyId) -> Result<(), Error> {
        let act = self.act(actor, "key.primary");
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                known(tx, org)?;
                if !keys::make_primary(tx, org, id, act.at)? {
                    return Err(Error::UnknownKey);
                }
                changed(tx, &act, org, id)
            })
            .await
    }

    /// Revokes a key: refused on this node at once, on every other within a second.
    pub async fn revoke_key(&self, actor: Actor, org: OrgId, id: KeyId) -> Result<(), Error> {
        let act = self.act(actor, "key.revoke");
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                known(tx, org)?;
                let key = keys::find(tx, org, id)?
                    .filter(|key| key.revoked_at.is_none())
                    .ok_or(Error::UnknownKey)?;
                if key.primary_at.is_some() {
                    return Err(Error::Primary);
                }
                if !keys::revoke(tx, org, id, act.at)? {
                    return Err(Error::UnknownKey);
                }
                changed(tx, &act, org, id)
            })
            .await?;
        self.forget().await;
        Ok(())
    }

    /// The text of the primary key.
    pub(crate) fn opened(
        &self,
        org: OrgId,
        sealed: Option<(KeyId, Sealed)>,
    ) -> Result<Option<Secret<String>>, StoreError> {
        let Some((id, sealed)) = sealed else { return Ok(None) };
        match self.vault().open_text(&owner_of_key(org, id), &sealed) {
            Some(text) => Ok(Some(text)),
            None => Err(StoreError::Corrupt { column: 1, row: id.to_string() }),
        }
    }

    /// After a change of keys or settings: this node forgets at once.
    pub(crate) async fn forget(&self) {
        if let Err(error) = self.refresh_access().await {
            self.access().distrust();
            tracing::warn!(error = %error, "every key is asked for until the database answers");
        }
    }

    async fn mode_of(&self, org: OrgId) -> Result<Mode, Error> {
        let found = self.store().read(move |tx| organisations::find(tx, org)).await?;
        found.map(|organisation| organisation.mode).ok_or(Error::UnknownOrganisation)
    }
}

fn known(tx: &mut Tx<'_>, org: OrgId) -> Result<(), Error> {
    let known = org == OrgId::HOUSE || organisations::find(tx, org)?.is_some();
    if known { Ok(()) } else { Err(Error::UnknownOrganisation) }
}

fn changed(tx: &mut Tx<'_>, act: &Act, org: OrgId, id: KeyId) -> Result<(), Error> {
    epochs::bump(tx, Epoch::Access)?;
    act.note(tx, Some(org).filter(|org| *org != OrgId::HOUSE), id, "")?;
    Ok(())
}
