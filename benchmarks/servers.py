"""Servers to be measured, each a process of its own."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

# An answer may be larger than the 64 KiB that a reader takes by default.
_LONGEST_LINE = 64 * 1024 * 1024
# In seconds: the bare servers listen to the operations before they start.
_START_TIMEOUT = 120

SERVICE = ("-m", "local.cli", "serve", "--port", "0", "--data")
SERVICE_ON_STDIO = ("-m", "local.cli", "mcp", "--data")
_HERE = Path(__file__).parent


def script(name: str) -> str:
    """Return the path of a program of this folder."""
    return str(_HERE / name)


@asynccontextmanager
async def process(
    *command: str, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Process]:
    """Run a program, and end it."""
    started = await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=None if environment is None else DEVNULL,
        limit=_LONGEST_LINE,
        env=None if environment is None else {**os.environ, **environment},
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
        await started.wait()


def python(*command: str) -> tuple[str, ...]:
    """Return a command for this Python."""
    return (sys.executable, *command)


@asynccontextmanager
async def http_server(*command: str) -> AsyncIterator[int]:
    """Run a server that says its address in its first line, and yield the port."""
    async with process(*command) as started:
        assert started.stdout
        async with asyncio.timeout(_START_TIMEOUT):
            words = (await started.stdout.readline()).decode().split()
        port = urlsplit(next(word for word in words if "://" in word).rstrip(",")).port
        assert port
        yield port
