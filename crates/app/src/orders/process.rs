//! The job of a large order: hands over what was paid for, or gives everything back.

use domain::ledger::{Account, Kind};
use domain::order::{FAILED, Order, Status, completed_message};
use domain::{EventId, JobId, OrderId, Timestamp, limits};
use store::jobs::Job;
use store::{StoreError, Tx, assignments, esims, orders};

use crate::App;
use crate::credit;
use crate::jobs::Verdict;
use crate::organisations::own;

/// Everything that is made outside the transaction.
struct Draft {
    event: EventId,
    expiry_job: JobId,
    now: Timestamp,
}

/// The job.
pub(crate) async fn work(app: &App, job: &Job) -> Result<Verdict, StoreError> {
    let draft = Draft { event: app.event_id(), expiry_job: app.job_id(), now: app.now() };
    let (worker, own_job) = (app.clone(), job.clone());
    app.store().write(job.org, move |tx| worker.finish_order(tx, &own_job, &draft)).await?;
    Ok(Verdict::Settled)
}

impl App {
    fn finish_order(&self, tx: &mut Tx<'_>, job: &Job, draft: &Draft) -> Result<(), StoreError> {
        if !self.is_mine(tx, job)? {
            return Ok(());
        }
        store::jobs::done(tx, job.id)?;
        let Ok(id) = OrderId::parse(&job.subject) else { return Ok(()) };
        let Some(mut order) = orders::find_by_id(tx, job.org, id)? else { return Ok(()) };
        if order.status != Status::Processing {
            return Ok(());
        }
        let (organisation, clock) = own(tx, job.org, draft.now)?;
        let patience = i64::try_from(limits::ORDER_PROCESSING.as_millis()).unwrap_or(i64::MAX);
        if clock > order.created_at.plus_ms(patience) {
            fail(tx, &mut order, clock)?;
        } else {
            complete(tx, &mut order, clock, draft)?;
        }
        order.finished_at = Some(clock);
        orders::finish(tx, id, order.status, &order.status_message, clock)?;
        self.tell_order(tx, draft.event, &order, organisation.currency)
    }
}

fn complete(
    tx: &mut Tx<'_>,
    order: &mut Order,
    clock: Timestamp,
    draft: &Draft,
) -> Result<(), StoreError> {
    let items = orders::items(tx, order.id)?;
    let lots = App::stock_up(tx, order, &items, (draft.expiry_job, draft.now))?;
    let mut assigned = 0;
    for (lot, item) in lots.iter().zip(0_i64..) {
        assigned += assignments::ready(tx, order.id, item, *lot)?;
    }
    if order.total > 0 {
        let moved = [(Account::Held, -order.total), (Account::Sales, order.total)];
        credit::post(tx, clock, (Kind::OrderCompleted, &order.reference), &moved)?;
    }
    order.status = Status::Completed;
    let esims = usize::try_from(assigned).unwrap_or(usize::MAX);
    order.status_message = completed_message(order.target, esims);
    Ok(())
}

/// Gives everything back: the money to where it came from, the eSIMs to the stock.
fn fail(tx: &mut Tx<'_>, order: &mut Order, clock: Timestamp) -> Result<(), StoreError> {
    esims::take_back(tx, order.org, order.id)?;
    assignments::revoke(tx, order.id)?;
    if order.total > 0 {
        let back = credit::Back { test_credit: order.test_credit, spent_at: order.created_at };
        let mut moved = vec![(Account::Held, -order.total)];
        moved.extend(credit::returned(tx, order.total, back, clock)?);
        credit::post(tx, clock, (Kind::OrderFailed, &order.reference), &moved)?;
    }
    order.status = Status::Failed;
    FAILED.clone_into(&mut order.status_message);
    Ok(())
}
