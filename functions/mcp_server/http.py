"""Streamable HTTP: the server as an ASGI application at ``/mcp``."""

from collections.abc import Sequence
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memories.limits import MAX_BODY

PATH = "/mcp"

_HEADERS = [
    "authorization",
    "content-type",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "x-agent-id",
]


def build_app(
    server: Server[Any],
    allowed_hosts: Sequence[str],
    allowed_origins: Sequence[str] = (),
    guards: Sequence[Middleware] = (),
    routes: Sequence[Route] = (),
) -> ASGIApp:
    """Return the application, which answers at ``/mcp`` and keeps no state between requests.

    ``allowed_hosts`` are the names that it may be called by, with ``:*`` for any port. A browser
    page may call it only from one of ``allowed_origins``. Requests pass the ``guards`` in order;
    ``routes`` are what it answers beside ``/mcp``. The lifespan must be run.
    """
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(
            allowed_hosts=list(allowed_hosts), allowed_origins=list(allowed_origins)
        ),
        custom_starlette_routes=list(routes),
    )
    # A redirect would be to plain http, where a proxy ends TLS, at whatever host was named.
    app.router.redirect_slashes = False
    app.user_middleware[:0] = [
        Middleware(
            CORSMiddleware,
            allow_origins=list(allowed_origins),
            allow_methods=["GET", "POST"] if routes else ["POST"],
            allow_headers=_HEADERS,
            expose_headers=["www-authenticate"],
        ),
        Middleware(_OnlyPost),
        *guards,
    ]
    return app


class _OnlyPost:
    """Lets requests by POST through, with what the transport needs of their headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == PATH:
            if scope["method"] != "POST":
                # The SDK would open a stream that never ends, and there is no session to delete.
                answer = JSONResponse(
                    {"detail": "Method Not Allowed; use POST"}, 405, {"Allow": "POST"}
                )
                return await answer(scope, receive, send)
            # The HTTP parser leaves the white space around a value, and the SDK compares it.
            headers = [
                (name, value.strip() if name.startswith(b"mcp-") else value)
                for name, value in scope["headers"]
            ]
            scope = {**scope, "headers": headers}
        return await self._app(scope, receive, send)
