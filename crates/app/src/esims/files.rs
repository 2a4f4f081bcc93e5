//! Install data as files: a table, or an archive of pictures, written piece by piece while it goes
//! out, whoever asked for it.

use std::collections::{HashSet, VecDeque};

use domain::Iccid;
use store::StoreError;

use super::codes::{Download, Installable};
use super::zip::Zip;
use crate::qr;
use domain::csv::cell;

/// Pictures drawn before others get their turn.
const PICTURES_AT_ONCE: usize = 32;

/// Which links a table has beside the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Links {
    /// None.
    None,
    /// The one for Apple's telephones.
    Apple,
    /// That and the one for Android.
    AppleAndAndroid,
}

impl Links {
    /// Whether the one for Apple's telephones is among them.
    pub fn has_apple(self) -> bool {
        self != Self::None
    }

    /// Whether the one for Android is among them.
    pub fn has_android(self) -> bool {
        self == Self::AppleAndAndroid
    }
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A table of codes.
    Table(Links),
    /// An archive of pictures, and of a table for each order where one is wanted.
    Pictures(Option<Links>),
}

/// A file on its way out.
pub struct Writing {
    download: Download,
    kind: Kind,
    step: Step,
    waiting: VecDeque<Installable>,
    zip: Zip,
    /// An eSIM with two bundles has one picture.
    drawn: HashSet<Iccid>,
    /// The reference at hand and its table, where the archive holds one.
    table: (String, String),
}

enum Step {
    Open,
    Rows,
    Done,
}

impl Writing {
    /// Begins to write a download.
    pub fn new(download: Download, kind: Kind) -> Self {
        Self {
            download,
            kind,
            step: Step::Open,
            waiting: VecDeque::new(),
            zip: Zip::default(),
            drawn: HashSet::new(),
            table: (String::new(), String::new()),
        }
    }

    /// The next bytes and the rest; none when all were given. After a failure nothing follows, so
    /// that nobody takes half of it for all.
    pub async fn next(mut self) -> Option<(Result<Vec<u8>, StoreError>, Self)> {
        let piece = match self.step {
            Step::Done => return None,
            Step::Open => {
                self.step = Step::Rows;
                Ok(self.opening())
            }
            Step::Rows => self.rows().await,
        };
        if piece.is_err() {
            self.step = Step::Done;
        }
        Some((piece, self))
    }

    fn opening(&self) -> Vec<u8> {
        match self.kind {
            Kind::Table(links) => headings(links).into_bytes(),
            Kind::Pictures(_) => Vec::new(),
        }
    }

    async fn rows(&mut self) -> Result<Vec<u8>, StoreError> {
        if self.waiting.is_empty() {
            let Some(rows) = self.download.next().await? else {
                self.step = Step::Done;
                return Ok(self.closing());
            };
            self.waiting.extend(rows);
        }
        match self.kind {
            Kind::Table(links) => {
                let rows = self.waiting.drain(..);
                Ok(rows.map(|row| line(&row, links)).collect::<String>().into())
            }
            Kind::Pictures(table) => {
                let at_once = self.waiting.len().min(PICTURES_AT_ONCE);
                let rows: Vec<_> = self.waiting.drain(..at_once).collect();
                self.files(&rows, table)
            }
        }
    }

    fn files(&mut self, rows: &[Installable], table: Option<Links>) -> Result<Vec<u8>, StoreError> {
        let mut out = Vec::new();
        for row in rows {
            if let Some(links) = table {
                self.note(row, links, &mut out);
            }
            if self.drawn.insert(row.code.iccid.clone()) {
                let drawn = qr::png(&row.code.activation_code());
                let drawn = drawn.map_err(|error| StoreError::Refused(error.to_string()))?;
                self.zip.add(&mut out, &format!("{}.png", row.code.iccid), &drawn);
            }
        }
        Ok(out)
    }

    /// A line in the table of its order.
    fn note(&mut self, row: &Installable, links: Links, out: &mut Vec<u8>) {
        if self.table.0 != row.reference {
            self.close_table(out);
            self.table = (row.reference.clone(), headings(links));
        }
        self.table.1.push_str(&line(row, links));
    }

    fn close_table(&mut self, out: &mut Vec<u8>) {
        let (reference, table) = std::mem::take(&mut self.table);
        if !reference.is_empty() {
            self.zip.add(out, &format!("{reference}.csv"), table.as_bytes());
        }
    }

    fn closing(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if matches!(self.kind, Kind::Pictures(_)) {
            self.close_table(&mut out);
            std::mem::take(&mut self.zip).finish(&mut out);
        }
        out
    }
}

fn headings(links: Links) -> String {
    let apple = if links.has_apple() { ",Apple Install URL" } else { "" };
    let android = if links.has_android() { ",Android Install URL" } else { "" };
    format!("ICCID,Matching ID,RSP URL,Bundle,Reference{apple}{android}\n")
}

fn line(row: &Installable, links: Links) -> String {
    let Installable { code, bundle, reference, .. } = row;
    let mut cells = vec![
        code.iccid.to_string(),
        cell(code.matching_id.expose()),
        cell(&code.smdp_address),
        cell(bundle),
        reference.clone(),
    ];
    if links.has_apple() {
        cells.push(cell(&code.apple_url()));
    }
    if links.has_android() {
        cells.push(cell(&code.android_url()));
    }
    format!("{}\n", cells.join(","))
}
