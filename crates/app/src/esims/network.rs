//! The jobs that tell a network outside what an eSIM may do. It hears what holds when the job runs,
//! not what once happened: telling it late, twice or out of order does no harm.

use domain::ports::network::{Answer, Away, Level};
use domain::{Iccid, OrgId, Timestamp, limits};
use store::jobs::Job;
use store::{StoreError, Tx, esims, organisations};

use super::Loaded;
use crate::App;
use crate::jobs::Verdict;

/// The job: the network allows an eSIM what our tables say.
pub(crate) async fn tell(app: &App, job: &Job) -> Result<Verdict, StoreError> {
    let Ok(iccid) = Iccid::parse(&job.subject) else { return done(app, job, None).await };
    let (org, wanted, now) = (job.org, iccid.clone(), app.now());
    let (network, level) = app
        .store()
        .read(move |tx| {
            let mode = organisations::find(tx, org)?.map(|organisation| organisation.mode);
            let clock = store::heads::find(tx, org)?.map_or(now, |head| head.clock(now));
            Ok::<_, StoreError>((mode, level_of(tx, org, &wanted, clock)?))
        })
        .await?;
    let (Some(network), Some(level)) = (network.and_then(|mode| app.network(mode)), level) else {
        return done(app, job, None).await;
    };
    match in_time(app, network.set(&iccid, level)).await {
        Ok(()) => done(app, job, Some((iccid, level))).await,
        Err(Away(why)) => Ok(Verdict::Again(why)),
    }
}

/// The job: the network forgets where an eSIM is.
pub(crate) async fn refresh(app: &App, job: &Job) -> Result<Verdict, StoreError> {
    let org = job.org;
    let mode = app.store().read(move |tx| organisations::find(tx, org)).await?;
    let network = mode.and_then(|organisation| app.network(organisation.mode));
    let (Ok(iccid), Some(network)) = (Iccid::parse(&job.subject), network) else {
        return done(app, job, None).await;
    };
    match in_time(app, network.cancel_location(&iccid)).await {
        Ok(()) => done(app, job, None).await,
        Err(Away(why)) => Ok(Verdict::Again(why)),
    }
}

async fn in_time(app: &App, answer: Answer<'_>) -> Result<(), Away> {
    tokio::select! {
        biased;
        answered = answer => answered,
        () = app.rt().sleep(limits::NETWORK_ANSWER) => Err(Away("no answer in time".into())),
    }
}

/// Settles the job. What was told may have been overtaken while it was: then it is due again.
async fn done(app: &App, job: &Job, told: Option<(Iccid, Level)>) -> Result<Verdict, StoreError> {
    let (worker, own_job, now) = (app.clone(), job.clone(), app.now());
    app.store()
        .write(job.org, move |tx| {
            if !worker.is_mine(tx, &own_job)? {
                return Ok(());
            }
            let Some((iccid, level)) = &told else { return store::jobs::done(tx, own_job.id) };
            esims::put_service(tx, iccid, &level.name())?;
            let clock = tx.head().map_or(now, |head| head.clock(now));
            match level_of(tx, own_job.org, iccid, clock)? {
                Some(wanted) if wanted != *level => App::again_at(tx, &own_job, clock),
                _ => store::jobs::done(tx, own_job.id),
            }
        })
        .await?;
    Ok(Verdict::Settled)
}

/// What the network should allow an eSIM; nothing to say where another organisation has it by now.
fn level_of(
    tx: &mut Tx<'_>,
    org: OrgId,
    iccid: &Iccid,
    clock: Timestamp,
) -> Result<Option<Level>, StoreError> {
    if let Some(mut loaded) = Loaded::find(tx, org, iccid)? {
        loaded.advance(clock);
        return Ok(Some(loaded.level(clock)));
    }
    Ok(esims::owner(tx, iccid)?.is_none().then_some(Level::Stopped))
}
