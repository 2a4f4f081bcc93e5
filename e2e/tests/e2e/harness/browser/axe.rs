//! What axe, the published checker of accessibility, finds in a page.

use std::fmt;

use serde_json::{Value, json};

use super::Browser;
use crate::harness::python;

/// Carries axe-core 4.12.1 as one file.
const PACKAGE: &str = "axe-playwright-python==0.1.8";

/// The rules of WCAG 2.2 at the levels A and AA, and what is good practice besides.
const TAGS: [&str; 6] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/// A rule that a page breaks.
#[derive(Debug)]
pub(crate) struct Finding {
    /// `minor`, `moderate`, `serious` or `critical`.
    pub(crate) impact: String,
    pub(crate) id: String,
    pub(crate) help: String,
    /// Why, at the first of them.
    why: String,
    /// Where, as selectors.
    pub(crate) targets: Vec<String>,
}

impl Finding {
    /// Somebody cannot use the page, or hardly.
    pub(crate) fn is_serious(&self) -> bool {
        matches!(self.impact.as_str(), "serious" | "critical")
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}: {}", self.impact, self.id, self.help, self.why)?;
        let shown = self.targets.iter().take(5);
        shown.into_iter().try_for_each(|target| write!(f, "\n    {target}"))?;
        let more = self.targets.len().saturating_sub(5);
        if more > 0 { write!(f, "\n    and {more} more") } else { Ok(()) }
    }
}

impl Browser {
    /// All findings on the page as it is. Axe comes through the debugger, which no policy of the
    /// page can forbid.
    pub(crate) async fn axe(&self) -> Vec<Finding> {
        let file = python::package_alone(PACKAGE).await.join("axe_playwright_python/axe.min.js");
        let axe = std::fs::read_to_string(&file).expect("the package holds axe.min.js");
        let is_there = "typeof axe === 'object'";
        if self.evaluate(is_there).await != json!(true) {
            self.evaluate(&format!("{axe};0")).await;
        }
        let options = json!({
            "runOnly": {"type": "tag", "values": TAGS},
            "resultTypes": ["violations"],
        });
        let run = format!(
            "axe.run(document, {options}).then(found => found.violations.map(one => ({{\
                impact: one.impact, id: one.id, help: one.help, \
                why: one.nodes[0].any.map(why => why.message).join(', '), \
                targets: one.nodes.map(node => node.target.join(' '))}})))"
        );
        let found = self.evaluate(&run).await;
        found.as_array().expect("a list").iter().map(finding).collect()
    }

    /// Fails if somebody could not use the page, or hardly.
    pub(crate) async fn assert_accessible(&self) {
        let found = self.axe().await;
        let serious = found.iter().filter(|finding| finding.is_serious());
        let lines: Vec<String> = serious.map(ToString::to_string).collect();
        let url = self.url().await;
        assert!(lines.is_empty(), "{url} is not accessible:\n{}", lines.join("\n"));
    }
}

fn finding(told: &Value) -> Finding {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Finding {
        impact: text(&told["impact"]),
        id: text(&told["id"]),
        help: text(&told["help"]),
        why: text(&told["why"]),
        targets: told["targets"].as_array().expect("a list").iter().map(text).collect(),
    }
}
