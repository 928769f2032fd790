//! Pages and components of the Pilothouse dashboard.
