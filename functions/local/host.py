"""MCP over standard input and output, for the host that starts this process."""

from local.identity import principal_for
from mcp_server import stdio
from mcp_server.server import build_server, right_here
from memories.bootstrap import build_store
from memories.config import Settings
from memories.service import MemoryService


def serve_host(settings: Settings) -> None:
    """Serve until the host closes the input. Raises Unauthenticated, UnusableDataFile."""
    principal = principal_for(settings.agent)
    store = build_store(settings)
    try:
        server = build_server(MemoryService(store), lambda _: principal, right_here)
        stdio.run(server, store.close)
    finally:
        store.close()
