//! The controllers that a real cluster brings itself: garbage collection, namespaces.
