//! The store on both databases, from one list of tests.

mod assignments;
mod commerce;
mod conformance;
mod deliveries;
mod esims;
mod faults;
mod fixture;
mod groups;
mod history;
mod lanes;
mod lines;
mod lots;
mod messages;
mod money;
mod orders;
mod people;
mod plans;
mod portal;
mod profiles;
mod records;
mod rows;
mod sandbox;
mod schema;
mod statements;
mod tables;
mod usage;

/// Makes a module per database out of one list. A test that is written and not listed is dead code,
/// and dead code is an error.
#[macro_export]
macro_rules! on_both {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::fixture::Fixture::sqlite()).await;
            }
        )*}
        mod on_postgres {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::fixture::Fixture::postgres().await).await;
            }
        )*}
    };
}
