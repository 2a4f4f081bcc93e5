//! Erasing an end user: what tells of a person goes, everything that was bought, used and paid
//! stays. Done in small transactions, and harmless to repeat. The note by which a person is found
//! goes last, so whoever is interrupted finds the same eSIMs again and begins anew.

use domain::esim::Esim;
use domain::{Iccid, OrgId, limits};
use store::{StoreError, Tx, erasure};

use crate::{Actor, App};

/// What would be erased of an end user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndUser {
    /// The eSIMs concerned.
    pub esims: Vec<Esim>,
    /// Whether there are more than are erased together.
    pub is_more: bool,
}

/// Why nothing was erased.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// One is unknown, or somebody else's.
    #[error("access denied")]
    NotYourEsim,
    /// They are too many for once.
    #[error("at most 100 eSIMs are erased together")]
    TooMany,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// The eSIMs of an end user: the one of that number, also if it has left since, or those with
    /// that note.
    pub async fn end_user(&self, org: OrgId, who: &str) -> Result<EndUser, StoreError> {
        let who = who.trim().to_owned();
        self.store()
            .read(move |tx| {
                let most = limits::ERASED_ESIMS_MAX;
                let bound = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1);
                let mut iccids = erasure::noted(tx, org, &who, bound)?;
                if let Ok(iccid) = Iccid::parse(&who)
                    && !iccids.contains(&iccid)
                {
                    iccids.insert(0, iccid);
                }
                let is_more = iccids.len() > most;
                iccids.truncate(most);
                Ok(EndUser { esims: erasure::own(tx, org, &iccids)?, is_more })
            })
            .await
    }

    /// Erases what tells of the end user of these eSIMs: notes, numbers, places, messages, links.
    /// Says of how many.
    pub async fn erase_end_user(
        &self,
        actor: Actor,
        org: OrgId,
        mut iccids: Vec<Iccid>,
    ) -> Result<usize, Error> {
        iccids.sort();
        iccids.dedup();
        if iccids.len() > limits::ERASED_ESIMS_MAX {
            return Err(Error::TooMany);
        }
        let own = iccids.clone();
        if self.store().read(move |tx| erasure::own(tx, org, &own)).await?.len() != iccids.len() {
            return Err(Error::NotYourEsim);
        }
        for iccid in &iccids {
            self.erase_rows(org, iccid).await?;
        }
        self.erase_events(org, &iccids).await?;
        let (act, count) = (self.act(actor, "enduser.erase"), iccids.len());
        self.store()
            .write(org, move |tx| {
                for iccid in &iccids {
                    erasure::esim(tx, org, iccid)?;
                }
                act.note(tx, Some(org), org, &format!("{count} eSIMs"))
            })
            .await?;
        Ok(count)
    }

    async fn erase_rows(&self, org: OrgId, iccid: &Iccid) -> Result<(), StoreError> {
        loop {
            let iccid = iccid.clone();
            let erased = self
                .store()
                .write(org, move |tx| erasure::rows(tx, org, &iccid, limits::ERASED_ROWS));
            if !erased.await? {
                return Ok(());
            }
        }
    }

    /// Events stay in the feed, without what tells of a person.
    async fn erase_events(&self, org: OrgId, iccids: &[Iccid]) -> Result<(), StoreError> {
        let mut after = 0;
        loop {
            let from = after;
            let page = self.store().read(move |tx| erasure::events(tx, org, from, ROWS)).await?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = *last;
            let is_about = |data: &str| iccids.iter().any(|iccid| data.contains(iccid.as_str()));
            let forms = &self.ports().forms;
            let emptied: Vec<_> = page
                .iter()
                .filter(|(_, data)| is_about(data))
                .filter_map(|(seq, data)| Some((*seq, forms.without_person(data)?)))
                .collect();
            if emptied.is_empty() {
                continue;
            }
            let app = self.clone();
            self.store().write(org, move |tx| app.put_emptied(tx, org, &emptied)).await?;
        }
    }

    fn put_emptied(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        emptied: &[(i64, String)],
    ) -> Result<(), StoreError> {
        for (seq, data) in emptied {
            erasure::put_event(tx, org, *seq, data)?;
        }
        let seqs: Vec<_> = emptied.iter().map(|(seq, _)| *seq).collect();
        for (seq, body) in erasure::bodies(tx, org, &seqs)? {
            if let Some(body) = self.ports().forms.without_person(&body) {
                erasure::put_body(tx, org, seq, &body)?;
            }
        }
        erasure::empty_answers(tx, org, &seqs)
    }
}

const ROWS: i64 = limits::ERASED_ROWS;
