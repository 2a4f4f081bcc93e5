//! The event feed.

use domain::event::Event;
use domain::{EventId, Timestamp};
pub use store::events::Stored;
use store::{StoreError, Tx, events};

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

    /// Writes an event in the transaction of its cause.
    pub(crate) fn tell(
        &self,
        tx: &mut Tx<'_>,
        id: EventId,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), StoreError> {
        let data = self.ports().forms.full(event);
        events::add(tx, id, event.kind(), at, &data).map(drop)
    }
}
