"""Standard input and output: the server for one host, which started it."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def run(server: Server[Any], close: Callable[[], None] = lambda: None) -> None:
    """Serve until the host closes the input. A signal to stop calls ``close`` and exits."""
    anyio.run(_run, server, close)


async def _run(server: Server[Any], close: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        close()
        # A thread waits for input and cannot be woken; Python would wait for it.
        os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())
