//! The in-memory read model: rows, indexes, filter, sort, windows, changes.
