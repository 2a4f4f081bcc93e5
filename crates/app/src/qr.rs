//! QR codes as pictures that any phone reads, also when they are printed.

use std::fmt::Write as _;
use std::io::Write;

use fast_qr::ECL;
use fast_qr::qr::{QRBuilder, QRCodeError};
use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Light modules around a code, as its standard wants them.
const QUIET: usize = 4;
/// Pixels of a module: at 300 dots per inch a code is then about three centimetres wide.
const SCALE: usize = 8;
/// How hard it is packed: beyond this a picture takes twice the time to lose a few bytes.
const LEVEL: u32 = 4;

/// A text that cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is too long for any code.
    #[error("too long for a QR code")]
    TooLong,
    /// The picture could not be packed.
    #[error("a picture could not be packed: {0}")]
    Packing(#[from] std::io::Error),
}

impl From<QRCodeError> for Error {
    fn from(_: QRCodeError) -> Self {
        Self::TooLong
    }
}

/// The code of a text as a PNG, black on white, one bit a pixel.
pub fn png(text: &str) -> Result<Vec<u8>, Error> {
    let code = QRBuilder::new(text).ecl(ECL::M).build()?;
    let width = code.size + 2 * QUIET;
    let mut lines = Lines::new(width);
    lines.add(QUIET, |_| false);
    for y in 0..code.size {
        lines.add(1, |x| (QUIET..QUIET + code.size).contains(&x) && code[y][x - QUIET].value());
    }
    lines.add(QUIET, |_| false);
    let side = u32::try_from(width * SCALE).map_err(|_| Error::TooLong)?.to_be_bytes();
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    // One bit a pixel, from black to white, packed and filtered in the only way there is.
    chunk(&mut picture, *b"IHDR", &[&side[..], &side[..], &[1, 0, 0, 0, 0]].concat());
    chunk(&mut picture, *b"IDAT", &lines.packed()?);
    chunk(&mut picture, *b"IEND", &[]);
    Ok(picture)
}

/// The same as the path of a drawing, and how many units wide it is with the light around it.
pub fn path(text: &str) -> Result<(String, usize), Error> {
    let code = QRBuilder::new(text).ecl(ECL::M).build()?;
    let mut path = String::new();
    for y in 0..code.size {
        for x in (0..code.size).filter(|x| code[y][*x].value()) {
            let _fits = write!(path, "M{} {}h1v1h-1z", x + QUIET, y + QUIET);
        }
    }
    Ok((path, code.size + 2 * QUIET))
}

/// A part of a PNG: how long it is, what it is, the part itself, and a check sum.
fn chunk(picture: &mut Vec<u8>, kind: [u8; 4], contents: &[u8]) {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&kind);
    sum.update(contents);
    picture.extend_from_slice(&u32::try_from(contents.len()).unwrap_or(u32::MAX).to_be_bytes());
    picture.extend_from_slice(&kind);
    picture.extend_from_slice(contents);
    picture.extend_from_slice(&sum.finalize().to_be_bytes());
}

/// Lines of pixels as a PNG has them: each begins with how it was filtered.
struct Lines {
    width: usize,
    bytes: Vec<u8>,
}

/// As it is.
const PLAIN: u8 = 0;
/// The difference from the line above.
const UP: u8 = 2;

impl Lines {
    fn new(width: usize) -> Self {
        Self { width, bytes: Vec::with_capacity((width + 1) * width * SCALE) }
    }

    /// So many rows of modules. Of the lines of a row all but the first are like the one above,
    /// which is a run of zeros: that packs faster and smaller than what the library finds itself.
    fn add(&mut self, rows: usize, is_dark: impl Fn(usize) -> bool) {
        // A module is as wide as a byte of pixels, and a bit that is set is white.
        const { assert!(SCALE == 8, "a module is a byte of pixels") };
        self.bytes.push(PLAIN);
        self.bytes.extend((0..self.width).map(|x| if is_dark(x) { 0 } else { 0xff }));
        for _ in 1..rows * SCALE {
            self.bytes.push(UP);
            self.bytes.resize(self.bytes.len() + self.width, 0);
        }
    }

    fn packed(&self) -> std::io::Result<Vec<u8>> {
        let mut packer = ZlibEncoder::new(Vec::with_capacity(1_024), Compression::new(LEVEL));
        packer.write_all(&self.bytes)?;
        packer.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    /// The lines of a picture, unpacked and unfiltered.
    fn lines(picture: &[u8]) -> Vec<Vec<u8>> {
        let side = u32::from_be_bytes(picture[16..20].try_into().expect("four bytes"));
        let at = picture.windows(4).position(|four| four == b"IDAT").expect("pixels");
        let mut bytes = Vec::new();
        ZlibDecoder::new(&picture[at + 4..]).read_to_end(&mut bytes).expect("packed");
        let width = usize::try_from(side / 8).expect("small");
        let mut lines: Vec<Vec<u8>> = Vec::new();
        for line in bytes.chunks(width + 1) {
            lines.push(match line[0] {
                PLAIN => line[1..].to_vec(),
                UP => lines.last().expect("a line above").clone(),
                other => panic!("no such filter: {other}"),
            });
        }
        assert_eq!(lines.len(), width * 8, "it is square");
        lines
    }

    #[test]
    fn a_picture_has_a_quiet_zone_and_whole_modules() {
        let picture = png("LPA:1$rsp.example$K2QPA-7RMXD-W4TZN-90HLC").expect("a picture");
        let lines = lines(&picture);
        let light = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0xff);
        assert!(lines[..QUIET * SCALE].iter().all(|line| light(line)), "quiet above");
        assert!(lines.iter().all(|line| light(&line[..QUIET])), "quiet at the side");
        assert!(!light(&lines[QUIET * SCALE]), "then the code begins");
        assert!(lines.iter().flatten().all(|byte| [0, 0xff].contains(byte)), "no half modules");
        assert!(picture.len() < 600, "{} bytes", picture.len());
    }

    #[test]
    fn what_no_code_can_hold_is_an_error() {
        assert!(png(&"x".repeat(5_000)).is_err());
    }
}
