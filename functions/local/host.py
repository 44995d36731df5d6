"""MCP over standard input and output, for the host that starts this process."""

from local.identity import principal_for
from mcp_server import stdio
from mcp_server.server import build_server, right_here
from memories.bootstrap import build_service
from memories.config import Settings
from memories.stores.port import Store


def serve_host(settings: Settings, store: Store) -> None:
    """Serve until the host closes the input. Raises Unauthenticated."""
    principal = principal_for(settings.agent)
    server = build_server(build_service(settings, store), lambda _: principal, right_here)
    stdio.run(server, store.close)
