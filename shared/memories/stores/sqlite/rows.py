"""The rows of a record: itself, and those that find it by a tag or by whom it is shared with."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from memories.stores.port import Record
from memories.text import search_text

COLUMNS = ", ".join(Record._fields)
_VALUES = ", ".join(f":{name}" for name in Record._fields)

# Fields that are kept as JSON.
_LISTS = ("tags", "shared_with_agents")


def record_of(row: Sequence[Any]) -> Record:
    """Return the record that a row of COLUMNS holds."""
    record = Record._make(row)
    return record._replace(
        tags=tuple(from_json(record.tags)),  # type: ignore[arg-type]  # as it is kept
        shared_with_agents=tuple(from_json(record.shared_with_agents)),  # type: ignore[arg-type]
        is_public=bool(record.is_public),
        read_only=bool(record.read_only),
    )


def kept(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a record as the table keeps them."""
    return {
        name: json.dumps(value, ensure_ascii=False) if name in _LISTS else value
        for name, value in values.items()
    }


def find(connection: sqlite3.Connection, user_id: str, memory_id: int) -> Record | None:
    """Return the record, whatever its status and grants."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM memories WHERE user_id = ? AND id = ?", (user_id, memory_id)
    ).fetchone()
    return record_of(row) if row else None


def insert(connection: sqlite3.Connection, user_id: str, row_id: int, record: Record) -> None:
    """Insert a new record under ``row_id``."""
    connection.execute(
        f"INSERT INTO memories (row_id, user_id, search_text, {COLUMNS}) "
        f"VALUES (:row_id, :user_id, :search_text, {_VALUES})",
        {
            "row_id": row_id,
            "user_id": user_id,
            "search_text": search_text(record.content, record.tags),
            **kept(record._asdict()),
        },
    )
    _insert_tags(connection, user_id, row_id, record)
    _insert_grants(connection, user_id, row_id, record)


def reindex(connection: sqlite3.Connection, user_id: str, row_id: int, record: Record) -> None:
    """Make a record be found by its present content and tags."""
    connection.execute(
        "UPDATE memories SET search_text = ? WHERE row_id = ?",
        (search_text(record.content, record.tags), row_id),
    )
    connection.execute("DELETE FROM memory_tags WHERE row_id = ?", (row_id,))
    _insert_tags(connection, user_id, row_id, record)


def regrant(connection: sqlite3.Connection, user_id: str, row_id: int, record: Record) -> None:
    """Make a record be found by the agents that it is shared with now."""
    connection.execute("DELETE FROM memory_grants WHERE row_id = ?", (row_id,))
    _insert_grants(connection, user_id, row_id, record)


def _insert_tags(connection: sqlite3.Connection, user_id: str, row_id: int, record: Record) -> None:
    reader = "" if record.is_public else record.agent_id
    connection.executemany(
        "INSERT INTO memory_tags (user_id, tag, row_id, status, memory_type, reader) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [(user_id, tag, row_id, record.status, record.memory_type, reader) for tag in record.tags],
    )


def _insert_grants(
    connection: sqlite3.Connection, user_id: str, row_id: int, record: Record
) -> None:
    connection.executemany(
        "INSERT INTO memory_grants (user_id, agent_id, row_id) VALUES (?, ?, ?)",
        [(user_id, agent_id, row_id) for agent_id in record.shared_with_agents],
    )
