"""MCP over standard input and output, for the host that starts this process."""

from local.identity import principal_for
from mcp_server import stdio
from mcp_server.server import build_server, right_here
from memories.config import Settings
from memories.service import MemoryService
from memories.stores.port import Store


def serve_host(settings: Settings, store: Store) -> None:
    """Serve until the host closes the input. Raises Unauthenticated."""
    principal = principal_for(settings.agent)
    service = MemoryService(store, standard_tags=settings.standard_tags)
    server = build_server(service, lambda _: principal, right_here)
    stdio.run(server, store.close)
