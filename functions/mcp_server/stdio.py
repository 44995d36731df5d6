"""Standard input and output: the server for one host, which started it."""

from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def run(server: Server[Any]) -> None:
    """Serve until the host closes the input."""
    anyio.run(_run, server)


async def _run(server: Server[Any]) -> None:
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())
