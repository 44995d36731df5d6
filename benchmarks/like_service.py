"""The baseline: the simplest memory service that one would write with FastAPI and SQLite.

One table, a connection for each request, ``LIKE`` for every search, and the same routes, fields and
answers as the real one. ``python like_service.py FILE`` listens on a free port and prints it.
"""

import json
import socket
import sqlite3
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Query
from pydantic import BaseModel, Field

DATA = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("like.db")
FIELDS = (
    *("id", "content", "tags", "created_at", "updated_at", "last_accessed_at"),
    *("memory_type", "status", "version"),
)
SCHEMA = """
CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, tags TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, last_accessed_at TEXT,
    memory_type TEXT NOT NULL, status TEXT NOT NULL, version INTEGER NOT NULL
)
"""
Sort = Literal["id", "created_at", "updated_at", "last_accessed_at"]


class Draft(BaseModel):
    content: str = Field(min_length=1, max_length=8000)
    tags: list[str] = Field(min_length=1, max_length=20)
    memory_type: Literal["preference", "fact", "identity", "event"] = "fact"


class Patch(BaseModel):
    content: str = Field(min_length=1, max_length=8000)


class Memory(Draft):
    id: int
    created_at: str
    updated_at: str
    last_accessed_at: str | None
    status: str
    version: int


class Page(BaseModel):
    items: list[Memory]
    total: int
    limit: int
    offset: int
    has_more: bool


app = FastAPI()


def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(DATA, timeout=30, check_same_thread=False)
    try:
        with connection:
            yield connection
    finally:
        connection.close()


Database = Annotated[sqlite3.Connection, Depends(database, scope="function")]


@app.post("/memories", status_code=201)
def create(draft: Draft, db: Database) -> Memory:
    return _created(draft, db)


@app.post("/memories/batch", status_code=201)
def create_all(drafts: list[Draft], db: Database) -> list[Memory]:
    return [_created(draft, db) for draft in drafts]


@app.get("/memories")
def page(  # noqa: PLR0917  (as its documentation has it)
    db: Database,
    q: str | None = None,
    tag: str | None = None,
    memory_type: str | None = None,
    sort: Sort = "id",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> Page:
    clauses, values = ["status <> 'deleted'"], []
    if q is not None:
        clauses.append("(content LIKE ? OR tags LIKE ?)")
        values += [f"%{q}%", f"%{q}%"]
    if tag is not None:
        clauses.append("tags LIKE ?")
        values.append(f'%"{tag}"%')
    if memory_type is not None:
        clauses.append("memory_type = ?")
        values.append(memory_type)
    where = " AND ".join(clauses)
    (total,) = db.execute(f"SELECT count(*) FROM memories WHERE {where}", values).fetchone()
    order = "id" if sort == "id" else f"{sort} DESC, id DESC"
    rows = db.execute(
        f"SELECT {', '.join(FIELDS)} FROM memories WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",
        [*values, limit, offset],
    ).fetchall()
    now = _now()
    db.executemany(
        "UPDATE memories SET last_accessed_at = ? WHERE id = ?", [(now, row[0]) for row in rows]
    )
    items = [_memory(row).model_copy(update={"last_accessed_at": now}) for row in rows]
    more = offset + len(items) < total
    return Page(items=items, total=total, limit=limit, offset=offset, has_more=more)


@app.get("/memories/{memory_id}")
def read(memory_id: int, db: Database) -> Memory:
    db.execute("UPDATE memories SET last_accessed_at = ? WHERE id = ?", (_now(), memory_id))
    return _found(memory_id, db)


@app.patch("/memories/{memory_id}")
def revise(memory_id: int, patch: Patch, db: Database) -> Memory:
    db.execute(
        "UPDATE memories SET content = ?, updated_at = ?, version = version + 1 WHERE id = ?",
        (patch.content, _now(), memory_id),
    )
    return _found(memory_id, db)


def _created(draft: Draft, db: sqlite3.Connection) -> Memory:
    now = _now()
    cursor = db.execute(
        f"INSERT INTO memories ({', '.join(FIELDS[1:])}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(draft.content, json.dumps(draft.tags, ensure_ascii=False), now, now, None),
            *(draft.memory_type, "active", 1),
        ),
    )
    return _found(cursor.lastrowid, db)


def _found(memory_id: int | None, db: sqlite3.Connection) -> Memory:
    row = db.execute(
        f"SELECT {', '.join(FIELDS)} FROM memories WHERE id = ? AND status <> 'deleted'",
        (memory_id,),
    ).fetchone()
    if row is None:
        raise HTTPException(404, "Memory not found")
    return _memory(row)


def _memory(row: tuple[Any, ...]) -> Memory:
    values = dict(zip(FIELDS, row, strict=True))
    return Memory(**values | {"tags": json.loads(values["tags"])})


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def main() -> None:
    with sqlite3.connect(DATA) as connection:
        connection.execute(SCHEMA)
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(
        sockets=[listener]
    )


if __name__ == "__main__":
    main()
