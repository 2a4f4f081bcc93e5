//! Webhook secrets: what signs callbacks beside the API key, and can be changed without a break.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::ports::callbacks::SECRET_PREFIX;
use domain::{KeyId, OrgId, Secret, Timestamp, limits};
use store::{Sealed, StoreError, Tx, organisations, secrets};

use super::Error;
use crate::{Actor, App};

/// Whose a sealed secret is.
pub(crate) fn owner_of_secret(org: OrgId, id: KeyId) -> String {
    format!("webhook secret {org} {id}")
}

impl App {
    /// A new secret, made outside the transaction that may need it.
    pub(crate) fn new_secret(&self, org: OrgId) -> (KeyId, Sealed) {
        let id = self.key_id();
        let text = format!("{SECRET_PREFIX}{}", STANDARD.encode(self.rt().random::<32>()));
        (id, self.vault().seal(self.rt().random(), &owner_of_secret(org, id), text.as_bytes()))
    }

    /// The secret that signs an organisation's callbacks now; the first one is made here.
    pub async fn webhook_secret(&self, actor: Actor, org: OrgId) -> Result<Secret<String>, Error> {
        let (app, new, now) = (self.clone(), self.new_secret(org), self.now());
        let act = self.act(actor, "webhook-secret.make");
        self.store()
            .write(org, move |tx| {
                organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
                if let Some(newest) = secrets::valid(tx, org, now)?.first() {
                    return Ok(app.opened_secret(org, newest)?);
                }
                secrets::add(tx, (org, new.0), &new.1, now)?;
                act.note(tx, Some(org), new.0, "")?;
                Ok(app.opened_secret(org, &new)?)
            })
            .await
    }

    /// Makes a new secret. The old one signs beside it for a day.
    pub async fn rotate_webhook_secret(
        &self,
        actor: Actor,
        org: OrgId,
    ) -> Result<Secret<String>, Error> {
        let (app, new) = (self.clone(), self.new_secret(org));
        let act = self.act(actor, "webhook-secret.rotate");
        self.store()
            .write(org, move |tx| {
                organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
                secrets::expire(tx, org, act.at.plus(limits::SECRET_OVERLAP))?;
                secrets::add(tx, (org, new.0), &new.1, act.at)?;
                act.note(tx, Some(org), new.0, "")?;
                Ok(app.opened_secret(org, &new)?)
            })
            .await
    }

    fn opened_secret(
        &self,
        org: OrgId,
        (id, sealed): &(KeyId, Sealed),
    ) -> Result<Secret<String>, StoreError> {
        let text = self.vault().open_text(&owner_of_secret(org, *id), sealed);
        text.ok_or(StoreError::Corrupt { column: 1, row: id.to_string() })
    }

    /// Gives the secrets of one organisation to another, sealed for it.
    pub(crate) fn hand_on_secrets(
        &self,
        tx: &mut Tx<'_>,
        (from, to): (OrgId, OrgId),
        random: [u8; 16],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        for one in secrets::valid(tx, from, now)? {
            let text = self.opened_secret(from, &one)?;
            let owner = owner_of_secret(to, one.0);
            let sealed = self.vault().seal(random, &owner, text.expose().as_bytes());
            secrets::hand_on(tx, one.0, to, &sealed)?;
        }
        Ok(())
    }
}
