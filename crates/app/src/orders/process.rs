//! The job of a large order or apply: hands over what it is about, or gives everything back.

use domain::inventory::Move;
use domain::ledger::{Account, Kind};
use domain::order::{FAILED, ItemKind, Order, Status, completed_message};
use domain::{Mode, OrderId, Timestamp, limits};
use store::jobs::Job;
use store::lots::Cause;
use store::{StoreError, Tx, assignments, orders, profiles};

use crate::App;
use crate::credit;
use crate::esims::Loaded;
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
            store::jobs::done(tx, own_job.id)?;
            let Ok(id) = OrderId::parse(&own_job.subject) else { return Ok(()) };
            worker.finish_order(tx, id, &mut ids.clone())
        })
        .await?;
    Ok(Verdict::Settled)
}

impl App {
    /// Ends an order that is processed; one that has ended stays as it is.
    pub(crate) fn finish_order(
        &self,
        tx: &mut Tx<'_>,
        id: OrderId,
        ids: &mut Ids,
    ) -> Result<(), StoreError> {
        let Some(org) = tx.org() else { return Ok(()) };
        let Some(mut order) = orders::find_by_id(tx, org, id)? else { return Ok(()) };
        if order.status != Status::Processing {
            return Ok(());
        }
        let (organisation, clock) = own(tx, org, ids.now)?;
        if clock > order.created_at.plus(limits::ORDER_PROCESSING) {
            fail(tx, &mut order, clock, ids)?;
            self.look_again(tx, (&order, organisation.mode), clock, ids)?;
        } else {
            self.complete(tx, (&mut order, organisation.mode), clock, ids)?;
        }
        order.finished_at = Some(clock);
        orders::finish(tx, id, order.status, &order.status_message, clock)?;
        if order.is_listed {
            self.tell_order(tx, ids.event(), &order, &organisation)?;
        }
        Ok(())
    }

    /// eSIMs that stay although their bundles of an order have ended may be idle now: somebody
    /// must look at them in time.
    fn look_again(
        &self,
        tx: &mut Tx<'_>,
        (order, mode): (&Order, Mode),
        clock: Timestamp,
        ids: &mut Ids,
    ) -> Result<(), StoreError> {
        let assigned = assignments::of_orders(tx, &[order.id])?;
        let mut iccids: Vec<_> = assigned.into_iter().map(|(_, one)| one.iccid).collect();
        iccids.sort();
        iccids.dedup();
        for mut loaded in Loaded::all(tx, order.org, &iccids)? {
            loaded.advance(clock);
            loaded.close(self, tx, mode, ids)?;
        }
        Ok(())
    }

    fn complete(
        &self,
        tx: &mut Tx<'_>,
        (order, mode): (&mut Order, Mode),
        clock: Timestamp,
        ids: &mut Ids,
    ) -> Result<(), StoreError> {
        let items = orders::items(tx, order.id)?;
        let mut assigned = 0;
        if items.iter().any(|item| item.kind == ItemKind::BundleAssignment) {
            assigned = assignments::ready_all(tx, order.id, clock)?;
        } else {
            let lots = App::stock_up(tx, order, &items, (ids.job(), ids.now))?;
            for (lot, item) in lots.iter().zip(0_i64..) {
                assigned += assignments::ready(tx, order.id, (item, *lot), clock)?;
            }
        }
        if order.total > 0 {
            let moved = [(Account::Held, -order.total), (Account::Sales, order.total)];
            credit::post(tx, clock, (Kind::OrderCompleted, &order.reference), &moved)?;
        }
        if assigned > 0 {
            let placed = assignments::placed(tx, order.id)?;
            self.settle_in(tx, (order.org, mode), &placed, ids)?;
        }
        order.status = Status::Completed;
        let esims = usize::try_from(assigned).unwrap_or(usize::MAX);
        order.status_message = completed_message(order.target, esims);
        Ok(())
    }
}

/// Gives everything back: the money to where it came from, what was taken from the inventory to its
/// lots, the eSIMs to the stock.
fn fail(
    tx: &mut Tx<'_>,
    order: &mut Order,
    clock: Timestamp,
    ids: &mut Ids,
) -> Result<(), StoreError> {
    profiles::take_back(tx, order.org, order.id)?;
    for (lot, units) in assignments::lots_of_order(tx, order.id)? {
        let cause = Cause { kind: Move::Returned, reference: &order.reference, at: clock };
        App::return_units(tx, (order.org, lot), units, (cause, ids))?;
    }
    assignments::revoke(tx, order.id, clock)?;
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
