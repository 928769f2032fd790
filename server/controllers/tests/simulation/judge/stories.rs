//! Handmade histories that break each invariant.
