//! Benches: speed as a ratio against a reference taken in the same run. Run by
//! `cargo xtask bench NAME [--json]`, which brings a PostgreSQL that syncs every commit.

#![expect(clippy::print_stdout, reason = "the result of a bench is what it prints")]

mod bare;
mod callbacks;
mod callers;
mod client;
mod commerce;
mod esims;
mod harness;
mod ledger;
mod peer;
mod store;
mod world;

use std::process::ExitCode;

use harness::Outcome;

type Bench = fn() -> Vec<Outcome>;

/// Every bench by its name.
const BENCHES: [(&str, Bench); 5] = [
    ("store", store::run),
    ("ledger", ledger::run),
    ("commerce", commerce::run),
    ("esims", esims::run),
    ("callbacks", callbacks::run),
];

fn main() -> ExitCode {
    if let Some(code) = peer::play() {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let as_json = args.iter().any(|arg| arg == "--json");
    let name = args.iter().find(|arg| !arg.starts_with('-')).map_or("", String::as_str);
    let Some((_, bench)) = BENCHES.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = BENCHES.iter().map(|(name, _)| *name).collect();
        eprintln!("bench: there is {}; {name:?} is not one of them", known.join(", "));
        return ExitCode::from(2);
    };
    let outcomes = bench();
    if as_json {
        println!("{}", harness::as_json(&outcomes));
    } else {
        println!("{}", harness::as_table(&outcomes));
    }
    // A ratio that is short is a result, told as `ok: false`; only a bench that cannot run fails.
    ExitCode::SUCCESS
}
