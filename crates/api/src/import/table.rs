//! CSV, a record at a time and in bounded memory, whatever the bytes are.
//!
//! A record longer than the limit is passed over up to the next line end, so that a quote that is
//! never closed costs some lines, not all.

use std::io::{self, Read};

use csv_core::{ReadRecordResult, Reader};
use domain::limits;

/// Columns of a table. Our widest has sixteen, and one for each currency.
const COLUMNS_MAX: usize = 500;
const INPUT_BYTES: usize = 64 * 1024;
/// What some programs write before UTF-8.
pub(super) const MARK: &[u8] = b"\xef\xbb\xbf";

/// A table that is read from the top.
pub(super) struct Table<R> {
    source: R,
    parser: Reader,
    input: Vec<u8>,
    /// The part of the input that is not parsed yet.
    left: std::ops::Range<usize>,
    text: Vec<u8>,
    ends: Vec<usize>,
    /// The line the next byte stands in.
    line: usize,
    after_return: bool,
}

/// The fields of one record.
#[derive(Clone, Copy)]
pub(super) struct Record<'t> {
    text: &'t [u8],
    ends: &'t [usize],
}

impl<'t> Record<'t> {
    pub(super) fn len(self) -> usize {
        self.ends.len()
    }

    /// A field without the blanks around it.
    pub(super) fn field(self, column: usize) -> &'t [u8] {
        let from = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text[from..self.ends[column]].trim_ascii()
    }

    fn is_blank(self) -> bool {
        (0..self.len()).all(|column| self.field(column).is_empty())
    }
}

/// Where a record begins, and the record or what is wrong with it.
pub(super) type Placed<'t> = (usize, Result<Record<'t>, &'static str>);

impl<R: Read> Table<R> {
    pub(super) fn new(source: R) -> io::Result<Self> {
        let mut table = Self {
            source,
            parser: Reader::new(),
            input: vec![0; INPUT_BYTES],
            left: 0..0,
            text: vec![0; limits::IMPORT_LINE_BYTES_MAX],
            ends: vec![0; COLUMNS_MAX],
            line: 1,
            after_return: false,
        };
        table.skip_mark()?;
        Ok(table)
    }

    /// The next record that is not blank.
    pub(super) fn next(&mut self) -> io::Result<Option<Placed<'_>>> {
        loop {
            self.skip_line_ends()?;
            if self.left.is_empty() {
                return Ok(None);
            }
            let line = self.line;
            let (fields, length) = match self.parse()? {
                Ok(size) => size,
                Err(why) => return Ok(Some((line, Err(why)))),
            };
            if !self.record(fields, length).is_blank() {
                return Ok(Some((line, Ok(self.record(fields, length)))));
            }
        }
    }

    fn record(&self, fields: usize, length: usize) -> Record<'_> {
        Record { text: &self.text[..length], ends: &self.ends[..fields] }
    }

    /// Parses one record; says how many fields and bytes it has.
    fn parse(&mut self) -> io::Result<Result<(usize, usize), &'static str>> {
        let (mut fields, mut length) = (0, 0);
        loop {
            self.fill()?;
            let (text, ends) = (&mut self.text[length..], &mut self.ends[fields..]);
            let input = &self.input[self.left.clone()];
            let (result, read, written, ended) = self.parser.read_record(input, text, ends);
            self.take(read);
            (fields, length) = (fields + ended, length + written);
            let why = match result {
                ReadRecordResult::InputEmpty => continue,
                ReadRecordResult::Record | ReadRecordResult::End => {
                    return Ok(Ok((fields, length)));
                }
                ReadRecordResult::OutputFull => "is longer than 64 KB; is a quote not closed?",
                ReadRecordResult::OutputEndsFull => "has more than 500 fields",
            };
            self.parser = Reader::new();
            self.skip_line()?;
            return Ok(Err(why));
        }
    }

    /// Reads on when everything so far is parsed. Nothing left afterwards is the end.
    fn fill(&mut self) -> io::Result<()> {
        if self.left.is_empty() {
            self.left = 0..read(&mut self.source, &mut self.input)?;
        }
        Ok(())
    }

    fn skip_mark(&mut self) -> io::Result<()> {
        let mut filled = 0;
        while filled < MARK.len() {
            match read(&mut self.source, &mut self.input[filled..])? {
                0 => break,
                more => filled += more,
            }
        }
        let start = if self.input[..filled].starts_with(MARK) { MARK.len() } else { 0 };
        self.left = start..filled;
        Ok(())
    }

    /// Line ends between records, and lines with nothing in them.
    fn skip_line_ends(&mut self) -> io::Result<()> {
        loop {
            self.fill()?;
            let rest = &self.input[self.left.clone()];
            let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if ends == 0 {
                return Ok(());
            }
            self.take(ends);
        }
    }

    /// The rest of a line.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            self.fill()?;
            let rest = &self.input[self.left.clone()];
            let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let (taken, is_done) = (end.unwrap_or(rest.len()), end.is_some() || rest.is_empty());
            self.take(taken);
            if is_done {
                return Ok(());
            }
        }
    }

    /// Counts the lines of what is taken: each may end with LF, CR or both.
    fn take(&mut self, count: usize) {
        let taken = self.left.start..self.left.start + count;
        for byte in &self.input[taken] {
            let is_new = *byte == b'\r' || (*byte == b'\n' && !self.after_return);
            self.line += usize::from(is_new);
            self.after_return = *byte == b'\r';
        }
        self.left.start += count;
    }
}

/// What a source gives, also one that is interrupted.
fn read(source: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Drops<'b>(&'b [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            into[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn all(source: impl Read) -> Vec<(usize, Result<Vec<String>, &'static str>)> {
        let mut table = Table::new(source).expect("readable");
        let mut records = Vec::new();
        while let Some((line, record)) = table.next().expect("readable") {
            let texts = |record: Record<'_>| {
                let text = |column| String::from_utf8_lossy(record.field(column)).into_owned();
                (0..record.len()).map(text).collect()
            };
            records.push((line, record.map(texts)));
        }
        records
    }

    fn good(line: usize, fields: &[&str]) -> (usize, Result<Vec<String>, &'static str>) {
        (line, Ok(fields.iter().map(|field| (*field).to_owned()).collect()))
    }

    #[test]
    fn records_know_their_lines_however_lines_end() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["\u{feff}a,b", "", "1,\"x", "y\"", " ,", "2,\"say \"\"hi\"\"\""].join(end);
            let quoted = format!("x{end}y");
            let expected =
                [good(1, &["a", "b"]), good(3, &["1", &quoted]), good(6, &["2", "say \"hi\""])];
            assert_eq!(all(text.as_bytes()), expected, "{end:?}");
            assert_eq!(all(Drops(text.as_bytes())), expected, "{end:?}, drop by drop");
            assert_eq!(all(format!("{text}{end}").as_bytes()), expected, "{end:?} at the end");
        }
    }

    #[test]
    fn what_is_too_long_costs_its_own_lines_only() {
        let long = "x".repeat(limits::IMPORT_LINE_BYTES_MAX + 1);
        let why = "is longer than 64 KB; is a quote not closed?";
        for text in [format!("a\n{long}\nb"), format!("a\r\n{long}\r\nb\r\n")] {
            assert_eq!(all(text.as_bytes()), [good(1, &["a"]), (2, Err(why)), good(3, &["b"])]);
        }
        let unclosed = format!("a\n\"b\n{}c", "d\n".repeat(50_000));
        let records = all(unclosed.as_bytes());
        assert_eq!(records[..2], [good(1, &["a"]), (2, Err(why))]);
        assert_eq!(records.last(), Some(&good(50_003, &["c"])));
        let wide = format!("{}\nb", ",".repeat(600));
        assert_eq!(all(wide.as_bytes()), [(1, Err("has more than 500 fields")), good(2, &["b"])]);
        assert_eq!(all(long.as_bytes()), [(1, Err(why))]);
    }

    #[test]
    fn nothing_is_nothing() {
        for text in ["", "\u{feff}", "\n\r\n\n", " , \n,"] {
            assert_eq!(all(text.as_bytes()), [], "{text:?}");
        }
        assert_eq!(all(&b"\xef\xbb"[..]).len(), 1);
    }
}
