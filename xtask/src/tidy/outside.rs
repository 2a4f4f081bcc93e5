//! No file points at a place outside the repository: a clone must be enough.

use super::Finding;
use super::source::{Source, is_word, numbered};

pub(super) fn references(file: &Source) -> Vec<Finding> {
    let found = numbered(&file.text).filter(|(_, line)| points_outside(line));
    let advice = "name nothing outside the repository; say it here or leave it out";
    found.map(|(number, _)| file.finding(number, "outside", advice)).collect()
}

fn points_outside(line: &str) -> bool {
    // Joined from halves, so that this file is no finding itself.
    let anywhere = [["../", "shared"], ["/wo", "rk/"]];
    // A folder that hides, not a field of that name.
    let hidden = [[".lib", "rary"]];
    // Somebody's own folder, not the end of a longer path or of an address.
    let absolute = [["/ho", "me/"], ["/ro", "ot/"]];
    anywhere.iter().any(|needle| line.contains(&needle.concat()))
        || hidden.iter().any(|needle| stands_alone(line, &needle.concat()))
        || absolute.iter().any(|needle| stands_alone(line, &needle.concat()))
}

fn stands_alone(line: &str, needle: &str) -> bool {
    let continues = |c: char| is_word(c) || ".-)]?".contains(c);
    line.match_indices(needle).any(|(at, _)| !line[..at].ends_with(continues))
}

#[cfg(test)]
mod tests {
    use super::super::lines;
    use super::*;

    fn check(parts: [&str; 3]) -> Vec<usize> {
        lines(&references(&Source::new("README.md", &parts.concat())))
    }

    #[test]
    fn places_outside_are_found_in_any_text() {
        assert_eq!(check(["\nsee ../", "shared", "/design"]), [2]);
        assert_eq!(check(["cd /wo", "rk/", "main"]), [1]);
        assert_eq!(check(["x = \".lib", "rary", "\""]), [1]);
        assert_eq!(check(["data = \"/ho", "me/", "ann\""]), [1]);
        assert_eq!(check(["file:///ro", "ot/", ".ssh"]), [1]);
    }

    #[test]
    fn what_only_looks_like_it_is_fine() {
        assert_eq!(check(["self.lib", "rary", ".find()"]), [0; 0]);
        assert_eq!(check(["https://example.com/ho", "me/", "page"]), [0; 0]);
        assert_eq!(check(["target/ro", "ot/", "x"]), [0; 0]);
    }
}
