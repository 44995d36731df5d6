"""The embedded store: one SQLite file, for one machine, shared by its processes.

A write that a client is told of is synced to the disk before it is acknowledged. An access time
is not worth a sync: after a power cut the last few may be older, and nothing else.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic_core import from_json

from memories.errors import StoreUnavailable
from memories.stores.port import ConditionFailed, Fit, NewRecord, Record, Selection
from memories.stores.sqlite_file import open_file
from memories.stores.sqlite_pages import Totals, page_of
from memories.stores.sqlite_schema import ID_BITS
from memories.text import search_text

# Wait this long for another process's write before giving up, in seconds.
BUSY_TIMEOUT = 5.0

_COLUMNS = (
    "id, content, tags, created_at, updated_at, last_accessed_at, memory_type, status, version, "
    "agent_id"
)
_EXISTS = "user_id = :user_id AND id = :id"
_NOT_DELETED = "status <> 'deleted'"


class SqliteStore:
    """Store over one connection, which its threads take in turn."""

    def __init__(self, path: Path, busy_timeout: float = BUSY_TIMEOUT) -> None:
        """Open or create the file at ``path``. Raises UnusableDataFile."""
        self._lock = Lock()
        self._totals = Totals()
        self._connection = open_file(path, busy_timeout)

    def create(self, user_id: str, drafts: Sequence[NewRecord]) -> list[Record]:
        with self._transaction(durable=True):
            first_row, first_id = self._reserve(user_id, len(drafts), drafts[0].created_at)
            return [
                self._insert(user_id, first_row + n, first_id + n, draft)
                for n, draft in enumerate(drafts)
            ]

    def get(self, user_id: str, memory_id: int) -> Record | None:
        with self._transaction(writes=False):
            return self._find(user_id, memory_id)

    def access(self, user_id: str, memory_id: int, accessed_at: str) -> Record | None:
        with self._transaction():
            row = self._one(
                f"UPDATE memories SET last_accessed_at = :at WHERE {_EXISTS} AND {_NOT_DELETED} "
                f"RETURNING {_COLUMNS}",
                {"user_id": user_id, "id": memory_id, "at": accessed_at},
            )
        return _record(row) if row else None

    def update(
        self, user_id: str, memory_id: int, version: int, changes: Mapping[str, Any], at: str
    ) -> Record:
        values = dict(changes)
        if "tags" in values:
            values["tags"] = _json(values["tags"])
        assignments = "".join(f"{name} = :{name}, " for name in values)
        with self._transaction(durable=True):
            row = self._one(
                f"UPDATE memories SET {assignments} version = version + 1, updated_at = :at "
                f"WHERE {_EXISTS} AND {_NOT_DELETED} AND version = :expected "
                f"RETURNING {_COLUMNS}",
                {"user_id": user_id, "id": memory_id, "expected": version, "at": at, **values},
            )
            if row is None:
                raise ConditionFailed(self._find(user_id, memory_id))
            record = _record(row)
            if "content" in changes or "tags" in changes:
                self._index(user_id, record)
            return record

    def retire(self, user_id: str, memory_id: int, version: int | None) -> Record:
        with self._transaction(durable=True):
            row = self._one(
                f"UPDATE memories SET status = 'deleted' WHERE {_EXISTS} AND {_NOT_DELETED} "
                f"AND (:expected IS NULL OR version = :expected) RETURNING {_COLUMNS}",
                {"user_id": user_id, "id": memory_id, "expected": version},
            )
            if row is None:
                raise ConditionFailed(self._find(user_id, memory_id))
            return _record(row)

    def page(
        self, user_id: str, selection: Selection, accessed_at: str, fit: Fit = len
    ) -> tuple[list[Record], int]:
        # One transaction: no write of another process falls between the count and the refresh.
        with self._transaction():
            rows, total = page_of(self._connection, self._totals, user_id, selection, _COLUMNS)
            if not rows:
                return [], total
            records = [
                _record(row)._replace(last_accessed_at=accessed_at) for _row_id, *row in rows
            ]
            kept = fit(records)
            self._connection.execute(
                "UPDATE memories SET last_accessed_at = ? "
                f"WHERE row_id IN ({', '.join('?' * kept)})",
                (accessed_at, *(row_id for row_id, *_ in rows[:kept])),
            )
        return records[:kept], total

    def check(self) -> None:
        # Even reading a memory writes its access time, so ready means that it can be written.
        with self._transaction():
            self._one("SELECT 1 FROM users LIMIT 1", {})

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self, writes: bool = True, durable: bool = False) -> Iterator[None]:
        with self._lock:
            try:
                if durable:
                    self._totals.forget()
                self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                # IMMEDIATE: a transaction that reads first and writes later could not wait.
                self._connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                yield
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise StoreUnavailable from error
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _one(self, statement: str, values: Mapping[str, Any]) -> Any:
        rows = self._connection.execute(statement, values).fetchall()
        return rows[0] if rows else None

    def _find(self, user_id: str, memory_id: int) -> Record | None:
        row = self._one(
            f"SELECT {_COLUMNS} FROM memories WHERE {_EXISTS}",
            {"user_id": user_id, "id": memory_id},
        )
        return _record(row) if row else None

    def _reserve(self, user_id: str, count: int, at: str) -> tuple[int, int]:
        """Return the first row id and the first id of ``count`` new ones."""
        number, last_id = self._one(
            "INSERT INTO users (user_id, created_at, last_id) VALUES (:user_id, :at, :count) "
            "ON CONFLICT (user_id) DO UPDATE SET last_id = last_id + :count "
            "RETURNING user_number, last_id",
            {"user_id": user_id, "at": at, "count": count},
        )
        first_id = last_id - count + 1
        return (number << ID_BITS) + first_id, first_id

    def _insert(self, user_id: str, row_id: int, memory_id: int, draft: NewRecord) -> Record:
        row = self._one(
            f"INSERT INTO memories (row_id, user_id, search_text, {_COLUMNS}) VALUES (:row_id, "
            ":user_id, :search_text, :id, :content, :tags, :at, :at, NULL, :memory_type, :status, "
            f"1, :agent_id) RETURNING {_COLUMNS}",
            {
                "row_id": row_id,
                "user_id": user_id,
                "search_text": search_text(draft.content, draft.tags),
                "id": memory_id,
                "content": draft.content,
                "tags": _json(draft.tags),
                "at": draft.created_at,
                "memory_type": draft.memory_type,
                "status": draft.status,
                "agent_id": draft.agent_id,
            },
        )
        record = _record(row)
        self._insert_tags(user_id, row_id, record)
        return record

    def _index(self, user_id: str, record: Record) -> None:
        (row_id,) = self._one(
            f"UPDATE memories SET search_text = :text WHERE {_EXISTS} RETURNING row_id",
            {
                "user_id": user_id,
                "id": record.id,
                "text": search_text(record.content, record.tags),
            },
        )
        self._connection.execute("DELETE FROM memory_tags WHERE row_id = ?", (row_id,))
        self._insert_tags(user_id, row_id, record)

    def _insert_tags(self, user_id: str, row_id: int, record: Record) -> None:
        self._connection.executemany(
            "INSERT INTO memory_tags (user_id, tag, row_id, status, memory_type) "
            "VALUES (?, ?, ?, ?, ?)",
            [(user_id, tag, row_id, record.status, record.memory_type) for tag in record.tags],
        )


def _record(row: Sequence[Any]) -> Record:
    memory_id, content, tags, *rest = row
    return Record(memory_id, content, tuple(from_json(tags)), *rest)


def _json(tags: Sequence[str]) -> str:
    return json.dumps(tags, ensure_ascii=False)
