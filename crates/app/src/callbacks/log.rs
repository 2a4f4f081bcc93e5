//! The log of deliveries as people read it: each with its last attempt, and how long they took.

use std::collections::HashMap;

use domain::callback::State;
use domain::{Iccid, OrgId, Timestamp, limits};
use store::StoreError;
use store::deliveries::{self, Attempt, Delivery};

use super::care::percentile;
use crate::App;
use crate::esims::open::Piece;

/// A delivery and the last attempt at it, if there was one.
#[derive(Debug, Clone)]
pub struct Logged {
    /// The delivery.
    pub delivery: Delivery,
    /// Its last attempt.
    pub last: Option<Attempt>,
}

/// How long deliveries took around some moment, in milliseconds from being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Took {
    /// The moment, by the real clock.
    pub at: Timestamp,
    /// Half of them took at most this.
    pub p50_ms: i64,
    /// 99 of 100 took at most this.
    pub p99_ms: i64,
}

impl App {
    /// Deliveries of an organisation, of one state or all, about one eSIM or all, newest first,
    /// before that number. About one eSIM so many are looked at and no more: nothing found is not
    /// the end while there is a next number.
    pub async fn delivery_log(
        &self,
        org: OrgId,
        (state, iccid): (Option<State>, Option<&Iccid>),
        before: Option<i64>,
        most: i64,
    ) -> Result<Piece<Logged>, StoreError> {
        let piece = match iccid {
            Some(iccid) => self.deliveries_about((org, iccid), state, before, most).await?,
            None => self.deliveries_of(org, state, before, most).await?,
        };
        let seqs: Vec<_> = piece.found.iter().map(|delivery| delivery.seq).collect();
        let last = self.store().read(move |tx| deliveries::last_attempts(tx, org, &seqs)).await?;
        let mut last: HashMap<_, _> = last.into_iter().map(|one| (one.seq, one)).collect();
        let logged = |delivery: Delivery| Logged { last: last.remove(&delivery.seq), delivery };
        Ok(Piece { found: piece.found.into_iter().map(logged).collect(), next: piece.next })
    }

    async fn deliveries_of(
        &self,
        org: OrgId,
        state: Option<State>,
        before: Option<i64>,
        most: i64,
    ) -> Result<Piece<Delivery>, StoreError> {
        let before = before.unwrap_or(i64::MAX);
        let found =
            self.store().read(move |tx| deliveries::page(tx, org, before, most, state)).await?;
        let is_full = i64::try_from(found.len()) == Ok(most);
        let next = found.last().filter(|_| is_full).map(|last| last.seq);
        Ok(Piece { found, next })
    }

    /// How long the newest deliveries of an organisation took, over their time, oldest first.
    pub async fn callback_times(&self, org: OrgId) -> Result<Vec<Took>, StoreError> {
        let delays =
            self.store().read(move |tx| deliveries::delays(tx, org, limits::DELAYS_OF)).await?;
        Ok(over_time(delays))
    }
}

/// Into how many pieces the time is cut.
const PIECES: i64 = 24;

fn over_time(newest_first: Vec<(Timestamp, i64)>) -> Vec<Took> {
    let (Some(last), Some(first)) = (newest_first.first(), newest_first.last()) else {
        return vec![];
    };
    let (start, span) = (first.0.ms(), (last.0.ms() - first.0.ms()).max(1));
    let piece_of = |at: Timestamp| ((at.ms() - start) * PIECES / span).min(PIECES - 1);
    let mut pieces: Vec<(i64, Timestamp, Vec<i64>)> = Vec::new();
    for (at, delay) in newest_first.into_iter().rev() {
        match pieces.last_mut() {
            Some((piece, until, delays)) if *piece == piece_of(at) => {
                *until = at;
                delays.push(delay);
            }
            _ => pieces.push((piece_of(at), at, vec![delay])),
        }
    }
    let took = |(_, at, mut delays): (i64, Timestamp, Vec<i64>)| {
        delays.sort_unstable();
        let of = |percent| percentile(&delays, percent).unwrap_or(0);
        Took { at, p50_ms: of(50), p99_ms: of(99) }
    };
    pieces.into_iter().map(took).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_cut_by_their_time() {
        let at = |ms| Timestamp::from_ms(ms);
        assert_eq!(over_time(vec![]), []);
        let one = Took { at: at(5), p50_ms: 7, p99_ms: 7 };
        assert_eq!(over_time(vec![(at(5), 7)]), [one]);
        let newest_first = vec![(at(2_400), 30), (at(10), 20), (at(0), 10)];
        let early = Took { at: at(10), p50_ms: 10, p99_ms: 20 };
        let late = Took { at: at(2_400), p50_ms: 30, p99_ms: 30 };
        assert_eq!(over_time(newest_first), [early, late]);
    }
}
