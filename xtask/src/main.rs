//! The project's own commands; `cargo xtask help` lists them. Here is only the choice between them.

#![expect(clippy::print_stdout, reason = "printing is the job of a command-line program")]
#![expect(
    clippy::disallowed_methods,
    reason = "stages are timed and processes waited for; no rule of the service runs in here"
)]

mod bench;
mod bless;
mod packages;
mod pictures;
mod postgres;
mod process;
mod test;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  test [--only STAGE]... [-- ARGS]
        Everything CI runs, stage by stage: packages, postgres, format, tidy, contract,
        clippy, build, tests. Installs what is missing (as root, on Debian), starts a
        PostgreSQL of its own and removes it again.
        --only STAGE   run this stage alone, with the ones it needs; may be repeated
        -- ARGS        run only the tests, and hand ARGS to `cargo test`:
                       `cargo xtask test -- ledger`, `cargo xtask test -- -p store`
  tidy  The rules of ARCHITECTURE.md as a program.
  bless [--check]
        Write the contract files; with --check only say whether they are up to date.
  bench NAME [--json] [ARGS]
        Build the benches optimised and run one against its reference, with a PostgreSQL
        that syncs every commit. With --json, stdout holds nothing but the result.
  pictures
        Make the pictures of the README anew, in a real browser.
  postgres -- COMMAND [ARGS]
        Run a command with a throw-away PostgreSQL around it. The command finds it in
        TERN_TEST_POSTGRES, TERN_TEST_POSTGRES_SOCKET and TERN_TEST_POSTGRES_TLS:
        `cargo xtask postgres -- sh -c 'psql \"$TERN_TEST_POSTGRES\"'`
  help  This text.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = args.split_first().map_or(("help", &[][..]), |(c, r)| (c.as_str(), r));
    match dispatch(command, rest) {
        Ok(code) => code,
        Err(text) => {
            eprintln!("xtask {command}: {text}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: &str, args: &[String]) -> Result<ExitCode, String> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match (command, args.as_slice()) {
        ("test", args) => done(test::run(args)),
        ("tidy", []) => done(tidy::run()),
        ("bless", []) => done(bless::run(false)),
        ("bless", ["--check"]) => done(bless::run(true)),
        ("bench", args) => bench::run(args),
        ("pictures", []) => done(pictures::run()),
        ("postgres", ["--", program, args @ ..]) => postgres::around(program, args),
        (postgres::KEEPER, [durability]) => done(postgres::keep(durability)),
        ("help" | "--help" | "-h", _) => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err("no such command, or not with these arguments; see `cargo xtask help`".into()),
    }
}

fn done(result: Result<(), String>) -> Result<ExitCode, String> {
    result.map(|()| ExitCode::SUCCESS)
}
