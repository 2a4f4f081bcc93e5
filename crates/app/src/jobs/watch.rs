//! Nodes watch one another: each says that it lives, and does the work of those that have died.

use std::sync::PoisonError;

use domain::{OrgId, limits};
use store::{StoreError, jobs};

use crate::App;

impl App {
    /// Says that this node lives, and takes over the work of nodes that have fallen silent. Judged
    /// by our own clock, so that no two machines' clocks need agree.
    pub async fn keep_watch(self) {
        let mut beat = 0;
        loop {
            beat += 1;
            if let Err(error) = self.watch_once(beat).await {
                tracing::debug!(error = %error, "no heartbeat this time");
            }
            self.rt().sleep(limits::HEARTBEAT).await;
        }
    }

    async fn watch_once(&self, beat: i64) -> Result<(), StoreError> {
        let me = self.work().incarnation.clone();
        let now = self.rt().monotonic();
        let beats = self
            .store()
            .write(OrgId::HOUSE, move |tx| {
                jobs::beat(tx, &me, beat)?;
                jobs::beats(tx)
            })
            .await?;
        let silent: Vec<(String, i64)> = {
            let mut heard = self.work().heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.retain(|node, _| beats.iter().any(|(name, _)| name == node));
            // While we could not listen ourselves, nobody's silence counts.
            let listened = heard.get(&self.work().incarnation).map_or(now, |(_, at)| *at);
            if now.saturating_sub(listened) > limits::NODE_SILENCE / 2 {
                heard.clear();
            }
            beats
                .into_iter()
                .filter(|(node, beat)| {
                    let known = heard.entry(node.clone()).or_insert((*beat, now));
                    if known.0 != *beat {
                        *known = (*beat, now);
                    }
                    now.saturating_sub(known.1) > limits::NODE_SILENCE
                })
                .filter(|(node, _)| *node != self.work().incarnation)
                .collect()
        };
        for (node, beat) in silent {
            let buried =
                self.store().write(OrgId::HOUSE, move |tx| jobs::bury(tx, &node, beat)).await?;
            if buried {
                tracing::warn!("took over the work of a node that fell silent");
                self.work().wake();
            }
        }
        Ok(())
    }
}
