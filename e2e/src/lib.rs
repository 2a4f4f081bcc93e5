//! Black-box stories through HTTP on both databases; everything is in `tests/`.
