//! A ZIP that is written while it is sent. Our own, because entries are known whole: each header
//! then tells its size, which readers that work on a stream need, and little is held in memory.

/// The format cannot count further without its extension.
const PLAIN_ENTRIES_MAX: usize = 0xffff;
const PLAIN_BYTES_MAX: u64 = 0xffff_ffff;
/// Reader version 2.0, and 4.5 for the extension.
const PLAIN_READER: u16 = 20;
const LARGE_READER: u16 = 45;
/// Names are UTF-8.
const UTF8: u16 = 1 << 11;
/// The first of January 1980: an archive of the same data is the same archive.
const NO_DATE: u32 = (1 << 21) | (1 << 16);

/// An archive under way.
#[derive(Default)]
pub(super) struct Zip {
    entries: Vec<Entry>,
    /// Bytes given out so far.
    at: u64,
}

struct Entry {
    name: Box<str>,
    crc: u32,
    size: u32,
    at: u64,
}

impl Zip {
    /// Adds a file to the bytes that go out next. Files are far below 4 GB.
    pub(super) fn add(&mut self, out: &mut Vec<u8>, name: &str, contents: &[u8]) {
        let from = out.len();
        let entry = Entry {
            name: name.into(),
            crc: crc32fast::hash(contents),
            size: u32::try_from(contents.len()).unwrap_or(u32::MAX),
            at: self.at,
        };
        out.extend_from_slice(b"PK\x03\x04");
        entry.facts(out, PLAIN_READER);
        short(out, 0);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(contents);
        self.at += (out.len() - from) as u64;
        self.entries.push(entry);
    }

    /// The table of contents.
    pub(super) fn finish(self, out: &mut Vec<u8>) {
        let (from, start) = (out.len(), self.at);
        for entry in &self.entries {
            entry.listed(out);
        }
        let size = (out.len() - from) as u64;
        let count = self.entries.len();
        let is_large = count >= PLAIN_ENTRIES_MAX || start + size >= PLAIN_BYTES_MAX;
        if is_large {
            large_end(out, count as u64, (start, size));
        }
        let plain = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        out.extend_from_slice(b"PK\x05\x06");
        long(out, 0);
        short(out, count);
        short(out, count);
        long(out, plain(size));
        long(out, plain(start));
        short(out, 0);
    }
}

impl Entry {
    /// What both headers of a file have in common.
    fn facts(&self, out: &mut Vec<u8>, reader: u16) {
        short(out, reader);
        short(out, UTF8);
        // Stored: pictures are compressed already.
        short(out, 0);
        long(out, NO_DATE);
        long(out, self.crc);
        long(out, self.size);
        long(out, self.size);
        short(out, u16::try_from(self.name.len()).unwrap_or(u16::MAX));
    }

    fn listed(&self, out: &mut Vec<u8>) {
        let is_far = self.at >= PLAIN_BYTES_MAX;
        let reader = if is_far { LARGE_READER } else { PLAIN_READER };
        out.extend_from_slice(b"PK\x01\x02");
        short(out, reader);
        self.facts(out, reader);
        short(out, if is_far { 12 } else { 0 });
        // No comment, first disk, no attributes.
        short(out, 0);
        short(out, 0);
        short(out, 0);
        long(out, 0);
        long(out, u32::try_from(self.at).unwrap_or(u32::MAX));
        out.extend_from_slice(self.name.as_bytes());
        if is_far {
            short(out, 1);
            short(out, 8);
            out.extend_from_slice(&self.at.to_le_bytes());
        }
    }
}

/// The extension for archives of more files or bytes than the format was made for.
fn large_end(out: &mut Vec<u8>, count: u64, (start, size): (u64, u64)) {
    out.extend_from_slice(b"PK\x06\x06");
    out.extend_from_slice(&44_u64.to_le_bytes());
    short(out, LARGE_READER);
    short(out, LARGE_READER);
    long(out, 0);
    long(out, 0);
    for number in [count, count, size, start] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(b"PK\x06\x07");
    long(out, 0);
    out.extend_from_slice(&(start + size).to_le_bytes());
    long(out, 1);
}

fn short(out: &mut Vec<u8>, number: u16) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn long(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}
