//! Words of: Orders: list, detail, receipt, downloads, the print page of codes.
