//! Changes one row behind the service's back; verification must name it.

use domain::OrgId;
use domain::ledger::{read_postings, write_postings};
use store::ledger::{self, Posted};
use store::{StoreError, Value, args};

use crate::dice::Dice;
use crate::world::{ALL, World};

/// Tampers with one row, unless there is none, and asserts that exactly this is found.
pub(crate) fn is_noticed(world: &World, dice: &Dice) -> bool {
    let org = world.org();
    let entries = world.wait(world.store().read(move |tx| ledger::page(tx, org, 0, ALL)));
    let entries: Vec<Posted> = entries.expect("the database answers");
    let Some(last) = entries.last() else { return false };
    let entry = dice.pick(&entries);
    let named = |seq| format!("organisation {org}, ledger entry {seq}: ");
    let of_head = |what| format!("organisation {org}, head: {what}");
    let (sql, culprit) = match dice.below(8) {
        0 => (set(&format!("postings = '{}'", one_more(entry))), named(entry.seq)),
        1 => (set("reason = reason || '!'"), named(entry.seq)),
        2 => (set("at = at + 1"), named(entry.seq)),
        3 => (set("reference = reference || '0'"), named(entry.seq)),
        4 => (set("hash = zeroblob(32)"), named(entry.seq)),
        5 => {
            // The gap shows at the row after it, or at the head.
            let after =
                if entry.seq == last.seq { of_head("counts") } else { named(entry.seq + 1) };
            let sql = "DELETE FROM ledger_entries WHERE org_id = $1 AND seq = $2";
            (sql.to_owned(), after)
        }
        6 => (set_head("balance = balance + 1"), of_head("available is")),
        _ => (set_head("breakage = breakage - 1"), of_head("breakage is")),
    };
    let seq = entry.seq;
    change(world, &sql, args![org, seq].to_vec());
    assert_named(world, &culprit, &format!("{sql}, {seq}"));
    true
}

/// What can be done to lots: its name, the rows it can be done to, each with its lot, and how.
const OF_LOTS: [(&str, &str, &str); 5] = [
    ("a lot holds one more", LOTS, "UPDATE lots SET remaining = remaining + 1 WHERE id = $1"),
    ("a lot gave one back", LOTS, "UPDATE lots SET refunded = refunded + 1 WHERE id = $1"),
    ("a move is gone", MOVES, "DELETE FROM lot_moves WHERE rowid = $1"),
    (
        "a move is there twice",
        MOVES,
        "INSERT INTO lot_moves SELECT lot_id, kind, reference || '+', quantity, at \
         FROM lot_moves WHERE rowid = $1",
    ),
    ("an assignment is gone", ASSIGNMENTS, "DELETE FROM assignments WHERE id = $1"),
];
const LOTS: &str = "SELECT id, id FROM lots WHERE org_id = $1 ORDER BY id";
const MOVES: &str = "SELECT m.lot_id, m.rowid FROM lot_moves m JOIN lots l ON l.id = m.lot_id \
     WHERE l.org_id = $1 ORDER BY m.rowid";
const ASSIGNMENTS: &str = "SELECT lot_id, id FROM assignments WHERE org_id = $1 \
     AND lot_id IS NOT NULL ORDER BY id";

/// Tampers with one row that belongs to a lot and asserts that the lot is named; says what it did,
/// unless there is no such row.
pub(crate) fn lot_is_noticed(world: &World, dice: &Dice) -> Option<&'static str> {
    let org = *dice.pick(&world.orgs);
    let (what, rows, sql) = *dice.pick(&OF_LOTS);
    let found = world.store().read(move |tx| {
        let rows = tx.all(rows, args![org])?;
        let pair = |row: &store::Row| Ok((row.int(0)?, row.int(1)?));
        rows.iter().map(pair).collect::<Result<Vec<_>, StoreError>>()
    });
    let found = world.wait(found).expect("the database answers");
    if found.is_empty() {
        return None;
    }
    let (lot, row) = *dice.pick(&found);
    change(world, sql, args![row].to_vec());
    let culprit = format!("organisation {org}, lot {lot}: ");
    assert_named(world, &culprit, what);
    Some(what)
}

fn change(world: &World, sql: &str, values: Vec<Value>) {
    let ran = sql.to_owned();
    let changed = world.store().write(OrgId::HOUSE, move |tx| tx.exec(&ran, &values));
    assert_eq!(world.wait(changed), Ok(1), "{sql}");
}

fn assert_named(world: &World, culprit: &str, what: &str) {
    let report = world.wait(app::verify::verify(world.store())).expect("the database answers");
    let first = report.faults.first().unwrap_or_else(|| panic!("unnoticed: {what}, {culprit}"));
    assert!(first.starts_with(culprit), "{what}: {:?}", report.faults);
}

fn set(what: &str) -> String {
    format!("UPDATE ledger_entries SET {what} WHERE org_id = $1 AND seq = $2")
}

/// `$2` is there for the sake of the others.
fn set_head(what: &str) -> String {
    format!("UPDATE org_heads SET {what} WHERE org_id = $1 AND $2 > 0")
}

/// The postings of an entry with another amount that still sums to zero.
fn one_more(entry: &Posted) -> String {
    let mut postings = read_postings(&entry.postings).expect("postings can be read");
    for posting in &mut postings {
        posting.amount += posting.amount.signum();
    }
    write_postings(&postings)
}
