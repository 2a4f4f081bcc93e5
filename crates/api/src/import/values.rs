//! JSON values that follow one another, one at a time and in bounded memory: one on each line, or
//! the elements of one list.
//!
//! A value longer than the limit is passed over, so that it costs itself only.

use std::io::{self, BufRead, Read};

use domain::limits;

use super::table::MARK;

const TOO_LONG: &str = "is longer than 64 KB; is a quote not closed?";

/// The number of a value counted from 1 (its line, or its place in the list), and its text or what
/// is wrong with it.
pub(super) type Numbered<'v> = (usize, Result<&'v [u8], &'static str>);

/// Values that are read from the top.
pub(super) struct Values<R> {
    source: R,
    form: Form,
    number: usize,
    text: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines,
    List,
    /// A list that is over, or broken off.
    Ended,
}

impl<R: BufRead> Values<R> {
    pub(super) fn new(mut source: R) -> io::Result<Self> {
        if source.fill_buf()?.starts_with(MARK) {
            source.consume(MARK.len());
        }
        // Lines are counted from the first one, also if that is empty.
        let mut number = 0;
        loop {
            let first = source.fill_buf()?.first().copied();
            let blank = first.filter(u8::is_ascii_whitespace);
            if blank.is_none() {
                let form = if first == Some(b'[') { Form::List } else { Form::Lines };
                if form == Form::List {
                    source.consume(1);
                    number = 0;
                }
                return Ok(Self { source, form, number, text: Vec::new() });
            }
            number += usize::from(blank == Some(b'\n'));
            source.consume(1);
        }
    }

    /// Whether each value stands on a line of its own.
    pub(super) fn are_lines(&self) -> bool {
        self.form == Form::Lines
    }

    /// The next value.
    pub(super) fn next(&mut self) -> io::Result<Option<Numbered<'_>>> {
        let read = match self.form {
            Form::Lines => self.line()?,
            Form::List => self.element()?,
            Form::Ended => None,
        };
        let text = self.text.trim_ascii();
        Ok(read.map(|read| (self.number, read.map(|()| text))))
    }

    /// The next line that is not blank.
    fn line(&mut self) -> io::Result<Option<Result<(), &'static str>>> {
        loop {
            self.text.clear();
            self.number += 1;
            let most = limits::IMPORT_LINE_BYTES_MAX as u64 + 1;
            if self.source.by_ref().take(most).read_until(b'\n', &mut self.text)? == 0 {
                return Ok(None);
            }
            if !self.text.ends_with(b"\n") && self.text.len() > limits::IMPORT_LINE_BYTES_MAX {
                self.source.skip_until(b'\n')?;
                return Ok(Some(Err(TOO_LONG)));
            }
            if !self.text.trim_ascii().is_empty() {
                return Ok(Some(Ok(())));
            }
        }
    }

    /// The next element: up to a comma, or the end of the list, that stands in no text and in no
    /// list or object of its own.
    fn element(&mut self) -> io::Result<Option<Result<(), &'static str>>> {
        self.text.clear();
        let (mut depth, mut is_text, mut is_escaped, mut length) = (0_usize, false, false, 0);
        loop {
            let Some(byte) = self.source.fill_buf()?.first().copied() else {
                self.form = Form::Ended;
                self.number += 1;
                return Ok(Some(Err("the list has no end")));
            };
            self.source.consume(1);
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_text => is_escaped = true,
                b'"' => is_text = !is_text,
                _ if is_text => {}
                b'{' | b'[' => depth += 1,
                b',' if depth == 0 => break,
                b']' if depth == 0 => {
                    self.form = Form::Ended;
                    break;
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            length += 1;
            if length <= limits::IMPORT_LINE_BYTES_MAX {
                self.text.push(byte);
            }
        }
        if self.form == Form::Ended && self.text.trim_ascii().is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let fits = length <= limits::IMPORT_LINE_BYTES_MAX;
        Ok(Some(if fits { Ok(()) } else { Err(TOO_LONG) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<(usize, Result<String, &'static str>)> {
        let mut values = Values::new(text).expect("readable");
        let mut all = Vec::new();
        while let Some((number, value)) = values.next().expect("readable") {
            all.push((number, value.map(|value| String::from_utf8_lossy(value).into_owned())));
        }
        all
    }

    fn good(number: usize, text: &str) -> (usize, Result<String, &'static str>) {
        (number, Ok(text.to_owned()))
    }

    #[test]
    fn lines_know_their_numbers() {
        let text = "\u{feff}\n{\"a\":1}\r\n\n  \n {\"b\":\n5\n";
        let wanted = [good(2, "{\"a\":1}"), good(5, "{\"b\":"), good(6, "5")];
        assert_eq!(all(text.as_bytes()), wanted);
        assert_eq!(all(b"{}"), [good(1, "{}")]);
        for nothing in ["", "\u{feff}", " \n\n"] {
            assert_eq!(all(nothing.as_bytes()), []);
        }
    }

    #[test]
    fn elements_are_told_apart() {
        let text = "\n[ {\"a\":[1,2,{}]} ,\n{\"b\":\"],\\\"}\"}, 5 ] else";
        let wanted = [good(1, "{\"a\":[1,2,{}]}"), good(2, "{\"b\":\"],\\\"}\"}"), good(3, "5")];
        assert_eq!(all(text.as_bytes()), wanted);
        assert_eq!(all(b"[]"), []);
        assert_eq!(all(b" [ \n ]\n"), []);
        assert_eq!(all(b"[1,]"), [good(1, "1")]);
        assert_eq!(all(b"[,1]"), [good(1, ""), good(2, "1")]);
        let broken = [good(1, "{}"), (2, Err("the list has no end"))];
        assert_eq!(all(b"[{},{\"a\":"), broken);
    }

    #[test]
    fn what_is_too_long_costs_itself_only() {
        let long = "x".repeat(limits::IMPORT_LINE_BYTES_MAX + 1);
        let lines = format!("{{}}\n{long}\n5\n");
        assert_eq!(all(lines.as_bytes()), [good(1, "{}"), (2, Err(TOO_LONG)), good(3, "5")]);
        let list = format!("[{{}},\"{long}\",5]");
        assert_eq!(all(list.as_bytes()), [good(1, "{}"), (2, Err(TOO_LONG)), good(3, "5")]);
    }
}
