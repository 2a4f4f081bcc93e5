//! A receiver of callbacks that notes what it is sent, and fails as it is told to.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use app::Store;
use domain::ports::callbacks::{Answer, Callback, Receivers, Reply};

use store::sql::Crash;

use crate::dice::Dice;

/// How it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mood {
    /// It takes everything.
    #[default]
    Well,
    /// It fails half of the time.
    Moody,
    /// It takes nothing.
    Down,
}

/// What it was sent once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The id of the event.
    pub(crate) id: String,
    pub(crate) body: String,
    pub(crate) is_signed: bool,
    /// Whether it has kept it; it may say otherwise.
    pub(crate) is_kept: bool,
}

pub(crate) struct Receiver(Mutex<Inner>);

struct Inner {
    dice: Dice,
    mood: Mood,
    sent: Vec<Sent>,
    death: Option<(Crash, Store)>,
}

impl Receiver {
    pub(crate) fn new(seed: u64) -> Self {
        let dice = Dice::new(seed.rotate_left(32));
        Self(Mutex::new(Inner { dice, mood: Mood::default(), sent: Vec::new(), death: None }))
    }

    pub(crate) fn be(&self, mood: Mood) {
        self.lock().mood = mood;
    }

    /// The commit that follows the next callback ends the process.
    pub(crate) fn die_when_sent(&self, death: Option<(Crash, Store)>) {
        self.lock().death = death;
    }

    /// Everything, in the order it came.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.lock().sent.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receivers for Receiver {
    fn send<'a>(&'a self, callback: &'a Callback) -> Answer<'a> {
        let mut inner = self.lock();
        let reply = inner.reply();
        if let Some((crash, store)) = inner.death.take() {
            store.crash_at_next_commit(crash);
        }
        // An answer that never came may be that of a receiver that has it all the same.
        let is_unheard = matches!(reply, Reply::Failed(_)) && inner.mood == Mood::Moody;
        let is_kept = is_taken(&reply) || is_unheard;
        let Callback { id, body, signers, .. } = callback.clone();
        inner.sent.push(Sent { id, body, is_signed: signers.is_some(), is_kept });
        Box::pin(std::future::ready(reply))
    }
}

fn is_taken(reply: &Reply) -> bool {
    matches!(reply, Reply::Answered { status: 200..300, .. })
}

impl Inner {
    fn reply(&self) -> Reply {
        let said = |status| Reply::Answered { status, retry_after: None, start: "said".to_owned() };
        match (self.mood, self.dice.below(8)) {
            (Mood::Well, _) | (Mood::Moody, 0..=3) => said(*self.dice.pick(&[200, 204])),
            (_, 4 | 5) => Reply::Failed("it did not answer".to_owned()),
            (_, 6) => {
                let wait = Duration::from_secs(self.dice.below(900).unsigned_abs());
                let start = String::new();
                Reply::Answered { status: 429, retry_after: Some(wait), start }
            }
            _ => said(*self.dice.pick(&[500, 503, 404, 301])),
        }
    }
}
