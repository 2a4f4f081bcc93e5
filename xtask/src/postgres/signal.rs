//! Ending processes that are not children of ours to wait for. The shell sends the signal: the
//! standard library can only kill outright.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const GRACE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);

/// Asks with a signal, waits, and kills what is still there. A negative number is a whole group.
pub(super) fn end(target: &str, name: &str) {
    send(target, name);
    if !wait(|| !is_there(target), GRACE) {
        send(target, "KILL");
        wait(|| !is_there(target), GRACE);
    }
}

pub(super) fn send(target: &str, name: &str) {
    shell(&format!("kill -s {name} -- {target}"));
}

/// Looks again and again until it is so, or the time is over.
pub(super) fn wait(mut so: impl FnMut() -> bool, at_most: Duration) -> bool {
    let start = std::time::Instant::now();
    loop {
        if so() {
            return true;
        }
        if start.elapsed() > at_most {
            return false;
        }
        std::thread::sleep(STEP);
    }
}

/// A dead process whose parent has not asked for it yet counts as gone.
fn is_there(target: &str) -> bool {
    let Some(group) = target.strip_prefix('-') else {
        return is_alive(Path::new("/proc").join(target).as_path(), None);
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.into_iter().any(|entry| is_alive(&entry.path(), Some(group)))
}

/// The notes of the kernel on a process: `number (name) state parent group …`. The name may hold
/// anything, so reading begins after the last bracket.
fn is_alive(process: &Path, of_group: Option<&str>) -> bool {
    let Ok(notes) = std::fs::read_to_string(process.join("stat")) else { return false };
    let mut fields = notes.rsplit(") ").next().unwrap_or_default().split(' ');
    let alive = fields.next().is_some_and(|state| state != "Z");
    alive && (of_group.is_none() || fields.nth(1) == of_group)
}

fn shell(text: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", text]).stderr(Stdio::null());
    // What is gone already cannot be told anything, and that is as good.
    drop(command.status());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;

    #[test]
    fn a_group_is_ended_with_all_its_children() {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM; sleep 600 & wait"]).process_group(0);
        let mut child = command.spawn().expect("there is a shell");
        let target = format!("-{}", child.id());
        assert!(is_there(&target) && is_there(&target[1..]));
        send(&target, "KILL");
        assert!(wait(|| !is_there(&target), GRACE), "nobody has asked for the dead, yet");
        child.wait().expect("it is our child");
    }
}
