"""The one connection to a data file, which the threads of a process take in turn.

A write that a client is told of is synced to the disk before it is acknowledged. An access time
is not worth a sync: after a power cut the last few may be older, and nothing else.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any

from memories.errors import StoreUnavailable
from memories.stores.sqlite.file import open_file
from memories.stores.sqlite.pages import Totals


class Session:
    """Transactions on a data file, one at a time."""

    def __init__(self, path: Path, busy_timeout: float) -> None:
        """Open or create the file at ``path``. Raises UnusableDataFile.

        ``busy_timeout`` is how long to wait for another process's write, in seconds.
        """
        self._lock = RLock()
        self.totals = Totals()
        self.connection = open_file(path, busy_timeout)
        self._busy_timeout = busy_timeout
        self._waits = True

    @contextmanager
    def transaction(self, writes: bool = True, durable: bool = False) -> Iterator[None]:
        """Do what is within the block wholly or not at all. Raises StoreUnavailable.

        ``durable`` is for all that changes memories: it is synced, and their totals are counted
        anew. Within a transaction of the same thread it is a part of that one.
        """
        with self._lock:
            if self.connection.in_transaction:
                yield
                return
            try:
                if durable:
                    self.totals.forget()
                self.connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                self._begin(writes)
                yield
                self.connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise StoreUnavailable from error
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")

    def glance(self, statement: str, values: Mapping[str, Any]) -> Any:
        """Return the first row of a statement that only reads, outside of a transaction, or None.

        Raises StoreUnavailable.
        """
        with self._lock:
            try:
                return self.one(statement, values)
            except sqlite3.Error as error:
                raise StoreUnavailable from error

    def checkpoint(self) -> None:
        """Have the write-ahead log emptied, as far as other processes let it be."""
        with self._lock, suppress(sqlite3.Error):
            self.connection.execute("PRAGMA wal_checkpoint (TRUNCATE)").fetchall()

    def _begin(self, writes: bool) -> None:
        try:
            # IMMEDIATE: a transaction that reads first and writes later could not wait.
            self.connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        except sqlite3.OperationalError:
            # This one has waited for those behind it too. Until the file is free, none waits: one
            # after the other, they would be told so only after as many times as long.
            self._wait(False)
            raise
        if writes:
            self._wait(True)

    def _wait(self, waits: bool) -> None:
        if waits is not self._waits:
            milliseconds = round(self._busy_timeout * 1000) if waits else 0
            self.connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
            self._waits = waits

    def all(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement. All are taken, so that it is done."""
        return self.connection.execute(statement, values).fetchall()

    def one(self, statement: str, values: Mapping[str, Any]) -> Any:
        """Return the first row of a statement, or None."""
        rows = self.all(statement, values)
        return rows[0] if rows else None

    def close(self) -> None:
        with self._lock:
            self.connection.close()
