"""The data file of the SQLite store: opened, told from other files, brought up to date."""

import os
import sqlite3
import time
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

from memories.stores.sqlite.migrations import APPLICATION_ID, MIGRATIONS


class UnusableDataFile(Exception):
    """The data file cannot be opened, or is not one that this version can use."""


def open_file(path: Path, busy_timeout: float) -> sqlite3.Connection:
    """Open the data file, or create it; transactions are begun and ended by hand.

    ``busy_timeout`` is how long a statement waits for other processes, in seconds. Raises
    UnusableDataFile, and then a file that is not ours is as it was.
    """
    try:
        _create_private(path)
        connection = sqlite3.connect(
            path.absolute(), timeout=busy_timeout, isolation_level=None, check_same_thread=False
        )
        with ExitStack() as on_failure:
            on_failure.callback(connection.close)
            _prepare(connection, busy_timeout)
            on_failure.pop_all()
    except (OSError, sqlite3.Error) as error:
        raise UnusableDataFile(f"cannot use {path} as the data file: {error}") from error
    return connection


def _create_private(path: Path) -> None:
    # Memories are personal: only the owner of the process may read a file that it creates.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _prepare(connection: sqlite3.Connection, busy_timeout: float) -> None:
    # Read in one transaction, since another process may be creating the file just now, and before
    # anything is changed, since the file may be another program's.
    connection.execute("BEGIN")
    _check_origin(connection)
    connection.execute("COMMIT")
    _write_ahead(connection, time.monotonic() + busy_timeout)
    connection.execute("PRAGMA foreign_keys = ON")
    # What is erased is to be gone from the file too. Some builds of SQLite do so unasked.
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -65536")  # KiB
    connection.execute("BEGIN IMMEDIATE")
    _migrate(connection, _check_origin(connection))
    connection.execute("COMMIT")


def _check_origin(connection: sqlite3.Connection) -> int:
    """Return how many migrations the file has taken."""
    application = _value(connection, "PRAGMA application_id")
    tables = _value(connection, "SELECT count(*) FROM sqlite_schema")
    done = _value(connection, "PRAGMA user_version")
    if tables and application != APPLICATION_ID:
        raise sqlite3.DatabaseError("it is another program's database")
    if done > len(MIGRATIONS):
        raise sqlite3.DatabaseError("it was written by a newer version of memories")
    return done


def _write_ahead(connection: sqlite3.Connection, deadline: float) -> None:
    # The mode is kept in the file. Going over to it does not wait for other processes, so two that
    # open a new file at once would fail: this waits in its place.
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            break
    if mode != ("wal",):
        raise sqlite3.OperationalError("its file system cannot keep a write-ahead log")


def _migrate(connection: sqlite3.Connection, done: int) -> None:
    for statement in chain.from_iterable(MIGRATIONS[done:]):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _value(connection: sqlite3.Connection, statement: str) -> int:
    (value,) = connection.execute(statement).fetchone()
    assert isinstance(value, int)
    return value
