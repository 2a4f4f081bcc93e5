//! Lines of stock, one at a time and in bounded memory. Nothing they hold is repeated in an error.

use std::io::{self, Read};

use app::stock::{Error, Judged, Verdict};
use app::{Actor, App};
use domain::Mode;
use domain::stock::Line;

use super::columns::Lines;
use crate::json::Fields;
use crate::problem::Problem;

/// The columns, in the order of a line's fields.
const COLUMNS: [&str; 8] =
    ["iccid", "matchingId", "smdpAddress", "pin", "puk", "msisdn", "imsi", "profileName"];
/// How many of them cannot be left out.
const NEEDED: usize = 3;

/// A file of stock: CSV with a header line, columns in any order.
pub struct Stock<R>(Lines<R, 8>);

impl<R: Read> Stock<R> {
    /// Reads the header line, or says what is wrong with it.
    pub fn open(source: R) -> Result<Self, String> {
        Lines::open(source, COLUMNS, NEEDED).map(Self)
    }

    /// The next so many lines; none is the end.
    pub fn chunk(&mut self, most: usize) -> io::Result<Chunk> {
        let mut chunk = Chunk::default();
        while chunk.len() < most {
            let Some((line, read)) = self.line()? else { break };
            match read {
                Ok(fields) => chunk.lines.push((line, fields)),
                Err(why) => chunk.reject(line, why),
            }
        }
        Ok(chunk)
    }

    /// The next line with its number, or what is wrong with it.
    pub fn line(&mut self) -> io::Result<Option<(usize, Result<Line, &'static str>)>> {
        let line = |fields: [String; 8]| {
            let [iccid, matching_id, smdp_address, pin, puk, msisdn, imsi, profile_name] = fields;
            Line { iccid, matching_id, smdp_address, pin, puk, msisdn, imsi, profile_name }
        };
        Ok(self.0.next()?.map(|(number, fields)| (number, fields.map(line))))
    }
}

/// Lines that are brought in together.
#[derive(Default)]
pub struct Chunk {
    lines: Vec<(usize, Line)>,
    /// Those that cannot be read.
    bad: Vec<Judged>,
}

impl Chunk {
    /// How many lines it has.
    pub fn len(&self) -> usize {
        self.lines.len() + self.bad.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Brings the lines in, and says what became of each, in order.
    pub async fn import(self, app: &App, actor: Actor, mode: Mode) -> Result<Vec<Judged>, Error> {
        let mut judged = app.import_stock(actor, mode, self.lines).await?;
        judged.extend(self.bad);
        judged.sort_by_key(|one| one.line);
        Ok(judged)
    }

    /// Reads `{"profiles":[…]}`; lines are counted from 1.
    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self, Problem> {
        let profiles = Fields::read(bytes)?.objects("profiles")?;
        let profiles = profiles.ok_or_else(|| Problem::malformed("there are no profiles"))?;
        let line = |mut fields: Fields| {
            let mut text = |name: &str| fields.text(name).map(Option::unwrap_or_default);
            Ok(Line {
                iccid: text("iccid")?,
                matching_id: text("matchingId")?,
                smdp_address: text("smdpAddress")?,
                pin: text("pin")?,
                puk: text("puk")?,
                msisdn: text("msisdn")?,
                imsi: text("imsi")?,
                profile_name: text("profileName")?,
            })
        };
        let lines = profiles.into_iter().map(line).collect::<Result<Vec<_>, Problem>>()?;
        Ok(Self { lines: (1..).zip(lines).collect(), bad: Vec::new() })
    }

    fn reject(&mut self, line: usize, why: &'static str) {
        self.bad.push(Judged { line, iccid: String::new(), verdict: Verdict::Rejected(why) });
    }
}

#[cfg(test)]
mod tests {
    use domain::limits;

    use super::*;

    fn read(bytes: &[u8]) -> Vec<(usize, Result<Line, &'static str>)> {
        let mut stock = Stock::open(bytes).expect("a header");
        std::iter::from_fn(|| stock.line().expect("readable")).collect()
    }

    fn refused(bytes: &[u8]) -> String {
        Stock::open(bytes).err().expect("refused")
    }

    #[test]
    fn columns_stand_in_any_order_and_case() {
        let text = "\u{feff}SMDPADDRESS,else,Iccid,matchingid,profileName\r\n\
             rsp.example,x,8944500102198304826,\"K2-A\",\"Profile, 2\"\r\n\r\n\
             rsp.example,,8944500102198304834,K2-B,\r\n";
        let lines = read(text.as_bytes());
        let [(2, Ok(first)), (4, Ok(second))] = lines.as_slice() else { panic!("two lines") };
        assert_eq!(first.iccid, "8944500102198304826");
        assert_eq!(first.matching_id, "K2-A");
        assert_eq!(first.smdp_address, "rsp.example");
        assert_eq!(first.profile_name, "Profile, 2");
        assert_eq!((first.pin.as_str(), second.profile_name.as_str()), ("", ""));
    }

    #[test]
    fn a_header_is_required() {
        assert_eq!(refused(b""), "line 1: the first line must name the columns");
        let why = "line 1: there is no column matchingId and no column smdpAddress";
        assert_eq!(refused(b"iccid,pin\n"), why);
        assert_eq!(refused(b"iccid,ICCID\n"), "line 1: the column iccid stands twice");
        let why = "line 1: the columns must be separated by commas";
        assert_eq!(refused(b"iccid;matchingId;smdpAddress\n"), why);
        assert_eq!(refused(b"\xff\xfei\0c\0"), "line 1: is not UTF-8");
    }

    #[test]
    fn a_bad_line_costs_only_itself() {
        let head = b"iccid,matchingId,smdpAddress\n".to_vec();
        let long = vec![b'x'; limits::IMPORT_LINE_BYTES_MAX + 1];
        let body =
            [&b"1,a,b\n1,a\n1,\xff,b\n1,a\0,b\n"[..], &long, b"\n\"1\n2\",a,b\n1,a,b,c\n2,a,b"];
        let told: Vec<_> = read(&[head, body.concat()].concat())
            .into_iter()
            .map(|(line, read)| (line, read.map(|line| line.iccid)))
            .collect();
        let width = "must have as many fields as there are columns";
        assert_eq!(
            told,
            [
                (2, Ok("1".to_owned())),
                (3, Err(width)),
                (4, Err("is not UTF-8")),
                (5, Err("holds a NUL")),
                (6, Err("is longer than 64 KB; is a quote not closed?")),
                (7, Ok("1\n2".to_owned())),
                (9, Err(width)),
                (10, Ok("2".to_owned())),
            ]
        );
    }

    #[test]
    fn chunks_end_where_they_should() {
        let lines = "1,a,b\n1,a\n".repeat(3);
        let text = format!("iccid,matchingId,smdpAddress\n{lines}");
        let mut stock = Stock::open(text.as_bytes()).expect("a header");
        let mut sizes = || {
            let chunk = stock.chunk(4).expect("readable");
            (chunk.lines.len(), chunk.bad.len())
        };
        assert_eq!([sizes(), sizes(), sizes()], [(2, 2), (1, 1), (0, 0)]);
    }

    #[test]
    fn profiles_come_as_json_too() {
        let body = br#"{"Profiles":[{"ICCID":"1","matchingId":"K","smdpAddress":"h","x":1},{}]}"#;
        let chunk = Chunk::from_json(body).expect("lines");
        assert_eq!((chunk.len(), chunk.lines[0].0, chunk.lines[1].0), (2, 1, 2));
        assert_eq!(chunk.lines[0].1.matching_id, "K");
        for bad in [
            &b""[..],
            b"{}",
            b"[]",
            b"{\"profiles\":5}",
            b"{\"profiles\":[5]}",
            b"{\"profiles\":[{\"pin\":1234}]}",
            b"\xff",
        ] {
            let problem = Chunk::from_json(bad).err().expect("refused");
            assert_eq!(problem.code, "malformed-body");
        }
    }
}
