//! Takes Rust apart just so far that rules can tell code from comments and from text.

use super::source::is_word;

/// The code with all else turned to blanks, line for line, and the string literals.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) code: String,
    pub(super) strings: Vec<Literal>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Literal {
    pub(super) line: usize,
    pub(super) text: String,
}

pub(super) fn scan(text: &str) -> Scan {
    let mut lexer = Lexer { rest: text, line: 1, scan: Scan::default() };
    while !lexer.rest.is_empty() {
        lexer.step();
    }
    lexer.scan
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    scan: Scan,
}

impl Lexer<'_> {
    fn step(&mut self) {
        let rest = self.rest;
        if rest.starts_with("//") {
            self.blank(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.blank(block_comment(rest));
        } else if let Some((open, close, end)) = string(rest) {
            let text = rest[open..close].to_owned();
            self.scan.strings.push(Literal { line: self.line, text });
            self.blank(end);
        } else if let Some(end) = character(rest) {
            self.blank(end);
        } else {
            // A word is taken whole, so that the `r` of `for"` opens no raw string.
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let one = rest.chars().next().map_or(0, char::len_utf8);
            self.copy(word.max(one));
        }
    }

    fn copy(&mut self, len: usize) {
        let (taken, rest) = self.rest.split_at(len);
        self.line += taken.matches('\n').count();
        self.scan.code.push_str(taken);
        self.rest = rest;
    }

    fn blank(&mut self, len: usize) {
        let (taken, rest) = self.rest.split_at(len);
        self.line += taken.matches('\n').count();
        self.scan.code.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
    }
}

/// The length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Where the text of a string literal begins and ends, and where the literal ends.
fn string(text: &str) -> Option<(usize, usize, usize)> {
    let prefix = text.bytes().take_while(|b| b"bcr".contains(b)).count();
    if !["", "b", "c", "r", "br", "cr"].contains(&&text[..prefix]) {
        return None;
    }
    let raw = text[..prefix].contains('r');
    let hashes = if raw { text[prefix..].bytes().take_while(|b| *b == b'#').count() } else { 0 };
    let open = prefix + hashes + 1;
    if text.as_bytes().get(open - 1) != Some(&b'"') {
        return None;
    }
    let inside = &text[open..];
    let length = if raw {
        inside.find(&format!("\"{}", "#".repeat(hashes)))
    } else {
        unescaped_quote(inside)
    };
    let close = open + length.unwrap_or(inside.len());
    Some((open, close, (close + 1 + hashes).min(text.len())))
}

fn unescaped_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|b| {
        let closes = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        closes
    })
}

/// The length of a character literal. A lifetime is none: it has no second quote.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    if let Some(escape) = inside.strip_prefix('\\') {
        let kind = escape.chars().next()?.len_utf8();
        return escape[kind..].find('\'').map(|at| 2 + kind + at + 1);
    }
    let one = inside.chars().next()?.len_utf8();
    inside[one..].starts_with('\'').then_some(one + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(text: &str) -> Vec<(usize, String)> {
        scan(text).strings.into_iter().map(|literal| (literal.line, literal.text)).collect()
    }

    #[test]
    fn comments_and_text_are_no_code() {
        let scan = scan("a // b\n/* c /* d */ e */ f \"g\" h\n");
        let words: Vec<&str> = scan.code.split_whitespace().collect();
        assert_eq!(words, ["a", "f", "h"]);
        assert_eq!(scan.code.lines().count(), 2);
    }

    #[test]
    fn strings_of_every_kind_are_found_with_their_line() {
        let text = "x(\"a\\\"b\",\n b\"c\", r#\"d\"e\"#, br\"f\\\",\n\"g\nh\", \"i\")";
        let texts = ["a\\\"b", "c", "d\"e", "f\\", "g\nh", "i"].map(ToOwned::to_owned);
        let expected: Vec<_> = [1, 2, 2, 2, 3, 4].into_iter().zip(texts).collect();
        assert_eq!(strings(text), expected);
    }

    #[test]
    fn quotes_that_open_no_string() {
        let text = "let q = '\"'; let e = '\\''; let u = '\\u{22}'; f::<'a>(\"x\"); b'\"'; r#type";
        assert_eq!(strings(text), [(1, "x".to_owned())]);
        assert!(scan(text).code.contains("<'a>"));
    }

    #[test]
    fn what_is_cut_off_ends_at_the_end() {
        for text in ["\"a", "r#\"a", "/* a", "// a", "'", "'\\", "b", "\"\\"] {
            assert_eq!(scan(text).code.chars().count(), text.chars().count(), "{text}");
        }
    }
}
