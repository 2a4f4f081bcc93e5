//! eSIMs as a person looks for them: by what is remembered of a number, a note or an order; and one
//! with everything on it.

use std::collections::HashMap;

use domain::esim::{Esim, ProfileStatus};
use domain::{Iccid, OrgId, Timestamp, limits};
use store::assignments::{self, Stored};
pub use store::esims::Way;
use store::esims::{Effort, Looked, Piece};
use store::{StoreError, Tx, esims, heads, orders};

use super::{OnEsim, as_it_is};
use crate::{App, Caller};

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// A number or a note, or a piece of one; the reference of an order; empty = all.
    pub text: String,
    /// Only those of this status.
    pub status: Option<ProfileStatus>,
    /// From where on.
    pub way: Way,
    /// How many at most.
    pub most: i64,
}

/// An eSIM and what is and was on it, newest first.
#[derive(Debug, Clone)]
pub struct One {
    /// The eSIM.
    pub esim: Esim,
    /// What is on it, as it is now.
    pub bundles: Vec<OnEsim>,
    /// Now, by the organisation's clock.
    pub clock: Timestamp,
}

/// A page of what was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The highest number first.
    pub esims: Vec<One>,
    /// Where the page before begins.
    pub previous: Option<Way>,
    /// Where the page after begins.
    pub next: Option<Way>,
    /// Whether the look ended before the page was full, and goes on from `next`.
    pub is_cut: bool,
    /// Now, by the organisation's clock.
    pub clock: Timestamp,
}

impl App {
    /// The caller's eSIMs that fit, the highest number first. Looks at so many at most: nothing
    /// found is not the end while there is a next page.
    pub async fn look_for_esims(
        &self,
        caller: &Caller,
        wanted: Wanted,
    ) -> Result<Found, StoreError> {
        let (org, now) = (caller.org(), self.now());
        self.store()
            .read(move |tx| {
                let clock = heads::find(tx, org)?.map_or(now, |head| head.clock(now));
                let found = match of_order(tx, org, &wanted)? {
                    Some(page) => page,
                    None => by_number(tx, org, &wanted)?,
                };
                loaded(tx, org, found, clock)
            })
            .await
    }

    /// One of the caller's eSIMs with everything on it.
    pub async fn look_at_esim(
        &self,
        caller: &Caller,
        iccid: &Iccid,
    ) -> Result<Option<One>, StoreError> {
        let (org, now, iccid) = (caller.org(), self.now(), iccid.clone());
        self.store()
            .read(move |tx| {
                let Some(esim) = esims::find(tx, org, &iccid)? else { return Ok(None) };
                let clock = heads::find(tx, org)?.map_or(now, |head| head.clock(now));
                let stored = assignments::of_esims(tx, org, std::slice::from_ref(&iccid))?;
                Ok(Some(One { esim, bundles: as_it_is(stored, clock), clock }))
            })
            .await
    }
}

/// A page before what is on the eSIMs is known.
struct Page {
    esims: Vec<Esim>,
    previous: Option<Way>,
    next: Option<Way>,
    is_cut: bool,
}

fn by_number(tx: &mut Tx<'_>, org: OrgId, wanted: &Wanted) -> Result<Page, StoreError> {
    let looked = Looked { status: wanted.status, piece: piece(&wanted.text) };
    // One more than wanted tells whether there is another page.
    let effort = Effort { most: wanted.most + 1, looked_at: limits::ESIMS_LOOKED_AT };
    let (mut found, reached) = esims::look(tx, org, &looked, &wanted.way, effort)?;
    let size = usize::try_from(wanted.most).unwrap_or(usize::MAX);
    let is_more = found.len() > size;
    found.truncate(size);
    let is_cut = !is_more && reached.is_some();
    let last = found.last().map(|esim| esim.iccid.to_string());
    let onward = if is_more { last } else { reached };
    let first = found.first().map(|esim| esim.iccid.to_string());
    let (previous, next) = match &wanted.way {
        Way::Top => (None, onward.map(Way::Below)),
        Way::Below(from) => {
            (Some(Way::Above(first.unwrap_or_else(|| from.clone()))), onward.map(Way::Below))
        }
        Way::Above(from) => {
            found.reverse();
            (onward.map(Way::Above), Some(Way::Below(first.unwrap_or_else(|| from.clone()))))
        }
    };
    if wanted.way == Way::Top && !wanted.text.is_empty() {
        // A whole note is found by its index, however far down its eSIM is.
        let known: Vec<_> = found.iter().map(|esim| esim.iccid.clone()).collect();
        let noted = esims::by_note(tx, org, &wanted.text, wanted.most)?;
        let fits = |esim: &Esim| wanted.status.is_none_or(|status| esim.status == status);
        let noted = noted.into_iter().filter(|esim| fits(esim) && !known.contains(&esim.iccid));
        found.splice(0..0, noted);
    }
    Ok(Page { esims: found, previous, next, is_cut })
}

/// The text as it may stand in a number, which people write in groups, and in a note.
fn piece(text: &str) -> Piece {
    let digits: String = text.chars().filter(|c| !matches!(c, ' ' | '-' | '\u{a0}')).collect();
    let is_number = digits.bytes().all(|b| b.is_ascii_digit());
    Piece { digits: if is_number { digits } else { String::new() }, text: text.to_lowercase() }
}

/// The eSIMs of an order in its own order, if the text is the reference of one.
fn of_order(tx: &mut Tx<'_>, org: OrgId, wanted: &Wanted) -> Result<Option<Page>, StoreError> {
    let Some(order) = orders::find(tx, org, &wanted.text)? else { return Ok(None) };
    let from = match &wanted.way {
        Way::Below(n) => n.parse().unwrap_or(0),
        Way::Top | Way::Above(_) => 0,
    };
    let assigned = assignments::page_of_order(tx, order.id, from, wanted.most)?;
    let is_full = i64::try_from(assigned.len()) == Ok(wanted.most);
    let next = assigned.last().filter(|_| is_full).map(|last| Way::Below((last.n + 1).to_string()));
    let mut iccids: Vec<_> = assigned.into_iter().map(|one| one.iccid).collect();
    iccids.sort();
    iccids.dedup();
    let mut found = esims::of_org(tx, org, &iccids)?;
    found.retain(|esim| wanted.status.is_none_or(|status| esim.status == status));
    found.sort_by(|a, b| b.iccid.cmp(&a.iccid));
    let previous = (from > 0).then(|| match from - wanted.most {
        before @ 1.. => Way::Below(before.to_string()),
        _ => Way::Top,
    });
    Ok(Some(Page { esims: found, previous, next, is_cut: false }))
}

fn loaded(tx: &mut Tx<'_>, org: OrgId, page: Page, clock: Timestamp) -> Result<Found, StoreError> {
    let Page { esims, previous, next, is_cut } = page;
    let iccids: Vec<_> = esims.iter().map(|esim| esim.iccid.clone()).collect();
    let mut on: HashMap<Iccid, Vec<Stored>> = HashMap::new();
    for stored in assignments::of_esims(tx, org, &iccids)? {
        on.entry(stored.iccid.clone()).or_default().push(stored);
    }
    let one = |esim: Esim| {
        let stored = on.remove(&esim.iccid).unwrap_or_default();
        One { esim, bundles: as_it_is(stored, clock), clock }
    };
    Ok(Found { esims: esims.into_iter().map(one).collect(), previous, next, is_cut, clock })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_as_people_write_them() {
        assert_eq!(piece("8943 0010-0000").digits, "894300100000");
        assert_eq!(piece("Ada 12").digits, "");
        assert_eq!(piece("Ada 12").text, "ada 12");
        let nothing = piece("");
        assert!(nothing.digits.is_empty() && nothing.text.is_empty());
    }
}
