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

from memories.stores.sqlite.pages import READABLE
from memories.stores.sqlite.rows import COLUMNS
from memories.stores.sqlite.schema import FACET_BITS, ID_BITS, PRIVATE_BIT

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
# What the service's statements put into memory_counts, the index and the filter.
_READER = "AND reader IN ('', :agent_id)"
_SHARED = (
    "SELECT count(*) FROM memory_grants AS granted JOIN memories USING (row_id) "
    "WHERE granted.user_id = :user_id AND granted.agent_id = :agent_id "
    "AND reader NOT IN ('', :agent_id) AND status <> 'deleted'"
)
_ENTRY_BITS = ID_BITS + FACET_BITS

_COUNT = (
    "SELECT (SELECT sum(memories) FROM memory_counts WHERE user_id = :user_id AND tag = '' "
    f"{_READER} AND status <> 'deleted') + ({_SHARED})"
)
_EVERYTHING = "SELECT sum(memories) FROM memory_counts WHERE user_id = :user_id AND tag = ''"
_FIRST = f"(SELECT user_number << {_ENTRY_BITS} FROM users WHERE user_id = :user_id)"
_ENTRIES = (
    "FROM memory_search WHERE memory_search MATCH :phrase "
    f"AND rowid BETWEEN {_FIRST} AND {_FIRST} + (1 << {_ENTRY_BITS}) - 1 AND rowid & 3 <> 2 "
    f"AND (rowid & {PRIVATE_BIT} = 0 OR EXISTS (SELECT 1 FROM memories "
    f"WHERE row_id = memory_search.rowid >> {FACET_BITS} AND {READABLE}))"
)
_COUNT_Q = f"SELECT count(*) {_ENTRIES}"
_ORDER = "ORDER BY updated_at DESC, id DESC LIMIT 10 OFFSET 0"
_LIVE = f"user_id = :user_id AND status <> 'deleted' AND {READABLE}"
_PAGE = f"SELECT row_id, {COLUMNS} FROM memories WHERE {_LIVE} {_ORDER}"
_PAGE_MANY = (
    f"SELECT row_id, {COLUMNS} FROM memories WHERE {_LIVE} AND instr(search_text, :text) {_ORDER}"
)
_PAGE_FEW = (
    f"SELECT row_id, {COLUMNS} FROM memories "
    f"WHERE row_id IN (SELECT rowid >> {FACET_BITS} {_ENTRIES}) "
    f"AND +{_LIVE} AND instr(search_text, :text) {_ORDER}"
)


def application(path: Path) -> Starlette:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("PRAGMA cache_size = -65536")

    async def page(request: Request) -> Response:
        q = request.query_params.get("q")
        values = {"user_id": "local", "agent_id": "local", "text": q, "phrase": f'"{q}"'}
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
            "UPDATE memories SET last_accessed_at = ?, access_count = access_count + 1 "
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
            "UPDATE memories SET last_accessed_at = :at, access_count = access_count + 1 "
            f"WHERE user_id = :user_id AND id = :id AND status <> 'deleted' AND {READABLE} "
            f"RETURNING {COLUMNS}",
            {
                "at": _now(),
                "user_id": "local",
                "agent_id": "local",
                "id": request.path_params["memory_id"],
            },
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
        row_id = (number << ID_BITS) + memory_id
        content, tags = sent["content"], sent["tags"]
        search_text = "\x1f".join((content, *tags)).casefold()
        row = [memory_id, content, json.dumps(tags), now, now, None, "fact", "active", 1]
        row += ["local", 5, None, None, 0, 1, 0, "[]"]
        database.execute(
            f"INSERT INTO memories (row_id, user_id, search_text, {COLUMNS}) "
            f"VALUES (?, 'local', ?, {', '.join('?' * len(row))})",
            (row_id, search_text, *row),
        )
        database.executemany(
            "INSERT INTO memory_tags (user_id, tag, row_id, status, memory_type, reader) "
            "VALUES ('local', ?, ?, 'active', 'fact', '')",
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
    shown = dict(zip(_NAMES, row, strict=False))
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
