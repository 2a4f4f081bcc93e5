//! Taking lanes: who takes them, and what is to be sent.

use std::sync::Arc;

use domain::organisation::CallbackVersion;
use domain::ports::callbacks::Signers;
use domain::{CallbackUrl, KeyId, OrgId, Organisation, Timestamp, limits};
use store::deliveries::{self, Ready};
use store::{Sealed, StoreError, Tx, jobs, keys, lanes, secrets};

use super::secrets::owner_of_secret;
use crate::App;

/// One who sends for an organisation. Lanes belong to senders, not to nodes: what one lets go is
/// its own, and what another notes late touches nobody else's.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    pub(super) org: OrgId,
    /// Begins with the name of its node, whose death frees its lanes.
    name: Arc<str>,
}

impl Sender {
    /// Whose lanes, and who has them.
    pub(super) fn owned(&self) -> (OrgId, &str) {
        (self.org, &self.name)
    }
}

/// Lanes that were taken, as far as there is something to send.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(super) ready: Vec<Ready>,
    pub(super) callback: Option<Arc<Envelope>>,
    /// Whether lanes were taken that held nothing to send: there may be more of them.
    is_partial: bool,
    pub(super) failing: bool,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty() && !self.is_partial
    }
}

/// What all callbacks of a batch have in common.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) url: CallbackUrl,
    pub(super) signers: Option<Arc<Signers>>,
}

impl App {
    /// A sender like no other.
    pub(crate) fn sender(&self, org: OrgId) -> Sender {
        let name = format!("{}:{}", self.work().incarnation(), self.outgoing().number());
        Sender { org, name: name.into() }
    }

    /// Takes lanes that are due, with what is to be sent.
    pub(crate) fn take_lanes(
        &self,
        tx: &mut Tx<'_>,
        (organisation, clock): (&Organisation, Timestamp),
        (sender, room): (&Sender, usize),
        (new, now): (&(KeyId, Sealed), Timestamp),
    ) -> Result<Batch, StoreError> {
        let org = organisation.id;
        if organisation.endpoint.paused_at.is_some() {
            return Ok(Batch::default());
        }
        let taken = lanes::claim(tx, org, &sender.name, clock, room)?;
        if taken.is_empty() {
            return Ok(Batch::default());
        }
        jobs::known(tx, self.work().incarnation())?;
        let failing = organisation.endpoint.failing_since.is_some();
        let url = organisation.settings.callback_url.clone();
        let Some(url) = url.filter(|_| organisation.endpoint.off_at.is_none()) else {
            // Nowhere to go: what waits is given up, and can be sent again later.
            let names: Vec<_> = taken.into_iter().map(|(lane, _)| lane).collect();
            deliveries::give_up(tx, org, &names, now)?;
            lanes::give_back(tx, sender.owned(), &names, clock)?;
            return Ok(Batch { is_partial: true, ..Batch::default() });
        };
        let seqs: Vec<_> = taken.iter().filter_map(|(_, seq)| *seq).collect();
        let empty: Vec<_> = taken.into_iter().filter(|(_, seq)| seq.is_none()).collect();
        let empty: Vec<_> = empty.into_iter().map(|(lane, _)| lane).collect();
        if !empty.is_empty() {
            lanes::give_back(tx, sender.owned(), &empty, clock)?;
        }
        let ready = deliveries::ready(tx, org, &seqs)?;
        let is_signed = ready.iter().any(|one| one.form == CallbackVersion::V3);
        let signers = if is_signed { self.signers(tx, org, (new, now))? } else { None };
        if is_signed && signers.is_none() {
            // Its keys are being handed on: nothing goes out that should be signed and is not.
            let names: Vec<_> = ready.into_iter().map(|one| one.lane).collect();
            lanes::give_back(tx, sender.owned(), &names, clock.plus(limits::CALLBACK_UNSIGNED))?;
            return Ok(Batch::default());
        }
        let callback = Some(Arc::new(Envelope { url, signers: signers.map(Arc::new) }));
        Ok(Batch { ready, callback, is_partial: !empty.is_empty(), failing })
    }

    /// What signs now: the primary key, and the webhook secrets. The first one is made here.
    fn signers(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        (new, now): (&(KeyId, Sealed), Timestamp),
    ) -> Result<Option<Signers>, StoreError> {
        let sealed = keys::primary(tx, org)?;
        let Some(api_key) = self.opened(org, sealed)? else { return Ok(None) };
        let mut sealed = secrets::valid(tx, org, now)?;
        if sealed.is_empty() {
            secrets::add(tx, (org, new.0), &new.1, now)?;
            sealed.push(new.clone());
        }
        let open = |(id, sealed): &(KeyId, Sealed)| {
            self.vault().open_text(&owner_of_secret(org, *id), sealed)
        };
        Ok(Some(Signers { api_key, secrets: sealed.iter().filter_map(open).collect() }))
    }
}
