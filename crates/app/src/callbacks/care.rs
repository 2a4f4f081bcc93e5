//! Looking after callbacks: how an endpoint does, every attempt, sending again, pausing.

use domain::callback::State;
use domain::event::{Event, InUse};
use domain::organisation::Endpoint;
use domain::{EventId, Iccid, OrgId, Organisation, Timestamp, limits};
use store::deliveries::{self, Attempt, Delivery};
use store::{StoreError, Tx, lanes, organisations};

use super::Error;
use crate::audit::Act;
use crate::{Actor, App, Caller};

/// How the callbacks of an organisation do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Its endpoint.
    pub endpoint: Endpoint,
    /// Where it is, if there is one.
    pub url: Option<String>,
    /// How many wait, counted up to a bound.
    pub waiting: i64,
    /// How many were given up, counted up to a bound.
    pub dead: i64,
    /// Half of the newest were delivered within so many milliseconds; none were delivered yet.
    pub p50_ms: Option<i64>,
    /// The same for 99 of 100.
    pub p99_ms: Option<i64>,
}

/// What is to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// The delivery of one event, whatever became of it.
    One(i64),
    /// All that were given up.
    Dead,
    /// All of a time, by the organisation's clock, but those that wait anyway.
    Within(Timestamp, Timestamp),
}

impl App {
    /// How the callbacks of an organisation do.
    pub async fn callback_health(&self, org: OrgId) -> Result<Health, Error> {
        self.store()
            .read(move |tx| {
                let organisation =
                    organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
                Ok(health(tx, &organisation)?)
            })
            .await
    }

    /// Deliveries of an organisation, newest first, before that number.
    pub async fn deliveries(
        &self,
        org: OrgId,
        state: Option<State>,
        before: i64,
        most: i64,
    ) -> Result<Vec<Delivery>, Error> {
        self.store()
            .read(move |tx| {
                organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
                Ok(deliveries::page(tx, org, before, most, state)?)
            })
            .await
    }

    /// The delivery of an event, every attempt, and when the next one is due.
    pub async fn delivery(
        &self,
        org: OrgId,
        seq: i64,
    ) -> Result<(Delivery, Vec<Attempt>, Option<Timestamp>), Error> {
        self.store()
            .read(move |tx| {
                organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
                let found = deliveries::find(tx, org, seq)?;
                let (delivery, attempts) = found.ok_or(Error::UnknownDelivery)?;
                let due = match delivery.state {
                    State::Waiting => lanes::due(tx, org, &delivery.lane)?,
                    State::Delivered | State::Dead => None,
                };
                Ok((delivery, attempts, due))
            })
            .await
    }

    /// Sends deliveries again, each with a full set of attempts; says how many. Done in steps: what
    /// a step has done stays done.
    pub async fn send_again(&self, actor: Actor, org: OrgId, what: Again) -> Result<i64, Error> {
        if let Again::Within(from, to) = what
            && from >= to
        {
            return Err(Error::Window);
        }
        let (mut after, mut count) = (0, 0);
        loop {
            let act = self.act(actor, "callbacks.replay");
            let step = move |tx: &mut Tx<'_>| {
                let organisation =
                    organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
                check_open(&organisation)?;
                let step = chosen(tx, org, what, after)?;
                if !step.chosen.is_empty() {
                    act.note(tx, Some(org), org, &format!("{} deliveries", step.chosen.len()))?;
                    wait_again(tx, org, &step.chosen, act.at)?;
                }
                Ok::<_, Error>((step.chosen.len(), step.next))
            };
            let (done, next) = self.store().write(org, step).await?;
            count += i64::try_from(done).unwrap_or(0);
            self.outgoing().wake();
            match next {
                Some(next) => after = next,
                None => break,
            }
        }
        if count == 0 && matches!(what, Again::One(_)) {
            return Err(Error::UnknownDelivery);
        }
        Ok(count)
    }

    /// Lets the callbacks of an organisation wait, or go on.
    pub async fn pause_callbacks(&self, actor: Actor, org: OrgId, on: bool) -> Result<(), Error> {
        let name = if on { "callbacks.pause" } else { "callbacks.resume" };
        let act = self.act(actor, name);
        self.store()
            .write(org, move |tx| {
                organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
                organisations::pause(tx, org, on.then_some(act.at))?;
                act.note(tx, Some(org), org, "")?;
                Ok::<_, Error>(())
            })
            .await?;
        self.outgoing().wake();
        Ok(())
    }

    /// Sends the caller an event that only looks like one; says its id.
    pub async fn test_callback(&self, caller: &Caller) -> Result<EventId, Error> {
        Ok(self.tell_test(caller.org(), None).await?.0)
    }

    /// Somebody sends an organisation one; says its id and its number.
    pub async fn test_callback_of(
        &self,
        actor: Actor,
        org: OrgId,
    ) -> Result<(EventId, i64), Error> {
        self.tell_test(org, Some(self.act(actor, "callbacks.test"))).await
    }

    async fn tell_test(&self, org: OrgId, act: Option<Act>) -> Result<(EventId, i64), Error> {
        let (app, id, now) = (self.clone(), self.event_id(), self.now());
        let seq = self
            .store()
            .write(org, move |tx| {
                let organisation =
                    organisations::find(tx, org)?.ok_or(Error::UnknownOrganisation)?;
                check_open(&organisation)?;
                let clock = tx.head().map_or(now, |head| head.clock(now));
                if let Some(act) = &act {
                    act.note(tx, Some(org), id, "")?;
                }
                app.tell(tx, &organisation, (id, clock), &example(clock))?;
                Ok::<_, Error>(tx.head().map_or(0, |head| head.event_seq))
            })
            .await?;
        self.outgoing().wake();
        Ok((id, seq))
    }
}

/// How the callbacks of an organisation do.
pub(crate) fn health(tx: &mut Tx<'_>, organisation: &Organisation) -> Result<Health, StoreError> {
    let org = organisation.id;
    let (waiting, dead) = deliveries::counts(tx, org)?;
    let newest = deliveries::delays(tx, org, limits::DELAYS_OF)?;
    let mut delays: Vec<_> = newest.into_iter().map(|(_, delay)| delay).collect();
    delays.sort_unstable();
    let url = organisation.settings.callback_url.as_ref();
    Ok(Health {
        url: url.map(|url| url.as_str().to_owned()),
        endpoint: organisation.endpoint.clone(),
        waiting,
        dead,
        p50_ms: percentile(&delays, 50),
        p99_ms: percentile(&delays, 99),
    })
}

fn check_open(organisation: &Organisation) -> Result<(), Error> {
    if organisation.settings.callback_url.is_none() {
        return Err(Error::NoAddress);
    }
    if organisation.endpoint.off_at.is_some() { Err(Error::Off) } else { Ok(()) }
}

/// A piece of what is to be sent again, and where the next one begins.
struct Step {
    chosen: Vec<(i64, String)>,
    next: Option<i64>,
}

fn chosen(tx: &mut Tx<'_>, org: OrgId, what: Again, after: i64) -> Result<Step, StoreError> {
    let most = limits::DELIVERIES_PER_WRITE;
    let is_full = |found: usize| i64::try_from(found) == Ok(most);
    match what {
        Again::One(seq) => {
            let found = deliveries::find(tx, org, seq)?;
            let chosen = found.map(|(delivery, _)| (seq, delivery.lane)).into_iter().collect();
            Ok(Step { chosen, next: None })
        }
        Again::Dead => {
            let chosen = deliveries::dead(tx, org, after, most)?;
            let next = chosen.last().filter(|_| is_full(chosen.len())).map(|(seq, _)| *seq);
            Ok(Step { chosen, next })
        }
        Again::Within(from, to) => {
            let after = after.max(deliveries::before(tx, org, from)?);
            let page = deliveries::after(tx, org, after, most)?;
            // The clock of an organisation never goes back, nearly: records may be a little late.
            let is_over = page.last().is_some_and(|last| last.at >= to.plus(limits::RECORD_AHEAD));
            let next = page.last().filter(|_| is_full(page.len()) && !is_over).map(|last| last.seq);
            let fits = |one: &deliveries::Sent| {
                one.state != State::Waiting && one.at >= from && one.at < to
            };
            let chosen = page.into_iter().filter(fits).map(|one| (one.seq, one.lane)).collect();
            Ok(Step { chosen, next })
        }
    }
}

fn wait_again(
    tx: &mut Tx<'_>,
    org: OrgId,
    chosen: &[(i64, String)],
    now: Timestamp,
) -> Result<(), StoreError> {
    let seqs: Vec<_> = chosen.iter().map(|(seq, _)| *seq).collect();
    let mut names: Vec<_> = chosen.iter().map(|(_, lane)| lane.clone()).collect();
    names.sort();
    names.dedup();
    let clock = tx.head().map_or(now, |head| head.clock(now));
    deliveries::again(tx, org, &seqs)?;
    lanes::hurry(tx, org, &names, clock)
}

/// The highest of so many percent.
pub(super) fn percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let place = (sorted.len() * percent).div_ceil(100);
    sorted.get(place.saturating_sub(1)).copied()
}

/// What a receiver gets to try it out: a usage event of an eSIM and a bundle that nobody has.
fn example(at: Timestamp) -> Event {
    let started_at = Timestamp::from_ms(at.ms() / 1_000 * 1_000);
    Event::Test {
        iccid: Iccid::parse("8900000000000000006").expect("a number with its check digit"),
        bundle: InUse {
            id: 0,
            reference: "00000000-0000-4000-8000-000000000000-0".to_owned(),
            name: "esim_test".to_owned(),
            description: "Test event: nothing was used".to_owned(),
            initial: 1_000_000_000,
            remaining: 500_000_000,
            started_at: Some(started_at),
            ends_at: Some(started_at.plus_days(7)),
            is_unlimited: false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let hundred: Vec<i64> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 50), Some(50));
        assert_eq!(percentile(&hundred, 99), Some(99));
        assert_eq!(percentile(&[7], 50), Some(7));
        assert_eq!(percentile(&[7, 9], 99), Some(9));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn an_event_to_try_out_is_an_example() {
        let event = example(Timestamp::from_ms(1_700_000_000_123));
        assert_eq!((event.kind(), event.iccid()), ("Test", None));
    }
}
