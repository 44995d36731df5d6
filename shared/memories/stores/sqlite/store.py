"""The store over one SQLite file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memories.grants import may_read
from memories.principal import Principal
from memories.stores.port import (
    ConditionFailed,
    Fit,
    NewRecord,
    Record,
    Selection,
    first_version,
)
from memories.stores.port_idempotency import KeyedRequest
from memories.stores.port_log import LOG_DAYS
from memories.stores.process_usage import ProcessUsage
from memories.stores.sqlite import idempotency
from memories.stores.sqlite.accounts import SqliteAccounts
from memories.stores.sqlite.erasure import SqliteErasure
from memories.stores.sqlite.log import SqliteLog
from memories.stores.sqlite.maintenance import SqliteMaintenance
from memories.stores.sqlite.pages import CHANGEABLE, NOT_DELETED, READABLE, page_of, total_of
from memories.stores.sqlite.relations import SqliteRelations
from memories.stores.sqlite.rows import COLUMNS, find, insert, kept, record_of, regrant, reindex
from memories.stores.sqlite.schema import ID_BITS
from memories.stores.sqlite.session import Session
from memories.stores.sqlite.tags import SqliteTags
from memories.stores.sqlite.transfer import SqliteTransfer

# Wait this long for another process's write before giving up, in seconds.
BUSY_TIMEOUT = 5.0

_EXISTS = "user_id = :user_id AND id = :id"


class SqliteStore:
    """Store over one connection, which its threads take in turn."""

    def __init__(
        self, path: Path, busy_timeout: float = BUSY_TIMEOUT, log_days: int = LOG_DAYS
    ) -> None:
        """Open or create the file at ``path``. Raises UnusableDataFile."""
        self._session = Session(path, busy_timeout)
        self.log = SqliteLog(self._session, log_days)
        self.maintenance = SqliteMaintenance(self._session)
        self.transfer = SqliteTransfer(self._session)
        self.accounts = SqliteAccounts(self._session)
        # Not in the file: a count is not worth a write, and mostly one process serves it.
        self.usage = ProcessUsage()
        self.relations = SqliteRelations(self._session, self.log)
        self.tags = SqliteTags(self._session)
        self.erasure = SqliteErasure(self._session)

    def create(
        self,
        principal: Principal,
        drafts: Sequence[NewRecord],
        request: KeyedRequest | None = None,
    ) -> list[Record]:
        created_at = drafts[0].created_at
        with self._session.transaction(durable=True):
            if request:
                idempotency.require_new(self._session.connection, principal, request)
            first_row, first_id = self._reserve(principal.user_id, len(drafts), created_at)
            records = [
                first_version(first_id + n, principal.agent_id, draft)
                for n, draft in enumerate(drafts)
            ]
            for n, record in enumerate(records):
                insert(self._session.connection, principal.user_id, first_row + n, record)
            if request:
                idempotency.keep(self._session.connection, principal, request, first_id, created_at)
            return records

    def get(self, principal: Principal, memory_id: int) -> Record | None:
        with self._session.transaction(writes=False):
            return self._find(principal, memory_id)

    def access(self, principal: Principal, memory_id: int, accessed_at: str) -> Record | None:
        with self._session.transaction():
            return self._access(principal, memory_id, accessed_at)

    def access_all(
        self, principal: Principal, memory_ids: Sequence[int], accessed_at: str, fit: Fit = len
    ) -> list[Record]:
        with self._session.transaction():
            found = (self._find(principal, memory_id) for memory_id in memory_ids)
            records = [
                record
                for record in found
                if record and record.status != "deleted" and may_read(record, principal.agent_id)
            ]
            kept = records[: fit(records)]
            marked = (self._access(principal, record.id, accessed_at) for record in kept)
            return [record for record in marked if record]

    def update(
        self,
        principal: Principal,
        memory_id: int,
        version: int,
        changes: Mapping[str, Any],
        at: str,
    ) -> Record:
        with self._session.transaction(durable=True):
            row_id, record = self._change(
                principal,
                memory_id,
                f"{_assignments(changes)}version = version + 1, updated_at = :at",
                f"{NOT_DELETED} AND {CHANGEABLE} AND version = :expected",
                {"expected": version, "at": at, **kept(changes)},
            )
            if "content" in changes or "tags" in changes:
                reindex(self._session.connection, principal.user_id, row_id, record)
            self.log.add([row_id], "update", principal.agent_id, at)
            return record

    def retire(self, principal: Principal, memory_id: int, version: int | None, at: str) -> Record:
        with self._session.transaction(durable=True):
            _, record = self._change(
                principal,
                memory_id,
                "status = 'deleted', deleted_at = :at",
                f"{NOT_DELETED} AND {CHANGEABLE} AND (:expected IS NULL OR version = :expected)",
                {"expected": version, "at": at},
            )
            return record

    def grant(self, principal: Principal, memory_id: int, grants: Mapping[str, Any]) -> Record:
        with self._session.transaction(durable=True):
            row_id, record = self._change(
                principal,
                memory_id,
                f"{_assignments(grants)}agent_id = agent_id",
                f"{NOT_DELETED} AND agent_id = :agent_id",
                kept(grants),
            )
            if "shared_with_agents" in grants:
                regrant(self._session.connection, principal.user_id, row_id, record)
            return record

    def page(
        self, principal: Principal, selection: Selection, accessed_at: str, fit: Fit = len
    ) -> tuple[list[Record], int]:
        # One transaction: no write of another process falls between the count and the refresh.
        with self._session.transaction():
            rows, total = page_of(
                self._session.connection, self._session.totals, principal, selection, COLUMNS
            )
            if not rows:
                return [], total
            records = [
                record._replace(last_accessed_at=accessed_at, access_count=record.access_count + 1)
                for record in (record_of(row) for _row_id, *row in rows)
            ]
            kept = fit(records)
            row_ids = [row_id for row_id, *_ in rows[:kept]]
            self._session.connection.execute(
                "UPDATE memories SET last_accessed_at = ?, access_count = access_count + 1 "
                f"WHERE row_id IN ({', '.join('?' * kept)})",
                (accessed_at, *row_ids),
            )
            if row_ids:
                self.log.add(row_ids, "read", principal.agent_id, accessed_at)
        return records[:kept], total

    def count(self, principal: Principal, selection: Selection, at: str) -> int:  # noqa: ARG002
        with self._session.transaction(writes=False):
            return total_of(self._session.connection, self._session.totals, principal, selection)

    def check(self) -> None:
        # Even reading a memory writes its access time, so ready means that it can be written.
        with self._session.transaction():
            self._session.one("SELECT 1 FROM users LIMIT 1", {})

    def close(self) -> None:
        self._session.close()

    def _access(self, principal: Principal, memory_id: int, accessed_at: str) -> Record | None:
        try:
            row_id, record = self._change(
                principal,
                memory_id,
                "last_accessed_at = :at, access_count = access_count + 1",
                f"{NOT_DELETED} AND {READABLE}",
                {"at": accessed_at},
            )
        except ConditionFailed:
            return None
        self.log.add([row_id], "read", principal.agent_id, accessed_at)
        return record

    def _find(self, principal: Principal, memory_id: int) -> Record | None:
        return find(self._session.connection, principal.user_id, memory_id)

    def _change(
        self,
        principal: Principal,
        memory_id: int,
        assignments: str,
        condition: str,
        values: Mapping[str, Any],
    ) -> tuple[int, Record]:
        """Change a memory, and return its row id and its new record. Raises ConditionFailed."""
        row = self._session.one(
            f"UPDATE memories SET {assignments} WHERE {_EXISTS} AND {condition} "
            f"RETURNING row_id, {COLUMNS}",
            {
                "user_id": principal.user_id,
                "agent_id": principal.agent_id,
                "id": memory_id,
                **values,
            },
        )
        if row is None:
            raise ConditionFailed(self._find(principal, memory_id))
        return row[0], record_of(row[1:])

    def _reserve(self, user_id: str, count: int, at: str) -> tuple[int, int]:
        """Return the first row id and the first id of ``count`` new ones."""
        number, last_id = self._session.one(
            "INSERT INTO users (user_id, created_at, last_id) VALUES (:user_id, :at, :count) "
            "ON CONFLICT (user_id) DO UPDATE SET last_id = last_id + :count "
            "RETURNING user_number, last_id",
            {"user_id": user_id, "at": at, "count": count},
        )
        first_id = last_id - count + 1
        return (number << ID_BITS) + first_id, first_id


def _assignments(values: Mapping[str, Any]) -> str:
    return "".join(f"{name} = :{name}, " for name in values)
