//! Lines that were not taken: the first ones on stderr, all of them in a file beside the one they
//! came from. Only numbers are repeated: a field in the wrong column may be a secret.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::output::note;

/// How many are shown.
const SHOWN: usize = 20;

pub(in crate::commands) struct Rejected {
    /// Where they are listed; nowhere when they came from a pipe.
    path: Option<PathBuf>,
    file: Option<BufWriter<File>>,
    count: usize,
    /// What one is called: a line, or something else that is counted.
    unit: &'static str,
    /// Stands before those that are shown, where several files are read.
    name: String,
}

impl Rejected {
    pub(in crate::commands) fn new(source: Option<&Path>) -> Self {
        let beside = |source: &Path| {
            let mut name = source.as_os_str().to_owned();
            name.push(".rejected.csv");
            PathBuf::from(name)
        };
        Self { path: source.map(beside), file: None, count: 0, unit: "line", name: String::new() }
    }

    /// The same for things that are not known by their lines.
    pub(in crate::commands) fn counted_in(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// The same for one of several files.
    pub(in crate::commands) fn one_of_several(self, path: &Path) -> Self {
        Self { name: format!("{}: ", path.display()), ..self }
    }

    pub(in crate::commands) fn put(
        &mut self,
        line: usize,
        iccid: &str,
        why: &str,
    ) -> Result<(), String> {
        let is_number = iccid.len() <= 22 && iccid.bytes().all(|b| b.is_ascii_digit());
        let iccid = if is_number { iccid } else { "" };
        self.count += 1;
        if self.count <= SHOWN {
            let number = if iccid.is_empty() { String::new() } else { format!(" ({iccid})") };
            note(&format!("{}{} {line}{number}: {why}", self.name, self.unit));
        }
        if self.count == SHOWN + 1 {
            note("… more lines are counted, not shown");
        }
        if self.path.is_none() {
            return Ok(());
        }
        let row = format!("{line},{iccid},\"{}\"\n", why.replace('"', "\"\""));
        let written = self.opened().and_then(|file| file.write_all(row.as_bytes()));
        written.map_err(|error| self.unwritten(&error))
    }

    /// Where they are listed, if there were any. A list of an earlier time does not outlive them.
    pub(in crate::commands) fn end(mut self) -> Result<Option<PathBuf>, String> {
        let Some(mut file) = self.file.take() else {
            let _none = self.path.map(fs::remove_file);
            return Ok(None);
        };
        file.flush().map_err(|error| self.unwritten(&error))?;
        Ok(self.path)
    }

    fn opened(&mut self) -> std::io::Result<&mut BufWriter<File>> {
        if self.file.is_none() {
            let path = self.path.clone().unwrap_or_default();
            // Not overwritten in place: the old one's mode may be wider.
            let _none = fs::remove_file(&path);
            let mut options = fs::OpenOptions::new();
            let file = options.write(true).create_new(true).mode(0o600).open(path)?;
            let mut file = BufWriter::new(file);
            file.write_all(format!("{},iccid,why\n", self.unit).as_bytes())?;
            self.file = Some(file);
        }
        self.file.as_mut().ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    fn unwritten(&self, error: &std::io::Error) -> String {
        let shown = self.path.as_deref().unwrap_or(Path::new("")).display();
        format!(
            "{shown}: {error}\n  next: make room beside the file, then the same command again; \
             lines that are in already do no harm"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn all_are_listed_and_no_secret_is_among_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("stock.csv");
        let mut rejected = Rejected::new(Some(&source));
        rejected.put(2, "8944500102198304827", "iccid is \"odd\"").expect("written");
        rejected.put(7, "K2QPA-7RMXD", "iccid must be digits").expect("written");
        let path = rejected.end().expect("written").expect("a file");
        assert_eq!(path, folder.path().join("stock.csv.rejected.csv"));
        assert_eq!(
            fs::read_to_string(&path).expect("a text"),
            "line,iccid,why\n2,8944500102198304827,\"iccid is \"\"odd\"\"\"\n\
             7,,\"iccid must be digits\"\n"
        );
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(Rejected::new(Some(&source)).end().expect("nothing"), None);
        assert!(!path.exists());
    }

    #[test]
    fn what_came_from_a_pipe_is_listed_nowhere() {
        let mut rejected = Rejected::new(None);
        rejected.put(2, "", "no").expect("nothing to write");
        assert_eq!(rejected.end().expect("nothing to write"), None);
    }
}
