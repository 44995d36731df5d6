"""Erasure in the SQLite store: in steps, between which others write.

What is erased is gone from the file too: freed pages are overwritten, and the full-text index,
which only notes that an entry is deleted, is merged until nothing of it is left.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic_core import from_json

from memories.stores.port_erasure import Progress
from memories.stores.sqlite.session import Session

# A step is one transaction. It erases this many rows at most, beside those that follow from a
# memory itself, or writes about as many pages of the full-text index. A call takes some steps.
ROWS = 100
PAGES = 500
STEPS = 10

# No agent is called so: all of the user.
_EVERY_AGENT = ""

_OF_ERASURE = "user_id = :user_id AND agent_id = :agent_id"
_ERASED = "user_id = :user_id AND :agent_id IN ('', agent_id)"


class _Dependent(NamedTuple):
    """A table of what belongs to memories: its kind in a receipt, its key, and whose it is."""

    kind: str
    table: str
    key: str
    rows: tuple[str, ...]


# These are counted, so they go before their memories, with which they would go too.
_DEPENDENTS = (
    _Dependent("log_entries", "memory_access_log", "entry", ("row_id",)),
    _Dependent(
        "relations",
        "memory_relations",
        "from_row, relation_type, to_row",
        ("from_row", "to_row"),
    ),
)


class SqliteErasure:
    """Erasures over the connection of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def erase_user(self, user_id: str, at: str) -> Progress:
        return self._erase({"user_id": user_id, "agent_id": _EVERY_AGENT, "at": at})

    def erase_agent(self, user_id: str, agent_id: str, at: str) -> Progress | None:
        values = {"user_id": user_id, "agent_id": agent_id, "at": at}
        known = (
            f"SELECT 1 FROM agents WHERE {_OF_ERASURE} "
            f"UNION ALL SELECT 1 FROM erasures WHERE {_OF_ERASURE}"
        )
        return self._erase(values) if self._session.glance(known, values) else None

    def _erase(self, values: dict[str, Any]) -> Progress:
        progress = self._step(values, is_first=True)
        for _ in range(1, STEPS):
            if progress.complete:
                break
            progress = self._step(values)
        if progress.complete:
            self._session.checkpoint()
        return progress

    def _step(self, values: dict[str, Any], is_first: bool = False) -> Progress:
        with self._session.transaction(durable=True):
            started_at, before, merging = self._session.one(
                "INSERT INTO erasures (user_id, agent_id, started_at) "
                "VALUES (:user_id, :agent_id, :at) "
                "ON CONFLICT DO UPDATE SET erased = erased RETURNING started_at, erased, merging",
                values,
            )
            erased = Counter(from_json(before))
            memories = erased["memories"]
            # Who comes while the index is merged is new, until the erasure is asked for again.
            rows_left = (is_first or not merging) and self._erase_rows(values, erased)
            # What was erased now, a merge that had begun leaves out.
            merging = merging and erased["memories"] == memories
            complete = not rows_left and self._merged(erased, merging)
            self._session.all(
                f"DELETE FROM erasures WHERE {_OF_ERASURE}"
                if complete
                else "UPDATE erasures SET erased = :erased, merging = :merging "
                f"WHERE {_OF_ERASURE}",
                values | {"erased": json.dumps(erased), "merging": not rows_left},
            )
        return Progress(started_at, erased, complete)

    def _erase_rows(self, values: dict[str, Any], erased: Counter[str]) -> bool:
        """Erase some rows, count them, and say whether there may be more."""
        memories = [
            row_id
            for (row_id,) in self._session.all(
                f"SELECT row_id FROM memories WHERE {_ERASED} ORDER BY row_id LIMIT {ROWS}", values
            )
        ]
        room = ROWS
        for dependent in _DEPENDENTS:
            room -= (number := self._delete_dependents(dependent, memories, room))
            erased[dependent.kind] += number
        # Only of memories that nothing belongs to any more.
        if room == 0:
            return True
        for kind, table in (("memories", "memories"), ("agents", "agents")):
            number = self._delete(
                f"DELETE FROM {table} WHERE rowid IN "
                f"(SELECT rowid FROM {table} WHERE {_ERASED} ORDER BY rowid LIMIT {room})",
                values,
            )
            erased[kind] += number
            room -= number
            if room == 0:
                return True
        self._delete(f"DELETE FROM keyed_requests WHERE {_ERASED}", values)
        if values["agent_id"] == _EVERY_AGENT:
            self._delete("DELETE FROM users WHERE user_id = :user_id", values)
            self._delete(
                "DELETE FROM erasures WHERE user_id = :user_id AND agent_id <> :agent_id", values
            )
        return False

    def _delete_dependents(self, dependent: _Dependent, memories: Sequence[int], room: int) -> int:
        _, table, key, rows = dependent
        of_memories = f"IN ({', '.join(map(str, memories))})"
        belonging = " OR ".join(f"{row} {of_memories}" for row in rows)
        return self._delete(
            f"DELETE FROM {table} WHERE ({key}) IN "
            f"(SELECT {key} FROM {table} WHERE {belonging} LIMIT {room})",
            {},
        )

    def _merged(self, erased: Counter[str], merging: bool) -> bool:
        """Merge some of the full-text index, and say whether it was all merged."""
        if not erased["memories"]:
            return True
        before = self._session.connection.total_changes
        self._session.all(
            "INSERT INTO memory_search (memory_search, rank) VALUES ('merge', :pages)",
            # A negative number of pages begins a merge of everything.
            {"pages": PAGES if merging else -PAGES},
        )
        # This is how the index says that there was nothing to do.
        return merging and self._session.connection.total_changes - before < 2

    def _delete(self, statement: str, values: dict[str, Any]) -> int:
        return self._session.connection.execute(statement, values).rowcount
