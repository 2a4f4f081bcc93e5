//! The job of an eSIM: what happens to it by time, and to the bundles on it. One per eSIM, due when
//! the next thing happens.

use domain::event::Event;
use domain::{Iccid, OrgId, limits};
use store::jobs::Job;
use store::{StoreError, Tx};

use super::Loaded;
use crate::App;
use crate::ids::Ids;
use crate::jobs::Verdict;
use crate::organisations::own;

/// The job.
pub(crate) async fn work(app: &App, job: &Job) -> Result<Verdict, StoreError> {
    let (worker, own_job, ids) = (app.clone(), job.clone(), app.ids());
    app.store()
        .write(job.org, move |tx| {
            if !worker.is_mine(tx, &own_job)? {
                return Ok(());
            }
            worker.look_after(tx, &own_job, &mut ids.clone())
        })
        .await?;
    Ok(Verdict::Settled)
}

impl App {
    fn look_after(&self, tx: &mut Tx<'_>, job: &Job, ids: &mut Ids) -> Result<(), StoreError> {
        let org: OrgId = job.org;
        let (organisation, clock) = own(tx, org, ids.now)?;
        let found = match Iccid::parse(&job.subject) {
            Ok(iccid) => Loaded::find(tx, org, &iccid)?,
            Err(_) => None,
        };
        let Some(mut loaded) = found else { return store::jobs::done(tx, job.id) };
        loaded.advance(clock);
        if let Some(leaves_at) = loaded.leaves_at() {
            if clock >= leaves_at {
                self.let_go(tx, (loaded, &organisation), clock, ids)?;
                return store::jobs::done(tx, job.id);
            }
            let is_told = loaded.esim.leaves_at == Some(leaves_at);
            if !is_told && clock >= leaves_at.minus(limits::ESIM_NOTICE) {
                loaded.esim.leaves_at = Some(leaves_at);
                let iccid = loaded.esim.iccid.clone();
                let event = Event::DeletionScheduled { iccid, at: clock };
                self.tell(tx, &organisation, (ids.event(), clock), &event)?;
            }
        }
        loaded.save(tx)?;
        loaded.tell_network(self, tx, organisation.mode, ids)?;
        match loaded.due(self.network(organisation.mode).map(|_| clock)) {
            None => store::jobs::done(tx, job.id),
            Some(due) => App::again_at(tx, job, due),
        }
    }
}
