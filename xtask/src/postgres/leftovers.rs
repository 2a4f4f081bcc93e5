//! Clears away what an earlier keeper left behind because it was killed itself.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::home::{DATA, PLACES, PREFIX, lock_of, remove};
use super::signal;

/// Removes every server of our kind whose keeper is gone. Others' files are not touched.
pub(super) fn clear() {
    PLACES.iter().flat_map(|place| homes(Path::new(place))).for_each(|dir| clear_one(&dir));
}

/// Folders of our kind, also those of which only the lock is left.
fn homes(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
            return false;
        };
        let id = id.strip_suffix(".lock").unwrap_or(id);
        !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    });
    let mut dirs: Vec<PathBuf> = ours.map(|entry| entry.path().with_extension("")).collect();
    dirs.sort();
    dirs.dedup();
    dirs
}

fn clear_one(dir: &Path) {
    let lock = lock_of(dir);
    let Ok(own) = std::fs::metadata("/proc/self") else { return };
    // Only root may meet folders of others, namely those of the server's user.
    let foreign = |path: &Path| path.symlink_metadata().is_ok_and(|m| m.uid() != own.uid());
    if foreign(&lock) || (own.uid() != 0 && foreign(dir)) {
        return;
    }
    // Held until the end, so that two of us do not clear the same folder.
    let held = File::open(&lock);
    if held.as_ref().is_ok_and(|file| file.try_lock().is_err()) {
        return;
    }
    if let Some(server) = server_of(dir) {
        signal::end(&server.to_string(), "QUIT");
    }
    remove(dir);
    drop(held);
}

/// The server that still runs on this folder. The number alone could be somebody else's by now.
fn server_of(dir: &Path) -> Option<u32> {
    let data = dir.join(DATA);
    let notes = std::fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let pid: u32 = notes.lines().next()?.trim().parse().ok()?;
    let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    command.contains(data.to_str()?).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place of this test alone; a number no process has stands for the keeper.
    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("xtask-{}-{name}", std::process::id()));
        std::fs::create_dir_all(place.join("tern-pg-999999999-0/data")).expect("a place to write");
        place
    }

    #[test]
    fn a_home_without_a_keeper_is_cleared_and_a_held_one_kept() {
        let place = place("leftovers");
        let dir = place.join("tern-pg-999999999-0");
        let held = File::create(lock_of(&dir)).expect("a lock beside the folder");
        held.lock().expect("nobody else knows this lock");
        assert_eq!(homes(&place), std::slice::from_ref(&dir));
        clear_one(&dir);
        assert!(dir.exists(), "its keeper lives");
        drop(held);
        clear_one(&dir);
        assert!(!dir.exists() && !lock_of(&dir).exists());
        std::fs::remove_dir(&place).expect("nothing else is left");
    }

    #[test]
    fn only_our_own_names_are_leftovers() {
        let place = place("names");
        for name in ["tern-pg-x", "tern-pg-", "other-1", "tern-pg-12.lock"] {
            File::create(place.join(name)).expect("a place to write");
        }
        let found = homes(&place);
        assert_eq!(found, [place.join("tern-pg-12"), place.join("tern-pg-999999999-0")]);
        std::fs::remove_dir_all(&place).expect("it is ours");
    }
}
