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
    each(runtime, count, move |rt| {
        let work = work.clone();
        async move {
            let mut answered = 0_u64;
            while rt.monotonic() < time {
                work().await;
                answered += 1;
            }
            answered
        }
    })
}

/// One round of callers with something of their own, such as a connection. Each says how much was
/// answered; the clock they get starts with the round.
pub(crate) fn each<F>(runtime: &Runtime, count: usize, caller: impl Fn(Rt) -> F) -> Sample
where
    F: Future<Output = u64> + Send + 'static,
{
    let rt = Rt::real();
    timed(|| {
        let callers: Vec<_> = (0..count).map(|_| runtime.spawn(caller(rt.clone()))).collect();
        runtime.block_on(async {
            let mut answered = 0;
            for caller in callers {
                answered += caller.await.expect("the caller ended");
            }
            answered
        })
    })
}

/// Starts a time; what is returned waits for the rest of it.
pub(crate) fn pause_for(time: Duration) -> impl FnOnce() {
    let rt = Rt::real();
    move || {
        let left = time.saturating_sub(rt.monotonic());
        #[expect(clippy::disallowed_methods, reason = "a bench waits in real time")]
        std::thread::sleep(left);
    }
}

/// A runtime with a thread for each of the two cores.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}
