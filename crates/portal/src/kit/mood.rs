//! How things stand: a word, a shape and a colour. The colour is never alone, since not everyone
//! sees it and paper often has none.

use maud::{Markup, html};

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// As it should be.
    Good,
    /// Somebody should look at it.
    Warn,
    /// It failed, or is gone.
    Bad,
    /// Nothing to see: waiting, ended, switched off.
    Quiet,
    /// Under way.
    Busy,
}

impl Mood {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Quiet => "quiet",
            Self::Busy => "busy",
        }
    }

    /// Its shape: disc, triangle, crossed square, ring, half disc.
    pub(super) fn shape(self) -> Markup {
        html! {
            svg.shape viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" {
                @match self {
                    Self::Good => circle cx="6" cy="6" r="4" fill="currentColor" {},
                    Self::Warn => path d="M6 1.5 11 10.5H1z" fill="currentColor" {},
                    Self::Bad => path d="M2.5 2.5l7 7m0-7l-7 7" {},
                    Self::Quiet => circle cx="6" cy="6" r="3.5" {},
                    Self::Busy => {
                        circle cx="6" cy="6" r="3.5" {}
                        path d="M6 2.5a3.5 3.5 0 0 1 0 7z" fill="currentColor" {}
                    }
                }
            }
        }
    }
}
