"""The users and their agents in the SQLite store."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from memories.stores.port_accounts import AgentRecord, UserRecord
from memories.stores.sqlite.session import Session

_COLUMNS = ", ".join(AgentRecord._fields)
_OF_AGENT = "user_id = :user_id AND agent_id = :agent_id"


class SqliteAccounts:
    """Accounts over the connection of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def register(self, user_id: str, agent_id: str, at: str) -> None:
        # Looked up each time, for another process may have erased it; that takes microseconds.
        if not self._session.glance(
            f"SELECT 1 FROM agents WHERE {_OF_AGENT}", {"user_id": user_id, "agent_id": agent_id}
        ):
            with self._session.transaction(durable=True):
                self._insert(user_id, agent_id, at)

    def agents(self, user_id: str, limit: int, offset: int) -> tuple[list[AgentRecord], int]:
        values = {"user_id": user_id, "limit": limit, "offset": offset}
        with self._session.transaction(writes=False):
            (total,) = self._session.one(
                "SELECT count(*) FROM agents WHERE user_id = :user_id", values
            )
            rows = self._session.all(
                f"SELECT {_COLUMNS} FROM agents WHERE user_id = :user_id "
                "ORDER BY created_at, agent_id LIMIT :limit OFFSET :offset",
                values,
            )
        return [_agent_of(row) for row in rows], total

    def agent(self, user_id: str, agent_id: str) -> AgentRecord | None:
        with self._session.transaction(writes=False):
            row = self._session.one(
                f"SELECT {_COLUMNS} FROM agents WHERE {_OF_AGENT}",
                {"user_id": user_id, "agent_id": agent_id},
            )
        return _agent_of(row) if row else None

    def describe(
        self, user_id: str, agent_id: str, name: str | None, capabilities: tuple[str, ...], at: str
    ) -> AgentRecord:
        with self._session.transaction(durable=True):
            self._insert(user_id, agent_id, at)
            row = self._session.one(
                "UPDATE agents SET name = :name, capabilities = :capabilities "
                f"WHERE {_OF_AGENT} RETURNING {_COLUMNS}",
                {
                    "user_id": user_id,
                    "agent_id": agent_id,
                    "name": name,
                    "capabilities": json.dumps(capabilities, ensure_ascii=False),
                },
            )
        return _agent_of(row)

    def user(self, user_id: str) -> UserRecord:
        with self._session.transaction(writes=False):
            row = self._session.one(
                "SELECT created_at, metadata FROM users WHERE user_id = :user_id",
                {"user_id": user_id},
            )
        return UserRecord(row[0], from_json(row[1])) if row else UserRecord(None, {})

    def set_metadata(
        self, user_id: str, expected: UserRecord, metadata: Mapping[str, str], at: str
    ) -> bool:
        with self._session.transaction(durable=True):
            self._insert_user(user_id, at)
            changed = self._session.one(
                "UPDATE users SET metadata = :metadata "
                "WHERE user_id = :user_id AND metadata = :expected RETURNING 1",
                {
                    "user_id": user_id,
                    "metadata": _kept(metadata),
                    "expected": _kept(expected.metadata),
                },
            )
        return changed is not None

    def _insert(self, user_id: str, agent_id: str, at: str) -> None:
        self._insert_user(user_id, at)
        self._session.connection.execute(
            "INSERT INTO agents (user_id, agent_id, created_at) VALUES (?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (user_id, agent_id, at),
        )

    def _insert_user(self, user_id: str, at: str) -> None:
        self._session.connection.execute(
            "INSERT INTO users (user_id, created_at, last_id) VALUES (?, ?, 0) "
            "ON CONFLICT DO NOTHING",
            (user_id, at),
        )


def _kept(metadata: Mapping[str, str]) -> str:
    return json.dumps(dict(sorted(metadata.items())), ensure_ascii=False)


def _agent_of(row: tuple[Any, ...]) -> AgentRecord:
    record = AgentRecord._make(row)
    return record._replace(capabilities=tuple(from_json(record.capabilities)))  # type: ignore[arg-type]  # as it is kept
