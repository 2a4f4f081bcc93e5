//! `cargo xtask bench`: builds the benches optimised and runs one beside a PostgreSQL that syncs.
//! Stdout belongs to the bench alone; everything said here goes to stderr.

use std::process::{Command, ExitCode};

use crate::postgres::{Cluster, Durability};
use crate::{packages, process};

pub(crate) fn run(args: &[&str]) -> Result<ExitCode, String> {
    packages::ensure_peers()?;
    eprintln!("== build");
    process::run(process::cargo().args(["build", "--release", "--locked", "--package", "bench"]))?;
    let binary = process::target_dir()?.join("release").join("bench");
    eprintln!("== postgres");
    let mut cluster = Cluster::start(Durability::Full)?;
    eprintln!("== bench {}", args.join(" "));
    let status = cluster.run(Command::new(binary).args(args))?;
    Ok(process::exit_code(status))
}
