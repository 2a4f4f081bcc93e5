//! The database goes away while large orders are worked on: they are late, and nothing worse.

use std::collections::BTreeSet;
use std::time::Duration;

use store::Rt;

use crate::harness::home::server;
use crate::harness::line::Line;
use crate::harness::{Home, wait};
use crate::money::{balance, events};
use crate::shop::{
    PROFILE, PT, buy, hold, iccids, listed, onto_new, open, reseller, stock, verify,
};

const ORDERS: usize = 16;
const EACH: i64 = 100;

/// An embedded database is never away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_orders_survive_a_database_that_goes_away() {
    let url = server("TERN_TEST_POSTGRES");
    let line = Line::to(&url).await;
    let all = i64::try_from(ORDERS).expect("small") * EACH;
    let home = Home::on_server(&line.redirected(&url)).await;
    let world = open(home, usize::try_from(all).expect("small") + 3).await;
    let org = reseller(&world, all * PT.price).await;
    hold(&world, &org, true).await;
    for _ in 0..ORDERS {
        buy(&world, &org, "/v2.5", &onto_new(&[(PT, EACH)])).await;
    }
    hold(&world, &org, false).await;
    // Away again and again, each time in the middle of the work.
    for step in 0..3 {
        Rt::real().sleep(Duration::from_millis(520 + 40 * step)).await;
        line.away(true);
        Rt::real().sleep(Duration::from_millis(300)).await;
        line.away(false);
    }
    wait::until("all are completed", Duration::from_secs(25), async || {
        let target = "/v2.5/orders?status=eq:completed&limit=100";
        let page = world.get(target, &org.key).await;
        (page.status == 200 && page.json()["rows"] == ORDERS).then_some(())
    })
    .await;
    let orders = listed(&world, &org, "?limit=100").await;
    let sold: Vec<_> = orders.iter().flat_map(iccids).collect();
    let distinct: BTreeSet<_> = sold.iter().collect();
    assert_eq!((sold.len(), i64::try_from(distinct.len())), (distinct.len(), Ok(all)));
    assert_eq!((balance(&world, &org).await, stock(&world, PROFILE).await), (0, 3));
    let told = events(&world, &org).await;
    let completed = told.iter().filter(|(kind, _)| kind == "order.completed").count();
    assert_eq!(completed, ORDERS, "each was told once");
    verify(&world);
}
