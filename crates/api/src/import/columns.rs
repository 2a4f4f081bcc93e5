//! CSV of which the columns are known by their names, in any order and case.

use std::io::{self, Read};

use super::catalogue_csv::columns;
use super::table::{Record, Table};

/// Lines under a header. Nothing they hold is repeated in an error.
pub(super) struct Lines<R, const N: usize> {
    table: Table<R>,
    width: usize,
    /// Where each of the wanted columns stands.
    places: [Option<usize>; N],
}

/// The number of a line, and the wanted fields or what is wrong with it.
pub(super) type Numbered<const N: usize> = (usize, Result<[String; N], &'static str>);

impl<R: Read, const N: usize> Lines<R, N> {
    /// Reads the header line, or says what is wrong with it. The first so many of the wanted
    /// columns cannot be left out.
    pub(super) fn open(source: R, wanted: [&str; N], needed: usize) -> Result<Self, String> {
        let unreadable = |error: io::Error| error.to_string();
        let mut table = Table::new(source).map_err(unreadable)?;
        let header = match table.next().map_err(unreadable)? {
            Some((_, record)) => record.map_err(ToOwned::to_owned).and_then(columns),
            None => Err("the first line must name the columns".to_owned()),
        };
        let header = header.map_err(|why| format!("line 1: {why}"))?;
        let place = |name: &str| header.iter().position(|column| *column == name.to_lowercase());
        let places = wanted.map(place);
        let missing: Vec<_> =
            (0..needed).filter(|n| places[*n].is_none()).map(|n| wanted[n]).collect();
        if !missing.is_empty() {
            return Err(format!("line 1: there is no column {}", missing.join(" and no column ")));
        }
        Ok(Self { width: header.len(), places, table })
    }

    /// Whether the header names that one of the wanted columns.
    pub(super) fn has(&self, column: usize) -> bool {
        self.places[column].is_some()
    }

    /// The next line; a field without a column is empty.
    pub(super) fn next(&mut self) -> io::Result<Option<Numbered<N>>> {
        let Some((number, record)) = self.table.next()? else { return Ok(None) };
        let fields = match record {
            Ok(record) if record.len() != self.width => {
                Err("must have as many fields as there are columns")
            }
            Ok(record) => fields(record, &self.places),
            Err(why) => Err(why),
        };
        Ok(Some((number, fields)))
    }
}

fn fields<const N: usize>(
    record: Record<'_>,
    places: &[Option<usize>; N],
) -> Result<[String; N], &'static str> {
    let mut texts = [const { String::new() }; N];
    for (text, place) in texts.iter_mut().zip(places) {
        let Some(column) = place else { continue };
        let field = std::str::from_utf8(record.field(*column)).map_err(|_| "is not UTF-8")?;
        if field.contains('\0') {
            return Err("holds a NUL");
        }
        field.trim().clone_into(text);
    }
    Ok(texts)
}
