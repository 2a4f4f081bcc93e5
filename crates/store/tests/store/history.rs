//! What happened to eSIMs, and where they have been, on both databases.

use domain::esim::{Entry, EntryKind};
use domain::filter::Page;
use domain::{OrgId, Timestamp};
use store::{Store, StoreError, history};

use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::profiles::{LIVE, iccid, iccids, import, issue};

on_both! {
    a_history_reads_back_newest_first,
    a_history_is_its_owners_alone,
    a_long_history_is_paged,
    a_visit_is_told_once_until_the_next,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// An entry of the n-th kind, with and without a bundle and a percentage.
fn entry(n: usize) -> Entry {
    let number = i64::try_from(n).expect("small");
    let bundle = n.is_multiple_of(2).then(|| (format!("bundle {n}"), "active".to_owned()));
    Entry {
        at: at(1_000 - number),
        kind: EntryKind::ALL[n % EntryKind::ALL.len()],
        bundle,
        percent: n.is_multiple_of(3).then_some(number),
    }
}

async fn add(store: &Store, org: OrgId, entries: &[(u64, Entry)]) {
    let entries: Vec<_> = entries.iter().map(|(n, entry)| (iccid(*n), entry.clone())).collect();
    let added = store.write(org, move |tx| history::add(tx, org, &entries)).await;
    assert_eq!(added, Ok::<_, StoreError>(()));
}

async fn list(store: &Store, org: OrgId, n: u64, page: Option<Page>) -> (Vec<Entry>, i64) {
    let list = store.read(move |tx| history::list(tx, org, &iccid(n), page)).await;
    list.unwrap_or_else(|error: StoreError| panic!("{error}"))
}

async fn two_owners(store: &Store) -> (OrgId, OrgId) {
    let (org, other) = (new_org(store, 1).await, new_org(store, 2).await);
    import(store, LIVE, 1..=3).await;
    assert_eq!(issue(store, org, LIVE, 2).await, Ok(iccids([1, 2])));
    assert_eq!(issue(store, other, LIVE, 1).await, Ok(iccids([3])));
    (org, other)
}

async fn a_history_reads_back_newest_first(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, _) = two_owners(&store).await;
    assert_eq!(list(&store, org, 1, None).await, (vec![], 0));
    // Their times run backwards: the order is that of being added.
    let entries: Vec<_> = (0..26).map(entry).collect();
    add(&store, org, &[]).await;
    for part in [&entries[..1], &entries[1..20], &entries[20..]] {
        add(&store, org, &part.iter().map(|entry| (1, entry.clone())).collect::<Vec<_>>()).await;
    }
    let newest_first: Vec<_> = entries.into_iter().rev().collect();
    assert_eq!(list(&store, org, 1, None).await, (newest_first, 26));
}

async fn a_history_is_its_owners_alone(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = two_owners(&store).await;
    add(&store, org, &[(1, entry(0)), (2, entry(1)), (1, entry(2))]).await;
    // The same eSIM, as another organisation had it once.
    add(&store, other, &[(1, entry(3)), (3, entry(4))]).await;
    assert_eq!(list(&store, org, 1, None).await, (vec![entry(2), entry(0)], 2));
    assert_eq!(list(&store, org, 2, None).await, (vec![entry(1)], 1));
    assert_eq!(list(&store, org, 3, None).await, (vec![], 0));
    assert_eq!(list(&store, other, 1, None).await, (vec![entry(3)], 1));
    let refused: Result<(), StoreError> = store
        .write(org, move |tx| {
            history::add(tx, org, &[(iccid(1), entry(5))])?;
            assert_eq!(history::list(tx, org, &iccid(1), None)?.1, 3, "within the write");
            Err(StoreError::Busy)
        })
        .await;
    assert_eq!(refused, Err(StoreError::Busy));
    assert_eq!(list(&store, org, 1, None).await.1, 2);
}

async fn a_long_history_is_paged(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, _) = two_owners(&store).await;
    let entries: Vec<_> = (0..300).map(entry).collect();
    add(&store, org, &entries.iter().map(|entry| (1, entry.clone())).collect::<Vec<_>>()).await;
    let newest_first: Vec<_> = entries.into_iter().rev().collect();
    for size in [1, 7, 100, 299, 300, 301] {
        let pages = Page { number: 1, size }.count(300);
        for number in [1, 2, pages, pages + 1, i64::MAX] {
            let page = Page { number, size };
            let expected = (page.of(&newest_first).to_vec(), 300);
            assert_eq!(list(&store, org, 1, Some(page)).await, expected, "{page:?}");
        }
    }
    assert_eq!(list(&store, org, 1, None).await, (newest_first, 300), "all of it");
}

async fn a_visit_is_told_once_until_the_next(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = two_owners(&store).await;
    let visits = store.write(org, move |tx| {
        assert_eq!(history::visits(tx, org, &iccids([1, 2]))?, []);
        history::visit(tx, (org, &iccid(1)), "DE", at(5))?;
        assert_eq!(history::visits(tx, other, &iccids([1]))?, [], "another owner's");
        history::visit(tx, (org, &iccid(1)), "FR", at(6))?;
        history::visit(tx, (org, &iccid(2)), "DE", at(7))?;
        assert_eq!(history::visits(tx, org, &iccids([2]))?, [(iccid(2), "DE".into(), at(7))]);
        history::visit(tx, (org, &iccid(1)), "DE", at(9))?;
        assert_eq!(history::visits(tx, org, &[])?, []);
        // Among more than one statement asks for.
        let mut all = history::visits(tx, org, &iccids(1..=600))?;
        all.sort();
        Ok::<_, StoreError>(all)
    });
    let expected = [(1, "DE", 9), (1, "FR", 6), (2, "DE", 7)];
    let expected = expected.map(|(n, country, ms)| (iccid(n), country.to_owned(), at(ms)));
    assert_eq!(visits.await, Ok(expected.to_vec()));
}
