"""Tool calls of MCP: as requests over HTTP, and over the input and output of a process."""

import asyncio
import json
import time
from asyncio.subprocess import Process
from collections.abc import Iterator
from typing import Any

import load

REVISION = "2026-07-28"
EARLIER = "2025-11-25"

# An answer that takes longer than this means that the run is broken, in seconds.
_STALLED = 120.0


def over_http(tool: str, arguments: dict[str, Any]) -> bytes:
    """Return a whole request, ready to be sent."""
    prefix = "io.modelcontextprotocol"
    meta = {
        f"{prefix}/protocolVersion": REVISION,
        f"{prefix}/clientInfo": {"name": "benchmark", "version": "1"},
        f"{prefix}/clientCapabilities": {},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    head, _, body = load.request("POST", "/mcp", _call(1, params)).partition(b"\r\n")
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return head + b"\r\n" + lines.encode() + body


class Stdio:
    """Calls to a server over its input and output, some of them at once."""

    def __init__(self, started: Process) -> None:
        assert started.stdin
        assert started.stdout
        self._input, self._output = started.stdin, started.stdout

    async def start(self) -> None:
        """Shake hands, as hosts do."""
        about = {"name": "benchmark", "version": "1"}
        params = {"protocolVersion": EARLIER, "capabilities": {}, "clientInfo": about}
        self._send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        await self._answer()
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def run(
        self, calls: Iterator[tuple[str, dict[str, Any]]], at_once: int, most: load.Most
    ) -> load.Outcome:
        """Make calls until one of the bounds is reached. Raises UnexpectedAnswer."""
        started = time.perf_counter()
        until = started + most.seconds
        sent = answered = 0
        while True:
            while (
                sent - answered < at_once and sent < most.requests and time.perf_counter() < until
            ):
                tool, arguments = next(calls)
                sent += 1
                self._send(_call(sent, {"name": tool, "arguments": arguments}))
            if answered == sent:
                return load.Outcome(answered, time.perf_counter() - started)
            line = await self._answer()
            if b'"isError":true' in line or b'"error":{' in line or not line:
                raise load.UnexpectedAnswer(repr(line[:300]))
            answered += 1

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Return the answer of one call."""
        self._send(_call(1, {"name": tool, "arguments": arguments}))
        return json.loads(await self._answer())

    async def _answer(self) -> bytes:
        async with asyncio.timeout(_STALLED):
            while True:
                line = await self._output.readline()
                # What has no id is a notification, which nobody waits for.
                if b'"method":"notifications/' not in line[:200]:
                    return line

    def _send(self, message: object) -> None:
        self._input.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")


def _call(number: int, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
