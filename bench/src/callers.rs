//! Callers that wait: each sends its next piece of work as soon as the last is answered.

use std::future::Future;
use std::time::Duration;

use store::Rt;
use tokio::runtime::Runtime;

use crate::harness::{Sample, timed};

/// One round of `count` callers; counts what was answered.
pub(crate) fn round<F>(
    runtime: &Runtime,
    (count, time): (usize, Duration),
    work: impl Fn() -> F + Clone + Send + 'static,
) -> Sample
where
    F: Future<Output = ()> + Send,
{
    let rt = Rt::real();
    timed(|| {
        let callers = (0..count).map(|_| {
            let (rt, work) = (rt.clone(), work.clone());
            runtime.spawn(async move {
                let mut answered = 0_u64;
                while rt.monotonic() < time {
                    work().await;
                    answered += 1;
                }
                answered
            })
        });
        let callers: Vec<_> = callers.collect();
        runtime.block_on(async {
            let mut answered = 0;
            for caller in callers {
                answered += caller.await.expect("the caller ended");
            }
            answered
        })
    })
}

/// A runtime with a thread for each of the two cores.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}
