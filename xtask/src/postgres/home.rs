//! The folder of one throw-away server, its lock, and the user it belongs to.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Durability;
use crate::process;

/// Both folders are short, because the path of a socket has about 100 bytes, and open to every
/// user, because the server does not run as root. The second is on a disk even where the first
/// is kept in memory, so that a sync means something.
pub(super) const PLACES: [&str; 2] = ["/tmp", "/var/tmp"];
pub(super) const PREFIX: &str = "tern-pg-";

pub(super) const DATA: &str = "data";
pub(super) const SOCKETS: &str = "s";
pub(super) const SCRATCH: &str = "t";
pub(super) const CA: &str = "ca.pem";

/// A folder that is removed at the end. While its lock is held, it is no leftover.
pub(super) struct Home {
    pub(super) dir: PathBuf,
    pub(super) user: User,
    _lock: File,
}

impl Home {
    pub(super) fn create(durability: Durability) -> Result<Self, String> {
        let place = match durability {
            Durability::None => PLACES[0],
            Durability::Full => PLACES[1],
        };
        let user = User::choose()?;
        let text = |e: std::io::Error| format!("no folder can be made in {place}: {e}");
        // The lock comes before the folder: a folder is never seen without it.
        let (dir, lock) = new_lock(Path::new(place)).map_err(text)?;
        let home = Self { dir, user, _lock: lock };
        for name in ["", SOCKETS, SCRATCH] {
            home.folder(name).map_err(text)?;
        }
        Ok(home)
    }

    fn folder(&self, name: &str) -> std::io::Result<()> {
        let dir = self.dir.join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&dir)?;
        self.give(&dir)
    }

    /// Writes a file that the server may read, however strict our own mask is.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let file = self.dir.join(name);
        let written = std::fs::write(&file, text).and_then(|()| self.give(&file));
        written.map_err(|e| format!("{} cannot be written: {e}", file.display()))
    }

    fn give(&self, path: &Path) -> std::io::Result<()> {
        self.user.ids.map_or(Ok(()), |(uid, gid)| chown(path, Some(uid), Some(gid)))
    }

    /// A program that runs in this folder, as its owner, untouched by the caller's settings.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("setpriv");
        // Should the keeper be killed, the server goes down with it.
        command.arg("--pdeathsig=QUIT");
        if let Some((uid, gid)) = self.user.ids {
            command.arg(format!("--reuid={uid}")).arg(format!("--regid={gid}"));
            command.arg("--clear-groups");
        }
        command.arg(program).current_dir(&self.dir).env("HOME", &self.dir);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        remove(&self.dir);
    }
}

/// A name that nobody uses, and its lock, held.
fn new_lock(place: &Path) -> std::io::Result<(PathBuf, File)> {
    let names = (0..100).map(|n| format!("{PREFIX}{}-{n}", std::process::id()));
    for dir in names.map(|name| place.join(name)) {
        let lock = match File::create_new(lock_of(&dir)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            created => created?,
        };
        // Somebody who clears leftovers may have come between the two and taken the file away.
        if lock.try_lock().is_ok() && lock_of(&dir).exists() {
            return Ok((dir, lock));
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Removes a folder and then its lock.
pub(super) fn remove(dir: &Path) {
    let there = dir.symlink_metadata().is_ok();
    match if there { std::fs::remove_dir_all(dir) } else { Ok(()) } {
        Ok(()) => drop(std::fs::remove_file(lock_of(dir))),
        Err(error) => eprintln!("{} cannot be removed: {error}", dir.display()),
    }
}

pub(super) fn lock_of(dir: &Path) -> PathBuf {
    dir.with_extension("lock")
}

/// Who owns the files and runs the server: we ourselves, unless we are root, which PostgreSQL
/// refuses.
pub(super) struct User {
    pub(super) ids: Option<(u32, u32)>,
}

impl User {
    fn choose() -> Result<Self, String> {
        if !process::is_root() {
            return Ok(Self { ids: None });
        }
        let users = std::fs::read_to_string("/etc/passwd").map_err(|e| e.to_string())?;
        let found = ["postgres", "nobody"].iter().find_map(|name| ids_of(&users, name));
        found.map(|ids| Self { ids: Some(ids) }).ok_or_else(|| {
            "PostgreSQL refuses to run as root, and there is no user postgres or nobody".to_owned()
        })
    }
}

fn ids_of(users: &str, name: &str) -> Option<(u32, u32)> {
    let mut fields =
        users.lines().map(|line| line.split(':')).find(|f| f.clone().next() == Some(name))?.skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_the_whole_name() {
        let users = "root:x:0:0:root:/:/bin/sh\npostgres2:x:7:8::/:\npostgres:x:101:104::/:\n";
        assert_eq!(ids_of(users, "postgres"), Some((101, 104)));
        assert_eq!(ids_of(users, "nobody"), None);
    }

    #[test]
    fn the_longest_socket_path_fits() {
        let home = Path::new(PLACES[1]).join(format!("{PREFIX}{}-99", u32::MAX));
        let socket = home.join(SOCKETS).join(".s.PGSQL.65535.lock");
        assert!(socket.as_os_str().len() < 100, "{}", socket.display());
    }

    #[test]
    fn a_home_is_locked_while_it_lives_and_gone_afterwards() {
        let home = Home::create(Durability::None).expect("the folder for temporary files is open");
        let (dir, lock) = (home.dir.clone(), lock_of(&home.dir));
        let other = File::open(&lock).expect("the lock lies beside the folder");
        assert!(dir.join(SOCKETS).is_dir() && other.try_lock().is_err());
        drop(home);
        assert!(!dir.exists() && !lock.exists());
    }
}
