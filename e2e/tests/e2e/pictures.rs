//! Reading what is downloaded: archives, and the codes in pictures. Written from the standards, so
//! that it shares no mistake with what wrote them.

use std::io::Read;

use flate2::Crc;
use flate2::read::ZlibDecoder;

fn short(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().expect("two bytes")))
}

fn long(bytes: &[u8], at: usize) -> usize {
    let four = bytes[at..at + 4].try_into().expect("four bytes");
    usize::try_from(u32::from_le_bytes(four)).expect("small")
}

/// The files of an archive by its table of contents, each checked against its sum.
pub(crate) fn unzip(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let end = archive.len() - 22;
    assert_eq!(&archive[end..end + 4], b"PK\x05\x06", "the end of an archive");
    let (count, mut at) = (short(archive, end + 10), long(archive, end + 16));
    let mut files = Vec::new();
    for _ in 0..count {
        assert_eq!(&archive[at..at + 4], b"PK\x01\x02", "an entry of the table");
        let (crc, size, start) = (long(archive, at + 16), long(archive, at + 24), at + 46);
        assert_eq!((short(archive, at + 10), long(archive, at + 20)), (0, size), "stored as it is");
        let name = &archive[start..start + short(archive, at + 28)];
        let own = long(archive, at + 42);
        assert_eq!(&archive[own..own + 4], b"PK\x03\x04", "a file");
        let named = own + 30;
        let data = named + name.len() + short(archive, own + 28);
        assert_eq!(&archive[named..named + name.len()], name, "both names");
        assert_eq!((long(archive, own + 14), long(archive, own + 22)), (crc, size), "both sums");
        let contents = archive[data..data + size].to_vec();
        let mut sum = Crc::new();
        sum.update(&contents);
        assert_eq!(usize::try_from(sum.sum()), Ok(crc), "the sum of the contents");
        files.push((String::from_utf8(name.to_vec()).expect("a name"), contents));
        at = start + name.len() + short(archive, at + 30) + short(archive, at + 32);
    }
    assert_eq!(at, end, "nothing between the table and the end");
    files
}

/// What a phone reads from a picture of ours: 42 bytes at most, since longer ones are larger.
pub(crate) fn scanned(picture: &[u8]) -> String {
    let code = modules(picture);
    assert_eq!(code.len(), SIDE, "a code of this size");
    // Beside the upper left corner stands how the rest is masked.
    let format = code[8][..5].iter().zip([true, false, true, false, true]);
    let format: Vec<_> = format.map(|(dark, flipped)| dark ^ flipped).collect();
    assert_eq!(format[..2], [false, false], "a medium level of correction");
    let mask = format[2..].iter().fold(0, |mask, bit| 2 * mask + u8::from(*bit));
    let mut bits = path().map(|(y, x)| code[y][x] ^ is_flipped(mask, y, x));
    let mut number = |count: usize| (&mut bits).take(count).fold(0, |n, bit| 2 * n + u8::from(bit));
    assert_eq!(number(4), 4, "bytes");
    let length = number(8);
    String::from_utf8((0..length).map(|_| number(8)).collect()).expect("text")
}

/// Modules of a side of a code of version 3.
const SIDE: usize = 29;

/// The modules of a picture without the margin; dark is true.
fn modules(picture: &[u8]) -> Vec<Vec<bool>> {
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    let side = u32::from_be_bytes(picture[16..20].try_into().expect("four bytes"));
    let width = usize::try_from(side / 8).expect("small");
    let at = picture.windows(4).position(|four| four == b"IDAT").expect("pixels");
    let mut bytes = Vec::new();
    ZlibDecoder::new(&picture[at + 4..]).read_to_end(&mut bytes).expect("packed");
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for line in bytes.chunks(width + 1) {
        let above = lines.last().cloned().unwrap_or_else(|| vec![0; width]);
        let differs = |(own, above): (&u8, &u8)| match line[0] {
            0 => *own,
            2 => own.wrapping_add(*above),
            other => panic!("no such filter: {other}"),
        };
        lines.push(line[1..].iter().zip(&above).map(differs).collect());
    }
    assert_eq!(lines.len(), 8 * width, "it is square");
    let rows = lines.into_iter().step_by(8).skip(4).take(width - 8);
    rows.map(|row| row[4..width - 4].iter().map(|pixels| *pixels == 0).collect()).collect()
}

/// The places of the data: in pairs of columns from the right, up and down in turn.
fn path() -> impl Iterator<Item = (usize, usize)> {
    let pairs = (0..SIDE / 2).map(|n| SIDE - 1 - 2 * n).map(|x| if x <= 6 { x - 1 } else { x });
    let pair = |(n, x): (usize, usize)| {
        let row = move |y: usize| if n % 2 == 0 { SIDE - 1 - y } else { y };
        (0..SIDE).flat_map(move |y| [(row(y), x), (row(y), x - 1)])
    };
    pairs.enumerate().flat_map(pair).filter(|(y, x)| !is_fixed(*y, *x))
}

/// Whether a place belongs to the patterns that every code has.
fn is_fixed(y: usize, x: usize) -> bool {
    let corners = (y < 9 && !(9..SIDE - 8).contains(&x)) || (y >= SIDE - 8 && x < 9);
    let small = (20..=24).contains(&y) && (20..=24).contains(&x);
    corners || small || y == 6 || x == 6
}

fn is_flipped(mask: u8, y: usize, x: usize) -> bool {
    match mask {
        0 => (y + x).is_multiple_of(2),
        1 => y.is_multiple_of(2),
        2 => x.is_multiple_of(3),
        3 => (y + x).is_multiple_of(3),
        4 => (y / 2 + x / 3).is_multiple_of(2),
        5 => y * x % 2 + y * x % 3 == 0,
        6 => (y * x % 2 + y * x % 3).is_multiple_of(2),
        _ => ((y + x) % 2 + y * x % 3).is_multiple_of(2),
    }
}
