//! Which crate may import which: only from floors below, and only along the edges listed here.

use toml::{Table, Value};

use super::Finding;
use super::source::Source;

/// Every crate of ours, and what it may import of ours.
const EDGES: [(&str, Edges); 10] = [
    ("domain", Edges::To(&[])),
    ("store", Edges::To(&["domain"])),
    ("adapters", Edges::To(&["domain"])),
    ("app", Edges::To(&["domain", "store"])),
    ("api", Edges::To(&["app", "domain"])),
    ("portal", Edges::To(&["app", "domain"])),
    ("server", Edges::To(&["adapters", "api", "app", "domain", "portal", "store"])),
    ("e2e", Edges::Any),
    ("bench", Edges::Any),
    // It must build when nothing else does, or nobody is told why.
    ("xtask", Edges::To(&[])),
];

#[derive(Clone, Copy)]
enum Edges {
    To(&'static [&'static str]),
    Any,
}

pub(super) fn floors(files: &[Source]) -> Vec<Finding> {
    manifests(files).flat_map(check).collect()
}

/// The manifests of the crates; the one of the workspace is none.
pub(super) fn manifests(files: &[Source]) -> impl Iterator<Item = &Source> {
    files.iter().filter(|file| file.path.ends_with("/Cargo.toml"))
}

fn check(file: &Source) -> Vec<Finding> {
    let Ok(manifest) = file.text.parse::<Table>() else {
        return vec![file.finding(1, "floors", "the manifest cannot be read")];
    };
    let name = manifest.get("package").and_then(|package| package.get("name"));
    let name = name.and_then(Value::as_str).unwrap_or_default();
    let Some((_, edges)) = EDGES.iter().find(|(own, _)| *own == name) else {
        let advice = format!("give the crate `{name}` a floor in xtask/src/tidy/floors.rs");
        return vec![file.finding(1, "floors", &advice)];
    };
    let Edges::To(allowed) = edges else { return Vec::new() };
    let ours = |import: &String| EDGES.iter().any(|(own, _)| own == import);
    let wrong = imports(&manifest).into_iter().filter(ours).filter(|i| !allowed.contains(&&**i));
    wrong.map(|import| report(file, name, &import)).collect()
}

fn report(file: &Source, name: &str, import: &str) -> Finding {
    let at = |end: &str| file.line_of(&format!("\n{import}{end}")[1..]);
    let line = at(".workspace").max(at(" ="));
    let advice =
        format!("`{name}` may not import `{import}`; move the code up, or the port down to domain");
    file.finding(line, "floors", &advice)
}

/// The crates a manifest imports, for whatever purpose and platform, by their real names.
fn imports(manifest: &Table) -> Vec<String> {
    const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = platforms.filter_map(|(_, platform)| platform.as_table());
    let tables = std::iter::once(manifest).chain(tables);
    let kinds = tables.flat_map(|table| KINDS.iter().filter_map(|kind| table.get(*kind)));
    let entries = kinds.filter_map(Value::as_table).flatten();
    let real = |(name, entry): (&String, &Value)| {
        entry.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()
    };
    entries.map(real).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines;
    use super::*;

    fn check_one(name: &str, rest: &str) -> Vec<usize> {
        let text = format!("[package]\nname = \"{name}\"\n{rest}");
        lines(&floors(&[Source::new(&format!("crates/{name}/Cargo.toml"), &text)]))
    }

    #[test]
    fn imports_go_down_along_the_listed_edges() {
        assert_eq!(check_one("app", "[dependencies]\nstore.workspace = true\n"), [0; 0]);
        assert_eq!(check_one("store", "[dependencies]\ndomain.workspace = true\n"), [0; 0]);
        assert_eq!(check_one("api", "[dependencies]\nstore.workspace = true\n"), [4]);
        assert_eq!(check_one("domain", "[dependencies]\napp.workspace = true\n"), [4]);
        assert_eq!(check_one("store", "[dependencies]\nadapters.workspace = true\n"), [4]);
        assert_eq!(check_one("xtask", "[dependencies]\ndomain.workspace = true\n"), [4]);
    }

    #[test]
    fn tests_and_platforms_count_too_and_renaming_does_not_help() {
        assert_eq!(check_one("app", "[dev-dependencies]\nserver.workspace = true\n"), [4]);
        let renamed = "[dependencies]\nx = { package = \"store\", path = \"../store\" }\n";
        assert_eq!(check_one("api", renamed).len(), 1);
        let platform = "[target.'cfg(unix)'.dependencies]\nstore.workspace = true\n";
        assert_eq!(check_one("api", platform), [4]);
    }

    #[test]
    fn tests_from_outside_may_import_everything() {
        assert_eq!(check_one("e2e", "[dev-dependencies]\nserver.workspace = true\n"), [0; 0]);
        assert_eq!(check_one("bench", "[dependencies]\nstore.workspace = true\n"), [0; 0]);
    }

    #[test]
    fn a_new_crate_needs_a_floor() {
        assert_eq!(check_one("cellar", ""), [1]);
    }
}
