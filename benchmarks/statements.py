"""The statements that the SQLite store makes for an operation, made again without the store.

The service does each operation once while its connection is listened to. What was executed is then
executed for each request, with the request's values in place of the first one's: the same SQL as
the service's, whatever that is, with nothing around it.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memories.fields import timestamp
from memories.models import MemoryDraft
from memories.principal import SCOPES, Principal
from memories.service import MemoryService
from memories.stores.port import Record
from memories.stores.sqlite import SqliteStore
from memories.stores.sqlite.schema import ID_BITS
from memories.text import search_text

PRINCIPAL = Principal("local", "local", frozenset(SCOPES))

# The time of what is listened to; it is no other value's.
_THEN = datetime(2001, 2, 3, tzinfo=UTC)
# A number above this is the id of a row, and comes from an earlier statement.
_NOT_ROW_IDS = 1 << 20

Rows = list[tuple[Any, ...]]
# Where a value comes from: the request, by name, or an earlier result, by statement, row, column.
Source = str | tuple[int, int, int]
Place = str | int | tuple[int, int]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, the values that it had, and those of them that change."""

    sql: str
    values: Any
    many: bool
    sources: Mapping[Any, Source]

    def run(
        self, connection: sqlite3.Connection, request: Mapping[str, Any], results: Sequence[Rows]
    ) -> Rows:
        values = self.values
        if self.sources:
            if self.many:
                values = [list(row) for row in values]
            else:
                values = dict(values) if isinstance(values, dict) else list(values)
            for place, source in self.sources.items():
                value = request[source] if isinstance(source, str) else _found(results, source)
                if self.many:
                    values[place[0]][place[1]] = value
                else:
                    values[place] = value
        if self.many:
            connection.executemany(self.sql, values)
            return []
        return connection.execute(self.sql, values).fetchall()


@dataclass(frozen=True, slots=True)
class Done:
    """What was executed, and the rows that it gave."""

    sql: str
    values: Any
    many: bool
    rows: Rows


class Listener:
    """A connection that is another one, and takes down what is executed on it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.done: list[Done] = []

    def execute(self, sql: str, values: Any = ()) -> "_Answer":
        cursor = self._connection.execute(sql, values)
        answer = _Answer(cursor.fetchall(), cursor.rowcount, cursor.lastrowid)
        self.done.append(Done(sql, values, False, answer.rows))
        return answer

    def executemany(self, sql: str, values: Any) -> "_Answer":
        rows = [tuple(row) for row in values]
        cursor = self._connection.executemany(sql, rows)
        self.done.append(Done(sql, rows, True, []))
        return _Answer([], cursor.rowcount, cursor.lastrowid)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@dataclass(slots=True)
class _Answer:
    rows: Rows
    rowcount: int
    lastrowid: int | None

    def fetchall(self) -> Rows:
        return self.rows

    def fetchone(self) -> tuple[Any, ...] | None:
        return self.rows[0] if self.rows else None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)


class Operations:
    """The service over one file, listened to, and the same statements for further requests."""

    def __init__(self, path: Path) -> None:
        self._store = SqliteStore(path)
        session: Any = self._store._session  # noqa: SLF001  (what it executes is not public)
        self.connection: sqlite3.Connection = session.connection
        self._listener = Listener(session.connection)
        session.connection = self._listener
        self.service = MemoryService(self._store, clock=lambda: _THEN)

    def forget_totals(self) -> None:
        """Make the next page count its matches."""
        session: Any = self._store._session  # noqa: SLF001  (the service does it by writing)
        session.totals.forget()

    def listen(
        self, use: Callable[[], object], request: Mapping[Any, str] | None = None
    ) -> "Replay":
        """Do an operation as a door does it, and return it as one that can be done again.

        ``request`` names the values of the request that change, the time aside.
        """
        # So that what follows finds the agent registered, as nearly every request does.
        self.service.accounts.seen(PRINCIPAL)
        self._listener.done.clear()
        self.service.accounts.seen(PRINCIPAL)
        use()
        return Replay(self.connection, _statements(self._listener.done, request or {}))


class Replay:
    """The statements of an operation."""

    def __init__(self, connection: sqlite3.Connection, statements: Sequence[Statement]) -> None:
        self._connection = connection
        self._statements = statements

    def run(self, request: dict[str, Any]) -> list[Rows]:
        """Execute them for the values of a request, and return the rows of each."""
        request["now"] = timestamp(datetime.now(UTC))
        results: list[Rows] = []
        for statement in self._statements:
            rows = statement.run(self._connection, request, results)
            results.append(rows)
            if rows and "RETURNING user_number, last_id" in statement.sql:
                _learn_ids(request, *rows[0])
        return results


def pages_in(results: Sequence[Rows]) -> list[list[dict[str, Any]]]:
    """Return the nine fields of the records that each page's statement gave."""
    return [
        [shown(row[1:]) for row in rows]
        for rows in results
        if rows and len(rows[0]) == len(Record._fields) + 1  # the id of the row comes first
    ]


def record_in(results: Sequence[Rows]) -> dict[str, Any]:
    """Return the nine fields of the record that the last statement with one gave."""
    fields = len(Record._fields)
    # The id of the row may come first.
    rows = next(rows for rows in reversed(results) if rows and len(rows[0]) in {fields, fields + 1})
    return shown(rows[0][-fields:])


def shown(row: Sequence[Any]) -> dict[str, Any]:
    """Return the nine fields of a row."""
    fields = dict(zip(_SHOWN, row, strict=False))
    fields["tags"] = json.loads(fields["tags"])
    return fields


_SHOWN = (
    *("id", "content", "tags", "created_at", "updated_at", "last_accessed_at"),
    *("memory_type", "status", "version"),
)


def drafts(count: int, tags: Sequence[str]) -> tuple[list[MemoryDraft], dict[Any, str]]:
    """Return drafts to listen to, and the names of what changes with each request."""
    made = [MemoryDraft(content=f"listened to, {n}", tags=list(tags)) for n in range(count)]
    names: dict[Any, str] = {}
    for n, draft in enumerate(made):
        names[draft.content] = f"content{n}"
        names[search_text(draft.content, draft.tags)] = f"search_text{n}"
    return made, names


def _learn_ids(request: dict[str, Any], number: int, last_id: int) -> None:
    count = request.get("count", 1)
    for n in range(count):
        request[f"id{n}"] = last_id - count + 1 + n
        request[f"row_id{n}"] = (number << ID_BITS) + request[f"id{n}"]


def _statements(done: Sequence[Done], names: Mapping[Any, str]) -> list[Statement]:
    known = {timestamp(_THEN): "now"} | dict(names)
    statements = []
    for number, each in enumerate(done):
        sources: dict[Any, Source] = {}
        for place, value in _places(each):
            if source := _source(value, known, done[:number]):
                sources[place] = source
        statements.append(Statement(each.sql, each.values, each.many, sources))
        if each.rows and "RETURNING user_number, last_id" in each.sql:
            ids: dict[str, Any] = {
                "count": sum(name.startswith("content") for name in names.values())
            }
            _learn_ids(ids, *each.rows[0])
            del ids["count"]
            known |= {value: name for name, value in ids.items()}
    return statements


def _places(done: Done) -> Iterator[tuple[Place, Any]]:
    if done.many:
        for row, values in enumerate(done.values):
            for column, value in enumerate(values):
                yield (row, column), value
    elif isinstance(done.values, Mapping):
        yield from done.values.items()
    else:
        yield from enumerate(done.values)


def _source(value: Any, known: Mapping[Any, str], before: Sequence[Done]) -> Source | None:
    if value is None or isinstance(value, bool):
        return None
    if value in known:
        return known[value]
    if isinstance(value, int) and value > _NOT_ROW_IDS:
        for number, done in enumerate(before):
            for row, values in enumerate(done.rows):
                if value in values:
                    return number, row, values.index(value)
    return None


def _found(results: Sequence[Rows], source: tuple[int, int, int]) -> Any:
    statement, row, column = source
    return results[statement][row][column]
