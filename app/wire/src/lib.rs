//! What travels between browser and server: rows, filter language, previews, live messages.
