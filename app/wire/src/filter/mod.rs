//! The filter language: one parser with positions, used by server and browser.
