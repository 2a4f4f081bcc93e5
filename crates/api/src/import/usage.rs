//! Records of what networks and installation servers tell: CloudEvents, or lines of CDR files. Read
//! one at a time and in bounded memory; a record that is wrong spoils no other.

use std::io::{self, BufRead};

use app::usage::{NewRecord, Place, Told, Verdict};
use app::{App, StoreError};
use domain::esim::ProfileStatus;
use domain::{Iccid, Timestamp, limits};

use super::columns::Lines;
use super::table::MARK;
use super::values::Values;
use crate::json::{Count, Fields};

/// The columns of a CDR file.
const COLUMNS: [&str; 7] = ["id", "iccid", "time", "bytes", "country", "network", "source"];
/// How many of them cannot be left out.
const NEEDED: usize = 4;
/// Where the source stands among them.
const SOURCE: usize = 6;

/// How the records of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A header line with the names of the columns, then a line for each use of data.
    Csv,
    /// CloudEvents, each on a line of its own or all in one list.
    Json,
}

impl Form {
    /// The form of something that begins like this.
    pub fn of(start: &[u8]) -> Self {
        let text = start.strip_prefix(MARK).unwrap_or(start).trim_ascii_start();
        if matches!(text.first(), Some(b'{' | b'[')) { Self::Json } else { Self::Csv }
    }
}

/// A file of records.
pub struct Records<R> {
    reader: Reader<R>,
    /// Who made the records that do not say it themselves.
    source: String,
}

enum Reader<R> {
    Csv(Box<Lines<R, 7>>),
    Json(Values<R>),
}

impl<R: BufRead> Records<R> {
    /// Begins to read, or says what is wrong with the header line. Records that do not say who made
    /// them are the source's.
    pub fn open(from: R, form: Form, source: &str) -> Result<Self, String> {
        let reader = match form {
            Form::Csv => Reader::Csv(Box::new(Lines::open(from, COLUMNS, NEEDED)?)),
            Form::Json => Reader::Json(Values::new(from).map_err(|error| error.to_string())?),
        };
        Ok(Self { reader, source: source.to_owned() })
    }

    /// Whether every record says by itself who made it, or should.
    pub fn name_sources(&self) -> bool {
        match &self.reader {
            Reader::Csv(lines) => lines.has(SOURCE),
            Reader::Json(_) => true,
        }
    }

    /// Whether records are known by their lines; otherwise by their place in the list.
    pub fn are_lines(&self) -> bool {
        match &self.reader {
            Reader::Csv(_) => true,
            Reader::Json(values) => values.are_lines(),
        }
    }

    /// The next so many records; none is the end.
    pub fn chunk(&mut self, most: usize) -> io::Result<Chunk> {
        let mut chunk = Chunk::default();
        while chunk.len() < most {
            let is_end = match &mut self.reader {
                Reader::Csv(lines) => match lines.next()? {
                    None => true,
                    Some((line, fields)) => {
                        chunk.add_line(line, fields, &self.source);
                        false
                    }
                },
                Reader::Json(values) => match values.next()? {
                    None => true,
                    Some((place, value)) => {
                        chunk.add_value(place, value, &self.source);
                        false
                    }
                },
            };
            if is_end {
                break;
            }
        }
        Ok(chunk)
    }
}

/// A record, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Its line, or its place in the list.
    pub place: usize,
    /// Its id as written; empty when it has none.
    pub id: String,
    /// The number of its eSIM as written.
    pub iccid: String,
    /// What became of it.
    pub verdict: Verdict,
}

/// Records that are taken in together.
#[derive(Default)]
pub struct Chunk {
    all: Vec<(usize, Head, Option<&'static str>)>,
    good: Vec<NewRecord>,
}

/// What every record has, as it is written.
#[derive(Default)]
struct Head {
    id: String,
    source: String,
    time: String,
    iccid: String,
}

impl Chunk {
    /// How many records it has.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Takes the records in, and says what became of each, in order.
    pub async fn take(self, app: &App) -> Result<Vec<Judged>, StoreError> {
        let mut verdicts = app.take_records(self.good).await?.into_iter();
        let judged = |(place, head, why): (usize, Head, Option<&'static str>)| {
            let verdict = match why {
                Some(why) => Verdict::Rejected(why),
                None => verdicts.next().unwrap_or(Verdict::Rejected("not taken")),
            };
            Judged { place, id: head.id, iccid: head.iccid, verdict }
        };
        Ok(self.all.into_iter().map(judged).collect())
    }

    /// Adds a CloudEvent. One that does not say who made it is the source's.
    pub(crate) fn add_event(&mut self, place: usize, mut event: Fields, source: &str) {
        let mut text = |name: &str| event.text(name).ok().flatten().unwrap_or_default();
        let (version, kind) = (text("specversion"), text("type"));
        let (id, time) = (text("id"), text("time"));
        let source = if event.has("source") {
            event.text("source").ok().flatten().unwrap_or_default()
        } else {
            source.to_owned()
        };
        let data = event.object("data");
        let is_object = data.is_ok();
        let mut data = data.unwrap_or_default();
        let iccid = data.text("iccid").ok().flatten().unwrap_or_default();
        self.add(place, Head { id, source, time, iccid }, |head| {
            if version != "1.0" {
                return Err("specversion must be 1.0");
            }
            if !is_object {
                return Err("data must be an object");
            }
            head.record(|| told(&kind, &mut data))
        });
    }

    fn add_value(&mut self, place: usize, value: Result<&[u8], &'static str>, source: &str) {
        let event = value.and_then(|text| match Fields::read(text) {
            Ok(event) if text.starts_with(b"{") => Ok(event),
            _ => Err("is no JSON object"),
        });
        match event {
            Ok(event) => self.add_event(place, event, source),
            Err(why) => self.add(place, Head::default(), |_| Err(why)),
        }
    }

    fn add_line(&mut self, line: usize, fields: Result<[String; 7], &'static str>, source: &str) {
        let [id, iccid, time, bytes, country, network, own] = match fields {
            Ok(fields) => fields,
            Err(why) => return self.add(line, Head::default(), |_| Err(why)),
        };
        let source = if own.is_empty() { source.to_owned() } else { own };
        self.add(line, Head { id, source, time, iccid }, |head| {
            head.record(|| {
                let bytes = checked_bytes(bytes.parse().ok())?;
                Ok(Told::Used { bytes, place: checked_place(Some(country), network)? })
            })
        });
    }

    fn add(
        &mut self,
        place: usize,
        head: Head,
        read: impl FnOnce(&Head) -> Result<NewRecord, &'static str>,
    ) {
        let why = match read(&head) {
            Ok(record) => {
                self.good.push(record);
                None
            }
            Err(why) => Some(why),
        };
        self.all.push((place, head, why));
    }
}

impl Head {
    /// The record, if what it tells is good too.
    fn record(
        &self,
        told: impl FnOnce() -> Result<Told, &'static str>,
    ) -> Result<NewRecord, &'static str> {
        let fits = |text: &str| (1..=limits::RECORD_NAME_CHARS_MAX).contains(&text.chars().count());
        if !fits(&self.id) {
            return Err("id must have 1 to 255 characters");
        }
        if !fits(&self.source) {
            return Err("source must have 1 to 255 characters");
        }
        let at = Timestamp::parse(&self.time).map_err(|_| "time must be an RFC 3339 date-time")?;
        let iccid = Iccid::parse(&self.iccid).map_err(|_| "iccid must be 18 to 20 digits")?;
        let (source, id) = (self.source.clone(), self.id.clone());
        Ok(NewRecord { source, id, iccid, at, told: told()? })
    }
}

fn told(kind: &str, data: &mut Fields) -> Result<Told, &'static str> {
    match kind {
        "tern.usage.data" => {
            let bytes = match data.count("bytes") {
                Ok(Count::Whole(bytes)) => Some(bytes),
                _ => None,
            };
            Ok(Told::Used { bytes: checked_bytes(bytes)?, place: place(data)? })
        }
        "tern.network.attach" => {
            Ok(Told::Attached(place(data)?.ok_or("country must be an ISO code")?))
        }
        "tern.profile.progress" => Ok(Told::Progress(progress(data)?)),
        _ => Err("type is not known"),
    }
}

fn place(data: &mut Fields) -> Result<Option<Place>, &'static str> {
    let country = data.text("country").map_err(|_| "country must be an ISO code")?;
    let network = data.text("network").map_err(|_| "network must be a TADIG code")?;
    checked_place(country, network.unwrap_or_default())
}

fn progress(data: &mut Fields) -> Result<ProfileStatus, &'static str> {
    let status = data.text("status").ok().flatten().unwrap_or_default();
    let status = ProfileStatus::parse(&status).filter(|s| *s != ProfileStatus::Deactivated);
    status.ok_or("status must be Downloaded, Installed, Released or Unavailable")
}

fn checked_bytes(bytes: Option<i64>) -> Result<i64, &'static str> {
    let bytes = bytes.filter(|bytes| (1..=limits::RECORD_BYTES_MAX).contains(bytes));
    bytes.ok_or("bytes must be a whole number from 1 to 1000000000000000")
}

fn checked_place(country: Option<String>, network: String) -> Result<Option<Place>, &'static str> {
    let country = country.filter(|country| !country.is_empty());
    let short = |text: &str| text.len() <= 10 && text.bytes().all(|b| b.is_ascii_graphic());
    if !country.as_deref().is_none_or(short) {
        return Err("country must be an ISO code");
    }
    if !short(&network) {
        return Err("network must be a TADIG code");
    }
    Ok(country.map(|country| Place { country, network }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ICCID: &str = "8943001000000026411";

    fn read(text: &str, source: &str) -> Chunk {
        let form = Form::of(text.as_bytes());
        let mut records = Records::open(text.as_bytes(), form, source).expect("a file");
        records.chunk(1_000).expect("readable")
    }

    /// The places of records that are not taken, and why.
    fn faults(chunk: &Chunk) -> Vec<(usize, &'static str)> {
        chunk.all.iter().filter_map(|(place, _, why)| Some((*place, (*why)?))).collect()
    }

    fn event(id: &str) -> String {
        format!(
            "{{\"specversion\":\"1.0\",\"id\":\"{id}\",\"source\":\"node-3\",\
             \"type\":\"tern.usage.data\",\"time\":\"2026-05-04T08:15:00Z\",\
             \"data\":{{\"iccid\":\"{ICCID}\",\"bytes\":5,\"country\":\"PT\",\
             \"network\":\"PRTXX\"}}}}"
        )
    }

    #[test]
    fn a_line_and_an_event_tell_the_same() {
        let text = format!(
            "Time,BYTES,iccid,network,id,country,source\n\
             2026-05-04T08:15:00Z,5,{ICCID},PRTXX,r-1,PT,node-3\n"
        );
        let (line, event) = (read(&text, "cdr.csv"), read(&event("r-1"), ""));
        assert_eq!(format!("{:?}", line.good), format!("{:?}", event.good));
        let place = Place { country: "PT".to_owned(), network: "PRTXX".to_owned() };
        assert_eq!(line.good[0].told, Told::Used { bytes: 5, place: Some(place) });
        assert_eq!(
            (line.good[0].source.as_str(), line.good[0].at.ms()),
            ("node-3", 1_777_882_500_000)
        );
    }

    #[test]
    fn who_made_a_record_may_be_said_once() {
        let row = format!("r-1,{ICCID},2026-05-04T08:15:00Z,5");
        let without = read(&format!("id,iccid,time,bytes\n{row}\n"), "cdr.csv");
        assert_eq!(without.good[0].source, "cdr.csv");
        let text = format!("id,iccid,time,bytes,source\n{row},\n{row},node-3\n");
        let sources: Vec<_> = read(&text, "cdr.csv").good.into_iter().map(|r| r.source).collect();
        assert_eq!(sources, ["cdr.csv", "node-3"]);
        let unsaid = event("r-1").replace("\"source\":\"node-3\",", "");
        assert_eq!(read(&unsaid, "node-4").good[0].source, "node-4");
        assert_eq!(faults(&read(&unsaid, "")), [(1, "source must have 1 to 255 characters")]);
        let odd = event("r-1").replace("\"node-3\"", "5");
        assert_eq!(faults(&read(&odd, "x")), [(1, "source must have 1 to 255 characters")]);
    }

    #[test]
    fn a_bad_line_costs_only_itself() {
        let at = "2026-05-04T08:15:00Z";
        let text = format!(
            "id,iccid,time,bytes,country\n\
             r-1,{ICCID},{at},5,PT\n,{ICCID},{at},5,PT\nr-3,12345,{at},5,PT\n\
             r-4,{ICCID},yesterday,5,PT\nr-5,{ICCID},{at},0,PT\nr-6,{ICCID},{at},1.5,PT\n\
             r-7,{ICCID},{at},5,Republic of\nr-8,{ICCID}\nr-9,{ICCID},{at},5,\n"
        );
        let chunk = read(&text, "cdr.csv");
        assert_eq!((chunk.len(), chunk.good.len()), (9, 2));
        let bytes = "bytes must be a whole number from 1 to 1000000000000000";
        assert_eq!(
            faults(&chunk),
            [
                (3, "id must have 1 to 255 characters"),
                (4, "iccid must be 18 to 20 digits"),
                (5, "time must be an RFC 3339 date-time"),
                (6, bytes),
                (7, bytes),
                (8, "country must be an ISO code"),
                (9, "must have as many fields as there are columns"),
            ]
        );
    }

    #[test]
    fn events_stand_on_lines_or_in_a_list() {
        let [one, two] = ["r-1", "r-2"].map(event);
        let lines = read(&format!("\n{one}\n{{\"a\n5\n{{}}\n{two}"), "");
        let (no_object, version) = ("is no JSON object", "specversion must be 1.0");
        assert_eq!(faults(&lines), [(3, no_object), (4, no_object), (5, version)]);
        let list = read(&format!("[{one},{{}},5,,\n{two}]"), "");
        assert_eq!(faults(&list), [(2, version), (3, no_object), (4, no_object)]);
        assert_eq!([lines.good.len(), list.good.len()], [2, 2]);
        assert_eq!(read("[]", "").len(), 0);
    }

    #[test]
    fn a_header_is_required() {
        let refused = |text: &str| Records::open(text.as_bytes(), Form::Csv, "").err();
        let why = "line 1: there is no column time and no column bytes";
        assert_eq!(refused("id,iccid\n").as_deref(), Some(why));
        assert!(refused("").is_some());
        let chunk = |text: &str| Records::open(text.as_bytes(), Form::Json, "").map(drop);
        assert_eq!(chunk(""), Ok(()), "there may be nothing to tell");
    }

    #[test]
    fn chunks_end_where_they_should() {
        let row = format!("r-1,{ICCID},2026-05-04T08:15:00Z,5\nr-2\n").repeat(3);
        let text = format!("id,iccid,time,bytes\n{row}");
        let mut records = Records::open(text.as_bytes(), Form::Csv, "x").expect("a header");
        let mut sizes = || {
            let chunk = records.chunk(4).expect("readable");
            (chunk.len(), chunk.good.len())
        };
        assert_eq!([sizes(), sizes(), sizes()], [(4, 2), (2, 1), (0, 0)]);
    }
}
