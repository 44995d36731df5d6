"""Tags in the SQLite store: from the counts that are kept, and what is shared besides."""

from memories.principal import Principal
from memories.stores.port_tags import TagUse
from memories.stores.sqlite.pages import NOT_DELETED
from memories.stores.sqlite.session import Session

# The counts are of what all may read, and of what the agent made; what only being shared lets it
# read is counted one by one.
_IN_USE = f"""
    SELECT tag, sum(memories) AS memories FROM (
        SELECT tag, memories FROM memory_counts
        WHERE user_id = :user_id AND tag <> '' AND {NOT_DELETED}
        AND reader IN ('', :agent_id)
        UNION ALL
        SELECT tag, 1 FROM memory_grants AS granted JOIN memory_tags USING (row_id)
        WHERE granted.user_id = :user_id AND granted.agent_id = :agent_id
        AND {NOT_DELETED} AND reader NOT IN ('', :agent_id)
    ) GROUP BY tag
"""


class SqliteTags:
    """Tags of one data file."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def in_use(self, principal: Principal, limit: int, offset: int) -> tuple[list[TagUse], int]:
        values = {"user_id": principal.user_id, "agent_id": principal.agent_id}
        with self._session.transaction(writes=False):
            (total,) = self._session.one(f"SELECT count(*) FROM ({_IN_USE})", values)
            rows = self._session.all(
                f"{_IN_USE} ORDER BY memories DESC, tag LIMIT :limit OFFSET :offset",
                values | {"limit": limit, "offset": offset},
            )
        return [TagUse._make(row) for row in rows], total
