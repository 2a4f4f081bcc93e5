//! Waiting for something to become so, within a bound.

use std::time::Duration;

use store::Rt;

const STEP: Duration = Duration::from_millis(10);

/// Looks again and again until there is a result. Not in time is a failure that says what of.
pub(crate) async fn until<T>(
    what: &str,
    at_most: Duration,
    mut look: impl AsyncFnMut() -> Option<T>,
) -> T {
    let rt = Rt::real();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(rt.monotonic() < at_most, "not within {at_most:?}: {what}");
        rt.sleep(STEP).await;
    }
}

/// Runs work that must end in time.
pub(crate) async fn within<T>(what: &str, at_most: Duration, work: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(at_most, work).await;
    ended.unwrap_or_else(|_| panic!("not within {at_most:?}: {what}"))
}

/// Runs work and says how long it took.
pub(crate) async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let rt = Rt::real();
    let result = work.await;
    (result, rt.monotonic())
}
