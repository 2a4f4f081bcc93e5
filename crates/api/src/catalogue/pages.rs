//! Answers about the catalogue, kept as they go out: thousands of callers ask the same few
//! questions, and the answers change only with the catalogue.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use app::catalogue::Catalogue;
use axum::response::Response;
use bytes::Bytes;
use domain::catalogue::Market;
use domain::limits;

use crate::json::written;
use crate::problem::Problem;
use crate::versions::Version;

/// The answers this node keeps.
#[derive(Default)]
pub(crate) struct Pages(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    epoch: i64,
    bytes: usize,
    pages: HashMap<Key, Bytes>,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    market: Market,
    version: Version,
    question: String,
}

impl Pages {
    /// The answer to a question, rendered if it is not kept.
    pub(crate) fn page(
        &self,
        catalogue: &Catalogue,
        (market, version): (&Market, Version),
        question: &str,
        render: impl FnOnce() -> Result<Vec<u8>, Problem>,
    ) -> Result<Response, Problem> {
        let key = Key { market: market.clone(), version, question: question.to_owned() };
        if let Some(page) = self.kept(catalogue.epoch(), &key) {
            return Ok(written(page));
        }
        let page = Bytes::from(render()?);
        self.keep(catalogue.epoch(), key, page.clone());
        Ok(written(page))
    }

    fn kept(&self, epoch: i64, key: &Key) -> Option<Bytes> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.pages.get(key).filter(|_| kept.epoch == epoch).cloned()
    }

    fn keep(&self, epoch: i64, key: Key, page: Bytes) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Forgetting everything is simple, rare, and costs one rendering each.
        if kept.epoch != epoch || kept.bytes + page.len() > limits::CATALOGUE_PAGES_BYTES_MAX {
            *kept = Kept { epoch, ..Kept::default() };
        }
        kept.bytes += page.len() + key.question.len();
        kept.pages.insert(key, page);
    }
}
