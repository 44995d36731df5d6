"""Whole records out of the SQLite store, and into it."""

from collections.abc import Sequence
from typing import Any

from memories.principal import Principal
from memories.stores.port import Record
from memories.stores.port_transfer import MAX_KEPT_ID, Arrival, Part, Placed, highest_kept, is_same
from memories.stores.sqlite.pages import READABLE
from memories.stores.sqlite.rows import COLUMNS, insert, record_of
from memories.stores.sqlite.schema import ID_BITS
from memories.stores.sqlite.session import Session


class SqliteTransfer:
    """Transfers over the session of a store."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def read(self, principal: Principal, after: int, limit: int) -> Part:
        with self._session.transaction(writes=False):
            rows = self._session.all(
                f"SELECT {COLUMNS} FROM memories "
                f"WHERE user_id = :user_id AND id > :after AND {READABLE} ORDER BY id LIMIT :limit",
                {
                    "user_id": principal.user_id,
                    "agent_id": principal.agent_id,
                    "after": after,
                    "limit": limit,
                },
            )
        records = [record_of(row) for row in rows]
        return Part(records, records[-1].id if len(records) == limit else None)

    def place(self, principal: Principal, arrivals: Sequence[Arrival], at: str) -> list[Placed]:
        with self._session.transaction(durable=True):
            visit = _Visit(self._session, principal.user_id, highest_kept(arrivals), at)
            placed = [visit.place(arrival) for arrival in arrivals]
            visit.leave()
            return placed


class _Visit:
    """One user's part of the file, within a transaction."""

    def __init__(self, session: Session, user_id: str, kept: int, at: str) -> None:
        """New ids come after ``kept``."""
        self._session = session
        self._user_id = user_id
        last_id: int
        self._number, last_id = session.one(
            "INSERT INTO users (user_id, created_at, last_id) VALUES (:user_id, :at, 0) "
            "ON CONFLICT (user_id) DO UPDATE SET last_id = last_id RETURNING user_number, last_id",
            {"user_id": user_id, "at": at},
        )
        self._last_id: int = max(last_id, kept)

    def place(self, arrival: Arrival) -> Placed:
        wanted = arrival.record.id
        holder = self._holder(wanted)
        if holder and is_same(*holder, arrival):
            return Placed(wanted, is_new=False)
        if known := self._known(arrival.origin):
            return Placed(known, is_new=False)
        kept = 1 <= wanted <= MAX_KEPT_ID and holder is None
        memory_id = wanted if kept else self._next_id()
        row_id = (self._number << ID_BITS) + memory_id
        record = arrival.record._replace(id=memory_id)
        insert(self._session.connection, self._user_id, row_id, record)
        if not kept:
            self._session.connection.execute(
                "INSERT INTO memory_origins (user_id, origin, row_id) VALUES (?, ?, ?)",
                (self._user_id, arrival.origin, row_id),
            )
        return Placed(memory_id, is_new=True)

    def leave(self) -> None:
        """Store how far ids are given."""
        self._session.connection.execute(
            "UPDATE users SET last_id = ? WHERE user_id = ?", (self._last_id, self._user_id)
        )

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _holder(self, memory_id: int) -> tuple[Record, str | None] | None:
        """Return the record under an id, and its origin if it came with another one."""
        row = self._one(
            f"SELECT {COLUMNS}, (SELECT origin FROM memory_origins AS came "
            "WHERE came.row_id = memories.row_id) "
            "FROM memories WHERE user_id = :user_id AND id = :id",
            id=memory_id,
        )
        return (record_of(row[:-1]), row[-1]) if row else None

    def _known(self, origin: str) -> int | None:
        row = self._one(
            "SELECT id FROM memory_origins JOIN memories USING (row_id) "
            "WHERE memory_origins.user_id = :user_id AND origin = :origin",
            origin=origin,
        )
        return row[0] if row else None

    def _one(self, statement: str, **values: Any) -> Any:
        return self._session.one(statement, {"user_id": self._user_id, **values})
