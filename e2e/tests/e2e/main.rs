//! Stories through HTTP and the command line, on both databases from one list.

mod account;
mod apply;
mod apply_bad;
mod apply_crash;
mod apply_races;
mod audit;
mod away;
mod bad_bodies;
mod bad_requests;
mod browser_docs;
mod browser_self;
mod callbacks;
mod callbacks_crash;
mod callbacks_events;
mod callbacks_forms;
mod callbacks_lists;
mod callbacks_order;
mod callbacks_places;
mod callbacks_retries;
mod catalogue;
mod catalogue_cli;
mod catalogue_faults;
mod catalogue_import;
mod catalogue_lists;
mod catalogue_markets;
mod clock;
mod commands;
mod demo;
mod desk;
mod doctor;
mod downloads;
mod esims;
mod esims_care;
mod esims_keys;
mod esims_shapes;
mod esims_sms;
mod failures;
mod feed_usage;
mod harness;
mod inventory;
mod keys;
mod life;
mod life_bundles;
mod life_esims;
mod logs;
mod metrics;
mod money;
mod money_books;
mod money_bounds;
mod money_cards;
mod money_crash;
mod money_credit;
mod money_jobs;
mod money_keys;
mod operator;
mod orders;
mod orders_away;
mod orders_bad;
mod orders_crash;
mod orders_keys;
mod orders_large;
mod orders_lists;
mod orders_money;
mod orders_races;
mod orders_shapes;
mod phone;
mod pictures;
mod portal;
mod portal_buying;
mod portal_developers;
mod portal_door;
mod portal_hostile;
mod portal_pages;
mod portal_share;
mod portal_window;
mod rates;
mod receipts;
mod refunds;
mod revoke;
mod routes;
mod sandbox_faults;
mod sealed;
mod shop;
mod simulate;
mod slow;
mod stock;
mod stock_cli;
mod strangers;
mod terms;
mod tls;
mod usage_cli;
mod usage_series;

/// Makes a module per database out of one list. A test that is written and not listed is dead code,
/// and dead code is an error.
#[macro_export]
macro_rules! on_both {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::harness::Home::sqlite()).await;
            }
        )*}
        mod on_postgres {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::harness::Home::postgres().await).await;
            }
        )*}
    };
}
