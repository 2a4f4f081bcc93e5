//! Packages of Python that were not made by us, each of one pinned version. Installed once, and
//! then kept beside what was built.

use std::path::PathBuf;
use std::process::Command;

use tokio::sync::Mutex;

use crate::harness::Ran;

/// The folder of a package such as `name==1.0`, with all it needs to run.
pub(crate) async fn package(pinned: &str) -> PathBuf {
    installed(pinned, &[]).await
}

/// The same of a package that is wanted for the files in it.
pub(crate) async fn package_alone(pinned: &str) -> PathBuf {
    installed(pinned, &["--no-deps"]).await
}

async fn installed(pinned: &str, options: &[&str]) -> PathBuf {
    static ONE: Mutex<()> = Mutex::const_new(());
    let _turn = ONE.lock().await;
    let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = kept.join(pinned.replace("==", "-"));
    if !folder.exists() {
        let fresh = tempfile::tempdir_in(kept).expect("a folder");
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.args(options).arg("--target").arg(fresh.path()).arg(pinned);
        let ran = Ran::new(&mut pip);
        assert_eq!(ran.code, Some(0), "pip must be able to install {pinned}: {ran:?}");
        std::fs::rename(fresh.keep(), &folder).expect("the folder is ours");
    }
    folder
}
