"""The one-machine server: a socket, the gateway behind it, and a clean stop."""

import socket
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from http_api.app import build_handler
from local.cors import open_to
from local.gateway import Gateway
from local.identity import NAMES, agent_in, principal_for
from local.told import CannotDo
from mcp_server.http import PATH as MCP_PATH
from mcp_server.http import build_app
from mcp_server.server import Context, build_server, right_here
from mcp_server.serving import run
from memories.addresses import is_loopback
from memories.bootstrap import build_service
from memories.config import Settings
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.port import Store

# The names of this machine, at any port.
LOOPBACK_HOSTS = [f"{name}{port}" for name in NAMES for port in ("", ":*")]


class CannotServe(CannotDo):
    """The server cannot start as asked; the text says why and what to do."""


def serve(
    listener: socket.socket,
    store: Store,
    settings: Settings,
    where: str,
    say: Callable[[str], None],
) -> None:
    """Serve until interrupted or told to stop; ``where`` says where the data is."""
    address = url_of(listener)
    say(f"memories listens on {address}, for MCP on {address}{MCP_PATH}")
    say(where)
    say(f"docs at {address}/docs")
    app = application(build_service(settings, store), settings, listener)
    run(app, listener, settings.connections)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a loopback address. Raises CannotServe."""
    if not is_loopback(host):
        raise CannotServe(
            f"refused to listen on {host}: requests are not authenticated here, so anyone who "
            "reaches that address could read and change the memories. Use 127.0.0.1, or deploy."
        )
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        raise CannotServe(
            f"cannot listen on {host} port {port}: {error}. "
            "Choose another with --port (with make: PORT=9000)"
        ) from error
    return listener


def url_of(listener: socket.socket) -> str:
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def application(service: MemoryService, settings: Settings, listener: socket.socket) -> ASGIApp:
    """Return both doors as one application, to be served on ``listener``."""
    port = listener.getsockname()[1]
    origins = [*(f"http://{name}:{port}" for name in NAMES), *settings.origins]
    return compose(
        open_to(Gateway(build_handler(service, settings), settings.origins), settings.origins),
        build_app(build_server(service, _identify, right_here), LOOPBACK_HOSTS, origins),
    )


def compose(gateway: ASGIApp, mcp: ASGIApp) -> ASGIApp:
    """Return an application that gives each request to its door."""

    async def composed(scope: Scope, receive: Receive, send: Send) -> None:
        to_gateway = scope["type"] == "http" and scope["path"] != MCP_PATH
        await (gateway if to_gateway else mcp)(scope, receive, send)

    return composed


def _identify(context: Context) -> Principal:
    assert context.request  # this transport always has one
    return principal_for(agent_in(context.request.headers.raw))
