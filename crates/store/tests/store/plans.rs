//! How SQLite finds what the statements of trade ask for: by an index, never by reading a table
//! that grows from end to end.

use store::{Store, StoreError, Value};

use crate::fixture::Fixture;
use crate::statements::{next_parameter, statement, statements};

/// Tables that grow with the trade.
const GROWING: [&str; 8] =
    ["orders", "order_items", "esims", "lots", "lot_moves", "assignments", "prices", "jobs"];

/// Those that mean to read everything, and when.
const WHOLE: [&str; 6] = [
    "catalogue.rs: PRICES", // when the catalogue has changed
    "esims.rs: FREE",       // the operator's overview; along the index of what is free
    "jobs.rs: ALL",         // a page by id, for verification
    "jobs.rs: FAILED",      // along the index of what was given up
    "jobs.rs: RELEASE_ALL", // once, at the start
    "jobs.rs: CLAIM",       // along the index of what is due
];

/// One line per step of the plan.
async fn plan(store: &Store, sql: &str) -> Vec<String> {
    let sql = format!("EXPLAIN QUERY PLAN {sql}");
    let count = next_parameter(&sql) - 1;
    let steps = store.read(move |tx| {
        // Values of either kind will do: without statistics a plan does not look at them.
        let rows = tx.all(&sql, &vec![Value::Null; count])?;
        rows.iter().map(|row| row.text(3).map(ToOwned::to_owned)).collect::<Result<Vec<_>, _>>()
    });
    steps.await.unwrap_or_else(|error: StoreError| panic!("{error}"))
}

/// The step that looks into a table.
fn step<'p>(plan: &'p [String], table: &str) -> &'p str {
    let named = |step: &&String| step.split(' ').nth(1) == Some(table);
    plan.iter().find(named).unwrap_or_else(|| panic!("no {table} in {plan:?}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_busy_statements_use_their_indexes() {
    let fixture = Fixture::sqlite();
    let store = fixture.store().await;
    // As `Select` puts them together.
    let processing = "FROM orders WHERE org_id = $1 AND status = 'processing'";
    let page = format!("SELECT id {processing} ORDER BY seq DESC LIMIT $2 OFFSET $3");
    let by_time = "SELECT id FROM orders WHERE org_id = $1 AND created_at >= $2 \
                   ORDER BY created_at DESC, seq DESC LIMIT $3 OFFSET $4";
    for (what, sql, table, index) in [
        ("a page", statement("orders.rs", "NEWEST"), "orders", "orders_of_org (org_id=? AND seq>?"),
        ("what is processed", page, "orders", "orders_processing (org_id=?)"),
        ("how many are", format!("SELECT COUNT(*) {processing}"), "orders", "orders_processing"),
        ("orders by time", by_time.into(), "orders", "orders_by_time (org_id=? AND created_at>?)"),
        ("held", statement("lots.rs", "HELD"), "lots", "(org_id=?"),
        ("expired", statement("lots.rs", "EXPIRED"), "lots", "lots_expiring (org_id=? AND exp"),
        ("the next expiry", statement("lots.rs", "NEXT_EXPIRY"), "lots", "lots_expiring (org_id=?"),
        ("an offer", statement("catalogue.rs", "OFFER"), "p", "prices_1 (bundle=? AND currency=?"),
        ("its bundle", statement("catalogue.rs", "OFFER"), "b", "bundles_1 (name=?)"),
        ("enough", statement("esims.rs", "ENOUGH"), "esims", "esims_free (mode=? AND profile_n"),
    ] {
        let plan = plan(&store, &sql).await;
        let step = step(&plan, table);
        assert!(step.starts_with("SEARCH ") && step.contains(index), "{what}: {plan:?}");
        let sorted = plan.iter().any(|step| step.contains("TEMP B-TREE"));
        assert!(!sorted || what == "held", "{what}: {plan:?}");
    }
    let issue = plan(&store, &statement("esims.rs", "ISSUE")).await;
    let free = "SEARCH esims USING INDEX esims_free (mode=? AND profile_name=?)";
    assert!(issue.iter().any(|step| step == free), "{issue:?}");
    assert!(!issue.iter().any(|step| step.contains("ORDER BY")), "{issue:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_statement_reads_a_growing_table_from_end_to_end() {
    let fixture = Fixture::sqlite();
    let store = fixture.store().await;
    let files = ["catalogue", "esims", "lots", "orders", "assignments", "jobs"];
    let mut looked = 0;
    for (place, sql) in statements() {
        let known = files.iter().any(|file| place.contains(&format!("/src/{file}.rs: ")));
        if !known || sql.starts_with("INSERT") || WHOLE.iter().any(|end| place.ends_with(end)) {
            continue;
        }
        let plan = plan(&store, &sql).await;
        let scanned = plan.iter().filter_map(|step| step.strip_prefix("SCAN "));
        let scanned = scanned.filter_map(|step| step.split(' ').next());
        let grown: Vec<_> = scanned.filter(|table| GROWING.contains(table)).collect();
        assert!(grown.is_empty(), "{place} reads all of {grown:?}: {plan:?}");
        looked += 1;
    }
    assert!(looked > 25, "the scan finds the statements: {looked}");
}
