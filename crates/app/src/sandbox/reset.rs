//! A fresh start for a sandbox organisation: a new one takes its place, under the same keys. The
//! old one is kept apart, with everything it had.

use domain::organisation::Endpoint;
use domain::{OrgId, Organisation, Timestamp};
use store::epochs::{self, Epoch};
use store::{StoreError, Tx, charges, heads, jobs, keys, lanes, organisations, users};

use super::{Error, gone, sandbox_only};
use crate::topup::owner_of_card;
use crate::vault::owner_of_key;
use crate::{Actor, App, Caller};

/// What is made outside the transaction.
#[derive(Clone)]
struct Draft {
    id: OrgId,
    random: [u8; 16],
    now: Timestamp,
}

impl App {
    /// Starts the caller's organisation afresh; says its time, which goes on.
    pub async fn reset(&self, caller: &Caller) -> Result<Timestamp, Error> {
        self.reset_by(Actor::Service, caller).await
    }

    pub(super) async fn reset_by(&self, actor: Actor, caller: &Caller) -> Result<Timestamp, Error> {
        sandbox_only(caller)?;
        let (app, old) = (self.clone(), caller.org());
        let act = self.act(actor, "sandbox.reset");
        let draft = Draft { id: self.org_id(), random: self.rt().random(), now: self.now() };
        let clock = self
            .store()
            .write(OrgId::HOUSE, move |tx| {
                let organisation =
                    organisations::find(tx, old)?.ok_or_else(|| gone(old.to_string()))?;
                let met = organisations::known_as(tx, organisation.known_as)?;
                if let Some(met) = met.filter(|met| *met != old) {
                    // Somebody was quicker, with the same effect.
                    let head = heads::find(tx, met)?.ok_or_else(|| gone(met.to_string()))?;
                    return Ok(head.clock(draft.now));
                }
                let clock = app.take_place(tx, &organisation, &draft)?;
                act.note(tx, Some(draft.id), organisation.known_as, "")?;
                Ok::<_, Error>(clock)
            })
            .await?;
        self.forget().await;
        Ok(clock)
    }

    /// A new organisation takes the place of this one.
    fn take_place(
        &self,
        tx: &mut Tx<'_>,
        old: &Organisation,
        draft: &Draft,
    ) -> Result<Timestamp, Error> {
        let Draft { id, now, .. } = *draft;
        let head = heads::find(tx, old.id)?.ok_or_else(|| gone(old.id.to_string()))?;
        heads::insert(tx, id)?;
        heads::set_clock(tx, id, head.clock_offset_ms)?;
        // What is told of its eSIMs later is of no interest to anybody.
        let mut kept = old.clone();
        kept.settings.callback_url = None;
        organisations::update(tx, &kept)?;
        organisations::replace(tx, old.id, now)?;
        let endpoint = Endpoint { paused_at: old.endpoint.paused_at, ..Endpoint::default() };
        let new = Organisation { id, endpoint, ..old.clone() };
        organisations::insert(tx, &new)?;
        organisations::pause(tx, id, new.endpoint.paused_at)?;
        self.hand_on_keys(tx, (old.id, id), draft.random)?;
        self.hand_on_secrets(tx, (old.id, id), draft.random, now)?;
        users::hand_on(tx, old.id, id)?;
        if let Some((label, card)) = charges::card(tx, old.id)?
            && let Some(text) = self.vault().open_text(&owner_of_card(old.id), &card)
        {
            let owner = owner_of_card(id);
            let card = self.vault().seal(draft.random, &owner, text.expose().as_bytes());
            charges::put_card(tx, id, &label, &card, now)?;
        }
        jobs::drop_all(tx, old.id)?;
        lanes::drop_all(tx, old.id)?;
        store::faults::drop_all(tx, old.id)?;
        epochs::bump(tx, Epoch::Access)?;
        Ok(head.clock(now))
    }

    /// The keys open the new organisation from now on; their texts are sealed for it.
    fn hand_on_keys(
        &self,
        tx: &mut Tx<'_>,
        (from, to): (OrgId, OrgId),
        random: [u8; 16],
    ) -> Result<(), StoreError> {
        for (id, sealed) in keys::sealed_of(tx, from)? {
            let text = self.opened(from, Some((id, sealed)))?;
            let Some(text) = text else { continue };
            let owner = owner_of_key(to, id);
            let sealed = self.vault().seal(random, &owner, text.expose().as_bytes());
            keys::hand_on(tx, id, to, &sealed)?;
        }
        Ok(())
    }
}
