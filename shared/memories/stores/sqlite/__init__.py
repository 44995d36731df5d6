"""The embedded store: one SQLite file, for one machine, shared by its processes."""

from memories.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
