"""The access log in the SQLite store, written in the transaction of the access itself."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from memories.fields import timestamp
from memories.stores.port_log import Access, AccessType
from memories.stores.sqlite.session import Session

# After so many entries the oldest are looked at.
_EXPIRE_EVERY = 256

_OF_MEMORY = """
    memory_access_log WHERE accessed_at > :since AND row_id = (
        SELECT row_id FROM memories WHERE user_id = :user_id AND id = :id
    )
"""


class SqliteLog:
    """The log of one data file."""

    def __init__(self, session: Session, days: int) -> None:
        """``days`` is how long entries are kept."""
        self._session = session
        self._kept = timedelta(days=days)

    def page(
        self, user_id: str, memory_id: int, since: str, limit: int, offset: int
    ) -> tuple[list[Access], int]:
        values = {
            "user_id": user_id,
            "id": memory_id,
            "since": since,
            "limit": limit,
            "offset": offset,
        }
        with self._session.transaction(writes=False):
            (total,) = self._session.one(f"SELECT count(*) FROM {_OF_MEMORY}", values)
            rows = self._session.all(
                f"SELECT {', '.join(Access._fields)} FROM {_OF_MEMORY} "
                "ORDER BY accessed_at DESC, entry DESC LIMIT :limit OFFSET :offset",
                values,
            )
        return [Access._make(row) for row in rows], total

    def add(self, row_ids: Sequence[int], kind: AccessType, agent_id: str, at: str) -> None:
        """Log an access of each of the rows, within the transaction that is open."""
        last = self._session.connection.execute(
            "INSERT INTO memory_access_log (row_id, accessed_at, access_type, agent_id) "
            f"VALUES {', '.join(['(?, ?, ?, ?)'] * len(row_ids))}",
            [value for row_id in row_ids for value in (row_id, at, kind, agent_id)],
        ).lastrowid
        assert last is not None
        if last // _EXPIRE_EVERY != (last - len(row_ids)) // _EXPIRE_EVERY:
            self._expire(at)

    def _expire(self, at: str) -> None:
        # Of the oldest entries, twice as many as came since the last time are looked at: so none
        # stays for long after its time, and no access pays for many.
        self._session.connection.execute(
            "DELETE FROM memory_access_log WHERE accessed_at <= ? AND entry IN "
            "(SELECT entry FROM memory_access_log ORDER BY entry LIMIT ?)",
            (timestamp(datetime.fromisoformat(at) - self._kept), 2 * _EXPIRE_EVERY),
        )
