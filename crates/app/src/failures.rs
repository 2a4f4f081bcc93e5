//! Requests that failed, for those who sent them: noted in memory, written a little later and many
//! at once, so that no request waits for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::{OrgId, limits};
pub use store::failures::Failure;
use store::{StoreError, failures};

use crate::{App, Caller};

/// What is noted and not written yet, by organisation. Of each no more than is kept: the oldest
/// goes, so that a flood of one leaves the others alone. When there is too much in all, what comes
/// is lost.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    by_org: BTreeMap<OrgId, VecDeque<Failure>>,
    count: usize,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, org: OrgId, failure: Failure) {
        let noted = &mut *self.lock();
        let full = |own: &&mut VecDeque<Failure>| own.len() >= limits::FAILURES_KEPT;
        match noted.by_org.get_mut(&org).filter(full) {
            Some(own) => {
                own.pop_front();
                own.push_back(failure);
            }
            None if noted.count < limits::FAILURES_WAITING_MAX => {
                noted.by_org.entry(org).or_default().push_back(failure);
                noted.count += 1;
            }
            None => {}
        }
    }

    /// Everything there is of one organisation, in order.
    fn take(&self) -> Option<(OrgId, Vec<Failure>)> {
        let mut noted = self.lock();
        let (org, own) = noted.by_org.pop_first()?;
        noted.count -= own.len();
        Some((org, own.into()))
    }
}

impl App {
    /// Notes that a request of an organisation failed. Costs no write and never waits.
    pub fn note_failure(&self, org: OrgId, mut failure: Failure) {
        let long = failure.message.char_indices().nth(limits::FAILURE_MESSAGE_CHARS_MAX);
        if let Some((end, _)) = long {
            failure.message.truncate(end);
        }
        self.failures_waiting().push(org, failure);
    }

    /// Writes what was noted for as long as the service runs.
    pub async fn write_failures(self) {
        loop {
            self.rt().sleep(limits::FAILURES_EVERY).await;
            if let Err(error) = self.write_failures_once().await {
                tracing::debug!(error = %error, "failed requests were not noted");
            }
        }
    }

    /// Writes what was noted, one transaction per organisation. What cannot be written now is
    /// lost: it is for people to look at, not for the books.
    pub async fn write_failures_once(&self) -> Result<(), StoreError> {
        while let Some((org, noted)) = self.failures_waiting().take() {
            let keep = i64::try_from(limits::FAILURES_KEPT).unwrap_or(i64::MAX);
            self.store().write(org, move |tx| failures::add(tx, org, &noted, keep)).await?;
        }
        Ok(())
    }

    /// The last failed requests of the caller's organisation, newest first, before that number.
    pub async fn failed_requests(
        &self,
        caller: &Caller,
        before: Option<i64>,
        most: i64,
    ) -> Result<Vec<Failure>, StoreError> {
        let since = self.now().plus_days(-limits::FAILURES_DAYS);
        let (org, bound) = (caller.org(), (before.unwrap_or(i64::MAX), since));
        self.store().read(move |tx| failures::page(tx, org, bound, most)).await
    }

    /// Those whose request is called that, or begins so. Few are kept, so all are looked at.
    pub async fn failed_requests_called(
        &self,
        caller: &Caller,
        name: &str,
    ) -> Result<Vec<Failure>, StoreError> {
        let most = i64::try_from(limits::FAILURES_KEPT).unwrap_or(i64::MAX);
        let mut found = self.failed_requests(caller, None, most).await?;
        found.retain(|failure| failure.request.starts_with(name));
        Ok(found)
    }

    /// Forgets those of an organisation that are too old.
    pub(crate) async fn forget_failures(&self, org: OrgId) -> Result<(), StoreError> {
        let before = self.now().plus_days(-limits::FAILURES_DAYS);
        if self.store().read(move |tx| failures::has_old(tx, org, before)).await? {
            self.store().write(org, move |tx| failures::forget(tx, org, before)).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use domain::{KeyId, Timestamp};

    use super::*;

    fn org(n: u8) -> OrgId {
        OrgId::new(Timestamp::from_ms(1), [n; 10])
    }

    fn failure(n: usize) -> Failure {
        Failure {
            id: 0,
            at: Timestamp::from_ms(1),
            request: n.to_string(),
            method: "GET".into(),
            route: "/v2.5/esims".into(),
            status: 400,
            code: "x".into(),
            message: String::new(),
            client: "192.0.2.1".into(),
            key: KeyId::new(Timestamp::from_ms(1), [1; 10]),
        }
    }

    #[test]
    fn what_waits_is_taken_by_organisation_and_in_order() {
        let waiting = Waiting::default();
        for (of, n) in [(1, 1), (2, 2), (1, 3)] {
            waiting.push(org(of), failure(n));
        }
        assert_eq!(waiting.take(), Some((org(1), vec![failure(1), failure(3)])));
        assert_eq!(waiting.take(), Some((org(2), vec![failure(2)])));
        assert_eq!(waiting.take(), None);
    }

    #[test]
    fn the_oldest_of_the_same_goes_and_a_flood_is_lost() {
        let waiting = Waiting::default();
        for n in 0..=limits::FAILURES_KEPT {
            waiting.push(org(1), failure(n));
        }
        let (_, taken) = waiting.take().expect("some wait");
        assert_eq!((taken.len(), taken.first()), (limits::FAILURES_KEPT, Some(&failure(1))));
        for n in 0..limits::FAILURES_WAITING_MAX {
            let of = u8::try_from(n / limits::FAILURES_KEPT).expect("a few");
            waiting.push(org(of), failure(n));
        }
        waiting.push(org(255), failure(0));
        let mut count = 0;
        while let Some((of, taken)) = waiting.take() {
            assert_ne!(of, org(255));
            count += taken.len();
        }
        assert_eq!(count, limits::FAILURES_WAITING_MAX);
    }
}
