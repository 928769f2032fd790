//! The embedded controllers: GameServerSet and GameServer of OpenKruiseGame, batch edits; watch caches and leader election.
