//! The log: one file, one event a line, no secrets.
