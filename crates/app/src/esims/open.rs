//! What is under way about one eSIM: work that is due, and callbacks.

use domain::callback::State;
use domain::{Iccid, OrgId, Timestamp, limits};
use store::deliveries::{self, Delivery};
use store::jobs::{self, Job};
use store::{StoreError, esims, heads, lanes};

use crate::jobs::{ESIM, NETWORK, REFRESH};
use crate::{App, Caller};

/// What is under way about an eSIM.
#[derive(Debug, Clone)]
pub struct OpenWork {
    /// Work that is due some time, the first to be due first.
    pub jobs: Vec<Job>,
    /// When the next callback about it is due, if one waits.
    pub callback_due: Option<Timestamp>,
}

/// A piece of a list that is looked through bit by bit.
#[derive(Debug, Clone)]
pub struct Piece<T> {
    /// What was found, newest first.
    pub found: Vec<T>,
    /// Where to look on; none at the end.
    pub next: Option<i64>,
}

impl App {
    /// What is under way about one of the caller's eSIMs.
    pub async fn open_work(
        &self,
        caller: &Caller,
        iccid: &Iccid,
    ) -> Result<Option<OpenWork>, StoreError> {
        let (org, iccid) = (caller.org(), iccid.clone());
        self.store()
            .read(move |tx| {
                if esims::find(tx, org, &iccid)?.is_none() {
                    return Ok(None);
                }
                let kinds = [ESIM, NETWORK, REFRESH];
                let mut jobs = jobs::about(tx, org, iccid.as_str(), &kinds)?;
                jobs.sort_by_key(|job| (job.due_at, job.id));
                let callback_due = lanes::due(tx, org, iccid.as_str())?;
                Ok(Some(OpenWork { jobs, callback_due }))
            })
            .await
    }

    /// Deliveries about an eSIM, of one state or all, newest first, before that number. Looks at so
    /// many deliveries at most: nothing found is not the end while there is a next number.
    pub async fn deliveries_about(
        &self,
        (org, iccid): (OrgId, &Iccid),
        state: Option<State>,
        before: Option<i64>,
        most: i64,
    ) -> Result<Piece<Delivery>, StoreError> {
        let iccid = iccid.clone();
        self.store()
            .read(move |tx| {
                let end = heads::find(tx, org)?.map_or(0, |head| head.event_seq) + 1;
                let before = before.unwrap_or(end).min(end);
                let down_to = before.saturating_sub(limits::DELIVERIES_COUNTED_MAX).max(1);
                let lane = (org, iccid.as_str());
                let page = deliveries::page_of_lane(tx, lane, (before, down_to), most)?;
                let is_full = i64::try_from(page.len()) == Ok(most);
                let next = match page.last() {
                    Some(last) if is_full => Some(last.seq),
                    _ => Some(down_to).filter(|from| *from > 1),
                };
                let fits = |one: &Delivery| state.is_none_or(|state| one.state == state);
                Ok(Piece { found: page.into_iter().filter(fits).collect(), next })
            })
            .await
    }
}
