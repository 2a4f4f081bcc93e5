//! Cells of a CSV file, as whoever opens it in a spreadsheet needs them.

/// Quoted where needed, and never a formula to a spreadsheet.
pub fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if guard.is_empty() && !text.contains([',', '"', '\n', '\r']) {
        return text.to_owned();
    }
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn cells_are_safe_in_a_spreadsheet() {
        assert_eq!(cell("plain"), "plain");
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(cell("=1+1"), "\"'=1+1\"");
    }
}
