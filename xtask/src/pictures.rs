//! `cargo xtask pictures`: makes the pictures of the README anew, in a real browser.

use crate::packages;
use crate::process::{self, cargo};

/// Where they are, from the root of the project.
const FOLDER: &str = "docs/pictures";

pub(crate) fn run() -> Result<(), String> {
    packages::ensure()?;
    process::run(cargo().args(["build", "--locked", "-p", "server"]))?;
    let make = ["test", "--locked", "-p", "e2e", "pictures_of_the_readme"];
    let folder = process::root().join(FOLDER);
    process::run(cargo().args(make).env("TERN_PICTURES", folder))?;
    println!("pictures are in {FOLDER}; look at them before you commit them");
    Ok(())
}
