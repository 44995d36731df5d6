"""How many tool calls a second the MCP door answers, beside REST and beside an empty tool.

All run as processes of their own, on files with the same records. Within a round they take turns,
and a figure is the median of its rounds. From the root: ``python benchmarks/mcp_rates.py``.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvloop

import load
import seed

# Calls at once over stdio, connections over HTTP.
CLIENTS = (1, 16)
MOST_REQUESTS = 300
MOST_SECONDS = 1.5
REVISION = "2026-07-28"
EARLIER = "2025-11-25"
EMPTY = "empty tool"

_SERVICE = ("-m", "local.cli")
_EMPTY = (str(Path(__file__).with_name("empty_tool.py")),)
_PACKAGES = ("mcp", "starlette", "uvicorn", "httptools", "uvloop", "pydantic")
# An answer may be larger than the 64 KiB that a reader takes by default.
_LONGEST_LINE = 1024 * 1024

# A way in, and what can be measured through it.
Measure = Callable[[int], Awaitable[float]]


@dataclass(frozen=True, slots=True)
class Operation:
    """A tool call, and the same over REST."""

    tool: str
    arguments: Sequence[dict[str, Any]]
    requests: Sequence[bytes]
    status: int = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: answers a second, and their ratio to REST and to the empty tool."""

    operation: str
    way: str
    clients: int
    rate: float
    over_rest: float | None
    over_empty: float | None


def operations(records: int) -> list[Operation]:
    """Return them with those last that change the number of records."""
    source = random.Random(11)
    # Ids that are multiples of 40 were retired by the seed.
    ids = [n for n in source.sample(range(1, records + 1), min(records, 2000)) if n % 40]
    creates = [{"content": seed.content(source), "tags": ["tools", "style"]} for _ in range(500)]
    return [
        Operation(
            "search_memories",
            [{"sort": "updated_at"}],
            [load.request("GET", "/memories?sort=updated_at")],
        ),
        Operation(
            "inspect_memory",
            [{"memory_id": n} for n in ids],
            [load.request("GET", f"/memories/{n}") for n in ids],
        ),
        Operation(
            "record_memory",
            creates,
            [load.request("POST", "/memories", body) for body in creates],
            201,
        ),
    ]


def call(tool: str, arguments: dict[str, Any], revision: str, request_id: int = 1) -> Any:
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if revision == REVISION:
        prefix = "io.modelcontextprotocol"
        params["_meta"] = {
            f"{prefix}/protocolVersion": revision,
            f"{prefix}/clientInfo": {"name": "benchmark", "version": "1"},
            f"{prefix}/clientCapabilities": {},
        }
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def http_call(tool: str, arguments: dict[str, Any], revision: str) -> bytes:
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": revision}
    if revision == REVISION:
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    head, _, body = load.request("POST", "/mcp", call(tool, arguments, revision)).partition(b"\r\n")
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return head + b"\r\n" + lines.encode() + body


@asynccontextmanager
async def process(*command: str) -> AsyncIterator[Process]:
    started = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdin=PIPE, stdout=PIPE, limit=_LONGEST_LINE
    )
    try:
        yield started
    finally:
        started.kill()
        await started.wait()


@asynccontextmanager
async def http_server(*command: str) -> AsyncIterator[int]:
    """Yield the port, which is in the first address that the server says."""
    async with process(*command) as started:
        assert started.stdout
        words = (await started.stdout.readline()).decode().split()
        port = urlsplit(next(word for word in words if "://" in word).rstrip(",")).port
        assert port
        yield port


class Stdio:
    """Calls to a server over its input and output, some of them at once."""

    def __init__(self, started: Process) -> None:
        assert started.stdin
        assert started.stdout
        self._input, self._output = started.stdin, started.stdout

    async def start(self) -> None:
        """Shake hands, as a host of the earlier revisions does."""
        about = {"name": "benchmark", "version": "1"}
        params = {"protocolVersion": EARLIER, "capabilities": {}, "clientInfo": about}
        self._send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        await self._output.readline()
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def run(self, tool: str, arguments: Iterator[dict[str, Any]], at_once: int) -> float:
        """Return the answers a second. Raises UnexpectedAnswer."""
        started = time.perf_counter()
        until = started + MOST_SECONDS
        sent = answered = 0
        while True:
            while (
                sent - answered < at_once and sent < MOST_REQUESTS and time.perf_counter() < until
            ):
                self._send(call(tool, next(arguments), EARLIER, sent + 1))
                sent += 1
            if answered == sent:
                return answered / (time.perf_counter() - started)
            line = await self._output.readline()
            if b'"isError":false' not in line:
                raise load.UnexpectedAnswer(repr(line[:300]))
            answered += 1

    def _send(self, message: object) -> None:
        self._input.write(json.dumps(message).encode() + b"\n")


def over_http(port: int, requests: Sequence[bytes], status: int = 200) -> Measure:
    async def measure(clients: int) -> float:
        sent = load.Load(requests, status, clients, MOST_REQUESTS, MOST_SECONDS)
        return (await load.run(port, sent)).rate

    return measure


def over_stdio(client: Stdio, tool: str, arguments: Sequence[dict[str, Any]]) -> Measure:
    source = cycled(arguments)

    async def measure(clients: int) -> float:
        return await client.run(tool, source, clients)

    return measure


def cycled(items: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    while True:
        yield from items


async def measure_all(records: int, rounds: int, folder: Path) -> list[Row]:
    """Return the table. The operations and the ways take turns within each round."""
    seeded = folder / "seeded.db"
    seed.seed(seeded, records)
    files = [folder / f"{name}.db" for name in ("rest", "http", "stdio")]
    for file in files:
        shutil.copy(seeded, file)
    rest_file, http_file, stdio_file = map(str, files)
    serve = (*_SERVICE, "serve", "--port", "0", "--data")
    async with AsyncExitStack() as stack:
        rest = await stack.enter_async_context(http_server(*serve, rest_file))
        service = await stack.enter_async_context(http_server(*serve, http_file))
        empty = await stack.enter_async_context(http_server(*_EMPTY, "http"))
        hosts = []
        for command in ((*_SERVICE, "mcp", "--data", stdio_file), (*_EMPTY, "stdio")):
            hosts.append(Stdio(await stack.enter_async_context(process(*command))))
            await hosts[-1].start()
        host, empty_host = hosts

        measures: dict[tuple[str, str], Measure] = {
            (EMPTY, "http"): over_http(empty, [http_call("empty", {}, REVISION)]),
            (EMPTY, "http 2025"): over_http(empty, [http_call("empty", {}, EARLIER)]),
            (EMPTY, "stdio"): over_stdio(empty_host, "empty", [{}]),
        }
        for each in operations(records):
            tool, arguments = each.tool, each.arguments
            measures |= {
                (tool, "rest"): over_http(rest, each.requests, each.status),
                (tool, "http"): over_http(
                    service, [http_call(tool, one, REVISION) for one in arguments]
                ),
                (tool, "http 2025"): over_http(
                    service, [http_call(tool, one, EARLIER) for one in arguments]
                ),
                (tool, "stdio"): over_stdio(host, tool, arguments),
            }
        return rows(await medians(measures, rounds))


async def medians(
    measures: dict[tuple[str, str], Measure], rounds: int
) -> dict[tuple[str, str, int], float]:
    rates: dict[tuple[str, str, int], list[float]] = {}
    # The first round is to warm up.
    for turn in range(rounds + 1):
        for clients in CLIENTS:
            for (operation, way), measure in measures.items():
                rate = await measure(clients)
                if turn:
                    rates.setdefault((operation, way, clients), []).append(rate)
    return {key: statistics.median(found) for key, found in rates.items()}


def rows(rates: dict[tuple[str, str, int], float]) -> list[Row]:
    return [
        Row(
            operation=operation,
            way=way,
            clients=clients,
            rate=round(rate, 1),
            over_rest=_ratio(rate, rates.get((operation, "rest", clients))),
            over_empty=_ratio(rate, rates.get((EMPTY, way, clients))),
        )
        for (operation, way, clients), rate in sorted(rates.items(), key=lambda item: item[0][2])
    ]


def _ratio(rate: float, other: float | None) -> float | None:
    return None if other is None else round(rate / other, 2)


def conditions(records: int, rounds: int) -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "records": records,
        "rounds": rounds,
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: version(name) for name in _PACKAGES},
    }


def table(lines: Sequence[Row]) -> str:
    head = f"{'operation':<17}{'way':<11}{'clients':>8}{'calls/s':>9}{'/ rest':>8}{'/ empty':>9}"
    body = [
        f"{row.operation:<17}{row.way:<11}{row.clients:>8}{row.rate:>9.0f}"
        f"{_shown(row.over_rest):>8}{_shown(row.over_empty):>9}"
        for row in lines
    ]
    return "\n".join([head, *body])


def _shown(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = uvloop.run(measure_all(options.records, options.rounds, Path(folder)))
    circumstances = conditions(options.records, options.rounds)
    print(", ".join(f"{name} {value}" for name, value in circumstances.items()))
    print(table(found))
    if options.json:
        result = {"conditions": circumstances, "rows": [asdict(row) for row in found]}
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
