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


def application(path: Path) -> Starlette:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("PRAGMA cache_size = -65536")

    async def page(request: Request) -> Response:
        q = request.query_params.get("q")
        where = "user_id = ? AND status <> 'deleted'"
        values = ["local"]
        if q is not None:
            where += " AND row_id IN (SELECT rowid FROM memory_search WHERE memory_search MATCH ?)"
            values.append(f'"{q}"')
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        (total,) = database.execute(
            f"SELECT count(*) FROM memories WHERE {where}", values
        ).fetchone()
        row_ids = [
            row_id
            for (row_id,) in database.execute(
                f"SELECT row_id FROM memories WHERE {where} "
                "ORDER BY updated_at DESC, id DESC LIMIT 10 OFFSET 0",
                values,
            )
        ]
        rows = database.execute(
            "UPDATE memories SET last_accessed_at = ? "
            f"WHERE row_id IN ({', '.join('?' * len(row_ids))}) RETURNING row_id, {_COLUMNS}",
            (_now(), *row_ids),
        ).fetchall()
        database.execute("COMMIT")
        found = {row[0]: _shown(row[1:]) for row in rows}
        items = [found[row_id] for row_id in row_ids]
        return _json(
            {
                "items": items,
                "total": total,
                "limit": 10,
                "offset": 0,
                "has_more": len(items) < total,
            }
        )

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
        (memory_id,) = database.execute(
            "INSERT INTO users (user_id, created_at, last_id) VALUES (?, ?, 1) "
            "ON CONFLICT (user_id) DO UPDATE SET last_id = last_id + 1 RETURNING last_id",
            ("local", now),
        ).fetchone()
        search_text = "\x1f".join((sent["content"], *sent["tags"])).casefold()
        row_id, *row = database.execute(
            f"INSERT INTO memories (user_id, search_text, agent_id, {_COLUMNS}) "
            f"VALUES (?, ?, 'local', ?, ?, ?, ?, ?, NULL, 'fact', 'active', 1) "
            f"RETURNING row_id, {_COLUMNS}",
            (
                "local",
                search_text,
                memory_id,
                sent["content"],
                json.dumps(sent["tags"]),
                now,
                now,
            ),
        ).fetchone()
        database.executemany(
            "INSERT INTO memory_tags (user_id, tag, row_id) VALUES (?, ?, ?)",
            [("local", tag, row_id) for tag in sent["tags"]],
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
