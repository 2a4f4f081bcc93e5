//! Every eSIM of an organisation is counted, and what is on it makes sense: at most one bundle in
//! use, none that ended before it began, none of which more was used than there was.

use domain::assignment::{Assignment, State};
use domain::{OrgId, limits};
use store::assignments::{self, Stored};
use store::{Store, StoreError, esims, heads};

/// Verifies the eSIMs of an organisation, page by page, each page on one view of the data.
pub(super) async fn verify(
    store: &Store,
    org: OrgId,
    faults: &mut Vec<String>,
) -> Result<(), StoreError> {
    let mut after = String::new();
    loop {
        let from = after.clone();
        let (page, bundles) = store
            .read(move |tx| {
                let page = esims::iccids(tx, org, &from, limits::LEDGER_PAGE)?;
                let bundles = assignments::of_esims(tx, org, &page)?;
                Ok::<_, StoreError>((page, bundles))
            })
            .await?;
        let Some(last) = page.last() else { break };
        after = last.to_string();
        let wrong = |(iccid, what): (String, String)| {
            faults.push(format!("organisation {org}, eSIM {iccid}: {what}"));
        };
        verify_page(&bundles).into_iter().for_each(wrong);
    }
    let (kept, there) = store
        .read(move |tx| {
            let kept = heads::find(tx, org)?.map_or(0, |head| head.esims);
            Ok::<_, StoreError>((kept, esims::count(tx, org)?))
        })
        .await?;
    if kept != there {
        faults.push(format!("organisation {org}, head: counts {kept} eSIMs, there are {there}"));
    }
    Ok(())
}

fn verify_page(bundles: &[Stored]) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    for one in bundles {
        let Some(what) = fault(&one.assignment) else { continue };
        faults.push((one.iccid.to_string(), format!("assignment {}: {what}", one.assignment.id)));
    }
    let active = |one: &&Stored| one.assignment.state == State::Active;
    let mut in_use: Vec<_> = bundles.iter().filter(active).map(|one| one.iccid.as_str()).collect();
    in_use.sort_unstable();
    for pair in in_use.windows(2).filter(|pair| pair[0] == pair[1]) {
        faults.push((pair[0].to_owned(), "two bundles are in use at a time".to_owned()));
    }
    faults
}

fn fault(one: &Assignment) -> Option<&'static str> {
    let has_started = one.started_at.is_some() && one.ends_at > one.started_at;
    match one.state {
        State::Active | State::Depleted | State::Expired if !has_started => {
            return Some("it was used before it began");
        }
        State::Processing | State::Queued | State::Lapsed if one.started_at.is_some() => {
            return Some("it waits although it began");
        }
        _ => {}
    }
    let is_early = one.ended_at.is_some_and(|end| Some(end) < one.started_at);
    if one.state.is_finished() != one.ended_at.is_some() || is_early {
        return Some("its end does not fit its state");
    }
    let beyond = !one.terms.data.is_unlimited() && one.used > one.initial_bytes();
    (one.used < 0 || beyond).then_some("more of it was used than there was")
}
