//! ARCHITECTURE.md is a map; a map that leaves out a crate is wrong.

use super::Finding;
use super::floors::manifests;
use super::source::Source;

const MAP: &str = "ARCHITECTURE.md";

pub(super) fn names_every_crate(files: &[Source]) -> Vec<Finding> {
    let map = files.iter().find(|file| file.path == MAP);
    let text = map.map_or("", |file| &file.text);
    let folders = manifests(files).filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    let missing = folders.filter(|folder| !names(text, folder));
    let advice = |folder| format!("say what the crate `{folder}` is for");
    missing
        .map(|folder| Finding { file: MAP.into(), line: 1, rule: "map", advice: advice(folder) })
        .collect()
}

/// As `crates/store`, as `store/` in the tree of folders, or as the crate `store`.
fn names(text: &str, folder: &str) -> bool {
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let words = text.split(|c: char| c.is_whitespace() || "()[],;│├└─".contains(c));
    let plain = |word: &str| word.trim_matches(|c| "`*.:/".contains(c)).to_owned();
    let marked = |word: &str| word.ends_with('/') || word.contains('`');
    words.into_iter().any(|word| plain(word) == folder || (marked(word) && plain(word) == name))
}

#[cfg(test)]
mod tests {
    use super::super::lines;
    use super::*;

    fn check(map: &str) -> Vec<usize> {
        let file = |path: &str, text: &str| Source::new(path, text);
        let files = [file("crates/store/Cargo.toml", ""), file("Cargo.toml", ""), file(MAP, map)];
        lines(&names_every_crate(&files))
    }

    #[test]
    fn every_crate_is_on_the_map() {
        assert_eq!(check("Nothing."), [1]);
        assert_eq!(check("Things are kept in a store, see bookstore/."), [1]);
        for map in ["The crate `store`.", "  store/   the only SQL", "see crates/store."] {
            assert_eq!(check(map), [0; 0], "{map}");
        }
    }

    #[test]
    fn a_missing_map_names_nothing() {
        assert_eq!(lines(&names_every_crate(&[Source::new("crates/app/Cargo.toml", "")])), [1]);
    }
}
