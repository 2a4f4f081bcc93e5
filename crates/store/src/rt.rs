//! The only door to threads, tasks, the clock and randomness.
//!
//! Everything that makes a run differ from the last one passes through [`Rt`]. A seeded `Rt` makes
//! a run repeatable: its clock moves only when told, its randomness follows from the seed, and a
//! [`Store`](crate::Store) opened inline with it starts no thread.

#![expect(clippy::disallowed_methods, reason = "this is the module the others are sent to")]

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use domain::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};

/// A handle to the outside of the program; cheap to clone.
#[derive(Clone)]
pub struct Rt(Arc<Kind>);

enum Kind {
    Real { random: SystemRandom, started: Instant },
    Seeded(Mutex<Seeded>),
}

struct Seeded {
    state: u64,
    elapsed: Duration,
    start: Timestamp,
}

impl Rt {
    /// The real thing: the machine's clock and its random source.
    pub fn real() -> Self {
        Self(Arc::new(Kind::Real { random: SystemRandom::new(), started: Instant::now() }))
    }

    /// A repeatable one. Its randomness is for tests only.
    pub fn seeded(seed: u64, start: Timestamp) -> Self {
        Self(Arc::new(Kind::Seeded(Mutex::new(Seeded {
            state: seed,
            elapsed: Duration::ZERO,
            start,
        }))))
    }

    /// Whether runs with it are repeatable.
    pub fn is_seeded(&self) -> bool {
        matches!(*self.0, Kind::Seeded(_))
    }

    /// The wall clock.
    pub fn now(&self) -> Timestamp {
        match &*self.0 {
            Kind::Real { .. } => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp::from_ms(whole_ms(since))
            }
            Kind::Seeded(seeded) => {
                let seeded = seeded.lock().unwrap_or_else(PoisonError::into_inner);
                seeded.start.plus_ms(whole_ms(seeded.elapsed))
            }
        }
    }

    /// Time since this `Rt` was made; never goes back, whatever the wall clock does.
    pub fn monotonic(&self) -> Duration {
        match &*self.0 {
            Kind::Real { started, .. } => started.elapsed(),
            Kind::Seeded(seeded) => seeded.lock().unwrap_or_else(PoisonError::into_inner).elapsed,
        }
    }

    /// Moves a seeded clock; a real one ignores it.
    pub fn advance(&self, by: Duration) {
        if let Kind::Seeded(seeded) = &*self.0 {
            seeded.lock().unwrap_or_else(PoisonError::into_inner).elapsed += by;
        }
    }

    /// Random bytes, fit for secrets when real.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        match &*self.0 {
            Kind::Real { random, .. } => {
                random.fill(&mut bytes).expect("the operating system gives randomness");
            }
            Kind::Seeded(seeded) => {
                let mut seeded = seeded.lock().unwrap_or_else(PoisonError::into_inner);
                for chunk in bytes.chunks_mut(8) {
                    let word = split_mix(&mut seeded.state).to_le_bytes();
                    chunk.copy_from_slice(&word[..chunk.len()]);
                }
            }
        }
        bytes
    }

    /// Starts a named thread that the process cannot do without: if it panics, the process ends,
    /// since a service that has lost its writer must be restarted, not limp.
    pub fn vital_thread(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Thread {
        struct EndsTheProcess(String);
        impl Drop for EndsTheProcess {
            fn drop(&mut self) {
                if thread::panicking() {
                    tracing::error!(thread = self.0, "a vital thread died; the process ends");
                    std::process::abort();
                }
            }
        }
        let guard = EndsTheProcess(name.to_owned());
        let handle = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _guard = guard;
                run();
            })
            .expect("the operating system gives a thread");
        Thread(handle)
    }

    /// Starts a task on the current runtime.
    pub fn task<F>(&self, run: F) -> tokio::task::JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        tokio::spawn(run)
    }

    /// Runs what takes a processor for long, away from the threads that answer.
    pub async fn blocking<T: Send + 'static>(&self, run: impl FnOnce() -> T + Send + 'static) -> T {
        match &*self.0 {
            Kind::Real { .. } => match tokio::task::spawn_blocking(run).await {
                Ok(done) => done,
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            Kind::Seeded(_) => run(),
        }
    }

    /// Waits; a seeded `Rt` moves its clock instead.
    pub async fn sleep(&self, time: Duration) {
        match &*self.0 {
            Kind::Real { .. } => tokio::time::sleep(time).await,
            Kind::Seeded(_) => self.advance(time),
        }
    }

    /// Waits in a thread of our own, between two tries to reach something.
    pub(crate) fn pause(&self, time: Duration) {
        match &*self.0 {
            Kind::Real { .. } => thread::sleep(time),
            Kind::Seeded(_) => self.advance(time),
        }
    }
}

/// Waits in a thread of our own, where there is no `Rt` at hand.
pub(crate) fn rest(time: Duration) {
    thread::sleep(time);
}

/// Runs `work` on another thread and waits for it.
pub(crate) fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let outcome = thread::scope(|scope| scope.spawn(work).join());
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A thread that can be waited for.
pub struct Thread(thread::JoinHandle<()>);

impl Thread {
    /// Waits until it has ended.
    pub fn join(self) {
        // A panic has ended the process already.
        let _ended = self.0.join();
    }
}

fn whole_ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// SplitMix64: small, well spread, and the same everywhere.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself() {
        let one = Rt::seeded(7, Timestamp::from_ms(1_000));
        let two = Rt::seeded(7, Timestamp::from_ms(1_000));
        assert_eq!(one.random::<20>(), two.random::<20>());
        assert_ne!(one.random::<20>(), Rt::seeded(8, Timestamp::from_ms(0)).random::<20>());
        one.advance(Duration::from_secs(2));
        assert_eq!(one.now().ms(), 3_000);
        assert_eq!(two.now().ms(), 1_000);
    }

    #[test]
    fn real_randomness_does_not_repeat() {
        assert_ne!(Rt::real().random::<16>(), Rt::real().random::<16>());
    }
}
