"""The bare routes that the service is measured against: Starlette, sqlite3 and nothing else.

The same file, pragmas and SQL as the service's, put straight into the endpoints: no validation, no
layers, no threads, no error answers. ``python bare_route.py FILE`` listens on a free port and
prints it.
"""

import json
import socket
import sqlite3
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_NAMES = (
    "id",
    "content",
    "tags",
    "created_at",
    "updated_at",
    "last_accessed_at",
    "memory_type",
    "status",
    "version",
)
_COLUMNS = ", ".join(_NAMES)

_COUNT = (
    "SELECT sum(memories) FROM memory_counts "
    "WHERE user_id = :user_id AND tag = '' AND status <> 'deleted'"
)
_EVERYTHING = "SELECT sum(memories) FROM memory_counts WHERE user_id = :user_id AND tag = ''"
_FIRST = "(SELECT user_number << 36 FROM users WHERE user_id = :user_id)"
_ENTRIES = (
    "FROM memory_search WHERE memory_search MATCH :phrase "
    f"AND rowid BETWEEN {_FIRST} AND {_FIRST} + (1 << 36) - 1 AND rowid & 3 <> 2"
)
_COUNT_Q = f"SELECT count(*) {_ENTRIES}"
_ORDER = "ORDER BY updated_at DESC, id DESC LIMIT 10 OFFSET 0"
_LIVE = "user_id = :user_id AND status <> 'deleted'"
_PAGE = f"SELECT row_id, {_COLUMNS} FROM memories WHERE {_LIVE} {_ORDER}"
_PAGE_MANY = (
    f"SELECT row_id, {_COLUMNS} FROM memories WHERE {_LIVE} AND instr(search_text, :text) {_ORDER}"
)
_PAGE_FEW = (
    f"SELECT row_id, {_COLUMNS} FROM memories WHERE row_id IN (SELECT rowid >> 4 {_ENTRIES}) "
    f"AND +{_LIVE} AND instr(search_text, :text) {_ORDER}"
)


def application(path: Path) -> Starlette:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("PRAGMA cache_size = -65536")

    async def page(request: Request) -> Response:
        q = request.query_params.get("q")
        values = {"user_id": "local", "text": q, "phrase": f'"{q}"'}
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        (total,) = database.execute(_COUNT if q is None else _COUNT_Q, values).fetchone()
        if total == 0:
            database.execute("COMMIT")
            return _json(_envelope([], 0))
        (everything,) = database.execute(_EVERYTHING, values).fetchone()
        if q is None:
            statement = _PAGE
        elif total * total > 10 * everything:
            statement = _PAGE_MANY
        else:
            statement = _PAGE_FEW
        rows = database.execute(statement, values).fetchall()
        now = _now()
        database.execute(
            "UPDATE memories SET last_accessed_at = ? "
            f"WHERE row_id IN ({', '.join('?' * len(rows))})",
            (now, *(row_id for row_id, *_ in rows)),
        )
        database.execute("COMMIT")
        items = [_shown(row) | {"last_accessed_at": now} for _row_id, *row in rows]
        return _json(_envelope(items, total))

    async def read(request: Request) -> Response:
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        row = database.execute(
            "UPDATE memories SET last_accessed_at = ? WHERE user_id = ? AND id = ? "
            f"AND status <> 'deleted' RETURNING {_COLUMNS}",
            (_now(), "local", request.path_params["memory_id"]),
        ).fetchone()
        database.execute("COMMIT")
        return _json(_shown(row))

    async def create(request: Request) -> Response:
        sent = json.loads(await request.body())
        now = _now()
        database.execute("PRAGMA synchronous = FULL")
        database.execute("BEGIN IMMEDIATE")
        (number, memory_id) = database.execute(
            "INSERT INTO users (user_id, created_at, last_id) VALUES (?, ?, 1) "
            "ON CONFLICT (user_id) DO UPDATE SET last_id = last_id + 1 "
            "RETURNING user_number, last_id",
            ("local", now),
        ).fetchone()
        row_id = (number << 32) + memory_id
        content, tags = sent["content"], sent["tags"]
        search_text = "\x1f".join((content, *tags)).casefold()
        row = database.execute(
            f"INSERT INTO memories (row_id, user_id, search_text, agent_id, {_COLUMNS}) "
            "VALUES (?, 'local', ?, 'local', ?, ?, ?, ?, ?, NULL, 'fact', 'active', 1) "
            f"RETURNING {_COLUMNS}",
            (row_id, search_text, memory_id, content, json.dumps(tags), now, now),
        ).fetchone()
        database.executemany(
            "INSERT INTO memory_tags (user_id, tag, row_id, status, memory_type) "
            "VALUES ('local', ?, ?, 'active', 'fact')",
            [(tag, row_id) for tag in tags],
        )
        database.execute("COMMIT")
        return _json(_shown(row), 201)

    return Starlette(
        routes=[
            Route("/memories", page, methods=["GET"]),
            Route("/memories", create, methods=["POST"]),
            Route("/memories/{memory_id:int}", read, methods=["GET"]),
        ]
    )


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _shown(row: Any) -> dict[str, Any]:
    shown = dict(zip(_NAMES, row, strict=True))
    shown["tags"] = json.loads(shown["tags"])
    return shown


def _envelope(items: list[Any], total: int) -> dict[str, Any]:
    more = len(items) < total
    return {"items": items, "total": total, "limit": 10, "offset": 0, "has_more": more}


def _json(body: object, status: int = 200) -> Response:
    return Response(json.dumps(body), status, media_type="application/json")


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        application(Path(sys.argv[1])), log_level="warning", access_log=False, server_header=False
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
