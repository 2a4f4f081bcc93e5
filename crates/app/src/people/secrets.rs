//! What a person sees only after giving the password once more: the primary key and the secret that
//! signs callbacks. Who saw the key stands in the audit log.

use domain::Secret;
use store::StoreError;

use super::{Attempt, MeError, Member};
use crate::{App, callbacks};

impl App {
    /// The primary key of the member's organisation, if it has one.
    pub async fn show_key(
        &self,
        member: &Member,
        password: &Secret<String>,
        from: &Attempt,
    ) -> Result<Option<Secret<String>>, MeError> {
        self.confirm_password(member, password, from).await?;
        self.note_seen(member, "key.show").await?;
        Ok(self.account(member.caller()).await?.api_key)
    }

    /// The secret that signs callbacks of the member's organisation; the first one is made here.
    pub async fn show_webhook_secret(
        &self,
        member: &Member,
        password: &Secret<String>,
        from: &Attempt,
    ) -> Result<Secret<String>, MeError> {
        self.confirm_password(member, password, from).await?;
        self.note_seen(member, "webhook-secret.show").await?;
        match self.webhook_secret(member.actor(), member.org()).await {
            Ok(secret) => Ok(secret),
            Err(callbacks::Error::Store(error)) => Err(error.into()),
            Err(other) => Err(StoreError::Refused(other.to_string()).into()),
        }
    }

    async fn note_seen(&self, member: &Member, action: &'static str) -> Result<(), StoreError> {
        let (org, act) = (member.org(), self.act(member.actor(), action));
        self.store().write(org, move |tx| act.note(tx, Some(org), org, "")).await
    }
}
