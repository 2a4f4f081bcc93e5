//! Starting other programs: where they are, in which surroundings, and what a failure says.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// The repository, which holds this crate as a folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate is a folder of the workspace")
}

/// Cargo, in the repository, as if it had been called by hand.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // `cargo run` describes this crate in the environment, and some build scripts watch those
    // names: left in place, every change between cargo and xtask would build them again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> Result<PathBuf, String> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1", "--locked", "--no-deps"]);
    let metadata: serde_json::Value =
        serde_json::from_str(&output(&mut command)?).map_err(|e| e.to_string())?;
    let dir = metadata["target_directory"].as_str().ok_or("cargo names no target directory")?;
    Ok(PathBuf::from(dir))
}

/// Runs with our own input and output, and wants success.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|e| cannot_start(command, &e))?;
    success(command, status)
}

/// Runs in silence and gives what it wrote to stdout; a failure tells what it wrote to stderr.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| cannot_start(command, &error))?;
    success(command, output.status).map_err(|text| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        format!("{text}\n{}", stderr.trim_end())
    })?;
    String::from_utf8(output.stdout).map_err(|e| format!("{}: {e}", describe(command)))
}

pub(crate) fn success(command: &Command, status: ExitStatus) -> Result<(), String> {
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` ended with {status}", describe(command)))
}

pub(crate) fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("`{}` cannot be started: {error}", describe(command))
}

/// The command line as a person would type it.
pub(crate) fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// A child's exit code as our own; ended by a signal counts as a plain failure.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Finds a program on the path, or where administrators' programs are.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}

pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_its_complaint() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo because >&2; exit 3"]);
        let text = output(&mut command).expect_err("the shell was told to fail");
        assert!(text.starts_with("`sh -c"), "{text}");
        assert!(text.contains("status: 3") && text.ends_with("because"), "{text}");
    }

    #[test]
    fn a_missing_program_is_said_so() {
        let text = run(&mut Command::new("no-such-program-at-all")).expect_err("there is none");
        assert!(text.contains("cannot be started"), "{text}");
        assert_eq!(find("no-such-program-at-all"), None);
    }

    #[test]
    fn cargo_is_called_as_if_by_hand() {
        let kept = |name: &str| cargo().get_envs().all(|(key, _)| key != name);
        assert!(!kept("CARGO_PKG_NAME"), "tests run under cargo, which sets the name");
        assert!(kept("PATH"));
    }
}
