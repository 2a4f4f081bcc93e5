//! Changes one row behind the service's back; verification must name it.

use domain::OrgId;
use domain::ledger::{read_postings, write_postings};
use store::ledger::{self, Posted};
use store::{StoreError, args};

use crate::history::Dice;
use crate::world::{ALL, World};

/// Tampers with one row, unless there is none, and asserts that exactly this is found.
pub(crate) fn is_noticed(world: &World, dice: &Dice) -> bool {
    let org = world.org;
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
    let (seq, ran) = (entry.seq, sql.clone());
    let changed = world.store().write(OrgId::HOUSE, move |tx| {
        let changed = tx.exec(&ran, args![org, seq])?;
        Ok::<_, StoreError>(changed)
    });
    assert_eq!(world.wait(changed), Ok(1), "{sql}");
    let report = world.wait(app::verify::verify(world.store())).expect("the database answers");
    let first = report.faults.first().unwrap_or_else(|| panic!("unnoticed: {sql}, {seq}"));
    assert!(first.starts_with(&culprit), "{sql}, {seq}: {:?}", report.faults);
    true
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
