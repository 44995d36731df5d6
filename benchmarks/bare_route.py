"""The bare routes that the service is measured against: Starlette, and the store's SQL.

``python bare_route.py FILE`` listens on a free port and prints its address.
"""

import json
import socket
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bare import Bare


def application(bare: Bare) -> Starlette:
    async def page(request: Request) -> Response:
        return _json(bare.page(request.url.query, lambda: dict(request.query_params)))

    async def read(request: Request) -> Response:
        return _json(bare.read(request.path_params["memory_id"]))

    async def create(request: Request) -> Response:
        return _json(bare.create(json.loads(await request.body())), 201)

    async def batch(request: Request) -> Response:
        return _json(bare.batch(json.loads(await request.body())), 201)

    async def patch(request: Request) -> Response:
        sent = json.loads(await request.body())
        return _json(bare.patch(request.path_params["memory_id"], sent["content"]))

    return Starlette(
        routes=[
            Route("/memories", page, methods=["GET"]),
            Route("/memories", create, methods=["POST"]),
            Route("/memories/batch", batch, methods=["POST"]),
            Route("/memories/{memory_id:int}", read, methods=["GET"]),
            Route("/memories/{memory_id:int}", patch, methods=["PATCH"]),
        ]
    )


def _json(body: object, status: int = 200) -> Response:
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(content, status, media_type="application/json")


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    app = application(Bare(Path(sys.argv[1])))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
