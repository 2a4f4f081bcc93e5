//! Text messages to eSIMs. Those of sandbox organisations go to a test centre that keeps them for
//! the developer to look at.

use domain::event::Event;
use domain::ports::sms::{Message as Outgoing, Outcome as Sent};
use domain::{Iccid, Mode, OrgId, Organisation, Timestamp, limits};
use store::jobs::Job;
pub use store::messages::Message;
use store::{StoreError, Tx, esims, messages};

use crate::idempotency::{self, Request};
use crate::ids::Ids;
use crate::jobs::{SMS, Verdict};
use crate::organisations::own;
use crate::{Answer, App, Caller};

/// Who a message is from when nobody says.
const SENDER: &str = "eSIM";

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken.
    Sent,
    /// It is empty or too long.
    Length,
    /// Unknown, or somebody else's eSIM.
    NotYourEsim,
    /// Dead for good.
    Deactivated,
    /// The eSIM has no number.
    NoMsisdn,
    /// The organisation may not send as that.
    SenderNotAllowed,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no way of sending.
    #[error("sms cannot be sent now, try again later")]
    Unavailable,
    /// Its key.
    #[error(transparent)]
    Key(#[from] idempotency::Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Sends a message to one of the caller's eSIMs.
    pub async fn send_sms(
        &self,
        caller: &Caller,
        iccid: Iccid,
        (sender, body): (Option<String>, String),
        request: &Request,
    ) -> Result<Answer, Error> {
        let (app, org, ids) = (self.clone(), caller.org(), self.ids());
        let sender = sender.unwrap_or_else(|| SENDER.to_owned());
        let write = move |tx: &mut Tx<'_>| {
            let (organisation, at) = own(tx, org, ids.now)?;
            let text = (sender.as_str(), body.as_str());
            app.take_sms(tx, (&organisation, &iccid), (text, at), &mut ids.clone())
        };
        let answer = self
            .once(org, request, write, |answers, form, outcome| answers.sms(form, *outcome))
            .await?;
        if caller.mode() == Mode::Live {
            self.work().wake();
        }
        Ok(answer)
    }

    fn take_sms(
        &self,
        tx: &mut Tx<'_>,
        (organisation, iccid): (&Organisation, &Iccid),
        ((sender, body), at): ((&str, &str), Timestamp),
        ids: &mut Ids,
    ) -> Result<Outcome, Error> {
        let org = organisation.id;
        if !(1..=limits::SMS_CHARS_MAX).contains(&body.chars().count()) {
            return Ok(Outcome::Length);
        }
        let Some(esim) = esims::find(tx, org, iccid)? else { return Ok(Outcome::NotYourEsim) };
        if esim.is_deactivated() {
            return Ok(Outcome::Deactivated);
        }
        let Some(to) = esim.msisdn else { return Ok(Outcome::NoMsisdn) };
        let allowed = || organisation.settings.senders.iter().any(|own| own == sender);
        if sender != SENDER && !allowed() {
            return Ok(Outcome::SenderNotAllowed);
        }
        if organisation.mode == Mode::Live && self.ports().live_sms.is_none() {
            return Err(Error::Unavailable);
        }
        let message = Message { to, sender: sender.to_owned(), body: body.to_owned(), at };
        let id = messages::add(tx, org, iccid, &message)?;
        if organisation.mode == Mode::Live {
            App::add_job(tx, ids.job(), (SMS, &id.to_string()), at, ids.now)?;
        }
        Ok(Outcome::Sent)
    }

    /// What the test centre keeps for one of the caller's eSIMs, newest first.
    pub async fn messages(
        &self,
        caller: &Caller,
        iccid: &Iccid,
    ) -> Result<Option<Vec<Message>>, StoreError> {
        let (org, iccid) = (caller.org(), iccid.clone());
        self.store()
            .read(move |tx| {
                if esims::find(tx, org, &iccid)?.is_none() {
                    return Ok(None);
                }
                messages::newest(tx, org, &iccid, limits::MESSAGES_SHOWN).map(Some)
            })
            .await
    }
}

/// The job: a message of a live organisation goes to its centre. It is kept no longer than that
/// takes.
pub(crate) async fn work(app: &App, job: &Job) -> Result<Verdict, StoreError> {
    let (org, id) = (job.org, job.subject.parse().unwrap_or(0));
    let found = app.store().read(move |tx| messages::find(tx, org, id)).await?;
    let Some((iccid, Message { to, sender, body, .. })) = found else {
        return settled(app, job, None).await;
    };
    let Some(centre) = app.ports().live_sms.clone() else {
        return settled(app, job, Some((iccid, to))).await;
    };
    let outgoing = Outgoing { reference: job.id.to_string(), to: to.clone(), sender, body };
    let sent = tokio::select! {
        biased;
        sent = centre.send(&outgoing) => sent,
        () = app.rt().sleep(limits::NETWORK_ANSWER) => Sent::Away("no answer in time".into()),
    };
    match sent {
        Sent::Sent => settled(app, job, None).await,
        Sent::Failed => settled(app, job, Some((iccid, to))).await,
        Sent::Away(why) => Ok(Verdict::Again(why)),
    }
}

async fn settled(
    app: &App,
    job: &Job,
    failed: Option<(Iccid, domain::Msisdn)>,
) -> Result<Verdict, StoreError> {
    let (worker, own_job, ids) = (app.clone(), job.clone(), app.ids());
    app.store()
        .write(job.org, move |tx| {
            if !worker.is_mine(tx, &own_job)? {
                return Ok(());
            }
            let (org, mut ids): (OrgId, Ids) = (own_job.org, ids);
            messages::remove(tx, org, own_job.subject.parse().unwrap_or(0))?;
            if let Some((iccid, msisdn)) = failed.clone() {
                let (organisation, at) = own(tx, org, ids.now)?;
                let event = Event::SmsFailed { iccid, msisdn, at };
                worker.tell(tx, &organisation, (ids.event(), at), &event)?;
            }
            store::jobs::done(tx, own_job.id)
        })
        .await?;
    Ok(Verdict::Settled)
}
