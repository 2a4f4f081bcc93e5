//! Many rows in one statement, the same on both databases.

use domain::OrgId;
use store::{Row, StoreError, Value, args};

use crate::fixture::{ADD, Fixture};
use crate::on_both;

on_both! {
    rows_of_every_number_are_written_once,
    only_what_is_new_is_returned,
    a_refused_row_undoes_all_of_them,
    a_list_of_every_length_is_found_once,
}

/// Around the largest statement, and beyond two of them.
const SIZES: [i64; 6] = [0, 1, 255, 256, 257, 700];

const NEW_ONLY: &str = "INSERT INTO things (id, n) VALUES ($1, $2) \
     ON CONFLICT (id) DO NOTHING RETURNING id";
const SUM: &str = "SELECT COUNT(*), SUM(n) FROM things WHERE t IS NULL";
const AMONG: &str = "SELECT id, n FROM things WHERE n < $1 AND id IN ({list}) ORDER BY id";

fn id(n: i64) -> String {
    format!("thing {n:04}")
}

fn rows(count: i64) -> Vec<Vec<Value>> {
    (0..count).map(|n| args![id(n), n].to_vec()).collect()
}

fn ids(rows: &[Row]) -> Result<Vec<String>, StoreError> {
    let mut ids: Vec<_> =
        rows.iter().map(|row| row.text(0).map(ToOwned::to_owned)).collect::<Result<_, _>>()?;
    ids.sort();
    Ok(ids)
}

async fn rows_of_every_number_are_written_once(fixture: Fixture) {
    let store = fixture.store().await;
    for size in SIZES {
        let written = store.write(OrgId::HOUSE, move |tx| {
            tx.exec("DELETE FROM things", &[])?;
            tx.later_rows(ADD, rows(size))?;
            let row = tx.one(SUM, &[])?;
            Ok::<_, StoreError>((row.int(0)?, row.int_or_none(1)?.unwrap_or(0)))
        });
        assert_eq!(written.await, Ok((size, size * (size - 1) / 2)), "{size} rows");
        let kept = store.read(|tx| tx.one(SUM, &[])?.int(0)).await;
        assert_eq!(kept, Ok::<_, StoreError>(size), "{size} rows, after the commit");
    }
}

async fn only_what_is_new_is_returned(fixture: Fixture) {
    let store = fixture.store().await;
    for size in SIZES {
        let returned = store.write(OrgId::HOUSE, move |tx| {
            tx.exec("DELETE FROM things", &[])?;
            let first = tx.all_rows(NEW_ONLY, rows(size))?;
            let again = tx.all_rows(NEW_ONLY, rows(size))?;
            let more = tx.all_rows(NEW_ONLY, rows(size + 3))?;
            Ok::<_, StoreError>((ids(&first)?, ids(&again)?, ids(&more)?))
        });
        let (first, again, more) = returned.await.expect("added");
        assert_eq!(first, (0..size).map(id).collect::<Vec<_>>(), "{size} rows");
        assert_eq!(again, [""; 0], "{size} rows, again");
        assert_eq!(more, (size..size + 3).map(id).collect::<Vec<_>>(), "{size} rows and three");
    }
}

/// The test's table takes no negative number; it comes in the second statement.
async fn a_refused_row_undoes_all_of_them(fixture: Fixture) {
    let store = fixture.store().await;
    let mut bad = rows(300);
    bad[299] = args![id(299), -1].to_vec();
    let refused = store.write(OrgId::HOUSE, move |tx| tx.all_rows(NEW_ONLY, bad.clone())).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    let left = store.read(|tx| tx.one(SUM, &[])?.int(0)).await;
    assert_eq!(left, Ok::<_, StoreError>(0));
}

async fn a_list_of_every_length_is_found_once(fixture: Fixture) {
    let store = fixture.store().await;
    let added = store.write(OrgId::HOUSE, |tx| tx.later_rows(ADD, rows(400))).await;
    assert_eq!(added, Ok(()));
    for length in [0, 1, 2, 3, 255, 256, 257, 300] {
        let found = store.read(move |tx| {
            let list: Vec<_> = (0..length).map(|n| Value::from(id(n))).collect();
            let found = ids(&tx.all_in(AMONG, args![1_000], &list)?)?;
            let low = ids(&tx.all_in(AMONG, args![2], &list)?)?;
            Ok::<_, StoreError>((found, low))
        });
        let all: Vec<_> = (0..length).map(id).collect();
        let low: Vec<_> = (0..length.min(2)).map(id).collect();
        assert_eq!(found.await, Ok((all, low)), "{length} values");
    }
    let unknown = store.read(|tx| {
        let list = args!["nothing", id(399), "nobody"].to_vec();
        ids(&tx.all_in(AMONG, args![1_000], &list)?)
    });
    assert_eq!(unknown.await, Ok(vec![id(399)]));
}
