//! `cargo xtask test`: the stages CI runs, cheapest first, up to the first failure.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::postgres::{Cluster, Durability};
use crate::process::{self, cargo};
use crate::{bless, packages, tidy};

struct Stage {
    name: &'static str,
    /// Stages without which this one makes no sense.
    needs: &'static [&'static str],
    run: fn(&mut State) -> Result<(), String>,
    /// What a person does about a failure.
    next: &'static str,
}

const STAGES: [Stage; 8] = [
    Stage {
        name: "packages",
        needs: &[],
        run: |_| packages::ensure().and_then(|()| packages::ensure_components()),
        next: "install what is missing; nothing is skipped for want of a program",
    },
    Stage {
        name: "postgres",
        needs: &["packages"],
        run: State::start_postgres,
        next: "tests need a PostgreSQL of their own; the text above says why there is none",
    },
    Stage {
        name: "format",
        needs: &[],
        run: |state| state.run(cargo().args(["fmt", "--all", "--check"])),
        next: "run `cargo fmt --all`",
    },
    Stage {
        name: "tidy",
        needs: &[],
        run: |_| tidy::run(),
        next: "each line above names a place and what to do there",
    },
    Stage {
        name: "contract",
        needs: &[],
        run: |_| bless::run(true),
        next: "if the change is meant, run `cargo xtask bless` and read the difference",
    },
    Stage {
        name: "clippy",
        needs: &[],
        run: State::clippy,
        next: "follow the lint, or `#[expect(…, reason = \"…\")]` it",
    },
    Stage { name: "build", needs: &[], run: State::build, next: "make it compile" },
    Stage {
        name: "tests",
        needs: &["packages", "postgres", "build"],
        run: State::tests,
        next: "run one again with `cargo xtask test -- NAME`",
    },
];

pub(crate) fn run(args: &[&str]) -> Result<(), String> {
    let request = Request::parse(args)?;
    let mut state = State { cluster: None, cargo_args: request.cargo_args };
    let mut times = Vec::new();
    let mut result = Ok(());
    for stage in STAGES.iter().filter(|stage| request.stages.contains(&stage.name)) {
        println!("== {}", stage.name);
        let start = Instant::now();
        result = (stage.run)(&mut state).map_err(|text| explain(stage, &text));
        times.push((stage.name, start.elapsed(), result.is_ok()));
        if result.is_err() {
            break;
        }
    }
    drop(state);
    print!("{}", table(&times));
    result
}

fn explain(stage: &Stage, text: &str) -> String {
    format!("stage {} failed\n{text}\nnext: {}", stage.name, stage.next)
}

fn table(times: &[(&str, Duration, bool)]) -> String {
    let line = |&(name, time, ok): &(&str, Duration, bool)| {
        format!("{name:<10}{:>8.1} s{}\n", time.as_secs_f64(), if ok { "" } else { "  FAILED" })
    };
    let total = times.iter().map(|(_, time, _)| *time).sum();
    let all_ok = times.iter().all(|(_, _, ok)| *ok);
    times.iter().chain(&[("total", total, all_ok)]).map(line).collect()
}

/// What was asked for on the command line.
#[derive(Debug, PartialEq)]
struct Request {
    stages: Vec<&'static str>,
    /// Handed to `cargo test`.
    cargo_args: Vec<String>,
}

impl Request {
    fn parse(args: &[&str]) -> Result<Self, String> {
        let (options, cargo_args) = match args.iter().position(|arg| *arg == "--") {
            Some(at) => (&args[..at], &args[at + 1..]),
            None => (args, &[][..]),
        };
        let mut asked = Vec::new();
        for pair in options.chunks(2) {
            let ["--only", name] = pair else {
                return Err(format!("unknown option {}; see `cargo xtask help`", pair[0]));
            };
            asked.push(find(name)?);
        }
        if !cargo_args.is_empty() {
            asked.push(find("tests")?);
        }
        let wanted = |stage: &Stage| {
            asked.is_empty()
                || asked.iter().any(|a| a.name == stage.name || a.needs.contains(&stage.name))
        };
        let stages = STAGES.iter().filter(|stage| wanted(stage)).map(|stage| stage.name).collect();
        Ok(Self { stages, cargo_args: cargo_args.iter().map(ToString::to_string).collect() })
    }
}

fn find(name: &str) -> Result<&'static Stage, String> {
    let names = STAGES.map(|stage| stage.name).join(", ");
    STAGES
        .iter()
        .find(|stage| stage.name == name)
        .ok_or_else(|| format!("no stage {name}; there are {names}"))
}

/// What later stages need from earlier ones.
struct State {
    cluster: Option<Cluster>,
    cargo_args: Vec<String>,
}

impl State {
    fn start_postgres(&mut self) -> Result<(), String> {
        self.cluster = Some(Cluster::start(Durability::None)?);
        Ok(())
    }

    fn clippy(&mut self) -> Result<(), String> {
        let mut command = cargo();
        command.args(["clippy", "--locked", "--workspace", "--all-targets"]);
        self.run(command.args(["--", "-D", "warnings"]))
    }

    /// The binary is built apart, because the black-box tests start it.
    fn build(&mut self) -> Result<(), String> {
        self.run(cargo().args(["build", "--locked", "--package", "server"]))?;
        let mut command = self.cargo_test();
        // The names of tests come after `--` and mean nothing to a build.
        self.run(command.arg("--no-run").args(self.build_args()))
    }

    fn tests(&mut self) -> Result<(), String> {
        let binary = process::target_dir()?.join("debug").join("tern");
        let mut command = self.cargo_test();
        command.args(&self.cargo_args).env("TERN_BIN", binary);
        self.run(&mut command)
    }

    /// All crates, unless the caller names some.
    fn cargo_test(&self) -> Command {
        let mut command = cargo();
        command.args(["test", "--locked"]);
        let chosen = |arg: &String| arg.starts_with("-p") || arg.starts_with("--package");
        if !self.cargo_args.iter().any(chosen) {
            command.arg("--workspace");
        }
        command
    }

    fn build_args(&self) -> impl Iterator<Item = &String> {
        self.cargo_args.iter().take_while(|arg| *arg != "--")
    }

    /// Under the eyes of the cluster's keeper, if there is one, so that nothing outlives us.
    fn run(&mut self, command: &mut Command) -> Result<(), String> {
        match &mut self.cluster {
            None => process::run(command),
            Some(cluster) => {
                let status = cluster.run(command)?;
                process::success(command, status)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_the_default_and_the_order_is_fixed() {
        let request = Request::parse(&[]).expect("no arguments are fine");
        assert_eq!(request.stages, STAGES.map(|stage| stage.name));
        let request = Request::parse(&["--only", "tidy", "--only", "format"]).expect("both exist");
        assert_eq!(request.stages, ["format", "tidy"]);
    }

    #[test]
    fn a_filter_means_the_tests_and_what_they_need() {
        let request = Request::parse(&["--", "-p", "store"]).expect("a filter is fine");
        assert_eq!(request.stages, ["packages", "postgres", "build", "tests"]);
        assert_eq!(request.cargo_args, ["-p", "store"]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        assert!(Request::parse(&["--only"]).is_err());
        assert!(Request::parse(&["ledger"]).is_err());
        let text = Request::parse(&["--only", "lunch"]).expect_err("no such stage");
        assert!(text.contains("packages, postgres"), "{text}");
    }

    #[test]
    fn the_table_shows_each_stage_and_the_failure() {
        let times = [("tidy", Duration::from_millis(1250), true), ("build", Duration::ZERO, false)];
        let text = table(&times);
        assert_eq!(text.lines().count(), 3);
        assert!(text.contains("tidy           1.2 s\n"), "{text}");
        assert!(text.contains("build          0.0 s  FAILED\n"), "{text}");
    }
}
