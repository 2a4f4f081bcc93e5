//! Telling the network what an eSIM may do.

use std::future::Future;
use std::pin::Pin;

use crate::Iccid;

/// What the network allows an eSIM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing, for ever.
    Stopped,
    /// Nothing, until it is lifted.
    Suspended,
    /// To register, but no data: no bundle is on it.
    Idle,
    /// Data at full speed.
    Full,
    /// Data at so many kilobits per second.
    Throttled(i64),
}

impl Level {
    /// Its name.
    pub fn name(self) -> String {
        match self {
            Self::Stopped => "stopped".to_owned(),
            Self::Suspended => "suspended".to_owned(),
            Self::Idle => "idle".to_owned(),
            Self::Full => "full".to_owned(),
            Self::Throttled(kbps) => format!("throttled {kbps}"),
        }
    }
}

/// The network did not take it; telling it again is harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Away(pub String);

/// The answer, some time.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<(), Away>> + Send + 'a>>;

/// A network, or whoever stands for it.
pub trait Network: Send + Sync {
    /// Allows an eSIM so much from now on. Saying the same twice changes nothing.
    fn set<'a>(&'a self, iccid: &'a Iccid, level: Level) -> Answer<'a>;

    /// Forgets where it is, so that it registers again.
    fn cancel_location<'a>(&'a self, iccid: &'a Iccid) -> Answer<'a>;
}
