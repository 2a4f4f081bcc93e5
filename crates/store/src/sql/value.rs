//! The few kinds of value both databases share, and a row of them.

use domain::{
    AuditId, Currency, EventId, Iccid, JobId, KeyId, OrderId, OrgId, ShareId, Timestamp, UserId,
};

use super::StoreError;

/// A value that goes into a statement or comes out of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number: counts, milliseconds, minor units of money.
    Int(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl From<Timestamp> for Value {
    fn from(value: Timestamp) -> Self {
        Self::Int(value.ms())
    }
}

impl From<&Iccid> for Value {
    fn from(value: &Iccid) -> Self {
        Self::Text(value.as_str().to_owned())
    }
}

impl From<Currency> for Value {
    fn from(value: Currency) -> Self {
        Self::Text(value.code().to_owned())
    }
}

impl<T> From<Option<T>> for Value
where
    Value: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

/// Ids are kept as text.
macro_rules! id_values {
    ($($id:ty),*) => {$(
        impl From<$id> for Value {
            fn from(value: $id) -> Self {
                Self::Text(value.to_string())
            }
        }
    )*};
}
id_values!(OrgId, KeyId, UserId, AuditId, JobId, EventId, OrderId, ShareId);

/// The arguments of a statement, in the order of `$1…$n`.
#[macro_export]
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::Value::from($value)),*] };
}

/// One row of an answer. A column of another kind than expected is a corrupt row, not a panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(pub(super) Vec<Value>);

impl Row {
    /// A whole number.
    pub fn int(&self, column: usize) -> Result<i64, StoreError> {
        match self.at(column)? {
            Value::Int(value) => Ok(*value),
            _ => Err(self.odd(column)),
        }
    }

    /// Text.
    pub fn text(&self, column: usize) -> Result<&str, StoreError> {
        match self.at(column)? {
            Value::Text(value) => Ok(value),
            _ => Err(self.odd(column)),
        }
    }

    /// Bytes.
    pub fn bytes(&self, column: usize) -> Result<&[u8], StoreError> {
        match self.at(column)? {
            Value::Bytes(value) => Ok(value),
            _ => Err(self.odd(column)),
        }
    }

    /// A moment.
    pub fn time(&self, column: usize) -> Result<Timestamp, StoreError> {
        self.int(column).map(Timestamp::from_ms)
    }

    /// A whole number that may be missing.
    pub fn int_or_none(&self, column: usize) -> Result<Option<i64>, StoreError> {
        match self.at(column)? {
            Value::Null => Ok(None),
            _ => self.int(column).map(Some),
        }
    }

    /// Bytes that may be missing.
    pub fn bytes_or_none(&self, column: usize) -> Result<Option<&[u8]>, StoreError> {
        match self.at(column)? {
            Value::Null => Ok(None),
            _ => self.bytes(column).map(Some),
        }
    }

    /// Text that may be missing.
    pub fn text_or_none(&self, column: usize) -> Result<Option<&str>, StoreError> {
        match self.at(column)? {
            Value::Null => Ok(None),
            _ => self.text(column).map(Some),
        }
    }

    /// A moment that may be missing.
    pub fn time_or_none(&self, column: usize) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.int_or_none(column)?.map(Timestamp::from_ms))
    }

    /// A column read by a `parse` function; what it refuses is a corrupt row.
    pub fn parsed<T, E>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, StoreError> {
        parse(self.text(column)?).map_err(|_| self.odd(column))
    }

    /// The same for one that may be missing.
    pub fn parsed_or_none<T, E>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, StoreError> {
        let text = self.text_or_none(column)?;
        text.map(|text| parse(text).map_err(|_| self.odd(column))).transpose()
    }

    fn at(&self, column: usize) -> Result<&Value, StoreError> {
        self.0.get(column).ok_or_else(|| self.odd(column))
    }

    /// Names the column and the row by its first value when that is an id, never its contents.
    fn odd(&self, column: usize) -> StoreError {
        let row = match self.0.first() {
            Some(Value::Text(id)) if id.len() == 36 => id.clone(),
            _ => "?".to_owned(),
        };
        StoreError::Corrupt { column, row }
    }
}
