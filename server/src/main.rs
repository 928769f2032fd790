//! The `pilothouse` binary.

fn main() {}
