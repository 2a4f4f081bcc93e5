//! How the databases find what the statements of trade ask for: by an index, never by reading a
//! table that grows from end to end.

use store::{Store, StoreError, Value};

use crate::fixture::Fixture;
use crate::statements::{next_parameter, statement, statements};

/// Tables that grow with the trade.
const GROWING: [&str; 26] = [
    "orders",
    "order_items",
    "esims",
    "esim_history",
    "esim_visits",
    "messages",
    "records",
    "lots",
    "lot_moves",
    "assignments",
    "prices",
    "jobs",
    "usage_sums",
    "strays",
    "deliveries",
    "lanes",
    "attempts",
    "shares",
    "failures",
    "audit",
    "ledger_entries",
    "closings",
    "sessions",
    "password_links",
    "sign_in_failures",
    "events",
];

/// Those that mean to read everything, and when.
const WHOLE: [&str; 9] = [
    "catalogue.rs: PRICES",  // when the catalogue has changed
    "profiles.rs: FREE",     // the operator's overview; along the index of what is free
    "jobs.rs: ALL",          // a page by id, for verification
    "jobs.rs: FAILED",       // along the index of what was given up
    "jobs.rs: RELEASE_ALL",  // once, at the start
    "jobs.rs: CLAIM",        // along the index of what is due
    "lanes.rs: RELEASE_ALL", // once, at the start
    "records.rs: STRAYS",    // a page along the index of when they came
    "records.rs: OLD",       // a page along the index of what is kept
];

/// How the source starts a list of eSIMs.
const ESIMS: &str = "FROM esims WHERE org_id >= $1 AND org_id <= $1";

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
    let processing = "FROM orders WHERE org_id = $1 AND seq <> 0 AND status = 'processing'";
    let page = format!("SELECT id {processing} ORDER BY seq DESC LIMIT $2 OFFSET $3");
    let by_time = "SELECT id FROM orders WHERE org_id = $1 AND seq <> 0 AND created_at >= $2 \
                   ORDER BY created_at DESC, seq DESC LIMIT $3 OFFSET $4";
    let latest = "SELECT id FROM orders WHERE org_id = $1 AND seq <> 0 \
                  ORDER BY created_at DESC, seq DESC LIMIT $2 OFFSET $3";
    let by_number = format!("SELECT msisdn {ESIMS} ORDER BY org_id, iccid LIMIT $2 OFFSET $3");
    let noted = format!(
        "SELECT msisdn {ESIMS} AND {{position}}(lower(customer_ref_lower), $2) > 0 \
         ORDER BY org_id DESC, iccid DESC LIMIT $3 OFFSET $4"
    );
    let how_many = format!("SELECT COUNT(*) {ESIMS} AND action_at >= $2");
    let of_esims = statement("assignments.rs", "OF_ESIMS");
    let page_of_order = statement("assignments.rs", "PAGE_OF_ORDER");
    let states = statement("assignments.rs", "INSTALL_STATES");
    let held_of = statement("lots.rs", "HELD_OF");
    for (what, sql, table, index) in [
        ("a page", statement("orders.rs", "NEWEST"), "orders", "orders_of_org (org_id=? AND seq>?"),
        ("what is processed", page, "orders", "orders_processing (org_id=?"),
        ("how many are", format!("SELECT COUNT(*) {processing}"), "orders", "orders_processing"),
        ("orders by time", by_time.into(), "orders", "orders_by_time (org_id=? AND created_at>?)"),
        ("latest orders", latest.into(), "orders", "orders_by_time (org_id=?"),
        ("eSIMs", by_number, "esims", "esims_of_org (org_id>? AND org_id<?)"),
        ("noted eSIMs", noted, "esims", "esims_of_org (org_id>? AND org_id<?)"),
        ("how many eSIMs", how_many, "esims", "esims_of_org (org_id>? AND org_id<?)"),
        ("an eSIM", statement("esims.rs", "FIND"), "esims", "esims_1 (iccid=?)"),
        ("bundles on it", of_esims.clone(), "a", "assignments_of_esim (iccid=?)"),
        ("their orders", of_esims, "o", "orders_1 (id=?)"),
        ("a part", page_of_order, "assignments", "assignments_of_order (order_id=? AND n>?)"),
        ("installed", states.clone(), "a", "assignments_of_order (order_id=? AND n>? AND n<?)"),
        ("on which", states, "e", "(org_id=? AND iccid=?)"),
        ("a history", statement("history.rs", "PAGE"), "esim_history", "(org_id=? AND iccid=?)"),
        ("its length", statement("history.rs", "COUNT"), "esim_history", "(org_id=? AND iccid=?)"),
        ("visits", statement("history.rs", "VISITS"), "esim_visits", "(iccid=?)"),
        ("messages", statement("messages.rs", "NEWEST"), "messages", "(org_id=? AND iccid=?)"),
        ("a record", statement("records.rs", "OVERSHOOT"), "records", "(digest=?)"),
        ("held of one", held_of, "lots", "lots_held (org_id=? AND bundle=? AND expires_at>?)"),
        ("held", statement("lots.rs", "HELD"), "lots", "(org_id=?"),
        ("a page of lots", statement("lots.rs", "HELD_PAGE"), "lots", "lots_held (org_id=? AND"),
        ("by bundle", statement("lots.rs", "BY_BUNDLE"), "lots", "lots_held (org_id=?"),
        ("expired", statement("lots.rs", "EXPIRED"), "lots", "lots_expiring (org_id=? AND exp"),
        ("the next expiry", statement("lots.rs", "NEXT_EXPIRY"), "lots", "lots_expiring (org_id=?"),
        ("an offer", statement("catalogue.rs", "OFFER"), "p", "prices_1 (bundle=? AND currency=?"),
        ("its bundle", statement("catalogue.rs", "OFFER"), "b", "bundles_1 (name=?)"),
        ("enough", statement("profiles.rs", "ENOUGH"), "esims", "esims_free (mode=? AND profile_n"),
    ] {
        let plan = plan(&store, &sql).await;
        let step = step(&plan, table);
        assert!(step.starts_with("SEARCH ") && step.contains(index), "{what}: {plan:?}");
        let sorted = plan.iter().any(|step| step.contains("TEMP B-TREE"));
        assert!(!sorted || what == "held", "{what}: {plan:?}");
    }
    let issue = plan(&store, &statement("profiles.rs", "ISSUE")).await;
    let free = "SEARCH esims USING INDEX esims_free (mode=? AND profile_name=?)";
    assert!(issue.iter().any(|step| step == free), "{issue:?}");
    assert!(!issue.iter().any(|step| step.contains("ORDER BY")), "{issue:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sending_uses_its_indexes() {
    let fixture = Fixture::sqlite();
    let store = fixture.store().await;
    let (of_lanes, of) = ("lanes.rs", "deliveries.rs");
    for (what, sql, table, index) in [
        ("lanes due", statement(of_lanes, "CLAIM"), "n", "lanes_due (org_id=? AND due_at<?)"),
        ("these lanes", statement(of_lanes, "CLAIM"), "lanes", "PRIMARY KEY (org_id=? AND lane=?)"),
        ("the next lane", statement(of_lanes, "NEXT_DUE"), "lanes", "lanes_due (org_id=?)"),
        (
            "lanes of a node",
            statement(of_lanes, "RELEASE"),
            "lanes",
            "lanes_owned (owner>? AND owner<?)",
        ),
        ("empty lanes", statement(of_lanes, "CLOSE"), "lanes", "PRIMARY KEY (org_id=? AND lane=?)"),
        ("what is in them", statement(of_lanes, "CLOSE"), "d", "deliveries_waiting (org_id=? AND"),
        ("free lanes", statement(of_lanes, "FREE"), "lanes", "PRIMARY KEY (org_id=? AND lane=?)"),
        ("ready", statement(of, "READY"), "d", "deliveries_1 (org_id=? AND seq=?)"),
        ("their events", statement(of, "READY"), "e", "events_1 (org_id=? AND seq=?)"),
        ("delivered", statement(of, "DELIVERED"), "deliveries", "(org_id=? AND seq=?)"),
        ("failed", statement(of, "FAILED"), "deliveries", "deliveries_1 (org_id=? AND seq=?)"),
        ("given up", statement(of, "GIVE_UP_LANES"), "deliveries", "deliveries_waiting (org_id=?"),
        ("a page", statement(of, "PAGE"), "d", "deliveries_1 (org_id=? AND seq<?)"),
        ("dead ones", statement(of, "PAGE_DEAD"), "d", "deliveries_dead (org_id=? AND seq<?)"),
        ("the dead", statement(of, "DEAD"), "deliveries", "deliveries_dead (org_id=? AND seq>?)"),
        ("within", statement(of, "WITHIN"), "d", "deliveries_1 (org_id=? AND seq>?)"),
        ("old", statement(of, "OLD"), "deliveries", "deliveries_done (org_id=? AND done_at<?)"),
        ("any old", statement(of, "HAS_OLD"), "deliveries", "deliveries_done (org_id=? AND done"),
        ("delays", statement(of, "DELAYS"), "deliveries", "deliveries_done (org_id=?"),
        ("how many wait", statement(of, "COUNT_WAITING"), "deliveries", "_waiting (org_id=?)"),
        ("how many are dead", statement(of, "COUNT_DEAD"), "deliveries", "_dead (org_id=?)"),
        ("the last event", statement(of, "LAST"), "events", "events_1 (org_id=?)"),
        ("an attempt", statement(of, "ATTEMPTS"), "attempts", "PRIMARY KEY (org_id=? AND seq=?)"),
        ("sums", statement("usage.rs", "SPAN"), "usage_sums", "(org_id=? AND iccid=? AND hour>?"),
        ("found", statement("records.rs", "FOUND"), "strays", "strays_1 (digest=?)"),
        ("emptied", statement("records.rs", "EMPTY"), "records", "records_1 (digest=?)"),
        ("known as", statement("organisations.rs", "KNOWN_AS"), "organisations", "_known (known"),
        ("secrets", statement("secrets.rs", "VALID"), "webhook_secrets", "_of_org (org_id=?)"),
    ] {
        let plan = plan(&store, &sql).await;
        let step = step(&plan, table);
        assert!(step.starts_with("SEARCH ") && step.contains(index), "{what}: {plan:?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{what}: {plan:?}");
    }
    for (name, index) in [("STRAYS", "strays_kept"), ("OLD", "records_kept")] {
        let plan = plan(&store, &statement("records.rs", name)).await;
        assert!(plan[0].contains(index), "{name}: {plan:?}");
    }
    // From one organisation to the next, each time by one look into the index.
    let orgs = plan(&store, &statement(of_lanes, "ORGS")).await;
    let looks = orgs.iter().filter(|step| step.starts_with("SEARCH l"));
    let looks: Vec<_> = looks.filter(|step| !step.contains("lanes_due")).collect();
    assert!(looks.is_empty(), "{orgs:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_portal_uses_its_indexes() {
    let fixture = Fixture::sqlite();
    let store = fixture.store().await;
    let (seen, erased) = ("figures.rs", "erasure.rs");
    for (what, sql, table, index) in [
        ("a link", statement("shares.rs", "BY_DIGEST"), "shares", "(digest=?)"),
        ("links", statement("shares.rs", "OF_ESIM"), "shares", "shares_of_esim (org_id=? AND"),
        ("failures", statement("failures.rs", "PAGE"), "failures", "_of_org (org_id=? AND id<?)"),
        ("any old", statement("failures.rs", "HAS_OLD"), "failures", "failures_of_org (org_id=?)"),
        ("old ones", statement("failures.rs", "FORGET"), "failures", "failures_of_org (org_id=?)"),
        ("a log", statement("audit.rs", "PAGE_OF_ORG"), "audit", "_of_org (known_as=? AND id<?"),
        ("statuses", statement(seen, "OF_STATUS"), "esims", "esims_by_status (org_id=? AND prof"),
        ("use", statement(seen, "USED_BY_DAY"), "usage_sums", "(org_id=? AND iccid=? AND hour>?)"),
        ("ending", statement(seen, "ENDING"), "assignments", "_active (org_id=? AND ends_at>?"),
        ("in use", statement(seen, "IN_USE"), "assignments", "_active (org_id=? AND ends_at>?)"),
        ("expiring", statement(seen, "EXPIRING"), "lots", "lots_expiring (org_id=? AND expires"),
        ("a note", statement(erased, "BY_NOTE"), "esims", "esims_by_note (org_id=? AND customer"),
        ("events", statement(erased, "EVENTS"), "events", "events_personal (org_id=? AND seq>?)"),
        ("records", statement(erased, "RECORDS"), "records", "records_placed (iccid=?)"),
        (
            "sent",
            statement(seen, "SIGNS"),
            "deliveries",
            "deliveries_done (org_id=? AND done_at>?)",
        ),
        ("due", statement(seen, "SIGNS"), "lanes", "lanes_due (org_id=?)"),
        ("tried", statement(seen, "SIGNS"), "a", "PRIMARY KEY (org_id=?)"),
        ("failed", statement(seen, "SIGNS"), "failures", "failures_of_org (org_id=?)"),
        ("open", statement(seen, "SIGNS"), "charges", "charges_undecided (org_id=?)"),
        ("done", statement(seen, "SIGNS"), "audit", "audit_of_org (known_as=?)"),
        ("what left", statement(erased, "WAS_ON"), "assignments", "_of_esim (iccid=?)"),
        ("of a lane", statement("deliveries.rs", "PAGE_OF_LANE"), "d", "(org_id=? AND seq>? AND"),
        ("about", statement("jobs.rs", "ABOUT"), "jobs", "jobs_subject (org_id=? AND kind=? AND"),
    ] {
        let plan = plan(&store, &sql).await;
        let step = step(&plan, table);
        assert!(step.starts_with("SEARCH ") && step.contains(index), "{what}: {plan:?}");
        let sorted = plan.iter().any(|step| step.contains("TEMP B-TREE"));
        assert!(!sorted || what == "use", "{what}: {plan:?}");
    }
}

/// Whether a step means a growing table, by its name or by what the statement calls it.
fn is_growing(name: &str, sql: &str) -> bool {
    let called = |table: &&str| sql.contains(&format!(" {table} {name} "));
    GROWING.contains(&name) || GROWING.iter().any(called)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_statement_reads_a_growing_table_from_end_to_end() {
    let fixture = Fixture::sqlite();
    let store = fixture.store().await;
    let files = [
        "catalogue",
        "profiles",
        "esims",
        "history",
        "messages",
        "records",
        "lots",
        "orders",
        "assignments",
        "jobs",
        "usage",
        "lanes",
        "deliveries",
        "shares",
        "failures",
        "figures",
        "erasure",
        "ledger",
        "events",
    ];
    let mut looked = 0;
    for (place, sql) in statements() {
        let known = files.iter().any(|file| place.contains(&format!("/src/{file}.rs: ")));
        if !known || sql.starts_with("INSERT") || WHOLE.iter().any(|end| place.ends_with(end)) {
            continue;
        }
        let plan = plan(&store, &sql).await;
        let scanned = plan.iter().filter_map(|step| step.strip_prefix("SCAN "));
        let scanned = scanned.filter_map(|step| step.split(' ').next());
        let grown: Vec<_> = scanned.filter(|name| is_growing(name, &sql)).collect();
        assert!(grown.is_empty(), "{place} reads all of {grown:?}: {plan:?}");
        looked += 1;
    }
    assert!(looked > 85, "the scan finds the statements: {looked}");
}

/// Twenty organisations share many eSIMs. The order of a page is that of the primary key as well,
/// which is everybody's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_finds_a_page_of_esims_by_their_owner() {
    let source = include_str!("../../src/esims.rs");
    let orders = ["org_id, iccid", "org_id DESC, iccid DESC"];
    assert!(source.contains(ESIMS) && orders.iter().all(|order| source.contains(order)));
    let fixture = Fixture::postgres().await;
    let store = fixture.store().await;
    let rows = "INSERT INTO org_heads (org_id, event_seq, balance, test_credit, clock_offset_ms) \
                SELECT 'org' || n, 0, 0, 0, 0 FROM generate_series(1, 20) n; \
                INSERT INTO esims (iccid, mode, profile_name, smdp_address, sealed, vault_key, \
                profile_status, imported_at, org_id, assigned_at) \
                SELECT '89' || (n + 10000000000000000), 'live', 'p', 's', '', 'k', 'Released', 1, \
                'org' || (1 + n % 20), n FROM generate_series(1, 20000) n; ANALYZE esims";
    fixture.script(rows).await;
    for order in orders {
        let list = ESIMS.replace("$1", "'org3'");
        let sql = format!("EXPLAIN SELECT msisdn {list} ORDER BY {order} LIMIT 50 OFFSET 0");
        let plan = store.read(move |tx| {
            let rows = tx.all(&sql, &[])?;
            rows.iter().map(|row| row.text(0).map(ToOwned::to_owned)).collect::<Result<Vec<_>, _>>()
        });
        let plan = plan.await.unwrap_or_else(|error: StoreError| panic!("{error}")).join("\n");
        assert!(plan.contains(" using esims_of_org on esims"), "{plan}");
        assert!(!plan.contains("Sort"), "{plan}");
    }
}
