//! Events: written in the transaction of their cause, read in order by the feed, and sent to the
//! organisation's receiver.

use domain::event::Event;
use domain::organisation::CallbackVersion;
use domain::{EventId, Iccid, Organisation, Timestamp, limits};
pub use store::events::Stored;
use store::{StoreError, Tx, deliveries, events, heads, lanes};

use crate::esims::open::Piece;
use crate::{App, Caller};

impl App {
    /// Events of the caller's organisation in order, after that number.
    pub async fn events(
        &self,
        caller: &Caller,
        after: i64,
        most: i64,
    ) -> Result<Vec<Stored>, StoreError> {
        let org = caller.org();
        self.store().read(move |tx| events::page(tx, org, after, most)).await
    }

    /// The same from the newest on, or before that number.
    pub async fn recent_events(
        &self,
        caller: &Caller,
        before: Option<i64>,
        most: i64,
    ) -> Result<Vec<Stored>, StoreError> {
        let (org, before) = (caller.org(), before.unwrap_or(i64::MAX));
        self.store().read(move |tx| events::page_before(tx, org, before, most)).await
    }

    /// The same of one kind. Looks at so many events and no more: nothing found is not the end
    /// while there is a next number.
    pub async fn recent_events_of(
        &self,
        caller: &Caller,
        kind: &str,
        before: Option<i64>,
        most: i64,
    ) -> Result<Piece<Stored>, StoreError> {
        let (org, kind) = (caller.org(), kind.to_owned());
        self.store()
            .read(move |tx| {
                let end = heads::find(tx, org)?.map_or(0, |head| head.event_seq) + 1;
                let before = before.unwrap_or(end).min(end);
                let down_to = before.saturating_sub(limits::EVENTS_LOOKED_AT).max(1);
                let found = events::page_of_kind(tx, (org, &kind), (before, down_to), most)?;
                let is_full = i64::try_from(found.len()) == Ok(most);
                let next = match found.last() {
                    Some(last) if is_full => Some(last.seq),
                    _ => Some(down_to).filter(|from| *from > 1),
                };
                Ok(Piece { found, next })
            })
            .await
    }

    /// Writes an event in the transaction of its cause: into the feed, and on its way to the
    /// receiver where there is one. Its bytes are made here, once.
    pub(crate) fn tell(
        &self,
        tx: &mut Tx<'_>,
        organisation: &Organisation,
        (id, at): (EventId, Timestamp),
        event: &Event,
    ) -> Result<(), StoreError> {
        let (forms, settings) = (&self.ports().forms, &organisation.settings);
        let seq = events::add(tx, id, event.kind(), at, &forms.full(event))?;
        let is_open = settings.callback_url.is_some() && organisation.endpoint.off_at.is_none();
        if !is_open || !event.is_sent(&settings.callback_events) {
            return Ok(());
        }
        let version = settings.callback_version;
        let body = match version {
            CallbackVersion::V2 => forms.short(event),
            CallbackVersion::V3 => None,
        };
        let lane = event.iccid().map_or("", Iccid::as_str);
        let org = organisation.id;
        deliveries::add(tx, org, (seq, lane), (version, body), id.made_at())?;
        let clock = tx.head().map_or(at, |head| head.clock(id.made_at()));
        lanes::open(tx, org, lane, clock)
    }
}
