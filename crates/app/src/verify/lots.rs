//! Every unit of every lot is somewhere: bought + granted + returned = held + applied + refunded +
//! expired, and what was applied is on eSIMs.

use std::collections::HashMap;

use domain::inventory::{Lot, Move};
use domain::{OrgId, limits};
use store::lots::{self, Moved};
use store::{Store, StoreError};

/// Verifies the lots of an organisation, page by page, each page on one view of the data.
pub(super) async fn verify(
    store: &Store,
    org: OrgId,
    faults: &mut Vec<String>,
) -> Result<(), StoreError> {
    let mut after = 0;
    loop {
        let (page, moved, on_esims) = store
            .read(move |tx| {
                let page = lots::page(tx, org, after, limits::LEDGER_PAGE)?;
                let to = page.last().map_or(after, |lot| lot.id);
                let moved = lots::moved(tx, org, after, to)?;
                Ok::<_, StoreError>((page, moved, lots::on_esims(tx, org, after, to)?))
            })
            .await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.id;
        let on_esims: HashMap<_, _> = on_esims.into_iter().collect();
        for lot in &page {
            let of_lot: Vec<_> = moved.iter().filter(|moved| moved.lot == lot.id).collect();
            let assigned = on_esims.get(&lot.id).copied().unwrap_or(0);
            let wrong = |what| faults.push(format!("organisation {org}, lot {}: {what}", lot.id));
            verify_one(lot, &of_lot, assigned).into_iter().for_each(wrong);
        }
    }
}

fn verify_one(lot: &Lot, moved: &[&Moved], assigned: i64) -> Vec<String> {
    let mut faults = Vec::new();
    let sum = |kind: Move| {
        moved.iter().filter(|moved| moved.kind == kind.name()).map(|moved| moved.sum).sum::<i64>()
    };
    if moved.iter().any(|moved| Move::parse(&moved.kind).is_none() || moved.least <= 0) {
        faults.push("a move of an unknown kind, or of no units".to_owned());
    }
    let (inward, outward): (Vec<_>, Vec<_>) =
        Move::ALL.into_iter().partition(|kind| kind.is_inward());
    let (came, went): (i64, i64) =
        (inward.into_iter().map(sum).sum(), outward.into_iter().map(sum).sum());
    if came != went + lot.remaining {
        faults.push(format!("{came} units came, {went} went, {} are held", lot.remaining));
    }
    let checks = [
        (lot.total, sum(Move::Bought) + sum(Move::Granted), "bought or granted"),
        (lot.refunded, sum(Move::Refunded), "refunded"),
        (assigned, sum(Move::Applied), "applied"),
    ];
    for (kept, sum, what) in checks {
        if kept != sum {
            faults.push(format!("{kept} units {what}, the moves sum to {sum}"));
        }
    }
    if lot.remaining < 0 {
        faults.push("fewer than no units are held".to_owned());
    }
    faults
}

#[cfg(test)]
mod tests {
    use domain::{BundleName, Timestamp};

    use super::*;

    fn lot(total: i64, remaining: i64, refunded: i64) -> Lot {
        Lot {
            id: 1,
            bundle: BundleName::parse("a").expect("a name"),
            price: 5,
            test_credit: 0,
            total,
            remaining,
            refunded,
            bought_at: Timestamp::from_ms(0),
            expires_at: Timestamp::from_ms(1),
        }
    }

    fn moved(kind: Move, sum: i64) -> Moved {
        Moved { lot: 1, kind: kind.name().to_owned(), sum, least: sum }
    }

    #[test]
    fn a_lot_adds_up_or_says_what_does_not() {
        let moves = [moved(Move::Bought, 10), moved(Move::Applied, 3), moved(Move::Refunded, 2)];
        let moves: Vec<_> = moves.iter().collect();
        assert!(verify_one(&lot(10, 5, 2), &moves, 3).is_empty());
        assert_eq!(verify_one(&lot(10, 6, 2), &moves, 3), ["10 units came, 5 went, 6 are held"]);
        assert_eq!(
            verify_one(&lot(10, 5, 1), &moves, 2),
            ["1 units refunded, the moves sum to 2", "2 units applied, the moves sum to 3",]
        );
        assert_eq!(verify_one(&lot(11, 5, 2), &moves, 3).len(), 1);
    }
}
