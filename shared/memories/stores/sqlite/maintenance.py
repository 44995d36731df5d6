"""Maintenance of the SQLite store. Triggers and cascades remove all that there is of a memory."""

from collections.abc import Mapping
from typing import Any

from memories.stores.port_maintenance import Candidate
from memories.stores.sqlite.pages import NOT_DELETED
from memories.stores.sqlite.session import Session

_COLUMNS = ", ".join(Candidate._fields)
# That a memory is as it was found.
_UNCHANGED = " AND ".join(f"{name} IS :{name}" for name in Candidate._fields)
_USERS = 100


class SqliteMaintenance:
    """Maintenance of one data file. A place is the number of the last user."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def place(self) -> str | None:
        with self._session.transaction(writes=False):
            row = self._session.one("SELECT place FROM maintenance", {})
        return row[0] if row else None

    def keep_place(self, place: str | None) -> None:
        with self._session.transaction():
            self._session.all("DELETE FROM maintenance", {})
            if place is not None:
                self._session.all("INSERT INTO maintenance VALUES (:place)", {"place": place})

    def users(self, place: str | None) -> tuple[list[str], str | None]:
        with self._session.transaction(writes=False):
            rows = self._session.all(
                "SELECT user_id, user_number FROM users WHERE user_number > :after "
                "ORDER BY user_number LIMIT :limit",
                {"after": int(place or 0), "limit": _USERS},
            )
        return [user_id for user_id, _ in rows], str(rows[-1][1]) if len(rows) == _USERS else None

    def deleted(self, user_id: str) -> list[Candidate]:
        return self._found("status = 'deleted'", user_id)

    def unused(self, user_id: str, since: str) -> list[Candidate]:
        used_at = "max(updated_at, coalesce(last_accessed_at, ''))"
        return self._found(f"{NOT_DELETED} AND {used_at} <= :since", user_id, since=since)

    def may_exceed(self, user_id: str, most: int) -> bool:
        with self._session.transaction(writes=False):
            (count,) = self._session.one(
                "SELECT coalesce(sum(memories), 0) FROM memory_counts "
                f"WHERE user_id = :user_id AND tag = '' AND {NOT_DELETED}",
                {"user_id": user_id},
            )
        return bool(count > most)

    def kept(self, user_id: str) -> list[Candidate]:
        return self._found(NOT_DELETED, user_id)

    def date_deletion(self, memory: Candidate, at: str) -> None:
        self._changed(memory, "UPDATE memories SET deleted_at = :at", {"at": at})

    def remove(self, memory: Candidate) -> bool:
        return self._changed(memory, "DELETE FROM memories", {})

    def decay(self, memory: Candidate, at: str) -> bool:
        lowered = "UPDATE memories SET importance = importance - 1, decayed_at = :at"
        return self._changed(memory, lowered, {"at": at})

    def retire(self, memory: Candidate, at: str) -> bool:
        retired = "UPDATE memories SET status = 'deleted', deleted_at = :at"
        return self._changed(memory, retired, {"at": at})

    def _found(self, condition: str, user_id: str, **values: str) -> list[Candidate]:
        with self._session.transaction(writes=False):
            rows = self._session.all(
                f"SELECT {_COLUMNS} FROM memories WHERE user_id = :user_id AND {condition}",
                {"user_id": user_id, **values},
            )
        return [Candidate._make(row) for row in rows]

    def _changed(self, memory: Candidate, change: str, values: Mapping[str, Any]) -> bool:
        with self._session.transaction(durable=True):
            changed = self._session.all(
                f"{change} WHERE {_UNCHANGED} RETURNING 1", {**memory._asdict(), **values}
            )
        return bool(changed)
