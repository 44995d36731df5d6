"""How an application is served: by uvicorn, without a line of what is asked, to a clean stop."""

import socket
import sys

import uvicorn
from starlette.types import ASGIApp

from mcp_server.connection import KEEP_ALIVE, Connection

# A request in work is given this long to finish when the server is told to stop, in seconds.
STOP_TIMEOUT = 5

# What a server has open besides its connections, at most.
_OTHER_FILES = 128


def run(app: ASGIApp, listener: socket.socket, connections: int) -> None:
    """Serve the application on ``listener`` until told to stop, to so many connections at once."""
    _allow_files(connections + _OTHER_FILES)
    server_for(app, connections).run(sockets=[listener])


def server_for(
    app: ASGIApp, connections: int, connection: type[Connection] = Connection
) -> uvicorn.Server:
    """Return a server for the application, to be run on a socket of its own.

    It serves so many ``connections`` at once, each by the class ``connection``.
    """
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=connection,
            limit_concurrency=connections,
            timeout_keep_alive=KEEP_ALIVE,
            log_level="warning",
            # A query string may hold what a person is looking for, so no line is logged for it.
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOP_TIMEOUT,
            lifespan="on",
            ws="none",
        )
    )


def _allow_files(number: int) -> None:
    """Let this process have so many files open, as far as it may let itself.

    Each connection is one. Where a process starts with few, it could not even say that it has too
    many connections.
    """
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  (not on Windows, which has no such limit)

        allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = number if most == resource.RLIM_INFINITY else min(number, most)
        if allowed != resource.RLIM_INFINITY and allowed < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
