"""mcp-memory-service, from PyPI, over its REST interface, with vectors that cost nothing.

It finds by likeness of meaning, which wants a model; the endpoint of embeddings.py takes its place,
so what is measured is the service without the model. Its search is another than ours: the nearest
ten, where ours is all that hold a text.
"""

import asyncio
import itertools
import json
import random
import socket
import urllib.request
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import load
import seed
import servers
from installed import python_package
from operations import CREATE, PAGE, RARE, READ, TAG, Operation
from results import VECTORS
from subjects import Subject, over_rest

PACKAGE = "mcp-memory-service"
VERSION = "12.4.0"

# In seconds.
_START_TIMEOUT = 120
_SEED_TIMEOUT = 600


async def subjects(records: int, folder: Path, stack: AsyncExitStack) -> list[Subject]:
    """Start it on the seeded records."""
    home = python_package(PACKAGE, VERSION, with_sqlite_extensions=True)
    embeddings = await stack.enter_async_context(
        servers.http_server(*servers.python(servers.script("embeddings.py")))
    )
    port = _free_port()
    data = folder / "vectors"
    data.mkdir()
    command = (str(home / "bin" / "memory"), "server", "--http", "--http-port", str(port))
    environment = {
        "HOME": str(data),
        "MCP_MEMORY_BASE_DIR": str(data),
        "MCP_MEMORY_SQLITE_PATH": str(data / "vectors.db"),
        "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
        "MCP_EXTERNAL_EMBEDDING_URL": f"http://127.0.0.1:{embeddings}/v1/embeddings",
        "MCP_ALLOW_ANONYMOUS_ACCESS": "true",
        # What it does beside answering, and another model.
        "MCP_MDNS_ENABLED": "false",
        "MCP_QUALITY_SYSTEM_ENABLED": "false",
        "MCP_CONSOLIDATION_ENABLED": "false",
    }
    await stack.enter_async_context(servers.process(*command, environment=environment))
    await _until_it_answers(port)
    await _seed(port, records)
    return [
        subject
        for operation in _operations(port)
        for subject in over_rest(records, operation, VECTORS, port)
    ]


def _operations(port: int) -> list[Operation]:
    found = _get(port, "/api/memories/hashes?limit=1000")
    source = random.Random(17)
    # Enough for every round: what is there already is not stored again.
    created = [_create(f"{seed.content(source)} {n}", ["tools", "style"]) for n in range(5_000)]
    search = {"query": seed.RARE, "n_results": 10}
    by_tag = {"tags": [seed.RARE_TAG], "limit": 10}
    return [
        Operation(PAGE, [], [load.request("GET", "/api/memories?page=1&page_size=10")]),
        Operation(RARE, [], [load.request("POST", "/api/search", search)]),
        Operation(TAG, [], [load.request("POST", "/api/search/by-tag", by_tag)]),
        Operation(
            READ, [], [load.request("GET", f"/api/memories/{each}") for each in _hashes(found)]
        ),
        Operation(CREATE, [], created, most=100),
    ]


async def _seed(port: int, records: int) -> None:
    requests = [
        _create(f"{each.content} {n}", each.tags) for n, each in enumerate(seed.drafts(records))
    ]
    most = load.Most(records, _SEED_TIMEOUT)
    await load.run(port, load.Load(itertools.cycle(requests), 200, 4, most))


def _create(content: str, tags: Any) -> bytes:
    # Of one conversation, it does not compare what it stores with all that it has.
    body = {"content": content, "tags": list(tags), "conversation_id": "benchmark"}
    return load.request("POST", "/api/memories", body)


def _hashes(found: Any) -> list[str]:
    listed = next(value for value in found.values() if isinstance(value, list))
    return [each if isinstance(each, str) else each["content_hash"] for each in listed]


async def _until_it_answers(port: int) -> None:
    async with asyncio.timeout(_START_TIMEOUT):
        while True:
            try:
                _get(port, "/api/health")
            except OSError:
                await asyncio.sleep(0.2)
            else:
                return


def _get(port: int, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
        return json.load(answer)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
