//! `tern`: one binary, sub-commands.

fn main() -> std::process::ExitCode {
    server::cli::main()
}
