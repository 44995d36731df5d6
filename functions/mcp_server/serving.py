"""How an application is served: by uvicorn, without a line of what is asked, to a clean stop."""

import uvicorn
from starlette.types import ASGIApp

from mcp_server.connection import KEEP_ALIVE, Connection

# A request in work is given this long to finish when the server is told to stop, in seconds.
STOP_TIMEOUT = 5


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
